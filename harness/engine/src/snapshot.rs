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
const VOLATILE: [(&str, &str); 7] = [
    ("elapsed_ms", "«ms»"),
    ("call_id", "«id»"),
    ("batch_id", "«id»"),
    ("continuation_id", "«id»"),
    // A result that fills its message is shorter where the message's id has more digits.
    ("original_size_bytes", "«n»"),
    ("taskId", "«id»"),
    ("version", "«version»"),
];

/// Collects what one scenario's cells received.
#[derive(Debug, Default)]
pub struct Snapshots {
    cells: BTreeMap<String, Vec<(String, String)>>,
    rows: BTreeMap<String, Vec<String>>,
    checks: Vec<CheckRecord>,
    untested: Vec<String>,
}

impl Reporter for Snapshots {
    fn take(&mut self, event: &Event) {
        match event {
            Event::CellFinished { scenario, cell, row: Some(row), .. } => {
                let (_, cell) = cell.split_once('-').unwrap_or_default();
                self.rows.entry(scenario.clone()).or_default().push(format!("{cell}: {row}"));
            }
            Event::CellFinished { scenario, cell, row: None, received } => {
                let steps = received.iter().map(|(step, body)| format!("{step}: {body}\n"));
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
        if let Some(rows) = self.rows.get(&scenario.id) {
            // What hundreds of clients received tells nobody anything; what was combined does.
            let _ = writeln!(out, "{} rows:", rows.len());
            let _ = writeln!(out, "{}", indent(&rows.join("\n")));
            self.account(&mut out, scenario);
            return out;
        }
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
pub(crate) fn redact(text: &str) -> String {
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

/// Numbers that depend on a port, or on how many digits an id has.
const COUNTED: [&str; 3] = ["127.0.0.1:", "column ", "byte "];

/// A run of letters and digits longer than this is filling.
const FILLING: usize = 200;

/// Replaces loopback ports, places in a text, filling and nonces in words.
fn redact_words(text: &str) -> String {
    let mut text = collapse(text);
    for before in COUNTED {
        let mut from = 0;
        while let Some(found) = text[from..].find(before) {
            let start = from + found + before.len();
            let digits = text[start..].bytes().take_while(u8::is_ascii_digit).count();
            let stand_in = if digits > 0 { "«n»" } else { "" };
            text.replace_range(start..start + digits, stand_in);
            from = start + stand_in.len();
        }
    }
    crate::nonce::erase_all(&text)
}

/// Shortens filling to its ends: how much there is depends on how many digits an id has.
fn collapse(text: &str) -> String {
    const KEPT: usize = 7;
    let filling = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(filling) {
        let run = rest[start..].find(|c| !filling(c)).unwrap_or(rest.len() - start);
        let end = start + run;
        if run > FILLING {
            out.push_str(&rest[..start + KEPT]);
            out.push_str("«fill»");
            out.push_str(&rest[end - KEPT..end]);
        } else {
            out.push_str(&rest[..end]);
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volatile_values_are_redacted() {
        let text = r#"{"elapsed_ms": 12,"call_id":"a-1","n":1,"at":"http://127.0.0.1:4711/mcp"}"#;
        let wanted = r#"{"elapsed_ms":«ms»,"call_id":«id»,"n":1,"at":"http://127.0.0.1:«n»/mcp"}"#;
        assert_eq!(redact(text), wanted);
        assert_eq!(redact_words("at line 1 column 1234: byte x"), "at line 1 column «n»: byte x");
    }

    #[test]
    fn filling_keeps_its_ends() {
        let text = format!("\"bs-head{}bs-tail\", short", "Ab0-".repeat(99));
        assert_eq!(redact_words(&text), "\"bs-head«fill»bs-tail\", short");
    }
}
