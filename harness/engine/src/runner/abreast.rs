//! Cells side by side, or one by one.

use std::sync::Arc;

use birdstrike_scenario::Scenario;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, Stream, StreamExt};
use tokio::sync::Semaphore;

use crate::cell::{self, Hold, Outcome};
use crate::launch::Launch;
use crate::plan::Cell;

/// How many times as many may have ended before the first of them has.
const AHEAD: usize = 64;

/// The scenario of a cell.
pub(super) fn scenario_of<'a>(scenarios: &'a [Scenario], cell: &Cell) -> &'a Scenario {
    &scenarios[cell.scenario]
}

/// One cell that has the launch for itself.
pub(super) fn one<'l, 'c: 'l>(
    launch: &'l mut Launch,
    scenarios: &'l [Scenario],
    cell: &'c Cell,
) -> BoxStream<'l, (&'c Cell, Outcome)> {
    let scenario = scenario_of(scenarios, cell);
    let run = async move { (cell, cell::run(Hold::Alone(launch), scenario, cell).await) };
    futures_util::stream::once(run).boxed()
}

/// Cells that share the launch, as many at once as there are jobs.
pub(super) fn side_by_side<'l, 'c: 'l>(
    launch: &'l Launch,
    scenarios: &'l [Scenario],
    cells: &[&'c Cell],
    jobs: usize,
) -> BoxStream<'l, (&'c Cell, Outcome)> {
    let mut runs = Vec::new();
    for &cell in cells {
        let scenario = scenario_of(scenarios, cell);
        let run = async move { (cell, cell::run(Hold::Shared(launch), scenario, cell).await) };
        runs.push(run.boxed());
    }
    abreast(runs, jobs).boxed()
}

/// Futures that are begun in order, so many at work at a time, and end in order. One that takes long
/// does not hold up those behind it: they wait with what they found.
pub(super) fn abreast<T: Send>(runs: Vec<BoxFuture<'_, T>>, jobs: usize) -> impl Stream<Item = T> {
    let permits = Arc::new(Semaphore::new(jobs));
    let runs = runs.into_iter().map(move |run| {
        let permits = Arc::clone(&permits);
        async move {
            // Nobody closes the semaphore.
            let _permit = permits.acquire_owned().await;
            run.await
        }
    });
    futures_util::stream::iter(runs).buffered(jobs.saturating_mul(AHEAD))
}
