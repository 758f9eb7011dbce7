//! A webhook: whatever is posted to any path is one record.

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
    let take = move |posted: Posted| {
        store.push(Arrival::now(posted.body));
        (StatusCode::OK, Vec::new())
    };
    server::open(Arc::new(take)).await
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[tokio::test]
    async fn bodies_are_records_gzipped_or_not() {
        let store = Arc::new(Store::new(Arc::default()));
        let (address, serving) = open(Arc::clone(&store)).await.unwrap();
        let server = tokio::spawn(serving);
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let url = format!("http://{address}/any/path");
        let sent = http.post(&url).body(r#"{"a":1}"#).send().await.unwrap();
        assert_eq!(sent.status(), 200);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"{\"b\":2}").unwrap();
        let post = http.post(&url).header("content-encoding", "gzip");
        let sent = post.body(gzip.finish().unwrap()).send().await.unwrap();
        assert_eq!(sent.status(), 200);
        let odd = http.post(&url).header("content-encoding", "br").body("x").send().await.unwrap();
        assert_eq!(odd.status(), 415);
        let records = store.since(0).records;
        let raws: Vec<_> = records.iter().map(|r| r.raw.as_slice()).collect();
        assert_eq!(raws, [&b"{\"a\":1}"[..], b"{\"b\":2}"]);
        server.abort();
    }
}
