//! The gateway's own namespace of URIs.
//!
//! `birdstrike://UPSTREAM/` and behind it the upstream's URI as it is. That is a legal URI wherever
//! the upstream's is one (R-RES-03): a path may hold colons and empty segments, and query and
//! fragment stay at the end. Nothing has to be coded and decoded, so nothing can be coded twice, and
//! a template still expands to what the upstream expects. In a chain of such gateways each puts its
//! own prefix before the others'.
//!
//! Two kinds of URI are more than a name to their client. A page is only shown if it is a `ui` URI,
//! so its namespace is `ui://birdstrike.UPSTREAM/`. An `https` URI tells the client to fetch it
//! by itself, without this gateway (R-RES-04), and stays as it is.

use std::borrow::Cow;

use super::Taken;

/// The scheme of the namespace, and the host of its pages.
pub const SCHEME: &str = "birdstrike";

/// The scheme of pages that a host shows.
const PAGE: &str = "ui";

/// What a URI of this upstream gets before it; `None` if it stays.
pub fn prefix(uri: &str, upstream: &str) -> Option<String> {
    // A scheme is the same in any case (RFC 3986, section 3.1).
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    if scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    if scheme.eq_ignore_ascii_case(PAGE) {
        return Some(format!("{PAGE}://{SCHEME}.{upstream}/"));
    }
    Some(format!("{SCHEME}://{upstream}/"))
}

/// The prefix before what the upstream wrote, escapes included. What no Rust string can hold (a lone
/// surrogate) is no URI and stays.
pub fn give(spelled: &str, upstream: &str) -> Option<String> {
    let uri: Cow<'_, str> = serde_json::from_str(spelled).ok()?;
    let prefix = prefix(&uri, upstream)?;
    Some(format!("\"{prefix}{}", spelled.strip_prefix('"')?))
}

/// By the prefix of each upstream. What is behind it was the upstream's to name, and is not checked.
pub fn take<'a>(uri: &'a str, upstreams: &[&'a str]) -> Option<Taken<'a>> {
    upstreams.iter().find_map(|upstream| {
        let own = ["", PAGE].iter().find_map(|scheme| {
            let prefix = prefix(&format!("{scheme}:"), upstream)?;
            uri.strip_prefix(&prefix)
        })?;
        Some(Taken { upstream, uri: Cow::Borrowed(own) })
    })
}
