//! An HTTP answer, read piece by piece: content coding, framing, and the message inside.

use std::io::{self, Write};
use std::mem;
use std::time::Duration;

use birdstrike_wire::{Envelope, sse};
use flate2::write::GzDecoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::Response;

use super::http::Exchange;
use super::speaker::Speaker;
use crate::failure::Failure;
use crate::surfaces::Steps;
use crate::surfaces::answer_reading::{Arrival, Message};
use crate::surfaces::upstream_read::{Bound, Coding, Framing, Full, Intake};

/// Room for the field names of an event beside its data.
const EVENT_SLACK: u64 = 1024;
/// Coded bytes that are inflated at a time: at most half a mebibyte comes of them.
const INFLATE_STEP: usize = 512;
/// How much of a stream is read after its answer came, so that its connection can be used again.
const DRAIN_BYTES: usize = 64 << 10;
/// How long.
const DRAIN_TIME: Duration = Duration::from_millis(200);

/// What came of reading.
pub(super) enum Read {
    /// The answer.
    Message(Message),
    /// An event stream that ended before it.
    Broken(Stopped),
}

/// Where an event stream stopped.
#[derive(Debug)]
pub(super) struct Stopped {
    /// The id of its last event; empty without one.
    pub(super) last_event_id: String,
    /// How long its server wants to be left alone, in milliseconds.
    pub(super) retry_ms: Option<u64>,
    /// The failure that it comes to if it is not taken up again.
    pub(super) failure: Failure,
}

/// Reads the message that answers a request; what comes before it goes to the ear.
///
/// # Errors
/// A [`Failure`] that names the limit, or what is wrong with the body.
pub(super) async fn read(
    mut response: Response,
    exchange: &Exchange<'_>,
    upstream: &Speaker,
) -> Result<Read, Failure> {
    let Exchange { id, limit_bytes, steps, .. } = *exchange;
    let status = response.status().as_u16();
    let arrival = arrival(&response);
    (steps.answer_reading.status)(status, arrival.is_some())?;
    let arrival = arrival.unwrap_or(Arrival::Json);
    let coding =
        response.headers().get(CONTENT_ENCODING).map(|value| value.to_str().unwrap_or("?"));
    let coding = (steps.upstream_read.coding)(coding)?;
    let framing = match (arrival, coding, response.content_length()) {
        (Arrival::EventStream, ..) => Framing::EventStream,
        (_, Coding::Gzip, _) => Framing::Gzip,
        (.., Some(_)) => Framing::ContentLength,
        (.., None) => Framing::Chunked,
    };
    let bound = Bound { framing, limit_bytes };
    let mut intake = Intake::new(&steps.upstream_read, bound);
    if let (Framing::ContentLength, Some(length)) = (framing, response.content_length()) {
        if !(steps.upstream_read.announced)(length, intake.allowance()) {
            return Ok(Read::Message(Message { bytes: intake.refuse()?, arrival, status }));
        }
        intake.expect(length);
    }
    let sink = match arrival {
        Arrival::EventStream => Sink::Events(Box::new(Events::new(intake, id, steps))),
        _ => Sink::Whole(intake),
    };
    let mut decoder = Decoder::new(coding, sink);
    let bytes = match pour(&mut response, &mut decoder, exchange, upstream).await? {
        End::Stopped(Stop::Full) => decoder.sink.refuse()?,
        End::Stopped(Stop::Found) => {
            drain(response);
            decoder.sink.finish()
        }
        End::BrokeOff(failure) => return decoder.sink.broken(failure),
        End::Whole => {
            decoder.end()?;
            match &decoder.sink {
                Sink::Events(events) if !events.found => {
                    let failure = events.without_an_answer();
                    return decoder.sink.broken(failure);
                }
                _ => decoder.sink.finish(),
            }
        }
    };
    Ok(Read::Message(Message { bytes, arrival, status }))
}

/// How a body ended.
enum End {
    /// It came to its end.
    Whole,
    /// No more of it is wanted.
    Stopped(Stop),
    /// Its connection did not hold.
    BrokeOff(Failure),
}

