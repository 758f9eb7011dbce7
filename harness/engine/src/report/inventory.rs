//! The inventory: one page on every place where a gateway reads or rewrites a result, made anew from
//! the report of a run. It says what was seen, and of what was not seen it says why.

mod marks;
mod rows;
mod surface;

use std::fmt::Write;

use birdstrike_judge::Verdict;
use birdstrike_scenario::findings::Findings;
use birdstrike_scenario::requirement::Kind;
use birdstrike_scenario::{Catalogue, Requirement, Surface};

use crate::record::{CheckRecord, Report, SurfaceSummary};
use marks::{code, plain};
use rows::Standing;

/// The head of the ids of the inventory's own rows.
const OWN: &str = "INV-";

/// What the page is made of.
struct Page<'a> {
    report: &'a Report,
    catalogue: &'a Catalogue,
    /// Whether the rows' places are those of this gateway's code.
    places: bool,
    /// What this version was seen doing, where somebody wrote it down.
    findings: Option<Findings>,
}

/// The page, in Markdown.
pub fn render(report: &Report, catalogue: &Catalogue) -> String {
    let shipped = catalogue.profile(&report.gateway.name);
    let version = report.gateway.version.as_deref().or(report.gateway.requested.as_deref());
    let mut written = shipped.into_iter().flat_map(|shipped| shipped.findings().flatten());
    let findings = written.find(|findings| Some(findings.version.as_str()) == version);
    let places = shipped.is_some_and(|shipped| shipped.profile.inventory.places);
    let page = Page { report, catalogue, places, findings };
    let mut out = String::new();
    page.head(&mut out);
    page.way(&mut out);
    for line in report.surfaces.iter().chain(&report.areas) {
        page.surface(&mut out, line);
    }
    page.out_of_reach(&mut out);
    page.redesign(&mut out);
    out
}

impl Page<'_> {
    fn head(&self, out: &mut String) {
        let gateway = &self.report.gateway;
        let version = gateway.version.as_deref().or(gateway.requested.as_deref()).unwrap_or("");
        let title = format!("{} {version}", gateway.name);
        let _ =
            writeln!(out, "# Where {} handles the result of a tool call\n", plain(title.trim()));
        let _ = writeln!(
            out,
            "Each place where a result is read, judged, cut, packed or told of, and what was seen \
             there. When the shape of a result changes, all of these move at once; the one that no \
             check drives is the one to look at first. \"Untested\" says that nothing was seen, not \
             that anything is right or wrong.\n"
        );
        let (tool, environment, totals) =
            (&self.report.tool, &self.report.environment, &self.report.totals);
        let set: String = tool.scenario_set.chars().take(12).collect();
        let _ = writeln!(
            out,
            "Made by {} {} from one run: {} on {}, matrix {}, {} checks in {} cells, {} calls, \
             question set {}.",
            tool.name,
            tool.version,
            environment.started,
            environment.platform,
            environment.matrix,
            totals.checks,
            totals.cells,
            totals.calls,
            code(&set)
        );
        if !environment.selected.is_empty() {
            let selected = plain(&environment.selected.join(", "));
            let _ = writeln!(out, "\nOnly {selected} ran: the rest is untested here.");
        }
        if let Some(why) = self.report.broken.as_deref().and_then(|why| why.lines().next()) {
            let _ = writeln!(out, "\n**The run did not come to its end:** {}", plain(why));
        }
        out.push('\n');
    }

    /// The surfaces in their order, each with the state that it is in.
    fn way(&self, out: &mut String) {
        let _ = writeln!(out, "## The way of a result\n");
        let _ = writeln!(out, "| | surface | held | declared | not held | untested |");
        let _ = writeln!(out, "|---|---|---|---|---|---|");
        for line in &self.report.surfaces {
            let number = line.number.unwrap_or_default();
            let slug = line.surface.slug();
            let broken = line.warn + line.fail;
            let _ = writeln!(
                out,
                "| {number} | [{slug}](#{number}-{slug}) | {} | {} | {broken} | {} |",
                line.pass, line.declared, line.untested
            );
        }
        out.push('\n');
    }

    /// The rows of the inventory that speak of a surface.
    fn rows(&self, surface: Surface) -> impl Iterator<Item = &Requirement> {
        let own = move |row: &&Requirement| row.id.starts_with(OWN) && row.surface == Some(surface);
        self.catalogue.requirements.iter().filter(own)
    }

    /// The checks of the run that rest on a row.
    fn resting(&self, id: &str) -> impl Iterator<Item = &CheckRecord> {
        let rests = move |check: &&CheckRecord| check.requirements.iter().any(|known| known == id);
        self.report.checks.iter().filter(rests)
    }

    fn out_of_reach(&self, out: &mut String) {
        let own = |row: &&Requirement| row.id.starts_with(OWN);
        let rows = self.catalogue.requirements.iter().filter(own);
        let rows: Vec<_> =
            rows.filter_map(|row| Some((row, row.out_of_reach.as_deref()?))).collect();
        let _ = writeln!(out, "## Out of reach\n");
        if rows.is_empty() {
            let _ = writeln!(out, "Nothing: every row has a check or could have one.\n");
            return;
        }
        let _ = writeln!(out, "No check can say anything of these, whatever the gateway.\n");
        for (row, why) in rows {
            let _ = writeln!(out, "- **{}** {} *{}*", row.id, plain(&row.text), plain(why));
        }
        out.push('\n');
    }

    /// What whoever changes the shape of a result must know: defects that still are, rows that do
    /// not hold, what arrives twice.
    fn redesign(&self, out: &mut String) {
        let _ = writeln!(out, "## For a redesign\n");
        let mut lines = 0;
        for row in self.catalogue.requirements.iter().filter(|row| row.id.starts_with(OWN)) {
            let standing = Standing::of(self.resting(&row.id));
            if standing.broken == 0 {
                continue;
            }
            let surface = row.surface.map_or("", Surface::slug);
            let what = match row.kind {
                Kind::Defect => "a fault known before, and still there",
                Kind::Promise | Kind::Observation => "does not hold",
            };
            let seen = standing.first.map_or(String::new(), |first| {
                format!(" On {}: {}", first.route, plain(&first.message))
            });
            let _ = writeln!(
                out,
                "- {surface}, **{}** {what}: {}{seen} ({})",
                row.id,
                plain(&row.text),
                standing.words()
            );
            lines += 1;
        }
        for (surface, words) in self.open() {
            let _ = writeln!(out, "- {surface}: {words}");
            lines += 1;
        }
        if lines == 0 {
            let _ = writeln!(out, "Nothing was found that a redesign would have to mind.");
        }
    }

    /// Surfaces of which nothing was seen at all.
    fn open(&self) -> impl Iterator<Item = (&'static str, String)> {
        let dark = |line: &&SurfaceSummary| !line.driven();
        self.report.surfaces.iter().filter(dark).map(|line| {
            (
                line.surface.slug(),
                "no check drove it; what a new shape does there is open".to_owned(),
            )
        })
    }
}

/// Whether a check did not hold.
fn is_broken(check: &CheckRecord) -> bool {
    matches!(check.verdict, Verdict::Fail | Verdict::Warn)
}

#[cfg(test)]
mod tests;
