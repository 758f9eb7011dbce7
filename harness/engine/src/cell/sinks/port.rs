//! Judging one port: what it shows of a call against what is expected.

use std::sync::Arc;

use birdstrike_judge::compare::{Allowances, Sameness, compare};
use birdstrike_judge::formats::Record;
use birdstrike_judge::marker::{Hit, Marker, Searcher};
use birdstrike_judge::sink::{Reading, Tie, escaped, torn};
use birdstrike_judge::{Doc, Fidelity, Pointer};
use birdstrike_scenario::check::{SinkExpect, SinkHolds};
use birdstrike_scenario::profile::PortField;
use birdstrike_wire::json;

use super::entries;
use super::settle::Port;
use crate::cell::Judged;
use crate::cell::fire::Fired;
use crate::client::Body;
use crate::evidence::excerpt;
use crate::ports::Arrival;
use crate::record::SinkEvidence;
use crate::render;

/// Bytes shown of one record.
const SHOWN: usize = 2_000;
/// Records shown of one port.
const MOST_SHOWN: usize = 4;
/// Characters of a marker's name that its head has.
const HEAD: usize = 4;

/// What one port says to one expectation.
pub(super) enum Found {
    /// It holds.
    Holds,
    /// It does not, and why.
    Broken(Judged, Vec<SinkEvidence>),
    /// Nothing can be said.
    Unknown {
        /// Why.
        reason: String,
        /// What would unlock it.
        unlock: String,
    },
}

/// Judges one port.
pub(super) fn judge(
    port: &Port<'_>,
    expect: &SinkExpect,
    all: &[Fired],
    fired: &Fired,
    planted: &[String],
) -> Found {
    let call = all.iter().position(|one| std::ptr::eq(one, fired)).unwrap_or_default();
    let look = Look { port, all, fired, ties: port.ties.get(call).map_or(&[], Vec::as_slice) };
    if let Some(why) = port.watch.broken() {
        let unlock = "a port that can be opened";
        return unknown(&format!("nothing is seen through port {}: {why}", look.name()), unlock);
    }
    if port.lost {
        let reason = format!("more came through port {} than is held", look.name());
        return unknown(&reason, "a gateway that writes less, or a smaller selection");
    }
    let needs_record = !matches!(expect.holds, SinkHolds::Never(_) | SinkHolds::Longest(_));
    if let Some(why) = port.untied.filter(|_| needs_record && look.ties.is_empty()) {
        let reason =
            format!("no record in port {} can be known as this call's: {why}", look.name());
        return unknown(
            &reason,
            "records that hold the trace, the arguments or an id of their call",
        );
    }
    match &expect.holds {
        SinkHolds::Never(marker) => look.never(marker, planted),
        SinkHolds::Marker(marker) => look.marker(marker, planted),
        SinkHolds::Field { field, json } => look.field(field, json),
        SinkHolds::Records(count) => look.records(*count),
        SinkHolds::WellFormed => look.well_formed(planted),
        SinkHolds::Longest(most) => look.longest(*most),
    }
}

fn unknown(reason: &str, unlock: &str) -> Found {
    Found::Unknown { reason: reason.to_owned(), unlock: unlock.to_owned() }
}

/// One port, looked at for one call.
struct Look<'a> {
    port: &'a Port<'a>,
    all: &'a [Fired],
    fired: &'a Fired,
    /// The call's records.
    ties: &'a [(usize, Tie)],
}

