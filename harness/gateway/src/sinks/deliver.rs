//! Delivery over HTTP.

use std::time::Duration;

use super::queue::Losses;

/// How long a receiver may take for one request.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A client for what the gateway tells by itself.
pub(super) fn client() -> reqwest::Result<reqwest::Client> {
    let client = reqwest::Client::builder().no_proxy().tcp_nodelay(true).timeout(TIMEOUT);
    client.redirect(reqwest::redirect::Policy::none()).build()
}

/// Sends a body that tells so many records; what does not arrive is counted and not sent again, as
/// the next ones wait.
pub(super) async fn post(
    http: &reqwest::Client,
    url: &str,
    content_type: &str,
    body: Vec<u8>,
    (records, losses): (u64, &Losses),
) {
    let request = http.post(url).header(http::header::CONTENT_TYPE, content_type).body(body);
    match request.send().await {
        Ok(answer) if answer.status().is_success() => {}
        Ok(answer) => losses.add(records, &format!("the receiver says {}", answer.status())),
        Err(error) => losses.add(records, &error.without_url().to_string()),
    }
}
