use birdstrike_wire::shape::text_block;

use super::*;

const STEPS: Steps = Steps::RIGHT;

fn bounds(max_batch_bytes: usize) -> Truncation {
    Truncation { max_batch_bytes, min_result_bytes: 256, ..Truncation::default() }
}

fn loads(bytes: &[usize]) -> Vec<Load> {
    let loads = bytes.iter().enumerate();
    loads.map(|(index, &bytes)| Load { index, bytes, may_be_cut: true }).collect()
}

#[test]
fn as_few_as_can_be_are_cut_and_the_largest_first() {
    let plan = |bytes: &[usize]| plan(&loads(bytes), &bounds(2000));
    assert_eq!(plan(&[1000, 1000]), [None, None]);
    assert_eq!(plan(&[1200, 1200, 10]), [None, Some(790), None]);
    assert_eq!(plan(&[10, 9000, 10]), [None, Some(1980), None]);
    assert_eq!(plan(&[3000, 9000, 10]), [Some(1734), Some(256), None]);
    assert_eq!(plan(&[256; 9]), [None; 9]);
    let mut failed = loads(&[1500, 900]);
    failed[0].may_be_cut = false;
    assert_eq!(super::plan(&failed, &bounds(2000)), [None, Some(500)]);
}

#[test]
fn content_stays_a_list_of_blocks_at_every_size() {
    let text =
        r#"{"type":"text","text":"a\u00e9\n\ud83d\ude00é😀\\","annotations":{"priority":1.0}}"#;
    let image =
        format!(r#"{{"type":"image","data":"{}","mimeType":"image/png"}}"#, "A".repeat(300));
    let result = format!(
        r#"{{"resultType":"complete","content":[{image},{text},{text},{{"type":"text","text":"{}"}}],"structuredContent":{{"n":1E+02}},"other":[ ],"_meta":{{"a/b":"{}"}}}}"#,
        "\\u0041x😀".repeat(100),
        "m".repeat(40)
    );
    for bytes in 256..result.len() {
        let cut = cut::cut(&result, bytes, cut::keep).unwrap();
        assert!(cut.body.len() <= bytes, "{bytes}: {}", cut.body);
        let whole: serde_json::Value = serde_json::from_str(&result).unwrap();
        let read: serde_json::Value = serde_json::from_str(&cut.body).unwrap();
        for (name, value) in read.as_object().unwrap() {
            if name != "content" {
                assert_eq!(*value, whole[name], "{bytes}");
            }
        }
        for name in ["structuredContent", "other", "_meta"] {
            let is_out = cut.left_out.contains(&format!("/{name}"));
            assert_ne!(read.get(name).is_some(), is_out, "{bytes}: {name}");
        }
        let blocks = read["content"].as_array().unwrap();
        let out = cut.left_out.iter().filter(|p| p.starts_with("/content/")).count();
        assert_eq!(blocks.len() + out, 4 + 1);
        assert!(blocks.iter().all(|block| block.get("data").is_none_or(|d| *d == "A".repeat(300))));
        assert!(!cut.body.contains('\u{FFFD}'));
        assert!(!cut.left_out.is_empty() || !cut.shortened.is_empty());
        assert!(cut.body.contains("cut this result"));
    }
    assert_eq!(cut::cut(r#"{"content":[]}"#, 10, cut::keep), None);
}

#[test]
fn what_is_left_out_is_named_and_the_typed_part_goes_first() {
    let long = "x".repeat(600);
    let result = format!(
        r#"{{"content":[],"_meta":{{"a":1}},"a/b":"{long}","structuredContent":{{"b":"{long}"}}}}"#
    );
    let cut = cut::cut(&result, 900, cut::keep).unwrap();
    assert_eq!(cut.left_out, ["/structuredContent"]);
    let cut = cut::cut(&result, 400, cut::keep).unwrap();
    assert_eq!(cut.left_out, ["/structuredContent", "/a~1b"]);
    assert!(cut.body.contains(r#""_meta":{"a":1}"#));
    for odd in [r#""content":{"a":[]},"#, ""] {
        let result = format!(r#"{{{odd}"wrap":"{long}"}}"#);
        let cut = cut::cut(&result, 300, cut::keep).unwrap();
        assert!(cut.left_out.contains(&"/wrap".to_owned()));
        assert_eq!(cut.left_out.contains(&"/content".to_owned()), !odd.is_empty());
        assert!(cut.body.starts_with(r#"{"content":[{"type":"text""#), "{}", cut.body);
    }
}

fn done(index: usize, kind: Kind, body: String) -> Done {
    let ended = Ok(Answer { kind, body });
    Done { index, call_id: index.to_string(), ended, elapsed_ms: 0, tells: String::new() }
}

#[test]
fn a_failure_is_whole_and_counts() {
    let body = |text: usize| format!(r#"{{"content":[{}]}}"#, text_block(&"x".repeat(text)));
    let budget = Budget::new(bounds(2000));
    let owner = Owner::default();
    let mut batch = [
        done(1, Kind::Success, body(900)),
        done(0, Kind::ToolError, body(1500)),
        done(2, Kind::Task, body(20)),
    ];
    let whole = batch.clone();
    let made = fit("batch", &mut batch, &budget, &owner, &STEPS);
    assert_eq!(made.len(), 1);
    assert!(made[0].is_kept && made[0].call_id == "1");
    for at in [1, 2] {
        assert_eq!(batch[at].ended, whole[at].ended);
        assert_eq!(batch[at].tells, "");
    }
    let weight: usize = batch.iter().map(|done| weighs(&done.ended)).sum();
    assert!(weight <= 2000, "{weight}");
    let original = whole[0].ended.as_ref().unwrap().body.clone();
    let tells = format!("{{{}}}", &batch[0].tells[1..]);
    assert_eq!(json::get(&tells, "truncated_reason"), Some("\"batch_budget\""));
    assert_eq!(json::get(&tells, "original_size_bytes"), Some(&*original.len().to_string()));
    assert_eq!(json::get(&tells, "shortened"), Some(r#"["/content/0/text"]"#));
    let id = json::get_string(&tells, "continuation_id").unwrap();
    let page = budget.store.fetch(&id, &owner, (0, 9999), Instant::now(), &STEPS).unwrap();
    assert_eq!(page.data, original);
}

#[test]
fn what_cannot_be_kept_has_no_id() {
    let body = format!(r#"{{"content":[{}]}}"#, text_block(&"x".repeat(900)));
    let budget = Budget::new(Truncation { max_kept_bytes: 500, ..bounds(400) });
    let mut batch = [done(0, Kind::Success, body)];
    let made = fit("batch", &mut batch, &budget, &Owner::default(), &STEPS);
    assert!(!made[0].is_kept);
    assert!(batch[0].tells.contains("\"truncated\":true"));
    assert!(!batch[0].tells.contains("continuation_id"));
}

#[test]
fn pages_join_to_the_exact_bytes_either_way() {
    let stored = r#"{"a":"é😀\u0041漢","b":1E+02}"#;
    for limit in 1..=stored.len() + 1 {
        let (mut by_limit, mut by_data) = (String::new(), String::new());
        for offset in (0..stored.len()).step_by(limit) {
            by_limit += &kept::page(stored, offset, limit).data;
        }
        loop {
            let page = kept::page(stored, by_data.len(), limit);
            assert_eq!((page.offset, page.total), (by_data.len(), stored.len()));
            assert!(!page.data.is_empty());
            by_data += &page.data;
            if !page.has_more {
                break;
            }
        }
        assert_eq!((by_limit.as_str(), by_data.as_str()), (stored, stored), "{limit}");
    }
    let behind = Page { data: String::new(), offset: 33, total: 33, has_more: false };
    assert_eq!(
        kept::page(stored, usize::MAX, usize::MAX),
        Page { total: stored.len(), offset: stored.len(), ..behind }
    );
}

fn owner(headers: &[(&'static str, &'static str)]) -> Owner {
    let pairs = headers.iter().map(|(name, value)| {
        (http::HeaderName::from_static(name), http::HeaderValue::from_static(value))
    });
    Owner::of(&pairs.collect())
}

#[test]
fn an_owner_is_what_a_caller_shows() {
    let token = owner(&[("authorization", "Bearer a")]);
    assert_eq!(token, owner(&[("authorization", "bearer a"), ("x-api-key", "b")]));
    for other in [
        owner(&[]),
        owner(&[("authorization", "Bearer A")]),
        owner(&[("x-api-key", "a")]),
        owner(&[("x-api-key", "bearer a")]),
    ] {
        assert_ne!(token, other);
    }
    assert_eq!(owner(&[]), Owner::default());
    assert!(!format!("{token:?}").contains("Bearer"));
}

#[test]
fn a_stored_result_is_its_owners_for_its_time_and_within_the_bound() {
    let store = Store::new(10, Duration::from_millis(50));
    let (mine, theirs) = (owner(&[("x-api-key", "a")]), owner(&[("x-api-key", "b")]));
    let now = Instant::now();
    let later = |ms| now + Duration::from_millis(ms);
    let fetch = |id: &str, caller, at| store.fetch(id, caller, (0, 99), at, &STEPS);
    let id = store.keep(&mine, "123456".into(), now, &STEPS).unwrap();
    assert_eq!(store.keep(&theirs, "12345".into(), now, &STEPS), None);
    let other = store.keep(&theirs, "1234".into(), now, &STEPS).unwrap();
    assert!(id != other && id.len() == 32);
    assert_eq!(fetch(&id, &mine, later(49)).unwrap().data, "123456");
    assert_eq!(fetch(&id, &theirs, now), Err(Missing::Foreign));
    assert_eq!(fetch("x", &mine, now), Err(Missing::Unknown));
    assert_eq!(kept::fetched(Err(Missing::Foreign)), kept::fetched(Err(Missing::Unknown)));
    assert!(!store.delete(&id, &theirs, now, &STEPS) && fetch(&id, &mine, now).is_ok());
    assert!(store.delete(&id, &mine, now, &STEPS) && !store.delete(&id, &mine, now, &STEPS));
    assert_eq!(fetch(&id, &mine, now), Err(Missing::Unknown));
    store.keep(&mine, "123456".into(), now, &STEPS).unwrap();
    assert_eq!(fetch(&other, &theirs, later(50)), Err(Missing::Unknown));
    assert!(store.keep(&mine, "1234567890".into(), later(50), &STEPS).is_some());
}
