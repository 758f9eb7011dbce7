//! What a sink received, as the record of a call: which call it belongs to, what its fields say,
//! and whether a planted value stayed inside of its field.

use memchr::memmem;

use crate::formats::{self, Fate, Format, Part, Place, Planted, Record};
use crate::pointer::Pointer;
use crate::scan::Doc;

/// How the records of a sink are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// A JSON document.
    Json,
    /// A JSON document behind a syslog header.
    JsonInSyslog,
    /// One of the line formats, with or without a syslog header.
    In(Format),
    /// Text; the whole line is one field.
    Text,
}

/// What tells the records of one call from those of others.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// 32 lower-case hex digits: the trace that the call belongs to. The calls of a batch share it.
    pub trace: String,
    /// Texts that only this call has: its nonce, the id that the gateway gave it.
    pub own: Vec<String>,
    /// The same of the other calls of its batch.
    pub others: Vec<String>,
    /// The name of the tool, where no other call uses it.
    pub tool: Option<String>,
}

/// Why a record is taken for one of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tie {
    /// It carries the call's own nonce, id, or a trace that no other call has.
    Own,
    /// It carries the trace of the batch, and nothing that tells the calls of it apart.
    Batch,
    /// It carries the name of a tool that only this call uses.
    Tool,
}

impl Tie {
    /// The word that stands in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Batch => "batch",
            Self::Tool => "tool",
        }
    }
}

/// The spellings under which the records of a call are found; made once and used on many records.
#[derive(Clone, Debug)]
pub struct Ties {
    traces: Vec<String>,
    call: Call,
}

impl Ties {
    /// Prepares the search. A trace id is sought in lower and upper case and in base64, as
    /// exporters write it.
    pub fn new(call: Call) -> Self {
        let mut traces = Vec::new();
        if !call.trace.is_empty() {
            traces.push(call.trace.clone());
            traces.push(call.trace.to_ascii_uppercase());
            traces.extend(base64_of_hex(&call.trace));
        }
        Self { traces, call }
    }

    /// Why these bytes are a record of the call; nothing where they are none.
    pub fn tie(&self, record: &[u8]) -> Option<Tie> {
        let holds =
            |text: &String| !text.is_empty() && memmem::find(record, text.as_bytes()).is_some();
        let (own, others) = (self.call.own.iter().any(holds), self.call.others.iter().any(holds));
        match (own, others) {
            (true, false) => return Some(Tie::Own),
            // All calls of the batch in one record.
            (true, true) => return Some(Tie::Batch),
            (false, true) => return None,
            (false, false) => {}
        }
        if self.traces.iter().any(holds) {
            return Some(if self.call.others.is_empty() { Tie::Own } else { Tie::Batch });
        }
        self.call.tool.as_ref().filter(|tool| holds(tool)).map(|_| Tie::Tool)
    }
}

fn base64_of_hex(hex: &str) -> Option<String> {
    use base64::Engine as _;
    let digits = hex.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> =
        digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect();
    Some(base64::engine::general_purpose::STANDARD.encode(bytes?))
}

/// One record of a sink, read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Its fields and what is wrong with them; breaks of a syslog header come first. Text is one
    /// field without a name.
    pub record: Record,
    /// The JSON document in it.
    json: Option<Vec<u8>>,
}

impl Reading {
    /// Reads one record.
    pub fn of(written: Written, raw: &[u8]) -> Self {
        match written {
            Written::Json => {
                let record = formats::jsonl::record(raw);
                Self { record, json: Some(raw.to_vec()) }
            }
            Written::JsonInSyslog => in_syslog(raw),
            Written::In(format) => Self { record: formats::read_one(format, raw), json: None },
            Written::Text => {
                let value = String::from_utf8_lossy(raw).into_owned();
                let (part, name, span) = (Part::Body, String::new(), 0..raw.len());
                let fields = vec![formats::Field { part, name, value, span: span.clone() }];
                let (format, breaks) = (Format::JsonLines, Vec::new());
                Self { record: Record { format, fields, span, breaks }, json: None }
            }
        }
    }

    /// The value at a place, as JSON text: in JSON a JSON Pointer; elsewhere the name of a field,
    /// with or without a slash before it, whose value is a string.
    pub fn field(&self, at: &str) -> Option<String> {
        let Some(json) = &self.json else {
            let name = at.strip_prefix('/').unwrap_or(at);
            return self.record.get(name).map(birdstrike_wire::json::quote);
        };
        let doc = Doc::scan(json).ok()?;
        let node = doc.at(&Pointer::parse(at).ok()?)?;
        Some(node.raw().to_owned())
    }

