//! Validation against JSON Schemas: those of MCP itself, and those that tools give for their
//! results.
//!
//! A validator works on parsed values, and a parsed value cannot hold everything that JSON can say.
//! Where that might matter the outcome is [`SchemaOutcome::Unknown`] with its reason: what cannot
//! be judged is never blamed on anyone.

mod cost;
mod mcp;
mod methods;
mod output;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use mcp::McpSchemas;
pub use output::{OutputReport, OutputSchema, OutputSchemaError};

use crate::compare::{excerpt, excerpt_within};
use crate::number::Decimal;
use crate::pointer::Pointer;
use crate::scan::{Doc, Kind, Node};

/// How many errors of one instance are told.
pub const MAX_ERRORS: usize = 20;

/// How long the sentence of one error may be, in characters.
const MESSAGE_CHARS: usize = 240;

/// The nesting that `serde_json` still reads into a value.
const MAX_VALUE_DEPTH: usize = 127;

/// What validation came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchemaOutcome {
    /// The instance conforms.
    Valid,
    /// It does not; at most [`MAX_ERRORS`] reasons.
    Invalid(Vec<SchemaError>),
    /// It could not be judged, for this reason. Nobody is to blame for it.
    Unknown(String),
}

impl SchemaOutcome {
    /// Whether the instance is known to conform.
    pub fn is_valid(&self) -> bool {
        matches!(self, Self::Valid)
    }

    /// Whether the instance is known not to conform.
    pub fn is_invalid(&self) -> bool {
        matches!(self, Self::Invalid(_))
    }

    /// Why the instance does not conform; empty unless it is invalid.
    pub fn errors(&self) -> &[SchemaError] {
        match self {
            Self::Invalid(errors) => errors,
            Self::Valid | Self::Unknown(_) => &[],
        }
    }

    /// An outcome with a single reason.
    fn broken(instance: &str, message: impl Into<String>) -> Self {
        Self::Invalid(vec![SchemaError::own(instance, message)])
    }
}

/// One reason why an instance does not conform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaError {
    /// The part of the instance that does not conform.
    pub instance: Pointer,
    /// The part of the schema that it breaks; the root for rules that no schema can say.
    pub schema: Pointer,
    /// What is wrong, in a few hundred characters; the instance is not quoted beyond names.
    pub message: String,
}

impl SchemaError {
    /// A rule that no schema says.
    fn own(instance: &str, message: impl Into<String>) -> Self {
        Self {
            instance: Pointer::parse(instance).unwrap_or_default(),
            schema: Pointer::root(),
            message: message.into(),
        }
    }

    fn from_library(error: &ValidationError<'_>) -> Self {
        let (nearest, alternatives) = nearest(error);
        let message = excerpt_within(&nearest.masked_with("the value").to_string(), MESSAGE_CHARS);
        let place = |text: &str| Pointer::parse(text).unwrap_or_default();
        Self {
            instance: place(nearest.instance_path().as_str()),
            schema: place(nearest.schema_path().as_str()),
            message: match alternatives {
                0 => message,
                _ => format!("fits none of {alternatives} alternatives; of the nearest: {message}"),
            },
        }
    }
}

/// Where a value fits none of several alternatives, what is wrong with it by the one that it comes
/// nearest to: the one with the fewest errors. Together with the number of alternatives of the
/// outermost choice, or 0 if there is none.
fn nearest<'e>(error: &'e ValidationError<'_>) -> (&'e ValidationError<'e>, usize) {
    let mut at: &ValidationError<'_> = error;
    let mut alternatives = 0;
    while let ValidationErrorKind::AnyOf { context }
    | ValidationErrorKind::OneOfNotValid { context } = at.kind()
    {
        let Some(first) =
            context.iter().min_by_key(|branch| branch.len()).and_then(|branch| branch.first())
        else {
            break;
        };
        if alternatives == 0 {
            alternatives = context.len();
        }
        at = first;
    }
    (at, alternatives)
}

/// The key by which `serde_json` marks raw text inside a value. A document that has it itself would
/// be read as something else than it says.
const RESERVED_KEY: &str = "$serde_json::private::RawValue";

