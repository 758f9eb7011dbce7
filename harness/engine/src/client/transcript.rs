//! What one HTTP exchange looked like from the client's side.

use std::time::Duration;

use birdstrike_wire::capture::Capture;

/// How an exchange ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The body came to its end.
    Complete,
    /// The connection could not be made, or broke before a status came.
    NoAnswer(String),
    /// The body broke off.
    Cut(String),
    /// The deadline passed; how many bytes had come by then is in the capture.
    Deadline,
    /// More came than the client holds (a body without end, say).
    TooMuch,
}

impl Ending {
    /// The ending in words.
    pub fn words(&self) -> String {
        match self {
            Self::Complete => "the answer is complete".into(),
            Self::NoAnswer(why) => format!("no answer: {why}"),
            Self::Cut(why) => format!("the answer broke off: {why}"),
            Self::Deadline => "the deadline passed".into(),
            Self::TooMuch => "more came than a client would hold".into(),
        }
    }
}

/// One request and what came back, raw.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The body that was sent.
    pub request: String,
    /// The raw id of the request; nothing for a notification.
    pub id: Option<String>,
    /// The HTTP status, once there was one.
    pub status: Option<u16>,
    /// `Content-Type`, lower case, without parameters.
    pub content_type: String,
    /// A session id that the answer hands out.
    pub session: Option<String>,
    /// The body as it came.
    pub body: Capture,
    /// The JSON-RPC messages in it, in order: the body itself, or the data of SSE events.
    pub messages: Vec<Vec<u8>>,
    /// Rules of SSE that the answer broke, in words.
    pub breaks: Vec<String>,
    /// How it ended.
    pub ending: Ending,
    /// From sending to the end.
    pub took: Duration,
}

impl Transcript {
    /// Whether the deadline passed.
    pub fn is_late(&self) -> bool {
        self.ending == Ending::Deadline
    }
}
