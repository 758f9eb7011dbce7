//! One port while it is watched.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use birdstrike_judge::formats::Format;
use birdstrike_judge::sink::Written;
use birdstrike_scenario::profile::{Means, Port, PortFormat};

use super::store::{Arrival, Store};
use super::{file, get};

/// How long a record is waited for unless the port says otherwise.
pub(super) const SETTLE: Duration = Duration::from_secs(2);
/// How long one is waited for in a port that never showed the record of a call.
pub(super) const SETTLE_MUTE: Duration = Duration::from_millis(200);
/// After so many calls without a record a port counts as mute.
pub(super) const MUTE: u32 = 3;

/// One port.
#[derive(Debug)]
pub struct Watch {
    /// The name that the profile gives it.
    pub name: String,
    /// How the profile describes it.
    pub port: Port,
    pub(super) store: Arc<Store>,
    pub(super) address: Option<SocketAddr>,
    pub(super) look: Look,
    broken: std::sync::Mutex<Option<String>>,
    /// Calls that were waited for in vain, since a record of a call came.
    missed: AtomicU32,
}

/// What has to be done to see what came.
#[derive(Debug)]
pub(super) enum Look {
    /// Nothing: records come by themselves.
    Nothing,
    /// A file is read on.
    File(std::sync::Mutex<Option<file::Tail>>),
    /// A document is asked for.
    Get(tokio::sync::Mutex<Option<get::Poll>>),
}

impl Watch {
    pub(super) fn new(
        name: &str,
        port: &Port,
        store: Arc<Store>,
        address: Option<SocketAddr>,
    ) -> Self {
        let look = match port.means() {
            Some(Means::File(_)) => Look::File(std::sync::Mutex::default()),
            Some(Means::Get(_)) => Look::Get(tokio::sync::Mutex::default()),
            _ => Look::Nothing,
        };
        let (name, port) = (name.to_owned(), port.clone());
        let (broken, missed) = (std::sync::Mutex::default(), AtomicU32::new(0));
        Self { name, port, store, address, look, broken, missed }
    }

    /// Takes what has come by `since` or later: reads the file on, asks for the document.
    pub async fn look(&self, since: Instant) {
        let looked = match &self.look {
            Look::Nothing => return,
            Look::File(tail) => {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.as_mut().map_or(Ok(()), file::Tail::look)
            }
            Look::Get(poll) => match poll.lock().await.as_mut() {
                Some(poll) => poll.look(since).await,
                None => Ok(()),
            },
        };
        self.broke(looked.err());
    }

    /// Whether looking is worth the while: nothing comes by itself.
    pub fn is_looked_at(&self) -> bool {
        !matches!(self.look, Look::Nothing)
    }

    /// Whether the gateway has to be asked for what came.
    pub fn is_asked(&self) -> bool {
        matches!(self.look, Look::Get(_))
    }

    /// How things stood at the last look, where the port shows that and no list of records.
    pub async fn latest(&self) -> Vec<Arc<Arrival>> {
        match &self.look {
            Look::Get(poll) => {
                poll.lock().await.as_ref().map(|poll| poll.latest().to_vec()).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// Whether it shows how things stand and no list of records.
    pub fn shows_state(&self) -> bool {
        matches!(self.look, Look::Get(_)) && self.port.records.is_none()
    }

    /// What has come.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Why nothing can be seen through it, if so.
    pub fn broken(&self) -> Option<String> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn broke(&self, why: Option<String>) {
        *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// How its records are written.
    pub fn written(&self) -> Written {
        let means = self.port.means();
        let syslog = matches!(means, Some(Means::SyslogUdp | Means::SyslogTcp));
        match self.port.written_in() {
            PortFormat::Json | PortFormat::Jsonl if syslog => Written::JsonInSyslog,
            PortFormat::Json | PortFormat::Jsonl => Written::Json,
            PortFormat::Cef => Written::In(Format::Cef),
            PortFormat::Leef => Written::In(Format::Leef),
            PortFormat::Syslog => Written::In(Format::Syslog),
            PortFormat::Text => Written::Text,
        }
    }

    /// How long the record of a call is waited for: a port that is broken, or has shown none for a
    /// while, is not given the whole time again and again.
    pub fn patience(&self) -> Duration {
        let whole = self.port.settle_ms.map_or(SETTLE, Duration::from_millis);
        let mute = self.missed.load(Ordering::Relaxed) >= MUTE || self.broken().is_some();
        if mute { whole.min(SETTLE_MUTE) } else { whole }
    }

    /// Notes whether the record of a call came in time.
    pub fn came(&self, came: bool) {
        if came {
            self.missed.store(0, Ordering::Relaxed);
        } else {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }
}
