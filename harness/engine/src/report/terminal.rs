//! The terminal report: the table of the twelve surfaces, then each finding with both legs.

use std::collections::BTreeMap;
use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use birdstrike_judge::Verdict;
use birdstrike_scenario::Catalogue;
use similar::TextDiff;

use super::wrap::{tame, wrap};
use crate::record::{CheckRecord, Report, SinkEvidence, SurfaceSummary, Untested};

/// How the report is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Columns of the terminal.
    pub width: usize,
    /// Findings shown in full; the rest is counted.
    pub most_findings: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Self { width: 100, most_findings: 20 }
    }
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

fn colour(verdict: Verdict) -> Style {
    let colour = match verdict {
        Verdict::Pass => AnsiColor::Green,
        Verdict::Fail | Verdict::Error => AnsiColor::Red,
        Verdict::Warn => AnsiColor::Yellow,
        Verdict::Untested | Verdict::NotApplicable => AnsiColor::Cyan,
    };
    Style::new().fg_color(Some(colour.into()))
}

/// The whole report as text with ANSI styles; who prints it strips them where they do not belong.
pub fn render(report: &Report, catalogue: &Catalogue, rerun: &str, layout: Layout) -> String {
    let mut out = String::new();
    head(&mut out, report);
    table(&mut out, report);
    untested(&mut out, report, layout);
    observations(&mut out, report);
    findings(&mut out, report, catalogue, rerun, layout);
    totals(&mut out, report);
    out
}

fn head(out: &mut String, report: &Report) {
    let gateway = &report.gateway;
    let version = gateway.version.as_deref().or(gateway.requested.as_deref()).unwrap_or("");
    let (name, version) = (tame(&gateway.name), tame(version));
    let _ = writeln!(out, "{BOLD}gateway {name} {version}{BOLD:#}\n");
}

fn table(out: &mut String, report: &Report) {
    let _ = writeln!(
        out,
        "{BOLD}{:>2}  {:<18}{:>7}{:>10}{:>7}{:>7}{:>10}{BOLD:#}",
        "", "surface", "pass", "declared", "warn", "fail", "untested"
    );
    for line in report.surfaces.iter().chain(report.areas.iter().filter(|line| is_seen(line))) {
        row(out, line);
    }
    out.push('\n');
}

/// An area without any check has no line: it is not one of the twelve.
fn is_seen(line: &SurfaceSummary) -> bool {
    line.driven() || line.error > 0
}

fn row(out: &mut String, line: &SurfaceSummary) {
    let number = line.number.map_or(String::new(), |number| number.to_string());
    let _ = write!(out, "{number:>2}  {:<18}", line.surface);
    let cells = [
        (line.pass, 7, Verdict::Pass),
        (line.declared, 10, Verdict::Pass),
        (line.warn, 7, Verdict::Warn),
        (line.fail, 7, Verdict::Fail),
        (line.untested, 10, Verdict::Untested),
    ];
    for (count, width, verdict) in cells {
        let style = if count == 0 { DIM } else { colour(verdict) };
        let shown = if count == 0 { "·".to_owned() } else { count.to_string() };
        let _ = write!(out, "{style}{shown:>width$}{style:#}");
    }
    if line.error > 0 {
        let style = colour(Verdict::Error);
        let _ = write!(out, "  {style}{} error{style:#}", line.error);
    }
    out.push('\n');
}

fn untested(out: &mut String, report: &Report, layout: Layout) {
    if report.untested.is_empty() {
        return;
    }
    let _ = writeln!(out, "{BOLD}untested{BOLD:#}");
    let mut groups: BTreeMap<(&str, &str), Vec<&Untested>> = BTreeMap::new();
    for item in &report.untested {
        groups.entry((&item.reason, &item.unlock)).or_default().push(item);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, items)| items.first().map(|item| item.surface));
    for ((reason, unlock), items) in groups.iter().take(layout.most_findings) {
        paragraph(out, &format!("{}: {}", names(items), tame(reason)), Style::new(), layout);
        let _ = writeln!(out, "    {DIM}unlocked by: {}{DIM:#}", tame(unlock));
    }
    let left = groups.len().saturating_sub(layout.most_findings);
    if left > 0 {
        let _ = writeln!(out, "  and {left} more reasons (see a report: --report json=FILE)");
    }
    out.push('\n');
}

