use std::time::Duration;

use super::*;

const ALL: Limits = Limits { event: usize::MAX, stream: u64::MAX };

fn read(stream: &[u8]) -> Ended {
    let mut parser = Parser::new(ALL);
    parser.push(stream, Duration::ZERO).unwrap();
    parser.finish(Duration::ZERO)
}

/// The data of all events, and the breaks as offset and kind.
fn outline(stream: &[u8]) -> (Vec<String>, Vec<(u64, BreakKind)>) {
    let ended = read(stream);
    let data = ended.events.iter().map(|event| String::from_utf8_lossy(&event.data).into_owned());
    let breaks = ended.report.breaks.iter();
    (data.collect(), breaks.map(|found| (found.offset, found.kind)).collect())
}

#[test]
fn a_message_with_every_field() {
    let stream = b": hi\nevent: progress\ndata:{\nid: 7\nretry:250\ndata: }\n\n";
    let ended = read(stream);
    let event = &ended.events[0];
    assert_eq!(event.span, 5..stream.len() as u64);
    assert_eq!(event.event_type(), "progress");
    assert_eq!(event.data, b"{\n}");
    assert_eq!((event.data_len, event.data_lines), (3, 2));
    assert_eq!(event.id.as_deref(), Some("7"));
    assert_eq!((event.retry, ended.report.retry), (Some(250), Some(250)));
    assert!(event.is_dispatched());
    assert_eq!(ended.report.comments.kept, [b" hi".to_vec()]);
    assert_eq!(ended.report.breaks, []);
}

#[test]
fn only_one_space_after_the_colon_goes() {
    let (data, _) = outline(b"data:  two\n\ndata:\tx\n\ndata:none\n\ndata\ndata\n\n");
    assert_eq!(data, [" two", "\tx", "none", "\n"]);
}

#[test]
fn the_last_event_id_is_carried_over_and_can_be_reset() {
    let ended = read(b"id: a\ndata: 1\n\ndata: 2\n\nid\ndata: 3\n\n");
    let ids: Vec<_> = ended
        .events
        .iter()
        .map(|event| (event.id.as_deref(), event.last_event_id.as_str()))
        .collect();
    assert_eq!(ids, [(Some("a"), "a"), (None, "a"), (Some(""), "")]);
}

#[test]
fn events_without_data_are_told_apart() {
    let ended = read(b"id: 1\ndata:\n\nid: 2\n\nretry: 5\n\ndata:\n\n: ping\n\nodd: x\n\n");
    let kinds: Vec<_> =
        ended.events.iter().map(|event| (event.kind(), event.is_dispatched())).collect();
    let expected =
        [(Kind::Priming, true), (Kind::Priming, false), (Kind::Empty, false), (Kind::Empty, true)];
    assert_eq!(kinds, expected);
    assert_eq!(ended.report.last_event_id, "2");
}

#[test]
fn every_line_end_is_counted() {
    let ended = read(b"data: 1\r\n\r\ndata: 2\n\ndata: 3\r\rdata: 4\r");
    let ends = LineEnds { lf: 2, crlf: 2, cr: 3 };
    assert_eq!(ended.report.line_ends, ends);
    assert_eq!(ended.events[0].span, 0..10, "without the last LF");
    assert_eq!(ended.events[1].span, 11..20);
    assert!(ended.events[3].unfinished);
    let breaks: Vec<_> = ended.report.breaks.iter().map(|b| (b.offset, b.kind)).collect();
    assert_eq!(breaks, [(27, BreakKind::BareCr), (29, BreakKind::Unfinished)]);
}

#[test]
fn a_cr_dispatches_without_waiting_for_its_lf() {
    let mut parser = Parser::new(ALL);
    parser.push(b"data: 1\r\n\r", Duration::ZERO).unwrap();
    assert!(parser.pop().is_some());
    parser.push(b"\ndata: 2\n\n", Duration::ZERO).unwrap();
    assert_eq!(parser.drain().count(), 1);
}

