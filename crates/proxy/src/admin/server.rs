//! The listener of the administration server.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

use super::connection::{Connections, Times};
use super::routes::Routes;

/// What requests under way get when the server is to end.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(1);

/// After a failed accept, which most often means that the process has no descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A bound listener.
#[derive(Debug)]
pub struct AdminServer {
    listener: TcpListener,
    times: Times,
}

impl AdminServer {
    /// Binds `address`; port 0 takes any free one.
    ///
    /// # Errors
    /// As `bind(2)`.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let times = Times::default();
        Ok(Self { listener, times })
    }

    /// With other times.
    pub fn with_times(self, times: Times) -> Self {
        Self { times, ..self }
    }

    /// The address that was bound.
    ///
    /// # Errors
    /// As `getsockname(2)`.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `shutdown`, then lets requests under way finish for a second. Dropping the
    /// future closes the listener and leaves open connections to their own bounds.
    pub async fn serve(self, routes: Routes, shutdown: impl Future<Output = ()>) {
        let connections = Connections::new(routes, self.times);
        tokio::pin!(shutdown);
        loop {
            let accepted = tokio::select! {
                () = &mut shutdown => break,
                accepted = self.listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => connections.open(stream),
                Err(error) => {
                    tracing::warn!(%error, "the administration server cannot accept");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(self.listener);
        // Whoever is not done by then is cut off with the process.
        let _ = timeout(DRAIN_TIME_MAX, connections.drain()).await;
    }
}
