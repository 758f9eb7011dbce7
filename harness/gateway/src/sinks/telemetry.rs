//! Telemetry: a span a call, and one below it for each change of its result.

use std::sync::Arc;

use jiff::Timestamp;

use super::deliver;
use super::otlp::{self, Span};
use super::queue::{Losses, Queue};
use crate::config::{OtlpProtocol, TelemetryConfig};
use crate::surfaces::record::{Record, Value};
use crate::trace;

/// Spans that are sent together when they wait anyway.
const TOGETHER: usize = 64;

pub(super) struct Telemetry(Queue<Span>);

impl Telemetry {
    pub(super) fn open(
        config: &TelemetryConfig,
        http: reqwest::Client,
        losses: Arc<Losses>,
    ) -> Self {
        let url = format!("{}/v1/traces", config.otlp.trim_end_matches('/'));
        let (protocol, counted) = (config.protocol, losses.clone());
        Self(Queue::new(losses, async move |mut queue| {
            let mut spans = Vec::new();
            while queue.recv_many(&mut spans, TOGETHER).await > 0 {
                let (content_type, body) = match protocol {
                    OtlpProtocol::Json => ("application/json", otlp::to_json(&spans).into_bytes()),
                    OtlpProtocol::Protobuf => ("application/x-protobuf", otlp::to_protobuf(&spans)),
                };
                let count = (spans.len() as u64, &*counted);
                deliver::post(&http, &url, content_type, body, count).await;
                spans.clear();
            }
        }))
    }

    pub(super) fn tell(&self, record: &Record) {
        for span in spans(record) {
            self.0.put(span);
        }
    }

    pub(super) fn losses(&self) -> &Losses {
        self.0.losses()
    }

    pub(super) async fn close(&self) {
        self.0.close().await;
    }
}

/// The span of the call is the child of the client's, and the parent of the others.
fn spans(record: &Record) -> Vec<Span> {
    let (start, end) = (nanoseconds(record.began), nanoseconds(record.ended));
    let mut attributes = record.members();
    attributes.retain(|(name, _)| *name != "trace_id");
    let call = Span {
        trace_id: record.trace_id.clone(),
        id: record.span_id.clone(),
        parent_id: record.parent_span_id.clone(),
        name: record.method,
        kind: otlp::SERVER,
        start,
        end,
        attributes,
        failed: record.span_finish.is_failed(),
    };
    let changes = record.changes.iter().map(|change| {
        let number = |bytes: usize| Value::Number(i64::try_from(bytes).unwrap_or(i64::MAX));
        Span {
            trace_id: record.trace_id.clone(),
            id: trace::span_id(),
            parent_id: Some(record.span_id.clone()),
            name: "mutate",
            kind: otlp::INTERNAL,
            start: end,
            end,
            attributes: vec![
                ("call_id", Value::Text(record.call_id.clone())),
                ("tool", Value::Text(record.tool.clone())),
                ("upstream", Value::Text(record.upstream.clone())),
                ("route", Value::Text(record.route.into())),
                ("mutator", Value::Text(change.mutator.into())),
                ("bytes_before", number(change.bytes_before)),
                ("bytes_after", number(change.bytes_after)),
            ],
            failed: false,
        }
    });
    std::iter::once(call).chain(changes).collect()
}

fn nanoseconds(at: Timestamp) -> u64 {
    u64::try_from(at.as_nanosecond()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surfaces::mutators::Change;
    use crate::surfaces::record::tests::odd;

    #[test]
    fn a_change_is_a_span_below_that_of_its_call() {
        let changes = vec![Change { mutator: "m", bytes_before: 9, bytes_after: 5 }];
        let spans = spans(&Record { changes, ..odd() });
        assert_eq!(spans.len(), 2);
        assert_eq!(spans[0].end - spans[0].start, 42_000_000);
        assert!(spans[0].failed && !spans[1].failed);
        assert_eq!(spans[1].parent_id.as_ref(), Some(&spans[0].id));
        assert_eq!(spans[1].trace_id, spans[0].trace_id);
    }
}
