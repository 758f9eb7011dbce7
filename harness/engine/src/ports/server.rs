//! The HTTP server of the ports that we serve: every body is taken whole, decoded, and answered.

use std::convert::Infallible;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Bytes taken of one body, as it comes and once it is inflated.
const MOST: usize = 16 << 20;

/// A body that was posted.
pub(super) struct Posted {
    /// The path of the URL.
    pub(super) path: String,
    /// `Content-Type`, without parameters, in small letters; may be empty.
    pub(super) content_type: String,
    /// The body, inflated.
    pub(super) body: Vec<u8>,
}

/// What is done with a body: the bytes and type of the answer.
pub(super) type Take = dyn Fn(Posted) -> (StatusCode, Vec<u8>) + Send + Sync;

/// Opens a server on a free port; the future serves until it is dropped.
///
/// # Errors
/// When no port can be bound.
pub(super) async fn open(
    take: Arc<Take>,
) -> std::io::Result<(SocketAddr, impl Future<Output = ()>)> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    Ok((address, serve(listener, take)))
}

async fn serve(listener: TcpListener, take: Arc<Take>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else {
                    continue;
                };
                let take = Arc::clone(&take);
                let service = service_fn(move |request| answer(request, Arc::clone(&take)));
                connections.spawn(async move {
                    let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                    // A sender that breaks off has said what it wanted to.
                    let _ = served.await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn answer(
    request: Request<Incoming>,
    take: Arc<Take>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let content_type = header(&parts.headers, CONTENT_TYPE.as_str());
    let content_type = content_type.split(';').next().unwrap_or_default().trim().to_owned();
    // Who only looks whether somebody is there gets an answer too.
    let looked = matches!(parts.method, Method::GET | Method::HEAD);
    let taken = match Limited::new(body, MOST).collect().await {
        Ok(body) => inflate(&parts.headers, body.to_bytes().to_vec()),
        Err(_) => Err(StatusCode::PAYLOAD_TOO_LARGE),
    };
    let (status, said) = match taken {
        Ok(_) if looked => (StatusCode::OK, Vec::new()),
        Ok(body) => {
            let path = parts.uri.path().to_owned();
            take(Posted { path, content_type: content_type.clone(), body })
        }
        Err(status) => (status, Vec::new()),
    };
    let mut response = Response::new(Full::new(Bytes::from(said)));
    *response.status_mut() = status;
    if let Ok(value) = content_type.parse() {
        response.headers_mut().insert(CONTENT_TYPE, value);
    }
    Ok(response)
}

fn header(headers: &HeaderMap, name: &str) -> String {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_ascii_lowercase()
}

fn inflate(headers: &HeaderMap, body: Vec<u8>) -> Result<Vec<u8>, StatusCode> {
    match header(headers, CONTENT_ENCODING.as_str()).as_str() {
        "" | "identity" => Ok(body),
        "gzip" => {
            let mut inflated = Vec::new();
            let mut decoder = MultiGzDecoder::new(body.as_slice()).take(MOST as u64 + 1);
            decoder.read_to_end(&mut inflated).map_err(|_| StatusCode::BAD_REQUEST)?;
            let fits = inflated.len() <= MOST;
            if fits { Ok(inflated) } else { Err(StatusCode::PAYLOAD_TOO_LARGE) }
        }
        _ => Err(StatusCode::UNSUPPORTED_MEDIA_TYPE),
    }
}
