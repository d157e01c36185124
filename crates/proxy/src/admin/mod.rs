//! The administration server: metrics, health, purges, on an address that clients do not reach.
//!
//! A table of routes ([`Routes`]), each with a handler of whole requests and whole answers;
//! [`AdminServer`] keeps time, sizes and connections within bounds. It has no authentication, and
//! so it belongs on loopback, where the configuration puts it, or on a private network.

mod answer;
mod connection;
mod health;
mod purge;
mod routes;
mod scrape;
mod server;

pub use answer::{Answer, error, json};
pub use connection::{
    BODY_BYTES_MAX, CONNECTION_TIME_MAX, CONNECTIONS_MAX, HEAD_TIME_MAX, REQUEST_TIME_MAX, Times,
};
pub use health::{Readiness, health_routes};
pub use purge::{PurgeError, PurgeFuture, PurgeReport, PurgeRequest, Purger, purge_route};
pub use routes::{AnswerFuture, Handler, Routes};
pub use scrape::metrics_route;
pub use server::AdminServer;
