//! Connections to one origin: how many, which are free, and who waits.
//!
//! A slot belongs to a request for as long as it uses a connection. Idle connections hold none, and
//! a request that has a slot takes an idle connection before it opens one; therefore
//! `idle + slots taken ≤ connections_max`, and that is the number of open connections.

use std::sync::{Arc, Weak};
use std::time::Duration;

use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};

use super::connect::connect;
use super::limits::OriginLimits;
use super::{OriginAddress, OriginError};
use crate::BoxBody;

/// How long a connection may take to be ready for another request when its response has ended: it
/// is at once, unless the origin answered before it took the whole request.
const READY_TIMEOUT: Duration = Duration::from_secs(1);
/// hyper's smallest buffer.
const HYPER_BUFFER_BYTES_MIN: usize = 8192;

/// The connections to one origin.
#[derive(Debug)]
pub(super) struct Pool {
    address: OriginAddress,
    limits: OriginLimits,
    http: Builder,
    slots: Arc<Semaphore>,
    /// One permit per request that may wait for a slot.
    queue: Semaphore,
    shelf: Mutex<Shelf>,
}

/// Idle connections, the most recently used last.
#[derive(Debug, Default)]
struct Shelf {
    idle: Vec<Idle>,
    is_swept: bool,
}

#[derive(Debug)]
struct Idle {
    sender: SendRequest<BoxBody>,
    since: Instant,
}

/// A connection in the hands of one request. Dropping it closes the connection.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) sender: SendRequest<BoxBody>,
    /// Whether it has served before: then the origin may be about to close it.
    pub(super) is_reused: bool,
    slot: OwnedSemaphorePermit,
    pool: Arc<Pool>,
}

impl Pool {
    pub(super) fn new(address: OriginAddress, limits: OriginLimits) -> Self {
        let connections_max = limits.connections_max.clamp(1, Semaphore::MAX_PERMITS);
        let mut http = Builder::new();
        http.max_buf_size(limits.head_bytes_max.max(HYPER_BUFFER_BYTES_MIN));
        http.max_header_size(limits.head_bytes_max);
        Self {
            address,
            http,
            slots: Arc::new(Semaphore::new(connections_max)),
            queue: Semaphore::new(limits.waiters_max.min(Semaphore::MAX_PERMITS)),
            limits,
            shelf: Mutex::default(),
        }
    }

    pub(super) const fn address(&self) -> &OriginAddress {
        &self.address
    }

    pub(super) const fn limits(&self) -> &OriginLimits {
        &self.limits
    }

    /// A connection for one request: idle if there is one, else new, else after a bounded wait.
    ///
    /// Cancel safe.
    pub(super) async fn lease(self: &Arc<Self>) -> Result<Lease, OriginError> {
        let slot = self.slot().await?;
        let pool = Arc::clone(self);
        if let Some(sender) = self.take_idle() {
            return Ok(Lease {
                sender,
                is_reused: true,
                slot,
                pool,
            });
        }
        let sender = self.open().await?;
        Ok(Lease {
            sender,
            is_reused: false,
            slot,
            pool,
        })
    }

    async fn slot(&self) -> Result<OwnedSemaphorePermit, OriginError> {
        let slots = Arc::clone(&self.slots);
        if let Ok(slot) = Arc::clone(&slots).try_acquire_owned() {
            return Ok(slot);
        }
        let too_many = |waited_ms| OriginError::TooManyConnections {
            connections_max: self.limits.connections_max,
            waited_ms,
        };
        let _place = self.queue.try_acquire().map_err(|_| too_many(0))?;
        match timeout(self.limits.wait_timeout, slots.acquire_owned()).await {
            Ok(Ok(slot)) => Ok(slot),
            _ => Err(too_many(self.limits.wait_timeout.as_millis())),
        }
    }

    fn take_idle(&self) -> Option<SendRequest<BoxBody>> {
        let mut shelf = self.shelf.lock();
        while let Some(idle) = shelf.idle.pop() {
            if self.is_good(&idle) {
                return Some(idle.sender);
            }
        }
        None
    }

    fn is_good(&self, idle: &Idle) -> bool {
        idle.sender.is_ready() && idle.since.elapsed() < self.limits.idle_timeout
    }

    async fn open(&self) -> Result<SendRequest<BoxBody>, OriginError> {
        let stream = connect(&self.address, self.limits.connect_timeout).await?;
        let handshake = self.http.handshake(TokioIo::new(stream));
        let (sender, connection) = handshake.await.map_err(OriginError::Closed)?;
        tokio::spawn(async move {
            if let Err(error) = connection.with_upgrades().await {
                tracing::debug!(%error, "a connection to an origin failed");
            }
        });
        Ok(sender)
    }

    /// Keeps a connection that is ready for another request.
    fn put_back(self: &Arc<Self>, sender: SendRequest<BoxBody>) {
        let mut shelf = self.shelf.lock();
        shelf.idle.push(Idle {
            sender,
            since: Instant::now(),
        });
        if !std::mem::replace(&mut shelf.is_swept, true) {
            tokio::spawn(sweep(Arc::downgrade(self), self.limits.idle_timeout));
        }
    }

    /// Closes what has been idle for too long; false when nothing is left to watch.
    fn sweep(&self) -> bool {
        let mut shelf = self.shelf.lock();
        shelf.idle.retain(|idle| self.is_good(idle));
        shelf.is_swept = !shelf.idle.is_empty();
        shelf.is_swept
    }
}

/// Sweeps a pool for as long as it has idle connections.
async fn sweep(pool: Weak<Pool>, every: Duration) {
    loop {
        sleep(every).await;
        match pool.upgrade() {
            Some(pool) if pool.sweep() => {}
            _ => return,
        }
    }
}

impl Lease {
    /// Replaces the connection by a new one, in the same slot.
    pub(super) async fn renew(&mut self) -> Result<(), OriginError> {
        self.sender = self.pool.open().await?;
        self.is_reused = false;
        Ok(())
    }

    /// Gives the connection to the next request, once it is ready for one; else closes it.
    pub(super) fn give_back(mut self) {
        if self.sender.is_ready() {
            self.keep();
        } else if !self.sender.is_closed() {
            tokio::spawn(async move {
                let ready = timeout(READY_TIMEOUT, self.sender.ready()).await;
                if matches!(ready, Ok(Ok(()))) {
                    self.keep();
                }
            });
        }
    }

    /// The connection is on the shelf before its slot is free: who gets the slot finds it.
    fn keep(self) {
        let Self {
            sender, slot, pool, ..
        } = self;
        pool.put_back(sender);
        drop(slot);
    }
}
