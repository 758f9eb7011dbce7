//! What the binary prints: styled where a terminal takes it, plain everywhere else, and never
//! broken by a closed pipe.

use std::io::{IsTerminal, Write};

use birdstrike_engine::report::tame;

/// A text on standard output; a reader that went away is no error.
pub(crate) fn print(text: &str) {
    let mut out = anstream::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// A line on standard error.
pub(crate) fn note(text: &str) {
    let mut err = anstream::stderr().lock();
    let _ = writeln!(err, "{text}");
}

/// An error on standard error. It may hold a gateway's last lines, which say nothing to a terminal.
pub(crate) fn error(text: &str) {
    let text = tame(text.strip_prefix("error: ").unwrap_or(text));
    let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
    note(&format!("{style}error{style:#}: {text}"));
}

/// Whether somebody watches standard error.
pub(crate) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

/// Columns of the terminal; 100 where there is none.
pub(crate) fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    columns.filter(|columns| (20..=400).contains(columns)).unwrap_or(100)
}
