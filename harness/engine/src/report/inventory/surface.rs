//! One surface of the inventory: where it is, what was seen of it, what drives it, what is open.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use birdstrike_judge::Verdict;
use birdstrike_scenario::Surface;

use super::marks::{code, plain};
use super::{Page, is_broken};
use crate::record::{CheckRecord, SurfaceSummary};

/// What happens to a result at a surface: what is read there, and what is written.
const fn does(surface: Surface) -> (&'static str, &'static str) {
    match surface {
        Surface::UpstreamRead => ("the body of the upstream's answer, up to a limit", "nothing"),
        Surface::AnswerReading => (
            "the JSON-RPC response, its error or its flag",
            "success or failure, and the words of it",
        ),
        Surface::Mutators => ("a successful result", "the result that goes on in its place"),
        Surface::Truncation => (
            "the results of a batch that has a budget",
            "a shorter result, marks, a handle to the rest",
        ),
        Surface::BatchPacking => ("the answers to many calls", "one entry for each, in one result"),
        Surface::FlatReturn => ("the answer to one call", "the result in the client's revision"),
        Surface::ResourceLinks => {
            ("links, wherever they stand", "addresses that lead through the gateway")
        }
        Surface::Tasks => {
            ("a handle in place of a result", "a handle of its own, and later the result")
        }
        Surface::IsError => ("the flag of a result", "the flag of its own tools' results alone"),
        Surface::Redaction => (
            "arguments, words of failures, log fields",
            "events, alerts and log lines without secrets",
        ),
        Surface::SchemaAndDigest => {
            ("tool definitions and typed parts", "digests, and a word on what breaks its schema")
        }
        Surface::AuditExport => {
            ("what is known of a call at its end", "records for others to collect")
        }
        Surface::Listing => {
            ("definitions of tools, resources and prompts", "one list of all upstreams")
        }
        Surface::Transport => {
            ("messages, ids and sessions on both sides", "the same under ids of its own")
        }
    }
}

impl Page<'_> {
    /// The section of one surface.
    pub(super) fn surface(&self, out: &mut String, line: &SurfaceSummary) {
        let surface = line.surface;
        let checks: Vec<&CheckRecord> =
            self.report.checks.iter().filter(|check| check.surface == surface).collect();
        if line.number.is_none() && checks.is_empty() {
            return;
        }
        let number = line.number.map_or(String::new(), |number| format!("{number} "));
        let _ = writeln!(out, "## {number}{surface}\n");
        let (reads, writes) = does(surface);
        self.places(out, surface);
        let _ = writeln!(out, "- **Reads:** {reads}.");
        let _ = writeln!(out, "- **Writes:** {writes}.");
        seen(out, &checks);
        self.ports(out, surface);
        driven(out, &checks);
        self.untested(out, surface);
        out.push('\n');
        self.row_table(out, surface);
        self.findings(out, &checks);
    }

    /// Where in the gateway's code it is.
    fn places(&self, out: &mut String, surface: Surface) {
        let places: BTreeSet<&str> = self
            .rows(surface)
            .filter_map(|row| row.place.as_deref())
            .flat_map(|p| p.split(", "))
            .collect();
        if self.places && !places.is_empty() {
            let places: Vec<String> = places.into_iter().map(code).collect();
            let _ = writeln!(out, "- **Where:** {}.", places.join("; "));
        } else {
            let _ = writeln!(out, "- **Where:** not known of this gateway.");
        }
    }

    /// The sinks that were watched, on the surfaces that write to them.
    fn ports(&self, out: &mut String, surface: Surface) {
        let watched = matches!(surface, Surface::Redaction | Surface::AuditExport);
        let mut ports: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
        for port in self.report.ports.iter().filter(|_| watched) {
            let count = ports.entry((&port.sink, &port.port)).or_default();
            *count = (count.0 + port.records, count.1 + port.bytes);
        }
        let words = ports.into_iter().map(|((sink, port), (records, bytes))| {
            format!("{sink} {} ({records} records, {bytes} bytes)", code(port))
        });
        let words: Vec<String> = words.collect();
        if !words.is_empty() {
            let _ = writeln!(out, "- **Watched:** {}.", words.join(", "));
        }
    }

    /// What is open, by its reason.
    fn untested(&self, out: &mut String, surface: Surface) {
        let mut reasons: Vec<(&str, &str, Vec<&str>)> = Vec::new();
        for open in self.report.untested.iter().filter(|open| open.surface == surface) {
            let same = |known: &&mut (&str, &str, Vec<&str>)| known.0 == open.reason;
            match reasons.iter_mut().find(same) {
                Some((_, _, what)) => what.push(&open.what),
                None => reasons.push((&open.reason, &open.unlock, vec![&open.what])),
            }
        }
        if reasons.is_empty() {
            let _ = writeln!(out, "- **Untested:** nothing that this run asked for.");
        }
        for (reason, unlock, what) in reasons {
            let first = what.first().copied().unwrap_or_default();
            let more = match what.len() {
                0 | 1 => String::new(),
                many => format!(" and {} more", many - 1),
            };
            let _ = writeln!(
                out,
                "- **Untested:** {}{more}: {}. Unlocked by {}.",
                plain(first),
                plain(reason),
                plain(unlock)
            );
        }
    }

    /// What does not hold, in plain words, with where its evidence is found. What several checks say
    /// in the same words is one finding.
    fn findings(&self, out: &mut String, checks: &[&CheckRecord]) {
        let mut groups: Vec<(String, Vec<&CheckRecord>)> = Vec::new();
        for check in checks.iter().copied().filter(|check| is_broken(check)) {
            let words = found(check);
            match groups.iter_mut().find(|(known, _)| *known == words) {
                Some((_, all)) => all.push(check),
                None => groups.push((words, vec![check])),
            }
        }
        if groups.is_empty() {
            return;
        }
        let _ = writeln!(out, "Found:\n");
        for (words, all) in groups {
            let _ = writeln!(out, "- {words} {}", self.grounds(&all));
        }
        out.push('\n');
    }

    /// What was expected, how often it was not so, and where the bytes are.
    fn grounds(&self, all: &[&CheckRecord]) -> String {
        let mut titles: Vec<&str> = Vec::new();
        for check in all {
            let scenario =
                check.id.rsplit_once('/').and_then(|(id, _)| self.catalogue.scenario(id));
            let title = scenario.map_or(check.id.as_str(), |scenario| scenario.title.as_str());
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
        let more = match titles.len() {
            0 | 1 => String::new(),
            many => format!(" (and {} more like it)", many - 1),
        };
        let Some(first) = all.first() else { return String::new() };
        let ids: BTreeSet<&str> = all.iter().map(|check| check.id.as_str()).collect();
        format!(
            "Expected: {}{more}. {}, {} check(s) in {} cell(s); evidence {}",
            plain(titles.first().copied().unwrap_or_default()),
            fate(first),
            ids.len(),
            all.len(),
            code(&evidence(first))
        )
    }
}

