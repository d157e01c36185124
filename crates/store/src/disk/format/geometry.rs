//! The arithmetic of the device: segments, grains and laps.

use super::{FRAGMENT_BYTES, FRAGMENTS_MAX, RECORD_BYTES_MAX, SUPERBLOCK_AREA_BYTES};
use crate::device::BLOCK_BYTES;
use crate::disk::{DiskOptions, OpenError};

/// Fewest segments: opening one forgets at most an eighth of the cache.
const SEGMENTS_MIN: u64 = 8;
/// Segments that a device gets if the wished size allows: one forgets 1.6% of the cache.
const SEGMENTS_WISHED: u64 = 64;
/// Smallest segment: the longest inline record, and a head whose table fills half of it, fit.
const SEGMENT_BYTES_MIN: u64 = 1 << 20;
/// Largest segment: recovery reads one whole when its footer is missing.
const SEGMENT_BYTES_MAX: u64 = 256 << 20;
/// Smallest grain: a record's header, so that what padding leaves always holds a header.
const GRAIN_BYTES_MIN: u64 = super::HEADER_BYTES as u64;
/// Bits of a position, in grains: 1 TiB in grains of 64 B, 64 TiB in grains of 4 KiB.
pub(in crate::disk) const POSITION_BITS: u32 = 34;
/// Bits of a generation (HC-19).
pub(in crate::disk) const GENERATION_BITS: u32 = 4;

const _: () = assert!(SEGMENT_BYTES_MIN.is_multiple_of(BLOCK_BYTES as u64));
const _: () = assert!(RECORD_BYTES_MAX as u64 <= 2 * SEGMENT_BYTES_MIN);
const _: () = assert!((BLOCK_BYTES as u64).is_multiple_of(GRAIN_BYTES_MIN));

/// A place in the log, in grains from the first segment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::disk) struct Position(pub(in crate::disk) u64);

/// How a device is divided. Fixed when it is formatted.
///
/// Segment *n* of the device holds sequence numbers *n*, *n* + `segments`, *n* + 2·`segments`, …:
/// the quotient is the *lap*, and it is never zero, so that sequence number 0 means "nothing".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::disk) struct Geometry {
    pub(in crate::disk) device_bytes: u64,
    pub(in crate::disk) segment_bytes: u64,
    pub(in crate::disk) segments: u64,
    pub(in crate::disk) grain_bytes: u64,
}

impl Geometry {
    /// Divides a blank device.
    pub(in crate::disk) fn plan(
        device_bytes: u64,
        options: &DiskOptions,
    ) -> Result<Self, OpenError> {
        let data_bytes = device_bytes.saturating_sub(SUPERBLOCK_AREA_BYTES as u64);
        let most = power_of_two_below(data_bytes / SEGMENTS_WISHED).max(SEGMENT_BYTES_MIN);
        let wished = power_of_two_below(options.segment_bytes);
        let segment_bytes = wished.clamp(SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX).min(most);
        let mut grain_bytes = GRAIN_BYTES_MIN;
        while data_bytes / grain_bytes >= 1 << POSITION_BITS && grain_bytes < BLOCK_BYTES as u64 {
            grain_bytes *= 2;
        }
        let geometry = Self {
            device_bytes,
            segment_bytes,
            segments: data_bytes / segment_bytes,
            grain_bytes,
        };
        geometry.check().map(|()| geometry)
    }

    /// Refuses what the code could not work with, wherever the numbers come from.
    pub(in crate::disk) fn check(&self) -> Result<(), OpenError> {
        let least_bytes = SUPERBLOCK_AREA_BYTES as u64 + SEGMENTS_MIN * SEGMENT_BYTES_MIN;
        if self.device_bytes < least_bytes {
            return Err(OpenError::TooSmall {
                device_bytes: self.device_bytes,
                least_bytes,
            });
        }
        let data_bytes = self.device_bytes - SUPERBLOCK_AREA_BYTES as u64;
        let sizes = (SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).contains(&self.segment_bytes)
            && self.segment_bytes.is_power_of_two()
            && (GRAIN_BYTES_MIN..=BLOCK_BYTES as u64).contains(&self.grain_bytes)
            && self.grain_bytes.is_power_of_two();
        let fits = sizes
            && self.segments >= SEGMENTS_MIN
            && self.segments <= data_bytes / self.segment_bytes
            && self.segments * self.segment_bytes / self.grain_bytes <= 1 << POSITION_BITS;
        if fits {
            return Ok(());
        }
        Err(OpenError::Geometry {
            segment_bytes: self.segment_bytes,
            segments: self.segments,
            grain_bytes: self.grain_bytes,
        })
    }

