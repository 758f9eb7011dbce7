//! Who may talk to a gateway on this machine (R-HTTP-01, R-HTTP-02).

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use http::header::{HOST, ORIGIN};

/// A web page from elsewhere is refused, and so is a request that reached a loopback address under
/// the name of another host: both are a browser being used against its owner.
///
/// # Errors
/// The reason, for a 403.
pub(super) fn check(headers: &HeaderMap, address: SocketAddr) -> Result<(), &'static str> {
    for origin in headers.get_all(ORIGIN) {
        let host = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|o| o.1);
        if !host.is_some_and(is_loopback) {
            return Err("the Origin is not this machine");
        }
    }
    let local = |host: &http::HeaderValue| host.to_str().is_ok_and(is_loopback);
    if address.ip().is_loopback() && !headers.get_all(HOST).iter().all(local) {
        return Err("the Host is not this machine");
    }
    Ok(())
}

/// Whether an authority (`host` or `host:port`) names this machine.
fn is_loopback(authority: &str) -> bool {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(header: http::HeaderName, value: &'static str) -> bool {
        let headers = HeaderMap::from_iter([(header, http::HeaderValue::from_static(value))]);
        check(&headers, SocketAddr::from(([127, 0, 0, 1], 1))).is_ok()
    }

    #[test]
    fn only_this_machine_may_ask() {
        for good in
            ["http://localhost", "http://127.0.0.1:8080", "https://[::1]:3", "http://LOCALHOST:1"]
        {
            assert!(checked(ORIGIN, good), "{good}");
        }
        for bad in [
            "http://example.org",
            "null",
            "",
            "http://localhost.example.org",
            "http://127.0.0.1.example.org:80",
        ] {
            assert!(!checked(ORIGIN, bad), "{bad}");
        }
        assert!(
            checked(HOST, "127.0.0.1:80")
                && checked(HOST, "[::1]:80")
                && checked(HOST, "localhost")
        );
        assert!(!checked(HOST, "example.org"));
        assert!(check(&HeaderMap::new(), SocketAddr::from(([127, 0, 0, 1], 1))).is_ok());
    }
}