/// A text between the margins: two columns in, and four where it goes on.
fn paragraph(out: &mut String, text: &str, style: Style, layout: Layout) {
    for (at, line) in wrap(text, layout.width.saturating_sub(4)).iter().enumerate() {
        let margin = if at == 0 { "  " } else { "    " };
        let _ = writeln!(out, "{margin}{style}{line}{style:#}");
    }
}

fn names(items: &[&Untested]) -> String {
    let whole = items.iter().all(|item| item.what == "the whole surface");
    let shown: Vec<&str> = items
        .iter()
        .take(12)
        .map(|item| if whole { item.surface.slug() } else { item.what.as_str() })
        .collect();
    let more = items.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Lowest and highest value, and their unit.
type Range<'a> = (f64, f64, &'a str);

fn observations(out: &mut String, report: &Report) {
    if report.observations.is_empty() {
        return;
    }
    let mut groups: BTreeMap<(&str, &str, &str), Range<'_>> = BTreeMap::new();
    for seen in &report.observations {
        let key = (seen.scenario.as_str(), seen.name.as_str(), seen.route.as_str());
        let range = groups.entry(key).or_insert((f64::MAX, f64::MIN, &seen.unit));
        *range = (range.0.min(seen.value), range.1.max(seen.value), &seen.unit);
    }
    let _ = writeln!(out, "{BOLD}observed, without a verdict{BOLD:#}");
    for ((scenario, name, route), (low, high, unit)) in groups {
        let value = if (high - low).abs() < f64::EPSILON {
            low.to_string()
        } else {
            format!("{low} to {high}")
        };
        let _ = writeln!(out, "  {scenario}: {name} on {route}: {value} {unit}");
    }
    out.push('\n');
}

fn findings(out: &mut String, report: &Report, catalogue: &Catalogue, rerun: &str, layout: Layout) {
    let broken =
        |c: &&CheckRecord| matches!(c.verdict, Verdict::Fail | Verdict::Warn | Verdict::Error);
    let mut groups: Vec<(&CheckRecord, Vec<&CheckRecord>)> = Vec::new();
    for check in report.checks.iter().filter(broken) {
        let same = |first: &CheckRecord| {
            first.id == check.id
                && first.route == check.route
                && first.verdict == check.verdict
                && smallest(first) == smallest(check)
        };
        match groups.iter_mut().find(|(first, _)| same(first)) {
            Some((_, all)) => all.push(check),
            None => groups.push((check, vec![check])),
        }
    }
    let rank = |verdict| match verdict {
        Verdict::Error => 0,
        Verdict::Fail => 1,
        _ => 2,
    };
    groups.sort_by_key(|(first, _)| (rank(first.verdict), first.surface));
    for (first, all) in groups.iter().take(layout.most_findings) {
        finding(out, first, all, catalogue, rerun, layout);
    }
    let left = groups.len().saturating_sub(layout.most_findings);
    if left > 0 {
        let _ = writeln!(out, "and {left} more findings (see a report: --report json=FILE)\n");
    }
}