/// Reads a body until its end or until nothing more is wanted, and hands on what is said beside the
/// answer as it comes.
async fn pour(
    response: &mut Response,
    decoder: &mut Decoder<'_>,
    exchange: &Exchange<'_>,
    upstream: &Speaker,
) -> Result<End, Failure> {
    loop {
        match response.chunk().await {
            Ok(Some(piece)) => {
                let stop = decoder.feed(&piece)?;
                for message in decoder.sink.beside() {
                    relay(&message, exchange, upstream).await;
                }
                if let Some(stop) = stop {
                    return Ok(End::Stopped(stop));
                }
            }
            Ok(None) => return Ok(End::Whole),
            Err(error) => {
                let why = format_args!("it broke off: {}", super::http::root_cause(&error));
                return Ok(End::BrokeOff(Failure::bad_answer(why)));
            }
        }
    }
}

/// Hands on what an upstream said before its answer.
async fn relay(message: &[u8], exchange: &Exchange<'_>, upstream: &Speaker) {
    let Some(ear) = exchange.ear else { return };
    if let Some(message) = ear.hear(message, upstream) {
        ear.aside.tell(message).await;
    }
}

/// How the body says that it carries messages, if it does.
fn arrival(response: &Response) -> Option<Arrival> {
    let content_type = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        Some(Arrival::Json)
    } else if essence.eq_ignore_ascii_case("text/event-stream") {
        Some(Arrival::EventStream)
    } else {
        None
    }
}

/// Reads on for a moment in the background: a connection is only used again if its last answer was
/// read to the end, and a stream mostly ends right behind its message.
fn drain(mut response: Response) {
    tokio::spawn(tokio::time::timeout(DRAIN_TIME, async move {
        let mut seen = 0;
        while let Ok(Some(piece)) = response.chunk().await {
            seen += piece.len();
            if seen > DRAIN_BYTES {
                break;
            }
        }
    }));
}

/// Why no more of a body is wanted.
#[derive(Clone, Copy, Debug)]
enum Stop {
    /// It is larger than it may be.
    Full,
    /// The answer is there.
    Found,
}

/// Where decoded bytes go.
enum Sink<'a> {
    /// The body is the message.
    Whole(Intake<'a>),
    /// The message is one of its events.
    Events(Box<Events<'a>>),
}

impl Sink<'_> {
    fn push(&mut self, piece: &[u8]) -> Option<Stop> {
        match self {
            Self::Whole(intake) => intake.take(piece).err().map(|Full| Stop::Full),
            Self::Events(events) => events.push(piece),
        }
    }

    fn refuse(self) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Whole(intake) => intake.refuse(),
            Self::Events(events) => events.intake.refuse(),
        }
    }

    fn finish(self) -> Vec<u8> {
        match self {
            Self::Whole(intake) => intake.finish(),
            Self::Events(events) => events.intake.finish(),
        }
    }

    /// What came beside the answer since this was asked last.
    fn beside(&mut self) -> Vec<Vec<u8>> {
        match self {
            Self::Whole(_) => Vec::new(),
            Self::Events(events) => mem::take(&mut events.beside),
        }
    }

    /// The body ended too early.
    fn broken(self, failure: Failure) -> Result<Read, Failure> {
        match self {
            Self::Whole(_) => Err(failure),
            Self::Events(events) => Ok(Read::Broken(Stopped {
                last_event_id: events.last_event_id,
                retry_ms: events.retry_ms,
                failure,
            })),
        }
    }
}

/// The events of a stream, until the one that answers the request.
struct Events<'a> {
    parser: sse::Parser,
    intake: Intake<'a>,
    id: &'a str,
    steps: &'a Steps,
    found: bool,
    strangers: u64,
    /// Requests and notifications that were not handed on yet.
    beside: Vec<Vec<u8>>,
    last_event_id: String,
    retry_ms: Option<u64>,
}

