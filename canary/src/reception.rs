//! A message from its bytes to its reply, with everything that was seen on the way.

use std::borrow::Cow;
use std::sync::Arc;

use birdstrike_wire::envelope::error_object;
use birdstrike_wire::headers::{MCP_PROTOCOL_VERSION, MCP_SESSION_ID};
use birdstrike_wire::{Era, Revision, codes};
use http::HeaderMap;

use crate::dispatch::{Desk, Reply};
use crate::lifecycle::{self, Decided};
use crate::notes::{self, Note};
use crate::request::{self, Incoming, Request};
use crate::resources;
use crate::sessions::Session;
use crate::stages;

/// What a client told apart from the message itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Client<'a> {
    /// The headers of its request; none on stdio.
    pub(crate) headers: Option<&'a HeaderMap>,
    /// Its conversation: the session that its headers name, or its stdio connection.
    pub(crate) session: Option<Session>,
}

impl<'a> Client<'a> {
    /// `MCP-Protocol-Version`.
    pub(crate) fn version(&self) -> Option<&'a str> {
        header(self.headers?, MCP_PROTOCOL_VERSION)
    }

    /// What the handshake of its conversation agreed on.
    pub(crate) fn agreed(&self) -> Option<Revision> {
        match self.session {
            Some(Session::Open(revision)) => Some(revision),
            _ => None,
        }
    }
}

/// The value of a header, if it is there and text.
pub(crate) fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// A message that was read, and its reply.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) method: Cow<'static, str>,
    pub(crate) revision: Option<Revision>,
    pub(crate) nonce: Option<Arc<str>>,
    pub(crate) uri: Option<Arc<str>>,
    /// The raw id of the request that it cancels.
    pub(crate) cancels: Option<String>,
    /// The raw id of the question that it answers.
    pub(crate) answers: Option<String>,
    pub(crate) notes: Vec<Note>,
    pub(crate) reply: Reply,
}

/// Reads a message, notes what is wrong with it, and answers it.
pub(crate) fn receive(desk: Desk<'_>, message: &[u8], client: Client<'_>) -> Received {
    let mut notes = Vec::new();
    if let Some(headers) = client.headers {
        notes::on_post(headers, &mut notes);
    }
    note_session(client, &mut notes);
    match request::read(message, &mut notes) {
        Incoming::Request(request) => answered(desk, request, client, notes, true),
        Incoming::Notification(request) => answered(desk, request, client, notes, false),
        Incoming::Response(id) => {
            let newest = client.version() == Some(Revision::V2026_07_28.as_str());
            if newest || desk.upstream.newest(Era::Handshake).is_none() {
                notes.push(Note::new("R-BASE-20", "a response, which no client sends"));
            }
            let answers = Some(id.to_owned());
            Received { answers, ..Received::unread(Reply::accepted(), notes) }
        }
        Incoming::Broken(broken) => {
            let error = error_object(broken.code, &broken.why, None);
            let reply = Reply::error(broken.id, &error, 400);
            notes.push(Note::new(broken.requirement, broken.why));
            Received::unread(reply, notes)
        }
    }
}

fn answered(
    desk: Desk<'_>,
    request: Request<'_>,
    client: Client<'_>,
    mut notes: Vec<Note>,
    wants_answer: bool,
) -> Received {
    let decided = lifecycle::decide(desk.upstream, &request, client.version(), client.agreed());
    let revision = match decided {
        Decided::Serve(revision) => Some(revision),
        Decided::Unsupported(_) => None,
    };
    if let Some(revision) = revision {
        notes::on_message(&request, revision, &mut notes);
        if let Some(headers) = client.headers {
            notes::on_headers(desk.upstream, &request, revision, headers, &mut notes);
        }
    }
    let over = client.session == Some(Session::Ended) && request.method != "initialize";
    let reply = if over && revision.is_none_or(has_sessions) {
        let error = error_object(codes::INVALID_REQUEST, "the session has ended", None);
        Reply::error(Some(request.id), &error, 404)
    } else if wants_answer {
        desk.answer(&request, &decided)
    } else {
        Reply::accepted()
    };
    let uri = resources::uri_of(&request).map(|uri| uri.as_ref().into());
    let cancels = stages::cancels(&request);
    let (method, nonce) = (request.method, request.nonce);
    Received { method, revision, nonce, uri, cancels, answers: None, notes, reply }
}

fn has_sessions(revision: Revision) -> bool {
    revision.era() == Era::Handshake
}

impl Received {
    /// What has no message, or none that is a request.
    pub(crate) fn unread(reply: Reply, notes: Vec<Note>) -> Self {
        Self {
            method: Cow::Borrowed(""),
            revision: None,
            nonce: None,
            uri: None,
            cancels: None,
            answers: None,
            notes,
            reply,
        }
    }
}

/// A session that is not open (R-HTTP-28). One that was never minted here is served all the same;
/// one that has ended is not, as the client has to learn of it.
fn note_session(client: Client<'_>, notes: &mut Vec<Note>) {
    let seen = match client.session {
        Some(Session::Ended) => "the session has ended: answered with 404",
        Some(Session::Unknown) => "an unknown session id",
        _ => return,
    };
    let id = client.headers.and_then(|headers| header(headers, MCP_SESSION_ID));
    notes.push(Note::new("R-HTTP-28", format!("{seen}: `{}`", id.unwrap_or("?"))));
}
