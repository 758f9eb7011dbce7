//! Broken files are shown with file, line, caret and mend, and never end in a panic.

use birdstrike_scenario::{Baseline, Catalogue, Mistake, Profile, Scenario, fault, requirement};

/// Every case with what is said about it.
fn shown(cases: &[(&str, &str)], say: impl Fn(&str) -> Result<(), Mistake>) -> String {
    let said = |(name, source): &(&str, &str)| match say(source) {
        Ok(()) => format!("## {name}\nNOTHING WAS SAID"),
        Err(mistake) => format!("## {name}\n{}", mistake.rendered),
    };
    cases.iter().map(said).collect::<Vec<_>>().join("\n\n")
}

fn scenario(source: &str) -> Result<(), Mistake> {
    Scenario::parse("scenarios/is-error/a.yaml", source).map(drop)
}

#[test]
fn scenario_files() {
    let cases = [
        ("empty file", ""),
        ("only a comment", "# nothing yet\n"),
        ("a typo in a key", "title: a\nrequirments: [X-1]\nexpect: {a: {flagged: policy}}\n"),
        ("a key of nothing known", "title: a\ncolour: red\nexpect: {a: {flagged: policy}}\n"),
        ("no expectations", "title: a\nrequirements: [X-1]\n"),
        ("a wrong type", "title: a\ntool: [echo]\nexpect: {a: {flagged: policy}}\n"),
        ("a word for a truth value", "title: a\nharmful: yes\nexpect: {a: {flagged: policy}}\n"),
        ("tabs", "title: a\nexpect:\n\ta: {flagged: policy}\n"),
        ("a duplicate key", "title: a\ntitle: b\nexpect: {a: {flagged: policy}}\n"),
        ("two checks of one name", "title: a\nexpect:\n  a: {flagged: must}\n  a: {valid: must}\n"),
        ("an open bracket", "title: a\nrequirements: [X-1\nexpect: {a: {flagged: policy}}\n"),
        ("an unknown level", "title: a\nrequirements: [X-1]\nexpect: {a: {flagged: maybe}}\n"),
        ("an unknown ending", "title: a\ndelivery: {ending: hole}\nexpect: {a: {valid: must}}\n"),
    ];
    insta::assert_snapshot!(shown(&cases, scenario));
}

#[test]
fn wire_values() {
    let cases = [
        ("a quoted value", "title: a\noutcome:\n  data: '{\"a\":1,}'\nexpect: {}\n"),
        (
            "a block scalar of several lines",
            "title: a\noutcome:\n  text: é\n  meta: |\n    {\n      \"é\": \"«x»\", b\n    }\nexpect: {}\n",
        ),
        (
            "a value that breaks off",
            "title: a\nraw:\n  result: |\n    {\"content\":[\nexpect: {}\n",
        ),
        (
            "an escape of YAML's own",
            "title: a\noutcome: {data: \"{\\\"a\\\":\\x41}\"}\nexpect: {}\n",
        ),
        ("meta that is no object", "title: a\noutcome: {meta: '[1]'}\nexpect: {}\n"),
        (
            "a message with its id",
            "title: a\nraw:\n  message: '{\"id\":«id»,\"result\":nul}'\nexpect: {}\n",
        ),
        ("two raw forms", "title: a\nraw: {result: '{}', body: x}\nexpect: {}\n"),
        ("two forms", "title: a\nraw: {body: x}\noutcome: {}\nexpect: {}\n"),
        ("a task without an end", "title: a\ntask: {working: 1}\nexpect: {}\n"),
        (
            "a message before that is none",
            "title: a\noutcome: {}\ndelivery: {before: ['{\"t\":«token»]']}\nexpect: {}\n",
        ),
        (
            "a read and a prompt",
            "title: a\noutcome: {contents: '[]', messages: '[]'}\nexpect: {}\n",
        ),
        ("a bare marker", "title: a\noutcome: {data: '{\"n\":«n»}'}\nexpect: {}\n"),
    ];
    insta::assert_snapshot!(shown(&cases, scenario));
}

