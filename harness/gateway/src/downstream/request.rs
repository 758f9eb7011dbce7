//! What a client asks for: its revision, its headers, its params.

use birdstrike_wire::headers::{
    Found, MCP_PARAM_PREFIX, MCP_PROTOCOL_VERSION, Mirrored, check_mirror, name_param,
};
use birdstrike_wire::meta::{CLIENT_CAPABILITIES, PROTOCOL_VERSION, SERVER_INFO, TASKS_EXTENSION};
use birdstrike_wire::{Envelope, Era, Revision, codes, json};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::aside::Aside;
use crate::client::Client;
use crate::routes::Reply;
use crate::sessions::Session;
use crate::surfaces::transport::door::Steps;
use crate::trace::Trace;

/// The newest revision with a handshake: what a client with unknown wishes is offered.
const NEWEST_HANDSHAKE: Revision = Revision::V2025_11_25;

/// A request that may be served.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) client: Client,
    pub(super) method: String,
    /// The params, a raw object; `{}` for none.
    pub(super) params: String,
}

/// Why a request is not served.
#[derive(Debug)]
pub(super) struct Refused {
    code: i64,
    message: String,
    data: Option<String>,
}

impl Refused {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// All of these are answered with 400.
    pub(super) fn reply(self, id: &str, steps: &Steps) -> Reply {
        let Self { code, message, data } = self;
        let code = (steps.code)(code);
        let reply = Reply::error(Revision::NEWEST, Some(id), code, &message, data.as_deref());
        Reply { status: 400, ..reply }
    }
}

impl Asked {
    /// Reads a request. One with a version in its `_meta`, or with the header of 2026-07-28, is
    /// stateless; any other belongs to a handshake revision, told by its header (R-HTTP-12 without
    /// one: the oldest that is spoken here).
    pub(super) fn read(
        message: &Envelope<'_>,
        headers: &HeaderMap,
        aside: &Aside,
        steps: &Steps,
    ) -> Result<Self, Refused> {
        let method = message.method().unwrap_or_default().into_owned();
        if !message.id().is_none_or(steps.takes_id) {
            return Err(Refused::new(codes::INVALID_REQUEST, "`id` is of no kind that is taken"));
        }
        let params = message.params().unwrap_or("{}");
        if json::kind(params) != "an object" {
            return Err(Refused::new(codes::INVALID_PARAMS, "`params` is no object"));
        }
        let meta = json::get(params, "_meta");
        let version = meta.and_then(|meta| json::get_string(meta, PROTOCOL_VERSION));
        let header = headers.get(MCP_PROTOCOL_VERSION).and_then(|value| value.to_str().ok());
        let stateless = version.is_some() || header == Some(Revision::NEWEST.as_str());
        let revision = match header {
            _ if method == "initialize" => NEWEST_HANDSHAKE,
            _ if stateless => {
                stateless_revision(&method, params, version.as_deref(), headers, steps)?
            }
            header => handshake_revision(header, aside.session.as_deref(), steps)?,
        };
        if revision.era() == Era::Stateless
            && steps.needs_capabilities
            && !meta.is_some_and(|meta| {
                json::get(meta, CLIENT_CAPABILITIES).is_some_and(|c| json::kind(c) == "an object")
            })
        {
            let message = format!("`_meta` lacks `{CLIENT_CAPABILITIES}`, an object");
            return Err(Refused::new(codes::INVALID_PARAMS, message));
        }
        let mut client = Client::new(revision, meta, param_headers(headers));
        client.trace = Trace::of(meta, headers);
        let log_level = match &aside.session {
            Some(session) => session.log_level(),
            None => client.aside.log_level,
        };
        let id = message.id().unwrap_or("null").to_owned();
        client.aside = Aside { id, token: client.aside.token, log_level, ..aside.clone() };
        Ok(Self { client, method, params: params.to_owned() })
    }
}

/// The revision of any other request: that of its header (R-HTTP-13), which in a session is the one
/// that was agreed on, or of its session, or the oldest that is spoken here (R-HTTP-12).
pub(super) fn handshake_revision(
    header: Option<&str>,
    session: Option<&Session>,
    steps: &Steps,
) -> Result<Revision, Refused> {
    let refused = |why: String| Refused::new(codes::INVALID_REQUEST, why);
    let unnamed = session.map_or(Revision::V2025_06_18, |session| session.revision);
    let Some(header) = header else {
        let missing = || refused(format!("{MCP_PROTOCOL_VERSION} is missing"));
        return if steps.needs_version { Err(missing()) } else { Ok(unnamed) };
    };
    let revision = match header.parse::<Revision>() {
        Ok(revision) => revision,
        Err(_) if (steps.speaks)(false) => unnamed,
        Err(error) => return Err(refused(format!("{MCP_PROTOCOL_VERSION}: {error}"))),
    };
    match session {
        Some(session) if session.revision != revision => Err(refused(format!(
            "{MCP_PROTOCOL_VERSION}: {revision}, and the session agreed on {}",
            session.revision
        ))),
        _ => Ok(revision),
    }
}

/// What of a client's capabilities at `initialize` an upstream may use, as a raw object.
pub(super) fn answerable(params: &str) -> String {
    let capabilities = json::get(params, "capabilities").unwrap_or("{}");
    let kept = ["elicitation", "roots", "sampling"].map(|name| {
        let value = json::get(capabilities, name).filter(|value| json::kind(value) == "an object");
        value.map(|value| format!("\"{name}\":{value}"))
    });
    format!("{{{}}}", kept.into_iter().flatten().collect::<Vec<_>>().join(","))
}

