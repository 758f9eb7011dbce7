//! The SSE parser gives one answer, however the stream is split, and agrees with a plain reading of
//! the standard.

use std::time::Duration;

use birdstrike_wire::sse::{Ended, Event, Exceeded, Kind, Limits, Parser};
use proptest::prelude::*;

const STREAMS: [&[u8]; 9] = [
    b"id: 1\ndata:\n\nevent: message\ndata: {\"a\":\ndata: 1}\n\n",
    b"id: 1\r\ndata:\r\n\r\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n",
    b"id: 1\rdata:\r\revent: message\rdata: {\"a\":\rdata: 1}\r\r",
    b"\xef\xbb\xbfdata: {}\n\n",
    b"\xef\xbb\xbf\r\ndata: {}\r\n\r\n\xef\xbb\xbfdata: 2\r\n\r\n",
    b": ping\r\rdata: \xe4\xb8\x96\n\r\ndata: 2\r\n\ndata: 3\n\r",
    b"id: a\0\nretry: x\nfoo\ndata:\xff\n\ndata: lost\r",
    b"\xef\xbbdata: 1\n\n\n\n\r\n\r\ndata: 2\n\ndata: \xe4\xb8",
    b"data: 1\n\r\n\rdata: 2\r\n\r\r\n\ndata\ndata\n\n:",
];

/// Small enough that the longer lines go over it.
const TIGHT: Limits = Limits { event: 14, stream: 40 };

/// Reads a stream in pieces; says also whether any of them went over a limit.
fn read<'a>(limits: Limits, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Ended, bool) {
    let mut parser = Parser::new(limits);
    let mut events = Vec::new();
    let mut exceeded = false;
    for piece in pieces {
        exceeded |= parser.push(piece, Duration::ZERO).is_err();
        events.extend(parser.drain());
    }
    let mut ended = parser.finish(Duration::ZERO);
    events.append(&mut ended.events);
    ended.events = events;
    (ended, exceeded)
}

#[test]
fn every_split_position_gives_the_same_answer() {
    for (stream, limits) in STREAMS.iter().flat_map(|s| [(*s, Limits::default()), (*s, TIGHT)]) {
        let whole = read(limits, [stream]);
        let name = String::from_utf8_lossy(stream).escape_debug().to_string();
        assert_eq!(read(limits, stream.chunks(1)), whole, "{name}: bytes");
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let pieces = [&stream[..first], &stream[first..second], &stream[second..]];
                assert_eq!(read(limits, pieces), whole, "{name}: {first}, {second}");
            }
        }
    }
}

#[test]
fn the_three_line_ends_give_the_same_events() {
    let essence = |stream: &[u8]| {
        let (ended, _) = read(Limits::default(), [stream]);
        let events = ended.events.into_iter();
        events.map(|e| (e.kind(), e.data, e.last_event_id)).collect::<Vec<_>>()
    };
    let lf = essence(STREAMS[0]);
    assert_eq!(lf[0], (Kind::Priming, vec![], "1".into()));
    assert_eq!(lf[1], (Kind::Message, b"{\"a\":\n1}".to_vec(), "1".into()));
    assert_eq!(essence(STREAMS[1]), lf);
    assert_eq!(essence(STREAMS[2]), lf);
}

#[test]
fn each_event_has_the_time_of_the_chunk_that_completed_it() {
    let mut parser = Parser::new(Limits::default());
    let chunks = ["data: 1\n", "\nda", "ta: 2\n\ndata: 3\n\n"];
    for (at, chunk) in (1..).zip(chunks) {
        let pushed = parser.push(chunk.as_bytes(), Duration::from_millis(at));
        assert_eq!(pushed, Ok::<(), Exceeded>(()));
    }
    let times: Vec<_> = parser.drain().map(|event| event.at.as_millis()).collect();
    assert_eq!(times, [2, 3, 3]);
}

/// A dispatched event as an application sees it: type, data, last event id.
type Seen = (String, String, String);

/// The standard's algorithm, read off the page: decode it all, split it into lines, interpret them.
fn by_the_standard(stream: &[u8]) -> Vec<Seen> {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let text = String::from_utf8_lossy(stream).replace("\r\n", "\n");
    let mut lines: Vec<_> = text.split(['\r', '\n']).collect();
    lines.pop();
    let (mut seen, mut id) = (Vec::new(), String::new());
    let (mut event, mut data) = (String::new(), String::new());
    for line in lines {
        if line.is_empty() {
            if let Some(data) = data.strip_suffix('\n') {
                let name = if event.is_empty() { "message" } else { &event };
                seen.push((name.to_owned(), data.to_owned(), id.clone()));
            }
            event.clear();
            data.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut event),
            "data" => data.extend([value, "\n"]),
            "id" if !value.contains('\0') => value.clone_into(&mut id),
            _ => {}
        }
    }
    seen
}

fn as_seen(event: &Event) -> Seen {
    let data = String::from_utf8_lossy(&event.data).into_owned();
    let name = event.event_type().to_owned();
    (name, data, event.last_event_id.clone())
}

/// Bytes that often make lines, and often fields.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        4 => prop::sample::select(vec![&b"\n"[..], b"\r", b"\r\n", b"\n\n", b"\r\r"]),
        4 => prop::sample::select(vec![&b"data:"[..], b"data: ", b"data", b"id:", b"event: "]),
        2 => prop::sample::select(vec![&b"retry:"[..], b"12", b":", b" ", b"\0", b"foo", b"{}"]),
        1 => prop::sample::select(vec![&b"\xef\xbb\xbf"[..], b"\xef", b"\xe4\xb8\x96", b"\xff"]),
    ];
    let tokens = prop::collection::vec(token.prop_map(<[u8]>::to_vec), 0..40);
    prop_oneof![
        4 => tokens.prop_map(|tokens| tokens.concat()),
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

/// Cuts a stream at the given places, taken modulo its length.
fn pieces<'a>(stream: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
    cuts.sort_unstable();
    let ends = cuts.iter().copied().chain([stream.len()]);
    let starts = [0].into_iter().chain(cuts.iter().copied());
    starts.zip(ends).map(|(from, to)| &stream[from..to]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_split_of_any_bytes_gives_the_same_answer(
        stream in soup(),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
        event in 0_usize..60,
        end in prop_oneof![Just(u64::MAX), 0_u64..200],
    ) {
        let limits = Limits { event, stream: end };
        let whole = read(limits, [&stream[..]]);
        prop_assert_eq!(read(limits, pieces(&stream, &cuts)), whole.clone());
        prop_assert_eq!(read(limits, stream.chunks(1)), whole);
    }

    #[test]
    fn the_standard_is_followed(stream in soup()) {
        let (ended, _) = read(Limits::default(), [&stream[..]]);
        let events = ended.events.iter().filter(|event| event.is_dispatched());
        prop_assert_eq!(events.map(as_seen).collect::<Vec<_>>(), by_the_standard(&stream));
    }

    #[test]
    fn spans_and_limits_hold(stream in soup(), event in 0_usize..60) {
        let limits = Limits { event, stream: u64::MAX };
        let (ended, exceeded) = read(limits, [&stream[..]]);
        let mut from = 0;
        for found in &ended.events {
            prop_assert!(from <= found.span.start && found.span.start < found.span.end);
            prop_assert!(found.data.len() <= event);
            prop_assert!(found.too_large || found.data.len() as u64 == found.data_len);
            from = found.span.end;
        }
        prop_assert!(from <= ended.report.len);
        prop_assert_eq!(ended.report.len, stream.len() as u64);
        prop_assert!(exceeded || ended.events.iter().all(|found| !found.too_large));
    }
}
