//! Opens a listening socket, or says clearly why not.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};
use thiserror::Error;

/// Connections that the kernel holds for us: Linux caps it at `net.core.somaxconn`, 4096 by default.
const BACKLOG: i32 = 4096;
/// Unsent bytes beyond which a client's socket takes no more (`TCP_NOTSENT_LOWAT`).
///
/// By default the kernel takes up to `tcp_wmem` (4 MiB) for each slow reader, and says that there is
/// room again only when a third of that has gone: a reader of 40 KB/s would look stalled for half a
/// minute. This much keeps a link of 1 Gb/s busy for the millisecond that a wake-up may take.
#[cfg(any(target_os = "android", target_os = "linux"))]
const UNSENT_BYTES_MAX: u32 = 128 * 1024;

/// Why an address cannot be listened on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BindError {
    /// Another process has the port.
    #[error("cannot listen on {addr}: the port is in use by another process")]
    InUse {
        /// The address asked for.
        addr: SocketAddr,
    },
    /// A port below 1024 without the right to it.
    #[error("cannot listen on {addr}: permission denied (ports below 1024 need a capability)")]
    Denied {
        /// The address asked for.
        addr: SocketAddr,
    },
    /// No interface has the address.
    #[error("cannot listen on {addr}: this machine has no such address")]
    NoSuchAddress {
        /// The address asked for.
        addr: SocketAddr,
    },
    /// Anything else.
    #[error("cannot listen on {addr}: {source}")]
    Other {
        /// The address asked for.
        addr: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}

/// Whether other sockets of ours may listen on the same address, each with its own runtime.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Sharing {
    /// One socket per address.
    #[default]
    Exclusive,
    /// `SO_REUSEPORT`: the kernel spreads connections over the sockets.
    Spread,
}

/// Opens a non-blocking listening socket on `addr` (port 0: one that is free).
///
/// # Errors
///
/// [`BindError`], with the address.
pub fn bind(addr: SocketAddr, sharing: Sharing) -> Result<TcpListener, BindError> {
    open(addr, sharing).map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => BindError::InUse { addr },
        io::ErrorKind::PermissionDenied => BindError::Denied { addr },
        io::ErrorKind::AddrNotAvailable => BindError::NoSuchAddress { addr },
        _ => BindError::Other { addr, source },
    })
}

fn open(addr: SocketAddr, sharing: Sharing) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    // A restart must not wait for the last instance's connections to leave TIME_WAIT.
    socket.set_reuse_address(true)?;
    if sharing == Sharing::Spread {
        socket.set_reuse_port(true)?;
    }
    if addr.is_ipv6() {
        // `[::]` and `0.0.0.0` are two addresses, whatever the system's default says.
        socket.set_only_v6(true)?;
    }
    // Accepted sockets inherit it.
    #[cfg(any(target_os = "android", target_os = "linux"))]
    socket.set_tcp_notsent_lowat(UNSENT_BYTES_MAX)?;
    socket.set_nonblocking(true)?;
    socket.bind(&addr.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_named() {
        let first = bind("127.0.0.1:0".parse().unwrap(), Sharing::Exclusive).unwrap();
        let addr = first.local_addr().unwrap();
        let error = bind(addr, Sharing::Exclusive).unwrap_err();
        assert!(matches!(error, BindError::InUse { addr: taken } if taken == addr));
        assert!(error.to_string().contains(&addr.to_string()));
    }

    #[test]
    fn spread_sockets_share_a_port() {
        let first = bind("127.0.0.1:0".parse().unwrap(), Sharing::Spread).unwrap();
        bind(first.local_addr().unwrap(), Sharing::Spread).unwrap();
    }

    #[test]
    fn an_address_of_somebody_else_is_named() {
        let error = bind("192.0.2.1:0".parse().unwrap(), Sharing::Exclusive).unwrap_err();
        assert!(matches!(error, BindError::NoSuchAddress { .. }), "{error}");
    }
}
