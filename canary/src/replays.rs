//! Event streams that broke as planned, kept so that a GET can resume them (R-HTTP-10).

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::pieces::{Piece, Pieces, Text};
use crate::plan::{Delivery, Resumable, SseStyle};
use crate::sse;

/// How many streams are kept.
const KEPT: usize = 1_000;

/// The broken streams of one upstream.
#[derive(Debug, Default)]
pub(crate) struct Replays(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    streams: VecDeque<Stream>,
    opened: u64,
}

#[derive(Debug)]
struct Stream {
    number: u64,
    session: Option<String>,
    events: Vec<Pieces>,
    /// When its response is there.
    ready: Instant,
}

impl Replays {
    /// Keeps a stream of the response and all that its delivery says, and gives what of it goes out
    /// before it breaks.
    pub(crate) fn open(
        &self,
        session: Option<&str>,
        response: Text,
        delivery: &Delivery,
        how: &Resumable,
    ) -> Pieces {
        let mut kept = self.kept();
        kept.opened += 1;
        let number = kept.opened;
        let events = events(number, response, delivery, how);
        let mut first = Pieces::default();
        events.iter().take(how.events).for_each(|event| first.append(event.clone()));
        if kept.streams.len() == KEPT {
            kept.streams.pop_front();
        }
        let session = session.map(str::to_owned);
        kept.streams.push_back(Stream {
            number,
            session,
            events,
            ready: Instant::now() + how.ready,
        });
        first
    }

    /// What follows an event in its stream, and how long until it is there. Nothing for an event of
    /// another session or of no stream; none if no stream was ever kept.
    pub(crate) fn after(&self, session: Option<&str>, event: &str) -> Option<(Pieces, Duration)> {
        let kept = self.kept();
        (kept.opened > 0).then(|| {
            let found = event.split_once('-').and_then(|(number, at)| {
                let (number, at) = (number.parse::<u64>().ok()?, at.parse::<usize>().ok()?);
                let own = |s: &&Stream| s.number == number && s.session.as_deref() == session;
                Some((kept.streams.iter().find(own)?, at))
            });
            let mut rest = Pieces::default();
            let Some((stream, at)) = found else {
                return (rest, Duration::ZERO);
            };
            let left = stream.events.iter().skip(at.saturating_add(1));
            left.for_each(|event| rest.append(event.clone()));
            (rest, stream.ready.saturating_duration_since(Instant::now()))
        })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Every step leaves the streams whole, so a panic elsewhere does not make them unusable.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The events of a stream. The first is empty and gives the client an id to resume from, as
/// 2025-11-25 primes a stream.
fn events(number: u64, response: Text, delivery: &Delivery, how: &Resumable) -> Vec<Pieces> {
    let style = SseStyle { priming: false, ..delivery.sse.clone() };
    let end = style.line_end.as_str();
    let frame = |text: String| {
        let mut pieces = Pieces::default();
        pieces.push(Piece::Frame(text.into()));
        pieces
    };
    let retry = how.retry.map_or_else(String::new, |retry| format!("retry: {retry}{end}"));
    let mut primed = sse::opening(&style);
    primed.append(frame(format!("id: {number}-0{end}{retry}data:{end}{end}")));
    let side = |message: &String| sse::event(message.clone().into(), &style).beside();
    let before = delivery.before.iter().map(side);
    let said = before.chain([sse::event(response, &style)]).chain(delivery.after.iter().map(side));
    let numbered = said.enumerate().map(|(at, event)| {
        let mut pieces = frame(format!("id: {number}-{}{end}", at + 1));
        pieces.append(event);
        pieces
    });
    std::iter::once(primed).chain(numbered).collect()
}
