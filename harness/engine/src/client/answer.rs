//! What an exchange says: the result or error in it, and every rule of the envelope that it breaks.

use birdstrike_judge::{Doc, Pointer};
use birdstrike_wire::capture::Capture;
use birdstrike_wire::{Envelope, Kind, json};

use super::transcript::{Ending, Transcript};

/// The answer to one call, read from raw bytes.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The result or error.
    pub body: Body,
    /// Rules of JSON-RPC and HTTP that the answer breaks, in words (R-BASE-01, -03, R-ERR-07, -08,
    /// R-HTTP-05).
    pub breaks: Vec<String>,
    /// The client is told a failure.
    pub flagged: bool,
    /// The failure in words: the error's message, the text of a failed result, a batch entry's
    /// words. Empty for a success.
    pub words: String,
}

/// The part of an answer that matters.
#[derive(Clone, Debug)]
pub enum Body {
    /// A result object, as its bytes.
    Result(Vec<u8>),
    /// A JSON-RPC error object, as its bytes.
    Error(Vec<u8>),
    /// An answer too large to be held whole.
    Large(Capture),
    /// Nothing that could be read; why.
    Nothing(String),
}

impl Body {
    /// The bytes, where they are held.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Result(bytes) | Self::Error(bytes) => Some(bytes),
            Self::Large(_) | Self::Nothing(_) => None,
        }
    }
}

impl Answer {
    /// Nothing came, or nothing that is an answer.
    pub fn nothing(why: String) -> Self {
        Self { body: Body::Nothing(why), breaks: Vec::new(), flagged: true, words: String::new() }
    }

    /// Reads the answer to a transcript's request.
    pub fn read(transcript: &Transcript) -> Self {
        let mut breaks = Vec::new();
        let complete = transcript.ending == Ending::Complete;
        if complete && transcript.body.whole().is_none() && transcript.messages.is_empty() {
            let body = Body::Large(transcript.body.clone());
            return Self { body, breaks, flagged: false, words: String::new() };
        }
        let mut responses = Vec::new();
        for message in &transcript.messages {
            match Envelope::read(message) {
                Ok(message) if message.method().is_some() => {}
                Ok(message) => responses.push(message),
                Err(error) => breaks.push(format!("a message is unreadable: {error}")),
            }
        }
        media_type(transcript, &mut breaks);
        let Some(response) = responses.first() else {
            return Self {
                breaks: silent(transcript, breaks),
                ..Self::nothing(why_nothing(transcript))
            };
        };
        if responses.len() > 1 {
            breaks.push(format!("{} answers to one request", responses.len()));
        }
        envelope(response, transcript.id.as_deref(), &mut breaks);
        // The message may be whole where the body is not; no ordinary client would read it. Of a
        // stream the response is what counts.
        if !complete && transcript.content_type != "text/event-stream" {
            breaks.push(why_nothing(transcript));
        }
        let body = match (response.result(), response.error()) {
            (_, Some(error)) => Body::Error(error.into()),
            (Some(result), None) => Body::Result(result.into()),
            (None, None) => Body::Nothing("the response has neither result nor error".into()),
        };
        let (flagged, words) = failure(&body);
        Self { body, breaks, flagged, words }
    }
}

/// Whether a body tells a failure, and its words.
pub(crate) fn failure(body: &Body) -> (bool, String) {
    match body {
        Body::Error(error) => {
            let text = String::from_utf8_lossy(error);
            (true, json::get_string(&text, "message").unwrap_or_default())
        }
        Body::Result(result) => {
            let Ok(doc) = Doc::scan(result) else {
                return (false, String::new());
            };
            let at = |pointer: &str| Pointer::parse(pointer).ok().and_then(|p| doc.at(&p));
            let flagged = at("/isError").and_then(birdstrike_judge::Node::boolean) == Some(true);
            if !flagged {
                return (false, String::new());
            }
            let blocks = (0..16).map_while(|block| at(&format!("/content/{block}")));
            let texts = blocks.enumerate().filter_map(|(block, _)| {
                let node = at(&format!("/content/{block}/text"))?;
                Some(node.string()?.text().into_owned())
            });
            (true, texts.collect::<Vec<_>>().join(" "))
        }
        Body::Large(_) => (false, String::new()),
        Body::Nothing(_) => (true, String::new()),
    }
}

