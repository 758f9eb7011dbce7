//! What a hostile gateway does to a call.

use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};

/// One way of not answering as one should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misdeed {
    /// None: the upstream's answer is passed on.
    None,
    /// Holds the connection and says nothing.
    NeverAnswer,
    /// Closes the connection at once.
    CloseBeforeHeaders,
    /// Announces the whole body and closes in its middle.
    CloseMidAnswer,
    /// A whole HTTP body that is the first half of the JSON.
    HalfJson,
    /// A byte that no UTF-8 has.
    InvalidUtf8,
    /// 200,000 arrays, one in the other, and no message.
    Nested,
    /// The same as the typed part of a result.
    NestedInside,
    /// The answer under another id.
    WrongId,
    /// The answer twice, on one stream.
    TwoAnswers,
    /// Comments without end, as fast as they are taken.
    EndlessComments,
    /// A comment now and then, without end.
    SlowComments,
    /// Notifications without end, as fast as they are taken.
    EndlessNotifications,
    /// The answer, and then comments without end.
    AnswerThenComments,
    /// A body without end.
    EndlessBody,
    /// More bytes are announced than come, and the connection stays open.
    LongerLength,
    /// The whole answer, but a byte now and then.
    SlowDrip,
    /// HTTP 500 with words.
    Status500,
    /// HTTP 302.
    Redirect,
    /// HTTP 200 with nothing.
    Empty,
    /// The answer to some other call.
    OtherCall,
    /// The right answer in form, made up: the upstream is never called.
    MadeUp,
    /// The upstream is never called, and nothing comes.
    NeverAnswerNorCall,
}

impl Misdeed {
    /// Whether the upstream is called first.
    pub(crate) fn calls_upstream(self) -> bool {
        !matches!(self, Self::MadeUp | Self::NeverAnswerNorCall)
    }

    /// Answers a call in its way; `good` is what would be right, `id` its raw id.
    ///
    /// # Errors
    /// When the client has gone away.
    pub(crate) async fn commit(
        self,
        to: &mut (impl AsyncWrite + Unpin),
        good: &[u8],
        id: &str,
    ) -> std::io::Result<()> {
        let text = String::from_utf8_lossy(good).into_owned();
        match self {
            Self::None => json(to, good).await,
            Self::NeverAnswer | Self::NeverAnswerNorCall => std::future::pending().await,
            Self::CloseBeforeHeaders => Ok(()),
            Self::CloseMidAnswer => {
                head(to, "application/json", Some(good.len())).await?;
                to.write_all(&good[..good.len() / 2]).await
            }
            Self::HalfJson => json(to, &good[..good.len() / 2]).await,
            Self::InvalidUtf8 => {
                json(to, &[&good[..good.len() - 2], b",\"x\":\"\xff\"}}"].concat()).await
            }
            Self::Nested => json(to, nested().as_bytes()).await,
            Self::NestedInside => json(to, nested_inside(id).as_bytes()).await,
            Self::WrongId => {
                let other = text.replace(&format!("\"id\":{id}"), "\"id\":7");
                json(to, other.as_bytes()).await
            }
            Self::TwoAnswers => {
                head(to, "text/event-stream", None).await?;
                to.write_all(format!("data: {text}\n\ndata: {text}\n\n").as_bytes()).await
            }
            Self::Status500 => {
                status(to, "500 Internal Server Error", "text/plain", b"out of luck").await
            }
            Self::Redirect => {
                to.write_all(b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await
            }
            Self::Empty => json(to, b"").await,
            Self::OtherCall => {
                let other = r#"{"content":[{"type":"text","text":"somebody else's"}],"resultType":"complete"}"#;
                let other = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{other}}}");
                json(to, other.as_bytes()).await
            }
            Self::MadeUp => {
                let made = r#"{"content":[{"type":"text","text":"made up"}],"resultType":"complete"}"#;
                let made = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{made}}}");
                json(to, made.as_bytes()).await
            }
            endless => endless.go_on(to, good).await,
        }
    }

    /// The ways that take their time.
    async fn go_on(self, to: &mut (impl AsyncWrite + Unpin), good: &[u8]) -> std::io::Result<()> {
        let pause = Duration::from_millis(20);
        match self {
            Self::EndlessComments => {
                head(to, "text/event-stream", None).await?;
                flood(to, &b": still here\n\n".repeat(1_000)).await
            }
            Self::EndlessNotifications => {
                head(to, "text/event-stream", None).await?;
                let one = br#"data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
                flood(to, &[one.as_slice(), b"\n\n"].concat().repeat(200)).await
            }
            Self::AnswerThenComments => {
                head(to, "text/event-stream", None).await?;
                to.write_all(&[b"data: ", good, b"\n\n"].concat()).await?;
                flood(to, &b": still here\n\n".repeat(1_000)).await
            }
            Self::SlowComments => {
                head(to, "text/event-stream", None).await?;
                loop {
                    to.write_all(b": still here\n\n").await?;
                    tokio::time::sleep(pause).await;
                }
            }
            Self::EndlessBody => {
                head(to, "application/json", None).await?;
                to.write_all(b"{\"jsonrpc\":\"2.0\",\"result\":{\"text\":\"").await?;
                flood(to, &vec![b'a'; 64 << 10]).await
            }
            Self::LongerLength => {
                head(to, "application/json", Some(good.len() + 1_000)).await?;
                to.write_all(good).await?;
                std::future::pending().await
            }
            _ => {
                head(to, "application/json", Some(good.len())).await?;
                for byte in good {
                    to.write_all(&[*byte]).await?;
                    tokio::time::sleep(pause).await;
                }
                Ok(())
            }
        }
    }
}

fn nested() -> String {
    const DEPTH: usize = 200_000;
    format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH))
}

fn nested_inside(id: &str) -> String {
    let typed = nested();
    let result = format!(r#"{{"content":[],"structuredContent":{typed},"resultType":"complete"}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

async fn flood(to: &mut (impl AsyncWrite + Unpin), piece: &[u8]) -> std::io::Result<()> {
    loop {
        to.write_all(piece).await?;
    }
}

async fn head(
    to: &mut (impl AsyncWrite + Unpin),
    content_type: &str,
    length: Option<usize>,
) -> std::io::Result<()> {
    let length = length.map_or(String::new(), |length| format!("content-length: {length}\r\n"));
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\n{length}connection: close\r\n\r\n"
    );
    to.write_all(head.as_bytes()).await
}

async fn json(to: &mut (impl AsyncWrite + Unpin), body: &[u8]) -> std::io::Result<()> {
    status(to, "200 OK", "application/json", body).await
}

async fn status(
    to: &mut (impl AsyncWrite + Unpin),
    status: &str,
    content_type: &str,
    body: &[u8],
) -> std::io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    to.write_all(&[head.as_bytes(), body].concat()).await
}