fn finding(
    out: &mut String,
    first: &CheckRecord,
    all: &[&CheckRecord],
    catalogue: &Catalogue,
    rerun: &str,
    layout: Layout,
) {
    let style = colour(first.verdict);
    let fidelity = first.fidelity.map_or("", birdstrike_judge::Fidelity::as_str);
    let _ = writeln!(
        out,
        "{style}{}{style:#} {BOLD}{}{BOLD:#} on {}: {fidelity}",
        first.verdict.as_str(),
        first.id,
        first.route
    );
    for line in wrap(&tame(&first.message), layout.width.saturating_sub(2)) {
        let _ = writeln!(out, "  {line}");
    }
    if let Some(combined) = &first.combined {
        let (word, values) = match &combined.smallest {
            Some(smallest) => ("smallest result that shows it", smallest),
            None => ("combined", &combined.values),
        };
        paragraph(out, &format!("{word}: {values}"), Style::new(), layout);
    }
    if let Some(scenario) = first.id.rsplit_once('/').and_then(|(id, _)| catalogue.scenario(id)) {
        paragraph(out, &format!("expected: {}", scenario.title), Style::new(), layout);
    }
    for id in &first.requirements {
        let text = catalogue.requirement(id).map_or("", |requirement| requirement.text.as_str());
        paragraph(out, format!("{id}: {text}").trim_end(), DIM, layout);
    }
    let blame = first.blame.map_or("nobody", birdstrike_judge::Blame::as_str);
    let mut where_: Vec<String> =
        all.iter().map(|c| format!("{}/{}/{}", c.launch, c.revision, c.encoding)).collect();
    where_.dedup();
    let _ = writeln!(
        out,
        "  blame {blame}, level {}, in {} cell(s): {}",
        first.level.as_str(),
        all.len(),
        shorten(&where_)
    );
    legs(out, first, layout);
    let _ =
        writeln!(out, "  {DIM}written at {}, again: {rerun} {}{DIM:#}\n", first.written, first.id);
}

/// The smallest result that shows what is wrong with a row of pairs.
fn smallest(check: &CheckRecord) -> Option<&str> {
    check.combined.as_ref()?.smallest.as_deref()
}

fn shorten(cells: &[String]) -> String {
    let shown = cells.iter().take(3).cloned().collect::<Vec<_>>().join(" ");
    let more = cells.len().saturating_sub(3);
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// Both legs as a diff of their indented forms; bytes that are no JSON are shown as they are.
fn legs(out: &mut String, check: &CheckRecord, layout: Layout) {
    let Some(evidence) = &check.evidence else {
        return;
    };
    if !evidence.sinks.is_empty() {
        return records(out, &evidence.sinks, layout);
    }
    let pretty = |leg: &Option<String>| match leg {
        None => "(nothing)\n".to_owned(),
        Some(text) => serde_json::from_str::<serde_json::Value>(text)
            .and_then(|value| serde_json::to_string_pretty(&value))
            .map_or_else(|_| format!("{text}\n"), |pretty| format!("{pretty}\n")),
    };
    let (up, down) = (pretty(&evidence.upstream), pretty(&evidence.downstream));
    let (up, down) = (tame(&up), tame(&down));
    let _ = writeln!(out, "  {DIM}--- sent by the canary   +++ received by the client{DIM:#}");
    let diff = TextDiff::from_lines(&up, &down);
    let shown = diff.unified_diff().context_radius(2).to_string();
    for line in shown.lines().filter(|line| !line.starts_with("@@")).take(24) {
        let cut: String = line.chars().take(layout.width.saturating_sub(4)).collect();
        let style = match cut.chars().next() {
            Some('+') => colour(Verdict::Pass),
            Some('-') => colour(Verdict::Fail),
            _ => DIM,
        };
        let _ = writeln!(out, "    {style}{cut}{style:#}");
    }
}

/// What stands in sinks, where the finding is about that.
fn records(out: &mut String, sinks: &[SinkEvidence], layout: Layout) {
    let _ = writeln!(out, "  {DIM}what stands in sinks{DIM:#}");
    for sink in sinks {
        let text = format!("{} ({}): {}", sink.port, sink.sink, tame(&sink.record));
        // Records have few spaces to break at.
        let chars: Vec<char> = text.replace('\n', " ").chars().collect();
        for line in chars.chunks(layout.width.saturating_sub(4).max(8)).take(8) {
            let _ = writeln!(out, "    {}", line.iter().collect::<String>());
        }
    }
}

fn totals(out: &mut String, report: &Report) {
    let t = report.totals;
    let _ = writeln!(
        out,
        "{} checks in {} cells, {} calls through the gateway and {} direct, {} launches, {} ms",
        t.checks, t.cells, t.calls, t.direct_calls, t.launches, report.environment.took_ms
    );
    if t.deadlines > 0 {
        let _ = writeln!(out, "{} calls ran into their deadline", t.deadlines);
    }
    if let Some(why) = report.broken.as_deref().and_then(|why| why.lines().next()) {
        let _ = writeln!(out, "the run did not come to its end: {}", tame(why));
    }
}
