//! Opening connections to a target that may be away for a while.

use std::{io, time::Duration};

use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::{
    net::TcpStream,
    time::{Instant, sleep, timeout},
};

use super::target::Target;

/// First pause between two attempts; each later one is twice as long.
const BACKOFF_MIN: Duration = Duration::from_millis(5);

/// Longest pause: how much later than the target a worker may come back.
const BACKOFF_MAX: Duration = Duration::from_millis(250);

/// The sending half of an HTTP/1.1 connection.
pub(super) type Sender = SendRequest<Empty<Bytes>>;

/// Opens connections. Shared by all workers, so that an outage is one outage: patience is counted
/// from its beginning, and once it has run out attempts fail at once until one succeeds.
#[derive(Debug)]
pub(super) struct Dialer {
    pub(super) target: Target,
    patience: Duration,
    stall_limit: Duration,
    down_since: Mutex<Option<Instant>>,
}

impl Dialer {
    pub(super) fn new(target: Target, patience: Duration, stall_limit: Duration) -> Self {
        let down_since = Mutex::new(None);
        Self {
            target,
            patience,
            stall_limit,
            down_since,
        }
    }

    /// How long an answer may give no byte.
    pub(super) fn stall_limit(&self) -> Duration {
        self.stall_limit
    }

    /// Opens a connection, trying again until the patience with the outage ends.
    ///
    /// # Errors
    ///
    /// The last attempt's.
    pub(super) async fn dial(&self) -> io::Result<Sender> {
        let mut pause = BACKOFF_MIN;
        loop {
            let error = match self.attempt().await {
                Ok(sender) => {
                    *self.down_since.lock() = None;
                    return Ok(sender);
                }
                Err(error) => error,
            };
            let left = self.patience_left();
            if left.is_zero() {
                return Err(error);
            }
            sleep(pause.min(left)).await;
            pause = BACKOFF_MAX.min(pause * 2);
        }
    }

    async fn attempt(&self) -> io::Result<Sender> {
        let address = (self.target.host.as_str(), self.target.port);
        let connected = timeout(self.stall_limit, TcpStream::connect(address)).await;
        let stream = connected.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        // A request is one small write: waiting to fill a packet would be measured as latency.
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream))
            .await
            .map_err(io::Error::other)?;
        // Ends when the sender is dropped or the target goes; its errors come out at the sender.
        tokio::spawn(connection);
        Ok(sender)
    }

    fn patience_left(&self) -> Duration {
        let now = Instant::now();
        let began = *self.down_since.lock().get_or_insert(now);
        self.patience.saturating_sub(now.duration_since(began))
    }
}
