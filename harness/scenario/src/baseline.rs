//! Baselines: known failures and untested items of a gateway, each with its reason.

use crate::yaml::At;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mistake::Mistake;
use crate::surface::Surface;
use crate::yaml;

/// A checked baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The file's name, for messages.
    pub file: String,
    /// Known failures.
    pub entries: Vec<Entry>,
    /// Surfaces that nothing can drive here.
    pub untested: Vec<Untested>,
}

/// A known failure.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entry {
    /// The check's id.
    pub check: String,
    /// Only on this route; on every route unless given.
    pub route: Option<String>,
    /// Why it is known and accepted for now.
    pub reason: String,
    /// Where that is discussed.
    pub link: Option<String>,
    /// Since when: a date, `2026-11-30`.
    pub since: String,
    /// The line in its file, from 1.
    #[serde(skip)]
    pub line: usize,
}

/// A surface that nothing can drive here.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Untested {
    /// The surface.
    pub surface: Surface,
    /// Why.
    pub reason: String,
    /// Since when.
    pub since: String,
    /// The line in its file, from 1.
    #[serde(skip)]
    pub line: usize,
}

/// A baseline file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BaselineFile {
    /// Known failures.
    #[serde(default)]
    entries: Vec<At<Entry>>,
    /// Surfaces that nothing can drive here.
    #[serde(default)]
    untested: Vec<At<Untested>>,
}

impl Baseline {
    /// Parses a baseline.
    ///
    /// # Errors
    /// A [`Mistake`]: an entry without a reason, a date that is none, a check named twice.
    pub fn parse(file: &str, source: &str) -> Result<Self, Mistake> {
        let parsed: BaselineFile = yaml::parse(file, source)?;
        let mut baseline = Self { file: file.to_owned(), ..Self::default() };
        for spanned in parsed.entries {
            let place = spanned.place;
            let mistake = |title: &str, mend: &str| Mistake::at(file, source, place, title, mend);
            let entry = Entry { line: place.line, ..spanned.value };
            reasoned(&entry.reason, &entry.since, &mistake)?;
            let twice = |e: &Entry| e.check == entry.check && e.route == entry.route;
            if baseline.entries.iter().any(twice) {
                let title = format!("`{}` stands twice", entry.check);
                return Err(mistake(&title, "keep one entry a check and route"));
            }
            baseline.entries.push(entry);
        }
        for spanned in parsed.untested {
            let place = spanned.place;
            let mistake = |title: &str, mend: &str| Mistake::at(file, source, place, title, mend);
            reasoned(&spanned.value.reason, &spanned.value.since, &mistake)?;
            baseline.untested.push(Untested { line: place.line, ..spanned.value });
        }
        Ok(baseline)
    }

    /// The entry that covers a check on a route.
    pub fn covers(&self, check: &str, route: &str) -> Option<&Entry> {
        let on_route = |entry: &Entry| entry.route.as_deref().is_none_or(|wanted| wanted == route);
        self.entries.iter().find(|entry| entry.check == check && on_route(entry))
    }
}

fn reasoned(
    reason: &str,
    since: &str,
    mistake: &dyn Fn(&str, &str) -> Mistake,
) -> Result<(), Mistake> {
    if reason.trim().is_empty() {
        return Err(mistake("the entry gives no reason", "say why it is known and accepted"));
    }
    let digits =
        |part: &str, count| part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<_> = since.split('-').collect();
    match parts.as_slice() {
        [year, month, day] if digits(year, 4) && digits(month, 2) && digits(day, 2) => Ok(()),
        _ => Err(mistake(&format!("`{since}` is no date"), "write it as 2026-11-30")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "entries:\n- check: a/b/c\n  route: flat\n  reason: known\n  since: 2026-11-30\n";

    #[test]
    fn an_entry_covers_its_route_only() {
        let baseline = Baseline::parse("b.yaml", GOOD).unwrap();
        assert_eq!(baseline.covers("a/b/c", "flat").map(|e| e.line), Some(2));
        assert!(baseline.covers("a/b/c", "batch").is_none());
    }

    #[test]
    fn entries_need_a_reason_and_a_date() {
        for broken in [GOOD.replace("known", "' '"), GOOD.replace("2026-11-30", "today")] {
            assert!(Baseline::parse("b.yaml", &broken).is_err(), "{broken}");
        }
        let twice = format!("{GOOD}{}", GOOD.trim_start_matches("entries:\n"));
        let mistake = Baseline::parse("b.yaml", &twice).unwrap_err();
        assert_eq!((mistake.line, mistake.title.as_str()), (6, "`a/b/c` stands twice"));
    }
}