#[test]
fn checks_that_do_not_fit() {
    let cases = [
        ("no requirement", "expect: {a: {flagged: policy}}\n"),
        ("several expectations", "expect: {a: {flagged: policy, valid: must}}\n"),
        ("no expectation", "expect: {a: {slot: text}}\n"),
        ("a must of spelling", "expect: {a: {intact: must, slot: data, same: json}}\n"),
        ("no value", "expect: {a: {intact: must}}\n"),
        ("a slot and a pointer", "expect: {a: {intact: must, slot: text, at: /a}}\n"),
        ("no pointer", "expect: {a: {intact: must, at: content}}\n"),
        ("an unknown slot", "expect: {a: {absent: must, slot: txt}}\n"),
        ("a slot that nothing fills", "expect: {a: {intact: must, slot: data}}\n"),
        ("an unknown step", "expect: {a: {intact: must, slot: text, of: mian}}\n"),
        ("an unknown route", "expect:\n  a: {flagged: must, routes: [flat, flot]}\n"),
        ("an unknown revision", "expect: {a: {flagged: must, revisions: [2026-07-27]}}\n"),
        ("a stray key", "expect: {a: {flagged: must, cause: [size]}}\n"),
        ("a name with a slash", "expect: {a/b: {flagged: must}}\n"),
        ("the reserved name", "expect: {valid: {flagged: must}}\n"),
        ("the reserved check", "expect: {schema: {valid: must}}\n"),
        ("packed without a batch", "expect: {a: {packed: must}}\n"),
        ("a cut of a call", "expect: {a: {cut-told: must}}\n"),
        ("a budget of a call", "expect: {a: {within-budget: must}}\n"),
        ("an item of a call", "expect: {a: {intact: must, slot: text, tool: echo}}\n"),
        ("a digest of nothing", "expect: {a: {digest: policy}}\n"),
        ("a beginning of nothing", "expect: {a: {prefix: policy, slot: data}}\n"),
        ("unlike a step that is not", "expect: {a: {unlike: two, slot: text}}\n"),
    ];
    let head = "title: a\noutcome: {text: x}\n";
    let say = |source: &str| {
        let known = if source.contains("flagged: policy}") { "" } else { "requirements: [X-1]\n" };
        scenario(&format!("{head}{known}{source}"))
    };
    insta::assert_snapshot!(shown(&cases, say));
}

#[test]
fn steps_that_do_not_fit() {
    let cases = [
        ("an unknown answer", "steps: [{call: {answer: two}}]\nexpect: {}\n"),
        (
            "two steps of one name",
            "steps:\n  - call: {answer: one}\n  - call: {answer: one}\nexpect: {}\n",
        ),
        (
            "an answer left over",
            "answers: {two: {outcome: {}}}\nsteps: [{call: {answer: one}}]\nexpect: {}\n",
        ),
        ("an unknown kind of step", "steps: [{wait: {}}]\nexpect: {}\n"),
        ("an id that is none", "steps: [{call: {id: '1.5'}}]\nexpect: {}\n"),
        ("an empty batch", "steps: [{batch: {}}]\nexpect: {}\n"),
        (
            "a whole batch for a call",
            "steps: [{batch: {answers: [one]}}]\nexpect: {a: {flagged: must}}\n",
        ),
        (
            "an entry too far",
            "steps: [{batch: {answers: [one]}}]\nexpect: {a: {flagged: must, of: batch.1}}\n",
        ),
        (
            "an unknown feature",
            "steps: [{call: {answer: one}}]\nneeds: [small-budgt]\nexpect: {a: {flagged: must}}\n",
        ),
        (
            "an unknown observation",
            "steps: [{call: {answer: one}}]\nobserve: [wieght]\nexpect: {a: {flagged: must}}\n",
        ),
    ];
    insta::assert_snapshot!(shown(&cases, stepped));
}

#[test]
fn steps_without_sense() {
    let cases = [
        ("an unknown way", "steps: [{call: {answer: one, via: flot}}]\nexpect: {}\n"),
        ("meta that is none", "steps: [{call: {answer: one, meta: '[]'}}]\nexpect: {}\n"),
        ("a read of nothing", "steps: [{read: {answer: one}}]\nexpect: {}\n"),
        ("a read from two places", "steps: [{read: {uri: 'a:b', from: one}}]\nexpect: {}\n"),
        (
            "the rest of a call",
            "steps: [{call: {answer: one}}, {fetch: {from: one}}]\nexpect: {a: {flagged: must}}\n",
        ),
        ("a task of nothing", "steps: [{task: {method: get}}]\nexpect: {}\n"),
        (
            "params that are none",
            "steps: [{notify: {method: x, params: '{\"a\":«id-of:s»,}'}}]\nexpect: {}\n",
        ),
        ("alone together", "steps: [{together: [{call: {answer: one}}]}]\nexpect: {}\n"),
        (
            "two of one name together",
            "steps: [{together: [{call: {answer: one}}, {call: {answer: one}}]}]\nexpect: {}\n",
        ),
        ("a swap of nothing", "steps: [{canary: {do: swap-tools}}]\nexpect: {}\n"),
        ("a deed of none", "steps: [{gateway: {do: dance}}]\nexpect: {}\n"),
    ];
    insta::assert_snapshot!(shown(&cases, stepped));
}

