//! Ports: how the sinks of a gateway are watched.

use std::fmt;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Check;
use crate::mistake::Mistake;

/// A place besides the client's answer at which the bytes of a result may turn up (design,
/// section 1).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Sink {
    /// The gateway's own log.
    Log,
    /// Events that it tells to subscribers.
    Event,
    /// Alerts that it sends to people.
    Alert,
    /// Audit records.
    Audit,
    /// Traces and their attributes.
    Telemetry,
    /// Counters and their labels.
    Metrics,
    /// What it shows over an interface of its own.
    Rest,
}

impl Sink {
    /// The word that stands in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Event => "event",
            Self::Alert => "alert",
            Self::Audit => "audit",
            Self::Telemetry => "telemetry",
            Self::Metrics => "metrics",
            Self::Rest => "rest",
        }
    }
}

impl fmt::Display for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How one sink is watched. Exactly one of `stderr`, `file`, `get`, `websocket`, `webhook`,
/// `syslog-udp`, `syslog-tcp` and `otlp-http` says by which means. What we serve is open before the
/// gateway starts: templates know it as `{{ ports.NAME.url }}` or `{{ ports.NAME.address }}`
/// (`ports['a-name']` where the name has a hyphen).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Port {
    /// Which sink it shows.
    pub sink: Sink,
    /// What this process prints on its standard error.
    pub stderr: Option<String>,
    /// A file that grows: a template of its path. It need not exist yet.
    pub file: Option<String>,
    /// A document that is asked for: a template of its URL. Besides the names of other templates
    /// it knows `{{ base }}` (`http://HOST:PORT` of the first process) and
    /// `{{ endpoints.PROCESS.base }}`.
    pub get: Option<String>,
    /// `get`: where the array of records stands, a JSON Pointer (empty for the whole document).
    /// Without it the document itself is one record, or each of its lines where it is `text`.
    pub records: Option<String>,
    /// A WebSocket that is listened to: a template of its URL; it knows `{{ ws }}`
    /// (`ws://HOST:PORT` of the first process) too.
    pub websocket: Option<String>,
    /// `websocket`: a text frame that is sent first, a template.
    pub hello: Option<String>,
    /// `get` and `websocket`: headers, name to template. Values are secrets and never reported.
    #[serde(default)]
    pub headers: IndexMap<String, String>,
    /// We serve HTTP; every body that is posted is one record.
    pub webhook: Option<Served>,
    /// We receive datagrams; each is one record.
    pub syslog_udp: Option<Served>,
    /// We receive streams, octet-counted or line by line (RFC 6587).
    pub syslog_tcp: Option<Served>,
    /// We serve OTLP over HTTP, in JSON and protobuf; each span or log record is one record.
    pub otlp_http: Option<Served>,
    /// What one record is written in; `json` where we serve HTTP or ask for it, `syslog` where we
    /// receive syslog, `text` elsewhere.
    pub format: Option<PortFormat>,
    /// How long the record of a call is waited for once its answer is there, in milliseconds; 2000
    /// unless given.
    pub settle_ms: Option<u64>,
    /// Why its records hold nothing of the call that they tell of: no trace, no id, no arguments.
    /// Where no tool is a scenario's own, what must stand there is then untested.
    pub untied: Option<String>,
    /// What is found where in a record, by the name that checks have for it: `outcome`, `code`,
    /// `size`, `tool`, `error-type` and so on.
    #[serde(default)]
    pub fields: IndexMap<String, PortField>,
}

/// A port that we serve; it has nothing to be said about yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Served {}

/// What the records of a port are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PortFormat {
    /// A JSON document; behind a syslog header where the port receives syslog.
    Json,
    /// The same, a line a record.
    Jsonl,
    /// `ArcSight` Common Event Format.
    Cef,
    /// `QRadar` Log Event Extended Format.
    Leef,
    /// RFC 5424, or RFC 3164.
    Syslog,
    /// Lines of text.
    Text,
}

/// Where something is found in a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PortField {
    /// In JSON: a JSON Pointer. In other formats: the name of the field, with or without a slash
    /// before it (`act`, `name`, `[id]param`).
    pub at: String,
    /// What the gateway's words mean, in the words of checks. A word that is not listed stays.
    #[serde(default)]
    pub values: IndexMap<String, String>,
}

/// The means by which a port sees its sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means<'a> {
    /// The standard error of a process.
    Stderr(&'a str),
    /// A file that grows.
    File(&'a str),
    /// A document that is asked for.
    Get(&'a str),
    /// A WebSocket that is listened to.
    WebSocket(&'a str),
    /// An HTTP server of ours.
    Webhook,
    /// A datagram socket of ours.
    SyslogUdp,
    /// A stream socket of ours.
    SyslogTcp,
    /// An OTLP collector of ours.
    OtlpHttp,
}

impl Means<'_> {
    /// The word that stands in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stderr(_) => "stderr",
            Self::File(_) => "file",
            Self::Get(_) => "get",
            Self::WebSocket(_) => "websocket",
            Self::Webhook => "webhook",
            Self::SyslogUdp => "syslog-udp",
            Self::SyslogTcp => "syslog-tcp",
            Self::OtlpHttp => "otlp-http",
        }
    }
}

