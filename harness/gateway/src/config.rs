//! The configuration file: where to listen, which upstreams there are, what is too much.
//!
//! ```
//! let config = birdstrike_gateway::Config::from_text(
//!     "upstreams:\n  weather: {url: 'http://127.0.0.1:8080/mcp'}\n",
//! )?;
//! assert_eq!(config.limits.max_batch_calls, 100);
//! # Ok::<(), birdstrike_gateway::ConfigError>(())
//! ```

mod pins;
mod sinks;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::identities::{self, Identity};

pub use pins::{OutputSchema, PinMode, Pins};
pub use sinks::{
    AlertsConfig, AuditConfig, AuditFormat, AuditTarget, EventsConfig, LogConfig, OtlpProtocol,
    RedactionConfig, TelemetryConfig,
};

/// A gateway's configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The address to listen on; port 0 takes a free one. `127.0.0.1:0` unless it says otherwise
    /// (R-HTTP-03).
    #[serde(default = "any_local_port")]
    pub listen: SocketAddr,
    /// The upstreams by name. The order of names is the order of the tool list (R-TOOLS-04).
    pub upstreams: BTreeMap<String, UpstreamConfig>,
    /// Who may call. Without any, everybody may, and everybody is one.
    #[serde(default)]
    pub identities: BTreeMap<String, Identity>,
    /// Whether the URIs of links, embedded resources and listed resources are handed out in the
    /// gateway's own namespace, `birdstrike://UPSTREAM/...`. Needed, and so on by itself, where there
    /// are several upstreams; with one it is off unless it is asked for, as every URI is that
    /// upstream's anyway.
    #[serde(default)]
    pub namespace_links: Option<bool>,
    /// What is too much.
    #[serde(default)]
    pub limits: Limits,
    /// What changes a successful result, in this order; nothing unless it says otherwise.
    #[serde(default)]
    pub mutators: Vec<Mutator>,
    /// The budget of a batch; without it every result is returned whole.
    #[serde(default)]
    pub truncation: Option<Truncation>,
    /// What tools are pinned to; without it none is.
    #[serde(default)]
    pub pins: Option<Pins>,
    /// What is done about a result that its tool's outputSchema does not allow.
    #[serde(default)]
    pub output_schema: OutputSchema,
    /// What the ids of tasks are sealed with; without it they are good for this run alone.
    #[serde(default)]
    pub task_key: Option<String>,
    /// The log file, in addition to standard error.
    #[serde(default)]
    pub log: Option<LogConfig>,
    /// The events of finished calls.
    #[serde(default)]
    pub events: Option<EventsConfig>,
    /// The alerts of failed calls.
    #[serde(default)]
    pub alerts: Option<AlertsConfig>,
    /// The audit exports.
    #[serde(default)]
    pub audit: Vec<AuditConfig>,
    /// The spans.
    #[serde(default)]
    pub telemetry: Option<TelemetryConfig>,
    /// What no sink is told.
    #[serde(default)]
    pub redaction: RedactionConfig,
}

/// Something that changes a successful result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Mutator {
    /// Cuts the text of each text block.
    TruncateText {
        /// Characters that are kept of each text; an escape counts as the character it stands for.
        max_chars: usize,
    },
    /// Leaves typed parts out, for clients that should read text alone. What the text says stays.
    DropTypedPart,
}

/// The budget of a batch, and how long what was cut is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Truncation {
    /// Bytes of all results and errors of one batch, as the upstreams spelled them.
    pub max_batch_bytes: usize,
    /// Bytes up to which a result is never cut, and to which none is cut down.
    pub min_result_bytes: usize,
    /// Milliseconds for which a result that was cut can be fetched.
    pub keep_for_ms: u64,
    /// Bytes of all results that are kept to be fetched.
    pub max_kept_bytes: usize,
}

impl Default for Truncation {
    fn default() -> Self {
        Self {
            max_batch_bytes: 1 << 20,
            min_result_bytes: 1024,
            keep_for_ms: 300_000,
            max_kept_bytes: 64 << 20,
        }
    }
}

impl Truncation {
    /// A result that was cut still has room for the words that say so.
    const LEAST_RESULT_BYTES: usize = 256;

