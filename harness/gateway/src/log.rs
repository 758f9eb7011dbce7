//! The log: one JSON object a line, with times, names, counts and causes; never a result, and of
//! arguments and of an upstream's words only what redaction leaves.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::surfaces::redaction::Redactor;

/// Where the lines go. A line is written whole or not at all; a writer that fails is ignored, as a
/// full disk must not fail a call.
pub(crate) struct Log {
    writers: Mutex<Vec<Box<dyn Write + Send>>>,
    /// What takes secrets out of whatever is told, here and in the other sinks.
    pub(crate) redactor: Redactor,
}

impl Log {
    pub(crate) fn new(writer: Box<dyn Write + Send>, redactor: Redactor) -> Self {
        Self { writers: Mutex::new(vec![writer]), redactor }
    }

    /// Writes the lines to the end of this file as well.
    ///
    /// # Errors
    /// It cannot be opened.
    pub(crate) fn and_to(&self, path: &Path) -> io::Result<()> {
        let file = append(path)?;
        self.writers.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(file));
        Ok(())
    }

    /// Begins a line. It is written by [`Line::write`].
    pub(crate) fn event(&self, event: &str) -> Line<'_> {
        let mut text = String::with_capacity(256);
        let now = jiff::Timestamp::now();
        let _ = write!(text, "{{\"time\":\"{now}\",\"event\":\"{event}\"");
        Line { log: self, text }
    }
}

/// A file to be written to at its end, by its owner alone to read.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// One line in the making.
#[must_use = "a line is written by `write`"]
pub(crate) struct Line<'a> {
    log: &'a Log,
    text: String,
}

impl Line<'_> {
    /// A text field from anywhere: without secrets, and cut when it is long.
    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        let told = self.log.redactor.told(value);
        self.told(name, &told)
    }

    /// A text field that is ready to be told.
    pub(crate) fn told(mut self, name: &str, value: &str) -> Self {
        let value = (self.log.redactor.steps.quoted)(value);
        let _ = write!(self.text, ",\"{name}\":{value}");
        self
    }

    /// A field that is JSON text, ready to be told.
    pub(crate) fn json(mut self, name: &str, value: &str) -> Self {
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
        let mut writers = self.log.writers.lock().unwrap_or_else(PoisonError::into_inner);
        for writer in writers.iter_mut() {
            let _ = writer.write_all(self.text.as_bytes()).and_then(|()| writer.flush());
        }
    }
}