impl Port {
    /// The one means that is given; nothing where none is, or several are.
    pub fn means(&self) -> Option<Means<'_>> {
        let given = [
            self.stderr.as_deref().map(Means::Stderr),
            self.file.as_deref().map(Means::File),
            self.get.as_deref().map(Means::Get),
            self.websocket.as_deref().map(Means::WebSocket),
            self.webhook.as_ref().map(|_| Means::Webhook),
            self.syslog_udp.as_ref().map(|_| Means::SyslogUdp),
            self.syslog_tcp.as_ref().map(|_| Means::SyslogTcp),
            self.otlp_http.as_ref().map(|_| Means::OtlpHttp),
        ];
        let mut given = given.into_iter().flatten();
        let one = given.next()?;
        given.next().is_none().then_some(one)
    }

    /// What its records are written in.
    pub fn written_in(&self) -> PortFormat {
        let usual = match self.means() {
            Some(Means::Stderr(_) | Means::File(_)) | None => PortFormat::Text,
            Some(Means::SyslogUdp | Means::SyslogTcp) => PortFormat::Syslog,
            Some(_) => PortFormat::Json,
        };
        self.format.unwrap_or(usual)
    }
}

/// Checks the ports of a profile.
pub(super) fn check(check: &Check<'_>) -> Result<(), Mistake> {
    let profile = check.profile;
    for (name, port) in &profile.ports {
        let near = format!("{name}:");
        let Some(means) = port.means() else {
            let title = format!("port `{name}` does not say by which means it sees its sink");
            let mend = "give exactly one of stderr, file, get, websocket, webhook, syslog-udp, \
                        syslog-tcp, otlp-http";
            return Err(check.mistake(&near, &title, mend));
        };
        if let Means::Stderr(process) = means
            && !profile.processes.contains_key(process)
        {
            let title = format!("port `{name}` names process `{process}`, which there is not");
            let known: Vec<_> = profile.processes.keys().map(String::as_str).collect();
            let mend = format!("the processes are {}", known.join(", "));
            return Err(check.mistake(&format!("stderr: {process}"), &title, &mend));
        }
        let asks = matches!(means, Means::Get(_));
        let connects = matches!(means, Means::Get(_) | Means::WebSocket(_));
        let stray = [
            ("records", port.records.is_some() && !asks),
            ("hello", port.hello.is_some() && !matches!(means, Means::WebSocket(_))),
            ("headers", !port.headers.is_empty() && !connects),
        ];
        if let Some((key, _)) = stray.iter().find(|(_, stray)| *stray) {
            let title = format!("port `{name}` is a {}: it has no use for `{key}`", means.as_str());
            return Err(check.mistake(&near, &title, "take the key out"));
        }
        pointers(name, port, check)?;
    }
    Ok(())
}

fn pointers(name: &str, port: &Port, check: &Check<'_>) -> Result<(), Mistake> {
    let json = matches!(port.written_in(), PortFormat::Json | PortFormat::Jsonl);
    let fields = port.fields.iter().filter(|_| json).map(|(field, at)| (field.as_str(), &at.at));
    let records = port.records.iter().map(|at| ("records", at));
    for (what, at) in fields.chain(records) {
        if !at.is_empty() && !at.starts_with('/') {
            let title = format!("`{what}` of port `{name}` is at no JSON Pointer");
            let mend = "a pointer is empty or begins with `/`, like /event/type";
            return Err(check.mistake(at, &title, mend));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    fn parse(ports: &str) -> Result<Profile, Mistake> {
        let source = format!(
            "name: g\ntitle: t\nprocesses:\n  gateway: {{command: [x], endpoint: e, ready: {{}}}}\n\
             routes: {{}}\nrevisions: {{client: ['2025-11-25'], upstream: ['2025-11-25']}}\nports:\n{ports}"
        );
        Profile::parse("g.yaml", &source)
    }

    #[test]
    fn a_port_has_one_means_and_a_usual_format() {
        let profile = parse(
            "  a: {sink: log, stderr: gateway}\n  b: {sink: audit, syslog-udp: {}}\n  \
             c: {sink: event, get: '{{ base }}/h', records: '', fields: {size: {at: /n}}}\n  \
             d: {sink: audit, syslog-tcp: {}, format: cef, fields: {outcome: {at: act}}}\n",
        );
        let profile = profile.unwrap();
        let told: Vec<_> = profile
            .ports
            .values()
            .map(|port| (port.sink, port.means().unwrap().as_str(), port.written_in()))
            .collect();
        assert_eq!(
            told,
            [
                (Sink::Log, "stderr", PortFormat::Text),
                (Sink::Audit, "syslog-udp", PortFormat::Syslog),
                (Sink::Event, "get", PortFormat::Json),
                (Sink::Audit, "syslog-tcp", PortFormat::Cef),
            ]
        );
    }

    #[test]
    fn what_cannot_be_watched_is_a_mistake() {
        for (ports, title) in [
            ("  a: {sink: log}\n", "does not say by which means"),
            ("  a: {sink: log, file: x, webhook: {}}\n", "does not say by which means"),
            ("  a: {sink: log, stderr: other}\n", "names process `other`"),
            ("  a: {sink: log, file: x, records: /a}\n", "has no use for `records`"),
            ("  a: {sink: rest, get: x, records: a}\n", "is at no JSON Pointer"),
            ("  a: {sink: diary, file: x}\n", "no word `diary`"),
        ] {
            let said = parse(ports).unwrap_err().title;
            assert!(said.contains(title), "{ports}: {said}");
        }
    }
}
