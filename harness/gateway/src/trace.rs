//! Where a call belongs: the trace that its client told of, or one of its own.

use birdstrike_wire::json;
use http::HeaderMap;

/// The name of the header, and of the member of `_meta`, that tell a trace (W3C Trace Context).
pub(crate) const TRACEPARENT: &str = "traceparent";

/// The trace of a call. One without a parent begins here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    /// 32 hex digits.
    pub(crate) trace_id: String,
    /// The client's span, 16 hex digits.
    pub(crate) parent: Option<String>,
}

impl Trace {
    /// From the raw `_meta` of a request, else from its headers; what is no `traceparent` is none.
    pub(crate) fn of(meta: Option<&str>, headers: &HeaderMap) -> Self {
        let in_meta = meta.and_then(|meta| json::get_string(meta, TRACEPARENT));
        let in_header = headers.get(TRACEPARENT).and_then(|value| value.to_str().ok());
        let told = in_meta.as_deref().and_then(Self::read);
        told.or_else(|| in_header.and_then(Self::read)).unwrap_or_default()
    }

    /// Version, trace, span and flags, in lower-case hex; a later version may say more.
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let version = parts.next().filter(|version| is_hex(version, 2) && *version != "ff")?;
        let trace_id = parts.next().filter(|id| is_hex(id, 32) && has_digit(id))?;
        let parent = parts.next().filter(|id| is_hex(id, 16) && has_digit(id))?;
        parts.next().filter(|flags| is_hex(flags, 2))?;
        if version == "00" && parts.next().is_some() {
            return None;
        }
        Some(Self { trace_id: trace_id.to_owned(), parent: Some(parent.to_owned()) })
    }
}

impl Default for Trace {
    fn default() -> Self {
        Self { trace_id: uuid::Uuid::new_v4().simple().to_string(), parent: None }
    }
}

/// A name for a span that no other span has: 16 hex digits.
pub(crate) fn span_id() -> String {
    let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
    format!("{:016x}", high ^ low | 1)
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// All zeros stand for no id.
fn has_digit(id: &str) -> bool {
    id.bytes().any(|byte| byte != b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_trace_that_is_told_is_kept_and_the_meta_comes_first() {
        let headers = HeaderMap::from_iter([(
            http::HeaderName::from_static(TRACEPARENT),
            http::HeaderValue::from_static(TOLD),
        )]);
        let told = Trace::of(None, &headers);
        assert_eq!(told.trace_id, "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(told.parent.as_deref(), Some("b7ad6b7169203331"));
        let other = TOLD.replace("0af", "1af");
        let meta = format!("{{\"traceparent\":\"{other}\"}}");
        assert!(Trace::of(Some(&meta), &headers).trace_id.starts_with("1af"));
        assert_eq!(Trace::of(Some("{\"traceparent\":7}"), &headers), told);
    }

    #[test]
    fn what_is_no_trace_begins_one() {
        for wrong in [
            "",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        ] {
            assert_eq!(Trace::read(wrong), None, "{wrong}");
        }
        assert!(Trace::read(&format!("{}-more", TOLD.replacen("00", "01", 1))).is_some());
        let (one, other) = (Trace::default(), Trace::default());
        assert!(is_hex(&one.trace_id, 32) && one != other && one.parent.is_none());
        assert!(is_hex(&span_id(), 16));
    }
}
