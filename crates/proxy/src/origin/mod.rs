//! The client side: one origin, a bounded pool of connections to it, errors that say whose fault.
//!
//! ```text
//! client (prepare, retry once) ─► pool (slots, idle) ─► connect (resolve, try addresses)
//!    └─► body (idle timeout, gives the connection back)
//! ```

mod address;
mod body;
mod client;
mod connect;
mod error;
mod exchange;
mod fault;
mod hop;
mod limits;
mod pool;

pub use address::{OriginAddress, OriginAddressError};
pub use body::OriginBody;
pub use client::{HostPolicy, OriginClient};
pub use error::{Blame, OriginError};
pub use hop::strip_hop_by_hop;
pub use limits::{
    ADDRESSES_MAX, CONNECTIONS_MAX, HEAD_BYTES_MAX, IDLE_TIMEOUT, OriginLimits, WAITERS_MAX,
};
