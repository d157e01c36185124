//! The memory of what proved uncacheable, so that its next readers do not queue behind a leader
//! whose answer cannot be shared (Varnish's hit-for-miss).

use std::sync::atomic::{AtomicU64, Ordering};

use larder_store::Key;

use crate::rules::date::Millis;

/// Keys remembered at once. A direct-mapped table: a newcomer takes its slot.
const SLOTS: usize = 1 << 14;

/// Seconds fit 24 bits for 194 days; then the clock of the table wraps and a key may be
/// remembered wrongly once, which costs one pass.
const SECOND_BITS: u32 = 24;
const SECOND_MASK: u64 = (1 << SECOND_BITS) - 1;

/// A bounded set of key hashes, each with an expiry. Lock free; 128 KiB.
#[derive(Debug)]
pub struct HitForMiss {
    /// 40 bits of the key's hash, 24 bits of the expiry in seconds; zero is empty.
    slots: Box<[AtomicU64]>,
}

impl Default for HitForMiss {
    fn default() -> Self {
        Self {
            slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

impl HitForMiss {
    fn place(&self, key: &Key) -> (&AtomicU64, u64) {
        let hash = key.hash();
        (
            &self.slots[hash as usize % SLOTS],
            ((hash >> 64) as u64) & !SECOND_MASK,
        )
    }

    /// Remembers `key` for `seconds`.
    pub fn insert(&self, key: &Key, now: Millis, seconds: u64) {
        let (slot, tag) = self.place(key);
        let expiry = (now.0 / 1000).wrapping_add(seconds) & SECOND_MASK;
        slot.store(tag | expiry, Ordering::Relaxed);
    }

    /// Whether `key` was remembered, and not too long ago.
    pub fn contains(&self, key: &Key, now: Millis) -> bool {
        let (slot, tag) = self.place(key);
        let value = slot.load(Ordering::Relaxed);
        let left = (value & SECOND_MASK).wrapping_sub(now.0 / 1000) & SECOND_MASK;
        value != 0 && value & !SECOND_MASK == tag && left != 0 && left <= SECOND_MASK / 2
    }

    /// Forgets `key`: its answer became storable.
    pub fn remove(&self, key: &Key) {
        let (slot, tag) = self.place(key);
        let value = slot.load(Ordering::Relaxed);
        if value & !SECOND_MASK == tag {
            let _ = slot.compare_exchange(value, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn remembers_until_the_expiry_and_forgets_on_demand() {
        let memory = HitForMiss::default();
        let key = Key::new(Bytes::from_static(b"k"), 1);
        let other = Key::new(Bytes::from_static(b"other"), 1);
        let at = |s: u64| Millis(s * 1000);
        for start in [0, 1_000, SECOND_MASK - 5, 1_795_000_000] {
            memory.insert(&key, at(start), 10);
            assert!(memory.contains(&key, at(start)), "{start}");
            assert!(memory.contains(&key, at(start + 9)), "{start}");
            assert!(!memory.contains(&key, at(start + 10)), "{start}");
            assert!(!memory.contains(&key, at(start + 100)), "{start}");
            assert!(!memory.contains(&other, at(start)), "{start}");
        }
        memory.insert(&key, at(5), 10);
        memory.remove(&other);
        assert!(memory.contains(&key, at(6)));
        memory.remove(&key);
        assert!(!memory.contains(&key, at(6)));
    }
}
