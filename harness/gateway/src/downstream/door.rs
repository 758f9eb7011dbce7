//! The door: who may come in, and how much may be carried in.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::response::{IntoResponse, Response};
use http::header::{ORIGIN, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};

use super::{Server, guard};
use crate::surfaces::truncation::Owner;

/// How long a client may take to send its request.
const REQUEST_TIME: Duration = Duration::from_secs(30);

/// Who asks, if it may.
pub(super) fn admit(server: &Server, headers: &HeaderMap) -> Result<Owner, NotAdmitted> {
    let steps = &server.pipeline.context.steps.transport.door;
    let elsewhere = guard::check(headers, server.address).err();
    if !(steps.admits)(elsewhere.is_none(), headers.contains_key(ORIGIN)) {
        return Err(NotAdmitted::Elsewhere(elsewhere.unwrap_or("the Origin is not welcome")));
    }
    server.pipeline.context.identities.owner(headers).ok_or(NotAdmitted::Unknown)
}

/// Why a client is not listened to.
pub(super) enum NotAdmitted {
    /// What it says of its origin, in words.
    Elsewhere(&'static str),
    /// It is none of those who may call.
    Unknown,
}

impl IntoResponse for NotAdmitted {
    fn into_response(self) -> Response {
        match self {
            Self::Elsewhere(why) => (StatusCode::FORBIDDEN, why).into_response(),
            Self::Unknown => {
                (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")]).into_response()
            }
        }
    }
}

/// Why a body was not read.
pub(super) enum Unread {
    /// In words that name the limit.
    TooLong(String),
    TooSlow,
}

/// The whole body of a request.
pub(super) async fn whole(server: &Server, body: Body) -> Result<Bytes, Unread> {
    let limit = server.pipeline.context.limits.max_request_bytes;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    match tokio::time::timeout(REQUEST_TIME, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => {
            Err(Unread::TooLong(format!("the request is larger than {limit} bytes, or broke off")))
        }
        Err(_) => Err(Unread::TooSlow),
    }
}
