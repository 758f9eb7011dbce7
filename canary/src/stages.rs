//! An answer in stages: what its delivery says before and after the response, with waits between.

use std::sync::Arc;
use std::time::Duration;

use birdstrike_wire::{Envelope, Era, Kind, Revision, json};

use crate::journal::Journal;
use crate::pieces::Pieces;
use crate::plan::{Delivery, Ending, ID, TOKEN};
use crate::request::Request;

/// Some of the pieces of an answer, and what has to be over before they are sent.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) wait: Wait,
    pub(crate) pieces: Pieces,
}

/// What comes before a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Nothing.
    Not,
    /// A pause.
    For(Duration),
    /// The client's answers to questions with these raw ids.
    Replies(Vec<String>),
    /// It is never sent.
    Forever,
}

/// How long the client's answers to questions are waited for before the call is answered without.
const PATIENCE: Duration = Duration::from_secs(3);

impl Wait {
    fn pause(pause: Duration) -> Self {
        if pause.is_zero() { Self::Not } else { Self::For(pause) }
    }

    /// Returns when it is over.
    pub(crate) async fn over(self, journal: Arc<Journal>) {
        match self {
            Self::Not => {}
            Self::For(pause) => tokio::time::sleep(pause).await,
            // Answers that do not come are the harness's to find, not the caller's to wait for.
            Self::Replies(ids) => {
                let _ = tokio::time::timeout(PATIENCE, journal.replied(&ids)).await;
            }
            Self::Forever => std::future::pending().await,
        }
    }
}

/// The stages of an answer: every message before and after the response, each made into pieces by
/// `side`. Stages without a wait are put together with the one before.
pub(crate) fn of(
    response: Pieces,
    delivery: &Delivery,
    side: impl Fn(&str) -> Pieces,
) -> Vec<Stage> {
    let pause = || Wait::pause(delivery.pause);
    let asked: Vec<String> = delivery.before.iter().filter_map(|m| question(m)).collect();
    let wait = match delivery.ending {
        Ending::NeverAnswer => Wait::Forever,
        _ if delivery.await_replies && !asked.is_empty() => Wait::Replies(asked),
        _ => pause(),
    };
    let beside = |message: &String| Stage { wait: pause(), pieces: side(message).beside() };
    let before = delivery.before.iter().map(beside);
    let after = delivery.after.iter().map(beside);
    let mut stages: Vec<Stage> = Vec::new();
    for stage in before.chain([Stage { wait, pieces: response }]).chain(after) {
        match stages.last_mut() {
            Some(last) if stage.wait == Wait::Not => last.pieces.append(stage.pieces),
            _ => stages.push(stage),
        }
    }
    stages
}

/// The raw id of a request; none for any other message.
fn question(message: &str) -> Option<String> {
    let envelope = Envelope::read(message.as_bytes()).ok()?;
    let asks = envelope.kind() == Kind::Request;
    envelope.id().filter(|_| asks).map(str::to_owned)
}

/// The delivery of a plan made ready for a request: its placeholders are filled, and what cannot be
/// said to this client is left out (R-PROG-02, R-HTTP-24).
pub(crate) fn ready(delivery: &Delivery, request: &Request<'_>, revision: Revision) -> Delivery {
    let token = request.meta.iter().rfind(|member| member.is("progressToken"));
    let say = |messages: &[String]| {
        let said = messages.iter().filter_map(|message| {
            if message.contains(TOKEN) && token.is_none() {
                return None;
            }
            let message = message.replace(ID, request.id);
            let message = message.replace(TOKEN, token.map_or("", |token| token.value));
            let asks = revision.era() == Era::Stateless && question(&message).is_some();
            (!asks).then_some(message)
        });
        said.collect()
    };
    let resumable = delivery.resumable.clone().filter(|_| revision.era() == Era::Handshake);
    let (before, after) = (say(&delivery.before), say(&delivery.after));
    Delivery { before, after, resumable, ..delivery.clone() }
}

/// The raw id that a `notifications/cancelled` names.
pub(crate) fn cancels(request: &Request<'_>) -> Option<String> {
    let params = request.params.filter(|_| request.method == "notifications/cancelled");
    params.and_then(|params| json::get(params, "requestId")).map(str::to_owned)
}
