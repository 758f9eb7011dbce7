//! The log: one JSON object a line, with times, names, counts and causes; never a result, never an
//! argument.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use birdstrike_wire::json;

/// Bytes of a text field beyond which it is cut, so that no upstream fills the log.
const MAX_TEXT_BYTES: usize = 500;

/// Where the lines go. A line is written whole or not at all; a writer that fails is ignored, as a
/// full disk must not fail a call.
pub(crate) struct Log(Mutex<Box<dyn Write + Send>>);

impl Log {
    pub(crate) fn new(writer: Box<dyn Write + Send>) -> Self {
        Self(Mutex::new(writer))
    }

    /// Begins a line. It is written by [`Line::write`].
    pub(crate) fn event(&self, event: &str) -> Line<'_> {
        let mut text = String::with_capacity(256);
        let now = jiff::Timestamp::now();
        let _ = write!(text, "{{\"time\":\"{now}\",\"event\":\"{event}\"");
        Line { log: self, text }
    }
}

/// One line in the making.
#[must_use = "a line is written by `write`"]
pub(crate) struct Line<'a> {
    log: &'a Log,
    text: String,
}

impl Line<'_> {
    /// A text field, cut when it is long.
    pub(crate) fn text(mut self, name: &str, value: &str) -> Self {
        let value = json::quote(bounded(value));
        let _ = write!(self.text, ",\"{name}\":{value}");
        self
    }

    /// A number.
    pub(crate) fn number(mut self, name: &str, value: i128) -> Self {
        let _ = write!(self.text, ",\"{name}\":{value}");
        self
    }

    /// Writes the line.
    pub(crate) fn write(mut self) {
        self.text.push_str("}\n");
        let mut writer = self.log.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writer.write_all(self.text.as_bytes()).and_then(|()| writer.flush());
    }
}

fn bounded(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let text = format!("{}é", "a".repeat(MAX_TEXT_BYTES - 1));
        assert_eq!(bounded(&text).len(), MAX_TEXT_BYTES - 1);
        assert_eq!(bounded("é"), "é");
    }
}
