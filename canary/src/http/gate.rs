//! Who may speak to a canary at all: the one place where it refuses instead of noting, as it
//! protects the machine that it runs on from a web page's requests (R-HTTP-01 to R-HTTP-03).

use std::net::IpAddr;

use http::HeaderMap;
use http::header::{HOST, ORIGIN};

use crate::notes::Note;

/// The reason to refuse a request, if there is one. `exposed`: the canary listens beyond loopback
/// because it was told to, so any host name may be its own.
pub(crate) fn refuse(headers: &HeaderMap, exposed: bool) -> Option<Note> {
    let host = headers.get(HOST).map(|value| value.to_str().unwrap_or("?"));
    if let Some(host) = host
        && !exposed
        && !is_loopback(host)
    {
        return Some(Note::new("R-HTTP-02", format!("Host `{host}` is not loopback: refused")));
    }
    let origin = headers.get(ORIGIN)?.to_str().unwrap_or("?");
    let of_origin = origin.split_once("://").map_or("?", |(_, rest)| rest);
    if is_loopback(of_origin) || (exposed && Some(of_origin) == host) {
        return None;
    }
    Some(Note::new("R-HTTP-02", format!("Origin `{origin}` is not loopback: refused")))
}

/// Whether `HOST` or `HOST:PORT` names this machine.
fn is_loopback(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(host: &str, origin: Option<&str>, exposed: bool) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        refuse(&headers, exposed).is_some()
    }

    #[test]
    fn loopback_is_let_in_and_nothing_else() {
        for host in ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:9", "127.9.9.9"] {
            assert!(!refused(host, None, false), "{host}");
            let origin = format!("http://{host}");
            assert!(!refused(host, Some(&origin), false), "{host}");
        }
        for host in ["example.org", "10.0.0.1:80", "localhost.example.org", "[::2]", ""] {
            assert!(refused(host, None, false), "{host}");
        }
        for origin in ["http://example.org", "null", "http://127.0.0.1.example.org", "file://"] {
            assert!(refused("127.0.0.1", Some(origin), false), "{origin}");
        }
    }

    #[test]
    fn an_exposed_canary_takes_any_host_but_no_foreign_origin() {
        assert!(!refused("canary:8080", None, true));
        assert!(!refused("canary:8080", Some("http://canary:8080"), true));
        assert!(refused("canary:8080", Some("http://example.org"), true));
    }
}
