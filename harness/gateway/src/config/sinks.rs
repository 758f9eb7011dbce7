//! The part of the configuration that says where calls are told, and what is kept out of there.

use std::path::PathBuf;

use serde::Deserialize;

/// The log file. The log goes to standard error in any case.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogConfig {
    /// A file that gets the same lines, at its end.
    pub file: PathBuf,
}

/// The events, one a finished call: `GET /history`, and the WebSocket `/events`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventsConfig {
    /// How many of the newest are kept for `GET /history`.
    #[serde(default = "thousand")]
    pub history: usize,
}

/// The alerts, one a failed call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlertsConfig {
    /// The address that each is sent to by POST, as JSON.
    pub webhook: String,
}

/// One audit export, one record a call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditConfig {
    /// How a record is written.
    pub format: AuditFormat,
    /// Where it goes.
    pub to: AuditTarget,
}

/// How an audit record is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditFormat {
    /// Common Event Format, version 0.
    Cef,
    /// Log Event Extended Format, version 2.0.
    Leef,
    /// One JSON object a line.
    Jsonl,
    /// RFC 5424 with structured data.
    Syslog,
}

/// Where audit records go. UDP and TCP are syslog transports (RFC 5426, RFC 6587): there a record of
/// any other format is the message of an RFC 5424 record.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum AuditTarget {
    /// The end of a file, a line a record.
    File(PathBuf),
    /// `HOST:PORT`, a datagram a record.
    Udp(String),
    /// `HOST:PORT`, records framed by octet counting.
    Tcp(String),
}

/// The spans, one a call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TelemetryConfig {
    /// The collector; spans are sent by POST to `/v1/traces` below it.
    pub otlp: String,
    /// How they are encoded.
    #[serde(default)]
    pub protocol: OtlpProtocol,
}

/// The encoding of OTLP over HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OtlpProtocol {
    /// `application/json`.
    #[default]
    Json,
    /// `application/x-protobuf`.
    Protobuf,
}

/// What is kept out of all sinks, in addition to what is kept out anyway.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RedactionConfig {
    /// Argument names whose values are secret, in any case, wherever they stand. A name that
    /// contains one of these words counts as well.
    pub keys: Vec<String>,
    /// Regular expressions; what they match is secret.
    pub patterns: Vec<String>,
    /// Texts that are secret wherever they turn up.
    pub values: Vec<String>,
    /// Characters of one text that a sink is told at most.
    pub max_chars: usize,
}

impl Default for RedactionConfig {
    fn default() -> Self {
        Self { keys: Vec::new(), patterns: Vec::new(), values: Vec::new(), max_chars: 256 }
    }
}

impl super::Config {
    /// # Errors
    /// What is wrong, in words for the person who wrote it.
    pub(super) fn check_sinks(&self) -> Result<(), String> {
        self.events.map_or(Ok(()), EventsConfig::check)?;
        self.alerts.as_ref().map_or(Ok(()), AlertsConfig::check)?;
        self.telemetry.as_ref().map_or(Ok(()), TelemetryConfig::check)?;
        self.redaction.check()
    }
}

/// A shorter text would take letters out of ordinary words.
const LEAST_VALUE_CHARS: usize = 4;
/// The mark of a cut needs some room beside what it marks.
const LEAST_MAX_CHARS: usize = 32;

impl RedactionConfig {
    /// # Errors
    /// What is wrong, in words for the person who wrote it.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.keys.iter().any(|key| key.trim().is_empty()) {
            return Err("`redaction.keys` has an empty name: every name would contain it".into());
        }
        if self.values.iter().any(|value| value.chars().count() < LEAST_VALUE_CHARS) {
            return Err(format!(
                "`redaction.values` has one of less than {LEAST_VALUE_CHARS} characters: it would \
                 be found in ordinary words"
            ));
        }
        for pattern in &self.patterns {
            let regex = regex::Regex::new(pattern)
                .map_err(|error| format!("`redaction.patterns`: `{pattern}`: {error}"))?;
            if regex.is_match("") {
                return Err(format!("`redaction.patterns`: `{pattern}` matches nothing at all"));
            }
        }
        if self.max_chars < LEAST_MAX_CHARS {
            return Err(format!("`redaction.max_chars` is below {LEAST_MAX_CHARS}"));
        }
        Ok(())
    }
}

impl AlertsConfig {
    pub(super) fn check(&self) -> Result<(), String> {
        super::checked_url(self.webhook.clone()).map(drop).map_err(|e| format!("`alerts`: {e}"))
    }
}

impl TelemetryConfig {
    pub(super) fn check(&self) -> Result<(), String> {
        super::checked_url(self.otlp.clone()).map(drop).map_err(|e| format!("`telemetry`: {e}"))
    }
}

impl EventsConfig {
    pub(super) fn check(self) -> Result<(), String> {
        if self.history == 0 {
            return Err("`events.history` is 0: no event could be read".into());
        }
        Ok(())
    }
}

fn thousand() -> usize {
    1000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    const UPSTREAMS: &str = "upstreams: {a: {url: 'http://x/'}}\n";

    fn config(text: &str) -> Result<Config, String> {
        Config::from_text(&format!("{UPSTREAMS}{text}")).map_err(|error| error.to_string())
    }

    #[test]
    fn no_sink_is_on_unless_it_is_asked_for() {
        let config = config("").unwrap();
        assert_eq!((config.log, config.events, config.alerts), (None, None, None));
        assert_eq!((config.audit, config.telemetry), (Vec::new(), None));
        assert_eq!(config.redaction, RedactionConfig::default());
    }

    #[test]
    fn all_sinks_at_once() {
        let config = config(
            "log: {file: a/b.jsonl}\nevents: {}\nalerts: {webhook: 'http://127.0.0.1:1/a'}\n\
             audit:\n  - {format: cef, to: {file: c}}\n  - {format: syslog, to: {udp: 'h:1'}}\n  \
             - {format: leef, to: {tcp: '127.0.0.1:2'}}\n\
             telemetry: {otlp: 'http://h:4318', protocol: protobuf}\n\
             redaction: {keys: [pin], patterns: ['x+'], values: [abcd], max_chars: 99}\n",
        )
        .unwrap();
        assert_eq!(config.events, Some(EventsConfig { history: 1000 }));
        assert_eq!(config.audit[1].to, AuditTarget::Udp("h:1".into()));
        assert_eq!(config.audit[2].format, AuditFormat::Leef);
        assert_eq!(config.telemetry.unwrap().protocol, OtlpProtocol::Protobuf);
        assert_eq!(config.redaction.max_chars, 99);
    }

    #[test]
    fn what_could_not_work_is_refused() {
        for (line, says) in [
            ("events: {history: 0}", "no event"),
            ("alerts: {webhook: nowhere}", "no address"),
            ("telemetry: {otlp: 'https://x'}", "use http"),
            ("audit: [{format: xml, to: {file: x}}]", "xml"),
            ("audit: [{format: cef, to: {pipe: x}}]", "pipe"),
            ("redaction: {patterns: ['(']}", "unclosed"),
            ("redaction: {patterns: ['x*']}", "nothing at all"),
            ("redaction: {values: [abc]}", "ordinary words"),
            ("redaction: {keys: ['']}", "empty name"),
            ("redaction: {max_chars: 3}", "is below 32"),
        ] {
            let text = config(line).unwrap_err();
            assert!(text.contains(says), "{text}");
        }
    }
}
