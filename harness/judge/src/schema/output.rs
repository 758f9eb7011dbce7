//! The schema that a tool gives for its typed results.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, ReferencingError, ValidationError, Validator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cost::Cost;
use super::{MAX_ERRORS, MAX_VALUE_DEPTH, SchemaError, SchemaOutcome, judge, read};
use crate::compare::excerpt;
use crate::pointer::Pointer;
use crate::scan::{Doc, Node, ScanError};

/// The largest schema that is compiled, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// The deepest.
const MAX_DEPTH: usize = 100;
/// The one with the most keys and values.
const MAX_TOKENS: usize = 100_000;
/// The most subschema visits that one validation may come to, by a generous estimate.
const MAX_VISITS: u64 = 50_000_000;
/// The most subschemas that may wait for each other at one value, when a schema is compiled. Twice
/// as many fill the stack of an ordinary thread in a debug build.
const MAX_CHAIN: u64 = 128;
/// The most that may wait for each other along a whole instance, when it is validated.
const MAX_CHAIN_ALONG: u64 = 512;

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutputSchemaError {
    /// It is not JSON.
    #[error("the schema is not JSON: {0}")]
    NotJson(#[from] ScanError),
    /// It holds something that a validator cannot: a lone surrogate, a number beyond a double.
    #[error("the schema cannot be read: {0}")]
    Unreadable(String),
    /// It is larger, deeper or more entangled than is reasonable (R-BASE-25).
    #[error("the schema has {what} of {size}, and at most {limit} is accepted (R-BASE-25)")]
    TooLarge {
        /// Which measure is exceeded.
        what: &'static str,
        /// What it comes to.
        size: u64,
        /// What it may come to.
        limit: u64,
    },
    /// It declares a dialect that is not supported (R-BASE-21).
    #[error("the dialect `{0}` is not supported (R-BASE-21)")]
    UnsupportedDialect(String),
    /// It refers to something outside of itself, which is never fetched (R-BASE-23, R-BASE-24).
    #[error("the reference `{0}` leads outside the schema and is not fetched (R-BASE-23)")]
    ExternalReference(String),
    /// It refers to something that it does not have.
    #[error("a reference leads nowhere: {0}")]
    DeadReference(String),
    /// It is not valid in its own dialect (R-BASE-22).
    #[error("at `{pointer}` the schema breaks its dialect: {message} (R-BASE-22)")]
    BreaksDialect {
        /// The part of the schema that is wrong.
        pointer: Pointer,
        /// What is wrong with it.
        message: String,
    },
}

/// What the validation of a typed result came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputReport {
    /// Whether the result conforms; formats play no part in it.
    pub outcome: SchemaOutcome,
    /// Strings that do not have the format which the schema names. JSON Schema leaves it open
    /// whether formats are asserted, so these are told apart and make nothing invalid.
    pub formats: Vec<SchemaError>,
}

/// A compiled `outputSchema` of a tool.
///
/// The dialect is the one that `$schema` declares, else 2020-12 (R-BASE-21); nothing is fetched
/// (R-BASE-23); size, depth and work are bounded (R-BASE-25).
#[derive(Debug)]
pub struct OutputSchema {
    plain: Validator,
    /// The same schema with formats asserted, if it names any.
    strict: Option<Validator>,
    cost: Cost,
    dialect: Draft,
}

impl OutputSchema {
    /// Compiles a schema from its raw text.
    ///
    /// # Errors
    ///
    /// Whatever makes it unfit for validation; a schema that cannot be used in full is refused, not
    /// waved through (R-BASE-24).
    pub fn compile(schema: &[u8]) -> Result<Self, OutputSchemaError> {
        let doc = Doc::scan(schema)?;
        within("a size", schema.len() as u64, MAX_BYTES as u64)?;
        within("a depth", doc.depth() as u64, MAX_DEPTH as u64)?;
        within("a count of keys and values", doc.token_count() as u64, MAX_TOKENS as u64)?;
        if super::has_reserved_key(schema) {
            let why = format!("it has the key `{}`", super::RESERVED_KEY);
            return Err(OutputSchemaError::Unreadable(why));
        }
        let value: Value = serde_json::from_slice(schema)
            .map_err(|error| OutputSchemaError::Unreadable(error.to_string()))?;
        let dialect = dialect(&value)?;
        let cost = Cost::of(&value, MAX_VALUE_DEPTH);
        within("a work for one value", cost.at(0).visits, MAX_VISITS)?;
        within("a chain of subschemas", cost.at(0).chain, MAX_CHAIN)?;
        Ok(Self {
            plain: build(&value, dialect, false)?,
            strict: names_formats(doc.root()).then(|| build(&value, dialect, true)).transpose()?,
            cost,
            dialect,
        })
    }