    /// The field with the most characters, and how many it has.
    pub fn longest(&self) -> Option<(&str, usize)> {
        let lengths = self.record.fields.iter().map(|field| (&*field.name, &field.value));
        lengths.map(|(name, value)| (name, value.chars().count())).max_by_key(|(_, n)| *n)
    }
}

fn in_syslog(raw: &[u8]) -> Reading {
    let outer = formats::syslog::parse(raw);
    let message = outer.field(Part::Body, "msg").map_or(0..0, |field| field.span.clone());
    let json = raw.get(message.clone()).unwrap_or_default().to_vec();
    let mut record = formats::jsonl::record(&json);
    record.shift(message.start);
    record.breaks.splice(0..0, outer.breaks);
    Reading { record, json: Some(json) }
}

/// Where a part of a planted value left its field: the separators in it were obeyed. Values were
/// planted in `texts`, JSON documents (what is none is passed over): every string that holds two
/// different ones of the markers, with a separator of some format between them. A value whose head
/// stands nowhere is passed over: it was taken out, and its tail left, which is no forgery.
pub fn escaped(records: &[Record], texts: &[&[u8]], markers: &[String]) -> Option<Place> {
    let heads = |head: &str| {
        let fields = records.iter().flat_map(|record| &record.fields);
        fields.into_iter().any(|field| field.value.contains(head) || field.name.contains(head))
    };
    let planted = planted(texts, markers).into_iter().filter(|(head, _)| heads(head));
    let planted: Vec<Planted> = planted.map(|(_, planted)| planted).collect();
    formats::forged(records, &planted).into_iter().find_map(|fate| match fate {
        Fate::Forged(place) => Some(place),
        _ => None,
    })
}

/// Where a record holds a character that was cut in two: U+FFFD, although nothing of the kind was
/// sent. `texts` are what was sent, JSON documents; what is none is passed over. Where they hold
/// control characters or separators of lines a writer may have its reasons.
pub fn torn(records: &[Record], texts: &[&[u8]]) -> Option<Place> {
    let odd = |c: char| c == '\u{FFFD}' || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if texts.iter().any(|text| strings(text).iter().any(|string| string.contains(odd))) {
        return None;
    }
    records.iter().enumerate().find_map(|(record, found)| {
        let field = found.fields.iter().position(|field| field.value.contains('\u{FFFD}'))?;
        Some(Place { record, field })
    })
}

/// All strings of a JSON document; none where it is no such document.
fn strings(text: &[u8]) -> Vec<String> {
    let Ok(doc) = Doc::scan(text) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut open = vec![doc.root()];
    while let Some(node) = open.pop() {
        found.extend(node.string().map(|string| string.text().into_owned()));
        open.extend(node.items());
        open.extend(node.members().map(|member| member.value));
    }
    found
}

/// The values that were planted to be split, and their heads.
fn planted(texts: &[&[u8]], markers: &[String]) -> Vec<(String, Planted)> {
    let mut found: Vec<(String, Planted)> = Vec::new();
    for string in texts.iter().flat_map(|text| strings(text)) {
        for planted in pairs(&string, markers) {
            if !found.contains(&planted) {
                found.push(planted);
            }
        }
    }
    found
}

/// Neighbouring markers of one string, with what stands between them.
fn pairs(text: &str, markers: &[String]) -> Vec<(String, Planted)> {
    let mut places: Vec<(usize, &String)> = markers
        .iter()
        .filter(|marker| !marker.is_empty())
        .flat_map(|marker| text.match_indices(marker.as_str()).map(move |(at, _)| (at, marker)))
        .collect();
    // Of markers that begin alike the longer one is meant.
    places.sort_by_key(|(at, marker)| (*at, std::cmp::Reverse(marker.len())));
    places.dedup_by_key(|(at, _)| *at);
    let neighbours = places.windows(2).filter_map(|two| {
        let [(at, head), (end, tail)] = two else {
            return None;
        };
        let between = text.get(at + head.len()..*end)?;
        let planted = head != tail && between.contains(separates);
        planted.then(|| ((*head).clone(), Planted::new(head, between, tail)))
    });
    neighbours.collect()
}

