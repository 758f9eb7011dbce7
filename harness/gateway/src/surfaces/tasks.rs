//! Surface 8, `tasks`: a handle in place of a result, and what a client asks about it later.
//!
//! Nothing is kept. The id under which a client knows a task is sealed: it holds the upstream, the
//! tool and the upstream's own id, and a tag that nobody can make without the gateway's key and that
//! is good for one owner alone. So a follow-up finds its way by what it says, an id that was altered
//! or belongs to someone else opens nothing, and both are refused in the same words.
//!
//! A handle goes on as it came, in either form, with its `_meta` (INV-8.2); only the id is another, in
//! each place where it stands by the rules and nowhere else. One follow-up of a client is one request
//! to the upstream, whose word counts: nothing is answered from memory. A result that a follow-up
//! brings is [found](payload) and treated like the result of a call.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use birdstrike_wire::{Revision, codes, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::truncation::Owner;

/// The `_meta` key by which messages of 2025-11-25 name the task that they are about.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// The methods that are relayed. What the upstream's revision does not have of these the upstream
/// refuses itself. There is no `tasks/list`: a gateway that keeps nothing cannot tell whose task is
/// whose in an upstream's list (R-TASK1-17).
pub const METHODS: [&str; 4] = ["tasks/get", "tasks/result", "tasks/update", "tasks/cancel"];

/// Bytes of the tag in a sealed id.
const TAG_BYTES: usize = 16;

/// The block of SHA-256, for RFC 2104.
const BLOCK_BYTES: usize = 64;

/// What tags are made with.
#[derive(Clone)]
pub struct Key([u8; BLOCK_BYTES]);

impl Key {
    /// Of the words of the configuration, so that ids live on when the gateway is started anew; for
    /// this run alone without any.
    pub fn new(words: Option<&str>) -> Self {
        let words = words.map_or_else(
            || Cow::Owned([Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat()),
            |words| Cow::Borrowed(words.as_bytes()),
        );
        let mut key = [0; BLOCK_BYTES];
        let hash = Sha256::digest(&words);
        key.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
        Self(key)
    }

    /// HMAC-SHA-256, cut to the length of a tag (RFC 2104).
    fn tag(&self, parts: [&[u8]; 2]) -> [u8; TAG_BYTES] {
        let pad = |with: u8| self.0.map(|byte| byte ^ with);
        let inner = parts.iter().fold(Sha256::new_with_prefix(pad(0x36)), |hash, part| {
            hash.chain_update((part.len() as u64).to_be_bytes()).chain_update(part)
        });
        let outer = Sha256::new_with_prefix(pad(0x5c)).chain_update(inner.finalize()).finalize();
        let mut tag = [0; TAG_BYTES];
        tag.iter_mut().zip(outer).for_each(|(to, from)| *to = from);
        tag
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// What a sealed id stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The name of the upstream that has the task.
    pub upstream: String,
    /// The tool, as clients of this gateway call it.
    pub tool: String,
    /// The upstream's own id for the task.
    pub id: String,
}

/// Why an id opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unopened {
    /// This gateway never made such an id.
    Malformed,
    /// It was altered, was made with another key, or belongs to someone else.
    NotTheirs,
}

/// The two ids of a task.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The upstream's.
    pub own: &'a str,
    /// The client's.
    pub shown: &'a str,
}

/// A way from the outside of a result to a string.
pub type Path = &'static [&'static str];

