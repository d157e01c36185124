//! What the outside says: stop, reopen the logs.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::Telling;

/// Completes at the first TERM or INT; a second INT ends the process at once. Listens from the
/// call on, not from the first poll.
pub(super) fn stop() -> Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tokio::spawn(async move {
            interrupt.recv().await;
            std::process::exit(130);
        });
    })
}

/// Opens the access log's file anew at each USR1, for log rotation.
pub(super) async fn reopen_logs(telling: Arc<Telling>, mut finished: watch::Receiver<bool>) {
    let Ok(mut usr1) = signal(SignalKind::user_defined1()) else {
        return;
    };
    loop {
        tokio::select! {
            received = usr1.recv() => match received {
                Some(()) => telling.reopen_log(),
                None => return,
            },
            _ = finished.changed() => return,
        }
    }
}
