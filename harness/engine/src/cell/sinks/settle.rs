//! Waiting until the records of a cell's calls are there: by condition, under a deadline.

use std::sync::Arc;
use std::time::{Duration, Instant};

use birdstrike_judge::sink::Tie;
use birdstrike_scenario::Scenario;
use birdstrike_scenario::check::{SinkExpect, SinkHolds};

use super::{Calls, Found, checks, port};
use crate::cell::fire::Fired;
use crate::launch::{DIRECT, Launch};
use crate::plan::Cell;
use crate::ports::{Arrival, Watch};

/// How long a further record is waited for that would make a check hold, once the first is there:
/// a gateway may tell the start of a call before its end.
const FURTHER: Duration = Duration::from_millis(250);
/// How long stragglers are waited for where one record too many, or one more, would matter.
const STRAGGLERS: Duration = Duration::from_millis(50);
/// A record of something later than this behind the last answer shows that the port has gone on.
const GONE_ON: Duration = Duration::from_millis(5);
/// The shortest and the longest pause between two looks at what does not come by itself.
const PAUSE: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(32));

/// The ports that a cell's checks need, marked before anything was fired. It borrows nothing, so
/// that a step may start the gateway anew.
pub(in crate::cell) struct Watching {
    /// Places among the launch's ports, and the marks in them.
    marks: Vec<(usize, u64)>,
}

/// What the ports showed of a cell.
pub(in crate::cell) struct Seen<'a> {
    ports: Vec<Port<'a>>,
}

/// What one port showed of a cell.
pub(in crate::cell) struct Port<'a> {
    /// The port.
    pub(super) watch: &'a Watch,
    /// Everything that arrived since the cell began.
    pub(super) records: Vec<Arc<Arrival>>,
    /// What stood in a state that has changed since: sought only.
    pub(super) besides: Vec<Arc<Arrival>>,
    /// Lines that have not come to their end: sought only.
    pub(super) open_ends: Vec<Arc<Arrival>>,
    /// Of each call the records that are its own, by their places in `records`.
    pub(super) ties: Vec<Vec<(usize, Tie)>>,
    /// Why no record of this cell can be known as its own, where that is so.
    pub(super) untied: Option<&'a str>,
    /// Some were given up before the cell could see them.
    pub(super) lost: bool,
    mark: u64,
    /// When the records of all calls that are needed were there.
    came: Option<Instant>,
    settled: bool,
}

impl Watching {
    /// Marks the ports; nothing where no check of the cell speaks of sinks.
    pub(in crate::cell) async fn begin(
        launch: &Launch,
        scenario: &Scenario,
        cell: &Cell,
    ) -> Option<Self> {
        let sinks: Vec<_> = checks(scenario, cell).flat_map(|(_, expect)| &expect.sinks).collect();
        if sinks.is_empty() || cell.route == DIRECT {
            return None;
        }
        let mut marks = Vec::new();
        let all = launch.ports().all().iter().enumerate();
        for (at, watch) in all.filter(|(_, watch)| sinks.contains(&&watch.port.sink)) {
            // What a file, or a list, holds already is none of this cell's.
            if scenario.definition.is_some() || !watch.is_asked() {
                watch.look(Instant::now()).await;
            }
            marks.push((at, watch.store().mark()));
        }
        Some(Self { marks })
    }

    /// Waits until every port shows the records of the calls that are judged there, or has had its
    /// time.
    pub(in crate::cell) async fn settle<'a>(
        self,
        launch: &'a Launch,
        scenario: &Scenario,
        cell: &Cell,
        fired: &[Fired],
    ) -> Seen<'a> {
        let ended = Instant::now();
        let calls = Calls::of(launch, scenario, fired);
        let ports = self.marks.iter().filter_map(|(at, mark)| {
            let watch = launch.ports().all().get(*at)?;
            Some(Port::new(watch, *mark, fired.len(), scenario))
        });
        let mut seen = Seen { ports: ports.collect() };
        let planted = super::marker_names(scenario);
        let mut pause = PAUSE.0;
        loop {
            let grown = launch.ports().grown().notified();
            tokio::pin!(grown);
            grown.as_mut().enable();
            let now = Instant::now();
            for port in seen.ports.iter_mut().filter(|port| !port.settled) {
                port.take(&calls, now).await;
                let needs = needs(port.watch, scenario, cell, fired);
                port.consider(&needs, fired, &planted, ended);
            }
            let open: Vec<&Port<'_>> = seen.ports.iter().filter(|port| !port.settled).collect();
            if open.is_empty() {
                return seen;
            }
            if open.iter().any(|port| port.watch.is_looked_at()) {
                let _ = tokio::time::timeout(pause, grown).await;
                pause = (pause * 3 / 2).min(PAUSE.1);
            } else {
                let until = open.iter().map(|port| port.until(ended)).min().unwrap_or(now);
                let _ = tokio::time::timeout_at(until.into(), grown).await;
            }
        }
    }
}

