//! The search for markers: planted in every coding, at every place, found again.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::io::Write;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use birdstrike_judge::marker::{Coding, Hit, MAX_HITS, Marker, Searcher, search};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// The text with an escape for every character whose bit is set.
fn escaped(text: &str, bits: u64, escape: impl Fn(char) -> String) -> String {
    let one = |(at, c): (usize, char)| {
        if bits >> (at % 64) & 1 == 1 { escape(c) } else { c.to_string() }
    };
    text.chars().enumerate().map(one).collect()
}

fn json(c: char) -> String {
    format!("\\u{:04X}", u32::from(c))
}

fn percent(c: char) -> String {
    format!("%{:02x}", u32::from(c))
}

#[test]
fn a_marker_is_readable_unique_and_the_same_every_time() {
    let marker = Marker::new("link.0 Ü", "N17");
    assert_eq!(marker, Marker::new("link.0 Ü", "N17"));
    assert!(marker.text().starts_with(marker.head()));
    assert!(marker.text().contains("-n17-link-0---"), "{}", marker.text());
    assert_eq!(marker.name(), "link.0 Ü");
    let names = ["", "text", "text.0", "text-0", "TEXT", "data", "data.code"];
    let nonces = ["", "1", "2", "n-1", "1-text"];
    let all: Vec<_> =
        nonces.iter().flat_map(|nonce| names.map(|name| Marker::new(name, nonce))).collect();
    for (at, marker) in all.iter().enumerate() {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(marker.text().chars().all(plain), "{}", marker.text());
        let found: Vec<_> = search(&all, marker.text().as_bytes());
        assert_eq!(found, [Hit { offset: 0, marker: at, coding: Coding::Raw, whole: true }]);
    }
}

#[test]
fn a_long_marker_has_its_length_and_both_ends() {
    let short = Marker::new("text", "1");
    assert_eq!(Marker::long("text", "1", 10), short);
    for length in [short.text().len(), 100, 65_536] {
        let long = Marker::long("text", "1", length);
        assert_eq!((long.text().len(), long.head()), (length, short.head()));
        let cut = &long.text()[..length - 1];
        let hits = search(std::slice::from_ref(&long), cut.as_bytes());
        assert_eq!(hits, [Hit { offset: 0, marker: 0, coding: Coding::Raw, whole: false }]);
    }
}

#[test]
fn codings_nest() {
    let marker = Marker::new("text", "1");
    let found = |haystack: &[u8]| {
        let hits = search(std::slice::from_ref(&marker), haystack);
        hits.iter().map(|hit| (hit.coding, hit.whole)).collect::<Vec<_>>()
    };
    let layered = escaped(marker.text(), 0b1010, json).replace('\\', "\\\\\\\\");
    assert_eq!(found(layered.as_bytes()), [(Coding::JsonEscaped, true)]);
    let layered = escaped(marker.text(), u64::MAX, percent).replace('%', "%2525");
    assert_eq!(found(layered.as_bytes()), [(Coding::Percent, true)]);
    let coded = STANDARD.encode(format!("x{}", marker.text()));
    assert_eq!(found(&gzip(coded.as_bytes())), [(Coding::Gzip, true)]);
    let escapes = escaped(marker.text(), 1, json);
    assert_eq!(found(&gzip(escapes.as_bytes())), [(Coding::Gzip, true)]);
    // A head as it is and a tail in escapes make one whole marker.
    let tail_escaped = escaped(marker.text(), 1 << 20, json);
    assert_eq!(found(tail_escaped.as_bytes()), [(Coding::JsonEscaped, true)]);
    assert!(found(&marker.head().as_bytes()[..13]).is_empty());
    assert!(found(b"").is_empty() && search(&[], b"bsmk").is_empty());
}

#[test]
fn broken_gzip_counts_for_what_comes_out_of_it() {
    let marker = Marker::new("text", "1");
    let mut haystack = vec![0x1F, 0x8B, 0x08, 0xFF, 0x1F, 0x8B, 0x08];
    let begin = haystack.len();
    let mut packed = gzip(format!("{} {}", marker.text(), "abc ".repeat(1000)).as_bytes());
    packed.truncate(packed.len() - 9);
    haystack.extend(packed);
    let hits = search(&[marker], &haystack);
    assert_eq!(hits, [Hit { offset: begin, marker: 0, coding: Coding::Gzip, whole: true }]);
}

