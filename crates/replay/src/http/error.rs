//! Why a replay yields no report. What happens to single requests is in the report instead.

use std::{io, time::Duration};

use tokio::task::JoinError;

use crate::trace::TraceError;

use super::{options::CONNECTIONS_MAX, target::TargetError};

/// Why a replay yields no report. Each text is complete: it holds its cause.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The trace cannot be read (on).
    #[error("{0}")]
    Trace(TraceError),
    /// The thread that reads the trace did not start.
    #[error("cannot start the thread that reads the trace: {0}")]
    Thread(io::Error),
    /// The target, or the metrics' address, is no URL that can be asked.
    #[error("{0}")]
    Target(TargetError),
    /// Too few or too many connections.
    #[error("expected 1 to {CONNECTIONS_MAX} connections, found {found}")]
    Connections {
        /// How many were asked for.
        found: usize,
    },
    /// The target refused the very first connection, and went on refusing.
    #[error("{target}: no connection within {patience:?}: {cause}")]
    Unreachable {
        /// Its URL.
        target: String,
        /// How long it was tried.
        patience: Duration,
        /// The last refusal.
        cause: io::Error,
    },
    /// A worker ended before its time.
    #[error("a worker failed: {0}")]
    Worker(JoinError),
}
