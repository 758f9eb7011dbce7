//! Metrics: numbers of calls in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use crate::surfaces::record::Record;

/// Combinations of labels that are counted apart; a client chooses the names of tools.
const MAX_SERIES: usize = 1000;
/// The name of the tool of all calls beyond that.
const OTHER: &str = "other";
const PREFIX: &str = "birdstrike_gateway";

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Labels {
    upstream: String,
    tool: String,
    route: &'static str,
    outcome: &'static str,
    error_type: &'static str,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    calls: u64,
    bytes: u64,
    milliseconds: u64,
}

type ReadSum = fn(&Sums) -> f64;

#[derive(Debug, Default)]
struct Counted {
    series: BTreeMap<Labels, Sums>,
    /// By upstream: whether it is well, and how often it was not.
    health: BTreeMap<String, (bool, u64)>,
}

pub(crate) struct Metrics(Mutex<Counted>);

impl Metrics {
    /// An upstream is well until a call says otherwise.
    pub(super) fn new<'a>(upstreams: impl Iterator<Item = &'a String>) -> Self {
        let health = upstreams.map(|name| (name.clone(), (true, 0))).collect();
        Self(Mutex::new(Counted { health, ..<_>::default() }))
    }

    pub(super) fn count(&self, record: &Record) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut labels = Labels {
            upstream: record.upstream.clone(),
            tool: record.tool.clone(),
            route: record.route,
            outcome: record.finish.as_str(),
            error_type: record.error_type.unwrap_or(""),
        };
        if counted.series.len() >= MAX_SERIES && !counted.series.contains_key(&labels) {
            labels.tool = OTHER.into();
        }
        let sums = counted.series.entry(labels).or_default();
        sums.calls += 1;
        sums.bytes += record.bytes as u64;
        sums.milliseconds += record.elapsed_ms;
        if let (Some(healthy), Some(health)) =
            (record.healthy, counted.health.get_mut(&record.upstream))
        {
            *health = (healthy, health.1 + u64::from(!healthy));
        }
    }

    /// The page. `losses` are the records that did not arrive, by sink.
    pub(crate) fn page(&self, losses: &[(&str, u64)]) -> String {
        let counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        let metrics: [(&str, &str, ReadSum); 3] = [
            ("calls_total", "Finished calls.", |sums| sums.calls as f64),
            ("answer_bytes_total", "Bytes of the upstreams' messages.", |sums| sums.bytes as f64),
            ("call_seconds_total", "Time that calls took.", |s| s.milliseconds as f64 / 1000.0),
        ];
        for (name, help, value) in metrics {
            head(&mut out, name, help, "counter");
            for (labels, sums) in &counted.series {
                let labels = labels.written();
                let _ = writeln!(out, "{PREFIX}_{name}{{{labels}}} {}", value(sums));
            }
        }
        head(&mut out, "upstream_up", "Whether the last call found the upstream well.", "gauge");
        for (upstream, (healthy, _)) in &counted.health {
            let up = u8::from(*healthy);
            let _ = writeln!(out, "{PREFIX}_upstream_up{{upstream=\"{}\"}} {up}", label(upstream));
        }
        let help = "Calls that found the upstream not well.";
        head(&mut out, "upstream_failures_total", help, "counter");
        for (upstream, (_, failures)) in &counted.health {
            let name = "upstream_failures_total";
            let upstream = label(upstream);
            let _ = writeln!(out, "{PREFIX}_{name}{{upstream=\"{upstream}\"}} {failures}");
        }
        head(&mut out, "lost_records_total", "Records that did not reach a sink.", "counter");
        for (sink, lost) in losses {
            let sink = label(sink);
            let _ = writeln!(out, "{PREFIX}_lost_records_total{{sink=\"{sink}\"}} {lost}");
        }
        out
    }
}

impl Labels {
    fn written(&self) -> String {
        format!(
            "upstream=\"{}\",tool=\"{}\",route=\"{}\",outcome=\"{}\",error_type=\"{}\"",
            label(&self.upstream),
            label(&self.tool),
            self.route,
            self.outcome,
            self.error_type
        )
    }
}

fn head(out: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(out, "# HELP {PREFIX}_{name} {help}\n# TYPE {PREFIX}_{name} {kind}");
}

/// A label's value: quote, backslash and line feed are escaped.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surfaces::record::tests::odd;

    #[test]
    fn calls_are_counted_by_what_they_were() {
        let metrics = Metrics::new([String::from("main")].iter());
        metrics.count(&odd());
        metrics.count(&odd());
        metrics.count(&Record { healthy: Some(false), tool: "t".into(), ..odd() });
        let page = metrics.page(&[("audit 0", 3)]);
        for line in [
            "birdstrike_gateway_calls_total{upstream=\"main\",tool=\"a|b=c]\\\"\\\\\t\\nd\",\
             route=\"flat\",outcome=\"failed\",error_type=\"rpc_error\"} 2",
            "birdstrike_gateway_upstream_up{upstream=\"main\"} 0",
            "birdstrike_gateway_upstream_failures_total{upstream=\"main\"} 1",
            "birdstrike_gateway_lost_records_total{sink=\"audit 0\"} 3",
            "# TYPE birdstrike_gateway_calls_total counter",
        ] {
            assert!(page.lines().any(|known| known == line), "{line}\n{page}");
        }
    }

    #[test]
    fn a_client_cannot_make_series_without_end() {
        let metrics = Metrics::new([].iter());
        for number in 0..MAX_SERIES + 50 {
            metrics.count(&Record { tool: number.to_string(), ..odd() });
        }
        let page = metrics.page(&[]);
        assert!(page.matches("calls_total{").count() <= MAX_SERIES + 1);
        assert!(page.contains("tool=\"other\""));
    }
}