    fn check(&self) -> Result<(), String> {
        let least = Self::LEAST_RESULT_BYTES;
        if self.min_result_bytes < least {
            return Err(format!(
                "`truncation.min_result_bytes` is below {least}: a cut result could not say that \
                 it is one"
            ));
        }
        if self.max_batch_bytes < self.min_result_bytes {
            return Err("`truncation.max_batch_bytes` is below `min_result_bytes`: no budget \
                        could be kept"
                .into());
        }
        Ok(())
    }
}

/// One upstream.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RawUpstream")]
pub struct UpstreamConfig {
    /// How it is reached.
    pub target: Target,
    /// In place of [`Limits::max_response_bytes`].
    pub max_response_bytes: Option<u64>,
    /// In place of [`Limits::call_timeout_ms`].
    pub timeout_ms: Option<u64>,
}

/// How an upstream is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Streamable HTTP at this address.
    Url(String),
    /// A program that speaks MCP on its standard input and output.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// Set in its environment beside what the gateway itself has there.
        env: BTreeMap<String, String>,
    },
}

/// What is too much.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of one answer of an upstream, after content decoding: a JSON body, the data of one
    /// event, or one line of a stdio upstream.
    pub max_response_bytes: u64,
    /// Bytes of one request of a client.
    pub max_request_bytes: u64,
    /// Calls in one `gateway_call`.
    pub max_batch_calls: usize,
    /// Calls of one `gateway_call` that run at the same time.
    pub max_concurrency: usize,
    /// Milliseconds until a call without an answer is given up, connecting included.
    pub call_timeout_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_response_bytes: 4 << 20,
            max_request_bytes: 4 << 20,
            max_batch_calls: 100,
            max_concurrency: 16,
            call_timeout_ms: 30_000,
        }
    }
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The text breaks a rule; shown with its line and a caret.
    #[error("{0}")]
    Invalid(String),
}

impl Config {
    /// Reads a YAML file.
    ///
    /// # Errors
    /// [`ConfigError`], in words for the person who wrote the file.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
        Self::from_text(&text)
            .map_err(|error| ConfigError::Invalid(format!("{}: {error}", path.display())))
    }

    /// Reads YAML text.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`].
    pub fn from_text(text: &str) -> Result<Self, ConfigError> {
        let config: Self =
            serde_saphyr::from_str(text).map_err(|e| ConfigError::Invalid(e.to_string()))?;
        config.check().map_err(ConfigError::Invalid)?;
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        if self.upstreams.is_empty() {
            return Err("`upstreams` names none: add one, such as \
                        `main: {url: http://127.0.0.1:8080/mcp}`"
                .into());
        }
        for name in self.upstreams.keys() {
            let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            if name.is_empty() || !name.bytes().all(legal) {
                return Err(format!(
                    "upstream `{name}`: a name is made of letters, digits, `_` and `-`, as it \
                     becomes the prefix of tool names"
                ));
            }
        }
        if self.upstreams.len() > 1 && self.namespace_links == Some(false) {
            return Err("`namespace_links` is false: the links of several upstreams could not be \
                        told apart"
                .into());
        }
        identities::check(&self.identities)?;
        for (name, number) in [
            ("max_batch_calls", self.limits.max_batch_calls),
            ("max_concurrency", self.limits.max_concurrency),
        ] {
            if number == 0 {
                return Err(format!("`limits.{name}` is 0: nothing could be called"));
            }
        }
        if self.mutators.contains(&Mutator::TruncateText { max_chars: 0 }) {
            return Err("`truncate_text.max_chars` is 0: no text would be left".into());
        }
        self.pins.as_ref().map_or(Ok(()), Pins::check)?;
        self.truncation.as_ref().map_or(Ok(()), Truncation::check)?;
        self.check_sinks()
    }
}

fn any_local_port() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

/// An upstream as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawUpstream {
    url: Option<String>,
    command: Option<Vec<String>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    max_response_bytes: Option<u64>,
    timeout_ms: Option<u64>,
}

impl TryFrom<RawUpstream> for UpstreamConfig {
    type Error = String;

