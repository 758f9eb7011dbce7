//! The transports of audit records: a file, UDP, TCP.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpStream, UdpSocket, lookup_host};
use tokio::sync::mpsc::Receiver;
use tokio::time::{sleep, timeout};

use super::queue::{Losses, Queue};
use crate::config::{AuditConfig, AuditFormat, AuditTarget};
use crate::surfaces::audit_export::{self, Steps};
use crate::surfaces::record::Record;

/// How long a collector may take to be connected to, and to take one record.
const PATIENCE: Duration = Duration::from_secs(2);
/// Records that are written to a file in one go, at most.
const AT_ONCE: usize = 256;
/// Pauses between attempts to connect: the first, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// One export.
pub(super) struct Audit {
    format: AuditFormat,
    is_file: bool,
    steps: Steps,
    queue: Queue<String>,
}

impl Audit {
    /// A file must be there; a collector need not.
    pub(super) fn open(
        config: &AuditConfig,
        steps: Steps,
        losses: Arc<Losses>,
    ) -> Result<Self, String> {
        let counted = losses.clone();
        let queue = match config.to.clone() {
            AuditTarget::File(path) => {
                let file = crate::log::append(&path)
                    .map_err(|error| format!("{}: {error}", path.display()))?;
                Queue::new(losses, move |records| to_file(file, records, counted))
            }
            AuditTarget::Udp(to) => Queue::new(losses, move |records| to_udp(to, records, counted)),
            AuditTarget::Tcp(to) => Queue::new(losses, move |records| to_tcp(to, records, steps)),
        };
        let is_file = matches!(config.to, AuditTarget::File(_));
        Ok(Self { format: config.format, is_file, steps, queue })
    }

    pub(super) fn tell(&self, record: &Record) {
        let write = if self.is_file { audit_export::line } else { audit_export::message };
        self.queue.put(write(record, self.format, &self.steps));
    }

    pub(super) fn losses(&self) -> &Losses {
        self.queue.losses()
    }

    pub(super) async fn close(&self) {
        self.queue.close().await;
    }
}

/// In a thread of its own for each write, as a file can be slow, or a pipe that nobody reads. What
/// came meanwhile is written in one go.
async fn to_file(file: std::fs::File, mut records: Receiver<String>, losses: Arc<Losses>) {
    let file = Arc::new(file);
    let mut waiting = Vec::new();
    loop {
        let count = records.recv_many(&mut waiting, AT_ONCE).await;
        if count == 0 {
            return;
        }
        let mut lines = waiting.join("\n");
        lines.push('\n');
        waiting.clear();
        let file = file.clone();
        let write = move || (&*file).write_all(lines.as_bytes());
        match tokio::task::spawn_blocking(write).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => losses.add(count as u64, &error.to_string()),
            Err(error) => losses.add(count as u64, &error.to_string()),
        }
    }
}

async fn to_udp(to: String, mut records: Receiver<String>, losses: Arc<Losses>) {
    while let Some(record) = records.recv().await {
        if let Err(error) = datagram(&to, record.as_bytes()).await {
            losses.add(1, &error.to_string());
        }
    }
}

/// Looked up each time, as a collector may move.
async fn datagram(to: &str, record: &[u8]) -> std::io::Result<()> {
    let to = lookup_host(to).await?.next().ok_or(std::io::ErrorKind::NotFound)?;
    let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let any: SocketAddr = any.parse().map_err(std::io::Error::other)?;
    UdpSocket::bind(any).await?.send_to(record, to).await.map(drop)
}

async fn to_tcp(to: String, mut records: Receiver<String>, steps: Steps) {
    let mut open = None;
    while let Some(record) = records.recv().await {
        let frame = (steps.frame)(&record);
        // A frame that was cut by the end of a connection is sent again, whole, on the next one.
        loop {
            let mut stream = match open.take() {
                Some(stream) if is_open(&stream) => stream,
                _ => connected(&to).await,
            };
            if let Ok(Ok(())) = timeout(PATIENCE, stream.write_all(&frame)).await {
                open = Some(stream);
                break;
            }
        }
    }
}

/// A collector says nothing; if something can be read, it is the end.
fn is_open(stream: &TcpStream) -> bool {
    let mut byte = [0];
    match stream.try_read(&mut byte) {
        Ok(count) => count > 0,
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}

/// Tries until the collector is there. Meanwhile records wait in the queue, or are dropped.
async fn connected(to: &str) -> TcpStream {
    let mut pause = PAUSES[0];
    loop {
        // What a failure costs is counted where records are dropped.
        if let Ok(Ok(stream)) = timeout(PATIENCE, TcpStream::connect(to)).await {
            let _ = stream.set_nodelay(true);
            return stream;
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSES[1]);
    }
}
