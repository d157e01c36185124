//! The origin that stands in when none is configured.

use std::net::TcpListener;

use anyhow::{Context as _, Result};

use super::address_of;
use crate::config::Upstream;
use crate::demo::{self, TRY};
use crate::origin::OriginAddress;

/// Where the origin is, and whether it is the built-in one, which is started then.
pub(super) async fn upstream(configured: &Upstream) -> Result<(OriginAddress, bool)> {
    if let Some(address) = address_of(configured)? {
        return Ok((address, false));
    }
    // Its task runs for as long as the runtime.
    let (address, _serving) = demo::start().await.context("starting the demo origin")?;
    let address = format!("http://{address}")
        .parse()
        .context("the demo origin's address")?;
    Ok((address, true))
}

/// Says what to try.
pub(super) fn print_requests(listeners: &[TcpListener]) -> Result<()> {
    let Some(first) = listeners.first() else {
        return Ok(());
    };
    let address = first.local_addr().context("the address listened at")?;
    eprintln!("larder: no origin is configured, so a demo origin answers. Try, each twice:");
    for request in TRY {
        eprintln!(
            "    curl -si http://{address}{:<14} # {}",
            request.path, request.look_for
        );
    }
    Ok(())
}
