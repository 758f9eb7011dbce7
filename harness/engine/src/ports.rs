//! Ports: the sinks of a gateway, watched while it runs.
//!
//! What we serve (webhook, syslog, OTLP) is open before the gateway starts, so that its
//! configuration can name the address. What we connect to is opened once the gateway is ready, and
//! again after it was started anew. Files, and documents that are asked for, are read when somebody
//! looks. A port that cannot be opened is no end of a run: its checks are `untested`.

mod cut;
mod file;
mod get;
mod otlp;
mod server;
mod stderr;
mod store;
mod syslog_tcp;
mod syslog_udp;
mod watch;
mod webhook;
mod websocket;

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use birdstrike_judge::Pointer;
use birdstrike_scenario::profile::{Means, Port, PortFormat};
use indexmap::IndexMap;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinHandle};

use crate::error::EngineError;
use crate::record::Watched;
use crate::template::{Names, fill};

pub use stderr::Tap;
pub use store::{Arrival, Since, Store};
pub use watch::Watch;

use watch::Look;

/// All ports of one launch.
#[derive(Debug)]
pub struct Ports {
    watches: Vec<Watch>,
    /// Told of every record that arrives.
    grown: Arc<Notify>,
    /// What serves; ends with the launch.
    servers: Vec<AbortHandle>,
    /// What listens to the gateway; ends with the gateway.
    listeners: Vec<JoinHandle<()>>,
}

impl Ports {
    /// Opens what we serve.
    ///
    /// # Errors
    /// [`EngineError::Harness`] when the machine gives no port.
    pub async fn open(specs: &IndexMap<String, Port>) -> Result<Self, EngineError> {
        let grown = Arc::new(Notify::new());
        let (watches, servers, listeners) = (Vec::new(), Vec::new(), Vec::new());
        let mut ports = Self { watches, grown, servers, listeners };
        for (name, port) in specs {
            let store = Arc::new(Store::new(Arc::clone(&ports.grown)));
            let address = ports.serve(port, &store).await.map_err(|error| {
                EngineError::io(&format!("port `{name}` cannot be opened"), &error)
            })?;
            ports.watches.push(Watch::new(name, port, store, address));
        }
        Ok(ports)
    }

    async fn serve(
        &mut self,
        port: &Port,
        store: &Arc<Store>,
    ) -> std::io::Result<Option<SocketAddr>> {
        let store = Arc::clone(store);
        let mut run = |(address, serving): (SocketAddr, Serving)| {
            self.servers.push(tokio::spawn(serving).abort_handle());
            Some(address)
        };
        Ok(match port.means() {
            Some(Means::Webhook) => run(boxed(webhook::open(store).await?)),
            Some(Means::OtlpHttp) => run(boxed(otlp::open(store).await?)),
            Some(Means::SyslogUdp) => run(boxed(syslog_udp::open(store).await?)),
            Some(Means::SyslogTcp) => run(boxed(syslog_tcp::open(store).await?)),
            _ => None,
        })
    }

    /// What templates know of the ports that we serve, by name: `url`, `address`, `host`, `port`.
    pub fn names(&self) -> Value {
        let served = self.watches.iter().filter_map(|watch| Some((watch, watch.address?)));
        let names = served.map(|(watch, address)| {
            let told = json!({
                "url": format!("http://{address}"),
                "address": address.to_string(),
                "host": address.ip().to_string(),
                "port": address.port(),
            });
            (watch.name.clone(), told)
        });
        Value::Object(names.collect())
    }

    /// Where the standard error of a process goes, if a port watches it.
    pub fn tap(&self, process: &str) -> Option<Tap> {
        let watching =
            |watch: &&Watch| matches!(watch.port.means(), Some(Means::Stderr(p)) if p == process);
        self.watches.iter().any(|watch| watching(&watch)).then(|| {
            let stores = self.watches.iter().filter(watching).map(|watch| Arc::clone(&watch.store));
            Tap::new(stores)
        })
    }

