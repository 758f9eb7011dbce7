//! Snapshots: what the clients of a scenario received, and what was found, as one text.
//!
//! The common outcome stands once; then come only the cells that differ from it. Volatile values
//! are typed redactions, so that two runs read the same.

use std::collections::BTreeMap;
use std::fmt::Write;

use birdstrike_judge::{Fidelity, Verdict};
use birdstrike_scenario::Scenario;

use crate::event::{Event, Reporter};
use crate::record::CheckRecord;

/// Members whose values differ from run to run, and what stands for them.
const VOLATILE: [(&str, &str); 4] =
    [("elapsed_ms", "«ms»"), ("call_id", "«id»"), ("batch_id", "«id»"), ("version", "«version»")];

/// Collects what one scenario's cells received.
#[derive(Debug, Default)]
pub struct Snapshots {
    cells: BTreeMap<String, Vec<(String, String)>>,
    checks: Vec<CheckRecord>,
    untested: Vec<String>,
}

impl Reporter for Snapshots {
    fn take(&mut self, event: &Event) {
        match event {
            Event::CellFinished { scenario, cell, received } => {
                let steps =
                    received.iter().map(|(step, body)| format!("{step}: {}\n", redact(body)));
                let text = steps.collect::<String>();
                self.cells.entry(scenario.clone()).or_default().push((cell.clone(), text));
            }
            Event::Checked(check) => self.checks.push((**check).clone()),
            Event::Untested(untested) => {
                self.untested.push(format!("{}: {}", untested.what, untested.reason));
            }
            _ => {}
        }
    }
}

impl Snapshots {
    /// The snapshot of a scenario.
    pub fn of(&self, scenario: &Scenario) -> String {
        let mut out = format!("{}\n\n", scenario.title);
        let empty = Vec::new();
        let cells = self.cells.get(&scenario.id).unwrap_or(&empty);
        let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
        for (cell, text) in cells {
            match groups.iter_mut().find(|(known, _)| *known == text) {
                Some((_, cells)) => cells.push(cell),
                None => groups.push((text, vec![cell])),
            }
        }
        // The most common outcome first; of equals the one that was seen first.
        groups.sort_by_key(|(_, cells)| std::cmp::Reverse(cells.len()));
        for (at, (text, where_)) in groups.iter().enumerate() {
            if at == 0 {
                let _ = writeln!(out, "received in {} of {} cells:", where_.len(), cells.len());
            } else {
                let _ = writeln!(out, "received in {}:", where_.join(", "));
            }
            let _ = writeln!(out, "{}", indent(text));
        }
        self.account(&mut out, scenario);
        out
    }

    /// Everything that is not a plain pass, once for each check and route.
    fn account(&self, out: &mut String, scenario: &Scenario) {
        let prefix = format!("{}/", scenario.id);
        let mut lines: Vec<(String, usize)> = Vec::new();
        for check in self.checks.iter().filter(|check| check.id.starts_with(&prefix)) {
            let word = match (check.verdict, check.fidelity) {
                (Verdict::Pass, Some(Fidelity::Intact) | None) => continue,
                (Verdict::Pass, Some(fidelity)) => fidelity.as_str(),
                (verdict, _) => verdict.as_str(),
            };
            let name = &check.id[prefix.len()..];
            let line =
                format!("{word} {name} on {}: {}", check.route, redact_words(&check.message));
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, count)) => *count += 1,
                None => lines.push((line, 1)),
            }
        }
        let judged = self.checks.iter().filter(|check| check.id.starts_with(&prefix)).count();
        let _ = writeln!(out, "{judged} checks judged");
        for (line, count) in lines {
            let _ = writeln!(out, "- {count} x {line}");
        }
        for untested in self.untested.iter().filter(|line| line.starts_with(&scenario.id)) {
            let _ = writeln!(out, "- untested {}", redact_words(untested));
        }
    }
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// Replaces volatile members' values, in JSON text as it stands.
fn redact(text: &str) -> String {
    let mut text = text.to_owned();
    for (key, stand_in) in VOLATILE {
        let key = format!("\"{key}\":");
        let mut from = 0;
        while let Some(found) = text[from..].find(&key) {
            let start = from + found + key.len();
            let end = start + value_length(&text[start..]);
            text.replace_range(start..end, stand_in);
            from = start + stand_in.len();
        }
    }
    redact_words(&text)
}

/// The length of a scalar at the start of a text.
fn value_length(text: &str) -> usize {
    let lead = text.len() - text.trim_start().len();
    let rest = &text[lead..];
    let length = match rest.strip_prefix('"') {
        Some(inside) => inside.find('"').map_or(rest.len(), |end| end + 2),
        None => rest.find([',', '}', ']', ' ', '\n']).unwrap_or(rest.len()),
    };
    lead + length
}

/// Replaces loopback ports and nonces in words.
fn redact_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = rest.find("127.0.0.1:") {
        let after = found + "127.0.0.1:".len();
        out.push_str(&rest[..after]);
        let digits =
            rest[after..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - after);
        out.push_str("«port»");
        rest = &rest[after + digits..];
    }
    out.push_str(rest);
    crate::nonce::erase_all(&out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volatile_values_are_redacted() {
        let text = r#"{"elapsed_ms": 12,"call_id":"a-1","n":1,"at":"http://127.0.0.1:4711/mcp"}"#;
        let wanted =
            r#"{"elapsed_ms":«ms»,"call_id":«id»,"n":1,"at":"http://127.0.0.1:«port»/mcp"}"#;
        assert_eq!(redact(text), wanted);
    }
}
