//! Checks that are alike: what one of them was seen to find, the other finds too.
//!
//! Many scenarios end with a call that shows that the gateway still works, and some fire the same
//! call sixteen times. Such checks are one question, asked again in another place: the same
//! expectation, of the same kind of step, of the same answer. Whichever of them a fault trips, the
//! code and the answer that it was tripped with are those of all.

use std::collections::HashMap;

use birdstrike_scenario::check::Expect;
use birdstrike_scenario::scenario::Step;
use birdstrike_scenario::{Catalogue, Check, Scenario};
use serde_json::{Value, json};

use super::VALID;

/// What of a step bears on how its answer is judged: what is asked for, and on which route. What a
/// step is called, whose it is and what it sends up do not.
const KEPT: [&str; 6] = ["via", "method", "what", "at", "task", "body"];

/// Ids of checks, each with what it has in common with those like it.
pub fn likenesses(catalogue: &Catalogue) -> HashMap<String, String> {
    let mut known = HashMap::new();
    for scenario in &catalogue.scenarios {
        for check in &scenario.checks {
            if let Some(likeness) = likeness(scenario, check) {
                known.insert(scenario.check_id(&check.name), likeness);
            }
        }
        // It asks the same of every answer.
        if let Some(kind) = subject(scenario, None).and_then(|(step, _)| kind(step)) {
            known.insert(scenario.check_id(VALID), format!("{VALID} {kind}"));
        }
    }
    known
}

/// What is expected, of what step, of what answer. Nothing where no step is spoken of.
fn likeness(scenario: &Scenario, check: &Check) -> Option<String> {
    let (step, answer) = subject(scenario, check.of.as_deref())?;
    let mut step = serde_json::to_value(step).ok()?;
    for inner in step.as_object_mut()?.values_mut() {
        if let Value::Object(members) = inner {
            members.retain(|name, value| KEPT.contains(&name.as_str()) && !value.is_null());
        }
    }
    // How an answer travelled shows in what arrives of it, which is what a check looks at.
    let answer = answer.and_then(|answer| scenario.answers.get(answer));
    let answer = answer.map(|answer| (&answer.form, &answer.task));
    // What was noted of a request counts under the requirements that the check rests on.
    let noted = matches!(check.expect, Expect::Asked).then_some(&check.requirements);
    let whole = json!([check.expect, noted, check.tool, step, answer]).to_string();
    Some(anonymous(&whole))
}

/// The word for a step in files.
fn kind(step: &Step) -> Option<String> {
    serde_json::to_value(step).ok()?.as_object()?.keys().next().cloned()
}

/// The step that a check speaks of, and the name of its answer.
fn subject<'a>(scenario: &'a Scenario, of: Option<&str>) -> Option<(&'a Step, Option<&'a str>)> {
    let mut named = scenario.all_steps().filter(|step| !step.name().is_empty());
    let Some(of) = of else {
        return named.next().map(whole);
    };
    named.find_map(|step| {
        if step.name() == of {
            return Some(whole(step));
        }
        let entry = of.strip_prefix(step.name())?.strip_prefix('.')?.parse::<usize>().ok()?;
        step.answers().get(entry).map(|answer| (step, Some(*answer)))
    })
}

/// A step as a whole, with its first answer where it has one.
fn whole(step: &Step) -> (&Step, Option<&str>) {
    (step, step.answers().first().copied())
}

/// A text in which markers have no names, and plain words beside one are no difference.
fn anonymous(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('«') {
        let plain = |char: char| char.is_ascii_alphanumeric() || char == ' ';
        out.push_str(before.trim_end_matches(plain));
        out.push('«');
        let Some((_, behind)) = after.split_once('»') else {
            rest = after;
            break;
        };
        out.push('»');
        rest = behind.trim_start_matches(plain);
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness_of(source: &str, check: &str) -> String {
        let scenario = Scenario::parse("scenarios/transport/some.yaml", source).unwrap();
        let check = scenario.checks.iter().find(|one| one.name == check).unwrap();
        likeness(&scenario, check).unwrap()
    }

    const MANY: &str = "title: Some answers\nrequirements: [INV-1.1]\nanswers:\n  \
        one: {outcome: {text: 'one «text»'}}\n  other: {outcome: {text: '«words»'}}\n  \
        failed: {outcome: {text: '«text»', error: true}}\nsteps:\n  - call: {answer: one}\n  \
        - call: {answer: other, save: next, id: '7'}\n  - call: {answer: failed}\nexpect:\n  \
        one: {intact: policy, slot: text, of: one}\n  next: {intact: policy, slot: text, of: next}\n  \
        failed: {intact: policy, slot: text, of: failed}\n  flag: {flagged: policy, of: one}\n";

    #[test]
    fn the_same_question_of_the_same_answer_is_alike_whatever_it_is_called() {
        let one = likeness_of(MANY, "one");
        assert_eq!(one, likeness_of(MANY, "next"));
        assert_ne!(one, likeness_of(MANY, "failed"));
        assert_ne!(one, likeness_of(MANY, "flag"));
    }
}
