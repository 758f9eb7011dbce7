//! Changed snapshots: found, shown, accepted, rejected.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use birdstrike_engine::EngineError;
use birdstrike_engine::report::tame;
use similar::{ChangeTag, TextDiff};

/// Lines that are shown around a difference.
const AROUND: usize = 3;

/// Folders that hold no snapshots of anybody's own.
const PASSED_OVER: [&str; 2] = ["target", "node_modules"];

/// A snapshot that a test found changed.
#[derive(Debug)]
pub(super) struct Pending {
    /// The snapshot as it is accepted; there may be none yet.
    accepted: PathBuf,
    /// The new one.
    new: PathBuf,
}

/// Every changed snapshot below a folder, sorted.
///
/// # Errors
/// A folder that cannot be read.
pub(super) fn find(dir: &Path) -> Result<Vec<Pending>, EngineError> {
    let files = files(dir, &[".snap.new"])?;
    Ok(files.into_iter().map(|new| Pending { accepted: new.with_extension(""), new }).collect())
}

/// Files below a folder whose names end in one of these, sorted; what is hidden or built is passed
/// over.
///
/// # Errors
/// A folder that cannot be read.
pub(super) fn files(dir: &Path, ends: &[&str]) -> Result<Vec<PathBuf>, EngineError> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        let entries = fs::read_dir(&dir).map_err(|error| {
            EngineError::Usage(format!("{} cannot be read: {error}", dir.display()))
        })?;
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir && !name.starts_with('.') && !PASSED_OVER.contains(&name.as_str()) {
                open.push(entry.path());
            } else if !is_dir && ends.iter().any(|end| name.ends_with(end)) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A path without the folder that it was found below.
pub(super) fn below(dir: &Path, path: &Path) -> String {
    path.strip_prefix(dir).unwrap_or(path).display().to_string()
}

impl Pending {
    /// The accepted snapshot's path, below a folder.
    pub(super) fn shown(&self, dir: &Path) -> String {
        below(dir, &self.accepted)
    }

    /// The difference, with styles, and what the keys do.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(super) fn difference(
        &self,
        dir: &Path,
        at: usize,
        all: usize,
    ) -> Result<String, EngineError> {
        let bold = Style::new().bold();
        let word = if self.accepted.is_file() { "" } else { " (new)" };
        let mut out = String::new();
        let shown = self.shown(dir);
        let _ = writeln!(out, "{bold}{} of {all}: {shown}{word}{bold:#}", at + 1);
        let old = if self.accepted.is_file() { read(&self.accepted)? } else { String::new() };
        let new = read(&self.new)?;
        let (old, new) = (tame(content(&old)), tame(content(&new)));
        let diff = TextDiff::from_lines(&old, &new);
        for (number, group) in diff.grouped_ops(AROUND).iter().enumerate() {
            if number > 0 {
                let _ = writeln!(out, "  ...");
            }
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                let (sign, style) = match change.tag() {
                    ChangeTag::Delete => ('-', coloured(AnsiColor::Red)),
                    ChangeTag::Insert => ('+', coloured(AnsiColor::Green)),
                    ChangeTag::Equal => (' ', Style::new()),
                };
                let line = change.value().trim_end_matches('\n');
                let _ = writeln!(out, "{style}{sign} {line}{style:#}");
            }
        }
        let _ = writeln!(
            out,
            "{bold}a{bold:#}ccept  {bold}r{bold:#}eject  {bold}s{bold:#}kip  {bold}A{bold:#}ccept the rest  {bold}q{bold:#}uit"
        );
        Ok(out)
    }

    /// Puts the new snapshot in the place of the old one.
    ///
    /// # Errors
    /// A file that cannot be read, written or removed.
    pub(super) fn accept(&self) -> Result<(), EngineError> {
        let new = accepted(&read(&self.new)?);
        let written = fs::write(&self.accepted, new);
        written.map_err(|error| failed(&self.accepted, "written", &error))?;
        self.reject()
    }

    /// Takes the new snapshot away.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub(super) fn reject(&self) -> Result<(), EngineError> {
        fs::remove_file(&self.new).map_err(|error| failed(&self.new, "removed", &error))
    }
}

fn coloured(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(colour.into()))
}

fn read(path: &Path) -> Result<String, EngineError> {
    fs::read_to_string(path).map_err(|error| failed(path, "read", &error))
}

fn failed(path: &Path, what: &str, error: &std::io::Error) -> EngineError {
    EngineError::io(&format!("{} cannot be {what}", path.display()), error)
}

/// Head and body of a snapshot file: the head stands between two lines of three hyphens.
fn parts(snapshot: &str) -> (&str, &str) {
    let head = snapshot.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    head.unwrap_or(("", snapshot))
}

/// What the snapshot is of, without its head.
fn content(snapshot: &str) -> &str {
    parts(snapshot).1
}

/// The new file as it is kept: the line of the assertion would change with every edit above it.
fn accepted(new: &str) -> String {
    let (head, body) = parts(new);
    let kept: Vec<&str> =
        head.lines().filter(|line| !line.starts_with("assertion_line:")).collect();
    if head.is_empty() { new.to_owned() } else { format!("---\n{}\n---\n{body}", kept.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_stays_but_for_the_line_of_the_assertion() {
        let new = "---\nsource: a.rs\nassertion_line: 7\nexpression: x\n---\nbody\n---\nmore\n";
        let kept = "---\nsource: a.rs\nexpression: x\n---\nbody\n---\nmore\n";
        assert_eq!(accepted(new), kept);
        assert_eq!(content(new), "body\n---\nmore\n");
        assert_eq!(accepted("bare\n"), "bare\n");
    }
}