/// What a check found, without what differs from call to call.
fn found(check: &CheckRecord) -> String {
    let smallest = check.combined.as_ref().and_then(|row| row.smallest.as_deref());
    let smallest = smallest.map_or(String::new(), |row| format!(" (with {})", plain(row)));
    let message = crate::nonce::erase_all(&check.message);
    format!("On {}{smallest}: {}.", plain(&check.route), plain(&message))
}

/// The key under which a finding's evidence stands in the report.
fn evidence(check: &CheckRecord) -> String {
    let CheckRecord { id, launch, route, revision, encoding, .. } = check;
    format!("{id} {launch} {route} {revision} {encoding}")
}

/// What became of it, and how binding it is.
fn fate(check: &CheckRecord) -> String {
    let fidelity = check.fidelity.map_or("broken", birdstrike_judge::Fidelity::as_str);
    format!("{fidelity} ({})", check.level.as_str())
}

/// On which cells it was seen, and what became of values there.
fn seen(out: &mut String, checks: &[&CheckRecord]) {
    let judged = |check: &&&CheckRecord| {
        matches!(check.verdict, Verdict::Pass | Verdict::Warn | Verdict::Fail)
    };
    let judged: Vec<&CheckRecord> = checks.iter().filter(judged).copied().collect();
    if judged.is_empty() {
        let _ = writeln!(out, "- **Seen:** nothing.");
        return;
    }
    let words = |of: fn(&CheckRecord) -> &str| {
        let words: BTreeSet<&str> = judged.iter().map(|check| of(check)).collect();
        words.into_iter().collect::<Vec<_>>().join(", ")
    };
    let mut fates: BTreeMap<&str, usize> = BTreeMap::new();
    for check in &judged {
        *fates.entry(check.fidelity.map_or("intact", |f| f.as_str())).or_default() += 1;
    }
    let fates: Vec<String> =
        fates.into_iter().map(|(word, count)| format!("{count} {word}")).collect();
    let _ = writeln!(
        out,
        "- **Seen:** on {}; clients of {}; upstreams of {}; as {}. Of {} values and calls: {}.",
        words(|check| &check.route),
        words(|check| &check.revision),
        words(|check| &check.launch),
        words(|check| &check.encoding),
        judged.len(),
        fates.join(", ")
    );
}

/// The scenarios that drive it, each with how its checks stand.
fn driven(out: &mut String, checks: &[&CheckRecord]) {
    let mut scenarios: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for check in checks {
        let Some((scenario, _)) = check.id.rsplit_once('/') else { continue };
        let count = match check.verdict {
            Verdict::Pass => (1, 0),
            Verdict::Warn | Verdict::Fail => (0, 1),
            _ => continue,
        };
        let sum = scenarios.entry(scenario).or_default();
        *sum = (sum.0 + count.0, sum.1 + count.1);
    }
    if scenarios.is_empty() {
        let _ = writeln!(out, "- **Driven by:** no check.");
        return;
    }
    let words = scenarios.into_iter().map(|(scenario, (held, broken))| match broken {
        0 => format!("{} ({held})", code(scenario)),
        broken => format!("{} ({held}, **{broken} not**)", code(scenario)),
    });
    let _ = writeln!(out, "- **Driven by:** {}.", words.collect::<Vec<_>>().join(", "));
}
