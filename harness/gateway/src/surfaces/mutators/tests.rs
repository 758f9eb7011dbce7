use super::*;

const STEPS: Steps = Steps::RIGHT;

fn run_on(kind: Kind, body: &str, max_chars: &[usize]) -> (String, Report) {
    let mutators: Vec<_> =
        max_chars.iter().map(|&max_chars| Mutator::TruncateText { max_chars }).collect();
    let mut ended = Ok(Answer { kind, body: body.to_owned() });
    let report = run(&mut ended, "flat", &mutators, &STEPS);
    (ended.unwrap().body, report)
}

#[test]
fn the_real_payload_is_cut_and_everything_else_stays() {
    let result = r#"{ "x":1E+02,"content": [{"type":"text","text":"ab\ud83d\ude00\u0041c","_meta":{"k":1.0}},{"type":"image","data":"AAAAAAAAAAAA","mimeType":"image/png"},{"type":"text","text":"abc"}],"structuredContent":{"long":"unchanged"} }"#;
    let (body, report) = run_on(Kind::Success, result, &[3]);
    assert_eq!(
        body,
        r#"{ "x":1E+02,"content": [{"type":"text","text":"ab\ud83d\ude00","_meta":{"birdstrike/truncated":{"chars":5,"kept_chars":3},"k":1.0}},{"type":"image","data":"AAAAAAAAAAAA","mimeType":"image/png"},{"type":"text","text":"abc"},{"type":"text","text":"[The gateway cut 1 text of this result.]"}],"structuredContent":{"long":"unchanged"} }"#
    );
    let (bytes_before, bytes_after) = (result.len(), body.len());
    let change = Change { mutator: "truncate_text", bytes_before, bytes_after };
    assert_eq!(report, Report { changes: vec![change], broken: None });
}

#[test]
fn a_typed_part_is_left_out_and_the_text_stays() {
    let body = r#"{"content":[{"type":"text","text":"{\"k\":1}"}],"structuredContent":{"k":1}}"#;
    let without = r#"{"content":[{"type":"text","text":"{\"k\":1}"}]}"#;
    let mut ended = Ok(Answer { kind: Kind::Success, body: body.to_owned() });
    run(&mut ended, "flat", &[Mutator::DropTypedPart], &Steps::RIGHT);
    assert_eq!(ended.unwrap().body, without);
    assert_eq!(drop(without), None);
}

#[test]
fn what_is_short_enough_stays_byte_for_byte() {
    for result in [
        r#"{ "content":[{"type":"text","text":"ab\n" }] }"#,
        r#"{"structuredContent":{"text":"long enough"}}"#,
        r#"{"content":[]}"#,
        r#"{"result":{"content":[{"type":"text","text":"in a wrapper"}]}}"#,
    ] {
        assert_eq!(run_on(Kind::Success, result, &[3]), (result.to_owned(), Report::default()));
    }
}

#[test]
fn failures_tasks_and_requests_never_get_there() {
    let result = r#"{"content":[{"type":"text","text":"long enough"}]}"#;
    for kind in [Kind::ToolError, Kind::RpcError, Kind::Task, Kind::InputRequired] {
        assert_eq!(run_on(kind, result, &[3]), (result.to_owned(), Report::default()));
    }
    let failure = Failure::timeout(1);
    let mut ended = Err(failure.clone());
    run(&mut ended, "flat", &[Mutator::TruncateText { max_chars: 1 }], &STEPS);
    assert_eq!(ended, Err(failure));
}

#[test]
fn a_mutator_that_fails_leaves_the_original() {
    for (last, why) in [
        ("7", "block 2 is a number, not an object"),
        (r#"{"type":"text"}"#, "block 2 has no `text`"),
        (r#"{"type":"text","text":7}"#, "block 2 has a `text` that is a number"),
    ] {
        let block = r#"{"type":"text","text":"long enough"}"#;
        let result = format!(r#"{{"content":[{block},{block},{last}]}}"#);
        let (body, report) = run_on(Kind::Success, &result, &[3]);
        assert_eq!(body, result);
        let broken = Some(("truncate_text", why.to_owned()));
        assert_eq!(report, Report { changes: Vec::new(), broken });
    }
    let (_, report) = run_on(Kind::Success, r#"{"content":7}"#, &[3]);
    assert_eq!(report.broken.unwrap().1, "`content` is no list");
}

#[test]
fn several_mutators_run_one_behind_the_other() {
    let result = r#"{"content":[{"type":"text","text":"long enough"}]}"#;
    let (body, report) = run_on(Kind::Success, result, &[6, 4]);
    assert!(body.contains(r#""text":"long""#), "{body}");
    assert_eq!(report.changes.len(), 2);
    assert_eq!(report.changes[0].bytes_after, report.changes[1].bytes_before);
}
