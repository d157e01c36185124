//! A small site to look at when nothing is configured: an origin of our own, on loopback.

mod pages;
mod service;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::listen::{ListenLimits, ListenStats, Sharing, bind, serve};
use service::Demo;

/// A request to try against a proxy in front of the demo origin.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Try {
    /// What to ask for.
    pub path: &'static str,
    /// What to look for in the answers.
    pub look_for: &'static str,
}

/// Requests that show what a cache does, in the order in which they are worth trying.
pub const TRY: [Try; 5] = [
    Try {
        path: "/",
        look_for: "a hit on the second request; fresh for a minute",
    },
    Try {
        path: "/picture.svg",
        look_for: "an ETag: repeat with If-None-Match and the answer is 304 without a body",
    },
    Try {
        path: "/slow",
        look_for: "2 s once, then at once; after 30 s stale at once while it is fetched anew",
    },
    Try {
        path: "/api/time",
        look_for: "the same time for 10 s; purge the tag `time` to renew it",
    },
    Try {
        path: "/private",
        look_for: "never a hit: the answer says no-store",
    },
];

/// Starts the demo origin on a free loopback port. Aborting the task stops it.
///
/// # Errors
///
/// When loopback cannot be listened on.
pub async fn start() -> io::Result<(SocketAddr, JoinHandle<()>)> {
    let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listener = bind(any_port, Sharing::Exclusive).map_err(io::Error::other)?;
    let addr = listener.local_addr()?;
    let serving = tokio::spawn(async move {
        let stats = Arc::new(ListenStats::default());
        let for_ever = std::future::pending();
        let limits = ListenLimits::default();
        if let Err(error) = serve(vec![listener], Demo, limits, stats, for_ever).await {
            tracing::warn!(%error, "the demo origin stopped");
        }
    });
    Ok((addr, serving))
}
