//! The plan of a run: which cells run under which launch, and what is left out, with its reason.

use birdstrike_canary::Encoding;
use birdstrike_scenario::pairs::Origin;
use birdstrike_scenario::profile::Matrix;
use birdstrike_scenario::{Catalogue, Profile, Scenario, Selector, Surface};
use birdstrike_wire::Revision;

use crate::record::Untested;

mod axes;
mod needs;

use axes::{Axes, Way};
use needs::Left;

/// The transport between gateway and canary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Transport {
    /// Streamable HTTP.
    Http,
    /// The gateway starts the upstream as a child and speaks lines with it.
    Stdio,
}

impl Transport {
    /// The word as it stands in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Stdio => "stdio",
        }
    }
}

/// What is to be run.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Checks, by prefix or glob; empty for all.
    pub checks: Vec<Selector>,
    /// Routes; empty for all.
    pub routes: Vec<String>,
    /// Client revisions; empty for all.
    pub revisions: Vec<Revision>,
    /// Encodings of the upstream's answer; empty for all.
    pub encodings: Vec<Encoding>,
    /// The seed of the pairs' rows; the model's own unless given.
    pub seed: Option<u64>,
}

/// One scenario on one route, revision and encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The scenario, by its place in the catalogue.
    pub scenario: usize,
    /// The route.
    pub route: String,
    /// The revision that the client speaks.
    pub revision: Revision,
    /// How the upstream's answer is encoded.
    pub encoding: Encoding,
}

/// One start of the gateway and the cells that run under it.
#[derive(Clone, Debug)]
pub struct LaunchPlan {
    /// The variant of the profile; none for its default configuration.
    pub variant: Option<String>,
    /// The revision that the upstream speaks.
    pub upstream: Revision,
    /// How the upstream is reached.
    pub transport: Transport,
    /// Which share of the cells of its kind it has.
    pub share: Share,
    /// Whether a check looks at what the gateway writes beside its answers.
    pub watched: bool,
    /// The cells, those that want to be alone last.
    pub cells: Vec<Cell>,
}

/// What a launch has of the cells that belong to one variant, upstream revision and transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Share {
    /// All of them.
    All,
    /// Those whose checks look at nothing but answers.
    Answers,
    /// Those whose checks look at what the gateway writes beside its answers.
    Sinks,
    /// Those that run while nothing else does.
    Alone,
}

impl Share {
    /// The end of a launch's name.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::All | Self::Answers => "",
            Self::Sinks => "-sinks",
            Self::Alone => "-alone",
        }
    }
}

/// The plan of a run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Launches in the order in which they run.
    pub launches: Vec<LaunchPlan>,
    /// What applies and cannot be run.
    pub untested: Vec<Untested>,
    /// Scenarios that the profile does not claim, with the reason.
    pub not_applicable: Vec<(usize, String)>,
}

/// The launch that a cell belongs to.
type Under = (Option<String>, Revision, Transport);

/// A cell and the launch that it belongs to, before they are grouped.
type Placed = (Under, Cell);

/// The words for an encoding in reports.
pub const fn encoding_word(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Json => "json",
        Encoding::Sse => "sse",
    }
}

/// Routes that reach a surface, unless a scenario says otherwise.
pub fn routes_of(surface: Surface) -> &'static [&'static str] {
    match surface {
        Surface::BatchPacking => &["batch"],
        Surface::FlatReturn | Surface::Listing => &["flat"],
        Surface::Truncation => &["batch", "continuation"],
        Surface::Tasks => &["task"],
        Surface::ResourceLinks | Surface::Transport => &["flat", "batch"],
        _ => &["flat", "batch", "facade"],
    }
}

/// Makes the plan.
pub fn plan(
    catalogue: &Catalogue,
    profile: &Profile,
    matrix: Matrix,
    selection: &Selection,
) -> Plan {
    let mut plan = Plan::default();
    let mut placed: Vec<Placed> = Vec::new();
    for (index, scenario) in catalogue.scenarios.iter().enumerate() {
        if scenario.stress || !selected(scenario, selection) {
            continue;
        }
        if scenario.origin == Origin::Model {
            // Its rows are fired in its place.
            let rows = |other: &Scenario| other.id == scenario.id && other.origin != Origin::Model;
            if !catalogue.scenarios.iter().any(rows) {
                let why = match cells(index, scenario, profile, matrix, selection) {
                    Err(Left::NotApplicable(why)) => why,
                    _ => "no row of it is for this gateway".to_owned(),
                };
                plan.not_applicable.push((index, why));
            }
            continue;
        }
        match cells(index, scenario, profile, matrix, selection) {
            Ok(cells) => placed.extend(cells),
            Err(Left::NotApplicable(why)) => plan.not_applicable.push((index, why)),
            Err(Left::Untested(feature)) => plan.untested.push(needs::untested(scenario, feature)),
        }
    }
    plan.group(placed, catalogue, profile);
    plan.surfaces_without(catalogue, profile, selection);
    plan
}

/// Whether a check of the scenario is wanted.
pub(crate) fn selected(scenario: &Scenario, selection: &Selection) -> bool {
    let mut names = scenario.checks.iter().map(|check| check.name.as_str()).chain(["valid"]);
    let picks = |id: &str| selection.checks.iter().any(|selector| selector.picks(id));
    selection.checks.is_empty() || names.any(|name| picks(&scenario.check_id(name)))
}