pub(crate) fn why_nothing(transcript: &Transcript) -> String {
    let status = transcript.status.map_or(String::new(), |status| format!(" (HTTP {status})"));
    match &transcript.ending {
        Ending::Complete if transcript.body.is_empty() => format!("an empty answer{status}"),
        Ending::Complete => format!("an answer without a JSON-RPC response{status}"),
        ending => format!("{}{status}", ending.words()),
    }
}

/// A request must be answered (R-HTTP-05): silence is a break of its own, and a body that did not
/// come to its end is why the rest of it is unreadable.
fn silent(transcript: &Transcript, mut breaks: Vec<String>) -> Vec<String> {
    let at = if transcript.ending == Ending::Complete { breaks.len() } else { 0 };
    breaks.insert(at, why_nothing(transcript));
    breaks
}

fn media_type(transcript: &Transcript, breaks: &mut Vec<String>) {
    let known = ["application/json", "text/event-stream"];
    let body = !transcript.body.is_empty();
    if body && !known.contains(&transcript.content_type.as_str()) {
        breaks.push(format!("the media type is `{}`", transcript.content_type));
    }
}

fn envelope(response: &Envelope<'_>, id: Option<&str>, breaks: &mut Vec<String>) {
    if let Kind::Broken(why) = response.kind() {
        breaks.push(why.to_owned());
    }
    for name in response.repeated() {
        breaks.push(format!("`{name}` stands twice in the envelope"));
    }
    let (sent, back) = (id.unwrap_or("null"), response.id().unwrap_or("null"));
    if !same_id(sent, back) {
        breaks.push(format!("the id {sent} came back as {back}"));
    }
}

/// Ids are the same when type and value are (R-BASE-03); a string may be escaped otherwise.
fn same_id(sent: &str, back: &str) -> bool {
    let text = |raw: &str| serde_json::from_str::<String>(raw).ok();
    sent == back || text(sent).is_some_and(|sent| text(back) == Some(sent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn transcript(id: &str, messages: &[&str]) -> Transcript {
        let body = messages.concat().into_bytes();
        Transcript {
            request: String::new(),
            id: Some(id.into()),
            status: Some(200),
            content_type: "application/json".into(),
            session: None,
            body: Capture::of(body, true),
            messages: messages.iter().map(|message| message.as_bytes().to_vec()).collect(),
            breaks: Vec::new(),
            ending: Ending::Complete,
            took: Duration::ZERO,
        }
    }

    #[test]
    fn an_id_keeps_its_type() {
        let read = |id, back: &str| {
            let message = format!(r#"{{"jsonrpc":"2.0","id":{back},"result":{{}}}}"#);
            Answer::read(&transcript(id, &[&message])).breaks
        };
        assert!(read("7", "7").is_empty());
        assert!(read(r#""é""#, r#""\u00e9""#).is_empty());
        assert_eq!(read("7", "\"7\""), ["the id 7 came back as \"7\""]);
        assert_eq!(read("9007199254740993", "9007199254740992").len(), 1);
    }

    #[test]
    fn notifications_are_passed_over_and_second_answers_told() {
        let note = r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#;
        let one = r#"{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"no"}]}}"#;
        let answer = Answer::read(&transcript("1", &[note, one]));
        assert!(answer.breaks.is_empty());
        assert_eq!((answer.flagged, answer.words.as_str()), (true, "no"));
        let twice = Answer::read(&transcript("1", &[one, one]));
        assert_eq!(twice.breaks, ["2 answers to one request"]);
    }

    #[test]
    fn silence_and_rubbish_are_told() {
        let nothing = Answer::read(&transcript("1", &[]));
        assert_eq!(nothing.breaks, ["an empty answer (HTTP 200)"]);
        let half = Answer::read(&transcript("1", &["{\"jsonrpc\":"]));
        assert!(half.breaks[0].starts_with("a message is unreadable"), "{:?}", half.breaks);
        assert!(matches!(half.body, Body::Nothing(_)));
    }
}
