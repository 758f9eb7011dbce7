//! The terminal report of a small made-up run, narrow and wide.

#![expect(clippy::unwrap_used, reason = "the helpers of tests may fail loudly")]

use birdstrike_engine::record::{
    CheckRecord, Environment, Evidence, Gateway, Observation, Tool, Totals, Untested,
};
use birdstrike_engine::report::Collector;
use birdstrike_engine::report::terminal::{Layout, render};
use birdstrike_engine::{Event, Reporter};
use birdstrike_judge::{Blame, Fidelity, Level, Verdict};
use birdstrike_scenario::{Catalogue, Scenario, Surface, requirement};

fn catalogue() -> Catalogue {
    let scenario = "title: A failed call keeps its words, its typed part and its metadata on every route\nrequirements: [INV-2.3]\noutcome: {text: a}\nexpect:\n  text: {intact: must, slot: text}\n";
    let scenario = Scenario::parse("s/is-error/typed-part.yaml", scenario).unwrap();
    let requirements = "source: the inventory\nrequirements:\n  INV-2.3:\n    level: policy\n    surface: is-error\n    text: What the upstream says of a failure reaches whoever asked in the upstream's own words.\n    place: reader.py\n";
    let requirements = requirement::parse("r.yaml", requirements).unwrap();
    Catalogue { scenarios: vec![scenario], requirements, ..Catalogue::default() }
}

fn check(name: &str, verdict: Verdict, fidelity: Fidelity, message: &str) -> CheckRecord {
    let blame = match verdict {
        Verdict::Pass => None,
        Verdict::Error => Some(Blame::Harness),
        _ => Some(Blame::Gateway),
    };
    CheckRecord {
        id: format!("is-error/typed-part/{name}"),
        surface: Surface::IsError,
        launch: "http-2026-07-28".into(),
        route: "flat".into(),
        revision: "2026-07-28".into(),
        encoding: "json".into(),
        verdict,
        fidelity: Some(fidelity),
        blame,
        level: if verdict == Verdict::Warn { Level::Policy } else { Level::Must },
        requirements: vec!["INV-2.3".into()],
        message: message.into(),
        combined: None,
        written: "scenarios/is-error/typed-part.yaml:14".into(),
        evidence: (verdict != Verdict::Pass).then(evidence),
    }
}

fn evidence() -> Evidence {
    Evidence {
        request: "{}".into(),
        upstream: Some(r#"{"a":1,"text":"read-only \u001b[31mfile system","b":2,"c":3}"#.into()),
        downstream: Some(r#"{"a":1,"text":"Error","b":2,"c":3}"#.into()),
        status: Some(200),
        ending: "the answer is complete".into(),
        ..Evidence::default()
    }
}

fn events() -> Vec<Event> {
    let tool = Tool { name: "birdstrike".into(), version: "1".into(), scenario_set: "0".into() };
    let long = "/content/0/text: the string \"read-only file system\" became \"Error\" on its way through the gateway";
    let lost = check("words", Verdict::Fail, Fidelity::Altered, long);
    let elsewhere = CheckRecord { encoding: "sse".into(), ..lost.clone() };
    let refused = check("flag", Verdict::Warn, Fidelity::Lost, "said \u{1b}]0;owned\u{7} aloud");
    let broken = check("text", Verdict::Error, Fidelity::Altered, "the canary sent nothing");
    let untested = |surface, what: &str, reason: &str| {
        Event::Untested(Untested {
            surface,
            what: what.into(),
            reason: reason.into(),
            unlock: "a scenario".into(),
        })
    };
    let checks = [
        check("a", Verdict::Pass, Fidelity::Intact, ""),
        check("b", Verdict::Pass, Fidelity::Declared, "declared: it does so"),
        refused,
        lost,
        elsewhere,
        broken,
    ];
    let mut events = vec![Event::RunStarted { tool, cells: 6 }];
    events.extend(checks.map(|check| Event::Checked(Box::new(check))));
    events.extend([
        untested(Surface::Tasks, "the whole surface", "no scenario drives it"),
        untested(Surface::Redaction, "the whole surface", "no scenario drives it"),
        untested(
            Surface::IsError,
            "is-error/typed-part/x on flat at 2026-07-28 (json)",
            "the gateway never called the canary; the client got: \u{1b}[2J not today",
        ),
        Event::Observed(Observation {
            name: "amplification".into(),
            requirement: "INV-2.3".into(),
            surface: Surface::IsError,
            scenario: "is-error/typed-part".into(),
            route: "batch".into(),
            revision: "2026-07-28".into(),
            value: 2.5,
            unit: "bytes/byte".into(),
        }),
        Event::RunFinished {
            totals: Totals {
                launches: 1,
                cells: 6,
                calls: 7,
                direct_calls: 2,
                checks: 6,
                deadlines: 1,
            },
            environment: Environment { took_ms: 1_234, ..Environment::default() },
            broken: None,
        },
    ]);
    events
}

fn shown(width: usize) -> String {
    let version = Some("1.2 \u{1b}[31m".to_owned());
    let gateway = Gateway { name: "made-up".into(), version, ..Gateway::default() };
    let mut collector = Collector::new(gateway);
    for event in events() {
        collector.take(&event);
    }
    let layout = Layout { width, ..Layout::default() };
    let text = render(collector.report(), &catalogue(), "birdstrike run", layout);
    for hostile in ["\u{1b}[31mfile", "\u{1b}]0", "\u{1b}[2J", "1.2 \u{1b}", "\u{7}"] {
        assert!(!text.contains(hostile), "{hostile:?}");
    }
    anstream::adapter::strip_str(&text).to_string()
}

#[test]
fn wide() {
    insta::assert_snapshot!(shown(100));
}

#[test]
fn narrow() {
    let text = shown(60);
    // The table has its own width, and a line that people copy from is never broken.
    let fixed = ["written at", "blame", "is-error/typed-part: ", "6 checks"];
    let (_, below) = text.split_once("\nuntested\n").unwrap();
    let wide = below.lines().filter(|line| line.chars().count() > 60);
    let wide: Vec<_> =
        wide.filter(|line| !fixed.iter().any(|word| line.trim_start().starts_with(word))).collect();
    assert!(wide.is_empty(), "{wide:?}");
    insta::assert_snapshot!(text);
}
