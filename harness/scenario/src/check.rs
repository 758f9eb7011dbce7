//! Checks: one expectation in a scenario, with a stable id.

mod sink;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::level::Level;
use crate::mistake::{Mistake, Place};
use crate::profile::Sink;
use crate::word::{REVISIONS, ROUTES, named, words};
use crate::yaml::At;

pub use sink::{SinkExpect, SinkHolds};

/// One expectation as it is judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The last part of the id `surface/scenario/check`.
    pub name: String,
    /// The line in the scenario's file, from 1.
    pub line: usize,
    /// How binding it is.
    pub level: Level,
    /// The requirements it rests on.
    pub requirements: Vec<String>,
    /// The step whose answer is judged: the name that the step saves, or `name.N` for an entry of
    /// a batch. Without it the scenario's first call is meant.
    pub of: Option<String>,
    /// What is expected.
    pub expect: Expect,
    /// Only on these routes; empty for all that the scenario reaches.
    pub routes: Vec<String>,
    /// Only for these client revisions; empty for all.
    pub revisions: Vec<String>,
}

/// What a check expects (design, section 5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expect {
    /// The value arrives as the upstream sent it.
    Intact {
        /// Where it stands.
        place: Target,
        /// On which level the two legs must agree.
        same: Precision,
    },
    /// The value that arrives is this JSON.
    Equals {
        /// Where it stands.
        place: Target,
        /// The JSON text that is wanted; markers may stand in it.
        json: String,
        /// On which level it must agree.
        same: Precision,
    },
    /// Nothing arrives in this place.
    Absent {
        /// The place.
        place: Target,
    },
    /// The upstream is called exactly so often by this step.
    Count {
        /// Calls wanted.
        calls: u32,
    },
    /// The gateway refuses, with the request's own id, in time, naming a true cause; where
    /// `or_intact` is set a whole result is as good.
    Refused {
        /// Words of which one must stand in the refusal (any case); empty where any words do.
        cause: Vec<String>,
        /// A result that arrives whole satisfies the check too.
        or_intact: bool,
    },
    /// The answer is that of another step.
    SameAs {
        /// The other step.
        step: String,
        /// The place compared in both.
        place: Target,
        /// On which level they must agree.
        same: Precision,
    },
    /// The answer obeys the protocol: envelope, schema of its revision, `outputSchema` as the
    /// client's listing shows it. Every call carries this check; a scenario names it only to give
    /// it other requirements or another level.
    Valid,
    /// The client is told a failure exactly when the upstream told one.
    Flagged,
    /// A batch has an entry for every call, in order, each with its own answer.
    Packed,
    /// A typed part stands as JSON in a text block of the same answer too (R-TOOLS-12); where the
    /// step is a batch on the route `batch`, the answer of the batch tool itself is meant.
    Mirrored,
    /// The value's fate is the same on every route.
    AcrossRoutes {
        /// Where it stands.
        place: Target,
    },
    /// Something holds in sinks.
    Sink(SinkExpect),
}

impl Expect {
    /// The word for this expectation in files and reports.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Intact { .. } => "intact",
            Self::Equals { .. } => "equals",
            Self::Absent { .. } => "absent",
            Self::Count { .. } => "count",
            Self::Refused { .. } => "refused",
            Self::SameAs { .. } => "same-as",
            Self::Valid => "valid",
            Self::Flagged => "flagged",
            Self::Packed => "packed",
            Self::Mirrored => "mirrored",
            Self::AcrossRoutes { .. } => "across-routes",
            Self::Sink(sink) => sink.word(),
        }
    }
}

/// A place in an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A slot of the outcome: `text`, `data`, `meta`, `error`, `content`, `block.0`, `link.0`,
    /// `extra.NAME`, `rpc-error`, `rpc-error.code`, `result` for the whole.
    Slot(String),
    /// A JSON Pointer into the result or error object, for what has no slot.
    At(String),
}

/// The three levels on which two values can agree (design, section 3).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// The same value: numbers equal, strings equal, objects as sets.
    #[default]
    Value,
    /// The same JSON: number spelling, code points, duplicates and order too.
    Json,
    /// The same bytes.
    Bytes,
}