    fn try_from(raw: RawUpstream) -> Result<Self, String> {
        let target = match (raw.url, raw.command) {
            (Some(_), None) if !raw.env.is_empty() => {
                return Err("`env` belongs to a `command`, not to a `url`".into());
            }
            (Some(url), None) => Target::Url(checked_url(url)?),
            (None, Some(command)) if command.is_empty() => {
                return Err("`command` is empty: name a program".into());
            }
            (None, Some(command)) => Target::Command { command, env: raw.env },
            (Some(_), Some(_)) => return Err("both `url` and `command`: keep one".into()),
            (None, None) => return Err("neither `url` nor `command`: add one".into()),
        };
        Ok(Self { target, max_response_bytes: raw.max_response_bytes, timeout_ms: raw.timeout_ms })
    }
}

fn checked_url(url: String) -> Result<String, String> {
    match reqwest::Url::parse(&url) {
        Ok(parsed) if parsed.scheme() == "http" => Ok(url),
        Ok(parsed) => Err(format!("`{}` addresses are not spoken: use http", parsed.scheme())),
        Err(error) => Err(format!("`{url}` is no address: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Config::from_text(text).unwrap_err().to_string()
    }

    #[test]
    fn both_kinds_of_upstream_and_their_overrides() {
        let config = Config::from_text(
            "listen: 127.0.0.1:7\n\
             upstreams:\n  a: {url: 'http://localhost:1/mcp', max_response_bytes: 9}\n  \
             b: {command: [cat, -u], env: {K: v}, timeout_ms: 5}\n\
             limits: {max_concurrency: 2}\n",
        )
        .unwrap();
        assert_eq!(config.listen.port(), 7);
        assert_eq!(config.limits.max_concurrency, 2);
        assert_eq!(config.limits.max_response_bytes, 4 << 20);
        assert_eq!(config.upstreams["a"].max_response_bytes, Some(9));
        let Target::Command { command, env } = &config.upstreams["b"].target else { panic!() };
        assert_eq!((command.len(), env["K"].as_str()), (2, "v"));
    }

    #[test]
    fn a_mistake_is_shown_where_it_stands() {
        let text = error("upstreams:\n  a: {url: 'http://x/'}\nlimit: 3\n");
        assert!(text.contains("limit") && text.contains('^') && text.contains('3'), "{text}");
        let text = error("upstreams:\n  a:\n    ulr: http://x/\n");
        assert!(text.contains("ulr") && text.contains('^'), "{text}");
    }

    #[test]
    fn nothing_is_changed_or_cut_unless_it_says_so() {
        let upstreams = "upstreams: {a: {url: 'http://x/'}}\n";
        let config = Config::from_text(upstreams).unwrap();
        assert_eq!((config.mutators, config.truncation), (Vec::new(), None));
        let text = format!(
            "{upstreams}mutators: [{{truncate_text: {{max_chars: 3}}}}]\n\
             truncation: {{max_batch_bytes: 900, min_result_bytes: 256, keep_for_ms: 5}}\n"
        );
        let config = Config::from_text(&text).unwrap();
        assert_eq!(config.mutators, [Mutator::TruncateText { max_chars: 3 }]);
        let kept = Truncation { max_batch_bytes: 900, min_result_bytes: 256, ..<_>::default() };
        assert_eq!(config.truncation, Some(Truncation { keep_for_ms: 5, ..kept }));
        for (line, says) in [
            ("mutators: [{truncate_text: {max_chars: 0}}]", "no text would be left"),
            ("mutators: [{truncate: {max_chars: 1}}]", "truncate"),
            ("truncation: {min_result_bytes: 255}", "is below 256"),
            ("truncation: {max_batch_bytes: 300}", "no budget"),
            ("truncation: {max_bytes: 300}", "max_bytes"),
        ] {
            let text = error(&format!("{upstreams}{line}\n"));
            assert!(text.contains(says), "{text}");
        }
    }

    #[test]
    fn an_upstream_is_one_thing() {
        for (upstream, says) in [
            ("{}", "neither `url` nor `command`"),
            ("{url: 'http://x/', command: [x]}", "both `url` and `command`"),
            ("{command: []}", "name a program"),
            ("{url: 'https://x/'}", "use http"),
            ("{url: 'nowhere'}", "no address"),
            ("{url: 'http://x/', env: {A: b}}", "`env` belongs"),
        ] {
            let text = error(&format!("upstreams:\n  a: {upstream}\n"));
            assert!(text.contains(says), "{text}");
        }
        assert!(error("upstreams: {}").contains("names none"));
        assert!(error("upstreams: {'a.b': {url: 'http://x/'}}").contains("prefix"));
    }
}
