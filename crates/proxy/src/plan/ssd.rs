//! The SSD tier in numbers that are known before it is opened.

use larder_store::index::Index;
use larder_store::{DiskOptions, index_bytes, write_buffer_bytes};

use crate::config::StoreConfig;

/// What the two superblocks take before the first segment.
const SUPERBLOCKS_BYTES: u64 = 1 << 20;

/// Segments that a store gets if the wished size allows, and the smallest segment.
const SEGMENTS_WISHED: u64 = 64;
const SEGMENT_BYTES_MIN: u64 = 1 << 20;

/// Ways of a set of the index: a set is one cache line of 64 bytes, a slot has 8.
const INDEX_WAYS: u64 = 8;

/// The SSD tier in numbers that are known before it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SsdShape {
    /// Bytes of the store's file.
    pub device_bytes: u64,
    /// Bytes of one segment of the log, for a store that is formatted now.
    pub segment_bytes: u64,
    /// Segments of the log.
    pub segments: u64,
    /// Objects of the mean size that fill the log.
    pub objects: u64,
    /// Slots of the index: the most objects that it can find.
    pub index_slots: u64,
    /// Bytes of the index, all in memory.
    pub index_bytes: u64,
    /// Bytes of the buffers between the writers and the device.
    pub write_buffer_bytes: u64,
}

/// The options that the store is opened with. `format_seed` is used only when it is formatted, and
/// has to be random then.
pub fn disk_options(store: &StoreConfig, format_seed: u64) -> DiskOptions {
    DiskOptions {
        mean_object_bytes: store.mean_object_bytes,
        flush_after: store.flush_after,
        format_seed,
        ..DiskOptions::default()
    }
}

impl SsdShape {
    /// The shape of a store of `device_bytes` with these options. A device too small for a store
    /// has a shape without objects.
    pub fn of(device_bytes: u64, options: &DiskOptions) -> Self {
        let log_bytes = device_bytes.saturating_sub(SUPERBLOCKS_BYTES);
        let most = power_of_two_below(log_bytes / SEGMENTS_WISHED).max(SEGMENT_BYTES_MIN);
        let segment_bytes =
            power_of_two_below(options.segment_bytes).clamp(SEGMENT_BYTES_MIN, most);
        let segments = log_bytes / segment_bytes;
        let objects = segments * segment_bytes / options.mean_object_bytes.max(1);
        Self {
            device_bytes,
            segment_bytes,
            segments,
            objects,
            index_slots: Index::sets_for(objects) as u64 * INDEX_WAYS,
            index_bytes: index_bytes(device_bytes, options),
            write_buffer_bytes: write_buffer_bytes(device_bytes, options),
        }
    }

    /// Bits of memory per object that the index can find, rounded down.
    pub const fn bits_per_slot(&self) -> u64 {
        self.index_bytes * 8 / self.index_slots
    }
}

/// The largest power of two that is not above `n`; 1 for 0.
const fn power_of_two_below(n: u64) -> u64 {
    match n.checked_ilog2() {
        Some(exponent) => 1 << exponent,
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use larder_store::Disk;
    use larder_store::device::MemDevice;

    use super::*;
    use crate::config::{Config, Machine};

    const MIB: u64 = 1 << 20;

    fn shape(device_bytes: u64, mean_object_bytes: u64) -> SsdShape {
        let options = DiskOptions {
            mean_object_bytes,
            ..DiskOptions::default()
        };
        SsdShape::of(device_bytes, &options)
    }

    /// The store says afterwards what it is; the plan has to know it before.
    #[tokio::test]
    async fn a_plan_is_what_the_store_becomes() {
        for (device_mib, mean_object_bytes) in [
            (16, 16 << 10),
            (64, 256),
            (65, 4 << 10),
            (100, 64 << 10),
            (200, 16 << 10),
        ] {
            let device = Arc::new(MemDevice::new(device_mib << 20));
            let options = DiskOptions {
                mean_object_bytes,
                format_seed: 7,
                ..DiskOptions::default()
            };
            let shape = SsdShape::of((device_mib as u64) << 20, &options);
            let disk = Disk::open(device, options).await.unwrap();
            let stats = disk.stats();
            disk.close().await.unwrap();
            assert_eq!(shape.segment_bytes, stats.segment_bytes, "{device_mib} MiB");
            assert_eq!(
                shape.segments * shape.segment_bytes,
                stats.capacity_bytes,
                "{shape:?}"
            );
            assert_eq!(shape.index_slots, stats.index_slots, "{shape:?}");
        }
    }

    #[test]
    fn large_stores_and_nonsense() {
        // 64 Mi objects in a TiB, and a quarter more slots of 8 bytes: 640 MiB.
        let tib = shape(1 << 40, 16 << 10);
        assert_eq!(tib.segment_bytes, 16 * MIB);
        assert_eq!(tib.bits_per_slot(), 64);
        assert!((639 * MIB..641 * MIB).contains(&tib.index_bytes), "{tib:?}");
        for (device, mean) in [(0, 0), (1, u64::MAX), (1 << 50, 256)] {
            let shape = shape(device, mean);
            assert!(
                shape.index_slots > 0 && shape.segment_bytes > 0,
                "{shape:?}"
            );
        }
    }

    #[test]
    fn the_default_options_are_the_store_s_own() {
        let store = Config::defaults(&Machine::detect()).store;
        let (ours, own) = (disk_options(&store, 0), DiskOptions::default());
        assert_eq!(format!("{ours:?}"), format!("{own:?}"));
    }
}
