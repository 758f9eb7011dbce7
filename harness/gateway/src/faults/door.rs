//! Faults of the area `transport` where requests come in and go up.

use birdstrike_wire::headers::MCP_PROTOCOL_VERSION;
use birdstrike_wire::json;
use birdstrike_wire::meta::{CLIENT_INFO, PROTOCOL_VERSION};
use http::header::ACCEPT;
use http::{HeaderName, HeaderValue};

use super::text::doubles;
use super::{Fault, edit, without};
use crate::surfaces::transport::door as right;

const SURFACE: &str = "transport";

/// Headers of these names do not go up.
macro_rules! lacks_headers {
    ($is:expr) => {
        |steps| {
            steps.transport.door.headers = |mut headers| {
                let is: fn(&str) -> bool = $is;
                let names: Vec<HeaderName> =
                    headers.keys().filter(|name| is(name.as_str())).cloned().collect();
                for name in names {
                    headers.remove(name);
                }
                headers
            }
        }
    };
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "any-origin-served",
        surface: SURFACE,
        mistake: "A web page from elsewhere is answered like anybody.",
        apply: |steps| steps.transport.door.admits = |_, _| true,
    },
    Fault {
        name: "every-page-refused",
        surface: SURFACE,
        mistake: "Whatever names an origin is refused, this machine's own pages too.",
        apply: |steps| steps.transport.door.admits = |is_here, origin| is_here && !origin,
    },
    Fault {
        name: "string-ids-refused",
        surface: SURFACE,
        mistake: "An id is read as a number, and a string is an invalid request.",
        apply: |steps| steps.transport.door.takes_id = |id| !id.starts_with('"'),
    },
    Fault {
        name: "headers-not-compared",
        surface: SURFACE,
        mistake: "Headers that repeat the body are not read, whatever they say.",
        apply: |steps| steps.transport.door.refuses_headers = |_, _| false,
    },
    Fault {
        name: "coded-headers-refused",
        surface: SURFACE,
        mistake: "A header that is coded is compared as it stands, and is never like the body.",
        apply: |steps| steps.transport.door.refuses_headers = |agree, coded| coded || !agree,
    },
    Fault {
        name: "any-version-served",
        surface: SURFACE,
        mistake: "A revision that nobody knows is taken for the one that is spoken here.",
        apply: |steps| steps.transport.door.speaks = |_| true,
    },
    Fault {
        name: "version-demanded",
        surface: SURFACE,
        mistake: "A request without a version header is refused in every revision.",
        apply: |steps| steps.transport.door.needs_version = true,
    },
    Fault {
        name: "capabilities-not-demanded",
        surface: SURFACE,
        mistake: "A stateless request that does not tell its client's capabilities is served.",
        apply: |steps| steps.transport.door.needs_capabilities = false,
    },
    Fault {
        name: "refusals-with-codes-of-their-own",
        surface: SURFACE,
        mistake: "Refused requests get codes of the gateway's own, in the reserved range.",
        apply: |steps| steps.transport.door.code = |_| -32_050,
    },
    Fault {
        name: "notifications-answered",
        surface: SURFACE,
        mistake: "A notification is answered as a request is, with 200.",
        apply: |steps| steps.transport.door.accepted = 200,
    },
    Fault {
        name: "closed-connection-unheard",
        surface: SURFACE,
        mistake: "A client that closes its connection is not noticed, and its call goes on.",
        apply: |steps| steps.transport.door.leaving_cancels = |_| false,
    },
    Fault {
        name: "lost-connection-cancels",
        surface: SURFACE,
        mistake: "A lost connection cancels the call, also where it could still be fetched.",
        apply: |steps| steps.transport.door.leaving_cancels = |_| true,
    },
    Fault {
        name: "calls-to-the-first-upstream",
        surface: SURFACE,
        mistake: "The upstream in a tool's name is cut off, and the first upstream is called.",
        apply: |steps| {
            steps.transport.door.owner =
                |tool, upstreams| right::owner(tool, upstreams).map(|(_, name)| (0, name));
        },
    },
    Fault {
        name: "names-split-at-the-last-dot",
        surface: SURFACE,
        mistake: "The upstream in a tool's name ends at the last dot, though tools may have some.",
        apply: |steps| {
            steps.transport.door.owner = |tool, upstreams| {
                let Some((prefix, name)) = tool.rsplit_once('.').filter(|_| upstreams.len() > 1)
                else {
                    return right::owner(tool, upstreams);
                };
                upstreams.iter().position(|upstream| *upstream == prefix).map(|at| (at, name))
            };
        },
    },
    Fault {
        name: "listed-names-sent-up",
        surface: SURFACE,
        mistake: "The second upstream is asked for its tool by the name that clients have for it.",
        apply: |steps| {
            steps.transport.door.owner = |tool, upstreams| match right::owner(tool, upstreams) {
                Some((at, _)) if at > 0 => Some((at, tool)),
                found => found,
            };
        },
    },
    Fault {
        name: "names-trimmed",
        surface: SURFACE,
        mistake: "White space around a tool's name is taken away.",
        apply: |steps| {
            steps.transport.door.owner =
                |tool, upstreams| right::owner(tool, upstreams).map(|(at, name)| (at, name.trim()));
        },
    },
    Fault {
        name: "arguments-through-doubles",
        surface: SURFACE,
        mistake: "Arguments are decoded and encoded again, their numbers through doubles.",
        apply: |steps| steps.transport.door.arguments = doubles,
    },
    Fault {
        name: "coded-arguments-decoded",
        surface: SURFACE,
        mistake: "An argument that looks like a coded header is decoded for the upstream.",
        apply: |steps| {
            steps.transport.door.arguments =
                |arguments| arguments.replace("=?base64?QUJD?=", "ABC");
        },
    },
    Fault {
        name: "further-input-dropped",
        surface: SURFACE,
        mistake: "Of the params of a call only its name and arguments reach the upstream.",
        apply: |steps| steps.transport.door.others = |_| String::new(),
    },
    Fault {
        name: "requests-name-their-version-twice",
        surface: SURFACE,
        mistake: "Two layers of the gateway say which JSON-RPC it is, each in a member of its own.",
        apply: |steps| {
            steps.transport.door.request =
                |message| message.replacen('{', "{\"jsonrpc\":\"2.0\",", 1);
        },
    },
    Fault {
        name: "request-metadata-without-version",
        surface: SURFACE,
        mistake: "The revision goes up in a header alone.",
        apply: |steps| {
            steps.transport.door.request = |message| lacks_meta(message, PROTOCOL_VERSION);
        },
    },
    Fault {
        name: "gateway-unnamed",
        surface: SURFACE,
        mistake: "Upstreams are not told who asks.",
        apply: |steps| steps.transport.door.request = |message| lacks_meta(message, CLIENT_INFO),
    },
    Fault {
        name: "accepts-json-alone",
        surface: SURFACE,
        mistake: "Upstreams are told that an event stream cannot be read here.",
        apply: |steps| {
            steps.transport.door.headers = |mut headers| {
                headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
                headers
            };
        },
    },
    Fault {
        name: "version-not-sent-up",
        surface: SURFACE,
        mistake: "Requests go up without the header that names their revision.",
        apply: lacks_headers!(|name| name.eq_ignore_ascii_case(MCP_PROTOCOL_VERSION)),
    },
    Fault {
        name: "method-and-name-not-sent-up",
        surface: SURFACE,
        mistake: "Requests go up without the headers that repeat their method and name.",
        apply: lacks_headers!(|name| matches!(name, "mcp-method" | "mcp-name")),
    },
    Fault {
        name: "params-not-sent-up",
        surface: SURFACE,
        mistake: "Arguments that belong into headers too go up in the body alone.",
        apply: lacks_headers!(|name| name.starts_with("mcp-param-")),
    },
];

/// A request whose `_meta` lacks a member.
fn lacks_meta(message: String, name: &str) -> String {
    edit(message, |message| {
        let params = json::get(message, "params")?;
        let meta = without(json::get(params, "_meta")?.to_owned(), name);
        let params = json::set(params, "_meta", &meta).ok()?;
        json::set(message, "params", &params).ok()
    })
}