    /// The dialect that is followed, as its year or number.
    pub fn dialect(&self) -> &'static str {
        match self.dialect {
            Draft::Draft4 => "draft-04",
            Draft::Draft6 => "draft-06",
            Draft::Draft7 => "draft-07",
            Draft::Draft201909 => "2019-09",
            _ => "2020-12",
        }
    }

    /// Validates a typed result (R-TOOLS-13).
    pub fn validate(&self, instance: &[u8]) -> OutputReport {
        let value = match read(instance) {
            Ok(value) => value,
            Err(outcome) => return OutputReport { outcome, formats: Vec::new() },
        };
        if let Some(reason) = self.too_much_work(instance) {
            let outcome = SchemaOutcome::Unknown(reason);
            return OutputReport { outcome, formats: Vec::new() };
        }
        let outcome = judge(&self.plain, &value, instance);
        let formats = self.formats(&value, outcome.is_valid());
        OutputReport { outcome, formats }
    }

    fn too_much_work(&self, instance: &[u8]) -> Option<String> {
        let doc = Doc::scan(instance).ok()?;
        let bound = self.cost.at(doc.depth());
        let visits = bound.visits.saturating_mul(doc.token_count() as u64);
        (visits > MAX_VISITS || bound.chain > MAX_CHAIN_ALONG).then(|| {
            "the schema asks for more work on this value than is reasonable (R-BASE-25)".to_owned()
        })
    }

    /// What goes wrong only when formats are asserted. In a value that is valid without them that is
    /// every error; in any other, only those that are plainly about a format can be told apart.
    fn formats(&self, value: &Value, valid: bool) -> Vec<SchemaError> {
        let Some(strict) = self.strict.as_ref().filter(|strict| !strict.is_valid(value)) else {
            return Vec::new();
        };
        let is_format = |error: &ValidationError<'_>| {
            matches!(error.kind(), ValidationErrorKind::Format { .. })
        };
        strict
            .iter_errors(value)
            .filter(|error| valid || is_format(error))
            .take(MAX_ERRORS)
            .map(|error| SchemaError::from_library(&error))
            .collect()
    }
}

fn within(what: &'static str, size: u64, limit: u64) -> Result<(), OutputSchemaError> {
    if size > limit {
        return Err(OutputSchemaError::TooLarge { what, size, limit });
    }
    Ok(())
}

/// The dialect that a schema declares.
fn dialect(schema: &Value) -> Result<Draft, OutputSchemaError> {
    let Some(declared) = schema.get("$schema") else {
        return Ok(Draft::Draft202012);
    };
    let Some(uri) = declared.as_str() else {
        return Err(OutputSchemaError::UnsupportedDialect(excerpt(&declared.to_string())));
    };
    match Draft::from_schema_uri(uri) {
        Draft::Unknown => Err(OutputSchemaError::UnsupportedDialect(excerpt(uri))),
        known => Ok(known),
    }
}

/// Whether `format` occurs as a name anywhere; whether it is the keyword does not matter.
fn names_formats(schema: Node<'_>) -> bool {
    let mut open = vec![schema];
    while let Some(node) = open.pop() {
        if node.get("format").is_some() {
            return true;
        }
        open.extend(node.items());
        open.extend(node.members().map(|member| member.value));
    }
    false
}

fn build(schema: &Value, dialect: Draft, formats: bool) -> Result<Validator, OutputSchemaError> {
    jsonschema::options()
        .with_draft(dialect)
        .offline()
        .should_validate_formats(formats)
        .build(schema)
        .map_err(|error| refusal(&error))
}

/// Says why a schema does not compile.
fn refusal(error: &ValidationError<'_>) -> OutputSchemaError {
    match error.kind() {
        ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri, .. }) => {
            OutputSchemaError::ExternalReference(excerpt(uri))
        }
        ValidationErrorKind::Referencing(ReferencingError::UnknownSpecification {
            specification,
        }) => OutputSchemaError::UnsupportedDialect(excerpt(specification)),
        ValidationErrorKind::Referencing(other) => {
            OutputSchemaError::DeadReference(excerpt(&other.to_string()))
        }
        _ => {
            let error = SchemaError::from_library(error);
            OutputSchemaError::BreaksDialect { pointer: error.instance, message: error.message }
        }
    }
}