/// A scenario of an answer `one` and what is given; one whose steps have an id has `main` alone.
fn stepped(source: &str) -> Result<(), Mistake> {
    let head = "title: a\nrequirements: [X-1]\n";
    let one = "one: {outcome: {text: x}}";
    let (answers, rest) = match source.strip_prefix("answers: {") {
        Some(rest) => (format!("answers: {{{one}, "), rest),
        None if source.contains("id:") => (String::new(), source),
        None => (format!("answers: {{{one}}}\n"), source),
    };
    scenario(&format!("{head}{answers}{rest}"))
}

#[test]
fn the_folder_and_the_name_count() {
    let source = "title: a\nrequirements: [X-1]\nexpect: {a: {flagged: must}}\n";
    let cases = [
        ("no folder", "a.yaml"),
        ("no surface", "scenarios/iserror/a.yaml"),
        ("a name with a capital", "scenarios/is-error/A.yaml"),
    ];
    insta::assert_snapshot!(shown(&cases, |file| Scenario::parse(file, source).map(drop)));
}

#[test]
fn requirement_files() {
    let cases = [
        ("a missing level", "source: s\nrequirements:\n  X-1: {text: t}\n"),
        ("an unknown level", "source: s\nrequirements:\n  X-1: {level: shall, text: t}\n"),
        (
            "an unknown surface",
            "source: s\nrequirements:\n  X-1: {level: must, surface: task, text: t}\n",
        ),
        (
            "an id twice",
            "source: s\nrequirements:\n  X-1: {level: must, text: t}\n  X-1: {level: must, text: u}\n",
        ),
    ];
    let say = |source: &str| requirement::parse("scenarios/requirements/x.yaml", source).map(drop);
    insta::assert_snapshot!(shown(&cases, say));
}

#[test]
fn fault_files() {
    let cases = [
        ("no trips", "surface: is-error\nfaults:\n  f: {trips: []}\n"),
        ("trips left out", "surface: is-error\nfaults:\n  f: {touches: [is-error]}\n"),
    ];
    let say = |source: &str| fault::parse("scenarios/faults/is-error.yaml", source).map(drop);
    insta::assert_snapshot!(shown(&cases, say));
}

#[test]
fn profiles() {
    const GOOD: &str = "\
name: toy
title: A toy
processes:
  door: {command: [toy], endpoint: 'http://127.0.0.1:{{ port }}/mcp', ready: {line: 'listening on '}}
routes:
  flat: {process: door, tool: '{{ tool }}'}
revisions: {client: [2026-07-28], upstream: [2026-07-28]}
declares:
  - {does: leaves the mirror out, requirements: [R-TOOLS-12]}
";
    assert_eq!(Profile::parse("p.yaml", GOOD).map(|p| p.name), Ok("toy".into()));
    let broken = [
        ("a route to nowhere", GOOD.replace("process: door", "process: dor")),
        ("an unknown route", GOOD.replace("  flat:", "  flot:")),
        ("an empty declaration", GOOD.replace(", requirements: [R-TOOLS-12]", "")),
        ("an unknown revision", GOOD.replace("upstream: [2026-07-28]", "upstream: [2026-07-29]")),
        ("no revision", GOOD.replace("client: [2026-07-28]", "client: []")),
        ("an unknown fidelity", GOOD.replace("[R-TOOLS-12]", "[R-TOOLS-12], fidelity: [gone]")),
        ("a missing key", GOOD.replace("title: A toy\n", "")),
        ("a typo in a key", GOOD.replace("endpoint:", "endpiont:")),
        ("an unknown feature", format!("{GOOD}provides: [small-budgt]\n")),
        (
            "a feature that is there and not",
            format!("{GOOD}lacks: {{pin-warn: x}}\nvariants: {{v: {{provides: [pin-warn]}}}}\n"),
        ),
        ("a facade without a form", GOOD.replace("  flat:", "  facade:")),
        (
            "a form of another route",
            GOOD.replace(
                "tool: '{{ tool }}'",
                "http: {path: /x, body: x, result: /r, message: /m}",
            ),
        ),
    ];
    let cases: Vec<_> = broken.iter().map(|(name, text)| (*name, text.as_str())).collect();
    insta::assert_snapshot!(shown(&cases, |source| Profile::parse("p.yaml", source).map(drop)));
}

#[test]
fn baselines() {
    let cases = [
        ("no reason", "entries:\n  - {check: a/b/c, reason: '', since: 2026-11-30}\n"),
        ("no date", "entries:\n  - {check: a/b/c, reason: known, since: lately}\n"),
        ("no check", "entries:\n  - {reason: known, since: 2026-11-30}\n"),
        (
            "an entry twice",
            "entries:\n  - {check: a/b/c, reason: x, since: 2026-11-30}\n  - {check: a/b/c, reason: y, since: 2026-11-30}\n",
        ),
        ("an unknown surface", "untested:\n  - {surface: tax, reason: x, since: 2026-11-30}\n"),
    ];
    insta::assert_snapshot!(shown(&cases, |source| Baseline::parse("b.yaml", source).map(drop)));
}

