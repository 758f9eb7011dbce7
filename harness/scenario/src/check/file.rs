//! Checks as they are written, and how they become [`Check`]s.

mod beside;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Check, Expect, Heard, Precision, Replied, Target, sink};
use crate::level::Level;
use crate::mistake::{Mistake, Place};
use crate::profile::Sink;
use crate::word::{REVISIONS, ROUTES, named, words};
use crate::yaml::At;

/// A check as it is written. Exactly one of the words `intact`, `equals`, `absent`, `count`,
/// `refused`, `same-as`, `valid`, `flagged`, `packed`, `mirrored`, `across-routes`, `cut-told`,
/// `prefix`, `within-budget`, `unlike`, `digest`, `never-in`, `in-sink`, `records`, `well-formed`,
/// `longest`, `asked`, `reached`, `heard`, `replied`, `cancelled`, `not-before`, `status`,
/// `distinct`, `present`, `fresh-ids` must be there.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct CheckFile {
    /// Arrives as sent.
    intact: Option<Level>,
    /// Arrives as this JSON text.
    pub(super) equals: Option<String>,
    /// Does not arrive.
    absent: Option<Level>,
    /// Arrives, whatever it is.
    present: Option<Level>,
    /// Number of upstream calls.
    count: Option<u32>,
    /// Is refused with its cause.
    refused: Option<Level>,
    /// Equals the answer of another step.
    same_as: Option<String>,
    /// `same-as`: where the value stands in the other step, if not in the same place.
    there: Option<String>,
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
    /// A cut entry says so, with reason, size and continuation.
    cut_told: Option<Level>,
    /// The string is whole or a beginning of what was sent.
    prefix: Option<Level>,
    /// The string of `prefix` is not whole.
    shorter: bool,
    /// Characters that `prefix` wants at the least.
    least: u32,
    /// The batch keeps its budget.
    within_budget: Option<Level>,
    /// Differs from the answer of another step.
    unlike: Option<String>,
    /// The listed digest of the tool is the right one.
    digest: Option<Level>,
    /// The gateway's own request to the upstream breaks no rule.
    asked: Option<Level>,
    /// No two requests reached the upstream under one id.
    fresh_ids: Option<Level>,
    /// Stands, as this JSON text, in the request that reached the upstream.
    reached: Option<String>,
    /// The marker stands in none of these sinks.
    pub(super) never_in: Option<Vec<Sink>>,
    /// The marker, or the value of a field, stands in each of these sinks.
    pub(super) in_sink: Option<Vec<Sink>>,
    /// So many records of the call arrive in each port of `sinks`.
    pub(super) records: Option<u32>,
    /// Records in these sinks obey their format, and nothing planted escapes its field.
    pub(super) well_formed: Option<Vec<Sink>>,
    /// No field of the call's records in `sinks` has more characters.
    pub(super) longest: Option<usize>,
    /// `records` and `longest`: the sinks.
    pub(super) sinks: Vec<Sink>,
    /// `never-in` and `in-sink`: the name of a marker that the scenario plants.
    pub(super) marker: Option<String>,
    /// `in-sink`: the name of a field that the profile's port knows; `equals` is its value.
    pub(super) field: Option<String>,
    /// Messages that reach the client beside its answer.
    heard: Option<Heard>,
    /// The reply to a request of the upstream's own, as it reached the upstream.
    replied: Option<Replied>,
    /// How often the upstream is told to stop working on this call.
    cancelled: Option<u32>,
    /// Milliseconds before which the answer does not come.
    not_before: Option<u64>,
    /// No two items of a listing have one name.
    distinct: Option<Level>,
    /// HTTP statuses of which the answer has one.
    status: Option<Vec<u16>>,
    /// How binding, where the expectation does not say it itself.
    pub(super) level: Option<Level>,
    /// The slot that is judged.
    slot: Option<String>,
    /// The JSON Pointer that is judged, where no slot fits.
    at: Option<String>,
    /// The step that is judged.
    of: Option<String>,
    /// Of a listing: the item of this name.
    tool: Option<String>,
    /// On which level values must agree; `value` unless given.
    same: Precision,
    /// Words of which a refusal must carry one.
    cause: Vec<String>,
    /// What satisfies the check too: `intact` for `refused`, `absent` for `intact`.
    or: Option<Or>,
    /// Requirements of this check; the scenario's unless given.
    requirements: Vec<String>,
    /// Only on these routes.
    routes: Vec<At<String>>,
    /// Only for these client revisions.
    revisions: Vec<At<String>>,
}

