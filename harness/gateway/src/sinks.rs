//! The sinks: wherever else than in its answer a call is told. All are off but the log.
//!
//! A call never waits for a sink. What goes over the network or to a file is queued, in a queue that
//! has an end; what finds it full is dropped, counted, and told in the log.

mod alerts;
mod audit;
mod deliver;
pub(crate) mod events;
mod log;
mod making;
pub(crate) mod metrics;
mod otlp;
mod queue;
mod telemetry;

use std::sync::Arc;

use futures_util::future::{join_all, join3};

use crate::config::Config;
use crate::log::Log;
use crate::surfaces::Steps;
use crate::surfaces::record::Record;
use alerts::Alerts;
use audit::Audit;
use events::Events;
use metrics::Metrics;
use queue::Losses;
use telemetry::Telemetry;

pub(crate) use making::{Facts, made};

/// All sinks of a gateway.
pub(crate) struct Sinks {
    log: Arc<Log>,
    steps: Steps,
    /// Whether arguments and the words of failures are told: to whoever asked for a sink. The log on
    /// standard error, which comes unasked, does without.
    in_full: bool,
    pub(crate) events: Option<Events>,
    pub(crate) metrics: Metrics,
    alerts: Option<Alerts>,
    audit: Vec<Audit>,
    telemetry: Option<Telemetry>,
}

/// A sink that cannot be opened.
pub(crate) struct Closed {
    pub(crate) sink: &'static str,
    pub(crate) why: String,
}

impl Sinks {
    /// Opens what the configuration asks for. Must be called inside a Tokio runtime.
    pub(crate) fn open(config: &Config, steps: &Steps, log: &Arc<Log>) -> Result<Self, Closed> {
        let closed = |sink, why: String| Closed { sink, why };
        if let Some(file) = config.log.as_ref().map(|log| &log.file) {
            log.and_to(file)
                .map_err(|error| closed("log", format!("{}: {error}", file.display())))?;
        }
        let audit = config.audit.iter().enumerate().map(|(at, audit)| {
            let losses = Losses::new(format!("audit {at}"), log);
            Audit::open(audit, steps.audit_export, losses).map_err(|why| closed("audit", why))
        });
        let audit = audit.collect::<Result<Vec<_>, _>>()?;
        let http = deliver::client().map_err(|error| closed("alerts", error.to_string()))?;
        let alerts = config
            .alerts
            .as_ref()
            .map(|alerts| Alerts::open(alerts, http.clone(), Losses::new("alerts".into(), log)));
        let telemetry = config.telemetry.as_ref().map(|telemetry| {
            Telemetry::open(telemetry, http, Losses::new("telemetry".into(), log))
        });
        let events = config.events.map(Events::new);
        let in_full = config.log.is_some()
            || events.is_some()
            || alerts.is_some()
            || !audit.is_empty()
            || telemetry.is_some();
        let metrics = Metrics::new(config.upstreams.keys());
        let log = log.clone();
        Ok(Self { log, steps: *steps, in_full, events, metrics, alerts, audit, telemetry })
    }

    /// Tells a finished call to all.
    pub(crate) fn tell(&self, record: Record) {
        log::tell(&self.log, &record, self.in_full);
        self.metrics.count(&record);
        if let Some(events) = &self.events {
            events.tell(&record);
        }
        if let Some(alerts) = self.alerts.as_ref().filter(|_| record.finish.is_failed()) {
            alerts.tell(&record);
        }
        if let Some(telemetry) = &self.telemetry {
            telemetry.tell(&record);
        }
        if self.audit.is_empty() {
            return;
        }
        for record in (self.steps.audit_export.records)(record) {
            for audit in &self.audit {
                audit.tell(&record);
            }
        }
    }

    /// What was lost on the way to each sink, by its name.
    pub(crate) fn losses(&self) -> Vec<(&str, u64)> {
        let alerts = self.alerts.iter().map(Alerts::losses);
        let telemetry = self.telemetry.iter().map(Telemetry::losses);
        let audit = self.audit.iter().map(Audit::losses);
        alerts.chain(telemetry).chain(audit).map(Losses::count).collect()
    }

    /// Takes no more, and gives what is under way a moment to arrive.
    pub(crate) async fn close(&self) {
        if let Some(events) = &self.events {
            events.close();
        }
        let alerts = join_all(self.alerts.iter().map(Alerts::close));
        let telemetry = join_all(self.telemetry.iter().map(Telemetry::close));
        let audit = join_all(self.audit.iter().map(Audit::close));
        join3(alerts, telemetry, audit).await;
    }
}