#[test]
fn the_first_byte_order_mark_is_skipped_and_others_are_breaks() {
    let (data, breaks) = outline(b"\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\n");
    assert_eq!(data, ["1"]);
    assert_eq!(breaks, [(12, BreakKind::BomInside)]);
    let (data, breaks) = outline(b"\xef\xbb\xbf\xef\xbb\xbfdata: 1\n\n");
    assert_eq!((data, breaks), (vec![], vec![(3, BreakKind::BomInside)]));
    let (_, breaks) = outline(b"\xef\xbbdata: 1\n\n");
    assert_eq!(breaks, [(0, BreakKind::UnknownField)]);
    assert!(read(b"\xef\xbb\xbf").report.bom);
}

#[test]
fn bad_fields_are_noted_where_they_stand_and_ignored() {
    let ended = read(b"id: a\0b\nretry: 1s\nretry:\nfoo: x\n{}\ndata: y\n\n");
    let breaks = &ended.report.breaks;
    let kinds: Vec<_> = breaks.iter().map(|b| (b.offset, b.kind)).collect();
    let expected = [
        (5, BreakKind::NulInId),
        (15, BreakKind::InvalidRetry),
        (24, BreakKind::InvalidRetry),
        (25, BreakKind::UnknownField),
        (32, BreakKind::UnknownField),
    ];
    assert_eq!(kinds, expected);
    let event = &ended.events[0];
    assert_eq!((&event.id, event.retry), (&None, None));
    assert_eq!(ended.report.breaks_in(&event.span).count(), 5);
    let shown = breaks[0].to_string();
    assert!(shown.ends_with("(byte 5 of the stream)"), "{shown}");
}

#[test]
fn data_keep_bytes_that_are_not_utf8() {
    let ended = read(b"data: \xff\ndata: \xe4\xb8\n\nid: \xff\n\n");
    assert_eq!(ended.events[0].data, b"\xff\n\xe4\xb8");
    assert_eq!(ended.events[1].id.as_deref(), Some("\u{fffd}"));
    let offsets: Vec<_> = ended.report.breaks.iter().map(|b| b.offset).collect();
    assert_eq!(offsets, [6, 14, 22]);
}

#[test]
fn what_the_end_of_the_stream_cuts_off_is_kept_as_evidence() {
    let ended = read(b"id: 1\ndata: a\n\nid: 2\ndata: b\ndata: c");
    let lost = &ended.events[1];
    assert!(lost.unfinished && !lost.is_dispatched());
    assert_eq!((&lost.data[..], lost.id.as_deref()), (&b"b\nc"[..], Some("2")));
    assert_eq!(ended.report.last_event_id, "1");
    assert_eq!(outline(b"data: a\n").1, [(0, BreakKind::Unfinished)]);
    assert_eq!(outline(b": ping").1, []);
    // The stream may end inside a character, or inside what could have been a byte order mark.
    assert_eq!(outline(b"data: \xe4\xb8").1, [(0, BreakKind::Unfinished)]);
    assert_eq!(outline(b"\xef\xbb").1, [(0, BreakKind::Unfinished)]);
    // A field that may go on, or not even be complete as a name, is not judged.
    for cut in [&b"retry: 2"[..], b"dat", b"id: 1", b"data"] {
        let ended = read(cut);
        assert_eq!((ended.events.len(), ended.report.retry), (0, None));
        assert_eq!(outline(cut).1, [(0, BreakKind::Unfinished)]);
    }
}

#[test]
fn an_event_that_is_too_large_is_cut_and_the_next_one_is_whole() {
    let limits = Limits { event: 20, ..ALL };
    let mut parser = Parser::new(limits);
    let large = Exceeded::Event { offset: 9, limit: 20 };
    let long = format!("data: 1\n\ndata: {}", "x".repeat(100));
    assert_eq!(parser.push(long.as_bytes(), Duration::ZERO), Err(large));
    assert_eq!(parser.pending_data_len(), 100);
    assert_eq!(parser.push(b"x", Duration::ZERO), Err(large));
    assert_eq!(parser.push(b"\ndata: y\n\n", Duration::ZERO), Err(large));
    assert_eq!(parser.push(b"data: z\n\n", Duration::ZERO), Ok(()));
    let events: Vec<_> = parser.drain().collect();
    assert!(!events[0].too_large && events[1].too_large);
    assert_eq!((events[1].data.len(), events[1].data_len), (14, 103));
    assert_eq!((&events[2].data[..], events[2].too_large), (&b"z"[..], false));
}

