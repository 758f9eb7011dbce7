//! Requirements: the sentences that checks rest on.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::level::Level;
use crate::mistake::Mistake;
use crate::surface::Surface;
use crate::yaml;

/// One sentence with an id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// `INV-2.3`, `R-TOOLS-17`.
    pub id: String,
    /// Where the sentence comes from.
    pub source: String,
    /// How binding it is.
    pub level: Level,
    /// Whether it is checked or measured.
    pub kind: Kind,
    /// The surface that it speaks of, where it is one.
    pub surface: Option<Surface>,
    /// The sentence.
    pub text: String,
    /// Where in a gateway it lives (`file:function`), or where in its source it stands.
    pub place: Option<String>,
    /// Why no check can exist here.
    pub out_of_reach: Option<String>,
}

/// What is done with a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Checked everywhere.
    Promise,
    /// Measured and shown, without a verdict.
    Observation,
    /// A known fault of today: the check asserts the opposite.
    Defect,
}

/// A file of requirements.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RequirementFile {
    /// Where its sentences come from, in words for people.
    source: String,
    /// The requirements by id.
    requirements: IndexMap<String, Row>,
}

/// A requirement as it is written.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Row {
    level: Level,
    #[serde(default = "promise")]
    kind: Kind,
    surface: Option<Surface>,
    text: String,
    place: Option<String>,
    out_of_reach: Option<String>,
}

fn promise() -> Kind {
    Kind::Promise
}

/// Parses a file of requirements.
///
/// # Errors
/// A [`Mistake`] with line, caret and how to mend it.
pub fn parse(file: &str, source: &str) -> Result<Vec<Requirement>, Mistake> {
    let parsed: RequirementFile = yaml::parse(file, source)?;
    let row = |(id, row): (String, Row)| Requirement {
        id,
        source: parsed.source.clone(),
        level: row.level,
        kind: row.kind,
        surface: row.surface,
        text: row.text.trim().to_owned(),
        place: row.place,
        out_of_reach: row.out_of_reach,
    };
    Ok(parsed.requirements.into_iter().map(row).collect())
}
