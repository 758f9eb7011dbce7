//! Syslog over TCP: octet-counted frames or lines, as each stream begins (RFC 6587).

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::cut::{Cutter, Cutting};
use super::store::Store;

/// Bytes read at once.
const PIECE: usize = 16 << 10;

/// Opens a listener on a free port; the future serves it.
///
/// # Errors
/// When no port can be bound.
pub(super) async fn open(
    store: Arc<Store>,
) -> std::io::Result<(SocketAddr, impl Future<Output = ()>)> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    Ok((address, serve(listener, store)))
}

async fn serve(listener: TcpListener, store: Arc<Store>) {
    let mut streams = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    streams.spawn(read(stream, Arc::clone(&store)));
                }
            }
            Some(_) = streams.join_next() => {}
        }
    }
}

async fn read(mut stream: TcpStream, store: Arc<Store>) {
    let mut cutter = Cutter::new(store, Cutting::Syslog);
    let mut piece = vec![0; PIECE];
    while let Ok(read @ 1..) = stream.read(&mut piece).await {
        cutter.push(piece.get(..read).unwrap_or_default());
    }
    cutter.end();
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::ports::tests::wait_for;

    #[tokio::test]
    async fn each_stream_has_its_own_framing() {
        let store = Arc::new(Store::new(Arc::default()));
        let (address, serving) = open(Arc::clone(&store)).await.unwrap();
        let server = tokio::spawn(serving);
        let mut counted = TcpStream::connect(address).await.unwrap();
        counted.write_all(b"8 <1>1 a\nb4 <").await.unwrap();
        wait_for(|| store.totals().0 == 1).await;
        let mut lines = TcpStream::connect(address).await.unwrap();
        lines.write_all(b"<1>c\n").await.unwrap();
        wait_for(|| store.totals().0 == 2).await;
        counted.write_all(b"1>x").await.unwrap();
        wait_for(|| store.totals().0 == 3).await;
        let records = store.since(0).records;
        let raws: Vec<_> = records.iter().map(|r| r.raw.as_slice()).collect();
        assert_eq!(raws, [&b"<1>1 a\nb"[..], b"<1>c", b"<1>x"]);
        assert!(records.iter().all(|record| record.breaks.is_empty()));
        server.abort();
    }
}