impl Look<'_> {
    fn name(&self) -> String {
        format!("`{}` ({})", self.port.watch.name, self.port.watch.port.sink)
    }

    /// No record of the call came: nothing that did not come can be judged.
    fn nothing_came(&self) -> Found {
        let reason = format!("no record of this call arrived in port {}", self.name());
        unknown(&reason, "a port in which every call leaves a record")
    }

    fn broken(&self, fidelity: Fidelity, message: String, shown: &[(&Arrival, &str)]) -> Found {
        let evidence = shown.iter().take(MOST_SHOWN).map(|(record, tie)| SinkEvidence {
            port: self.port.watch.name.clone(),
            sink: self.port.watch.port.sink.to_string(),
            tie: (*tie).to_owned(),
            record: excerpt(&record.raw, SHOWN),
        });
        Found::Broken(Judged::broken(fidelity, message), evidence.collect())
    }

    /// The call's records: those that are its own where there are any, else those of its batch.
    fn records_of_call(&self) -> Vec<(&Arrival, Tie)> {
        let best = self.ties.iter().map(|(_, tie)| *tie).min();
        let of = self.ties.iter().filter(|(_, tie)| Some(*tie) == best);
        of.filter_map(|(at, tie)| Some((self.port.records.get(*at)?.as_ref(), *tie))).collect()
    }

    fn shown<'r>(records: &[(&'r Arrival, Tie)]) -> Vec<(&'r Arrival, &'static str)> {
        records.iter().map(|(record, tie)| (*record, tie.as_str())).collect()
    }

    /// Every hit of a marker, in everything that came since the cell began; its offset is that in
    /// its record.
    fn seek(&self, name: &str, planted: &[String]) -> Vec<(&Arc<Arrival>, Hit)> {
        let text = render::marker(&self.fired.nonce, name);
        let head = self.fired.nonce.len() + 1 + head(name, planted);
        let searcher = Searcher::new(&[Marker::headed(name, &text, head)]);
        let all: Vec<&Arc<Arrival>> = self
            .port
            .records
            .iter()
            .chain(&self.port.besides)
            .chain(&self.port.open_ends)
            .collect();
        // One search over all of it is a fraction of as many as there are records.
        let mut bytes = Vec::new();
        let mut starts = Vec::new();
        for record in &all {
            starts.push(bytes.len());
            bytes.extend_from_slice(&record.raw);
            bytes.push(b'\n');
        }
        let hits = searcher.search(&bytes).into_iter();
        let of = hits.filter_map(|hit| {
            let at = starts.partition_point(|start| *start <= hit.offset).checked_sub(1)?;
            let offset = hit.offset - starts.get(at)?;
            Some((*all.get(at)?, Hit { offset, ..hit }))
        });
        of.collect()
    }

    fn never(&self, marker: &str, planted: &[String]) -> Found {
        let hits = self.seek(marker, planted);
        // A shadow repeats what records say: they are shown first.
        let first = hits.iter().find(|(record, _)| !record.shadow).or(hits.first());
        if let Some((record, hit)) = first {
            let part = if hit.whole { "" } else { ", only its beginning" };
            let message = format!(
                "the marker «{marker}» stands in port {} ({}{part})",
                self.name(),
                hit.coding
            );
            return self.broken(Fidelity::Leaked, message, &[(&around(record, hit), "marker")]);
        }
        if self.ties.is_empty() { self.nothing_came() } else { Found::Holds }
    }

    fn marker(&self, marker: &str, planted: &[String]) -> Found {
        let hits = self.seek(marker, planted);
        if hits.iter().any(|(_, hit)| hit.whole) {
            return Found::Holds;
        }
        if let Some((record, hit)) = hits.first() {
            let message = format!(
                "only the beginning of the marker «{marker}» stands in port {}",
                self.name()
            );
            return self.broken(Fidelity::Altered, message, &[(&around(record, hit), "marker")]);
        }
        let records = self.records_of_call();
        let message = if records.is_empty() {
            format!("no record of this call arrived in port {}", self.name())
        } else {
            format!("no record of this call in port {} holds the marker «{marker}»", self.name())
        };
        self.broken(Fidelity::Lost, message, &Self::shown(&records))
    }

    fn field(&self, field: &str, json: &str) -> Found {
        let Some(known) = self.port.watch.port.fields.get(field) else {
            let reason = format!("port {} names no field `{field}`", self.name());
            let unlock = format!("`fields: {{{field}: {{at: …}}}}` of the port in the profile");
            return unknown(&reason, &unlock);
        };
        let records = self.records_of_call();
        let wanted = render::fill(json, &self.fired.nonce);
        let written = self.port.watch.written();
        let told: Vec<String> = records
            .iter()
            .filter_map(|(record, _)| Reading::of(written, &record.raw).field(&known.at))
            .filter_map(|raw| meant(known, &raw))
            .collect();
        let (right, wrong): (Vec<_>, Vec<_>) = told.iter().partition(|told| same(told, &wanted));
        // Where the gateway's words are listed, every one of them must say the same.
        if !right.is_empty() && (wrong.is_empty() || known.values.is_empty()) {
            return Found::Holds;
        }
        let (fidelity, message) = match wrong.first() {
            Some(other) => {
                let message = format!("`{field}` is {other} in port {}, not {wanted}", self.name());
                (Fidelity::Altered, message)
            }
            None if records.is_empty() => {
                let message = format!("no record of this call arrived in port {}", self.name());
                (Fidelity::Lost, message)
            }
            None => {
                let message =
                    format!("no record of this call in port {} tells `{field}`", self.name());
                (Fidelity::Lost, message)
            }
        };
        self.broken(fidelity, message, &Self::shown(&records))
    }

    fn records(&self, wanted: u32) -> Found {
        let records = self.records_of_call();
        let shared = records.iter().any(|(_, tie)| *tie == Tie::Batch);
        let entries = if shared { entries(self.all, self.fired) } else { 1 };
        let wanted = wanted as usize * entries;
        let count = records.len();
        if count == wanted {
            return Found::Holds;
        }
        let fidelity = if count > wanted { Fidelity::Added } else { Fidelity::Lost };
        let of =
            if shared { format!("the {entries} calls of this batch") } else { "this call".into() };
        let message =
            format!("{count} records of {of} arrived in port {}, not {wanted}", self.name());
        self.broken(fidelity, message, &Self::shown(&records))
    }

    fn well_formed(&self, names: &[String]) -> Found {
        if self.ties.is_empty() {
            return self.nothing_came();
        }
        let written = self.port.watch.written();
        let of = self.ties.iter();
        let of = of.filter_map(|(at, tie)| Some((self.port.records.get(*at)?.as_ref(), *tie)));
        let records: Vec<(&Arrival, Tie)> = of.collect();
        let readings: Vec<Record> = records
            .iter()
            .map(|(record, _)| {
                let mut reading = Reading::of(written, &record.raw).record;
                reading.breaks.extend(record.breaks.iter().cloned());
                reading
            })
            .collect();
        // A forged field most often breaks the format too; that it is forged says more.
        if let Some(place) = self.forged(&readings, names) {
            let message = format!("a value escaped its field in port {}: {place}", self.name());
            return self.broken(Fidelity::Added, message, &Self::shown(&records));
        }
        let broken = readings.iter().zip(&records).find_map(|(reading, (record, tie))| {
            let found = reading.breaks.iter().find(|found| !found.kind.is_remark())?;
            Some((found, *record, tie.as_str()))
        });
        if let Some((found, record, tie)) = broken {
            let (words, kind, name) = (&found.words, found.kind, self.name());
            let message = format!("a record in port {name} breaks its format: {words} ({kind})");
            return self.broken(Fidelity::Altered, message, &[(record, tie)]);
        }
        let Some(place) = torn(&readings, &self.sent()) else {
            return Found::Holds;
        };
        let record = records.get(place.record).into_iter();
        let shown: Vec<_> = record.map(|(record, tie)| (*record, tie.as_str())).collect();
        let message = format!("a record in port {} holds half a character", self.name());
        self.broken(Fidelity::Altered, message, &shown)
    }

    /// What was sent in this call, by either end.
    fn sent(&self) -> Vec<&[u8]> {
        let request = self.fired.transcript.request.as_bytes();
        let answer = self.fired.upstream.body.as_ref().and_then(Body::bytes);
        [Some(request), answer].into_iter().flatten().collect()
    }

    /// What a part of a planted value became, if it left its field.
    fn forged(&self, readings: &[Record], names: &[String]) -> Option<String> {
        let markers: Vec<String> =
            names.iter().map(|name| render::marker(&self.fired.nonce, name)).collect();
        let place = escaped(readings, &self.sent(), &markers)?;
        let field = readings.get(place.record)?.fields.get(place.field)?;
        Some(match field.name.as_str() {
            "" => "a part of it became a record of its own".to_owned(),
            name => format!("a part of it became `{name}`"),
        })
    }

    fn longest(&self, most: usize) -> Found {
        let written = self.port.watch.written();
        let records = self.records_of_call();
        if records.is_empty() {
            return self.nothing_came();
        }
        for (record, tie) in &records {
            let reading = Reading::of(written, &record.raw);
            if let Some((name, length)) = reading.longest().filter(|(_, length)| *length > most) {
                let message = format!(
                    "`{name}` has {length} characters in port {}, {most} are the most",
                    self.name()
                );
                return self.broken(Fidelity::Altered, message, &[(*record, tie.as_str())]);
            }
        }
        Found::Holds
    }
}

