//! Evidence: both legs of a call as people read them, bounded.

use birdstrike_wire::capture::Capture;

use crate::cell::fire::Fired;
use crate::client::Body;
use crate::record::Evidence;

/// Bytes shown of one leg.
const SHOWN: usize = 4_096;

/// Bytes as text: what is not UTF-8 is replaced, and of a long text the beginning and the end are
/// kept with the count of what is left out.
pub fn excerpt(bytes: &[u8], most: usize) -> String {
    if bytes.len() <= most {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let (head, tail) = (&bytes[..most * 3 / 4], &bytes[bytes.len() - most / 4..]);
    let left_out = bytes.len() - head.len() - tail.len();
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    format!("{head} [… {left_out} bytes …] {tail}")
}

/// A captured body as text.
pub fn capture(capture: &Capture) -> String {
    match capture.whole() {
        Some(whole) => excerpt(whole, SHOWN),
        None => format!(
            "{} [… {} bytes in all, SHA-256 {} …] {}",
            excerpt(capture.head(), SHOWN / 2),
            capture.len(),
            capture.sha256_hex(),
            excerpt(&capture.tail()[capture.tail().len().saturating_sub(SHOWN / 4)..], SHOWN / 4),
        ),
    }
}

/// The evidence of one call.
pub fn of(fired: &Fired, differences: &[String], log: Vec<String>) -> Evidence {
    let transcript = &fired.transcript;
    Evidence {
        request: excerpt(transcript.request.as_bytes(), SHOWN),
        upstream_request: fired.upstream.request.as_ref().map(capture),
        upstream: fired.upstream.sent.as_ref().map(capture),
        downstream: transcript.status.map(|_| downstream(fired)),
        status: transcript.status,
        ending: transcript.ending.words(),
        differences: differences.to_vec(),
        log,
        sinks: Vec::new(),
    }
}

/// What the client received: of a batch the call's own entry, else the whole body.
fn downstream(fired: &Fired) -> String {
    match (&fired.entry, &fired.answer.body) {
        (Some(entry), _) if !entry.is_empty() => excerpt(entry, SHOWN),
        (_, Body::Large(large)) => capture(large),
        _ => capture(&fired.transcript.body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_keep_both_ends() {
        assert_eq!(excerpt(b"abc", 8), "abc");
        assert_eq!(excerpt(b"abcdefghijklmnop", 8), "abcdef [… 8 bytes …] op");
    }
}