#[test]
fn an_event_at_the_limit_is_whole() {
    for (data, fits) in [("x".repeat(14), true), ("x".repeat(15), false)] {
        let mut parser = Parser::new(Limits { event: 20, ..ALL });
        let pushed = parser.push(format!("data: {data}\n\n").as_bytes(), Duration::ZERO);
        assert_eq!(pushed.is_ok(), fits);
        assert_eq!(parser.pop().unwrap().too_large, !fits);
    }
}

#[test]
fn a_field_that_is_cut_is_not_taken_for_another_value() {
    let mut parser = Parser::new(Limits { event: 16, ..ALL });
    let stream = "id: 1234567890123\nretry: 1234567890\ndata: 12345678世\n\n";
    assert!(parser.push(stream.as_bytes(), Duration::ZERO).is_err());
    let event = parser.pop().unwrap();
    assert_eq!((event.id, event.retry), (None, None));
    assert_eq!((event.data_len, event.data.len()), (11, 10));
    let kinds: Vec<_> = parser.report().breaks.iter().map(|b| b.kind).collect();
    assert_eq!(kinds, [BreakKind::EventTooLarge], "half a character is no break");
}

#[test]
fn a_flood_of_comments_costs_nothing() {
    let limits = Limits { event: 20, ..ALL };
    let mut parser = Parser::new(limits);
    let flood = format!(":{}\n", "-".repeat(1000)).repeat(100);
    parser.push(flood.as_bytes(), Duration::ZERO).unwrap();
    for _ in 0..1000 {
        parser.push(b":-", Duration::ZERO).unwrap();
    }
    assert!(parser.report().comments.kept.len() == KEPT_COMMENTS);
    let ended = parser.finish(Duration::ZERO);
    let comments = &ended.report.comments;
    assert_eq!((comments.count, comments.bytes), (101, 100_000 + 1999));
    assert!(comments.kept.iter().all(|c| c.len() <= KEPT_COMMENT_BYTES));
    assert_eq!(ended.report.breaks, []);
}

#[test]
fn nothing_is_read_past_the_end_that_was_allowed() {
    let limits = Limits { stream: 12, ..ALL };
    let mut parser = Parser::new(limits);
    let end = Err(Exceeded::Stream { limit: 12 });
    assert_eq!(parser.push(b"data: 1\n\n", Duration::ZERO), Ok(()));
    assert_eq!(parser.push(b"data: 2\n\n", Duration::ZERO), end);
    assert_eq!(parser.push(b"data: 3\n\n", Duration::ZERO), end);
    let ended = parser.finish(Duration::ZERO);
    assert_eq!((ended.events.len(), ended.report.len), (1, 12));
    let kinds: Vec<_> = ended.report.breaks.iter().map(|b| b.kind).collect();
    assert_eq!(kinds, [BreakKind::StreamTooLong, BreakKind::Unfinished]);
}

#[test]
fn pending_data_are_counted_while_their_line_is_read() {
    let mut parser = Parser::new(ALL);
    let mut seen = Vec::new();
    for piece in ["da", "ta", ":", " ", "ab", "\n", "data:c", "\n", "id: 1", "\n", "\n"] {
        parser.push(piece.as_bytes(), Duration::ZERO).unwrap();
        seen.push(parser.pending_data_len());
    }
    assert_eq!(seen, [0, 0, 0, 0, 2, 2, 4, 4, 4, 4, 0]);
}

#[test]
fn breaks_are_counted_beyond_those_kept() {
    let ended = read(&b"x\n".repeat(1000));
    assert_eq!(ended.report.breaks.len(), KEPT_BREAKS);
    assert_eq!(ended.report.breaks_seen, 1001);
}

#[test]
fn a_retry_time_beyond_all_numbers_is_as_long_as_can_be() {
    let ended = read(b"retry: 99999999999999999999999\n\n");
    assert_eq!(ended.report.retry, Some(u64::MAX));
}