/// A record as far as it stands around a hit: of a large one the rest shows nothing.
fn around(record: &Arrival, hit: &Hit) -> Arrival {
    let end = record.raw.len().min(hit.offset.saturating_add(SHOWN / 2));
    let start = hit.offset.saturating_sub(SHOWN / 2).min(end);
    let whole = record.raw.len() <= SHOWN;
    let raw = if whole { &record.raw } else { record.raw.get(start..end).unwrap_or_default() };
    Arrival { raw: raw.to_vec(), ..record.clone() }
}

/// How much of a marker's name its head needs: what no other name begins with, if that can be.
fn head(name: &str, planted: &[String]) -> usize {
    let others = || planted.iter().filter(|other| *other != name);
    let unique = |length: &usize| {
        name.get(..*length).is_some_and(|head| !others().any(|other| other.starts_with(head)))
    };
    (HEAD.min(name.len())..=name.len()).find(unique).unwrap_or(name.len())
}

/// What a value means in the words of checks, as JSON text; nothing for a null.
fn meant(field: &PortField, raw: &str) -> Option<String> {
    if raw == "null" {
        return None;
    }
    let text = serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned());
    match field.values.get(&text) {
        Some(word) => Some(json::quote(word)),
        // Where words are listed, others speak of something else.
        None if field.values.is_empty() => Some(raw.to_owned()),
        None => None,
    }
}

