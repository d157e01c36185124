//! The server side: sockets, limits, and a guard that lets only well-framed requests through.
//!
//! ```text
//! bind ─► server (accept, stop) ─► connection ─► hyper ─► service ─► yours
//!                                   guard ┘ timeout_io ┘
//! ```

mod activity;
mod bind;
mod connection;
mod guard;
mod limits;
mod request_body;
mod server;
mod service;
mod stage;
pub(crate) mod stall;
mod stats;
mod timeout_io;

pub use bind::{BindError, Sharing, bind};
pub use guard::framing::{Breach, Fed, Framing};
pub use guard::{Violation, ViolationCounts};
pub use limits::{
    BODY_BYTES_MAX, CONNECTIONS_MAX, FIELDS_MAX, HEAD_BYTES_MAX, ListenLimits, STREAMS_MAX,
};
pub use request_body::{BodyError, RequestBody};
pub use server::{Stopped, serve};
pub use service::{ClientAddr, EdgeService};
pub use stage::Lifetime;
pub use stats::{Close, ListenStats};