/// What satisfies a check besides what it expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Or {
    /// In place of a refusal the result arrives whole.
    Intact,
    /// In place of an intact value none arrives.
    Absent,
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
        self.no_spelling_is_a_must(level, source)?;
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
            tool: self.tool,
            expect,
            routes,
            revisions,
        })
    }

    /// A key that the expectation has no use for would be passed over in silence.
    fn nothing_stray(&self, expect: &Expect, source: &Source<'_>) -> Result<(), Mistake> {
        let refused = matches!(expect, Expect::Refused { .. });
        let placed = expect.place().is_some();
        let levelled = matches!(
            expect,
            Expect::Equals { .. }
                | Expect::Count { .. }
                | Expect::SameAs { .. }
                | Expect::Unlike { .. }
                | Expect::Reached { .. }
                | Expect::Sink(_)
                | Expect::Heard(_)
                | Expect::Replied(_)
                | Expect::Cancelled { .. }
                | Expect::NotBefore { .. }
                | Expect::Status { .. }
        );
        let fits = |or: Or| match or {
            Or::Intact => refused,
            Or::Absent => matches!(expect, Expect::Intact { .. }),
        };
        let begins = matches!(expect, Expect::Prefix { .. });
        let counts = self.records.is_some() || self.longest.is_some();
        let marked = self.never_in.is_some() || self.in_sink.is_some();
        let compared = matches!(
            expect,
            Expect::Intact { .. }
                | Expect::Equals { .. }
                | Expect::SameAs { .. }
                | Expect::Reached { .. }
        );
        let stray = [
            ("cause", !self.cause.is_empty() && !refused),
            ("or", self.or.is_some_and(|or| !fits(or))),
            ("shorter", self.shorter && !begins),
            ("least", self.least > 0 && !begins),
            ("slot", self.slot.is_some() && !placed),
            ("at", self.at.is_some() && !placed),
            ("level", self.level.is_some() && !levelled),
            ("sinks", !self.sinks.is_empty() && !counts),
            ("marker", self.marker.is_some() && !marked),
            ("there", self.there.is_some() && self.same_as.is_none()),
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

    /// No rule of JSON or of the protocol asks for a spelling: 12.50 and 12.5 are one number.
    fn no_spelling_is_a_must(&self, level: Level, source: &Source<'_>) -> Result<(), Mistake> {
        if level != Level::Must || self.same == Precision::Value {
            return Ok(());
        }
        Err(source.mistake(
            "how a value is spelled cannot be a must",
            "leave `same` out, or make a second check of it at level policy",
        ))
    }

    fn expectation(&self, name: &str, source: &Source<'_>) -> Result<(Level, Expect), Mistake> {
        let mut found = self.candidates(source)?;
        let words: Vec<_> = found.iter().map(|(_, expect)| expect.word()).collect();
        match (found.pop(), found.is_empty()) {
            (Some(one), true) => Ok(one),
            (None, _) => Err(source.mistake(
                &format!("check `{name}` expects nothing"),
                "say one of intact, equals, absent, count, refused, same-as, valid, flagged, packed, \
                 mirrored, across-routes, cut-told, prefix, within-budget, unlike, digest, \
                 never-in, in-sink, records, well-formed, longest, asked, reached, heard, \
                 replied, cancelled, not-before, status, distinct, present, fresh-ids",
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
            let or_absent = self.or == Some(Or::Absent);
            found.push((level, Expect::Intact { place: self.target(source)?, same, or_absent }));
        }
        if let (Some(json), None) = (&self.equals, &self.in_sink) {
            let json = json.trim().to_owned();
            found.push((level, Expect::Equals { place: self.target(source)?, json, same }));
        }
        if let Some(json) = &self.reached {
            let (place, json) = (self.target(source)?, json.trim().to_owned());
            found.push((level, Expect::Reached { place, json, same }));
        }
        if let Some(level) = self.absent {
            found.push((level, Expect::Absent { place: self.target(source)? }));
        }
        if let Some(level) = self.present {
            found.push((level, Expect::Present { place: self.target(source)? }));
        }
        if let Some(calls) = self.count {
            found.push((level, Expect::Count { calls }));
        }
        if let Some(level) = self.refused {
            let or_intact = self.or == Some(Or::Intact);
            found.push((level, Expect::Refused { cause: self.cause.clone(), or_intact }));
        }
        found.extend(self.comparisons(source, level)?);
        found.extend(self.beside(level, source)?);
        let sinks = sink::candidates(self, source)?.into_iter();
        found.extend(sinks.map(|(level, expect)| (level, Expect::Sink(expect))));
        let bare = [
            (self.valid, Expect::Valid),
            (self.flagged, Expect::Flagged),
            (self.packed, Expect::Packed),
            (self.mirrored, Expect::Mirrored),
            (self.cut_told, Expect::CutTold),
            (self.within_budget, Expect::WithinBudget),
            (self.digest, Expect::Digest),
            (self.asked, Expect::Asked),
            (self.fresh_ids, Expect::FreshIds),
            (self.distinct, Expect::Distinct),
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
            let (step, place, there) = (step.clone(), self.target(source)?, self.there.clone());
            if there.as_ref().is_some_and(|there| !there.starts_with('/')) {
                return Err(source.mistake(
                    "`there` is no JSON Pointer",
                    "a pointer begins with `/`, like /task/taskId",
                ));
            }
            found.push((level, Expect::SameAs { step, place, there, same }));
        }
        if let Some(step) = &self.unlike {
            let (step, place) = (step.clone(), self.target(source)?);
            found.push((level, Expect::Unlike { step, place }));
        }
        if let Some(level) = self.prefix {
            let (place, shorter, least) = (self.target(source)?, self.shorter, self.least);
            found.push((level, Expect::Prefix { place, shorter, least }));
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