#[test]
fn texts_that_are_not_ours_are_sought_whole() {
    let token = Marker::literal("token", "ghp_A/b+c?\"zz~~");
    let empty = Marker::literal("nothing", "");
    let found = |haystack: &str| search(&[empty.clone(), token.clone()], haystack.as_bytes());
    assert_eq!(found(token.text())[0].marker, 1);
    assert_eq!(found(r#""ghp_A\/b\u002bc?\"zz~~""#)[0].coding, Coding::JsonEscaped);
    assert_eq!(found("ghp_A%2Fb%2bc%3f%22zz~~")[0].coding, Coding::Percent);
    for alignment in ["", "x", "xy"] {
        let text = format!("{alignment}{}>>>", token.text());
        assert_eq!(found(&STANDARD.encode(&text))[0].coding, Coding::Base64);
        assert_eq!(found(&URL_SAFE_NO_PAD.encode(&text))[0].coding, Coding::Base64);
    }
    assert!(found("ghp_A/b+c").is_empty());
}

#[test]
fn search_is_fast_and_bounded() {
    let begun = Instant::now();
    let markers: Vec<_> = (0..100).map(|n| Marker::new("text", &n.to_string())).collect();
    let searcher = Searcher::new(&markers);
    let repeated = markers[7].text().repeat(20_000);
    assert_eq!(searcher.search(repeated.as_bytes()).len(), MAX_HITS);
    for awkward in [&b"\\"[..], b"%25", b"\\u0062", b"\x1f\x8b\x08\x08", b"bsm", b"YnNt", b"bsmk"] {
        assert!(searcher.search(&awkward.repeat(1 << 18)).is_empty());
    }
    let bomb = gzip(&vec![b'x'; 80 << 20]);
    assert!(searcher.search(&bomb.repeat(2)).is_empty());
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
}

/// One way to write a marker, and the coding in which it must be found.
fn planted(marker: &Marker, way: usize, bits: u64) -> (Coding, Vec<u8>) {
    let text = marker.text();
    // At least one escape has to stand in it.
    let bits = bits | 1 << (bits % 14);
    match way {
        0 => (Coding::Raw, text.into()),
        1 => (Coding::JsonEscaped, escaped(text, bits, json).into()),
        2 => (Coding::Percent, escaped(text, bits, percent).into()),
        3 => (Coding::Gzip, gzip(text.as_bytes())),
        // Of something larger, at any of the three alignments.
        _ => {
            let larger = format!("{}{text}\u{e9}", "?>~".repeat(2).split_at(way - 4).0);
            let coded = if bits & 2 == 0 {
                STANDARD.encode(larger)
            } else {
                URL_SAFE_NO_PAD.encode(larger)
            };
            (Coding::Base64, coded.into())
        }
    }
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn planted_markers_are_found_where_they_stand(
        before in prop::collection::vec(any::<u8>(), 0..200),
        after in prop::collection::vec(any::<u8>(), 0..50),
        way in 0_usize..7, bits in any::<u64>(), length in 0_usize..200,
    ) {
        let markers = [Marker::new("other", "1"), Marker::long("text", "1", length)];
        let (coding, coded) = planted(&markers[1], way, bits);
        // A separator, so that random neighbours cannot become part of an escape.
        let mut haystack = before;
        haystack.push(b' ');
        let begin = haystack.len();
        haystack.extend(coded);
        haystack.push(b' ');
        haystack.extend(after);
        let hits = search(&markers, &haystack);
        prop_assert_eq!(hits.len(), 1, "{:?}", hits);
        prop_assert_eq!((hits[0].marker, hits[0].coding, hits[0].whole), (1, coding, true));
        if coding == Coding::Base64 {
            prop_assert!((begin..begin + 16).contains(&hits[0].offset));
        } else {
            prop_assert_eq!(hits[0].offset, begin);
        }
    }

    #[test]
    fn cut_markers_are_found_as_heads(
        before in prop::collection::vec(any::<u8>(), 0..100),
        way in 0_usize..7, bits in any::<u64>(), cut in any::<prop::sample::Index>(),
    ) {
        let marker = Marker::long("text", "1", 60);
        // What is left has the head and lacks some of the tail.
        let left = marker.head().len() + 2 + cut.index(marker.text().len() - marker.head().len() - 4);
        let stump = Marker::literal("stump", &marker.text()[..left]);
        let (coding, coded) = planted(&stump, way, bits);
        let mut haystack = before;
        haystack.push(b' ');
        haystack.extend(coded);
        let hits = search(&[marker], &haystack);
        prop_assert_eq!(hits.len(), 1, "{:?}", hits);
        prop_assert_eq!((hits[0].coding, hits[0].whole), (coding, false));
    }

    #[test]
    fn no_bytes_make_it_stumble(haystack in prop::collection::vec(
        prop::sample::select(&b"\\\\\\u0062%25%62bsmkYnNt\x1f\x8b\x08\x00\xff\"/"[..]), 0..300,
    )) {
        let searcher = Searcher::new(&[Marker::new("a", "1"), Marker::literal("b", "b")]);
        for hit in searcher.search(&haystack) {
            prop_assert!(hit.offset < haystack.len());
        }
    }
}
