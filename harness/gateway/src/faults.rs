//! The faults: believable mistakes, one at a time, to prove that a check can fail.
//!
//! A fault replaces one step of one surface by what real gateways were seen doing, and is as small
//! as the slip it stands for. The surfaces know nothing of this. What a fault does not concern goes
//! through the right step, so that it shows where it should and nowhere else.

mod answer_reading;
mod audit_export;
mod batch_packing;
mod door;
mod facade;
mod flat_return;
mod is_error;
mod listing;
mod mutators;
mod redaction;
mod resource_links;
mod schema_and_digest;
mod tasks;
mod text;
mod transport;
mod truncation;
mod upstream_read;

use birdstrike_wire::json;
use birdstrike_wire::shape::text_block;

use crate::surfaces::Steps;

/// A deliberate defect.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Its name, unique among all faults.
    pub name: &'static str,
    /// The slug of the surface that it breaks.
    pub surface: &'static str,
    /// The mistake in one sentence.
    pub mistake: &'static str,
    /// Puts the mistake in the place of the right step.
    pub apply: fn(&mut Steps),
}

/// All faults, a list a file, in the order of the surfaces.
pub const fn all() -> &'static [&'static [Fault]] {
    &[
        upstream_read::FAULTS,
        answer_reading::FAULTS,
        mutators::FAULTS,
        truncation::FAULTS,
        batch_packing::FAULTS,
        flat_return::FAULTS,
        flat_return::blocks::FAULTS,
        facade::FAULTS,
        resource_links::FAULTS,
        tasks::FAULTS,
        is_error::FAULTS,
        schema_and_digest::FAULTS,
        redaction::FAULTS,
        audit_export::FAULTS,
        listing::FAULTS,
        transport::FAULTS,
        door::FAULTS,
    ]
}

/// The fault of this name.
pub fn find(name: &str) -> Option<&'static Fault> {
    all().iter().copied().flatten().find(|fault| fault.name == name)
}

/// The text after an edit, or as it was where the edit does not apply.
fn edit(text: String, edit: impl Fn(&str) -> Option<String>) -> String {
    edit(&text).unwrap_or(text)
}

/// An object without one of its members.
fn without(object: String, name: &str) -> String {
    edit(object, |object| json::remove(object, name).ok())
}

/// A result with one text block as its content.
fn with_text(result: String, text: &str) -> String {
    let content = format!("[{}]", text_block(text));
    edit(result, |result| json::set(result, "content", &content).ok())
}

/// A result whose blocks are edited; `None` leaves a block as it is.
fn blocks(result: String, change: impl Fn(usize, &str) -> Option<String>) -> String {
    edit(result, |result| {
        let blocks = json::items(json::get(result, "content")?).ok()?;
        let blocks = blocks.iter().enumerate();
        let blocks: Vec<String> =
            blocks.map(|(at, block)| change(at, block).unwrap_or((*block).to_owned())).collect();
        json::set(result, "content", &format!("[{}]", blocks.join(","))).ok()
    })
}

/// A result with the first of its blocks.
fn first_block(result: String) -> String {
    edit(result, |result| {
        let first = *json::items(json::get(result, "content")?).ok()?.first()?;
        json::set(result, "content", &format!("[{first}]")).ok()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_kebab_slugs_and_mistakes_are_sentences() {
        let faults: Vec<&Fault> = all().iter().copied().flatten().collect();
        let names: BTreeSet<&str> = faults.iter().map(|fault| fault.name).collect();
        assert_eq!(names.len(), faults.len());
        for fault in faults {
            let kebab =
                |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-';
            assert!(fault.name.chars().all(kebab), "{}", fault.name);
            assert!(fault.mistake.ends_with('.'), "{}", fault.name);
            assert!(std::ptr::eq(find(fault.name).unwrap(), fault));
        }
        assert!(find("no-such-fault").is_none());
    }
}
