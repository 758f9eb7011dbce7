//! A running gateway.

use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::context::Context;
use crate::downstream::{self, Server};
use crate::log::Log;
use crate::pipeline::Pipeline;
use crate::sinks::Sinks;
use crate::surfaces::Steps;
use crate::surfaces::redaction::{Redactor, Rules};
use crate::upstream::Upstream;

/// How long calls under way may take to end when the gateway stops.
const GRACE: Duration = Duration::from_millis(600);
/// How long their last answers may take to go out.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A gateway that listens. It stops when it is dropped; [`Gateway::stop`] lets calls end first.
pub struct Gateway {
    address: SocketAddr,
    context: Arc<Context>,
    /// No new calls.
    stopping: CancellationToken,
    /// No calls at all.
    stopped: CancellationToken,
    server: Option<JoinHandle<io::Result<()>>>,
}

/// Why a gateway did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is not to be had.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address of the configuration.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// An upstream cannot be set up, whether it runs or not.
    #[error("upstream `{upstream}`: {why}")]
    Upstream {
        /// Its name.
        upstream: String,
        /// Why not.
        why: String,
    },
    /// A sink cannot be opened: nobody would see that its records are missing.
    #[error("`{sink}`: {why}")]
    Sink {
        /// Its key in the configuration.
        sink: &'static str,
        /// Why not.
        why: String,
    },
}

impl Gateway {
    /// Begins to listen. Upstreams need not run yet: each is connected to at its first need, and
    /// again after it was restarted.
    ///
    /// The log gets one JSON object a line. Must be called inside a Tokio runtime.
    ///
    /// # Errors
    /// [`StartError`].
    pub async fn start(
        config: Config,
        steps: Steps,
        log: Box<dyn Write + Send>,
    ) -> Result<Self, StartError> {
        let listener = TcpListener::bind(config.listen).await;
        let listener = listener
            .and_then(|listener| listener.local_addr().map(|address| (listener, address)))
            .map_err(|source| StartError::Listen { address: config.listen, source });
        let (listener, address) = listener?;
        let rules = Rules::new(&config)
            .map_err(|error| StartError::Sink { sink: "redaction", why: error.to_string() })?;
        let redactor = Redactor { steps: steps.redaction, rules: Arc::new(rules) };
        let log = Arc::new(Log::new(log, redactor));
        let sinks = Sinks::open(&config, &steps, &log)
            .map_err(|closed| StartError::Sink { sink: closed.sink, why: closed.why })?;
        let context = Arc::new(Context::new(log, sinks, &steps, &config));
        let upstreams = config.upstreams.iter().map(|(name, upstream)| {
            Upstream::new(name, upstream, context.clone())
                .map_err(|why| StartError::Upstream { upstream: name.clone(), why })
        });
        let upstreams = upstreams.collect::<Result<Vec<_>, _>>()?;
        context.log.event("listening").text("address", &address.to_string()).write();
        let (stopping, stopped) = (CancellationToken::new(), CancellationToken::new());
        let pipeline = Pipeline { context: context.clone(), upstreams };
        let server =
            Server { pipeline, address, stopping: stopping.clone(), stopped: stopped.clone() };
        let router = downstream::router(Arc::new(server));
        // A small answer must not wait for the acknowledgement of the one before.
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let stop = stopping.clone().cancelled_owned();
        let server = tokio::spawn(async move {
            axum::serve(listener, router).with_graceful_shutdown(stop).await
        });
        Ok(Self { address, context, stopping, stopped, server: Some(server) })
    }

    /// The address that it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// The endpoint for clients.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Takes no new calls, gives those under way a moment to end, answers the rest with an error, and
    /// ends the programs it runs; all within a second.
    pub async fn stop(mut self) {
        self.stopping.cancel();
        let Some(mut server) = self.server.take() else { return };
        if tokio::time::timeout(GRACE, &mut server).await.is_err() {
            self.stopped.cancel();
            let _ = tokio::time::timeout(LAST_WORDS, server).await;
        }
        self.context.sinks.close().await;
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stopping.cancel();
        self.stopped.cancel();
    }
}
