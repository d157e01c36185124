//! `larder origin`: a synthetic origin to try and to measure with.

use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use clap::Args;
use larder_replay::origin;
use tokio::net::TcpListener;

use super::{output, runtime};
use crate::config::parse_address;

const EXAMPLES: &str = "\
Examples:
  larder origin --listen 127.0.0.1:9000
  curl -i http://127.0.0.1:9000/s/1000/a                            1000 bytes of object a
  curl -i 'http://127.0.0.1:9000/object/b?size=10&max_age=5'        fresh for 5 seconds
  curl -i 'http://127.0.0.1:9000/object/c?delay_ms=500&status=503'  late, and an error
  curl http://127.0.0.1:9000/_stats                                 what it was asked for

The bytes of an object follow from its name, so that whoever gets it can check every one.";

/// The examples, and every option of a request.
fn after_help() -> String {
    format!(
        "{EXAMPLES}\n\nOptions of /object/<id>?…:\n{}",
        origin::OPTIONS_HELP
    )
}

/// Where the origin listens.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub struct OriginArgs {
    /// Where to listen, such as 127.0.0.1:9000
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    pub listen: SocketAddr,
}

pub(super) fn run(args: &OriginArgs) -> Result<()> {
    runtime::parallel()?.block_on(async {
        let stop = runtime::told_to_stop()?;
        let listener = TcpListener::bind(args.listen)
            .await
            .with_context(|| format!("listening at {}", args.listen))?;
        let address = listener.local_addr().context("the address listened at")?;
        output::print(&format!("larder origin listens at http://{address}\n"))?;
        origin::serve(listener, stop).await;
        Ok(())
    })
}
