//! Surface 10, `redaction`: what log, events, alerts, audit and telemetry are told of a call.
//!
//! Of a result nothing but its size. Of arguments the names, and the values without their secrets: by
//! the name that they stand under, by their form, and because they are known. Of an upstream's
//! words on a failure as much, and those go to the log and to alerts alone. Whatever is told is
//! first cleaned and then cut, so that no cut hides a secret from the search. The caller's own answer
//! is never touched.

mod arguments;
pub mod canonical;
mod rules;

use std::collections::BTreeMap;
use std::sync::Arc;

use birdstrike_wire::json;
use sha2::{Digest, Sha256};

use super::answer_reading::Answer;
pub use arguments::Below;
pub use rules::Rules;

/// What stands in the place of a secret.
pub const MASK: &str = "[redacted]";

/// What stands behind a text that was cut.
pub const CUT: &str = "[cut]";

/// How many texts of full length may be told of all arguments of one call.
const TOTAL_TEXTS: usize = 8;

/// Bytes of a text that are searched for secrets at least. What is told of it ends long before.
const SEARCHED_BYTES: usize = 64 << 10;

/// An upstream's words on a failure, on their way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words<'a> {
    /// As the upstream wrote them.
    pub raw: &'a str,
    /// Without secrets, and cut.
    pub told: &'a str,
}

/// The steps of this surface.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Whether what stands under this name is secret.
    pub is_secret_name: fn(name: &str, &Rules) -> bool,
    /// What stands in the place of a secret value, which is JSON text.
    pub mask: fn(value: &str) -> String,
    /// What lies below a value, to be looked through.
    pub below: for<'a> fn(value: &'a str) -> Below<'a>,
    /// A text without what has the form of a secret.
    pub forms: fn(text: String, &Rules) -> String,
    /// A text without the secrets that are known.
    pub known: fn(text: String, &Rules) -> String,
    /// How many bytes all arguments of a call may take, where a text may have so many characters.
    pub room: fn(max_chars: usize) -> usize,
    /// A text of at most so many characters.
    pub cut: fn(text: String, max_chars: usize) -> String,
    /// The hash of arguments, in hex.
    pub hash: fn(arguments: &str) -> String,
    /// What an event and an audit record are told of a result.
    pub of_result: fn(&Answer) -> Option<String>,
    /// What an alert says of a failure.
    pub alert_words: fn(Words<'_>) -> String,
    /// What the log says of a failure.
    pub log_words: fn(Words<'_>) -> String,
    /// What the log says of a line that a program wrote to its standard error.
    pub stderr_words: fn(Words<'_>) -> String,
    /// What the log says of a program's environment, as JSON text.
    pub environment: fn(&BTreeMap<String, String>) -> String,
    /// A text of the log as JSON text.
    pub quoted: fn(&str) -> String,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self {
        is_secret_name,
        mask,
        below,
        forms,
        known,
        room,
        cut,
        hash,
        of_result,
        alert_words,
        log_words,
        stderr_words,
        environment,
        quoted,
    };
}

/// Any name that contains a word for a secret, in any case: `X-Api-Key` is `api_key` too.
pub fn is_secret_name(name: &str, rules: &Rules) -> bool {
    let plain = Rules::plain(name);
    rules.names.iter().any(|word| plain.contains(word.as_str()))
}

/// The same for all: a length would tell something, a beginning a lot.
pub fn mask(_: &str) -> String {
    json::quote(MASK)
}

/// Members of objects and items of lists, however deep.
pub fn below(value: &str) -> Below<'_> {
    match json::kind(value) {
        "an object" => json::members(value).map_or(Below::Nothing, Below::Members),
        "an array" => json::items(value).map_or(Below::Nothing, Below::Items),
        _ => Below::Nothing,
    }
}

/// Tokens, keys, and what is written as the value of a secret name.
pub fn forms(text: String, rules: &Rules) -> String {
    rules.without_forms(text)
}

/// The gateway's own secrets, wherever an upstream or a client repeats them.
pub fn known(text: String, rules: &Rules) -> String {
    rules.values.iter().fold(text, |text, secret| {
        if text.contains(secret.as_str()) { text.replace(secret.as_str(), MASK) } else { text }
    })
}

/// Enough for some texts of full length, or for many short ones.
pub fn room(max_chars: usize) -> usize {
    max_chars.saturating_mul(TOTAL_TEXTS)
}

/// Whole characters, and a mark that more is missing.
pub fn cut(text: String, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}{CUT}", &text[..end]),
        None => text,
    }
}

/// SHA-256 over a form that is the same for the same arguments, however they are spelled.
pub fn hash(arguments: &str) -> String {
    let digest = Sha256::digest(canonical::form(arguments));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Nothing.
pub fn of_result(_: &Answer) -> Option<String> {
    None
}

/// Without secrets.
pub fn alert_words(words: Words<'_>) -> String {
    words.told.to_owned()
}

/// Without secrets.
pub fn log_words(words: Words<'_>) -> String {
    words.told.to_owned()
}

/// Without secrets.
pub fn stderr_words(words: Words<'_>) -> String {
    words.told.to_owned()
}

/// The names alone: a program is given its secrets there.
pub fn environment(env: &BTreeMap<String, String>) -> String {
    let mask = json::quote(MASK);
    let names: Vec<String> =
        env.keys().map(|name| format!("{}:{mask}", json::quote(name))).collect();
    format!("{{{}}}", names.join(","))
}

/// A string of JSON. A control character that JSON would let stand is escaped as well: a terminal
/// or a reader of lines may take it for more than a character.
pub fn quoted(text: &str) -> String {
    let quoted = json::quote(text);
    let is_odd = |char: char| char.is_control() || matches!(char, '\u{2028}' | '\u{2029}');
    if !quoted.contains(is_odd) {
        return quoted;
    }
    let mut out = String::with_capacity(quoted.len() + 8);
    for char in quoted.chars() {
        if is_odd(char) {
            out.push_str(&format!("\\u{:04x}", u32::from(char)));
        } else {
            out.push(char);
        }
    }
    out
}

/// The steps with what they go by.
#[derive(Clone, Debug)]
pub struct Redactor {
    /// How it is done.
    pub steps: Steps,
    /// What is secret.
    pub rules: Arc<Rules>,
}

impl Redactor {
    /// A text without secrets, cut.
    pub fn told(&self, text: &str) -> String {
        let max_chars = self.rules.max_chars;
        let mut end = text.len().min(SEARCHED_BYTES.max(max_chars.saturating_mul(16)));
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut clean = self.clean(&text[..end]);
        if end < text.len() {
            clean.push_str(CUT);
        }
        (self.steps.cut)(clean, max_chars)
    }

    /// A text without secrets.
    fn clean(&self, text: &str) -> String {
        // Forms first: a known secret inside of another one must not break its form.
        (self.steps.known)((self.steps.forms)(text.to_owned(), &self.rules), &self.rules)
    }

    /// Arguments without secrets, cut: JSON text.
    pub fn arguments(&self, arguments: &str) -> String {
        arguments::told(arguments, self)
    }

    /// The words of a failure for an alert.
    pub fn alert_words(&self, raw: &str) -> String {
        (self.steps.alert_words)(Words { raw, told: &self.told(raw) })
    }

    /// The words of a failure for the log.
    pub fn log_words(&self, raw: &str) -> String {
        (self.steps.log_words)(Words { raw, told: &self.told(raw) })
    }

    /// A line of standard error for the log.
    pub fn stderr_words(&self, raw: &str) -> String {
        (self.steps.stderr_words)(Words { raw, told: &self.told(raw) })
    }
}

#[cfg(test)]
mod tests;
