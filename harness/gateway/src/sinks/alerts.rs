//! Alerts: one JSON object for each failed call, sent to a webhook.

use std::fmt::Write as _;
use std::sync::Arc;

use birdstrike_wire::json;

use tokio::sync::mpsc::Receiver;

use super::deliver;
use super::queue::{Losses, Queue};
use crate::config::AlertsConfig;
use crate::surfaces::record::Record;

pub(super) struct Alerts(Queue<String>);

impl Alerts {
    pub(super) fn open(config: &AlertsConfig, http: reqwest::Client, losses: Arc<Losses>) -> Self {
        let (url, counted) = (config.webhook.clone(), losses.clone());
        Self(Queue::new(losses, async move |mut alerts: Receiver<String>| {
            while let Some(alert) = alerts.recv().await {
                let body = alert.into_bytes();
                deliver::post(&http, &url, "application/json", body, (1, &counted)).await;
            }
        }))
    }

    pub(super) fn tell(&self, record: &Record) {
        self.0.put(alert(record));
    }

    pub(super) fn losses(&self) -> &Losses {
        self.0.losses()
    }

    pub(super) async fn close(&self) {
        self.0.close().await;
    }
}

/// An alert is read by people: it has the words of the failure, redacted.
fn alert(record: &Record) -> String {
    let mut out =
        format!("{{\"type\":\"{}\",\"time\":\"{:.3}\"", record.finish.event(), record.ended);
    for (name, value) in record.members() {
        let _ = write!(out, ",\"{name}\":{}", value.json());
    }
    if let Some(words) = &record.alert_words {
        let _ = write!(out, ",\"error\":{}", json::quote(words));
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surfaces::record::tests::odd;

    #[test]
    fn an_alert_is_json_with_the_words_of_the_failure() {
        let alert: serde_json::Value = serde_json::from_str(&alert(&odd())).unwrap();
        assert_eq!((&alert["type"], &alert["error"]), (&"call_failed".into(), &"no".into()));
        assert_eq!((&alert["tool"], &alert["code"]), (&odd().tool.into(), &(-7).into()));
    }
}