/// Whether a document has the reserved key, however it is escaped.
fn has_reserved_key(bytes: &[u8]) -> bool {
    // Without a dollar or an escape there is no such key, and nearly every document ends here.
    if memchr::memchr2(b'$', b'\\', bytes).is_none() {
        return false;
    }
    let Ok(doc) = Doc::scan(bytes) else {
        return false;
    };
    let mut open = vec![doc.root()];
    while let Some(node) = open.pop() {
        if node.members().any(|member| member.key.is(RESERVED_KEY)) {
            return true;
        }
        open.extend(node.items());
        open.extend(node.members().map(|member| member.value));
    }
    false
}

/// Reads an instance into a value, or says why there is nothing to validate.
fn read(bytes: &[u8]) -> Result<Value, SchemaOutcome> {
    if has_reserved_key(bytes) {
        let why = format!("no validator here can hold the key `{RESERVED_KEY}`");
        return Err(SchemaOutcome::Unknown(why));
    }
    serde_json::from_slice(bytes).map_err(|error| match Doc::scan(bytes) {
        Err(problem) => SchemaOutcome::broken("", format!("not JSON: {problem}")),
        Ok(doc) if doc.depth() > MAX_VALUE_DEPTH => SchemaOutcome::Unknown(format!(
            "nested {} levels deep, and a validator reads {MAX_VALUE_DEPTH}",
            doc.depth()
        )),
        Ok(_) => SchemaOutcome::Unknown(format!("no validator can hold this value: {error}")),
    })
}

/// Validates a value that was read from `bytes`.
fn judge(validator: &Validator, value: &Value, bytes: &[u8]) -> SchemaOutcome {
    if validator.is_valid(value) {
        return SchemaOutcome::Valid;
    }
    let Ok(doc) = Doc::scan(bytes) else {
        return SchemaOutcome::Unknown("the instance could not be scanned".to_owned());
    };
    let mut errors = Vec::new();
    let mut doubt = None;
    for error in validator.iter_errors(value).take(MAX_ERRORS) {
        match doubt_about(&error, &doc) {
            Some(reason) => doubt = Some(reason),
            None => errors.push(SchemaError::from_library(&error)),
        }
    }
    match doubt {
        Some(reason) if errors.is_empty() => SchemaOutcome::Unknown(reason),
        _ => SchemaOutcome::Invalid(errors),
    }
}

/// Why an error may be the validator's own rather than the instance's.
fn doubt_about(error: &ValidationError<'_>, doc: &Doc<'_>) -> Option<String> {
    use ValidationErrorKind as E;
    match error.kind() {
        E::BacktrackLimitExceeded { .. } | E::RegexEngineFailure { .. } => {
            Some("a pattern could not be matched to its end".to_owned())
        }
        E::Referencing(problem) => Some(format!("a reference could not be followed: {problem}")),
        // These depend on what a number is worth, the first ones of their own, the others of
        // anything inside. All other keywords look at shapes and names.
        E::Maximum { .. }
        | E::Minimum { .. }
        | E::ExclusiveMaximum { .. }
        | E::ExclusiveMinimum { .. }
        | E::MultipleOf { .. }
        | E::Constant { .. }
        | E::Enum { .. }
        | E::UniqueItems
        | E::AnyOf { .. }
        | E::OneOfNotValid { .. }
        | E::OneOfMultipleValid { .. }
        | E::Not { .. }
        | E::Contains => {
            let place = Pointer::parse(error.instance_path().as_str()).unwrap_or_default();
            let number = unheld_number(doc.at(&place)?)?;
            Some(format!("a validator cannot hold the number {} exactly", excerpt(number)))
        }
        _ => None,
    }
}

/// A number inside a value that neither a 64-bit integer nor a double keeps.
fn unheld_number(within: Node<'_>) -> Option<&str> {
    let mut open = vec![within];
    while let Some(node) = open.pop() {
        match node.kind() {
            Kind::Number if !is_held(node.raw()) => return Some(node.raw()),
            Kind::Array => open.extend(node.items()),
            Kind::Object => open.extend(node.members().map(|member| member.value)),
            _ => {}
        }
    }
    None
}

fn is_held(lexeme: &str) -> bool {
    let integer = lexeme.parse::<i64>().is_ok() || lexeme.parse::<u64>().is_ok();
    // The shortest spelling that leads to the same double is the number itself, unless digits
    // were lost on the way.
    let shortest = lexeme.parse::<f64>().ok().map(|double| format!("{double:e}"));
    integer || shortest.is_some_and(|held| Decimal::parse(&held) == Decimal::parse(lexeme))
}