    /// Opens what we connect to; `names` fill its templates. The gateway is ready.
    ///
    /// # Errors
    /// [`EngineError::Profile`] for a template that cannot be filled.
    pub async fn connect(
        &mut self,
        http: &reqwest::Client,
        names: &Names,
    ) -> Result<(), EngineError> {
        for watch in &self.watches {
            let what = format!("port `{}`", watch.name);
            let filled = |template: &str| fill(&what, template, names);
            let mut headers = Vec::new();
            for (name, value) in &watch.port.headers {
                headers.push((name.clone(), filled(value)?));
            }
            match (watch.port.means(), &watch.look) {
                (Some(Means::File(path)), Look::File(tail)) => {
                    let path = filled(path)?.into();
                    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                    tail.get_or_insert_with(|| file::Tail::new(path, Arc::clone(&watch.store)));
                }
                (Some(Means::Get(url)), Look::Get(poll)) => {
                    let (url, store) = (filled(url)?, Arc::clone(&watch.store));
                    let parts = parts(&watch.port)?;
                    let headers = header_map(&headers);
                    let mut poll = poll.lock().await;
                    if let Some(known) = poll.as_mut() {
                        known.moved(url, headers);
                    } else {
                        let http = http.clone();
                        *poll = Some(get::Poll::new(http, url, headers, parts, store));
                    }
                }
                (Some(Means::WebSocket(url)), _) => {
                    let hello = watch.port.hello.as_deref().map(filled).transpose()?;
                    let (url, store) = (filled(url)?, Arc::clone(&watch.store));
                    match websocket::open(&url, &headers, hello.as_deref(), store).await {
                        Ok(reading) => self.listeners.push(tokio::spawn(reading)),
                        Err(why) => watch.broke(Some(format!("it cannot be opened: {why}"))),
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The gateway is about to be stopped: what only it can still tell is asked for.
    pub async fn before_stop(&self) {
        let now = Instant::now();
        for watch in &self.watches {
            watch.look(now).await;
        }
    }

    /// The gateway has been stopped: what it said at its end is taken, what listened to it is over.
    pub async fn after_stop(&mut self) {
        const DRAIN: Duration = Duration::from_millis(200);
        for mut listener in self.listeners.drain(..) {
            if tokio::time::timeout(DRAIN, &mut listener).await.is_err() {
                listener.abort();
            }
        }
        for watch in self.watches.iter().filter(|watch| matches!(watch.look, Look::File(_))) {
            watch.look(Instant::now()).await;
        }
        for watch in &self.watches {
            watch.broke(None);
        }
    }

    /// All ports, in the order of the profile.
    pub fn all(&self) -> &[Watch] {
        &self.watches
    }

    /// Told of every record that arrives.
    pub fn grown(&self) -> &Notify {
        &self.grown
    }

    /// What was watched, for the report.
    pub fn watched(&self, launch: &str) -> Vec<Watched> {
        let told = self.watches.iter().map(|watch| {
            let (records, bytes) = watch.store.totals();
            Watched {
                launch: launch.to_owned(),
                port: watch.name.clone(),
                sink: watch.port.sink.as_str().to_owned(),
                means: watch.port.means().map_or("", |means| means.as_str()).to_owned(),
                records,
                bytes,
                broken: watch.broken(),
            }
        });
        told.collect()
    }
}

impl Drop for Ports {
    fn drop(&mut self) {
        self.servers.iter().for_each(AbortHandle::abort);
        self.listeners.iter().for_each(JoinHandle::abort);
    }
}

type Serving = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

fn boxed(
    (address, serving): (SocketAddr, impl Future<Output = ()> + Send + 'static),
) -> (SocketAddr, Serving) {
    (address, Box::pin(serving))
}

fn parts(port: &Port) -> Result<get::Parts, EngineError> {
    match (&port.records, port.written_in()) {
        (Some(at), _) => match Pointer::parse(at) {
            Ok(at) => Ok(get::Parts::Items(at)),
            Err(error) => Err(EngineError::Profile(format!("`{at}`: {error}"))),
        },
        (None, PortFormat::Json) => Ok(get::Parts::Whole),
        (None, _) => Ok(get::Parts::Lines),
    }
}

fn header_map(headers: &[(String, String)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(value)) {
            map.insert(name, value);
        }
    }
    map
}

#[cfg(test)]
pub(crate) mod tests {
    use birdstrike_judge::sink::Written;

    use super::watch::{MUTE, SETTLE, SETTLE_MUTE};
    use super::*;

    /// Waits until a condition holds; panics after ten seconds.
    pub(crate) async fn wait_for(condition: impl Fn() -> bool) {
        let until = Instant::now() + Duration::from_secs(10);
        while !condition() {
            assert!(Instant::now() < until, "the condition never held");
            tokio::task::yield_now().await;
        }
    }

    fn ports(yaml: &str) -> IndexMap<String, Port> {
        let source = format!(
            "name: g\ntitle: t\nprocesses:\n  gateway: {{command: [x], endpoint: e, ready: {{}}}}\n\
             routes: {{}}\nrevisions: {{client: ['2025-11-25'], upstream: ['2025-11-25']}}\nports:\n{yaml}"
        );
        birdstrike_scenario::Profile::parse("g.yaml", &source).unwrap().ports
    }

    #[tokio::test]
    async fn served_ports_have_addresses_and_files_are_read_on() {
        let dir = tempfile::tempdir().unwrap();
        let specs = ports(
            "  alerts: {sink: alert, webhook: {}}\n  out: {sink: audit, syslog-tcp: {}}\n  \
             log: {sink: log, file: '{{ dir }}/log', format: json}\n  err: {sink: log, stderr: gateway}\n",
        );
        let mut open = Ports::open(&specs).await.unwrap();
        let names = open.names();
        assert!(names["alerts"]["url"].as_str().unwrap().starts_with("http://127.0.0.1:"));
        assert_eq!(names["out"]["host"], "127.0.0.1");
        assert!(names.get("log").is_none());
        let known = json!({"dir": dir.path()}).as_object().cloned().unwrap();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        open.connect(&http, &known).await.unwrap();
        std::fs::write(dir.path().join("log"), "{}\n").unwrap();
        let log = &open.all()[2];
        log.look(Instant::now()).await;
        assert_eq!(log.store().totals(), (1, 2));
        assert_eq!(log.written(), Written::Json);
        let tap = open.tap("gateway").unwrap();
        tap.push(b"a line\n");
        assert_eq!(open.all()[3].store().totals().0, 1);
        assert!(open.tap("other").is_none());
        let told = open.watched("http-x");
        assert_eq!((told[2].sink.as_str(), told[2].means.as_str()), ("log", "file"));
    }

    #[tokio::test]
    async fn a_port_that_cannot_be_opened_says_why() {
        let specs = ports("  live: {sink: event, websocket: 'ws://127.0.0.1:1/'}\n");
        let mut open = Ports::open(&specs).await.unwrap();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        open.connect(&http, &Names::new()).await.unwrap();
        assert!(open.all()[0].broken().unwrap().contains("cannot be opened"));
        assert_eq!(open.all()[0].patience(), SETTLE_MUTE);
    }

    #[tokio::test]
    async fn a_port_that_stays_mute_is_waited_for_less() {
        let open = Ports::open(&ports("  a: {sink: alert, webhook: {}}\n")).await.unwrap();
        let watch = &open.all()[0];
        for _ in 0..MUTE {
            assert_eq!(watch.patience(), SETTLE);
            watch.came(false);
        }
        assert_eq!(watch.patience(), SETTLE_MUTE);
        watch.came(true);
        assert_eq!(watch.patience(), SETTLE);
    }
}
