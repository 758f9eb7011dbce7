//! The ways in which a record can break its format.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which rule of its format a writer broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BreakKind {
    /// The record does not begin as its format does (`CEF:`, `LEEF:`, `<PRI>`).
    MissingPrefix,
    /// The header ends before all of its fields.
    MissingField,
    /// A header field, or an attribute between two delimiters, that is empty.
    EmptyField,
    /// A header field or key with a character or a length that the format does not allow there.
    BadField,
    /// A format version that does not exist.
    BadVersion,
    /// A severity outside of the format's scale.
    BadSeverity,
    /// A syslog priority that is not 0 to 191 in angle brackets (RFC 5424, section 6.2.1).
    BadPriority,
    /// A time stamp that RFC 5424, section 6.2.3, does not allow.
    BadTimestamp,
    /// A delimiter field of LEEF 2.0 that names no usable character.
    BadDelimiter,
    /// Structured data that does not follow RFC 5424, section 6.3.
    BadStructure,
    /// More pipes than the header has: one in a value was probably not escaped, and every later
    /// field has moved.
    ExtraPipe,
    /// An equals sign in a value that should have been escaped.
    UnescapedEquals,
    /// A bracket in a parameter value that should have been escaped (RFC 5424, section 6.3.3).
    UnescapedBracket,
    /// A backslash that starts no escape of the format; both characters stay in the value.
    UnknownEscape,
    /// A key, member or element that comes twice: a writer's mistake, or a value whose separators
    /// were not escaped. The record alone cannot tell.
    AmbiguousKey,
    /// Text that belongs to no field.
    StrayText,
    /// A line feed or carriage return as it is, where only an escape may stand.
    RawNewline,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// A line that is not a JSON text (RFC 8259).
    BadJson,
    /// A JSON line that is not an object.
    NotAnObject,
    /// One or more lines without content.
    BlankLine,
    /// More bytes than are read of one record.
    TooLong,
    /// The record stops before its end.
    Truncated,
    /// A last line without a line feed, whole otherwise. A remark: it may still be growing.
    Unended,
    /// An octet count that does not lead to the next frame (RFC 6587, section 3.4.1).
    BadCount,
    /// Counted and line-ended frames in one stream.
    MixedFraming,
    /// A line of a stream that does not begin with a priority: the rest of a message with a raw
    /// line feed in it.
    SplitRecord,
    /// UTF-8 in a message without the byte order mark of RFC 5424, section 6.4. A remark: almost
    /// nobody writes it.
    MissingBom,
    /// A header as in RFC 3164. A remark.
    Legacy,
    /// More fields, breaks or records than are kept.
    TooMany,
}

impl BreakKind {
    /// The word that stands in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MissingPrefix => "missing-prefix",
            Self::MissingField => "missing-field",
            Self::EmptyField => "empty-field",
            Self::BadField => "bad-field",
            Self::BadVersion => "bad-version",
            Self::BadSeverity => "bad-severity",
            Self::BadPriority => "bad-priority",
            Self::BadTimestamp => "bad-timestamp",
            Self::BadDelimiter => "bad-delimiter",
            Self::BadStructure => "bad-structure",
            Self::ExtraPipe => "extra-pipe",
            Self::UnescapedEquals => "unescaped-equals",
            Self::UnescapedBracket => "unescaped-bracket",
            Self::UnknownEscape => "unknown-escape",
            Self::AmbiguousKey => "ambiguous-key",
            Self::StrayText => "stray-text",
            Self::RawNewline => "raw-newline",
            Self::InvalidUtf8 => "invalid-utf8",
            Self::BadJson => "bad-json",
            Self::NotAnObject => "not-an-object",
            Self::BlankLine => "blank-line",
            Self::TooLong => "too-long",
            Self::Truncated => "truncated",
            Self::Unended => "unended",
            Self::BadCount => "bad-count",
            Self::MixedFraming => "mixed-framing",
            Self::SplitRecord => "split-record",
            Self::MissingBom => "missing-bom",
            Self::Legacy => "legacy",
            Self::TooMany => "too-many",
        }
    }

    /// Whether it is worth a word but no fault: collectors read such a record right.
    pub const fn is_remark(self) -> bool {
        matches!(self, Self::Unended | Self::MissingBom | Self::Legacy)
    }
}

impl fmt::Display for BreakKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_in_files_is_the_word_in_reports() {
        for kind in [BreakKind::InvalidUtf8, BreakKind::AmbiguousKey, BreakKind::MissingBom] {
            let word = serde_json::to_value(kind).ok();
            assert_eq!(word, Some(kind.as_str().into()));
        }
    }
}
