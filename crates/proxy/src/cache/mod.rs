//! The cache core: a [`tower_service::Service`] over any service that stands for the origin.
//!
//! `service` answers from memory; `pipeline` is the life of every other request.

mod body;
mod budget;
mod clock;
mod core;
mod events;
mod failure;
mod fill;
mod flight;
mod hit_for_miss;
mod lookup;
mod outcome;
mod pass;
mod pieces;
mod pipeline;
mod policy;
mod purge;
mod request;
mod respond;
mod resume;
mod service;
mod status;

pub use body::{Body, BoxBody, BoxError};
pub use budget::{FillBudget, WINDOW_BYTES_MAX, WINDOW_BYTES_MIN};
pub use clock::Clock;
pub use core::Core;
pub use events::{Count, Events};
pub use failure::{Blame, OriginFailure, OriginFault};
pub use fill::{Origin, OriginBody};
pub use flight::{FLIGHTS_MAX, FlightTable};
pub use outcome::{Decision, From, Outcome};
pub use policy::CachePolicy;
pub use purge::{Purged, purge, status_of};
pub use service::{Answer, Cache};
