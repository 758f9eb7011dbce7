//! A WebSocket that is listened to: each message is one record.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::store::{Arrival, Store};

/// How long the opening handshake may take.
const OPEN_WITHIN: Duration = Duration::from_secs(5);
/// Bytes taken of one message.
const MOST: usize = 16 << 20;

/// Connects; the future takes messages until the other end closes.
///
/// # Errors
/// In words, when the handshake fails.
pub(super) async fn open(
    url: &str,
    headers: &[(String, String)],
    hello: Option<&str>,
    store: Arc<Store>,
) -> Result<impl Future<Output = ()> + use<>, String> {
    let mut request = url.into_client_request().map_err(|error| words(&error))?;
    for (name, value) in headers {
        let pair = (http::HeaderName::try_from(name), http::HeaderValue::try_from(value));
        if let (Ok(name), Ok(value)) = pair {
            request.headers_mut().insert(name, value);
        }
    }
    let mut config = WebSocketConfig::default();
    config.max_message_size = Some(MOST);
    config.max_frame_size = Some(MOST);
    let opening = tokio_tungstenite::connect_async_with_config(request, Some(config), true);
    let opened = tokio::time::timeout(OPEN_WITHIN, opening).await;
    let opened = opened.map_err(|_| "no handshake in time".to_owned())?;
    let (mut socket, _) = opened.map_err(|error| words(&error))?;
    if let Some(hello) = hello {
        socket.send(Message::text(hello)).await.map_err(|error| words(&error))?;
    }
    Ok(async move {
        // Pings are answered while the next message is read.
        while let Some(Ok(message)) = socket.next().await {
            match message {
                Message::Text(text) => store.push(Arrival::now(text.as_bytes().to_vec())),
                Message::Binary(bytes) => store.push(Arrival::now(bytes.to_vec())),
                _ => {}
            }
        }
    })
}

fn words(error: &Error) -> String {
    match error {
        Error::Http(response) => format!("the handshake was answered with {}", response.status()),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::ports::tests::wait_for;

    #[tokio::test]
    async fn messages_are_records_and_the_hello_is_said() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("ws://{}/events", listener.local_addr().unwrap());
        let peer = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
            let hello = socket.next().await.unwrap().unwrap();
            socket.send(Message::Ping("p".into())).await.unwrap();
            socket.send(Message::text("{\"n\":1}")).await.unwrap();
            socket.send(Message::binary(vec![123, 125])).await.unwrap();
            socket.close(None).await.unwrap();
            hello.into_text().unwrap().to_string()
        });
        let store = Arc::new(Store::new(Arc::default()));
        let reading = open(&url, &[], Some("subscribe"), Arc::clone(&store)).await.unwrap();
        reading.await;
        assert_eq!(peer.await.unwrap(), "subscribe");
        wait_for(|| store.totals().0 == 2).await;
        assert_eq!(store.since(0).records[1].raw, b"{}");
    }

    #[tokio::test]
    async fn a_closed_door_is_told_in_words() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("ws://{}/", listener.local_addr().unwrap());
        drop(listener);
        let store = Arc::new(Store::new(Arc::default()));
        assert!(open(&url, &[], None, store).await.is_err());
    }
}
