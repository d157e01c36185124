//! What to replay, against what, and how patiently.

use std::{path::PathBuf, time::Duration};

/// Connections if nothing else is asked for. Their number hardly moves a hit ratio (AS-31).
pub const CONNECTIONS_DEFAULT: usize = 16;

/// Most connections: each takes a file descriptor and up to 400 KiB of read buffer, 4 GB in all.
pub const CONNECTIONS_MAX: usize = 10_000;

/// A replay, described.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// The trace file: plain, gzip or zstd.
    pub trace: PathBuf,
    /// `http://host[:port][/path]`; objects are asked for below it, at `/s/<size>/<id>`.
    pub target: String,
    /// Connections, each with one request at a time; 1 to [`CONNECTIONS_MAX`].
    pub connections: usize,
    /// Stop after so many requests sent.
    pub limit: Option<u64>,
    /// Skip requests for objects of more than so many bytes.
    pub size_bytes_max: Option<u64>,
    /// How long the target may refuse connections, counted from the first refusal, before
    /// requests fail for it. Lets a restart of the target be measured.
    pub connect_patience: Duration,
    /// How long an answer may give no byte before its request fails.
    pub stall_limit: Duration,
    /// The target's Prometheus page, read before and after.
    pub metrics: Option<String>,
}

impl ReplayOptions {
    /// All of a trace on [`CONNECTIONS_DEFAULT`] connections; 10 s of patience, 30 s of stall.
    pub fn new(trace: impl Into<PathBuf>, target: impl Into<String>) -> Self {
        Self {
            trace: trace.into(),
            target: target.into(),
            connections: CONNECTIONS_DEFAULT,
            limit: None,
            size_bytes_max: None,
            connect_patience: Duration::from_secs(10),
            stall_limit: Duration::from_secs(30),
            metrics: None,
        }
    }
}
