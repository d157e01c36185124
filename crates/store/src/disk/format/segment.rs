//! The header of a segment: which lap of the log it holds. Two copies, a block each.

use zerocopy::little_endian::U64;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{Geometry, checksum};
use crate::device::{AlignedBuf, BLOCK_BYTES};

const MAGIC: [u8; 8] = *b"lsegment";
const COPIES: usize = 2;

/// Bytes before a segment's first record.
pub(in crate::disk) const SEGMENT_HEADER_BYTES: usize = COPIES * BLOCK_BYTES;

/// ```text
///  0               8              16                         24                          32
///  ├─ "lsegment" ──┼─ seq ────────┼─ end of the one before ──┼ keyed XXH3-64 of 0..24 ───┤ zeros
/// ```
///
/// The end of the segment before, in bytes, proves that its records were durable up to there; it
/// is 0 in the first segment of a *life*, which is from one opening of the store to the next: what
/// went before it may end anywhere.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub(in crate::disk) struct SegmentHeader {
    magic: [u8; 8],
    seq: U64,
    previous_end: U64,
    checksum: U64,
}

const CHECKSUM_AT: usize = size_of::<SegmentHeader>() - size_of::<U64>();
const _: () = assert!(size_of::<SegmentHeader>() == 32);

/// What the header blocks of a segment say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::disk) enum HeaderArea {
    /// Never written.
    Blank,
    /// At least one copy is good.
    Written { seq: u64, previous_end: u64 },
    /// Something was written, and neither copy can be read.
    Lost,
}

impl SegmentHeader {
    pub(in crate::disk) fn new(seed: u64, seq: u64, previous_end: u64) -> Self {
        let mut new = Self {
            magic: MAGIC,
            seq: seq.into(),
            previous_end: previous_end.into(),
            checksum: 0.into(),
        };
        new.checksum = checksum(seed, &new.as_bytes()[..CHECKSUM_AT]).into();
        new
    }

    /// Both copies, ready to be written at the segment's start.
    pub(in crate::disk) fn copies(&self) -> AlignedBuf {
        let mut blocks = AlignedBuf::zeroed(SEGMENT_HEADER_BYTES);
        for block in blocks.chunks_exact_mut(BLOCK_BYTES) {
            block[..size_of::<Self>()].copy_from_slice(self.as_bytes());
        }
        blocks
    }

    fn read(seed: u64, block: &[u8]) -> Option<Self> {
        let (header, _) = Self::read_from_prefix(block).ok()?;
        let expected = checksum(seed, &header.as_bytes()[..CHECKSUM_AT]);
        (header.magic == MAGIC && header.checksum == expected).then_some(header)
    }
}

impl HeaderArea {
    /// Judges the header blocks of segment `segment`. The newer copy wins: a torn write of both
    /// leaves one new and one old.
    pub(in crate::disk) fn read(
        geometry: &Geometry,
        seed: u64,
        segment: usize,
        blocks: &[u8],
    ) -> Self {
        let newest = blocks
            .chunks_exact(BLOCK_BYTES)
            .filter_map(|block| SegmentHeader::read(seed, block))
            .filter(|header| geometry.segment_of_seq(header.seq.get()) == segment)
            .filter(|header| header.seq.get() >= geometry.segments)
            .max_by_key(|header| header.seq.get());
        match newest {
            Some(header) => Self::Written {
                seq: header.seq.get(),
                previous_end: header.previous_end.get(),
            },
            None if blocks.iter().all(|byte| *byte == 0) => Self::Blank,
            None => Self::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiskOptions;

    #[test]
    fn one_good_copy_is_enough_and_the_newer_wins() {
        let g = Geometry::plan(64 << 20, &DiskOptions::default()).unwrap();
        let old = SegmentHeader::new(7, 4 * g.segments + 2, 9).copies();
        let mut blocks = SegmentHeader::new(7, 5 * g.segments + 2, 9).copies();
        let read = |blocks: &[u8]| HeaderArea::read(&g, 7, 2, blocks);
        let written = HeaderArea::Written {
            seq: 5 * g.segments + 2,
            previous_end: 9,
        };
        assert_eq!(read(&blocks), written);
        blocks[BLOCK_BYTES..].copy_from_slice(&old[BLOCK_BYTES..]);
        assert_eq!(read(&blocks), written);
        blocks[0] ^= 1;
        assert!(matches!(read(&blocks), HeaderArea::Written { seq, .. } if seq < 5 * g.segments));
        blocks[BLOCK_BYTES] ^= 1;
        assert_eq!(read(&blocks), HeaderArea::Lost);
        assert_eq!(read(&[0; SEGMENT_HEADER_BYTES]), HeaderArea::Blank);
        assert_eq!(HeaderArea::read(&g, 7, 3, &old), HeaderArea::Lost);
    }
}
