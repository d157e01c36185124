//! `larder serve`: runs the proxy.

use std::io::IsTerminal as _;

use anyhow::Result;
use clap::Args;
use tracing_subscriber::EnvFilter;

use super::ConfigArgs;
use crate::app;
use crate::config::{LogConfig, LogFormat, Machine};

const EXAMPLES: &str = "\
Examples:
  larder serve                                                   a demo origin, and requests to try
  larder serve --listen 0.0.0.0:8080 --origin http://127.0.0.1:3000
  larder serve --config /etc/larder.toml
  larder serve --origin http://app:3000 --data-dir /var/lib/larder --ram 2GiB --disk 200GiB

Signals: TERM or INT finishes what is in flight and stops; USR1 opens the access log anew.";

/// The configuration to serve with.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// A file, and what wins over it.
    #[command(flatten)]
    pub config: ConfigArgs,
}

pub(super) fn run(args: &ServeArgs) -> Result<()> {
    let config = args.config.load(&Machine::detect())?;
    start_log(&config.log);
    for note in config.notes() {
        tracing::warn!("{note}");
    }
    app::serve(config)
}

/// The event log, on standard error, in colours for a terminal alone. `RUST_LOG` wins over the
/// configuration.
fn start_log(log: &LogConfig) {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(log.level.as_str()));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match log.format {
        LogFormat::Text => builder.init(),
        LogFormat::Json => builder.json().init(),
    }
}
