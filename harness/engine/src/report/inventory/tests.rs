//! Tests of the inventory, on a report of few checks.

use birdstrike_judge::{Fidelity, Level};
use birdstrike_scenario::catalogue::ShippedProfile;
use birdstrike_scenario::{Profile, requirement};

use super::*;
use crate::event::{Event, Reporter};
use crate::record::{Gateway, Untested};
use crate::report::Collector;

const ROWS: &str = "
source: s
requirements:
  INV-9.1: {level: policy, surface: is-error, text: The flag stays., place: 'flag.py:flag'}
  INV-9.2: {level: policy, kind: defect, surface: is-error, text: Words are kept.}
  INV-9.3: {level: policy, surface: is-error, text: Nobody can tell., out-of-reach: It is dark.}
  INV-9.4: {level: policy, surface: is-error, text: Nobody asked.}
";

const PROFILE: &str = "
name: mine
title: t
processes: {g: {command: [x], endpoint: none, ready: {}}}
routes: {flat: {process: g, tool: t}}
revisions: {client: ['2026-07-28'], upstream: ['2026-07-28']}
inventory: {places: true}
";

const FOUND: &str = "
version: '1.0'
findings:
  INV-9.2: {holds: nowhere, did: It says | sorry.}
";

fn catalogue(places: bool) -> Catalogue {
    let profile = PROFILE.replace("true", if places { "true" } else { "false" });
    let profile = Profile::parse("mine.yaml", &profile).unwrap();
    let files = vec![("findings-1.0.yaml".to_owned(), FOUND.to_owned())];
    Catalogue {
        requirements: requirement::parse("inventory.yaml", ROWS).unwrap(),
        profiles: vec![ShippedProfile { profile, source: String::new(), files }],
        ..Catalogue::default()
    }
}

fn check(id: &str, row: &str, verdict: Verdict) -> Event {
    let holds = verdict == Verdict::Pass;
    Event::Checked(Box::new(CheckRecord {
        id: id.into(),
        surface: Surface::IsError,
        launch: "http-2026-07-28".into(),
        route: "flat".into(),
        revision: "2026-07-28".into(),
        encoding: "json".into(),
        verdict,
        fidelity: Some(if holds { Fidelity::Intact } else { Fidelity::Lost }),
        blame: None,
        level: Level::Policy,
        requirements: vec![row.into()],
        message: if holds { String::new() } else { "the *words* are gone".into() },
        written: String::new(),
        combined: None,
        evidence: None,
    }))
}

fn page(places: bool) -> String {
    let gateway =
        Gateway { name: "mine".into(), version: Some("1.0".into()), ..Gateway::default() };
    let mut collector = Collector::new(gateway);
    collector.take(&check("is-error/a/flag", "INV-9.1", Verdict::Pass));
    collector.take(&check("is-error/b/words", "INV-9.2", Verdict::Warn));
    let (what, reason, unlock) = ("the whole surface", "no port watches it", "a port");
    collector.take(&Event::Untested(Untested {
        surface: Surface::Redaction,
        what: what.into(),
        reason: reason.into(),
        unlock: unlock.into(),
    }));
    render(collector.report(), &catalogue(places))
}

#[test]
fn rows_say_what_was_seen_of_them() {
    let page = page(true);
    for line in [
        "# Where mine 1.0 handles the result of a tool call",
        "| 9 | [is-error](#9-is-error) | 1 | 0 | 1 | 0 |",
        "- **Where:** `flag.py:flag`.",
        "| INV-9.1 | promise | The flag stays. | holds, 1 of 1 |",
        "| INV-9.2 | defect | Words are kept. | still so: does not hold, 1 of 1; It says \\| sorry. |",
        "| INV-9.3 | promise | Nobody can tell. | out of reach, see below |",
        "| INV-9.4 | promise | Nobody asked. | untested |",
        "- **Driven by:** `is-error/a` (1), `is-error/b` (0, **1 not**).",
        "- **INV-9.3** Nobody can tell. *It is dark.*",
        "- redaction: no check drove it; what a new shape does there is open",
    ] {
        assert!(page.lines().any(|known| known == line), "{line}\n{page}");
    }
}

#[test]
fn findings_are_told_in_words_with_their_evidence() {
    let page = page(true);
    let found = "- On flat: the \\*words\\* are gone. Expected: is-error/b/words. lost (policy), \
                 1 check(s) in 1 cell(s); evidence \
                 `is-error/b/words http-2026-07-28 flat 2026-07-28 json`";
    assert!(page.contains(found), "{page}");
    let open = "- **Untested:** the whole surface: no port watches it. Unlocked by a port.";
    assert!(page.contains(open), "{page}");
}

#[test]
fn places_are_told_where_they_are_known() {
    assert!(!page(false).contains("flag.py"));
    assert!(page(false).contains("- **Where:** not known of this gateway."));
}
