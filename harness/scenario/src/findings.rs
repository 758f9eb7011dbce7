//! Findings: what one version of a gateway was seen doing about a requirement, with the raw bytes.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mistake::Mistake;
use crate::requirement::Kind;
use crate::yaml::{self, At};

/// A checked file of findings: `findings-VERSION.yaml` in the folder of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    /// The file's name, for messages.
    pub file: String,
    /// The version that was looked at.
    pub version: String,
    /// What was found, by requirement, in file order.
    pub rows: Vec<(String, Finding)>,
}

/// What the gateway did about one requirement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Finding {
    /// Whether the requirement holds.
    pub holds: Holds,
    /// What the gateway did, in one sentence.
    pub did: String,
    /// The check whose evidence it is: `surface/scenario/check`.
    pub check: Option<String>,
    /// The route that it was seen on.
    pub route: Option<String>,
    /// What the upstream sent: raw bytes, or the part that matters.
    pub sent: Option<String>,
    /// What the client received: raw bytes, or the part that matters.
    pub came: Option<String>,
}

/// Whether a requirement holds for a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// In every cell that was looked at.
    Everywhere,
    /// In some cells and not in others.
    Partly,
    /// In none.
    Nowhere,
    /// Nobody could look: `did` says why.
    Unseen,
}

impl Holds {
    /// The words in listings, of a row of this kind. A row that tells of a fault is not kept or broken:
    /// the fault is there or not.
    pub const fn words(self, kind: Kind) -> &'static str {
        match (kind, self) {
            (_, Self::Unseen) => "not driven",
            (Kind::Defect, Self::Everywhere) => "the fault is there",
            (Kind::Defect, Self::Partly) => "the fault is there in part",
            (Kind::Defect, Self::Nowhere) => "the fault is not there",
            (Kind::Observation, Self::Everywhere) => "seen",
            (Kind::Observation, Self::Partly) => "seen in part",
            (Kind::Observation, Self::Nowhere) => "not seen",
            (Kind::Promise, Self::Everywhere) => "holds",
            (Kind::Promise, Self::Partly) => "holds in part",
            (Kind::Promise, Self::Nowhere) => "does not hold",
        }
    }
}

/// A file of findings as it is written.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FindingsFile {
    /// The version that was looked at; the file's name says it too.
    version: At<String>,
    /// What was found, by requirement.
    findings: IndexMap<String, Finding>,
}

impl Findings {
    /// Whether a file beside a profile is one of findings, by its name.
    pub fn is_one(name: &str) -> bool {
        name.strip_prefix("findings-").is_some_and(|rest| rest.strip_suffix(".yaml").is_some())
    }

    /// Parses a file of findings; `file` ends in its name.
    ///
    /// # Errors
    /// A [`Mistake`]; a version other than that of the file's name is one.
    pub fn parse(file: &str, source: &str) -> Result<Self, Mistake> {
        let parsed: FindingsFile = yaml::parse(file, source)?;
        let version = parsed.version.value;
        if !file.ends_with(&format!("findings-{version}.yaml")) {
            let title = format!("the file's name does not say version {version}");
            let mend = format!("call it findings-{version}.yaml");
            return Err(Mistake::at(file, source, parsed.version.place, &title, &mend));
        }
        let rows = parsed.findings.into_iter().collect();
        Ok(Self { file: file.to_owned(), version, rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
version: '1.2'
findings:
  INV-2.3: {holds: nowhere, did: the code is left out, route: batch, sent: '{\"code\":1}', came: '{}'}
";

    #[test]
    fn a_file_tells_its_version_and_rows() {
        let findings = Findings::parse("p/findings-1.2.yaml", FILE).unwrap();
        let [(id, found)] = &findings.rows[..] else { panic!() };
        assert_eq!((id.as_str(), found.holds.words(Kind::Promise)), ("INV-2.3", "does not hold"));
        assert_eq!(found.holds.words(Kind::Defect), "the fault is not there");
        assert_eq!(found.came.as_deref(), Some("{}"));
        assert!(Findings::is_one("findings-1.2.yaml") && !Findings::is_one("config.yaml"));
    }

    #[test]
    fn another_version_than_the_name_says_is_a_mistake() {
        let mistake = Findings::parse("p/findings-1.3.yaml", FILE).unwrap_err();
        assert!(mistake.rendered.contains("does not say version 1.2"), "{mistake}");
    }
}