/// The steps of this surface.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// What an upstream is told that the client can do, given what the client says (raw objects).
    pub told: fn(capabilities: &str) -> String,
    /// Whether `task` of a call goes on, given whether the upstream has tasks.
    pub asks: fn(offered: bool) -> bool,
    /// Whether a client of this revision may ask about tasks, given whether this very request
    /// declares the extension. The code and the words of the refusal, if not.
    pub may_follow: fn(Revision, declares: bool) -> Result<(), (i64, String)>,
    /// What a task is bound to.
    pub bound_to: fn(&Owner) -> Vec<u8>,
    /// The code and the words for an id that opens nothing.
    pub refusal: fn(Unopened) -> (i64, String),
    /// The upstream that a follow-up goes to, of the names of all.
    pub way: for<'a> fn(&'a Ticket, names: &[&'a str]) -> &'a str,
    /// What is answered without asking the upstream; the right gateway has nothing.
    pub own_answer: fn(method: &str) -> Option<String>,
    /// A handle on its way to the client, but for its id.
    pub handle: fn(result: String) -> String,
    /// Where the id of the task stands in the answer to a request of this method.
    pub places: fn(method: &str) -> &'static [Path],
    /// The answer with the client's id in these places.
    pub renamed: fn(body: String, places: &[Path], Names<'_>) -> String,
    /// The answer to a follow-up, but for its id.
    pub answer: fn(method: &str, body: String) -> String,
    /// Where in that answer the result of the call lies.
    pub payload: fn(method: &str, body: &str) -> Option<Range<usize>>,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self {
        told,
        asks,
        may_follow,
        bound_to,
        refusal,
        way,
        own_answer,
        handle,
        places,
        renamed,
        answer,
        payload,
    };
}

/// What it says, of this very request: nothing is added to it and nothing remembered (R-TASK2-01).
pub fn told(capabilities: &str) -> String {
    capabilities.to_owned()
}

/// Only where it does (R-TASK1-02).
pub fn asks(offered: bool) -> bool {
    offered
}

/// At 2026-07-28 only who declares the extension (R-TASK2-16); 2025-06-18 has no tasks.
pub fn may_follow(client: Revision, declares: bool) -> Result<(), (i64, String)> {
    match client {
        Revision::V2025_06_18 => {
            Err((codes::METHOD_NOT_FOUND, "revision 2025-06-18 has no tasks".into()))
        }
        Revision::V2026_07_28 if !declares => Err((
            codes::MISSING_CLIENT_CAPABILITY,
            format!("the request does not declare `{}`", birdstrike_wire::meta::TASKS_EXTENSION),
        )),
        _ => Ok(()),
    }
}

/// Its owner, whatever else is equal.
pub fn bound_to(owner: &Owner) -> Vec<u8> {
    owner.tag().to_vec()
}

/// One answer for all (R-TASK1-14, R-TASK2-15): nobody learns what belongs to others.
pub fn refusal(_: Unopened) -> (i64, String) {
    (codes::INVALID_PARAMS, "unknown task".into())
}

/// The one that made the task.
pub fn way<'a>(ticket: &'a Ticket, _: &[&'a str]) -> &'a str {
    &ticket.upstream
}

/// Nothing: only the upstream knows how a task is.
pub fn own_answer(_: &str) -> Option<String> {
    None
}

/// Nothing happens to it: names, `_meta` and what nobody knows stay.
pub fn handle(result: String) -> String {
    result
}

/// In a handle of either form, in an answer about a task, and in the `_meta` that names the task.
pub fn places(method: &str) -> &'static [Path] {
    const IN_META: Path = &["_meta", RELATED, "taskId"];
    match method {
        "tools/call" => &[&["taskId"], &["task", "taskId"], IN_META],
        // Besides its `_meta` all of it is the tool's.
        "tasks/result" => &[IN_META],
        _ => &[&["taskId"], IN_META, &["result", "_meta", RELATED, "taskId"]],
    }
}

/// Every other byte stays.
pub fn renamed(body: String, places: &[Path], names: Names<'_>) -> String {
    places.iter().fold(body, |body, place| renamed_at(&body, place, names).unwrap_or(body))
}

fn renamed_at(text: &str, path: &[&str], names: Names<'_>) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let members = json::members(text).ok()?;
    let member = members.iter().rfind(|member| member.is(first))?;
    let value = if rest.is_empty() {
        let own: String = serde_json::from_str(member.value).ok()?;
        (own == names.own).then(|| json::quote(names.shown))?
    } else {
        renamed_at(member.value, rest, names)?
    };
    Some(json::replace(text, &member.value_at, &value))
}

/// Nothing happens to it either.
pub fn answer(_: &str, body: String) -> String {
    body
}

/// The whole answer to `tasks/result`, and the member `result` of a completed task.
pub fn payload(method: &str, body: &str) -> Option<Range<usize>> {
    match method {
        "tasks/result" => Some(0..body.len()),
        "tasks/get" => {
            let members = json::members(body).ok()?;
            let result = members.iter().rfind(|member| member.is("result"))?;
            (json::kind(result.value) == "an object").then(|| result.value_at.clone())
        }
        _ => None,
    }
}

/// The id of the task in a handle, flat or nested.
pub fn id_of(handle: &str) -> Option<String> {
    let nested = json::get(handle, "task").and_then(|task| json::get_string(task, "taskId"));
    json::get_string(handle, "taskId").or(nested)
}

/// The id under which the owner knows a task.
pub fn seal(key: &Key, ticket: &Ticket, bound_to: &[u8]) -> String {
    let inside = [&*ticket.upstream, &*ticket.tool, &*ticket.id].join("\0");
    let tag = key.tag([bound_to, inside.as_bytes()]);
    URL_SAFE_NO_PAD.encode([&tag, inside.as_bytes()].concat())
}

/// What an id stands for, if it belongs to this owner.
///
/// # Errors
/// [`Unopened`].
pub fn open(key: &Key, sealed: &str, bound_to: &[u8]) -> Result<Ticket, Unopened> {
    let bytes = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| Unopened::Malformed)?;
    let (tag, inside) = bytes.split_at_checked(TAG_BYTES).ok_or(Unopened::Malformed)?;
    let text = std::str::from_utf8(inside).map_err(|_| Unopened::Malformed)?;
    let mut parts = text.splitn(3, '\0');
    let (Some(upstream), Some(tool), Some(id)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(Unopened::Malformed);
    };
    // In constant time, so that a tag cannot be found byte by byte.
    let wanted = key.tag([bound_to, inside]);
    if wanted.iter().zip(tag).fold(0, |differ, (a, b)| differ | (a ^ b)) != 0 {
        return Err(Unopened::NotTheirs);
    }
    Ok(Ticket { upstream: upstream.into(), tool: tool.into(), id: id.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket() -> Ticket {
        Ticket { upstream: "main".into(), tool: "t\u{e9}".into(), id: "task-\0é".into() }
    }

    #[test]
    fn a_sealed_id_opens_for_its_owner_alone() {
        let key = Key::new(Some("words"));
        let sealed = seal(&key, &ticket(), b"alice");
        assert_eq!(open(&key, &sealed, b"alice"), Ok(ticket()));
        assert_eq!(seal(&Key::new(Some("words")), &ticket(), b"alice"), sealed);
        for (key, owner) in [(&key, &b"bob"[..]), (&key, b""), (&Key::new(Some("other")), b"alice")]
        {
            assert_eq!(open(key, &sealed, owner), Err(Unopened::NotTheirs));
        }
        assert_eq!(open(&Key::new(None), &sealed, b"alice"), Err(Unopened::NotTheirs));
        for at in 0..sealed.len() {
            let other = if sealed.as_bytes()[at] == b'A' { "B" } else { "A" };
            let mut altered = sealed.clone();
            altered.replace_range(at..=at, other);
            assert!(open(&key, &altered, b"alice").is_err(), "{at}");
        }
        for malformed in ["", "task-1", "AAAA", "é", "AAAAAAAAAAAAAAAAAAAAAA"] {
            assert_eq!(open(&key, malformed, b"alice"), Err(Unopened::Malformed), "{malformed}");
        }
    }

    #[test]
    fn the_tag_is_that_of_rfc_2104() {
        // Against RFC 4231, case 2, by a key and parts laid out as it wants them.
        let mut key = Key([0; BLOCK_BYTES]);
        key.0[..4].copy_from_slice(b"Jefe");
        let pad = |with: u8| key.0.map(|byte| byte ^ with);
        let inner = Sha256::new_with_prefix(pad(0x36)).chain_update("what do ya want for nothing?");
        let outer = Sha256::new_with_prefix(pad(0x5c)).chain_update(inner.finalize()).finalize();
        assert_eq!(outer[..4], [0x5b, 0xdc, 0xc1, 0x46]);
        assert_ne!(key.tag([b"a", b"b"]), key.tag([b"ab", b""]));
    }

    #[test]
    fn the_id_is_replaced_where_it_stands_by_the_rules() {
        let names = Names { own: "t", shown: "s" };
        let renamed = |method, body: &str| renamed(body.to_owned(), places(method), names);
        let handle = r#"{ "resultType":"task","taskId":"\u0074","x":"t","structuredContent":{"taskId":"t"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"},"taskId":"t"} }"#;
        let wanted = handle
            .replace(r#""taskId":"\u0074""#, r#""taskId":"s""#)
            .replace(r#"task":{"taskId":"t"}"#, r#"task":{"taskId":"s"}"#);
        assert_eq!(renamed("tools/call", handle), wanted);
        assert_eq!(
            renamed("tools/call", r#"{"task":{"taskId":"t"}}"#),
            r#"{"task":{"taskId":"s"}}"#
        );
        assert_eq!(renamed("tasks/result", r#"{"taskId":"t"}"#), r#"{"taskId":"t"}"#);
        assert_eq!(renamed("tasks/get", r#"{"taskId":"u"}"#), r#"{"taskId":"u"}"#);
    }

    #[test]
    fn the_payload_is_what_the_call_would_have_returned() {
        let get = r#"{"status":"completed","result": {"content":[]} }"#;
        assert_eq!(&get[payload("tasks/get", get).unwrap()], r#"{"content":[]}"#);
        assert_eq!(payload("tasks/get", r#"{"status":"working"}"#), None);
        assert_eq!(payload("tasks/cancel", get), None);
        assert_eq!(payload("tasks/result", "{}"), Some(0..2));
    }
}
