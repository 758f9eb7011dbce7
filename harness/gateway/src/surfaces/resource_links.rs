//! Surface 7, `resource-links`: URIs that lead from a result to a resource of its upstream.
//!
//! A client reads them through this gateway, which therefore must know whose they are. Where there
//! are several upstreams a URI is handed out in the gateway's own [namespace](uri), and read back by
//! it. That happens only where the protocol says that a URI stands: a link, an embedded resource,
//! the contents of a read, a listing, the page that shows a result. What merely looks like a link, in a typed part, in `_meta`, in
//! a text, is the business of whoever wrote it (INV-7.3). Nothing but the URI changes.
//!
//! With identities, what was handed out to one is not read by another (INV-7.4), unless the
//! upstream lists it, as a listing is for everybody.

pub mod memory;
pub mod places;
pub mod template;
pub mod uri;

use std::borrow::Cow;
use std::ops::Range;

use birdstrike_wire::envelope::error_object;
use birdstrike_wire::{Revision, json};

use super::answer_reading::{Answer, Kind};
use super::truncation::Owner;
use crate::failure::{Cause, Failure};

pub use memory::{Handed, Memory};
pub use places::Source;

/// What one gateway knows of its links.
#[derive(Debug)]
pub struct Links {
    /// Whether URIs are handed out in the gateway's namespace.
    pub is_namespaced: bool,
    /// Whether callers are told apart. Without identities everybody is one, and what may be read is
    /// for the upstream alone to say.
    pub is_guarded: bool,
    /// What was handed out.
    pub memory: Memory,
}

/// Whose result it is, and who gets it.
#[derive(Clone, Copy, Debug)]
pub struct Way<'a> {
    /// The upstream's name.
    pub upstream: &'a str,
    /// To whom it is handed out.
    pub owner: &'a Owner,
}

/// A URI that was handed out, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken<'a> {
    /// The upstream's name.
    pub upstream: &'a str,
    /// The URI as the upstream knows it.
    pub uri: Cow<'a, str>,
}

/// The steps of this surface.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Whether links in an answer of this kind are handed out on this route.
    pub takes: fn(Kind, route: &str) -> bool,
    /// Where URIs stand in a result, as JSON strings with their quotes, in their order.
    pub places: fn(Source, result: &str) -> Vec<Range<usize>>,
    /// A URI of an upstream as it is handed out, both as JSON strings; `None` for one that stays.
    pub give: fn(spelled: &str, upstream: &str) -> Option<String>,
    /// The upstream and its own URI behind one that was handed out; `None` for any other.
    pub take: for<'a> fn(uri: &'a str, upstreams: &[&'a str]) -> Option<Taken<'a>>,
    /// Whether a caller may read, by what is known of the URI.
    pub may_read: fn(Handed, is_listed: bool) -> bool,
    /// The error object for a URI that leads nowhere, or not for this caller.
    pub missing: fn(Handed, uri: &str, client: Revision) -> String,
    /// The error object of an upstream that has no such resource.
    pub not_there: fn(error: String, client: Revision) -> String,
    /// A result in the place of the error of a read; mostly none.
    pub instead: fn(error: &str) -> Option<String>,
    /// What was read, or a prompt, as it is passed on.
    pub relayed: fn(result: String) -> String,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self {
        takes,
        places: places::places,
        give: uri::give,
        take: uri::take,
        may_read,
        missing,
        not_there,
        instead,
        relayed,
    };
}

/// Failures too, on every route but the facade, whose caller asked an upstream by name and gets what
/// that said.
pub fn takes(kind: Kind, route: &str) -> bool {
    kind != Kind::RpcError && route != "facade"
}

/// What the caller was handed out itself, and what everybody can see in a listing.
pub fn may_read(handed: Handed, is_listed: bool) -> bool {
    handed == Handed::ToCaller || is_listed
}

/// One answer for what does not exist and for what is another's (R-ERR-19, R-ERR-20).
pub fn missing(_: Handed, uri: &str, client: Revision) -> String {
    let data = format!("{{\"uri\":{}}}", json::quote(uri));
    error_object(Cause::UnknownResource.code(client), "Resource not found", Some(&data))
}

/// The code that the handshake revisions have for it is none at 2026-07-28 (R-ERR-19). The words are
/// the upstream's, and every other code is.
pub fn not_there(error: String, client: Revision) -> String {
    let old = Cause::UnknownResource.code(Revision::V2025_11_25).to_string();
    if !client.has_result_type() || json::get(&error, "code") != Some(&*old) {
        return error;
    }
    let code = Cause::UnknownResource.code(client).to_string();
    json::set(&error, "code", &code).unwrap_or(error)
}

/// None: an error is an error (R-ERR-20).
pub fn instead(_error: &str) -> Option<String> {
    None
}

/// Every byte.
pub fn relayed(result: String) -> String {
    result
}

/// Hands out the links of an ended call.
pub fn hand_out(
    ended: &mut Result<Answer, Failure>,
    source: Source,
    route: &str,
    way: &Way<'_>,
    links: &Links,
    steps: &Steps,
) {
    let Ok(answer) = ended else { return };
    if !(links.is_namespaced || links.is_guarded) || !(steps.takes)(answer.kind, route) {
        return;
    }
    if let Some(body) = handed_out(source, &answer.body, way, links, steps) {
        answer.body = body;
    }
}

/// A result with its links as they are handed out, which are remembered; `None` if it stays.
pub fn handed_out(
    source: Source,
    result: &str,
    way: &Way<'_>,
    links: &Links,
    steps: &Steps,
) -> Option<String> {
    let (mut text, mut copied) = (String::new(), 0);
    for place in (steps.places)(source, result) {
        let Some(spelled) = result.get(place.clone()) else { continue };
        let given = links.is_namespaced.then(|| (steps.give)(spelled, way.upstream)).flatten();
        if links.is_guarded {
            let uri = serde_json::from_str::<Cow<'_, str>>(given.as_deref().unwrap_or(spelled));
            if let Ok(uri) = uri {
                links.memory.keep(way.owner, &uri);
            }
        }
        let Some(given) = given else { continue };
        text.push_str(result.get(copied..place.start)?);
        text.push_str(&given);
        copied = place.end;
    }
    if copied == 0 {
        return None;
    }
    text.push_str(result.get(copied..)?);
    Some(text)
}

/// Whether an upstream shows this URI of its own to everybody: as a resource, or as what one of its
/// templates can become.
pub fn is_listed(uri: &str, resources: &[String], templates: &[String]) -> bool {
    let has = |definition: &String| json::get_string(definition, "uri").is_some_and(|u| u == uri);
    resources.iter().any(has)
        || templates.iter().any(|definition| {
            json::get_string(definition, "uriTemplate")
                .is_some_and(|template| template::is_expansion(&template, uri))
        })
}

#[cfg(test)]
mod tests;
