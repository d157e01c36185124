//! The store's own account of itself.

use crate::RamStats;

/// A snapshot; the tiers are read one after the other.
#[derive(Clone, Debug, Default)]
pub struct StoreStats {
    /// Memory.
    pub ram: RamStats,
}
