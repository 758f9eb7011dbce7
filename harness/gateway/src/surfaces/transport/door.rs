//! Who is let in, what a request must say of itself, and what becomes of it on its way up.

use birdstrike_wire::Era;
use http::HeaderMap;

/// Finds the upstream that has a tool, by its place, and the tool's name there.
pub type Owner = for<'a> fn(tool: &'a str, upstreams: &[&str]) -> Option<(usize, &'a str)>;

/// The steps of this part.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Whether a request is served, by whether it comes from this machine and names an origin.
    pub admits: fn(is_here: bool, names_origin: bool) -> bool,
    /// Whether a request may have this id.
    pub takes_id: fn(id: &str) -> bool,
    /// Whether headers are refused, by whether they repeat the body and whether any of them is coded.
    pub refuses_headers: fn(agree: bool, coded: bool) -> bool,
    /// Whether a revision that is named is served.
    pub speaks: fn(known: bool) -> bool,
    /// Whether a request of a handshake revision must name its revision.
    pub needs_version: bool,
    /// Whether a stateless request must tell the client's capabilities.
    pub needs_capabilities: bool,
    /// The code of a refusal.
    pub code: fn(code: i64) -> i64,
    /// The HTTP status for what gets no answer.
    pub accepted: u16,
    /// Whether a client that goes away cancels its request by that.
    pub leaving_cancels: fn(Era) -> bool,
    /// The upstream that has a tool, by its place, and the tool's name there.
    pub owner: Owner,
    /// The arguments for the upstream.
    pub arguments: fn(arguments: &str) -> String,
    /// The other members of the params for the upstream.
    pub others: fn(others: &str) -> String,
    /// A request to an upstream, whole.
    pub request: fn(message: String) -> String,
    /// The headers of a request to an upstream.
    pub headers: fn(headers: HeaderMap) -> HeaderMap,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self {
        admits,
        takes_id,
        refuses_headers,
        speaks,
        needs_version: false,
        needs_capabilities: true,
        code,
        accepted: 202,
        leaving_cancels,
        owner,
        arguments: as_it_is,
        others: as_it_is,
        request,
        headers,
    };
}

/// Whoever comes from here (R-HTTP-01).
pub fn admits(is_here: bool, _names_origin: bool) -> bool {
    is_here
}

/// Any (R-BASE-03).
pub fn takes_id(_id: &str) -> bool {
    true
}

/// Those that say something else than the body (R-HTTP-15).
pub fn refuses_headers(agree: bool, _coded: bool) -> bool {
    !agree
}

/// Those that there are (R-HTTP-13).
pub fn speaks(known: bool) -> bool {
    known
}

/// The one that the protocol has for the reason.
pub fn code(code: i64) -> i64 {
    code
}

/// Where the protocol says so (R-HTTP-25); elsewhere a lost connection says nothing (R-CANC-07).
pub fn leaving_cancels(era: Era) -> bool {
    era == Era::Stateless
}

/// With one upstream names are as they are; with several the upstream's name and a dot come before
/// (R-TOOLS-08).
pub fn owner<'a>(tool: &'a str, upstreams: &[&str]) -> Option<(usize, &'a str)> {
    if upstreams.len() == 1 {
        return Some((0, tool));
    }
    let (prefix, name) = tool.split_once('.')?;
    upstreams.iter().position(|upstream| *upstream == prefix).map(|at| (at, name))
}

/// Byte for byte.
pub fn as_it_is(raw: &str) -> String {
    raw.to_owned()
}

/// The same.
pub fn request(message: String) -> String {
    message
}

/// The same.
pub fn headers(headers: HeaderMap) -> HeaderMap {
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_found_by_the_first_dot_of_its_name() {
        let two = ["main", "second"];
        assert_eq!(owner("second.a.b", &two), Some((1, "a.b")));
        assert_eq!(owner("third.a", &two), None);
        assert_eq!(owner("a", &two), None);
        assert_eq!(owner("second.a", &["main"]), Some((0, "second.a")));
    }
}
