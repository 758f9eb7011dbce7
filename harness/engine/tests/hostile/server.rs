//! The hostile gateway's server: requests from raw sockets, answers byte by byte.
//!
//! It passes everything on to the upstream that its URL names behind the `?`, and is wicked only
//! when the tool `typed` is called. So it gets ready, and what comes after the misdeed is served
//! well again.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::misdeed::Misdeed;

/// A running hostile gateway; it ends when it is dropped.
pub(crate) struct Server {
    /// Its URL without the `?UPSTREAM`.
    pub(crate) url: String,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Serves on a free port; wicked to calls of `typed`.
    pub(crate) async fn start(misdeed: Misdeed) -> Self {
        Self::start_for(misdeed, |request| request.calls("typed")).await
    }

    /// Serves on a free port; wicked to these requests.
    pub(crate) async fn start_for(misdeed: Misdeed, picks: fn(&Request) -> bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let task = tokio::spawn(serve(listener, move |request, stream| async move {
            // An error means that the client went away, as it should.
            let misdeed = if picks(&request) { misdeed } else { Misdeed::None };
            let _ = answer(&request, misdeed, stream).await;
        }));
        Self { url, task }
    }
}

/// Takes connections, one request each.
pub(crate) async fn serve<F, D>(listener: TcpListener, handle: F)
where
    F: Fn(Request, TcpStream) -> D + Clone + Send + 'static,
    D: Future<Output = ()> + Send + 'static,
{
    while let Ok((mut stream, _)) = listener.accept().await {
        let handle = handle.clone();
        tokio::spawn(async move {
            if let Some(request) = Request::read(&mut stream).await {
                handle(request, stream).await;
            }
        });
    }
}

/// Passes a request on, or does its misdeed.
pub(crate) async fn answer(
    request: &Request,
    misdeed: Misdeed,
    mut stream: TcpStream,
) -> std::io::Result<()> {
    let good = if misdeed.calls_upstream() { request.pass_on().await } else { Vec::new() };
    misdeed.commit(&mut stream, &good, &request.id()).await?;
    stream.shutdown().await
}

/// One HTTP request.
pub(crate) struct Request {
    upstream: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Request {
    async fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut bytes = Vec::new();
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            if stream.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines();
        let target = lines.next()?.split(' ').nth(1)?.to_owned();
        let upstream = target.split_once('?').map_or("", |(_, upstream)| upstream).to_owned();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap_or(0));
        while bytes.len() < end + length {
            if stream.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
        }
        let body = String::from_utf8_lossy(&bytes[end..]).into_owned();
        Some(Self { upstream, headers, body })
    }

    /// Whether it is a request of this method.
    pub(crate) fn is(&self, method: &str) -> bool {
        self.body.contains(&format!("\"{method}\""))
    }

    /// Whether it calls this tool.
    pub(crate) fn calls(&self, tool: &str) -> bool {
        let name = format!("\"name\":\"{tool}\"");
        self.is("tools/call") && self.body.contains(&name)
    }

    /// Its raw id.
    fn id(&self) -> String {
        birdstrike_wire::json::get(&self.body, "id").unwrap_or("null").to_owned()
    }

    /// What the upstream answers.
    pub(crate) async fn pass_on(&self) -> Vec<u8> {
        if self.upstream.is_empty() {
            let good = r#"{"content":[{"type":"text","text":"good"}],"resultType":"complete"}"#;
            let id = self.id();
            return format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{good}}}").into_bytes();
        }
        let mut sent = reqwest::Client::new().post(&self.upstream).body(self.body.clone());
        for (name, value) in &self.headers {
            if name.starts_with("mcp-") || name == "accept" || name == "content-type" {
                sent = sent.header(name, value);
            }
        }
        match sent.send().await {
            Ok(response) => response.bytes().await.map(Vec::from).unwrap_or_default(),
            Err(error) => error.to_string().into_bytes(),
        }
    }
}
