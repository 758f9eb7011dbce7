//! Whether a value with separators in it stayed one value.
//!
//! A record alone cannot tell a forged field from an honest one; a value that is known can. It is
//! planted with a marker on either side of its separators: where the second marker turns up without
//! the first, the separators were obeyed.

use memchr::memmem::Finder;

use super::Record;

/// A value made to be split: a unique head, separators, a unique tail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted {
    text: String,
    head: String,
    tail: String,
}

impl Planted {
    /// Head, separators and tail in this order. Head and tail must be unique in the run and must
    /// need no escaping, as the texts of [`Marker`](crate::Marker) do; with an empty one nothing is
    /// ever found.
    ///
    /// Separators are for instance ` act=allowed suser=`, `|`, or a line feed and
    /// `<134>1 2026-01-01T00:00:00Z h app - - - `.
    pub fn new(head: &str, separators: &str, tail: &str) -> Self {
        let text = [head, separators, tail].concat();
        Self { text, head: head.to_owned(), tail: tail.to_owned() }
    }

    /// The value to plant.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A field among records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which record, counted from 0.
    pub record: usize,
    /// Which of its fields, counted from 0.
    pub field: usize,
}

/// What became of a planted value; of several copies the worst, which is the later variant, and of
/// those the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Neither end of it was found.
    Absent,
    /// It is one value, whole.
    Whole(Place),
    /// It was shortened: its head is here and its tail is not.
    Cut(Place),
    /// Both ends are in one value, but not what stood between them.
    Altered(Place),
    /// Its tail is here without its head, or in a key: the separators were obeyed, and this field
    /// or record is forged.
    Forged(Place),
}

impl Fate {
    fn rank(self) -> u8 {
        match self {
            Self::Absent => 0,
            Self::Whole(_) => 1,
            Self::Cut(_) => 2,
            Self::Altered(_) => 3,
            Self::Forged(_) => 4,
        }
    }
}

/// Tells what became of each planted value, in the order given. One pass over the records for each.
pub fn forged(records: &[Record], planted: &[Planted]) -> Vec<Fate> {
    planted.iter().map(|planted| fate(records, planted)).collect()
}

fn fate(records: &[Record], planted: &Planted) -> Fate {
    if planted.head.is_empty() || planted.tail.is_empty() {
        return Fate::Absent;
    }
    let whole = Finder::new(&planted.text);
    let head = Finder::new(&planted.head);
    let tail = Finder::new(&planted.tail);
    let within = |finder: &Finder<'_>, text: &str| finder.find(text.as_bytes()).is_some();
    let mut worst = Fate::Absent;
    for (record, found) in records.iter().enumerate() {
        for (field, found) in found.fields.iter().enumerate() {
            let place = Place { record, field };
            let ends = (within(&head, &found.value), within(&tail, &found.value));
            let here = match ends {
                _ if within(&tail, &found.name) => Fate::Forged(place),
                (true, true) if within(&whole, &found.value) => Fate::Whole(place),
                (true, true) => Fate::Altered(place),
                (true, false) => Fate::Cut(place),
                (false, true) => Fate::Forged(place),
                (false, false) => continue,
            };
            if here.rank() > worst.rank() {
                worst = here;
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{Format, Framing, read};

    fn fate_in(format: Format, framing: Framing, planted: &Planted, written: &str) -> Fate {
        fate(&read(format, framing, written.as_bytes()), planted)
    }

    #[test]
    fn keys_are_forged_only_by_unescaped_signs() {
        let planted = Planted::new("HEAD", " act=allowed suser=", "TAIL");
        let fate = |value: &str| {
            let written = format!("CEF:0|a|b|1|c|d|5|act=denied msg={value} cs1=x\n");
            fate_in(Format::Cef, Framing::Lines, &planted, &written)
        };
        assert_eq!(fate(planted.text()), Fate::Forged(Place { record: 0, field: 10 }));
        let whole = Fate::Whole(Place { record: 0, field: 8 });
        assert_eq!(fate("HEAD act\\=allowed suser\\=TAIL"), whole);
        assert!(matches!(fate("HEAD act allowed suser TAIL"), Fate::Altered(_)));
        assert!(matches!(fate("HEAD act..."), Fate::Cut(_)));
        assert_eq!(fate("nothing"), Fate::Absent);
    }

    #[test]
    fn pipes_move_fields() {
        let planted = Planted::new("HEAD", "|", "TAIL");
        let fate = |value: &str| {
            let written = format!("CEF:0|a|b|1|{value}|d|5|k=HEAD|TAIL");
            fate_in(Format::Cef, Framing::Datagram, &planted, &written)
        };
        assert!(matches!(fate("HEAD|TAIL"), Fate::Forged(_)));
        assert!(matches!(fate("HEAD\\|TAIL"), Fate::Whole(_)));
    }

    #[test]
    fn line_feeds_forge_messages_on_a_stream_but_not_behind_a_count() {
        let planted = Planted::new("HEAD", "\n<134>1 2026-01-01T00:00:00Z h app - - - ", "TAIL");
        let message = format!("<134>1 - h app - - - {}", planted.text());
        let lines = format!("{message}\n");
        let fate = fate_in(Format::Syslog, Framing::Stream, &planted, &lines);
        assert_eq!(fate, Fate::Forged(Place { record: 1, field: 7 }));
        let counted = format!("{} {message}", message.len());
        let fate = fate_in(Format::Syslog, Framing::Stream, &planted, &counted);
        assert!(matches!(fate, Fate::Whole(_)));
        let json = format!("{}\n", serde_json::json!({ "msg": planted.text() }));
        let fate = fate_in(Format::JsonLines, Framing::Lines, &planted, &json);
        assert!(matches!(fate, Fate::Whole(_)));
    }

    #[test]
    fn one_bad_copy_outweighs_a_good_one() {
        let planted = Planted::new("HEAD", "\t", "TAIL");
        let written = "LEEF:1.0|a|b|1|c|x=HEAD\\tTAIL\ty=HEAD\tTAIL=z";
        let fate = fate_in(Format::Leef, Framing::Datagram, &planted, written);
        assert_eq!(fate, Fate::Forged(Place { record: 0, field: 7 }));
    }
}
