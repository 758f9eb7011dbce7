//! Arguments on their way to a sink.

use birdstrike_wire::json::{self, Member};

use super::Redactor;

/// Arguments below this level are not told.
const MAX_DEPTH: usize = 32;
/// Characters of a name.
const MAX_NAME_CHARS: usize = 64;
/// The name under which it says how many members are missing.
const MISSING: &str = "[left out]";

/// What lies below a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Below<'a> {
    /// It is a string, a number or a word.
    Nothing,
    /// It is an object.
    Members(Vec<Member<'a>>),
    /// It is a list.
    Items(Vec<&'a str>),
}

/// Arguments without secrets, cut: an object as JSON text.
pub(super) fn told(arguments: &str, redactor: &Redactor) -> String {
    let max_bytes = (redactor.steps.room)(redactor.rules.max_chars);
    let mut telling = Telling { redactor, out: String::new(), max_bytes };
    telling.value(if arguments.is_empty() { "{}" } else { arguments }, 0);
    telling.out
}

struct Telling<'a> {
    redactor: &'a Redactor,
    out: String,
    max_bytes: usize,
}

impl Telling<'_> {
    fn value(&mut self, value: &str, depth: usize) {
        if depth > MAX_DEPTH {
            self.out.push_str("\"[too deep]\"");
            return;
        }
        match (self.redactor.steps.below)(value) {
            Below::Nothing => self.leaf(value),
            Below::Members(members) => self.members(&members, depth),
            Below::Items(items) => self.items(&items, depth),
        }
    }

    fn members(&mut self, members: &[Member<'_>], depth: usize) {
        let Redactor { steps, rules } = self.redactor;
        self.out.push('{');
        for (at, member) in members.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            if self.is_full() {
                let missing = members.len() - at;
                self.out.push_str(&format!("\"{MISSING}\":{missing}"));
                break;
            }
            let name = member.key();
            let told = (steps.cut)(self.redactor.clean(&name), MAX_NAME_CHARS);
            self.out.push_str(&json::quote(&told));
            self.out.push(':');
            if (steps.is_secret_name)(&name, rules) {
                self.out.push_str(&(steps.mask)(member.value));
            } else {
                self.value(member.value, depth + 1);
            }
        }
        self.out.push('}');
    }

    fn items(&mut self, items: &[&str], depth: usize) {
        self.out.push('[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            if self.is_full() {
                let missing = items.len() - at;
                self.out.push_str(&format!("\"[{missing} more left out]\""));
                break;
            }
            self.value(item, depth + 1);
        }
        self.out.push(']');
    }

    /// A string, a number, a word, or what could not be looked through.
    fn leaf(&mut self, value: &str) {
        if json::kind(value) == "a string" {
            // What no Rust string can hold is told as it is written.
            let text =
                serde_json::from_str(value).unwrap_or_else(|_| value.trim_matches('"').to_owned());
            self.out.push_str(&json::quote(&self.redactor.told(&text)));
            return;
        }
        let told = self.redactor.told(value);
        let is_whole = told == value;
        self.out.push_str(&if is_whole { told } else { json::quote(&told) });
    }

    fn is_full(&self) -> bool {
        self.out.len() >= self.max_bytes
    }
}