impl<'a> Events<'a> {
    fn new(intake: Intake<'a>, id: &'a str, steps: &'a Steps) -> Self {
        let event = intake.allowance().saturating_add(EVENT_SLACK);
        let event = usize::try_from(event).unwrap_or(usize::MAX);
        let parser = sse::Parser::new(sse::Limits { event, ..sse::Limits::default() });
        Self {
            parser,
            intake,
            id,
            steps,
            found: false,
            strangers: 0,
            beside: Vec::new(),
            last_event_id: String::new(),
            retry_ms: None,
        }
    }

    fn push(&mut self, piece: &[u8]) -> Option<Stop> {
        let exceeded = self.parser.push(piece, Duration::ZERO).is_err();
        while let Some(event) = self.parser.pop() {
            if !event.unfinished {
                self.last_event_id.clone_from(&event.last_event_id);
                self.retry_ms = event.retry.or(self.retry_ms);
            }
            if event.is_dispatched()
                && event.kind() == sse::Kind::Message
                && (event.too_large || self.is_answer(&event.data))
            {
                self.found = true;
                let full = self.intake.take(&event.data).is_err() || event.too_large;
                return Some(if full { Stop::Full } else { Stop::Found });
            }
        }
        let too_large = exceeded || self.parser.pending_data_len() > self.intake.allowance();
        too_large.then_some(Stop::Full)
    }

    /// Whether the data answers the request. Notifications and answers to others are passed over;
    /// what cannot be read is handed on, as on this stream it can be nothing else.
    fn is_answer(&mut self, data: &[u8]) -> bool {
        let Ok(envelope) = Envelope::read(data) else { return true };
        if envelope.get("method").is_some() {
            self.beside.push(data.to_vec());
            return false;
        }
        let ours = (self.steps.answer_reading.is_ours)(&envelope, self.id);
        self.strangers += u64::from(!ours);
        ours
    }

    fn without_an_answer(&self) -> Failure {
        match self.strangers {
            0 => Failure::bad_answer("the event stream ended without an answer"),
            strangers => Failure::bad_answer(format_args!(
                "the event stream ended without an answer to this request, and with {strangers} \
                 to others"
            )),
        }
    }
}

/// A sink behind a content coding.
struct Decoder<'a> {
    gzip: Option<Box<GzDecoder<Vec<u8>>>>,
    sink: Sink<'a>,
}

impl<'a> Decoder<'a> {
    fn new(coding: Coding, sink: Sink<'a>) -> Self {
        let gzip = (coding == Coding::Gzip).then(|| Box::new(GzDecoder::new(Vec::new())));
        Self { gzip, sink }
    }

    /// Takes the next piece of the body as it is on the wire.
    fn feed(&mut self, piece: &[u8]) -> Result<Option<Stop>, Failure> {
        let Some(gzip) = &mut self.gzip else { return Ok(self.sink.push(piece)) };
        // In small steps, so that a body which inflates a thousandfold is refused before it is held.
        for mut part in piece.chunks(INFLATE_STEP) {
            while !part.is_empty() {
                match gzip.write(part).map_err(|error| bad_gzip(&error))? {
                    // Bytes behind the end of the coded part mean nothing.
                    0 => break,
                    taken => part = &part[taken..],
                }
            }
            let stop = self.sink.push(&mem::take(gzip.get_mut()));
            if stop.is_some() {
                return Ok(stop);
            }
        }
        // What is decoded must not wait for the next piece: it may be the answer.
        gzip.flush().map_err(|error| bad_gzip(&error))?;
        Ok(self.sink.push(&mem::take(gzip.get_mut())))
    }

    /// The body came to its end, and was not stopped.
    fn end(&mut self) -> Result<(), Failure> {
        match &mut self.gzip {
            Some(gzip) => gzip.try_finish().map_err(|error| bad_gzip(&error)),
            None => Ok(()),
        }
    }
}

fn bad_gzip(error: &io::Error) -> Failure {
    Failure::bad_answer(format_args!("its gzip coding is broken: {error}"))
}
