//! The runtime of commands that talk to the network, and how they are told to stop.

use anyhow::{Context as _, Result};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

/// A runtime for a command that does one thing at a time.
pub(super) fn single() -> Result<Runtime> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting the runtime")
}

/// A runtime on every core.
pub(super) fn parallel() -> Result<Runtime> {
    Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("starting the runtime")
}

/// Completes at the first SIGTERM or SIGINT. Listens from the call on, not from the first poll.
pub(super) fn told_to_stop() -> Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
