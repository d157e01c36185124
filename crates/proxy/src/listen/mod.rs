//! The server side.
pub mod guard;

/// The address that a request came from, in its extensions.
#[derive(Clone, Copy, Debug)]
pub struct ClientAddr(pub std::net::SocketAddr);
