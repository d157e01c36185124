//! Accepts connections until told to stop, then lets them finish.

use std::future::Future;
use std::io;
use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::connection::{self, Shared};
use super::limits::ListenLimits;
use super::service::EdgeService;
use super::stage::{Lifetime, Stage};
use super::stats::ListenStats;

/// First pause after a failure to accept, doubled up to [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_millis(10);
/// Longest pause: a freed file descriptor is used within a second.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// How long connections have to notice that they are cut: they only need to be polled.
const CUT_TIMEOUT: Duration = Duration::from_secs(1);

/// How a server stopped.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Stopped {
    /// Connections that were open when it was told to stop.
    pub open: usize,
    /// Of these, those that had not finished by the deadline, tunnels included.
    pub cut: usize,
}

/// Serves HTTP/1.1 and HTTP/2 (prior knowledge) on `listeners` with clones of `service` until
/// `shutdown` resolves, on the runtime that it is called on.
///
/// Each request carries its [`ClientAddr`](super::ClientAddr). Then it stops accepting, answers what
/// is in flight with `Connection: close`, and cuts what has not finished after
/// [`ListenLimits::stop_timeout`].
///
/// Not cancel safe: dropping it cuts all connections.
///
/// # Errors
///
/// A listener that the runtime cannot watch. Failures to accept are waited out and counted.
pub async fn serve<S: EdgeService>(
    listeners: Vec<StdListener>,
    service: S,
    limits: ListenLimits,
    stats: Arc<ListenStats>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<Stopped> {
    let stop_timeout = limits.stop_timeout;
    // Each listener holds a slot while it waits: with fewer, one would never be served.
    let slots_max = limits
        .connections_max
        .max(listeners.len())
        .min(Semaphore::MAX_PERMITS);
    let slots = Arc::new(Semaphore::new(slots_max));
    let (stage, watched) = watch::channel(Stage::Open);
    let shared = Arc::new(Shared::new(limits, stats));
    let mut accepting = JoinSet::new();
    for listener in listeners {
        let listener = TcpListener::from_std(listener)?;
        let door = Door {
            listener,
            slots: Arc::clone(&slots),
            shared: Arc::clone(&shared),
            lifetime: Lifetime::new(watched.clone()),
        };
        accepting.spawn(door.accept(service.clone()));
    }
    drop(service);
    shutdown.await;
    stage.send_replace(Stage::Draining);
    while accepting.join_next().await.is_some() {}
    Ok(drain(&slots, slots_max, &stage, stop_timeout).await)
}

/// Waits for all slots to be free, and cuts what holds one at the deadline.
async fn drain(
    slots: &Semaphore,
    slots_max: usize,
    stage: &watch::Sender<Stage>,
    stop_timeout: Duration,
) -> Stopped {
    let held = || slots_max - slots.available_permits();
    let open = held();
    if timeout(stop_timeout, all_free(slots, slots_max))
        .await
        .is_ok()
    {
        return Stopped { open, cut: 0 };
    }
    let cut = held();
    stage.send_replace(Stage::Cut);
    if timeout(CUT_TIMEOUT, all_free(slots, slots_max))
        .await
        .is_err()
    {
        tracing::warn!(
            connections = held(),
            "connections did not end when they were cut"
        );
    }
    Stopped { open, cut }
}

async fn all_free(slots: &Semaphore, slots_max: usize) {
    // In pieces that fit the semaphore's type; a piece is kept until all are there.
    let mut left = slots_max;
    let mut free = Vec::new();
    while left > 0 {
        let piece = u32::try_from(left).unwrap_or(u32::MAX);
        free.push(slots.acquire_many(piece).await);
        left -= piece as usize;
    }
}

/// One listening socket.
struct Door {
    listener: TcpListener,
    slots: Arc<Semaphore>,
    shared: Arc<Shared>,
    lifetime: Lifetime,
}

impl Door {
    async fn accept<S: EdgeService>(mut self, service: S) {
        let mut pause = PAUSE_MIN;
        let mut lifetime = self.lifetime.clone();
        loop {
            let accepted = tokio::select! {
                () = lifetime.draining() => return,
                accepted = self.next(&mut pause) => accepted,
            };
            let Some((stream, peer, slot)) = accepted else {
                continue;
            };
            self.shared.stats.count_accepted();
            let shared = Arc::clone(&self.shared);
            let lifetime = self.lifetime.clone();
            tokio::spawn(connection::run(
                stream,
                peer,
                service.clone(),
                shared,
                slot,
                lifetime,
            ));
        }
    }

    /// Takes a slot, then a connection: beyond the bound nothing is accepted.
    async fn next(
        &mut self,
        pause: &mut Duration,
    ) -> Option<(TcpStream, std::net::SocketAddr, OwnedSemaphorePermit)> {
        let slot = Arc::clone(&self.slots).acquire_owned().await.ok()?;
        match self.listener.accept().await {
            Ok((stream, peer)) => {
                *pause = PAUSE_MIN;
                Some((stream, peer, slot))
            }
            // This client's bad luck; the next may have more.
            Err(error) if is_of_one_client(&error) => None,
            Err(error) => {
                tracing::warn!(%error, pause_ms = pause.as_millis(), "cannot accept connections");
                self.shared.stats.count_accept_error();
                sleep(*pause).await;
                *pause = (*pause * 2).min(PAUSE_MAX);
                None
            }
        }
    }
}

fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}