/// Whether two JSON texts are the same value. A number that a format can only write as text is the
/// same as that text.
fn same(told: &str, wanted: &str) -> bool {
    let text = serde_json::from_str::<String>(told).ok();
    if text.is_some_and(|text| text == wanted) {
        return true;
    }
    let (Ok(told), Ok(wanted)) = (Doc::scan(told.as_bytes()), Doc::scan(wanted.as_bytes())) else {
        return false;
    };
    let (root, none) = (Pointer::root(), Allowances::default());
    compare(Some(wanted.root()), Some(told.root()), &root, &none).holds(Sameness::Value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_tell_markers_apart() {
        let planted = ["secret".to_owned(), "secret-2".to_owned(), "note".to_owned()];
        assert_eq!(head("note", &planted), 4);
        assert_eq!(head("secret-2", &planted), 7);
        assert_eq!(head("secret", &planted), 6);
        assert_eq!(head("x", &planted), 1);
    }

    #[test]
    fn words_of_a_gateway_become_those_of_checks() {
        let values = [("call_failed".to_owned(), "failed".to_owned())].into_iter().collect();
        let field = PortField { at: "/type".into(), values };
        assert_eq!(meant(&field, "\"call_failed\"").as_deref(), Some("\"failed\""));
        assert_eq!(meant(&field, "\"call_started\""), None);
        let plain = PortField { at: "/n".into(), ..PortField::default() };
        assert_eq!(meant(&plain, "3").as_deref(), Some("3"));
        assert_eq!(meant(&plain, "null"), None);
        assert!(same("\"-32000\"", "-32000") && same("1.0", "1") && !same("\"a\"", "\"b\""));
    }
}
