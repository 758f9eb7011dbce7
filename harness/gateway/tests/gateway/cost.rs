//! What the gateway adds to a call, beside the least that any gateway must add: a proxy that hands
//! bodies on and looks at nothing.

use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use axum::serve::ListenerExt;
use http::HeaderMap;
use tokio::net::TcpListener;

use super::support::*;

const CALLS: u32 = 400;

/// A proxy of a few lines.
async fn proxy(upstream: &str) -> String {
    async fn pass(
        State((http, url)): State<(reqwest::Client, String)>,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> ([(&'static str, &'static str); 1], Bytes) {
        headers.remove("host");
        let response = http.post(url).headers(headers).body(body).send().await.unwrap();
        ([("content-type", "application/json")], response.bytes().await.unwrap())
    }
    let http = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().unwrap();
    let router = Router::new().route("/mcp", post(pass)).with_state((http, upstream.to_owned()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// The time that a quarter of the calls stay under, by client. The clients take turns, so that what
/// else the machine does falls on all of them.
async fn times<const N: usize>(clients: [&Client; N]) -> [Duration; N] {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..CALLS {
        for (client, times) in clients.iter().zip(&mut times) {
            let began = Instant::now();
            assert_eq!(client.call("x", r#"{"a":1}"#).await.status, 200);
            times.push(began.elapsed());
        }
    }
    times.map(|mut times| {
        times.sort();
        times[times.len() / 4]
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures, and means something only in a release build on a quiet machine"]
async fn a_call_costs_little_more_than_through_a_bare_proxy() {
    for framing in [Framing::Length, Framing::Events] {
        let upstream = Upstream::start(C, framing);
        let running = before(&upstream).await;
        let through = Client::new(&running, C);
        let direct = Client { url: upstream.url.clone(), ..through.clone() };
        let bare = Client { url: proxy(&upstream.url).await, ..through.clone() };
        for size in [200, 10_000, 100_000, 1_000_000] {
            upstream.result("x", &super::limits::sized(size));
            let [direct, bare, through] = times([&direct, &bare, &through]).await;
            let added = |time: Duration| time.saturating_sub(direct).as_secs_f64();
            let ratio = added(through) / added(bare);
            println!(
                "{framing:?} {size}: direct {direct:?}, bare proxy {bare:?}, gateway {through:?}: {ratio:.2} x added"
            );
        }
    }
}
