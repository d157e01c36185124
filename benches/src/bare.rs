//! The limit for any server on hyper: hyper itself, with a body in memory and four headers.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

/// Answers every request with `body`, for ever.
///
/// # Errors
/// When accepting fails.
pub async fn serve(listener: TcpListener, body: Bytes) -> std::io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let body = body.clone();
        tokio::spawn(async move {
            let service = service_fn(move |_: Request<Incoming>| {
                let body = body.clone();
                async move { Ok::<_, Infallible>(answer(body)) }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            // A client that leaves ends the connection; there is nobody to tell.
            let _ = http
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

fn answer(body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        http::HeaderValue::from_static("text/plain"),
    );
    headers.insert(
        header::ETAG,
        http::HeaderValue::from_static("\"0123456789abcdef\""),
    );
    headers.insert(
        header::CACHE_CONTROL,
        http::HeaderValue::from_static("max-age=86400"),
    );
    response
}