/// A check as it is written. Exactly one of the words `intact`, `equals`, `absent`, `count`,
/// `refused`, `same-as`, `valid`, `flagged`, `packed`, `mirrored`, `across-routes`,
/// `never-in`, `in-sink`, `records`, `well-formed`, `longest` must be there.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct CheckFile {
    /// Arrives as sent.
    intact: Option<Level>,
    /// Arrives as this JSON text.
    equals: Option<String>,
    /// Does not arrive.
    absent: Option<Level>,
    /// Number of upstream calls.
    count: Option<u32>,
    /// Is refused with its cause.
    refused: Option<Level>,
    /// Equals the answer of another step.
    same_as: Option<String>,
    /// Obeys the protocol.
    valid: Option<Level>,
    /// Failure told as the upstream told it.
    flagged: Option<Level>,
    /// One entry a call, in order.
    packed: Option<Level>,
    /// The typed part is in a text block too.
    mirrored: Option<Level>,
    /// The same fate on every route.
    across_routes: Option<Level>,
    /// The marker stands in none of these sinks.
    never_in: Option<Vec<Sink>>,
    /// The marker, or the value of a field, stands in each of these sinks.
    in_sink: Option<Vec<Sink>>,
    /// So many records of the call arrive in each port of `sinks`.
    records: Option<u32>,
    /// Records in these sinks obey their format, and nothing planted escapes its field.
    well_formed: Option<Vec<Sink>>,
    /// No field of the call's records in `sinks` has more characters.
    longest: Option<usize>,
    /// `records` and `longest`: the sinks.
    sinks: Vec<Sink>,
    /// `never-in` and `in-sink`: the name of a marker that the scenario plants.
    marker: Option<String>,
    /// `in-sink`: the name of a field that the profile's port knows; `equals` is its value.
    field: Option<String>,
    /// How binding, for `equals`, `count`, `same-as` and what is expected of sinks.
    level: Option<Level>,
    /// The slot that is judged.
    slot: Option<String>,
    /// The JSON Pointer that is judged, where no slot fits.
    at: Option<String>,
    /// The step that is judged.
    of: Option<String>,
    /// On which level values must agree; `value` unless given.
    same: Precision,
    /// Words of which a refusal must carry one.
    cause: Vec<String>,
    /// `intact`: a whole result satisfies `refused` too.
    or: Option<OrIntact>,
    /// Requirements of this check; the scenario's unless given.
    requirements: Vec<String>,
    /// Only on these routes.
    routes: Vec<At<String>>,
    /// Only for these client revisions.
    revisions: Vec<At<String>>,
}

/// The one alternative to a refusal.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OrIntact {
    /// The result arrives whole.
    Intact,
}

/// Where a check was written, for mistakes.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    pub(crate) place: Place,
}

impl Source<'_> {
    pub(crate) fn mistake(&self, title: &str, mend: &str) -> Mistake {
        Mistake::at(self.file, self.text, self.place, title, mend)
    }
}

impl CheckFile {
    /// Makes the check of it.
    pub(crate) fn build(
        self,
        name: &str,
        defaults: &[String],
        source: &Source<'_>,
    ) -> Result<Check, Mistake> {
        named(name, "a check", source)?;
        let (level, expect) = self.expectation(name, source)?;
        self.nothing_stray(&expect, source)?;
        let routes = words(&self.routes, &ROUTES, "route", source)?;
        let revisions = words(&self.revisions, &REVISIONS, "revision", source)?;
        let requirements =
            if self.requirements.is_empty() { defaults.to_vec() } else { self.requirements };
        if requirements.is_empty() {
            return Err(source.mistake(
                &format!("check `{name}` rests on no requirement"),
                "give the scenario or the check `requirements: [ID]`",
            ));
        }
        Ok(Check {
            name: name.to_owned(),
            line: source.place.line,
            level,
            requirements,
            of: self.of,
            expect,
            routes,
            revisions,
        })
    }

