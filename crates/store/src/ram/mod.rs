//! The RAM tier: shards under a byte budget, each run by a policy.
#![expect(dead_code, reason = "the flash side of the tickets has no caller yet")]

mod allowance;
mod entry;
mod gather;
mod open;
mod plan;
mod shard;
mod stats;
mod ticket;
mod tier;

pub(crate) use gather::Gather;
pub use plan::RamPlan;
pub use stats::RamStats;
pub(crate) use ticket::Ticket;
pub(crate) use tier::RamTier;