/// What is judged in a port: expectations, and the calls that they speak of.
fn needs<'a>(
    watch: &Watch,
    scenario: &'a Scenario,
    cell: &'a Cell,
    fired: &[Fired],
) -> Vec<(&'a SinkExpect, usize)> {
    let here = checks(scenario, cell).filter(|(_, expect)| expect.sinks.contains(&watch.port.sink));
    let call = |of: Option<&str>| match of {
        None => (!fired.is_empty()).then_some(0),
        Some(name) => {
            let entry = format!("{name}.0");
            fired.iter().position(|fired| fired.name == name || fired.name == entry)
        }
    };
    here.filter_map(|(check, expect)| Some((expect, call(check.of.as_deref())?))).collect()
}

impl<'a> Seen<'a> {
    /// Each port that a check of the cell needs.
    pub(super) fn ports(&self) -> impl Iterator<Item = &Port<'a>> {
        self.ports.iter()
    }
}

impl<'a> Port<'a> {
    fn new(watch: &'a Watch, mark: u64, calls: usize, scenario: &Scenario) -> Self {
        // A tool of the scenario's own is enough to know them by.
        let untied = watch.port.untied.as_deref().filter(|_| scenario.definition.is_none());
        let (records, besides, open_ends) = (Vec::new(), Vec::new(), Vec::new());
        let (ties, lost, came, settled) = (vec![Vec::new(); calls], false, None, false);
        Self { watch, records, besides, open_ends, ties, untied, lost, mark, came, settled }
    }

    /// Takes what has come since the last look.
    async fn take(&mut self, calls: &Calls, now: Instant) {
        self.watch.look(now).await;
        let since = self.watch.store().since(self.mark);
        self.mark = since.mark;
        self.lost |= since.lost;
        self.open_ends = self.watch.store().open_ends();
        if self.watch.shows_state() {
            // Only the present state holds records; what came and went is sought.
            self.besides.extend(since.records);
            self.records.clear();
            self.ties.iter_mut().for_each(Vec::clear);
            let latest = self.watch.latest().await;
            return self.tie(latest, &calls.state);
        }
        self.tie(since.records, &calls.ties);
    }

    fn tie(&mut self, records: Vec<Arc<Arrival>>, ties: &[birdstrike_judge::sink::Ties]) {
        for record in records {
            let at = self.records.len();
            if !record.shadow {
                for (known, ties) in self.ties.iter_mut().zip(ties) {
                    known.extend(ties.tie(&record.raw).map(|tie| (at, tie)));
                }
            }
            self.records.push(record);
        }
    }

    /// Whether it has to be waited for any longer.
    fn consider(
        &mut self,
        needs: &[(&SinkExpect, usize)],
        fired: &[Fired],
        planted: &[String],
        ended: Instant,
    ) {
        let now = Instant::now();
        let has = |call: &usize| self.ties.get(*call).is_some_and(|ties| !ties.is_empty());
        let came = needs.iter().all(|(_, call)| has(call));
        if !came {
            self.settled = now >= ended + self.watch.patience();
            if self.settled {
                self.watch.came(false);
            }
            return;
        }
        let came = *self.came.get_or_insert(now);
        self.watch.came(true);
        let holds = |(expect, call): &(&SinkExpect, usize)| {
            let more_may_help = matches!(
                expect.holds,
                SinkHolds::Marker(_) | SinkHolds::Field { .. } | SinkHolds::Records(_)
            );
            let judged = fired.get(*call).filter(|_| more_may_help);
            judged.is_none_or(|call| {
                matches!(port::judge(self, expect, fired, call, planted), Found::Holds)
            })
        };
        if !needs.iter().all(holds) {
            self.settled = now >= came + FURTHER;
            return;
        }
        let strays = needs.iter().any(|(expect, _)| {
            !matches!(expect.holds, SinkHolds::Marker(_) | SinkHolds::Field { .. })
        });
        let quiet = !strays || self.watch.shows_state();
        self.settled = quiet || self.has_gone_on(ended) || now >= came + STRAGGLERS;
    }

    /// Whether something that belongs to none of the calls arrived well after the last answer.
    fn has_gone_on(&self, ended: Instant) -> bool {
        let ours = |at: usize| self.ties.iter().flatten().any(|(place, _)| *place == at);
        let late = self.records.iter().enumerate().rev();
        let mut late = late.take_while(|(_, record)| record.at >= ended + GONE_ON);
        late.any(|(at, _)| !ours(at))
    }

    /// When it has to be considered again, whatever comes.
    fn until(&self, ended: Instant) -> Instant {
        match self.came {
            None => ended + self.watch.patience(),
            Some(came) if came + STRAGGLERS > Instant::now() => came + STRAGGLERS,
            Some(came) => came + FURTHER,
        }
    }
}