    /// A key that the expectation has no use for would be passed over in silence.
    fn nothing_stray(&self, expect: &Expect, source: &Source<'_>) -> Result<(), Mistake> {
        let refused = matches!(expect, Expect::Refused { .. });
        let placed = matches!(
            expect,
            Expect::Intact { .. }
                | Expect::Equals { .. }
                | Expect::Absent { .. }
                | Expect::SameAs { .. }
                | Expect::AcrossRoutes { .. }
        );
        let levelled = matches!(
            expect,
            Expect::Equals { .. } | Expect::Count { .. } | Expect::SameAs { .. } | Expect::Sink(_)
        );
        let counts = self.records.is_some() || self.longest.is_some();
        let marked = self.never_in.is_some() || self.in_sink.is_some();
        let compared =
            matches!(expect, Expect::Intact { .. } | Expect::Equals { .. } | Expect::SameAs { .. });
        let stray = [
            ("cause", !self.cause.is_empty() && !refused),
            ("or", self.or.is_some() && !refused),
            ("slot", self.slot.is_some() && !placed),
            ("at", self.at.is_some() && !placed),
            ("level", self.level.is_some() && !levelled),
            ("sinks", !self.sinks.is_empty() && !counts),
            ("marker", self.marker.is_some() && !marked),
            ("field", self.field.is_some() && self.in_sink.is_none()),
            ("same", self.same != Precision::Value && !compared),
        ];
        match stray.iter().find(|(_, stray)| *stray) {
            Some((key, _)) => {
                let title = format!("`{}` has no use for `{key}`", expect.word());
                Err(source.mistake(&title, "take the key out, or expect something else"))
            }
            None => Ok(()),
        }
    }

    fn expectation(&self, name: &str, source: &Source<'_>) -> Result<(Level, Expect), Mistake> {
        let mut found = self.candidates(source)?;
        let words: Vec<_> = found.iter().map(|(_, expect)| expect.word()).collect();
        match (found.pop(), found.is_empty()) {
            (Some(one), true) => Ok(one),
            (None, _) => Err(source.mistake(
                &format!("check `{name}` expects nothing"),
                &format!("say one of intact, equals, absent, count, refused, same-as, valid, flagged, packed, mirrored, across-routes, {}", sink::WORDS),
            )),
            (Some(_), false) => Err(source.mistake(
                &format!("check `{name}` expects several things: {}", words.join(", ")),
                "make one check of each, so that each has its own id",
            )),
        }
    }

    fn candidates(&self, source: &Source<'_>) -> Result<Vec<(Level, Expect)>, Mistake> {
        let mut found = Vec::new();
        let same = self.same;
        let level = self.level.unwrap_or(Level::Policy);
        if let Some(level) = self.intact {
            found.push((level, Expect::Intact { place: self.target(source)?, same }));
        }
        if let (Some(json), None) = (&self.equals, &self.in_sink) {
            let json = json.trim().to_owned();
            found.push((level, Expect::Equals { place: self.target(source)?, json, same }));
        }
        if let Some(level) = self.absent {
            found.push((level, Expect::Absent { place: self.target(source)? }));
        }
        if let Some(calls) = self.count {
            found.push((level, Expect::Count { calls }));
        }
        if let Some(level) = self.refused {
            let or_intact = self.or.is_some();
            found.push((level, Expect::Refused { cause: self.cause.clone(), or_intact }));
        }
        found.extend(self.comparisons(source, level)?);
        let sinks = sink::candidates(self, source)?.into_iter();
        found.extend(sinks.map(|(level, expect)| (level, Expect::Sink(expect))));
        let bare = [
            (self.valid, Expect::Valid),
            (self.flagged, Expect::Flagged),
            (self.packed, Expect::Packed),
            (self.mirrored, Expect::Mirrored),
        ];
        found.extend(bare.into_iter().filter_map(|(level, expect)| Some((level?, expect))));
        Ok(found)
    }

    /// Expectations that look at more than one answer.
    fn comparisons(
        &self,
        source: &Source<'_>,
        level: Level,
    ) -> Result<Vec<(Level, Expect)>, Mistake> {
        let mut found = Vec::new();
        let same = self.same;
        if let Some(step) = &self.same_as {
            let (step, place) = (step.clone(), self.target(source)?);
            found.push((level, Expect::SameAs { step, place, same }));
        }
        if let Some(level) = self.across_routes {
            found.push((level, Expect::AcrossRoutes { place: self.target(source)? }));
        }
        Ok(found)
    }

    fn target(&self, source: &Source<'_>) -> Result<Target, Mistake> {
        match (&self.slot, &self.at) {
            (Some(slot), None) => Ok(Target::Slot(slot.clone())),
            (None, Some(at)) if at.is_empty() || at.starts_with('/') => Ok(Target::At(at.clone())),
            (None, Some(_)) => Err(source.mistake(
                "`at` is no JSON Pointer",
                "a pointer is empty or begins with `/`, like /content/0/text",
            )),
            _ => Err(source.mistake(
                "the check does not say which value it judges",
                "give exactly one of `slot: NAME` and `at: /pointer`",
            )),
        }
    }
}
