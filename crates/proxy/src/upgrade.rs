//! Passes WebSockets through: a request for another protocol goes to the origin, and when that
//! agrees, bytes go both ways until either side is done.
//!
//! Only WebSocket is passed on. Any other protocol that a client could ask for (`h2c` above all)
//! would be a tunnel past every rule of this proxy, and its request is answered as if it had not
//! asked, as RFC 9110 §7.8 allows.

use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::try_join;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Empty};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional_with_sizes};
use tower_service::Service;

use crate::BoxBody;
use crate::listen::Lifetime;
use crate::listen::stall::StallTimer;
use crate::origin::{OriginBody, OriginClient, OriginError, strip_hop_by_hop};

const WEBSOCKET: &str = "websocket";
/// What one tunnel buffers in each direction: a slow reader stops the other side's writer.
const BUFFER_BYTES: usize = 16 * 1024;

/// How a tunnel ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TunnelEnd {
    /// Both sides closed.
    Closed,
    /// A side broke off, or never switched.
    Failed,
    /// No byte moved for too long.
    Idle,
    /// The server stopped.
    Cut,
}

impl TunnelEnd {
    /// The name in logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Failed => "failed",
            Self::Idle => "idle",
            Self::Cut => "cut",
        }
    }
}

/// Whether `request` asks for a WebSocket (RFC 6455 §4.1) and so must pass by the cache.
pub fn is_wanted<B>(request: &Request<B>) -> bool {
    request.method() == Method::GET
        && request.version() == Version::HTTP_11
        && has_token(request.headers(), &header::CONNECTION, "upgrade")
        && has_token(request.headers(), &header::UPGRADE, WEBSOCKET)
}

/// Sends `request` to the origin and, when both want a WebSocket, ties the two together.
///
/// With `101 Switching Protocols` a task of its own copies bytes until both sides have closed, no
/// byte has moved for `idle_timeout`, or the server that took the request is cut. Whatever else the
/// origin answers is returned as it is. The tunnel holds a connection of the pool and one of the
/// server; their bounds are the bound on tunnels.
///
/// # Errors
///
/// As [`OriginClient`]; an origin that switches to another protocol breaks it.
pub async fn forward(
    mut request: Request<BoxBody>,
    client: &OriginClient,
    idle_timeout: Duration,
) -> Result<Response<BoxBody>, OriginError> {
    let lifetime = request.extensions_mut().remove::<Lifetime>();
    let on_client = hyper::upgrade::on(&mut request);
    if !is_wanted(&request) {
        return Ok(client.clone().call(request).await?.map(boxed));
    }
    let mut response = client
        .upgrade(request, HeaderValue::from_static(WEBSOCKET))
        .await?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Ok(response.map(boxed));
    }
    if !has_token(response.headers(), &header::UPGRADE, WEBSOCKET) {
        return Err(OriginError::UnaskedUpgrade);
    }
    let on_origin = hyper::upgrade::on(&mut response);
    let (mut parts, lease) = response.into_parts();
    strip_hop_by_hop(&mut parts.headers);
    parts
        .headers
        .insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    parts
        .headers
        .insert(header::UPGRADE, HeaderValue::from_static(WEBSOCKET));
    tokio::spawn(async move {
        let end = tokio::select! {
            end = tunnel(on_client, on_origin, idle_timeout) => end,
            () = cut(lifetime) => TunnelEnd::Cut,
        };
        tracing::debug!(end = end.as_str(), "closed a tunnel");
        // The origin's connection counts until here.
        drop(lease);
    });
    let nothing = Empty::new().map_err(|never| match never {}).boxed_unsync();
    Ok(Response::from_parts(parts, nothing))
}

async fn tunnel(on_client: OnUpgrade, on_origin: OnUpgrade, idle_timeout: Duration) -> TunnelEnd {
    let Ok((client, origin)) = try_join(on_client, on_origin).await else {
        return TunnelEnd::Failed;
    };
    let has_moved = Arc::new(AtomicBool::new(false));
    let mut client = Watched {
        io: TokioIo::new(client),
        has_moved: Arc::clone(&has_moved),
    };
    let mut origin = TokioIo::new(origin);
    let copy = copy_bidirectional_with_sizes(&mut client, &mut origin, BUFFER_BYTES, BUFFER_BYTES);
    let mut copy = pin!(copy);
    let mut stall = StallTimer::new(idle_timeout);
    poll_fn(|cx| {
        if let Poll::Ready(copied) = copy.as_mut().poll(cx) {
            let end = if copied.is_ok() {
                TunnelEnd::Closed
            } else {
                TunnelEnd::Failed
            };
            return Poll::Ready(end);
        }
        if has_moved.swap(false, Ordering::Relaxed) {
            stall.progress();
        }
        stall.poll_stalled(cx).map(|()| TunnelEnd::Idle)
    })
    .await
}

/// Waits for the server to be cut; for ever if none is known.
async fn cut(lifetime: Option<Lifetime>) {
    match lifetime {
        Some(mut lifetime) => lifetime.cut().await,
        None => std::future::pending().await,
    }
}

fn boxed(body: OriginBody) -> BoxBody {
    body.map_err(Into::into).boxed_unsync()
}

/// Whether the comma-separated lists of `name` hold `token`, in any case (RFC 9110 §5.6.1).
fn has_token(fields: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    fields
        .get_all(name)
        .iter()
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
        .any(|item| item.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

/// The client's side, which all bytes of a tunnel pass: it notes that some did.
struct Watched {
    io: TokioIo<Upgraded>,
    has_moved: Arc<AtomicBool>,
}

impl Watched {
    fn note<T>(&self, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.has_moved.store(true, Ordering::Relaxed);
        }
        result
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.io).poll_read(cx, buf);
        self.note(read)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, slices);
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_websocket_handshake_is_wanted() {
        let request = |method: &str, version, connection: &str, upgrade: &str| {
            Request::builder()
                .method(method)
                .version(version)
                .header(header::CONNECTION, connection)
                .header(header::UPGRADE, upgrade)
                .body(())
                .unwrap()
        };
        let v11 = Version::HTTP_11;
        assert!(is_wanted(&request(
            "GET",
            v11,
            "keep-alive, Upgrade",
            "WebSocket"
        )));
        assert!(is_wanted(&request("GET", v11, "upgrade", "foo, websocket")));
        assert!(!is_wanted(&request("GET", v11, "upgrade", "h2c")));
        assert!(!is_wanted(&request("GET", v11, "close", "websocket")));
        assert!(!is_wanted(&request("POST", v11, "upgrade", "websocket")));
        assert!(!is_wanted(&request(
            "GET",
            Version::HTTP_10,
            "upgrade",
            "websocket"
        )));
        assert!(!is_wanted(&request(
            "GET",
            Version::HTTP_2,
            "upgrade",
            "websocket"
        )));
    }
}
