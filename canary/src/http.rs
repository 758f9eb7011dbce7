//! Streamable HTTP: one connection, its requests, and how a reply becomes a response.

mod body;
mod flush;
mod gate;
mod respond;
mod service;

use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use crate::shared::Shared;
use flush::Counted;
use service::Service;

/// Serves one connection until the client is done with it, or until the canary stops: then the
/// request being answered is finished, and after a grace the connection is dropped.
pub(crate) async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // Failing to set it costs time and nothing else.
    let _ = stream.set_nodelay(true);
    let (stream, flushes) = Counted::new(stream);
    let service = Arc::new(Service { shared: Arc::clone(&shared), flushes });
    let serve = service_fn(move |request| {
        let service = Arc::clone(&service);
        async move { service.serve(request).await }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(shared.limits.patience)
        .serve_connection(TokioIo::new(stream), serve);
    let mut connection = std::pin::pin!(connection);
    // How a connection ends is the client's affair, or the plan's: the journal has it.
    tokio::select! {
        biased;
        _ = connection.as_mut() => return,
        () = shared.stopping.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        _ = connection => {}
        () = shared.ending.cancelled() => {}
    }
}
