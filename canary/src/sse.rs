//! A message as an event stream.

use bytes::Bytes;

use crate::pieces::{Piece, Pieces, Text};
use crate::plan::SseStyle;

/// The message as one event, in the given style.
pub(crate) fn frame(text: Text, style: &SseStyle) -> Pieces {
    let mut pieces = opening(style);
    pieces.append(event(text, style));
    pieces
}

/// The message as an event within a stream.
pub(crate) fn event(text: Text, style: &SseStyle) -> Pieces {
    let mut pieces = Pieces::default();
    let end = style.line_end.as_str();
    pieces.push(Piece::Frame(format!("event: message{end}data: ").into()));
    match text {
        Text::Whole(text) => push_lines(&mut pieces, &text, style),
        Text::Filled { before, fill, after } => {
            push_lines(&mut pieces, &before, style);
            pieces.push(Piece::Fill { at: 0, len: fill });
            // Only the first part is split on purpose: structure is all that it has.
            let as_it_is = SseStyle { data_lines: 1, ..style.clone() };
            push_lines(&mut pieces, &after, &as_it_is);
        }
    }
    pieces.push(Piece::Frame(format!("{end}{end}").into()));
    pieces
}

/// A message that belongs to no request, as one event.
pub(crate) fn announced(message: &str) -> Bytes {
    let pieces = frame(Text::from(message.to_owned()), &SseStyle::default());
    pieces.into_bytes()
}

/// What stands before the first event.
pub(crate) fn opening(style: &SseStyle) -> Pieces {
    let end = style.line_end.as_str();
    let bom = if style.bom { "\u{feff}" } else { "" };
    let priming = if style.priming { format!("id: 0{end}data:{end}{end}") } else { String::new() };
    // A line break would end the comment and begin a field.
    let comment = style.comment.as_ref().map(|text| text.replace(['\r', '\n'], " "));
    let comment = comment.map_or_else(String::new, |text| format!(": {text}{end}"));
    let mut pieces = Pieces::default();
    pieces.push(Piece::Frame(format!("{bom}{priming}{comment}").into()));
    pieces
}

/// The text with every line break, its own and those asked for, made the start of a `data` line.
fn push_lines(pieces: &mut Pieces, text: &Bytes, style: &SseStyle) {
    let new_line = Bytes::from(format!("{}data: ", style.line_end.as_str()));
    let asked = split_points(text, style.data_lines);
    let mut asked = asked.into_iter().peekable();
    let (mut from, mut at) = (0, 0);
    while at < text.len() {
        if asked.next_if_eq(&at).is_some() {
            pieces.push(Piece::Text(text.slice(from..at)));
            pieces.push(Piece::Break(new_line.clone()));
            from = at;
        }
        let own = match &text[at..] {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => 0,
        };
        if own > 0 {
            pieces.push(Piece::Text(text.slice(from..at)));
            pieces.push(Piece::Break(new_line.clone()));
            from = at + own;
        }
        at += own.max(1);
    }
    pieces.push(Piece::Text(text.slice(from..)));
}

/// Where to split a JSON text into `lines` lines: after commas and opening braces that stand outside
/// its strings, about evenly. Fewer if it has not enough of them.
fn split_points(text: &[u8], lines: usize) -> Vec<usize> {
    if lines < 2 {
        return Vec::new();
    }
    let (mut in_string, mut escaped) = (false, false);
    let mut places = Vec::new();
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'{' | b'[' if !in_string => places.push(at + 1),
            _ => {}
        }
    }
    let wanted = (lines - 1).min(places.len());
    (0..wanted).map(|n| places[n * places.len() / wanted]).collect()
}

#[cfg(test)]
mod tests {
    use birdstrike_wire::sse::{Kind, Limits, Parser};

    use super::*;
    use crate::plan::LineEnd;

    const MESSAGE: &str = "{\"a\":[1,2,{\"b\":\"x,{y\\\",\"}],\r\n\"c\":0}";

    fn stream(style: &SseStyle) -> Vec<u8> {
        crate::pieces::tests::all(frame(Text::from(MESSAGE.to_owned()), style))
    }

    #[test]
    fn every_style_reads_back_as_the_same_json() {
        for line_end in [LineEnd::Lf, LineEnd::CrLf, LineEnd::Cr] {
            for data_lines in [0, 1, 2, 3, 50] {
                for odd in [false, true] {
                    let style = SseStyle {
                        line_end,
                        data_lines,
                        bom: odd,
                        priming: odd,
                        comment: odd.then(|| "wait\nfor it".to_owned()),
                        chunk: 0,
                    };
                    let mut parser = Parser::new(Limits::default());
                    let at = std::time::Duration::ZERO;
                    parser.push(&stream(&style), at).unwrap();
                    let mut events: Vec<_> = std::iter::from_fn(|| parser.pop()).collect();
                    events.extend(parser.finish(at).events);
                    let message = events.iter().find(|e| e.kind() == Kind::Message).unwrap();
                    assert!(!message.unfinished);
                    let squeezed: Vec<u8> =
                        message.data.iter().copied().filter(|b| *b != b'\n').collect();
                    assert_eq!(squeezed, MESSAGE.replace("\r\n", "").as_bytes(), "{style:?}");
                    assert_eq!(events.len(), if odd { 2 } else { 1 });
                }
            }
        }
    }

    #[test]
    fn a_message_is_never_split_inside_a_string() {
        let points = split_points(MESSAGE.as_bytes(), 100);
        assert_eq!(points, [1, 6, 8, 10, 11, 27]);
        assert_eq!(split_points(MESSAGE.as_bytes(), 3).len(), 2);
        assert!(split_points(b"7", 9).is_empty());
    }
}
