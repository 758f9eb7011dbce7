//! Observations: measured and shown, without a verdict.

use birdstrike_scenario::Scenario;

use super::fire::Fired;
use crate::plan::Cell;
use crate::record::Observation;

/// Measures what the scenario asks for.
pub(super) fn measure(
    scenario: &Scenario,
    cell: &Cell,
    fired: &[Fired],
    observations: &mut Vec<Observation>,
) {
    for name in &scenario.observe {
        let measured = match name.as_str() {
            "amplification" => amplification(fired).map(|value| (value, "bytes/byte")),
            "arrived-twice" => arrived_twice(fired).map(|value| (value, "bytes")),
            _ => None,
        };
        let Some((value, unit)) = measured else {
            continue;
        };
        let first = scenario.checks.first().and_then(|check| check.requirements.first());
        observations.push(Observation {
            name: name.clone(),
            requirement: first.cloned().unwrap_or_default(),
            surface: scenario.surface,
            scenario: scenario.id.clone(),
            route: cell.route.clone(),
            revision: cell.revision.to_string(),
            value,
            unit: unit.to_owned(),
        });
    }
}

/// Bytes to the client over bytes from the upstream.
fn amplification(fired: &[Fired]) -> Option<f64> {
    let up: u64 = fired.iter().map(|one| one.upstream.bytes).sum();
    let down = client_bytes(fired);
    (up > 0).then(|| (down as f64 / up as f64 * 100.0).round() / 100.0)
}

/// Bytes that the client received; of a batch its one body is counted once.
fn client_bytes(fired: &[Fired]) -> u64 {
    let mut bodies: Vec<_> = fired.iter().map(|one| &one.transcript).collect();
    bodies.dedup_by(|a, b| std::sync::Arc::ptr_eq(a, b));
    bodies.iter().map(|transcript| transcript.body.len()).sum()
}

/// Bytes of the upstream's text that reached the client more than once: each further copy of the
/// call's text marker counts with the length of the text that carries it.
fn arrived_twice(fired: &[Fired]) -> Option<f64> {
    let mut twice = 0;
    for one in fired {
        let sent = one.upstream.sent.as_ref()?.whole()?;
        let came = one.transcript.body.whole()?;
        let marker = crate::render::marker(&one.nonce, "text");
        let count = |bytes: &[u8]| {
            bytes.windows(marker.len()).filter(|window| *window == marker.as_bytes()).count()
        };
        let (up, down) = (count(sent), count(came));
        if up > 0 {
            twice += (down.saturating_sub(up)) as u64 * (one.upstream.bytes / up as u64);
        }
    }
    Some(twice as f64)
}
