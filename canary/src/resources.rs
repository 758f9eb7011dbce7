//! Resources: listed, read, and each read found again by its nonce (R-RES-01, R-ERR-19, R-ERR-20).
//!
//! The nonce of a read is the value of the query parameter `nonce` of its URI, as it is written: what
//! follows `?nonce=` or `&nonce=` up to the next `&`, the `#`, or the end. The resource that is read
//! is the one of exactly this URI, or else the one of the URI without that parameter. So one resource
//! can be read under any number of nonces, and a gateway that rewrites the front of a URI and leaves
//! its end alone keeps them. A plan made for the nonce answers the read in place of the contents;
//! hence the nonce in a link is another than that of the call that hands the link out.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use birdstrike_wire::envelope::error_object;
use birdstrike_wire::{Era, Revision, codes, json};

use crate::dispatch::{Desk, Reply, invalid};
use crate::lifecycle;
use crate::request::Request;

/// A resource as it is listed, and what a read of it gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSpec {
    /// The URI that a read is routed by.
    pub uri: String,
    /// The `Resource` object as it stands in `resources/list`: JSON text, kept byte for byte and not
    /// checked. Empty leaves the resource out of the listing: it can be read all the same, as what a
    /// link points to need not be listed.
    pub definition: String,
    /// What it holds.
    pub contents: Contents,
}

/// What a resource holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// The `contents` array as it stands in the result: JSON text, kept byte for byte.
    Raw(String),
    /// One text.
    Text {
        /// Its MIME type.
        mime: String,
        /// The text.
        text: String,
    },
    /// One blob, sent in base64 (R-RES-02).
    Blob {
        /// Its MIME type.
        mime: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

impl ResourceSpec {
    /// A listed resource whose name is the last segment of its URI's path.
    pub fn new(uri: impl Into<String>, contents: Contents) -> Self {
        let uri = uri.into();
        let end = uri.find(['?', '#']).unwrap_or(uri.len());
        let name = uri[..end].trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let mime = match &contents {
            Contents::Raw(_) => String::new(),
            Contents::Text { mime, .. } | Contents::Blob { mime, .. } => {
                format!(",\"mimeType\":{}", json::quote(mime))
            }
        };
        let definition =
            format!("{{\"uri\":{},\"name\":{}{mime}}}", json::quote(&uri), json::quote(name));
        Self { uri, definition, contents }
    }

    /// A listed resource of plain text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(uri, Contents::Text { mime: "text/plain".to_owned(), text: text.into() })
    }

    /// A listed resource of bytes.
    pub fn blob(uri: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        let mime = "application/octet-stream".to_owned();
        Self::new(uri, Contents::Blob { mime, bytes: bytes.into() })
    }

    /// The `contents` array of a read under this URI, which may carry a nonce that the resource's
    /// own URI lacks: contents name what was asked for.
    fn read_as(&self, uri: &str) -> String {
        let (mime, key, value) = match &self.contents {
            Contents::Raw(array) => return array.clone(),
            Contents::Text { mime, text } => (mime, "text", json::quote(text)),
            Contents::Blob { mime, bytes } => {
                (mime, "blob", format!("\"{}\"", STANDARD.encode(bytes)))
            }
        };
        let (uri, mime) = (json::quote(uri), json::quote(mime));
        format!("[{{\"uri\":{uri},\"mimeType\":{mime},\"{key}\":{value}}}]")
    }
}

/// The resources of one upstream.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    all: Vec<ResourceSpec>,
    /// `ResourceTemplate` objects.
    templates: Vec<String>,
}

impl Resources {
    pub(crate) fn new(all: Vec<ResourceSpec>, templates: Vec<String>) -> Self {
        Self { all, templates }
    }

    /// Whether there is anything to declare the capability for.
    pub(crate) fn any(&self) -> bool {
        !(self.all.is_empty() && self.templates.is_empty())
    }

    fn listing(&self) -> String {
        let listed = self.all.iter().map(|resource| resource.definition.as_str());
        let listed: Vec<&str> = listed.filter(|definition| !definition.is_empty()).collect();
        format!("[{}]", listed.join(","))
    }

    fn find(&self, uri: &str) -> Option<&ResourceSpec> {
        let of = |uri: &str| self.all.iter().find(|resource| resource.uri == uri);
        of(uri).or_else(|| of(&without_nonce(uri)?))
    }
}

/// The place of the nonce parameter in a URI: where its separator stands, and its value.
fn nonce_at(uri: &str) -> Option<(usize, &str)> {
    const NAME: &str = "nonce=";
    let end = uri.find('#').unwrap_or(uri.len());
    let query = uri[..end].find('?')?;
    let mut at = query;
    for parameter in uri[query + 1..end].split('&') {
        if let Some(value) = parameter.strip_prefix(NAME) {
            return Some((at, value));
        }
        at += 1 + parameter.len();
    }
    None
}

