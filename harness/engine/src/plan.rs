//! The plan of a run: which cells run under which launch, and what is left out, with its reason.

use birdstrike_canary::Encoding;
use birdstrike_scenario::pairs::Origin;
use birdstrike_scenario::profile::Matrix;
use birdstrike_scenario::scenario::Form;
use birdstrike_scenario::{Catalogue, Profile, Scenario, Selector, Surface};
use birdstrike_wire::Revision;

use crate::record::Untested;
use crate::render::{self, Context};

mod needs;

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
    /// The cells, harmful ones last.
    pub cells: Vec<Cell>,
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
                let why = match cells(index, scenario, profile, matrix) {
                    Err(Left::NotApplicable(why)) => why,
                    _ => "no row of it is for this gateway".to_owned(),
                };
                plan.not_applicable.push((index, why));
            }
            continue;
        }
        match cells(index, scenario, profile, matrix) {
            Ok(cells) => {
                placed.extend(cells.into_iter().filter(|(_, cell)| wanted(cell, selection)));
            }
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

fn wanted(cell: &Cell, selection: &Selection) -> bool {
    let fits = |empty: bool, found: bool| empty || found;
    fits(selection.routes.is_empty(), selection.routes.contains(&cell.route))
        && fits(selection.revisions.is_empty(), selection.revisions.contains(&cell.revision))
        && fits(selection.encodings.is_empty(), selection.encodings.contains(&cell.encoding))
}

fn cells<'a>(
    index: usize,
    scenario: &'a Scenario,
    profile: &Profile,
    matrix: Matrix,
) -> Result<Vec<Placed>, Left<'a>> {
    let axes = Axes::of(scenario, profile).map_err(Left::NotApplicable)?;
    let variant = needs::variant(scenario, profile)?;
    let mut cells = Vec::new();
    let mut place = |route: &str, revision, upstream, transport, encoding| {
        let route = route.to_owned();
        let cell = Cell { scenario: index, route, revision, encoding };
        cells.push(((variant.clone(), upstream, transport), cell));
    };
    for route in &axes.routes {
        // A facade speaks no MCP to its client: revisions and encodings are the flat route's.
        // What a variant switches on does not ask for the revision either, and a start is dear.
        let once = scenario.core_only
            || variant.is_some()
            || (scenario.routes.is_empty() && route == "facade");
        match if once { Matrix::Core } else { matrix } {
            Matrix::Core => {
                place(
                    route,
                    axes.clients[0],
                    axes.upstreams[0],
                    axes.transports[0],
                    axes.encodings[0],
                );
            }
            Matrix::Full => axes.every_pair(&mut |upstream, client, transport, encoding| {
                place(route, client, upstream, transport, encoding);
            }),
        }
    }
    Ok(cells)
}

/// The values that each axis can take for one scenario on one gateway; none is empty.
struct Axes {
    routes: Vec<String>,
    clients: Vec<Revision>,
    upstreams: Vec<Revision>,
    transports: Vec<Transport>,
    encodings: Vec<Encoding>,
}

impl Axes {
    fn of(scenario: &Scenario, profile: &Profile) -> Result<Self, String> {
        let reached: Vec<&str> = if scenario.routes.is_empty() {
            routes_of(scenario.surface).to_vec()
        } else {
            scenario.routes.iter().map(String::as_str).collect()
        };
        let has = |route: &&&str| profile.routes.contains_key(**route);
        let routes: Vec<String> = reached.iter().filter(has).map(|r| (*r).to_owned()).collect();
        nonempty(&routes, || format!("the gateway has no route {}", reached.join(" or ")))?;
        needs::ways(scenario, profile)?;
        let clients = common(&profile.revisions.client, &scenario.revisions);
        nonempty(&clients, || "the gateway's clients speak none of its revisions".into())?;
        let mut upstreams = common(&profile.revisions.upstream, &scenario.upstream_revisions);
        upstreams.retain(|revision| carries(scenario, *revision));
        nonempty(&upstreams, || "no revision of the gateway's upstreams can carry it".into())?;
        let transports = transports(scenario, profile);
        nonempty(&transports, || "the gateway takes no upstream over stdio".into())?;
        let sse = [("json", Encoding::Json), ("sse", Encoding::Sse)];
        let allowed = |word: &str| {
            scenario.encodings.is_empty() || scenario.encodings.iter().any(|known| known == word)
        };
        let encodings = sse.into_iter().filter(|(word, _)| allowed(word)).map(|(_, e)| e).collect();
        Ok(Self { routes, clients, upstreams, transports, encodings })
    }

    /// Every pair of revisions in the first encoding; the other encoding where both legs speak the
    /// same revision. Over stdio there is no encoding to vary.
    fn every_pair(&self, place: &mut dyn FnMut(Revision, Revision, Transport, Encoding)) {
        for (upstream, client) in
            self.upstreams.iter().flat_map(|u| self.clients.iter().map(move |c| (*u, *c)))
        {
            for transport in &self.transports {
                for (at, encoding) in self.encodings.iter().enumerate() {
                    let over_stdio = *transport == Transport::Stdio;
                    if at == 0 || (!over_stdio && upstream == client) {
                        place(upstream, client, *transport, *encoding);
                    }
                }
            }
        }
    }
}

fn nonempty<T>(axis: &[T], why: impl FnOnce() -> String) -> Result<(), String> {
    if axis.is_empty() { Err(why()) } else { Ok(()) }
}

/// The profile's revisions, in its order, that the scenario allows.
fn common(profile: &[String], scenario: &[String]) -> Vec<Revision> {
    let allowed = profile.iter().filter(|name| scenario.is_empty() || scenario.contains(name));
    allowed.filter_map(|name| name.parse().ok()).collect()
}

fn transports(scenario: &Scenario, profile: &Profile) -> Vec<Transport> {
    let asked = |word: &str| {
        let asked = &scenario.transports;
        if asked.is_empty() { word == "http" } else { asked.iter().any(|known| known == word) }
    };
    [Transport::Http, Transport::Stdio]
        .into_iter()
        .filter(|t| asked(t.as_str()) && profile.transports.iter().any(|known| known == t.as_str()))
        .collect()
}

/// Whether every outcome of the scenario has a place in the shape of that revision.
fn carries(scenario: &Scenario, revision: Revision) -> bool {
    let encoding = Encoding::Json;
    let others = render::Nonces::new();
    let context = Context { nonce: "", revision, encoding, limit: 0, others: &others };
    scenario
        .answers
        .values()
        .filter(|answer| matches!(answer.form, Form::Outcome(_)))
        .all(|answer| render::prepare(answer, &context).is_ok())
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
                let cells = vec![cell];
                self.launches.push(LaunchPlan { variant, upstream, transport, cells });
            }
        }
        for launch in &mut self.launches {
            launch.cells.sort_by_key(|cell| catalogue.scenarios[cell.scenario].wants_to_be_alone());
        }
        let rank = |variant: &Option<String>| {
            variant.as_ref().and_then(|name| profile.variants.get_index_of(name))
        };
        self.launches.sort_by_key(|launch| {
            (rank(&launch.variant), launch.transport, std::cmp::Reverse(launch.upstream))
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
