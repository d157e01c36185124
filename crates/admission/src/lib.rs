//! Pure decisions of a cache: what may enter memory, and what must leave it.
//!
//! No I/O, no clock, no global randomness: time is the number of requests seen, chance is an
//! argument. The simulator and the production tier run the code of this crate and no copy of it.
#![forbid(unsafe_code)]

// The example of the README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod coins;
mod lru;
mod policy;

pub use coins::SplitMix;
pub use lru::{Lru, MAX_VICTIMS};
pub use policy::{Candidate, Coins, Policy, Reject, Slot, Verdict};
