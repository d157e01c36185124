//! The origin on a socket: HTTP/1.1 and HTTP/2 without TLS, told apart by their first bytes.

use std::{convert::Infallible, future::Future, pin::pin, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{Either, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{
        conn::auto,
        graceful::{GracefulShutdown, Watcher},
    },
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{answer::answer, body::PlanBody, stats::OriginStats};

/// Connections at a time; more wait in the listener's backlog. Above what any test opens, below
/// the usual limit of file descriptors of a service.
pub const CONNECTIONS_MAX: usize = 16_384;

/// How long answers under way may go on after the shutdown began. Short: one that hangs on
/// purpose never ends.
pub const DRAIN_LIMIT: Duration = Duration::from_secs(1);

/// Pause after a failed accept (as when file descriptors ran out), lest the loop spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

type Answer = Response<Either<PlanBody, Full<Bytes>>>;

/// Serves until `shutdown` completes, then for at most [`DRAIN_LIMIT`].
///
/// Needs a tokio runtime with I/O and time. Cancel safe: dropping the future closes all
/// connections.
pub async fn serve(listener: TcpListener, shutdown: impl Future) {
    serve_counted(listener, OriginStats::default(), shutdown).await;
}

/// As [`serve`], and counts in `stats`.
pub async fn serve_counted(listener: TcpListener, stats: OriginStats, shutdown: impl Future) {
    let mut shutdown = pin!(shutdown);
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut shutdown => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < CONNECTIONS_MAX => {
                match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(converse(stream, stats.clone(), graceful.watcher()));
                    }
                    Err(_) => sleep(ACCEPT_PAUSE).await,
                }
            }
        }
    }
    drop(listener);
    // Whatever is left is aborted when `connections` is dropped.
    let _ = timeout(DRAIN_LIMIT, graceful.shutdown()).await;
}

/// One connection. Its errors are the client's going, or the abort that the client asked for.
async fn converse(stream: TcpStream, stats: OriginStats, watcher: Watcher) {
    stats.connection();
    // Answers are written whole frames at a time: waiting to fill a packet only adds latency.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| respond(request, stats.clone()));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new());
    builder.http2().timer(TokioTimer::new());
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let _ = watcher.watch(connection.into_owned()).await;
}

async fn respond(request: Request<Incoming>, stats: OriginStats) -> Result<Answer, Infallible> {
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/_stats") => return Ok(counters(&stats)),
        (&Method::POST, "/_reset") => {
            stats.reset();
            return Ok(counters(&stats));
        }
        _ => {}
    }
    let plan = answer(request.method(), request.uri(), request.headers());
    stats.request(plan.kind);
    if plan.status == StatusCode::NOT_MODIFIED {
        stats.not_modified();
    }
    if !plan.pacing.delay.is_zero() {
        sleep(plan.pacing.delay).await;
    }
    let body = PlanBody::new(&plan, stats);
    let mut answer = Response::new(Either::Left(body));
    *answer.status_mut() = plan.status;
    *answer.headers_mut() = plan.headers;
    Ok(answer)
}

fn counters(stats: &OriginStats) -> Answer {
    // A struct of numbers always has a JSON form.
    let json = serde_json::to_string(&stats.counts()).unwrap_or_default();
    let mut answer = Response::new(Either::Right(Full::from(json + "\n")));
    let fields = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in fields {
        answer
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    answer
}