/// The revision of a stateless request whose headers and body agree (R-HTTP-14, R-HTTP-15,
/// R-ERR-15, R-ERR-18).
fn stateless_revision(
    method: &str,
    params: &str,
    version: Option<&str>,
    headers: &HeaderMap,
    steps: &Steps,
) -> Result<Revision, Refused> {
    let name = name_param(method).and_then(|member| json::get_string(params, member));
    let mirrored = Mirrored { version, method, name: name.as_deref() };
    let find = |name: &str| Found::of(headers.get_all(name).iter().map(HeaderValue::as_bytes));
    let unlike = check_mirror(find, &mirrored).err();
    if (steps.refuses_headers)(unlike.is_none(), is_coded(headers)) {
        let why = unlike.map_or("a header is coded".to_owned(), |mismatch| mismatch.to_string());
        return Err(Refused::new(codes::HEADER_MISMATCH, why));
    }
    let version = version.ok_or_else(|| {
        Refused::new(codes::INVALID_PARAMS, format!("`_meta` lacks `{PROTOCOL_VERSION}`"))
    })?;
    match version.parse::<Revision>() {
        Ok(revision) if revision.era() == Era::Stateless => Ok(revision),
        _ if (steps.speaks)(false) => Ok(Revision::NEWEST),
        _ => Err(Refused {
            code: codes::UNSUPPORTED_VERSION,
            message: "unsupported protocol version".into(),
            data: Some(format!(
                "{{\"supported\":[\"{}\"],\"requested\":{}}}",
                Revision::NEWEST,
                json::quote(version)
            )),
        }),
    }
}

/// Whether any header holds what a header cannot say as it is (R-HTTP-17).
pub(super) fn is_coded(headers: &HeaderMap) -> bool {
    headers.values().any(|value| value.as_bytes().starts_with(b"=?base64?"))
}

fn param_headers(headers: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
    let prefix = MCP_PARAM_PREFIX.to_ascii_lowercase();
    let is_param = |name: &HeaderName| name.as_str().starts_with(&prefix);
    let params = headers.iter().filter(|(name, _)| is_param(name));
    params.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// What a handshake agrees on: the client's own revision if it has a handshake and is known here,
/// else the newest that has one.
pub(super) fn agreed(params: &str) -> Revision {
    let asked = json::get_string(params, "protocolVersion").unwrap_or_default();
    match asked.parse::<Revision>() {
        Ok(revision) if revision.era() == Era::Handshake => revision,
        _ => NEWEST_HANDSHAKE,
    }
}

/// The result of `initialize`. `served` are the members of its capabilities.
pub(super) fn initialize(revision: Revision, me: &str, tasks: bool, served: &str) -> String {
    // Without `list`: nothing is kept of whose tasks are whose (R-TASK1-18).
    let tasks = match revision {
        Revision::V2025_11_25 if tasks => {
            ",\"tasks\":{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}"
        }
        _ => "",
    };
    format!(
        "{{\"protocolVersion\":\"{revision}\",\"capabilities\":{{{served}{tasks}}},\
         \"serverInfo\":{me}}}"
    )
}

/// The result of `server/discover`.
pub(super) fn discover(me: &str, tasks: bool, served: &str) -> String {
    let extensions = if tasks {
        format!(",\"extensions\":{{\"{TASKS_EXTENSION}\":{{}}}}")
    } else {
        String::new()
    };
    format!(
        "{{\"resultType\":\"complete\",\"supportedVersions\":[\"{}\"],\
         \"capabilities\":{{{served}{extensions}}},\
         \"ttlMs\":0,\"cacheScope\":\"private\",\"_meta\":{{\"{SERVER_INFO}\":{me}}}}}",
        Revision::NEWEST
    )
}

/// The params of `tools/call`, `prompts/get` or `resources/read`.
#[derive(Debug)]
pub(super) struct CallParams<'a> {
    /// The tool's or prompt's name, or the resource's URI.
    pub(super) name: String,
    /// The arguments as they are written; empty if there are none.
    pub(super) arguments: &'a str,
    /// The other members, raw, joined by commas: without `_meta`, which is written anew, and without
    /// `task`, which not every upstream is told (R-TASK1-05).
    pub(super) others: String,
    /// `task`, by which a call of 2025-11-25 asks for one.
    pub(super) task: Option<&'a str>,
}

impl<'a> CallParams<'a> {
    /// `key` is the member that names what is wanted.
    ///
    /// # Errors
    /// What is wrong, in words (R-ERR-04: only what is no call at all).
    pub(super) fn read(params: &'a str, key: &str) -> Result<Self, String> {
        let members = json::members(params).map_err(|error| error.to_string())?;
        let get = |name: &str| members.iter().rfind(|member| member.is(name)).map(|m| m.value);
        let name = get(key).and_then(|name| serde_json::from_str(name).ok());
        let name = name.ok_or_else(|| format!("`params.{key}` is no string"))?;
        let arguments = get("arguments").unwrap_or_default();
        if !arguments.is_empty() && json::kind(arguments) != "an object" {
            return Err(format!("`params.arguments` is {}, not an object", json::kind(arguments)));
        }
        let ours = [key, "arguments", "_meta", "task"];
        let others: Vec<String> = members
            .iter()
            .filter(|member| !ours.iter().any(|name| member.is(name)))
            .map(|member| format!("{}:{}", member.raw_key, member.value))
            .collect();
        Ok(Self { name, arguments, others: others.join(","), task: get("task") })
    }
}

#[cfg(test)]
mod tests;
