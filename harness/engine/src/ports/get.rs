//! A document that is asked for: what is new in it since the last look is what arrived.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use birdstrike_judge::{Doc, Pointer};
use reqwest::header::HeaderMap;

use super::store::{Arrival, Store};

/// How long one answer may take.
const WITHIN: Duration = Duration::from_secs(2);
/// Bytes taken of one answer.
const MOST: usize = 16 << 20;

/// How a document is taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// The items of the array at this place are records; each is there once however often it is
    /// seen.
    Items(Pointer),
    /// Its lines show how things stand now.
    Lines,
    /// The document as a whole shows how things stand now.
    Whole,
}

/// A document and what was last seen of it.
#[derive(Debug)]
pub(super) struct Poll {
    http: reqwest::Client,
    url: String,
    headers: HeaderMap,
    parts: Parts,
    store: Arc<Store>,
    asked: Option<Instant>,
    /// How often each record stood there at the last look.
    seen: HashMap<Vec<u8>, usize>,
    /// How things stand, where the document shows that.
    latest: Vec<Arc<Arrival>>,
}

impl Poll {
    /// Nothing is asked yet.
    pub(super) fn new(
        http: reqwest::Client,
        url: String,
        headers: HeaderMap,
        parts: Parts,
        store: Arc<Store>,
    ) -> Self {
        let (asked, seen, latest) = (None, HashMap::new(), Vec::new());
        Self { http, url, headers, parts, store, asked, seen, latest }
    }

    /// The document stands elsewhere now. What was seen of it stays seen: a gateway may keep its
    /// records when it is started anew.
    pub(super) fn moved(&mut self, url: String, headers: HeaderMap) {
        (self.url, self.headers, self.asked) = (url, headers, None);
    }

    /// Looks at the document, unless it was asked for after `since` already.
    ///
    /// # Errors
    /// In words, when it does not come, or is not what it should be.
    pub(super) async fn look(&mut self, since: Instant) -> Result<(), String> {
        if self.asked.is_some_and(|asked| asked >= since) {
            return Ok(());
        }
        let now = Instant::now();
        let body = self.ask().await?;
        let parts = self.parts(&body)?;
        self.asked = Some(now);
        let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut latest = Vec::new();
        let state = !matches!(self.parts, Parts::Items(_));
        for part in parts {
            let count = seen.entry(part.clone()).or_default();
            *count += 1;
            let fresh = *count > self.seen.get(&part).copied().unwrap_or_default();
            if fresh {
                // How things stand is shown by `latest`; what stood there in between is sought.
                self.store.push(Arrival { shadow: state, ..Arrival::now(part.clone()) });
                if state {
                    self.store.count(part.len());
                }
            }
            if state {
                latest.push(Arc::new(Arrival { at: now, ..Arrival::now(part) }));
            }
        }
        (self.seen, self.latest) = (seen, latest);
        Ok(())
    }

    /// How things stood at the last look; empty where the document is a list of records.
    pub(super) fn latest(&self) -> &[Arc<Arrival>] {
        &self.latest
    }

    async fn ask(&self) -> Result<Vec<u8>, String> {
        let asked = self.http.get(&self.url).headers(self.headers.clone()).timeout(WITHIN).send();
        let words = |error: reqwest::Error| error.without_url().to_string();
        let mut response = asked.await.map_err(words)?;
        if !response.status().is_success() {
            return Err(format!("it was answered with {}", response.status()));
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(words)? {
            if body.len() + piece.len() > MOST {
                return Err(format!("it has more than {MOST} bytes"));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    fn parts(&self, body: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        match &self.parts {
            Parts::Whole => Ok(vec![body.to_vec()]),
            Parts::Lines => {
                let lines = body.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
                Ok(lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect())
            }
            Parts::Items(at) => {
                let doc = Doc::scan(body).map_err(|error| format!("it is no JSON: {error}"))?;
                let list = doc.at(at).ok_or_else(|| format!("it has nothing at `{at}`"))?;
                Ok(list.items().map(|item| item.bytes().to_vec()).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// A server that answers every request with what stands in the cell.
    async fn peer(said: Arc<Mutex<String>>) -> String {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}/history", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let body = said.lock().unwrap().clone();
                let length = body.len();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n");
                let answer = format!("{head}connection: close\r\n\r\n{body}");
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        url
    }

    async fn poll(parts: Parts) -> (Poll, Arc<Store>, Arc<Mutex<String>>) {
        let said = Arc::new(Mutex::new(String::new()));
        let url = peer(Arc::clone(&said)).await;
        let store = Arc::new(Store::new(Arc::default()));
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        (Poll::new(http, url, HeaderMap::new(), parts, Arc::clone(&store)), store, said)
    }

    #[tokio::test]
    async fn each_record_of_a_list_arrives_once() {
        let (mut poll, store, said) = poll(Parts::Items(Pointer::root())).await;
        *said.lock().unwrap() = r#"[{"n":1},{"n":1}]"#.to_owned();
        poll.look(Instant::now()).await.unwrap();
        *said.lock().unwrap() = r#"[{"n":1},{"n":1},{"n":1},{"n":2}]"#.to_owned();
        poll.look(Instant::now()).await.unwrap();
        assert_eq!(store.totals().0, 4);
        *said.lock().unwrap() = "no json".to_owned();
        assert!(poll.look(Instant::now()).await.is_err());
    }

    #[tokio::test]
    async fn a_state_is_the_latest_look_and_is_not_asked_for_twice() {
        let (mut poll, store, said) = poll(Parts::Lines).await;
        *said.lock().unwrap() = "calls{tool=\"echo\"} 1\n\nup 1\n".to_owned();
        let before = Instant::now();
        poll.look(before).await.unwrap();
        *said.lock().unwrap() = "calls{tool=\"echo\"} 2\nup 1\n".to_owned();
        poll.look(before).await.unwrap();
        assert_eq!(poll.latest()[0].raw, b"calls{tool=\"echo\"} 1");
        poll.look(Instant::now()).await.unwrap();
        assert_eq!(poll.latest()[0].raw, b"calls{tool=\"echo\"} 2");
        assert_eq!(store.since(0).records.len(), 3);
        assert_eq!(store.totals().0, 3);
    }
}
