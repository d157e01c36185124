//! Pure decisions of a cache: what may enter memory, and what must leave it.
//!
//! No I/O, no clock, no global randomness: time is the number of requests seen, chance is an
//! argument. The simulator and the production tier run the code of this crate and no copy of it.
#![forbid(unsafe_code)]

mod coins;
mod lru;
mod policy;

pub use coins::SplitMix;
pub use lru::{Lru, MAX_VICTIMS};
pub use policy::{Candidate, Coins, Policy, Reject, Slot, Verdict};
