//! In which revision a request is served, and the methods that open a conversation.

use birdstrike_wire::envelope::error_object;
use birdstrike_wire::{Era, Revision, codes, json, meta};

use crate::request::Request;
use crate::upstream::Upstream;

/// Whether a request can be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decided {
    /// In this revision.
    Serve(Revision),
    /// Not in the one that it asks for.
    Unsupported(String),
}

/// Decides by the message first, which is the source of truth (R-TRANS-01), then by the
/// header, then by what the conversation agreed on.
pub(crate) fn decide(
    upstream: &Upstream,
    request: &Request<'_>,
    version: Option<&str>,
    agreed: Option<Revision>,
) -> Decided {
    if let Some(asked) = &request.meta_version {
        return named(upstream, asked);
    }
    if request.method == "initialize" {
        return Decided::Serve(handshake(upstream, request));
    }
    match (version, agreed) {
        (Some(asked), _) => named(upstream, asked),
        (None, Some(agreed)) => Decided::Serve(agreed),
        (None, None) => Decided::Serve(upstream.guess()),
    }
}

fn named(upstream: &Upstream, asked: &str) -> Decided {
    match asked.parse() {
        Ok(revision) if upstream.speaks(revision) => Decided::Serve(revision),
        _ => Decided::Unsupported(asked.to_owned()),
    }
}

/// What a handshake agrees on: what the client asks for, or else the newest revision with a
/// handshake. An upstream without any is in its own revision, in which there is no such method.
fn handshake(upstream: &Upstream, request: &Request<'_>) -> Revision {
    let asked = request.params.and_then(|p| json::get_string(p, "protocolVersion"));
    let asked = asked.and_then(|asked| asked.parse::<Revision>().ok());
    asked
        .filter(|r| r.era() == Era::Handshake && upstream.speaks(*r))
        .or_else(|| upstream.newest(Era::Handshake))
        .unwrap_or(Revision::NEWEST)
}

/// The error for a revision that the upstream does not speak, and the HTTP status (R-HTTP-13,
/// R-ERR-18).
///
/// A server that knows only handshakes has never heard of -32022: it refuses as it would refuse
/// anything unknown, and a client that probes for the newer era falls back.
pub(crate) fn unsupported(upstream: &Upstream, method: &str, asked: &str) -> (String, u16) {
    let supported = upstream.supported();
    let error = if upstream.newest(Era::Stateless).is_some() {
        let data = format!("{{\"supported\":{supported},\"requested\":{}}}", json::quote(asked));
        error_object(codes::UNSUPPORTED_VERSION, "Unsupported protocol version", Some(&data))
    } else if method == "server/discover" {
        unknown_method(method)
    } else {
        let message =
            format!("Unsupported protocol version: {asked}; this server speaks {supported}");
        error_object(codes::INVALID_REQUEST, &message, None)
    };
    (error, 400)
}

/// The error for a method that the revision or the upstream does not have.
pub(crate) fn unknown_method(method: &str) -> String {
    error_object(codes::METHOD_NOT_FOUND, &format!("Method not found: {method}"), None)
}

/// The code of handshake revisions for a resource that is not there; 2026-07-28 must not send it
/// (R-ERR-19).
pub(crate) const RESOURCE_NOT_FOUND: i64 = -32002;

/// The members of the capabilities object: tools always, the others where there is something.
fn capabilities(upstream: &Upstream, era: Era) -> String {
    // At 2026-07-28 changes are told to subscribers alone, and there are none to subscribe to here.
    let told = upstream.listeners.is_some() && era == Era::Handshake;
    let tools = if told { "\"listChanged\":true" } else { "" };
    let resources = if upstream.resources.any() { ",\"resources\":{}" } else { "" };
    let prompts = if upstream.prompts.is_empty() { "" } else { ",\"prompts\":{}" };
    format!("\"tools\":{{{tools}}}{resources}{prompts}")
}

