//! Rule breaks that the canary sees on its leg. It serves the request all the same, unless the
//! note says otherwise: being strict is a scenario's choice.

use std::borrow::Cow;

use birdstrike_wire::headers::{
    Found, MCP_PROTOCOL_VERSION, MCP_SESSION_ID, Mirrored, Mismatch, mirror_mismatches, name_param,
    param_mismatches,
};
use birdstrike_wire::{Era, Revision, json, meta};
use http::{HeaderMap, HeaderValue};

use crate::request::Request;
use crate::upstream::Upstream;

/// One rule that a request broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The requirement's id, as in `R-HTTP-14`.
    pub requirement: &'static str,
    /// What was seen, in plain words.
    pub seen: String,
}

impl Note {
    pub(crate) fn new(requirement: &'static str, seen: impl Into<String>) -> Self {
        let seen = seen.into();
        Self { requirement, seen }
    }
}

/// What is wrong with the message of a request or notification in this revision.
pub(crate) fn on_message(request: &Request<'_>, revision: Revision, notes: &mut Vec<Note>) {
    let asks_for_task = request.params.is_some_and(|params| json::get(params, "task").is_some());
    if revision == Revision::V2025_06_18 && request.method == "tools/call" && asks_for_task {
        let seen = "a task is asked of a server that has none";
        notes.push(Note::new("R-TASK1-02", seen));
    }
    if revision.era() == Era::Handshake {
        return;
    }
    for (key, requirement) in [
        (meta::PROTOCOL_VERSION, "R-BASE-13"),
        (meta::CLIENT_CAPABILITIES, "R-BASE-13"),
        (meta::CLIENT_INFO, "R-BASE-14"),
    ] {
        if !request.meta.iter().any(|member| member.is(key)) {
            notes.push(Note::new(requirement, format!("_meta lacks `{key}`")));
        }
    }
}

/// What is wrong with the headers of a request or notification in this revision.
pub(crate) fn on_headers(
    upstream: &Upstream,
    request: &Request<'_>,
    revision: Revision,
    headers: &HeaderMap,
    notes: &mut Vec<Note>,
) {
    match revision.era() {
        Era::Stateless => on_mirrored(upstream, request, headers, notes),
        Era::Handshake if request.method == "initialize" => {}
        Era::Handshake => {
            if !headers.contains_key(MCP_PROTOCOL_VERSION) {
                notes.push(Note::new("R-HTTP-11", "MCP-Protocol-Version is missing"));
            }
            if upstream.sessions.is_some() && !headers.contains_key(MCP_SESSION_ID) {
                notes.push(Note::new("R-HTTP-28", "Mcp-Session-Id is missing"));
            }
        }
    }
}

fn on_mirrored(
    upstream: &Upstream,
    request: &Request<'_>,
    headers: &HeaderMap,
    notes: &mut Vec<Note>,
) {
    let find = |name: &str| Found::of(headers.get_all(name).iter().map(HeaderValue::as_bytes));
    let name = match name_param(&request.method) {
        Some("name") => request.name.as_deref().map(Cow::Borrowed),
        Some(other) => {
            let name = request.params.and_then(|p| json::get_string(p, other));
            name.map(Cow::Owned)
        }
        None => None,
    };
    let body = Mirrored {
        version: request.meta_version.as_deref(),
        method: &request.method,
        name: name.as_deref(),
    };
    let mut note = |mismatch: Mismatch| {
        let (Mismatch::Missing { header }
        | Mismatch::Repeated { header }
        | Mismatch::Malformed { header, .. }
        | Mismatch::Differs { header, .. }
        | Mismatch::Unbacked { header, .. }) = &mismatch;
        let version = header == MCP_PROTOCOL_VERSION;
        let requirement = if version { "R-HTTP-14" } else { "R-HTTP-17" };
        notes.push(Note::new(requirement, mismatch.to_string()));
    };
    mirror_mismatches(find, &body).into_iter().for_each(&mut note);
    let tool = name.as_deref().and_then(|name| upstream.tool(name));
    let annotations = tool.as_ref().map_or(&[][..], |tool| &tool.mirrored);
    if !annotations.is_empty() {
        let arguments = request.arguments.unwrap_or("{}");
        param_mismatches(find, annotations, arguments).into_iter().for_each(note);
    }
}

/// What is wrong with any POST, whatever it carries (R-HTTP-04).
pub(crate) fn on_post(headers: &HeaderMap, notes: &mut Vec<Note>) {
    let accept = headers.get_all(http::header::ACCEPT);
    let accepts = |wanted: &str| {
        let values = accept.iter().filter_map(|value| value.to_str().ok());
        values
            .flat_map(|value| value.split(','))
            .filter_map(|range| range.split(';').next())
            .any(|range| range.trim().eq_ignore_ascii_case(wanted))
    };
    for wanted in ["application/json", "text/event-stream"] {
        if !accepts(wanted) {
            notes.push(Note::new("R-HTTP-04", format!("Accept does not list {wanted}")));
        }
    }
    let content = headers.get(http::header::CONTENT_TYPE);
    let content = content.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        notes.push(Note::new("R-HTTP-04", format!("Content-Type is `{content}`")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Incoming, read};
    use crate::upstream::tests::upstream;

    fn seen(
        revision: Revision,
        meta: &str,
        headers: &[(&str, &str)],
    ) -> Vec<(&'static str, String)> {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"region":"é"}}{meta}}}}}"#
        );
        let Incoming::Request(request) = read(text.as_bytes(), &mut Vec::new()) else {
            panic!("no request")
        };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: http::HeaderName = name.parse().unwrap();
            map.append(name, value.parse().unwrap());
        }
        let mut notes = Vec::new();
        let upstream = upstream(&Revision::ALL);
        on_message(&request, revision, &mut notes);
        on_headers(&upstream, &request, revision, &map, &mut notes);
        on_post(&map, &mut notes);
        notes.into_iter().map(|n| (n.requirement, n.seen)).collect()
    }

    const META: &str = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{}}"#;
    const POST: [(&str, &str); 2] = [
        ("accept", "application/json;q=1, text/event-stream"),
        ("content-type", "application/json; charset=utf-8"),
    ];

    #[test]
    fn a_faultless_request_has_no_notes() {
        let mirrored = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "echo"),
            ("mcp-param-region", "=?base64?w6k=?="),
        ];
        let headers: Vec<_> = POST.into_iter().chain(mirrored).collect();
        assert_eq!(seen(Revision::V2026_07_28, META, &headers), []);
        let old = [("mcp-protocol-version", "2025-06-18")];
        let headers: Vec<_> = POST.into_iter().chain(old).collect();
        assert_eq!(seen(Revision::V2025_06_18, "", &headers), []);
    }

    #[test]
    fn what_is_missing_is_noted_with_its_rule() {
        let new = seen(Revision::V2026_07_28, "", &[("mcp-name", "other")]);
        let rules: Vec<_> = new.iter().map(|(rule, _)| *rule).collect();
        let wanted = [
            "R-BASE-13",
            "R-BASE-13",
            "R-BASE-14",
            "R-HTTP-14",
            "R-HTTP-17",
            "R-HTTP-17",
            "R-HTTP-17",
            "R-HTTP-04",
            "R-HTTP-04",
            "R-HTTP-04",
        ];
        assert_eq!(rules, wanted, "{new:?}");
        let old = seen(Revision::V2025_11_25, "", &POST);
        assert_eq!(old.iter().map(|(rule, _)| *rule).collect::<Vec<_>>(), ["R-HTTP-11"]);
    }
}
