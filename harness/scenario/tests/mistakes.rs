//! Broken files are shown with file, line, caret and mend, and never end in a panic.

use std::fmt::Write as _;

use birdstrike_scenario::{Baseline, Profile, Scenario, requirement};

/// Every case with what is said about it.
fn shown(cases: &[(&str, &str)], say: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    for (name, source) in cases {
        let said = say(source).unwrap_or_else(|| "NOTHING WAS SAID".into());
        writeln!(out, "## {name}\n{said}\n").unwrap();
    }
    out
}

fn scenario(source: &str) -> Option<String> {
    Scenario::parse("scenarios/is-error/a.yaml", source).err().map(|mistake| mistake.rendered)
}

const HEAD: &str = "title: a title\nrequirements: [X-1]\n";

#[test]
fn scenarios() {
    let cases = [
        ("empty file", ""),
        ("only a comment", "# nothing yet\n"),
        ("a typo in a key", "title: a\nrequirments: [X-1]\nexpect: {a: {flagged: policy}}\n"),
        ("a wrong type", "title: a\nexpect: {a: {flagged: policy}}\nharmful: 3\n"),
        ("a word for a boolean", "title: a\nexpect: {a: {flagged: policy}}\nharmful: yes\n"),
        ("tabs", "title: a\nexpect:\n\ta: {flagged: policy}\n"),
        ("a duplicate key", "title: a\ntitle: b\nexpect: {a: {flagged: policy}}\n"),
        (
            "an alias bomb",
            "title: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]\ng: [*f, *f, *f, *f, *f, *f, *f, *f, *f]\n",
        ),
        ("two documents", "title: a\n---\ntitle: b\n"),
        ("an open bracket", "title: a\nrequirements: [X-1\nexpect: {a: {flagged: policy}}\n"),
    ];
    insta::assert_snapshot!(shown(&cases, scenario));
}
