//! Opens one TCP connection to an origin. Names are looked up each time: nothing here can go stale.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout, timeout_at};

use super::OriginError;
use super::address::{OriginAddress, OriginHost};
use super::limits::ADDRESSES_MAX;

/// Connects to the first address that answers, within `connect_timeout` in all.
///
/// Cancel safe: dropping it closes what was half open.
pub(super) async fn connect(
    address: &OriginAddress,
    connect_timeout: Duration,
) -> Result<TcpStream, OriginError> {
    let deadline = Instant::now() + connect_timeout;
    let late = || OriginError::ConnectTimeout {
        host: address.to_string(),
        after_ms: connect_timeout.as_millis(),
    };
    let addresses = timeout_at(deadline, resolve(address))
        .await
        .map_err(|_| late())??;
    let mut failure = None;
    for (tried, &addr) in addresses.iter().enumerate() {
        // An address that does not answer must leave time for those behind it.
        let left = (addresses.len() - tried) as u32;
        let share = deadline.saturating_duration_since(Instant::now()) / left;
        failure = match timeout(share, open(addr)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(source)) => Some(OriginError::Connect { addr, source }),
            Err(_) => failure,
        };
    }
    Err(failure.unwrap_or_else(late))
}

async fn open(addr: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(addr).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn resolve(address: &OriginAddress) -> Result<Vec<SocketAddr>, OriginError> {
    let name = match address.host() {
        OriginHost::Ip(ip) => return Ok(vec![SocketAddr::new(*ip, address.port())]),
        OriginHost::Name(name) => name,
    };
    let host = || name.to_string();
    let found = lookup_host((&**name, address.port()))
        .await
        .map_err(|source| OriginError::Resolve {
            host: host(),
            source,
        })?;
    let addresses: Vec<SocketAddr> = found.take(ADDRESSES_MAX).collect();
    if addresses.is_empty() {
        return Err(OriginError::NoAddress { host: host() });
    }
    Ok(addresses)
}
