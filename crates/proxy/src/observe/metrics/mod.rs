//! Prometheus metrics: counted in striped atomics, put together when they are asked for.
//!
//! A request costs four relaxed additions to cache lines that its core shares with few others;
//! names and labels exist only at the scrape. Everything that is exported is a [`Sample`] of a
//! [`Family`] of the list in [`families`], given by a snapshot: a closure that reads counters, or
//! asks the store for its own. There is no other way in, and no global registry.

mod counters;
mod export;
pub mod families;
mod histogram;
mod requests;
mod sample;
mod striped;

pub use counters::Counters;
pub use export::{CONTENT_TYPE, Metrics, Snapshot};
pub use families::{Family, Kind};
pub use histogram::{BOUNDS_MICROS, Histogram};
pub use requests::RequestCounters;
pub use sample::{Distribution, Sample, Value};