/// The nonce that a URI carries.
pub(crate) fn nonce_of(uri: &str) -> Option<&str> {
    nonce_at(uri).map(|(_, nonce)| nonce).filter(|nonce| !nonce.is_empty())
}

/// The URI without its nonce parameter; none if it has none.
fn without_nonce(uri: &str) -> Option<String> {
    let (at, nonce) = nonce_at(uri)?;
    let (before, after) = (&uri[..at], &uri[at + 1 + "nonce=".len() + nonce.len()..]);
    // The first parameter hands its question mark on to the next.
    let follows = after.strip_prefix('&').filter(|_| uri.as_bytes()[at] == b'?');
    Some(follows.map_or_else(|| format!("{before}{after}"), |rest| format!("{before}?{rest}")))
}

impl Desk<'_> {
    /// `resources/list` and `resources/templates/list`, all on one page.
    pub(crate) fn list_resources(&self, request: &Request<'_>, revision: Revision) -> Reply {
        if !request.is_first_page() {
            return invalid(request, revision, "unknown cursor");
        }
        let resources = &self.upstream.resources;
        let (member, array) = if request.method == "resources/list" {
            ("resources", resources.listing())
        } else {
            ("resourceTemplates", format!("[{}]", resources.templates.join(",")))
        };
        self.listed(request, revision, member, &array, None)
    }

    /// `resources/read`: by plan, or the contents of the resource.
    pub(crate) fn read_resource(&self, request: &Request<'_>, revision: Revision) -> Reply {
        let Some(uri) = request.uri.as_deref() else {
            return invalid(request, revision, "`uri` is missing or no string");
        };
        let from_spec = || match self.upstream.resources.find(uri) {
            Some(resource) => {
                self.listed(request, revision, "contents", &resource.read_as(uri), None)
            }
            None => not_found(request, revision, uri),
        };
        self.planned(request, revision, from_spec)
    }
}

/// The error for a URI that nobody has: each era has a code of its own (R-ERR-19).
fn not_found(request: &Request<'_>, revision: Revision, uri: &str) -> Reply {
    let code = match revision.era() {
        Era::Handshake => lifecycle::RESOURCE_NOT_FOUND,
        Era::Stateless => codes::INVALID_PARAMS,
    };
    let data = format!("{{\"uri\":{}}}", json::quote(uri));
    let error = error_object(code, "Resource not found", Some(&data));
    Reply::error(Some(request.id), &error, codes::http_status(revision, code))
}

/// The URI that a message reads, for the journal.
pub(crate) fn uri_of<'r>(request: &'r Request<'_>) -> Option<&'r Cow<'r, str>> {
    request.uri.as_ref().filter(|_| request.method == "resources/read")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_stands_in_the_query_and_nowhere_else() {
        for (uri, nonce, without) in [
            ("a:b?nonce=n", Some("n"), Some("a:b")),
            ("a:b?nonce=n#f", Some("n"), Some("a:b#f")),
            ("a:b?nonce=n&x=1#f", Some("n"), Some("a:b?x=1#f")),
            ("a:b?x=1&nonce=n-1&y", Some("n-1"), Some("a:b?x=1&y")),
            ("a:b?x=1&nonce=n", Some("n"), Some("a:b?x=1")),
            ("a:b?nonce=", None, Some("a:b")),
            ("a:b?announce=1", None, None),
            ("a:b#?nonce=n", None, None),
            ("a:nonce=n", None, None),
            ("é?é&nonce=é", Some("é"), Some("é?é")),
        ] {
            assert_eq!(nonce_of(uri), nonce, "{uri}");
            assert_eq!(without_nonce(uri).as_deref(), without, "{uri}");
        }
    }

    #[test]
    fn the_exact_uri_comes_first() {
        let all = vec![ResourceSpec::text("a:b", "1"), ResourceSpec::text("a:b?nonce=n", "2")];
        let resources = Resources::new(all, Vec::new());
        let read = |uri| resources.find(uri).map(|found| found.read_as(uri));
        assert!(read("a:b?nonce=n").is_some_and(|c| c.contains("\"2\"")));
        assert!(read("a:b?nonce=m").is_some_and(|c| c.contains("\"uri\":\"a:b?nonce=m\"")));
        assert_eq!(read("a:c?nonce=m"), None);
    }

    #[test]
    fn a_definition_is_made_of_the_uri() {
        let blob = ResourceSpec::blob("ui://canary/p/x.bin?a#b", [0xff]);
        let made = r#"{"uri":"ui://canary/p/x.bin?a#b","name":"x.bin","mimeType":"application/octet-stream"}"#;
        assert_eq!(blob.definition, made);
        assert!(blob.read_as("x").contains("\"blob\":\"/w==\""));
    }
}
