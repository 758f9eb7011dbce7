//! Whoever is told by the gateway: a folder, and a server that takes all.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use tokio::net::TcpListener;

use super::until;

/// A folder of its own, gone at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let path = std::env::temp_dir().join(format!("birdstrike-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.join(name)).unwrap_or_default();
        text.split_terminator('\n').map(str::to_owned).collect()
    }

    pub(crate) fn json(&self, name: &str) -> Vec<serde_json::Value> {
        self.lines(name).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Takes whatever is sent to it by POST, any path: the path, the type and the body.
#[derive(Clone, Default)]
pub(crate) struct Receiver(Arc<Mutex<Vec<Posted>>>);

/// Path, type and body.
pub(crate) type Posted = (String, String, Vec<u8>);

impl Receiver {
    pub(crate) async fn start() -> (Self, String) {
        let receiver = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let take = async |State(Self(all)): State<Self>, request: axum::extract::Request| {
            let path = request.uri().path().to_owned();
            let kind = request.headers()["content-type"].to_str().unwrap().to_owned();
            let body: Bytes = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
            all.lock().unwrap().push((path, kind, body.to_vec()));
        };
        let router = Router::new().route("/{*path}", post(take)).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (receiver, url)
    }

    pub(crate) fn all(&self) -> Vec<Posted> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) async fn wait_for(&self, count: usize) -> Vec<Posted> {
        until("the receiver got it", || self.all().len() >= count).await;
        self.all()
    }
}
