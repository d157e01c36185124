//! `larder replay`: asks a server for what a trace asks, and measures what comes back.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use larder_replay::ReplayOptions;
use larder_replay::http::{CONNECTIONS_DEFAULT, CONNECTIONS_MAX, StderrProgress, replay};

use super::{output, runtime};
use crate::config::{parse_duration, parse_size};

const EXAMPLES: &str = "\
Examples:
  larder origin --listen 127.0.0.1:9000 &
  larder replay --trace day.csv.zst --target http://127.0.0.1:8080
  larder replay --trace day.csv --target http://127.0.0.1:8080 --limit 100000 --json

A trace is a CSV of timestamp,object_id,size_bytes, plain, gzip or zstd. Its objects are asked
for as /s/<size>/<id>, and every byte of an answer is compared with what `larder origin` serves.
Requests start in the order of the trace, as fast as the connections allow; timestamps are not
waited for.";

/// What to ask, whom, and how.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReplayArgs {
    /// The trace
    #[arg(long, value_name = "FILE")]
    pub trace: PathBuf,

    /// The server, http://host:port
    #[arg(long, value_name = "URL")]
    pub target: String,

    /// Connections, each with one request at a time
    #[arg(long, value_name = "N", default_value_t = CONNECTIONS_DEFAULT as u64)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=CONNECTIONS_MAX as u64))]
    pub connections: u64,

    /// Stop after so many requests
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,

    /// Leave out objects above this size
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_size: Option<u64>,

    /// How long the server may refuse connections, as while it restarts
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "10s")]
    pub patience: Duration,

    /// The metrics of a larder, http://host:port/metrics, to report its requests to the origin and
    /// its writes to flash
    #[arg(long, value_name = "URL")]
    pub metrics: Option<String>,

    /// Print the report as one JSON object
    #[arg(long)]
    pub json: bool,
}

impl ReplayArgs {
    fn options(&self) -> ReplayOptions {
        ReplayOptions {
            // The parser keeps it at or below CONNECTIONS_MAX, a usize.
            connections: self.connections as usize,
            limit: self.limit,
            size_bytes_max: self.max_size,
            connect_patience: self.patience,
            metrics: self.metrics.clone(),
            ..ReplayOptions::new(&self.trace, &self.target)
        }
    }
}

pub(super) fn run(args: &ReplayArgs) -> Result<()> {
    let replay = replay(args.options(), StderrProgress::default());
    let report = runtime::parallel()?.block_on(replay)?;
    let text = if args.json {
        report.to_json()
    } else {
        report.to_string()
    };
    output::print(&(text + "\n"))
}
