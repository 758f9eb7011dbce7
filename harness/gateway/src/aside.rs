//! What an upstream says beside its answer to a request, and the client that it is for.

use std::sync::{Arc, Mutex, PoisonError};

use birdstrike_wire::{Envelope, Era, Kind, Revision, codes, envelope, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::context::Context;
use crate::sessions::Session;
use crate::surfaces::transport::Ruling;
use crate::upstream::Speaker;

/// Questions that an upstream may have open for one request.
const QUESTIONS: usize = 16;
/// What can change beside any request.
pub(crate) const CHANGES: [&str; 3] = [
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
];

/// How a client can be told something before its answer. By default it cannot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aside {
    /// Where messages go; none for a client that reads no stream.
    pub(crate) to_client: Option<mpsc::Sender<String>>,
    /// Its session, below 2026-07-28.
    pub(crate) session: Option<Arc<Session>>,
    /// The raw id of its request.
    pub(crate) id: String,
    /// Its raw progress token.
    pub(crate) token: Option<String>,
    /// The level from which on it wants log messages.
    pub(crate) log_level: Option<String>,
}

impl Aside {
    /// What an upstream may ask the client for; `{}` for one that cannot be asked.
    pub(crate) fn capabilities(&self) -> &str {
        let session = self.session.as_ref().filter(|_| self.to_client.is_some());
        session.map_or("{}", |session| &session.capabilities)
    }

    /// Tells the client, once there is room.
    pub(crate) async fn tell(&self, message: String) {
        if let Some(to_client) = &self.to_client {
            let _ = to_client.send(message).await;
        }
    }

    /// Tells the client, if there is room.
    pub(crate) fn try_tell(&self, message: String) {
        if let Some(to_client) = &self.to_client {
            let _ = to_client.try_send(message);
        }
    }
}

/// Listens for one request to an upstream, until its answer is there.
#[derive(Clone)]
pub(crate) struct Ear {
    pub(crate) aside: Aside,
    /// The progress token that the upstream was given.
    pub(crate) token: Option<String>,
    client: Revision,
    context: Arc<Context>,
    /// Fires when the request is over.
    over: CancellationToken,
    /// Open questions: the upstream's id and ours.
    open: Arc<Mutex<Vec<(String, String)>>>,
}

impl Ear {
    /// An ear for the request `id`, which is ours.
    pub(crate) fn new(
        client: &Client,
        id: &str,
        context: &Arc<Context>,
        over: CancellationToken,
    ) -> Self {
        let aside = client.aside.clone();
        let token =
            aside.token.as_deref().map(|theirs| (context.steps.transport.token)(theirs, id));
        let (client, context) = (client.revision, Arc::clone(context));
        Self { aside, token, client, context, over, open: Arc::default() }
    }

    /// Deals with a message. What is given back is for the client.
    pub(crate) fn hear(&self, message: &[u8], upstream: &Speaker) -> Option<String> {
        let envelope = Envelope::read(message).ok()?;
        let method = envelope.method()?;
        let params = envelope.params().unwrap_or("{}");
        match (envelope.kind(), envelope.id()) {
            (Kind::Notification, _) => self.notified(&method, params, envelope.text()),
            (Kind::Request, Some(id)) => self.asked(id, &method, params, upstream),
            _ => None,
        }
    }

    fn notified(&self, method: &str, params: &str, message: &str) -> Option<String> {
        let steps = &self.context.steps.transport;
        match method {
            "notifications/progress" => {
                let token = json::get(params, "progressToken")?;
                let token = match (&self.token, &self.aside.token) {
                    (Some(own), Some(clients)) => (steps.progress)(token, own, clients)?,
                    _ => (steps.uninvited)(token)?,
                };
                let params = json::set(params, "progressToken", &token).ok()?;
                Some(envelope::notification(method, Some(&params)))
            }
            "notifications/message" => {
                let level = json::get_string(params, "level")?;
                let wanted = self.aside.log_level.as_deref();
                (steps.log)(&level, wanted, self.client).then(|| message.to_owned())
            }
            "notifications/cancelled" => {
                let id = json::get(params, "requestId")?;
                let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
                let (_, own) = open.iter().find(|(theirs, _)| theirs == id)?;
                let params = json::set(params, "requestId", own).ok()?;
                Some(envelope::notification(method, Some(&params)))
            }
            change if CHANGES.contains(&change) => {
                self.context.changed(change);
                let told = self.aside.session.as_ref().is_some_and(|session| session.listens());
                let tells = self.client.era() == Era::Handshake && !told;
                tells.then(|| message.to_owned())
            }
            other => (steps.unknown)(other).then(|| message.to_owned()),
        }
    }

    /// Answers a request of the upstream, or asks the client and answers when it does.
    fn asked(&self, id: &str, method: &str, params: &str, upstream: &Speaker) -> Option<String> {
        let steps = &self.context.steps.transport;
        let room = self.open.lock().unwrap_or_else(PoisonError::into_inner).len() < QUESTIONS;
        let ruling = (steps.ruling)(method, self.aside.capabilities());
        match (ruling, &self.aside.session) {
            (Ruling::Own, _) => {
                upstream.say(envelope::result(id, "{}"));
                None
            }
            (Ruling::Relay, Some(session)) if room && self.aside.to_client.is_some() => {
                let question = session.ask();
                let message = envelope::request(&question.id, method, params);
                let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
                open.push((id.to_owned(), question.id.clone()));
                let (ear, id, upstream) = (self.clone(), id.to_owned(), upstream.clone());
                tokio::spawn(async move { ear.wait(question, &id, &upstream).await });
                Some(message)
            }
            _ => {
                upstream.say(refused(id, method));
                None
            }
        }
    }

    /// Waits for the client's answer, as long as the upstream's own is still to come.
    async fn wait(&self, mut question: crate::sessions::Question, id: &str, upstream: &Speaker) {
        let answer = tokio::select! {
            answer = &mut question.answer => answer.ok(),
            () = self.over.cancelled() => None,
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, own)| *own != question.id);
        drop(open);
        let Some(answer) = answer else { return };
        let Ok(answer) = Envelope::read(answer.as_bytes()) else { return };
        let id = (self.context.steps.transport.reply_id)(id, &question.id);
        match (answer.result(), answer.error()) {
            (Some(result), _) => upstream.say(envelope::result(&id, result)),
            (None, Some(error)) => upstream.say(envelope::error(Some(&id), error)),
            (None, None) => {}
        }
    }
}

/// The answer to a request that nobody here can answer.
pub(crate) fn refused(id: &str, method: &str) -> String {
    let shown: String = method.chars().take(100).collect();
    let message = format!("no client here answers `{shown}`");
    let error = envelope::error_object(codes::METHOD_NOT_FOUND, &message, None);
    envelope::error(Some(id), &error)
}

/// The answer to a request, and the news in a notification, that belong to no request of ours.
pub(crate) fn unbidden(message: &[u8], context: &Context, upstream: &Speaker) {
    let Ok(envelope) = Envelope::read(message) else { return };
    let Some(method) = envelope.method() else { return };
    match (envelope.kind(), envelope.id()) {
        (Kind::Request, Some(id)) => match (context.steps.transport.ruling)(&method, "{}") {
            Ruling::Own => upstream.say(envelope::result(id, "{}")),
            _ => upstream.say(refused(id, &method)),
        },
        (Kind::Notification, _) if CHANGES.contains(&&*method) => context.changed(&method),
        _ => {}
    }
}
