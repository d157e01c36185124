//! One client connection, from accept to close.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep, sleep_until};

use super::activity::{Activity, Judge, Judgement};
use super::guard::Guard;
use super::limits::{self, ListenLimits};
use super::service::{ClientAddr, ConnectionService, EdgeService};
use super::stage::Lifetime;
use super::stats::{Close, ListenStats};
use super::timeout_io::TimeoutIo;

/// What all connections of one server share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) http: auto::Builder<TokioExecutor>,
    pub(super) limits: Arc<ListenLimits>,
    pub(super) stats: Arc<ListenStats>,
}

impl Shared {
    pub(super) fn new(limits: ListenLimits, stats: Arc<ListenStats>) -> Self {
        Self {
            http: builder(&limits),
            limits: Arc::new(limits),
            stats,
        }
    }
}

/// Serves one connection until it ends, and counts how.
pub(super) async fn run<S: EdgeService>(
    stream: TcpStream,
    peer: SocketAddr,
    service: S,
    shared: Arc<Shared>,
    slot: OwnedSemaphorePermit,
    lifetime: Lifetime,
) {
    // A response's last segment must not wait for the ACK of the one before.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "cannot set TCP_NODELAY");
    }
    let activity = Arc::new(Activity::new(slot));
    let limits = Arc::clone(&shared.limits);
    let socket = TimeoutIo::new(stream, limits.write_stall_timeout);
    let counts = Arc::clone(shared.stats.violations());
    let socket = Guard::new(socket, &limits, Arc::clone(&activity), counts);
    let service = ConnectionService {
        service,
        client: ClientAddr(peer),
        lifetime: lifetime.clone(),
        limits,
        activity: Arc::clone(&activity),
    };
    let close = drive(socket, service, &activity, &shared, lifetime).await;
    tracing::debug!(%peer, close = close.as_str(), "closed a connection");
    shared.stats.count_closed(close);
}

async fn drive<S: EdgeService>(
    socket: Guard<TimeoutIo<TcpStream>>,
    service: ConnectionService<S>,
    activity: &Activity,
    shared: &Shared,
    mut lifetime: Lifetime,
) -> Close {
    let http = shared
        .http
        .serve_connection_with_upgrades(TokioIo::new(socket), service);
    let mut http = pin!(http);
    let mut look = pin!(sleep(
        shared
            .limits
            .idle_timeout
            .min(shared.limits.write_stall_timeout)
    ));
    let mut end = lifetime.clone();
    let mut judge = Judge::default();
    let mut is_idle = false;
    let mut is_draining = false;
    loop {
        tokio::select! {
            ended = http.as_mut() => return match ended {
                _ if is_idle => Close::Idle,
                Ok(()) => Close::Done,
                Err(error) => reason(&*error),
            },
            () = look.as_mut() => match judge.judge(activity, Instant::now(), &shared.limits) {
                Judgement::Keep(after) => look.set(sleep_until(Instant::now() + after)),
                Judgement::Stalled => return Close::Stalled,
                // Told so before, and it still has not left.
                Judgement::Idle if is_idle => return Close::Idle,
                Judgement::Idle => {
                    is_idle = true;
                    http.as_mut().graceful_shutdown();
                    look.set(sleep(shared.limits.write_stall_timeout));
                }
            },
            () = lifetime.draining(), if !is_draining => {
                is_draining = true;
                http.as_mut().graceful_shutdown();
            }
            () = end.cut(), if is_draining => return Close::Cut,
        }
    }
}

/// Whether a failed connection was too slow or something else.
fn reason(error: &(dyn Error + 'static)) -> Close {
    let mut source = Some(error);
    while let Some(cause) = source {
        let is_late = |io: &io::Error| io.kind() == io::ErrorKind::TimedOut;
        if cause.downcast_ref().is_some_and(is_late) {
            return Close::TimedOut;
        }
        source = cause.source();
    }
    tracing::debug!(error, "a connection failed");
    Close::Failed
}

/// HTTP/1.1, and HTTP/2 by prior knowledge, on one port.
fn builder(limits: &ListenLimits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    let mut http1 = builder.http1();
    http1
        .timer(TokioTimer::new())
        // The guard times heads, and the connection's task times silence: hyper's one timer would
        // count both as the same.
        .header_read_timeout(None)
        .max_buf_size(limits.head_bytes_max.max(limits::HYPER_BUFFER_BYTES_MIN));
    if limits.fields_max != limits::FIELDS_MAX {
        // Any value but the default makes hyper allocate for each head.
        http1.max_headers(limits.fields_max);
    }
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams_max)
        .max_header_list_size(u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX))
        .initial_stream_window_size(limits::STREAM_WINDOW_BYTES)
        .initial_connection_window_size(limits::CONNECTION_WINDOW_BYTES)
        .max_send_buf_size(limits::STREAM_SEND_BYTES_MAX)
        .max_pending_accept_reset_streams(limits::PENDING_RESETS_MAX)
        .max_local_error_reset_streams(limits::ERROR_RESETS_MAX)
        .keep_alive_interval(limits::PING_INTERVAL)
        .keep_alive_timeout(limits::PING_TIMEOUT);
    builder
}
