//! What the demo origin answers.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use jiff::Timestamp;
use tower_service::Service;

use super::pages;
use crate::listen::RequestBody;

/// How slow the slow page is.
const SLOW: Duration = Duration::from_secs(2);
const PICTURE_ETAG: &str = "\"larder-1\"";

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const SVG: &str = "image/svg+xml";

/// The demo site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demo;

impl Service<Request<RequestBody>> for Demo {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        Box::pin(async move { Ok(answer(&request).await) })
    }
}

async fn answer(request: &Request<RequestBody>) -> Response<Full<Bytes>> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return empty(StatusCode::METHOD_NOT_ALLOWED);
    }
    match request.uri().path() {
        "/" => page(HTML, "max-age=60", pages::HOME.to_owned()),
        "/picture.svg" => picture(request.headers()),
        "/slow" => {
            tokio::time::sleep(SLOW).await;
            page(
                HTML,
                "max-age=30, stale-while-revalidate=300",
                pages::slow(&now()),
            )
        }
        "/api/time" => {
            let mut response = page(JSON, "s-maxage=10", format!("{{\"time\":\"{}\"}}\n", now()));
            response
                .headers_mut()
                .insert("cache-tag", HeaderValue::from_static("time"));
            response
        }
        "/private" => page(HTML, "no-store", pages::private(&now())),
        _ => empty(StatusCode::NOT_FOUND),
    }
}

fn now() -> String {
    Timestamp::now().to_string()
}

fn picture(fields: &HeaderMap) -> Response<Full<Bytes>> {
    let known = fields
        .get(header::IF_NONE_MATCH)
        .is_some_and(|tag| tag == PICTURE_ETAG);
    let mut response = if known {
        empty(StatusCode::NOT_MODIFIED)
    } else {
        page(SVG, "max-age=3600", pages::PICTURE.to_owned())
    };
    let fields = response.headers_mut();
    fields.insert(header::ETAG, HeaderValue::from_static(PICTURE_ETAG));
    fields.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("max-age=3600"),
    );
    response
}

fn page(
    media_type: &'static str,
    cache_control: &'static str,
    text: String,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    fields.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static(cache_control),
    );
    response
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