/// Whether some format gives a character a meaning.
fn separates(c: char) -> bool {
    c.is_control() || "=|\"'\\[]{}<>".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    fn ties(own: &[&str], others: &[&str], tool: Option<&str>) -> Ties {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        let (own, others) = (texts(own), texts(others));
        Ties::new(Call { trace: TRACE.into(), own, others, tool: tool.map(str::to_owned) })
    }

    #[test]
    fn a_trace_is_known_in_every_spelling() {
        let alone = ties(&["bs1"], &[], None);
        let upper = TRACE.to_uppercase();
        for text in [TRACE, upper.as_str(), "CvdlGRbNQ92ESOshHIAxnA==", "x bs1-note y"] {
            assert_eq!(alone.tie(text.as_bytes()), Some(Tie::Own), "{text}");
        }
        assert_eq!(alone.tie(b"another"), None);
    }

    #[test]
    fn calls_of_a_batch_are_told_apart_by_what_is_their_own() {
        let one = ties(&["bs1", "id-1"], &["bs2", "id-2"], None);
        let told = |text: &str| one.tie(format!("{TRACE} {text}").as_bytes());
        assert_eq!(told("id-1"), Some(Tie::Own));
        assert_eq!(told("id-2"), None);
        assert_eq!(told("bs1 bs2"), Some(Tie::Batch));
        assert_eq!(told(""), Some(Tie::Batch));
    }

    #[test]
    fn the_tools_name_is_the_last_resort() {
        let one = ties(&["bs1"], &[], Some("my_tool"));
        assert_eq!(one.tie(b"calls_total{tool=\"my_tool\"} 1"), Some(Tie::Tool));
        assert_eq!(ties(&["bs1"], &[], None).tie(b"my_tool"), None);
    }

    #[test]
    fn fields_are_found_in_every_format() {
        let json = Reading::of(Written::Json, br#"{"event":{"type":"call_failed","n":3}}"#);
        assert_eq!(json.field("/event/type").as_deref(), Some("\"call_failed\""));
        assert_eq!(json.field("/event/n").as_deref(), Some("3"));
        assert_eq!(json.longest(), Some(("event/type", 11)));
        let cef = Reading::of(Written::In(Format::Cef), b"CEF:0|a|b|1|call|n|5|act=denied");
        assert_eq!(cef.field("act").as_deref(), Some("\"denied\""));
        let wrapped = br#"<134>1 2026-01-01T00:00:00Z h app - - - {"outcome":"failed"}"#;
        let wrapped = Reading::of(Written::JsonInSyslog, wrapped);
        assert_eq!(wrapped.field("/outcome").as_deref(), Some("\"failed\""));
        assert!(wrapped.record.is_sound(), "{:?}", wrapped.record);
        let text = Reading::of(Written::Text, "größe".as_bytes());
        assert_eq!((text.longest(), text.field("x")), (Some(("", 5)), None));
    }

    #[test]
    fn planted_values_are_found_by_their_markers() {
        let markers = ["bs1-head".to_owned(), "bs1-tail".to_owned(), "bs1-tail-2".to_owned()];
        let request = br#"{"a":"x bs1-head\n|act=bs1-tail-2","b":"bs1-head bs1-tail"}"#;
        let found = planted(&[request, b"no json"], &markers);
        let wanted = Planted::new("bs1-head", "\n|act=", "bs1-tail-2");
        assert_eq!(found, [("bs1-head".to_owned(), wanted)]);
    }

    #[test]
    fn what_left_its_field_is_told_from_what_was_taken_out() {
        let markers = ["HEAD".to_owned(), "TAIL".to_owned()];
        let sent: &[&[u8]] = &[br#"{"msg":"password=HEAD act=TAIL"}"#];
        let place = |msg: &str| {
            let line = format!("CEF:0|a|b|1|c|d|5|msg={msg}");
            let record = formats::read_one(Format::Cef, line.as_bytes());
            escaped(&[record], sent, &markers)
        };
        assert_eq!(place("password\\=HEAD act\\=TAIL"), None);
        assert_eq!(place("password\\=*** act\\=TAIL"), None);
        let forged = place("password\\=HEAD act=TAIL").map(|place| place.field);
        assert_eq!(forged, Some(8));
    }

    #[test]
    fn a_torn_character_is_told_from_one_that_was_sent() {
        let record = |text: &str| Reading::of(Written::Text, text.as_bytes()).record;
        let torn = |sent: &[u8]| torn(&[record("fine"), record("caf\u{FFFD}…")], &[sent]);
        assert_eq!(torn("{\"a\":\"café\"}".as_bytes()), Some(Place { record: 1, field: 0 }));
        assert_eq!(torn("{\"a\":\"caf\u{FFFD}\"}".as_bytes()), None);
        assert_eq!(torn(br#"{"a":"x\u2028y"}"#), None);
    }
}
