//! An OTLP collector over HTTP, in JSON and protobuf: each span or log record is one record.

mod flat;
mod protobuf;

use std::net::SocketAddr;
use std::sync::Arc;

use http::StatusCode;

use super::server::{self, Posted};
use super::store::{Arrival, Store};

/// Opens one on a free port; the future serves it.
///
/// # Errors
/// When no port can be bound.
pub(super) async fn open(
    store: Arc<Store>,
) -> std::io::Result<(SocketAddr, impl Future<Output = ()>)> {
    server::open(Arc::new(move |posted| take(posted, &store))).await
}

fn take(posted: Posted, store: &Store) -> (StatusCode, Vec<u8>) {
    let Some(signal) = Signal::of(&posted.path) else {
        return (StatusCode::NOT_FOUND, Vec::new());
    };
    let protobuf = posted.content_type == "application/x-protobuf";
    let json = if protobuf {
        protobuf::to_json(signal.request(), &posted.body)
    } else {
        Some(posted.body.clone())
    };
    let records = json.and_then(|json| flat::records(signal, &json));
    let understood = records.is_some();
    for record in records.unwrap_or_default() {
        store.push(Arrival::now(record.into_bytes()));
    }
    // What no record tells (members that nobody knows, a body that is none) is sought all the same.
    store.push(Arrival { shadow: true, ..Arrival::now(posted.body) });
    match (understood, protobuf) {
        (true, true) => (StatusCode::OK, Vec::new()),
        (true, false) => (StatusCode::OK, b"{}".to_vec()),
        (false, _) => (StatusCode::BAD_REQUEST, Vec::new()),
    }
}

/// What a body tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Traces,
    Logs,
    Metrics,
}

impl Signal {
    fn of(path: &str) -> Option<Self> {
        match path.trim_end_matches('/').rsplit('/').next()? {
            "traces" => Some(Self::Traces),
            "logs" => Some(Self::Logs),
            "metrics" => Some(Self::Metrics),
            _ => None,
        }
    }