    /// Bytes that segments take.
    pub(in crate::disk) fn data_bytes(&self) -> u64 {
        self.segments * self.segment_bytes
    }

    /// Largest body, in bytes: its table must fit half a segment, and it must not overwrite
    /// itself nor most of what else the cache holds.
    pub(in crate::disk) fn body_bytes_max(&self) -> u64 {
        let table_entries = self.segment_bytes / 2 / super::FragmentRef::BYTES as u64;
        let fragments = FRAGMENTS_MAX.min(table_entries);
        (fragments * FRAGMENT_BYTES as u64).min(self.data_bytes() / 2)
    }

    /// The segment that holds a sequence number.
    pub(in crate::disk) fn segment_of_seq(&self, seq: u64) -> usize {
        (seq % self.segments) as usize
    }

    /// The lap of a sequence number, as few bits as a slot has for it.
    pub(in crate::disk) fn generation(&self, seq: u64) -> u8 {
        (seq / self.segments) as u8 & ((1 << GENERATION_BITS) - 1)
    }

    /// The position of byte `offset` (a multiple of the grain) of a sequence number's segment.
    pub(in crate::disk) fn position(&self, seq: u64, offset: u64) -> Position {
        Position((self.segment_of_seq(seq) as u64 * self.segment_bytes + offset) / self.grain_bytes)
    }

    /// The segment of a position, and the byte in it.
    pub(in crate::disk) fn locate(&self, position: Position) -> (usize, u64) {
        let byte = position.0 * self.grain_bytes;
        (
            (byte / self.segment_bytes) as usize,
            byte % self.segment_bytes,
        )
    }

    /// Where byte `offset` of a segment is on the device.
    pub(in crate::disk) fn device_offset(&self, segment: usize, offset: u64) -> u64 {
        SUPERBLOCK_AREA_BYTES as u64 + segment as u64 * self.segment_bytes + offset
    }

    /// A byte of the log on a line that never turns back: grows with every byte ever written.
    pub(in crate::disk) fn line(&self, seq: u64, offset: u64) -> u64 {
        seq * self.segment_bytes + offset
    }

    /// `bytes` rounded up to whole grains.
    pub(in crate::disk) fn grains_up(&self, bytes: u64) -> u64 {
        bytes.next_multiple_of(self.grain_bytes)
    }
}

/// The largest power of two that is not above `n`; 1 for 0.
fn power_of_two_below(n: u64) -> u64 {
    1 << n.max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_device() {
        let plan = |bytes| Geometry::plan(bytes, &DiskOptions::default()).unwrap();
        let table = [
            // device, segment, grain
            (9 << 20, 1 << 20, 64),
            (64 << 20, 1 << 20, 64),
            (1 << 30, 8 << 20, 64),
            (100 << 30, 16 << 20, 64),
            (1 << 40, 16 << 20, 64),
            (2 << 40, 16 << 20, 128),
            (64 << 40, 16 << 20, 4096),
        ];
        for (device_bytes, segment_bytes, grain_bytes) in table {
            let got = plan(device_bytes);
            assert_eq!(
                (got.segment_bytes, got.grain_bytes),
                (segment_bytes, grain_bytes),
                "{device_bytes}"
            );
        }
    }

    #[test]
    fn too_small_and_too_large_are_errors() {
        let plan = |bytes| Geometry::plan(bytes, &DiskOptions::default());
        assert!(matches!(plan(0), Err(OpenError::TooSmall { .. })));
        assert!(matches!(plan(8 << 20), Err(OpenError::TooSmall { .. })));
        assert!(matches!(plan(200 << 40), Err(OpenError::Geometry { .. })));
    }

    #[test]
    fn positions_and_lines_agree() {
        let g = Geometry::plan(64 << 20, &DiskOptions::default()).unwrap();
        let seq = 3 * g.segments + 5;
        let position = g.position(seq, 8192);
        assert_eq!(g.locate(position), (5, 8192));
        assert_eq!(g.generation(seq), 3);
        assert_eq!(g.generation(seq + 16 * g.segments), 3);
        assert!(g.line(seq, 8192) < g.line(seq + 1, 0));
    }
}