/// The result of `initialize`. Tasks came with 2025-11-25 (R-TASK1-01).
pub(crate) fn initialized(upstream: &Upstream, revision: Revision, identity: &str) -> String {
    let tasks = match revision {
        Revision::V2025_11_25 => {
            ",\"tasks\":{\"list\":{},\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}"
        }
        _ => "",
    };
    format!(
        "{{\"protocolVersion\":\"{revision}\",\"capabilities\":{{{}{tasks}}},\
         \"serverInfo\":{identity}}}",
        capabilities(upstream, Era::Handshake)
    )
}

/// The result of `server/discover`. Both forms of tasks are answered by a tool alone, so the
/// extension is advertised (R-BASE-08).
pub(crate) fn discovered(upstream: &Upstream, identity: &str) -> String {
    format!(
        "{{\"resultType\":\"complete\",\"supportedVersions\":{},\"capabilities\":{{{},\
         \"extensions\":{{\"{}\":{{}}}}}},{CACHING},\"_meta\":{}}}",
        upstream.supported(),
        capabilities(upstream, Era::Stateless),
        meta::TASKS_EXTENSION,
        server_meta(identity)
    )
}

/// A result that clients may keep, made of these members: a listing or the contents of a resource.
pub(crate) fn kept(members: &str, revision: Revision, identity: &str) -> String {
    match revision.era() {
        Era::Handshake => format!("{{{members}}}"),
        Era::Stateless => format!(
            "{{\"resultType\":\"complete\",{members},{CACHING},\"_meta\":{}}}",
            server_meta(identity)
        ),
    }
}

/// What is listed stays as it is unless a scenario swaps it, and is the same for everybody
/// (R-CACHE-01).
const CACHING: &str = "\"ttlMs\":60000,\"cacheScope\":\"public\"";

/// The `_meta` of a result that says who answered (R-BASE-15).
pub(crate) fn server_meta(identity: &str) -> String {
    format!("{{\"{}\":{identity}}}", meta::SERVER_INFO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Incoming, read};
    use crate::upstream::tests::upstream;

    /// The version header, and what the handshake agreed on.
    type Client = (Option<&'static str>, Option<Revision>);

    const OLD: [Revision; 2] = [Revision::V2025_06_18, Revision::V2025_11_25];

    fn decided(revisions: &[Revision], text: &str, client: Client) -> Decided {
        let Incoming::Request(request) = read(text.as_bytes(), &mut Vec::new()) else {
            panic!("no request: {text}")
        };
        decide(&upstream(revisions), &request, client.0, client.1)
    }

    fn initialize(version: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{version}"}}}}"#
        )
    }

    const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    const BARE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

    #[test]
    fn a_handshake_agrees_on_what_both_speak() {
        let none = (None, None);
        let serve = Decided::Serve;
        assert_eq!(decided(&OLD, &initialize("2025-06-18"), none), serve(OLD[0]));
        assert_eq!(decided(&OLD, &initialize("2026-07-28"), none), serve(OLD[1]));
        assert_eq!(decided(&OLD, &initialize("1999"), none), serve(OLD[1]));
        let new = [Revision::V2026_07_28];
        assert_eq!(decided(&new, &initialize("2025-06-18"), none), serve(new[0]));
    }

    #[test]
    fn the_message_counts_before_the_header_and_the_conversation() {
        let client = (Some("2025-06-18"), Some(Revision::V2025_11_25));
        let all = Revision::ALL;
        assert_eq!(decided(&all, LIST, client), Decided::Serve(all[2]));
        assert_eq!(decided(&all, BARE, client), Decided::Serve(all[0]));
        let silent = (None, client.1);
        assert_eq!(decided(&all, BARE, silent), Decided::Serve(all[1]));
        assert_eq!(decided(&OLD, LIST, client), Decided::Unsupported("2026-07-28".into()));
    }

    #[test]
    fn each_era_refuses_in_its_own_words() {
        let new = upstream(&[Revision::V2026_07_28]);
        let (error, status) = unsupported(&new, "tools/list", "2025-06-18");
        assert!(error.contains("-32022") && error.contains(r#""requested":"2025-06-18""#));
        assert_eq!(status, 400);
        let old = upstream(&OLD);
        assert!(unsupported(&old, "server/discover", "2026-07-28").0.contains("-32601"));
        assert!(unsupported(&old, "tools/list", "2026-07-28").0.contains("-32600"));
    }
}