fn cells<'a>(
    index: usize,
    scenario: &'a Scenario,
    profile: &Profile,
    matrix: Matrix,
    selection: &Selection,
) -> Result<Vec<Placed>, Left<'a>> {
    let mut axes = Axes::of(scenario, profile).map_err(Left::NotApplicable)?;
    let variant = needs::variant(scenario, profile)?;
    let mut cells = Vec::new();
    if !axes.narrow(selection) {
        return Ok(cells);
    }
    let mut place = |way: Way<'_>| {
        let (route, revision, encoding) = (way.route.to_owned(), way.client, way.encoding);
        let cell = Cell { scenario: index, route, revision, encoding };
        cells.push(((variant.clone(), way.upstream, way.transport), cell));
    };
    // A facade speaks no MCP to its client: revisions and encodings are the flat route's.
    // What a variant switches on does not ask for the revision either, and a start is dear.
    let once = |route: &str| {
        matrix == Matrix::Core
            || scenario.core_only
            || variant.is_some()
            || (scenario.routes.is_empty() && route == "facade")
    };
    let varied: Vec<&str> = axes.routes.iter().map(String::as_str).filter(|r| !once(r)).collect();
    for way in axes.core().chain(axes.cover(&varied)) {
        place(way);
    }
    Ok(cells)
}

/// Cells that are more than this are worth several starts.
const MANY: usize = 64;

/// Shares a long launch out to several that run at once: what waits for its turn need not wait for
/// all others, and a gateway that nobody watches need not write into a dozen sinks.
fn split(launch: LaunchPlan, catalogue: &Catalogue) -> Vec<LaunchPlan> {
    if launch.cells.len() <= MANY {
        return vec![launch];
    }
    let share_of = |cell: &Cell| {
        let scenario = &catalogue.scenarios[cell.scenario];
        match (scenario.wants_to_be_alone(), scenario.looks_at_sinks()) {
            (true, _) => Share::Alone,
            (false, true) => Share::Sinks,
            (false, false) => Share::Answers,
        }
    };
    let shares = [Share::Answers, Share::Sinks, Share::Alone].map(|share| {
        let cells: Vec<Cell> =
            launch.cells.iter().filter(|cell| share_of(cell) == share).cloned().collect();
        LaunchPlan { share, cells, ..launch.clone() }
    });
    shares.into_iter().filter(|launch| !launch.cells.is_empty()).collect()
}

impl Plan {
    fn group(&mut self, placed: Vec<Placed>, catalogue: &Catalogue, profile: &Profile) {
        for ((variant, upstream, transport), cell) in placed {
            let same = |l: &&mut LaunchPlan| {
                l.variant == variant && l.upstream == upstream && l.transport == transport
            };
            if let Some(launch) = self.launches.iter_mut().find(same) {
                launch.cells.push(cell);
            } else {
                let (share, watched, cells) = (Share::All, false, vec![cell]);
                let launch = LaunchPlan { variant, upstream, transport, share, watched, cells };
                self.launches.push(launch);
            }
        }
        if profile.launches_at_once > 1 {
            let split = |launch| split(launch, catalogue);
            self.launches =
                std::mem::take(&mut self.launches).into_iter().flat_map(split).collect();
        }
        for launch in &mut self.launches {
            let of = |cell: &Cell| &catalogue.scenarios[cell.scenario];
            launch.watched = launch.cells.iter().any(|cell| of(cell).looks_at_sinks());
            launch.cells.sort_by_key(|cell| of(cell).wants_to_be_alone());
        }
        let rank = |variant: &Option<String>| {
            variant.as_ref().and_then(|name| profile.variants.get_index_of(name))
        };
        self.launches.sort_by_key(|launch| {
            let upstream = std::cmp::Reverse(launch.upstream);
            (rank(&launch.variant), launch.transport, upstream, launch.share)
        });
    }

    /// Surfaces that no scenario drives, or that the profile says cannot be driven.
    fn surfaces_without(
        &mut self,
        catalogue: &Catalogue,
        profile: &Profile,
        selection: &Selection,
    ) {
        for surface in Surface::all() {
            let slug = surface.slug();
            let picked = |selector: &Selector| {
                selector.picks(slug) || selector.as_str().starts_with(&format!("{slug}/"))
            };
            if !selection.checks.is_empty() && !selection.checks.iter().any(picked) {
                continue;
            }
            let what = "the whole surface".to_owned();
            if let Some(unreached) = profile.unreached.get(slug) {
                let (reason, unlock) = (unreached.reason.clone(), unreached.unlock.clone());
                self.untested.push(Untested { surface, what, reason, unlock });
            } else if !catalogue.scenarios.iter().any(|scenario| scenario.surface == surface) {
                let reason = "no scenario drives it".to_owned();
                let unlock = "scenarios in the folder of its name under scenarios/".to_owned();
                self.untested.push(Untested { surface, what, reason, unlock });
            }
        }
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.launches.iter().map(|launch| launch.cells.len()).sum()
    }
}

#[cfg(test)]
mod tests;