#[test]
fn alias_bombs_end_at_once() {
    let long = "x".repeat(1 << 20);
    let many = vec!["*a"; 100_000].join(", ");
    let bomb = format!("title: &a {long}\nrequirements: [{many}]\nexpect: {{}}\n");
    assert!(scenario(&bomb).is_err());
    let mut nested = String::from("title: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (this, last) in ('b'..='k').zip('a'..) {
        let ten = vec![format!("*{last}"); 10].join(", ");
        nested.extend([this.to_string(), format!(": &{this} [{ten}]\n")]);
    }
    assert!(scenario(&nested).is_err());
    let deep = format!("title: {}", "[".repeat(200_000));
    assert!(scenario(&deep).is_err());
}

#[test]
fn a_folder_is_read_whole_and_all_its_mistakes_are_told() {
    let dir = std::env::temp_dir().join(format!("birdstrike-scenario-{}", std::process::id()));
    std::fs::create_dir_all(dir.join("is-error")).unwrap();
    std::fs::write(dir.join("is-error/a.yaml"), b"title: a\nwhy: caf\xe9\n").unwrap();
    std::fs::write(dir.join("is-error/b.yaml"), b"titel: b\n").unwrap();
    let told = |dir: &std::path::Path| {
        let mistakes = Catalogue::default().read_scenarios(dir).unwrap_err();
        mistakes.into_iter().map(|mistake| mistake.title).collect::<Vec<_>>()
    };
    assert_eq!(told(&dir), ["not UTF-8 in line 2", "no key `titel` here"]);
    std::fs::create_dir(dir.join("requirements")).unwrap();
    for name in ["requirements/a.yaml", "requirements/b.yaml"] {
        let rows = "source: s\nrequirements: {X-1: {level: must, text: t}}\n";
        std::fs::write(dir.join(name), rows).unwrap();
    }
    assert_eq!(told(&dir).last().unwrap(), "requirement `X-1` stands twice");
    std::fs::write(dir.join("is-error/c.yml"), "title: c\n").unwrap();
    assert_eq!(told(&dir), ["the name ends in .yml"]);
    std::fs::remove_file(dir.join("is-error/c.yml")).unwrap();
    std::fs::write(dir.join("d.yaml"), "title: d\n").unwrap();
    assert_eq!(told(&dir), ["the file stands in no folder"]);
    assert!(told(&dir.join("nowhere"))[0].starts_with("cannot be read"));
    std::fs::remove_dir_all(&dir).unwrap();
}

/// Every kind of parser on files that ship, each broken in a thousand ways.
#[test]
fn no_mutation_panics() {
    let shipped = std::fs::read_dir("../../scenarios/answer-reading").unwrap().flatten();
    let texts: Vec<String> =
        shipped.map(|entry| std::fs::read_to_string(entry.path()).unwrap()).collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap()
    };
    let pieces = [
        "{", "}", "[", "]", ":", ": ", "- ", "\n", "\n\n", "  ", "\t", "'", "\"", "|", ">", "&a ",
        "*a", "!x ", "«", "»", "\\", "\u{0}", "é", "#", "%", "---\n", "null", "{}",
    ];
    for round in 0..1_500 {
        let mut text: Vec<char> = texts[round % texts.len()].chars().collect();
        for _ in 0..=random(4) {
            let at = random(text.len());
            match random(4) {
                0 => drop(text.drain(at..(at + random(9)).min(text.len()))),
                1 => text.truncate(at),
                2 => {
                    let end = (at + random(60)).min(text.len());
                    let copy = text[at..end].to_vec();
                    let to = random(text.len());
                    drop(text.splice(to..to, copy));
                }
                _ => drop(text.splice(at..at, pieces[random(pieces.len())].chars())),
            }
        }
        let text: String = text.into_iter().collect();
        for mistake in [
            Scenario::parse("scenarios/answer-reading/a.yaml", &text).err(),
            Profile::parse("p.yaml", &text).err(),
            Baseline::parse("b.yaml", &text).err(),
            requirement::parse("r.yaml", &text).err(),
            fault::parse("f.yaml", &text).err(),
        ]
        .into_iter()
        .flatten()
        {
            assert!(mistake.rendered.starts_with("error: "), "{}", mistake.rendered);
            assert!(mistake.rendered.contains("help: "), "{}", mistake.rendered);
        }
    }
}
