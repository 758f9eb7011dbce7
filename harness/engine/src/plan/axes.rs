//! The axes of a scenario on a gateway, and which combinations of their values are fired.

use std::collections::HashSet;

use birdstrike_canary::Encoding;
use birdstrike_scenario::scenario::Form;
use birdstrike_scenario::{Profile, Scenario};
use birdstrike_wire::Revision;

use super::{Selection, Transport, needs, routes_of};
use crate::render::{self, Context};

/// The values that each axis can take for one scenario on one gateway; none is empty.
pub(super) struct Axes {
    pub(super) routes: Vec<String>,
    clients: Vec<Revision>,
    upstreams: Vec<Revision>,
    transports: Vec<Transport>,
    encodings: Vec<Encoding>,
}

impl Axes {
    pub(super) fn of(scenario: &Scenario, profile: &Profile) -> Result<Self, String> {
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

    /// Leaves the values that are wanted; whether there are any on every axis.
    pub(super) fn narrow(&mut self, selection: &Selection) -> bool {
        fn keep<T: PartialEq>(axis: &mut Vec<T>, wanted: &[T]) -> bool {
            axis.retain(|value| wanted.is_empty() || wanted.contains(value));
            !axis.is_empty()
        }
        keep(&mut self.routes, &selection.routes)
            && keep(&mut self.clients, &selection.revisions)
            && keep(&mut self.encodings, &selection.encodings)
    }

    /// The first value of every axis, on each route.
    pub(super) fn core(&self) -> impl Iterator<Item = Way<'_>> {
        self.routes.iter().map(|route| Way {
            route,
            client: self.clients[0],
            upstream: self.upstreams[0],
            transport: self.transports[0],
            encoding: self.encodings[0],
        })
    }

    /// What must be fired besides the core, so that on these routes any two values of two axes meet
    /// in some cell: one combination for each pair of revisions, then for what has not met. Each is
    /// the one that brings the most new pairs together; the first of several, so that two plans are
    /// the same.
    pub(super) fn cover<'r>(&self, routes: &[&'r str]) -> Vec<Way<'r>> {
        let all = self.every(routes);
        let is_core = |way: &&Way<'_>| {
            way.client == self.clients[0]
                && way.upstream == self.upstreams[0]
                && way.transport == self.transports[0]
                && way.encoding == self.encodings[0]
        };
        let mut open: HashSet<Pair<'r>> = all.iter().flat_map(Way::pairs).collect();
        for pair in all.iter().filter(is_core).flat_map(Way::pairs) {
            open.remove(&pair);
        }
        let mut chosen = Vec::new();
        for revisions in [true, false] {
            loop {
                let fits = |way: &&Way<'r>| !revisions || open.contains(&way.revisions());
                let new = |way: &&Way<'r>| way.pairs().filter(|pair| open.contains(pair)).count();
                let best = all.iter().rev().filter(fits).max_by_key(new);
                let Some(best) = best.filter(|way| new(way) > 0) else { break };
                for pair in best.pairs() {
                    open.remove(&pair);
                }
                chosen.push(*best);
            }
        }
        chosen
    }

    /// Every combination there is. Over stdio there is no encoding to vary.
    fn every<'r>(&self, routes: &[&'r str]) -> Vec<Way<'r>> {
        let mut all = Vec::new();
        for (&upstream, &client) in iproduct(&self.upstreams, &self.clients) {
            for (&route, &transport) in iproduct(routes, &self.transports) {
                let encodings = if transport == Transport::Stdio { 1 } else { usize::MAX };
                all.extend(self.encodings.iter().take(encodings).map(|&encoding| Way {
                    route,
                    client,
                    upstream,
                    transport,
                    encoding,
                }));
            }
        }
        all
    }
}

/// Every pair of a value of one list and a value of the other.
fn iproduct<'v, A, B>(one: &'v [A], other: &'v [B]) -> impl Iterator<Item = (&'v A, &'v B)> {
    one.iter().flat_map(move |a| other.iter().map(move |b| (a, b)))
}

/// One value of each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way<'a> {
    pub(super) route: &'a str,
    pub(super) client: Revision,
    pub(super) upstream: Revision,
    pub(super) transport: Transport,
    pub(super) encoding: Encoding,
}

/// A value of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Value<'a> {
    Route(&'a str),
    Client(Revision),
    Upstream(Revision),
    Transport(Transport),
    Encoding(Encoding),
}

/// Two values that meet in a cell.
type Pair<'a> = (Value<'a>, Value<'a>);

impl<'a> Way<'a> {
    fn revisions(&self) -> Pair<'a> {
        (Value::Client(self.client), Value::Upstream(self.upstream))
    }

    fn pairs(&self) -> impl Iterator<Item = Pair<'a>> + use<'a> {
        let values = [
            Value::Client(self.client),
            Value::Upstream(self.upstream),
            Value::Route(self.route),
            Value::Transport(self.transport),
            Value::Encoding(self.encoding),
        ];
        (0..values.len())
            .flat_map(move |a| (a + 1..values.len()).map(move |b| (values[a], values[b])))
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
