//! Sentences about a difference: plain words, bounded length.

use std::fmt::Write;

use crate::scan::{JsonStr, Kind, Node};

/// How many characters of a value a sentence quotes at most.
pub const EXCERPT_CHARS: usize = 80;

/// The beginning of a text on one line: at most [`EXCERPT_CHARS`] characters, whatever does not
/// print escaped, `…` for what is left out.
pub fn excerpt(text: &str) -> String {
    excerpt_within(text, EXCERPT_CHARS)
}

/// The same, of another length.
pub(crate) fn excerpt_within(text: &str, length: usize) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    for c in chars.by_ref().take(length) {
        push_printable(&mut out, c);
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

/// Two values that are not the same, or not spelled the same.
pub(super) fn change(up: Node<'_>, down: Node<'_>, same_value: bool) -> String {
    if up.kind() != down.kind() {
        return match (up.kind(), down.kind()) {
            (Kind::Null, kind) => format!("null became {kind} {}", excerpt(down.raw())),
            (kind, Kind::Null) => format!("{kind} {} became null", excerpt(up.raw())),
            (was, is) => format!(
                "type {was} became {is}: {} became {}",
                excerpt(up.raw()),
                excerpt(down.raw())
            ),
        };
    }
    match (up.string(), down.string()) {
        (Some(_), Some(_)) if same_value => spelling("string", up.raw(), down.raw()),
        (Some(was), Some(is)) => strings(was, is),
        _ => {
            let note = if same_value { ", the same value" } else { "" };
            let (was, is) = around_first_change(up.raw(), down.raw());
            format!("{} {was} became {is}{note}", up.kind())
        }
    }
}

/// One text, escaped in two ways.
pub(super) fn spelling(what: &str, up: &str, down: &str) -> String {
    let (was, is) = around_first_change(up, down);
    format!("{what} escaped otherwise: {was} became {is}")
}

/// How often a member name stood in an object, and how often it stands there now.
pub(super) fn repetition((was, is): (usize, usize)) -> String {
    let what = if is < was { "duplicate member dropped" } else { "member repeated" };
    format!("{what}: {was} of that name became {is}")
}

/// Two strings that do not say the same.
fn strings(up: JsonStr<'_>, down: JsonStr<'_>) -> String {
    let was: Vec<u32> = up.code_points().collect();
    let is: Vec<u32> = down.code_points().collect();
    if is.is_empty() {
        return format!("string {} became empty", quote(&was));
    }
    if was.is_empty() {
        return format!("empty string became {}", quote(&is));
    }
    let lost = was.len().saturating_sub(is.len());
    let gained = is.len().saturating_sub(was.len());
    if was.starts_with(&is) {
        return format!(
            "string lost its last {lost} of {} characters: {}",
            was.len(),
            quote(&was[is.len()..])
        );
    }
    if was.ends_with(&is) {
        return format!(
            "string lost its first {lost} of {} characters: {}",
            was.len(),
            quote(&was[..lost])
        );
    }
    if is.starts_with(&was) {
        return format!(
            "string gained {gained} characters at its end: {}",
            quote(&is[was.len()..])
        );
    }
    if is.ends_with(&was) {
        return format!("string gained {gained} characters at its start: {}", quote(&is[..gained]));
    }
    if was.len().max(is.len()) <= EXCERPT_CHARS {
        return format!("string {} became {}", quote(&was), quote(&is));
    }
    let common = was.iter().zip(&is).take_while(|(was, is)| was == is).count();
    format!(
        "string of {} characters became one of {}, from character {common} on: {} became {}",
        was.len(),
        is.len(),
        quote(&was[common..]),
        quote(&is[common..])
    )
}

/// Excerpts of two texts that differ. Where their beginnings are long and the same, the excerpts
/// start shortly before the first change, so that it can be seen.
fn around_first_change(up: &str, down: &str) -> (String, String) {
    /// How many characters of what is the same are left standing before the change.
    const LEAD: usize = 16;
    let pairs = up.chars().zip(down.chars());
    let same = pairs.take_while(|(was, is)| was == is).count();
    if same + LEAD < EXCERPT_CHARS {
        return (excerpt(up), excerpt(down));
    }
    let from = |text: &str| {
        let rest: String = text.chars().skip(same - LEAD).take(EXCERPT_CHARS + 1).collect();
        format!("…{}", excerpt(&rest))
    };
    (from(up), from(down))
}

fn quote(points: &[u32]) -> String {
    let mut out = String::from("\"");
    for &point in points.iter().take(EXCERPT_CHARS) {
        match char::from_u32(point) {
            Some(c) => push_printable(&mut out, c),
            // A lone surrogate, in the only spelling that JSON has for it. Writing to a string
            // cannot fail.
            None => _ = write!(out, "\\u{point:04x}"),
        }
    }
    out.push('"');
    if points.len() > EXCERPT_CHARS {
        out.push('…');
    }
    out
}

/// Appends a character, or its escape when it would not print: control characters, direction marks,
/// unassigned code points.
fn push_printable(out: &mut String, c: char) {
    if matches!(c, '"' | '\'' | '\\') {
        out.push(c);
    } else {
        out.extend(c.escape_debug());
    }
}
