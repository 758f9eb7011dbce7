//! What is expected of sinks: places besides the client's answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{CheckFile, Source};
use crate::level::Level;
use crate::mistake::Mistake;
use crate::profile::Sink;

/// What a check expects of sinks. Every port of the sinks is looked at; a sink without a port is
/// `untested`, never a pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinkExpect {
    /// The sinks.
    pub sinks: Vec<Sink>,
    /// What holds in each port of them.
    pub holds: SinkHolds,
}

/// What holds in a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SinkHolds {
    /// The marker of this name stands nowhere, while a record of the call does.
    Never(String),
    /// The marker of this name stands in a record of the call.
    Marker(String),
    /// A record of the call has this value in a field that the profile names.
    Field {
        /// The field's name in the profile.
        field: String,
        /// The JSON text that is wanted; markers may stand in it.
        json: String,
    },
    /// So many records of the call arrive, no more and no fewer.
    Records(u32),
    /// The records of the call obey their format, and nothing planted escapes its field.
    WellFormed,
    /// No field of the call's records has more characters.
    Longest(usize),
}

impl SinkExpect {
    /// The word for this expectation in files and reports.
    pub const fn word(&self) -> &'static str {
        match self.holds {
            SinkHolds::Never(_) => "never-in",
            SinkHolds::Marker(_) | SinkHolds::Field { .. } => "in-sink",
            SinkHolds::Records(_) => "records",
            SinkHolds::WellFormed => "well-formed",
            SinkHolds::Longest(_) => "longest",
        }
    }

    /// The marker that it seeks, or hopes not to find.
    pub fn marker(&self) -> Option<&str> {
        match &self.holds {
            SinkHolds::Never(marker) | SinkHolds::Marker(marker) => Some(marker),
            _ => None,
        }
    }
}

impl fmt::Display for SinkExpect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What the file expects of sinks: each word that is there.
pub(super) fn candidates(
    file: &CheckFile,
    source: &Source<'_>,
) -> Result<Vec<(Level, SinkExpect)>, Mistake> {
    let level = file.level.unwrap_or(Level::Policy);
    let mut found = Vec::new();
    let mut add = |sinks: &[Sink], holds| {
        if sinks.is_empty() {
            return Err(source.mistake(
                "the check names no sink",
                "name them: log, event, alert, audit, telemetry, metrics, rest",
            ));
        }
        found.push((level, SinkExpect { sinks: sinks.to_vec(), holds }));
        Ok(())
    };
    if let Some(sinks) = &file.never_in {
        add(sinks, SinkHolds::Never(marker(file, source)?))?;
    }
    if let Some(sinks) = &file.in_sink {
        add(sinks, told(file, source)?)?;
    }
    if let Some(sinks) = &file.well_formed {
        add(sinks, SinkHolds::WellFormed)?;
    }
    if let Some(count) = file.records {
        add(&file.sinks, SinkHolds::Records(count))?;
    }
    if let Some(longest) = file.longest {
        add(&file.sinks, SinkHolds::Longest(longest))?;
    }
    Ok(found)
}

fn marker(file: &CheckFile, source: &Source<'_>) -> Result<String, Mistake> {
    let Some(name) = &file.marker else {
        return Err(source.mistake(
            "the check does not say which marker it seeks",
            "give `marker: NAME` and plant «NAME» in an argument or an answer",
        ));
    };
    // A marker that is planted nowhere would never be found.
    if source.text.contains(&format!("«{name}»")) {
        return Ok(name.clone());
    }
    let title = format!("no marker «{name}» is planted in this scenario");
    Err(source.mistake(&title, "plant it in an argument or an answer"))
}

fn told(file: &CheckFile, source: &Source<'_>) -> Result<SinkHolds, Mistake> {
    match (&file.marker, &file.field, &file.equals) {
        (Some(_), None, None) => Ok(SinkHolds::Marker(marker(file, source)?)),
        (None, Some(field), Some(json)) => {
            let (field, json) = (field.clone(), json.trim().to_owned());
            Ok(SinkHolds::Field { field, json })
        }
        _ => Err(source.mistake(
            "`in-sink` does not say what stands there",
            "give `marker: NAME`, or `field: NAME` with `equals: JSON`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expect, Scenario};

    fn parse(check: &str) -> Result<SinkExpect, Mistake> {
        let source = format!(
            "title: t\nrequirements: [X-1]\noutcome: {{text: ok}}\nsteps:\n  \
             - call: {{arguments: '{{\"password\":\"«secret»\",\"note\":\"«note»\"}}'}}\n\
             expect:\n  a: {check}\n"
        );
        let scenario = Scenario::parse("scenarios/redaction/a.yaml", &source)?;
        match scenario.checks.into_iter().next().map(|check| check.expect) {
            Some(Expect::Sink(sink)) => Ok(sink),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_word_is_read() {
        let both = vec![Sink::Log, Sink::Audit];
        let field = SinkHolds::Field { field: "outcome".into(), json: "\"failed\"".into() };
        for (check, holds) in [
            ("{never-in: [log, audit], marker: secret}", SinkHolds::Never("secret".into())),
            ("{in-sink: [log, audit], marker: note}", SinkHolds::Marker("note".into())),
            ("{in-sink: [log, audit], field: outcome, equals: '\"failed\"'}", field),
            ("{records: 1, sinks: [log, audit]}", SinkHolds::Records(1)),
            ("{well-formed: [log, audit], level: must}", SinkHolds::WellFormed),
            ("{longest: 2048, sinks: [log, audit]}", SinkHolds::Longest(2048)),
        ] {
            assert_eq!(parse(check).unwrap(), SinkExpect { sinks: both.clone(), holds }, "{check}");
        }
    }

    #[test]
    fn what_would_never_be_judged_is_a_mistake() {
        for (check, title) in [
            ("{never-in: [log], marker: sceret}", "no marker «sceret» is planted"),
            ("{never-in: [log]}", "does not say which marker"),
            ("{never-in: [], marker: note}", "names no sink"),
            ("{records: 1}", "names no sink"),
            ("{in-sink: [log], field: outcome}", "does not say what stands there"),
            ("{in-sink: [log], marker: note, sinks: [log]}", "no use for `sinks`"),
            ("{records: 1, sinks: [log], marker: note}", "no use for `marker`"),
            ("{never-in: [diary], marker: note}", "no word `diary`"),
        ] {
            let said = parse(check).unwrap_err().title;
            assert!(said.contains(title), "{check}: {said}");
        }
    }
}
