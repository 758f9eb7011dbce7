//! Words and names that people write: known words of a list, and names that become parts of ids.

use crate::check::Source;
use crate::mistake::Mistake;
use crate::yaml::At;

/// Routes that a gateway may have.
pub(crate) const ROUTES: [&str; 5] = ["flat", "batch", "facade", "task", "continuation"];

/// Protocol revisions, oldest first.
pub(crate) const REVISIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

/// Features that a launch may have and a scenario may need: switches of a configuration that no
/// gateway has all on at once, and abilities that not every gateway has.
pub(crate) const FEATURES: [&str; 19] = [
    // A batch may hold about 4 KB of results.
    "small-budget",
    // A mutator that cuts texts of over 64 characters is on.
    "text-mutator",
    // A mutator that fails for a text block whose text is no string is on.
    "failing-mutator",
    // A second upstream, called `second`, stands beside `main`.
    "second-upstream",
    // Two callers are told apart.
    "second-identity",
    // The second upstream has a limit of its own on answers.
    "own-limit",
    // Continuations expire within about a second.
    "short-expiry",
    // Results against `outputSchema`: told, or kept back.
    "output-schema-warn",
    "output-schema-block",
    // A tool whose definition is not the pinned one: not called, told, or only recorded.
    "pin-block",
    "pin-warn",
    "pin-audit",
    // What a stdio upstream writes on its standard error is logged.
    "stdio-stderr",
    // Results are handed on without their typed parts.
    "no-structured",
    // A call without an answer is given up within about a second.
    "short-timeout",
    // A second upstream is configured that cannot be reached.
    "dead-upstream",
    // The second upstream's name begins with the first one's.
    "names-alike",
    // The gateway holds `-known-secret` as a secret of its own.
    "known-secret",
    // Tasks of 2025-11-25: a call with `task` among its params.
    "nested-tasks",
];

/// Observations that the engine can measure.
pub(crate) const OBSERVATIONS: [&str; 2] = ["amplification", "arrived-twice"];

/// Takes words of which each must be known.
pub(crate) fn words(
    given: &[At<String>],
    known: &[&str],
    what: &str,
    source: &Source<'_>,
) -> Result<Vec<String>, Mistake> {
    for word in given {
        if !known.contains(&word.value.as_str()) {
            let source = Source { place: word.place, ..*source };
            let mend = format!("use one of {}", known.join(", "));
            return Err(source.mistake(&format!("no {what} `{}`", word.value), &mend));
        }
    }
    Ok(given.iter().map(|word| word.value.clone()).collect())
}

/// A name that becomes part of an id, or that checks refer to: a slash or a dot in it would cut
/// the id in the wrong place.
pub(crate) fn named(name: &str, what: &str, source: &Source<'_>) -> Result<(), Mistake> {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| *byte != b'-');
    let bytes = name.as_bytes();
    if bytes.iter().all(|byte| legal(*byte)) && ends(bytes.first()) && ends(bytes.last()) {
        return Ok(());
    }
    let mend = "use small letters, digits and single hyphens between them";
    Err(source.mistake(&format!("`{name}` cannot be the name of {what}"), mend))
}
