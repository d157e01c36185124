//! The store's own account of itself.

use crate::RamStats;
use crate::disk::DiskStats;

/// A snapshot; the tiers are read one after the other.
#[derive(Clone, Debug, Default)]
pub struct StoreStats {
    /// Memory.
    pub ram: RamStats,
    /// Flash, if there is any.
    pub ssd: Option<DiskStats>,
    /// Objects found on flash whose metadata was of another make: misses, whatever
    /// [`ssd`](Self::ssd) says of them.
    pub undecodable: u64,
}