    /// The message that is posted.
    const fn request(self) -> &'static protobuf::Message {
        match self {
            Self::Traces => &protobuf::TRACES,
            Self::Logs => &protobuf::LOGS,
            Self::Metrics => &protobuf::METRICS,
        }
    }

    /// The members that lead to the records: resource, scope, record.
    const fn path(self) -> [&'static str; 3] {
        match self {
            Self::Traces => ["resourceSpans", "scopeSpans", "spans"],
            Self::Logs => ["resourceLogs", "scopeLogs", "logRecords"],
            Self::Metrics => ["resourceMetrics", "scopeMetrics", "metrics"],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    fn len(field: u8, content: &[u8]) -> Vec<u8> {
        let mut out = vec![field << 3 | 2];
        let mut left = content.len();
        while left >= 0x80 {
            out.push(left as u8 | 0x80);
            left >>= 7;
        }
        out.push(left as u8);
        out.extend_from_slice(content);
        out
    }

    fn attribute(key: &str, value: &[u8]) -> Vec<u8> {
        [len(1, key.as_bytes()), len(2, value)].concat()
    }

    /// A span as `opentelemetry-proto` lays it out.
    fn span() -> Vec<u8> {
        let trace: Vec<u8> = (0..32)
            .step_by(2)
            .map(|at| u8::from_str_radix(&TRACE[at..at + 2], 16).unwrap())
            .collect();
        let status = [len(2, b"went wrong"), vec![3 << 3, 2]].concat();
        let event = [len(2, b"exception"), len(3, &attribute("k", &len(1, b"v")))].concat();
        [
            len(1, &trace),
            len(2, &[1, 2, 3, 4, 5, 6, 7, 8]),
            len(5, b"tools/call"),
            vec![6 << 3, 3],
            [vec![7 << 3 | 1], 1_700_000_000_000_000_001_u64.to_le_bytes().to_vec()].concat(),
            len(9, &attribute("tool", &len(1, "écho".as_bytes()))),
            len(9, &attribute("bytes", &[3 << 3, 0x96, 0x01])),
            len(9, &attribute("ok", &[2 << 3, 0])),
            len(9, &attribute("list", &len(5, &len(1, &len(1, b"x"))))),
            len(11, &event),
            len(15, &status),
        ]
        .concat()
    }

    fn request() -> Vec<u8> {
        let resource = len(1, &len(1, &attribute("service.name", &len(1, b"gate"))));
        let scope = len(2, &[len(1, &len(1, b"lib")), len(2, &span()), len(2, &span())].concat());
        len(1, &[resource, scope].concat())
    }

    fn json(body: &str) -> serde_json::Value {
        serde_json::from_str(body).unwrap()
    }

    #[tokio::test]
    async fn protobuf_and_json_give_the_same_records() {
        let store = Arc::new(Store::new(Arc::default()));
        let (address, serving) = open(Arc::clone(&store)).await.unwrap();
        let server = tokio::spawn(serving);
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let post = || http.post(format!("http://{address}/v1/traces"));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&request()).unwrap();
        let sent = post()
            .header("content-type", "application/x-protobuf")
            .header("content-encoding", "gzip")
            .body(gzip.finish().unwrap());
        assert_eq!(sent.send().await.unwrap().status(), 200);
        let body = String::from_utf8(protobuf::to_json(&protobuf::TRACES, &request()).unwrap());
        let sent = post().header("content-type", "application/json; charset=utf-8");
        let sent = sent.body(body.unwrap()).send().await.unwrap();
        assert_eq!((sent.status().as_u16(), sent.text().await.unwrap().as_str()), (200, "{}"));
        let records = store.since(0).records;
        let spans: Vec<_> = records.iter().filter(|record| !record.shadow).collect();
        assert_eq!((spans.len(), records.len()), (4, 6));
        assert_eq!(spans[0].raw, spans[3].raw);
        let told = json(std::str::from_utf8(&spans[0].raw).unwrap());
        assert_eq!(
            told,
            json(&format!(
                r#"{{"traceId":"{TRACE}","spanId":"0102030405060708","name":"tools/call","kind":3,
                    "startTimeUnixNano":"1700000000000000001",
                    "attributes":{{"tool":"écho","bytes":150,"ok":false,"list":["x"]}},
                    "events":[{{"name":"exception","attributes":{{"k":"v"}}}}],
                    "status":{{"message":"went wrong","code":2}},
                    "resource":{{"attributes":{{"service.name":"gate"}}}},"scope":{{"name":"lib"}}}}"#
            ))
        );
        let broken = post().header("content-type", "application/x-protobuf").body(vec![10, 200]);
        assert_eq!(broken.send().await.unwrap().status(), 400);
        let elsewhere = http.post(format!("http://{address}/v1/profiles")).send().await.unwrap();
        assert_eq!(elsewhere.status(), 404);
        server.abort();
    }

    #[test]
    fn hostile_bodies_are_survived() {
        let store = Store::new(Arc::default());
        let deep = (0..5_000).fold(Vec::new(), |inner, _| len(5, &len(1, &inner)));
        let key_value = [len(1, b"deep"), len(2, &deep)].concat();
        let body = len(1, &len(2, &len(2, &len(9, &key_value))));
        let nested = "[".repeat(100_000);
        for (content_type, body) in [
            ("application/x-protobuf", body),
            ("application/x-protobuf", vec![0xFF; 64]),
            ("application/json", nested.into_bytes()),
            ("application/json", b"{\"resourceSpans\":7}".to_vec()),
        ] {
            let (path, content_type) = ("/v1/traces".to_owned(), content_type.to_owned());
            take(Posted { path, content_type, body }, &store);
        }
        assert_eq!(store.since(0).records.iter().filter(|record| record.shadow).count(), 4);
    }
}
