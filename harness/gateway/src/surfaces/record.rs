//! What a finished call leaves behind.
//!
//! One record is made of a call, once, and every sink is handed the same: no two of them can tell
//! different stories. It holds no part of a result.

use birdstrike_wire::json;
use jiff::Timestamp;

use super::is_error::{Finish, Outcome};

/// A finished call, ready to be told: without secrets, its texts cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// Its name, which no other call has.
    pub call_id: String,
    /// The trace it belongs to, 32 hex digits.
    pub trace_id: String,
    /// Its own span, 16 hex digits.
    pub span_id: String,
    /// The client's span, 16 hex digits.
    pub parent_span_id: Option<String>,
    /// What was asked for, such as `tools/call`.
    pub method: &'static str,
    /// The tool as the client named it; or the prompt, or the URI of the resource.
    pub tool: String,
    /// The upstream; empty if none has the tool.
    pub upstream: String,
    /// The route it came by.
    pub route: &'static str,
    /// The name of the caller; empty for one without a name.
    pub caller: String,
    /// How it ended, in the log's words.
    pub outcome: Outcome,
    /// Whether it did what was asked, as events, audit and metrics have it.
    pub finish: Finish,
    /// The same for its span.
    pub span_finish: Finish,
    /// The JSON-RPC code of the error that the client got; `None` for a result, failed or not.
    pub code: Option<i64>,
    /// The kind of trouble in one word from a short list; `None` if there was none.
    pub error_type: Option<&'static str>,
    /// Bytes of the upstream's message; 0 if there was none.
    pub bytes: usize,
    /// Milliseconds it took.
    pub elapsed_ms: u64,
    /// Whether the upstream is well after this call; `None` if it says nothing about that.
    pub healthy: Option<bool>,
    /// The arguments as an object, JSON text.
    pub arguments: String,
    /// Their hash, in hex.
    pub arguments_sha256: String,
    /// What is told of the result: nothing, unless a step says otherwise.
    pub result: Option<String>,
    /// The words of a failure for alerts.
    pub alert_words: Option<String>,
    /// The words of a failure for the log.
    pub log_words: Option<String>,
    /// What mutators changed.
    pub changes: Vec<super::mutators::Change>,
}

/// A member of a record, as formats with a fixed set of types have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
    /// JSON text, an object.
    Json(String),
}

impl Value {
    /// The value as text.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) | Self::Json(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }

    /// The value as JSON text.
    pub fn json(&self) -> String {
        match self {
            Self::Text(text) => json::quote(text),
            Self::Json(json) => json.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}

impl Record {
    /// The members that every sink has, in their order; those without a value are left out.
    pub fn members(&self) -> Vec<(&'static str, Value)> {
        let text = |text: &str| Value::Text(text.to_owned());
        let number = |number: u64| Value::Number(i64::try_from(number).unwrap_or(i64::MAX));
        let mut members = vec![
            ("call_id", text(&self.call_id)),
            ("trace_id", text(&self.trace_id)),
            ("method", text(self.method)),
            ("tool", text(&self.tool)),
            ("upstream", text(&self.upstream)),
            ("route", text(self.route)),
        ];
        if !self.caller.is_empty() {
            members.push(("caller", text(&self.caller)));
        }
        members.push(("outcome", text(self.finish.as_str())));
        if let Some(code) = self.code {
            members.push(("code", Value::Number(code)));
        }
        if let Some(error_type) = self.error_type {
            members.push(("error_type", text(error_type)));
        }
        members.push(("bytes", number(self.bytes as u64)));
        members.push(("elapsed_ms", number(self.elapsed_ms)));
        members.push(("arguments", Value::Json(self.arguments.clone())));
        members.push(("arguments_sha256", text(&self.arguments_sha256)));
        if let Some(result) = &self.result {
            members.push(("result", text(result)));
        }
        members
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A record of a failed call with something odd in every text.
    pub(crate) fn odd() -> Record {
        Record {
            began: Timestamp::from_millisecond(1_700_000_000_123).unwrap(),
            ended: Timestamp::from_millisecond(1_700_000_000_165).unwrap(),
            call_id: "c-1".into(),
            trace_id: "0af7651916cd43dd8448eb211c80319c".into(),
            span_id: "b7ad6b7169203331".into(),
            parent_span_id: Some("a7ad6b7169203331".into()),
            method: "tools/call",
            tool: "a|b=c]\"\\\t\nd".into(),
            upstream: "main".into(),
            route: "flat",
            caller: "al ice".into(),
            outcome: Outcome::RpcError,
            finish: Finish::Failed,
            span_finish: Finish::Failed,
            code: Some(-7),
            error_type: Some("rpc_error"),
            bytes: 99,
            elapsed_ms: 42,
            healthy: Some(true),
            arguments: r#"{"a":"é|="}"#.into(),
            arguments_sha256: "00ff".into(),
            result: None,
            alert_words: Some("no".into()),
            log_words: Some("no".into()),
            changes: Vec::new(),
        }
    }

    #[test]
    fn a_member_without_a_value_is_left_out() {
        let names = |record: &Record| -> Vec<&str> {
            record.members().into_iter().map(|(name, _)| name).collect()
        };
        let all = names(&odd());
        assert!(["caller", "code", "error_type"].iter().all(|name| all.contains(name)));
        let fine = Record { caller: String::new(), code: None, error_type: None, ..odd() };
        assert_eq!(names(&fine).len(), all.len() - 3);
    }
}
