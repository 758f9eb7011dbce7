//! Syslog over UDP: each datagram is one record (RFC 5426).

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::UdpSocket;

use super::store::{Arrival, Store};

/// The largest datagram that there is.
const DATAGRAM: usize = 65_535;

/// Opens a socket on a free port; the future reads it.
///
/// # Errors
/// When no port can be bound.
pub(super) async fn open(
    store: Arc<Store>,
) -> std::io::Result<(SocketAddr, impl Future<Output = ()>)> {
    let socket = UdpSocket::bind(("127.0.0.1", 0)).await?;
    let address = socket.local_addr()?;
    Ok((address, receive(socket, store)))
}

async fn receive(socket: UdpSocket, store: Arc<Store>) {
    let mut datagram = vec![0; DATAGRAM];
    loop {
        // An error is about an earlier datagram, or passes.
        if let Ok((read, _)) = socket.recv_from(&mut datagram).await {
            store.push(Arrival::now(datagram.get(..read).unwrap_or_default().to_vec()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::tests::wait_for;

    #[tokio::test]
    async fn each_datagram_is_a_record() {
        let store = Arc::new(Store::new(Arc::default()));
        let (address, receiving) = open(Arc::clone(&store)).await.unwrap();
        let receiver = tokio::spawn(receiving);
        let sender = UdpSocket::bind(("127.0.0.1", 0)).await.unwrap();
        sender.send_to(b"<134>1 - h a - - - one\ntwo", address).await.unwrap();
        sender.send_to(b"<134>1 - h a - - - three", address).await.unwrap();
        wait_for(|| store.totals().0 == 2).await;
        assert_eq!(store.since(0).records[0].raw, b"<134>1 - h a - - - one\ntwo");
        receiver.abort();
    }
}
