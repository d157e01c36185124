//! Answers of the administration server: JSON, but for the metrics.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use serde::Serialize;

/// A whole answer.
pub type Answer = Response<Full<Bytes>>;

/// Says what went wrong.
#[derive(Serialize)]
struct Failure<'a> {
    error: &'a str,
}

/// `value` as JSON, with a newline for terminals.
pub fn json(status: StatusCode, value: &impl Serialize) -> Answer {
    match serde_json::to_vec(value) {
        Ok(mut body) => {
            body.push(b'\n');
            with_body(status, "application/json", body)
        }
        // A map whose keys are no strings: the handler's bug, and no reason to end the process.
        Err(error) => with_body(
            StatusCode::INTERNAL_SERVER_ERROR,
            "text/plain",
            error.to_string(),
        ),
    }
}

/// `{"error": text}`.
pub fn error(status: StatusCode, text: &str) -> Answer {
    json(status, &Failure { error: text })
}

/// Any body. Nothing that this server says may be kept by a cache.
pub(super) fn with_body(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
