//! The SSD tier in numbers that are known before it is opened.

const MIB: u64 = 1 << 20;

/// Ways of a set of the index, and bytes of a slot: a set is one cache line of 64 bytes.
const INDEX_WAYS: u64 = 8;
const INDEX_SLOT_BYTES: u64 = 8;

/// Runs of the log that are open or on their way to the device, and the largest of them.
const WRITE_RUNS: u64 = 5;
const RUN_BYTES_MAX: u64 = MIB;

/// Bounds of a segment of the log: 1 MiB for a store of 64 MiB, 16 MiB from 1 GiB on.
const SEGMENT_BYTES_MIN: u64 = MIB;
const SEGMENT_BYTES_MAX: u64 = 16 * MIB;
const SEGMENTS_WANTED: u64 = 64;

/// The SSD tier in numbers that are known before it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SsdShape {
    /// Bytes of the store's file.
    pub device_bytes: u64,
    /// Bytes of one segment of the log.
    pub segment_bytes: u64,
    /// Slots of the index: the most objects that it can find.
    pub index_slots: u64,
    /// Bytes of the index, all in memory.
    pub index_bytes: u64,
    /// Bytes of the buffers between the writers and the device.
    pub write_buffer_bytes: u64,
}

impl SsdShape {
    /// The shape of a store of `device_bytes` for objects of `mean_object_bytes`.
    ///
    /// Slots = device / mean object / 0.8: at most four of five are taken, so that sets of eight
    /// seldom overflow. Sets are a power of two, as a set's number is the low bits of the
    /// hash (HashCache, SetMem).
    pub fn of(device_bytes: u64, mean_object_bytes: u64) -> Self {
        let objects = device_bytes / mean_object_bytes.max(1);
        let sets = (objects.saturating_mul(5) / 4).div_ceil(INDEX_WAYS).max(1);
        let index_slots = sets.next_power_of_two() * INDEX_WAYS;
        let segment_bytes = (device_bytes / SEGMENTS_WANTED).max(1);
        let segment_bytes = 1 << segment_bytes.ilog2();
        let segment_bytes: u64 = u64::clamp(segment_bytes, SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX);
        Self {
            device_bytes,
            segment_bytes,
            index_slots,
            index_bytes: index_slots * INDEX_SLOT_BYTES,
            write_buffer_bytes: WRITE_RUNS * RUN_BYTES_MAX.min(segment_bytes / 4),
        }
    }

    /// Segments of the log.
    pub const fn segments(&self) -> u64 {
        self.device_bytes / self.segment_bytes
    }

    /// Bits of memory per object that the index can find.
    pub const fn bits_per_slot(&self) -> u64 {
        self.index_bytes * 8 / self.index_slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        const KIB: u64 = 1 << 10;
        const GIB: u64 = 1 << 30;
        for (device, mean, segment, slots, index) in [
            // 4096 objects, a quarter more, and up to a power of two.
            (64 * MIB, 16 * KIB, MIB, 8192, 64 * KIB),
            (GIB, 16 * KIB, 16 * MIB, 131_072, MIB),
            (1024 * GIB, 16 * KIB, 16 * MIB, 1 << 27, GIB),
            // HashCache's 2^27 objects of 8 KiB in a TiB.
            (1024 * GIB, 8 * KIB, 16 * MIB, 1 << 28, 2 * GIB),
            (16 * MIB, 256, MIB, 131_072, MIB),
        ] {
            let shape = SsdShape::of(device, mean);
            assert_eq!(
                (shape.segment_bytes, shape.index_slots),
                (segment, slots),
                "{device}"
            );
            assert_eq!(shape.index_bytes, index, "{device}");
            assert!(shape.segments() >= 16);
        }
        // Numbers that no checked configuration has do not panic either.
        for (device, mean) in [(0, 0), (1, u64::MAX), (1 << 50, 1)] {
            let shape = SsdShape::of(device, mean);
            assert!(shape.index_slots > 0 && shape.segment_bytes > 0);
        }
    }

    #[test]
    fn four_of_five_slots_are_enough_for_all_objects() {
        for exponent in 24..42 {
            let shape = SsdShape::of(1 << exponent, 16 << 10);
            let objects = (1_u64 << exponent) / (16 << 10);
            assert!(objects * 5 <= shape.index_slots * 4, "2^{exponent}");
            assert!(
                objects * 4 > shape.index_slots,
                "2^{exponent}: a quarter is never used"
            );
        }
    }
}
