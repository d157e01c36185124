//! The footer of a full segment: what recovery needs of each record, in one read.

use zerocopy::little_endian::{U32, U64, U128};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{HEADER_BYTES, Kind, SEGMENT_HEADER_BYTES, checksum};
use crate::device::{AlignedBuf, BLOCK_BYTES};

const MAGIC: [u8; 8] = *b"lfooter\0";

/// ```text
///  0                               16             20            24     25          32
///  ├─ key hash ────────────────────┼ byte in seg. ┼─ record B ──┼ kind ┼── zeros ──┤
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub(in crate::disk) struct FooterEntry {
    hash: U128,
    offset: U32,
    record_bytes: U32,
    kind: u8,
    zeros: [u8; 7],
}

/// The last bytes of a segment. Before it, in order and from a block's start: the entries, zeros.
///
/// ```text
///  0               8            16        24              32               40           48
///  ├─ "lfooter\0" ─┼─── seq ────┼─ count ─┼─ data end B ──┼ entries check ─┼ own check ─┤
/// ```
/// The entries check is the keyed XXH3-64 of all entries; the own check that of bytes 0..40.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub(in crate::disk) struct Trailer {
    magic: [u8; 8],
    seq: U64,
    count: U64,
    data_end: U64,
    entries_checksum: U64,
    checksum: U64,
}

/// Bytes of an entry.
pub(in crate::disk) const FOOTER_ENTRY_BYTES: usize = size_of::<FooterEntry>();
/// Bytes of the trailer.
const TRAILER_BYTES: usize = size_of::<Trailer>();
const CHECKSUM_AT: usize = TRAILER_BYTES - size_of::<U64>();
const _: () = assert!(FOOTER_ENTRY_BYTES == 32);
const _: () = assert!(TRAILER_BYTES == 48);

/// Footers as a whole: their size, their writing and their reading.
pub(in crate::disk) struct Footer;

impl FooterEntry {
    pub(in crate::disk) fn new(kind: Kind, hash: u128, offset: u64, record_bytes: usize) -> Self {
        Self {
            hash: hash.into(),
            offset: (offset as u32).into(),
            record_bytes: (record_bytes as u32).into(),
            kind: kind as u8,
            zeros: [0; 7],
        }
    }

    pub(in crate::disk) fn kind(&self) -> Option<Kind> {
        Kind::from_byte(self.kind).filter(|kind| kind.is_indexed())
    }

    pub(in crate::disk) fn hash(&self) -> u128 {
        self.hash.get()
    }

    /// First byte of the record in its segment.
    pub(in crate::disk) fn offset(&self) -> u64 {
        self.offset.get().into()
    }

    pub(in crate::disk) fn record_bytes(&self) -> u64 {
        self.record_bytes.get().into()
    }
}

impl Trailer {
    /// The trailer at the end of a segment's last block, if it is segment `seq`'s.
    pub(in crate::disk) fn read(seed: u64, seq: u64, last_block: &[u8]) -> Option<Self> {
        let (_, trailer) = Self::read_from_suffix(last_block).ok()?;
        let expected = checksum(seed, &trailer.as_bytes()[..CHECKSUM_AT]);
        (trailer.magic == MAGIC && trailer.seq == seq && trailer.checksum == expected)
            .then_some(trailer)
    }

    /// Bytes of the whole footer; `None` if a segment of `segment_bytes` cannot hold it.
    pub(in crate::disk) fn footer_bytes(&self, segment_bytes: u64) -> Option<usize> {
        let most = segment_bytes / HEADER_BYTES as u64;
        (self.count.get() <= most).then(|| Footer::bytes_for(self.count.get() as usize))
    }
}

impl Footer {
    /// Bytes of a footer of `count` entries: whole blocks.
    pub(in crate::disk) fn bytes_for(count: usize) -> usize {
        (count * FOOTER_ENTRY_BYTES + TRAILER_BYTES).next_multiple_of(BLOCK_BYTES)
    }

    /// The footer of segment `seq`, whose records end at byte `data_end`.
    pub(in crate::disk) fn build(
        seed: u64,
        seq: u64,
        data_end: u64,
        entries: &[FooterEntry],
    ) -> AlignedBuf {
        let mut trailer = Trailer {
            magic: MAGIC,
            seq: seq.into(),
            count: (entries.len() as u64).into(),
            data_end: data_end.into(),
            entries_checksum: checksum(seed, entries.as_bytes()).into(),
            checksum: 0.into(),
        };
        trailer.checksum = checksum(seed, &trailer.as_bytes()[..CHECKSUM_AT]).into();
        let mut blocks = AlignedBuf::zeroed(Self::bytes_for(entries.len()));
        let trailer_at = blocks.len() - TRAILER_BYTES;
        blocks[..entries.len() * FOOTER_ENTRY_BYTES].copy_from_slice(entries.as_bytes());
        blocks[trailer_at..].copy_from_slice(trailer.as_bytes());
        blocks
    }

    /// The entries of a footer that was read whole, oldest first; `None` if they are not what was
    /// written.
    pub(in crate::disk) fn entries(
        seed: u64,
        trailer: &Trailer,
        blocks: &[u8],
    ) -> Option<Vec<FooterEntry>> {
        let count = trailer.count.get() as usize;
        let bytes = blocks.get(..count.checked_mul(FOOTER_ENTRY_BYTES)?)?;
        if checksum(seed, bytes) != trailer.entries_checksum.get() {
            return None;
        }
        let data = SEGMENT_HEADER_BYTES as u64..trailer.data_end.get();
        let entries = <[FooterEntry]>::ref_from_bytes(bytes).ok()?;
        let sound = |entry: &FooterEntry| {
            entry.kind().is_some()
                && data.contains(&entry.offset())
                && entry.offset() + entry.record_bytes() <= data.end
        };
        entries.iter().all(sound).then(|| entries.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footer_reads_back_and_a_flipped_bit_does_not() {
        let entries: Vec<_> = (0..300)
            .map(|i| FooterEntry::new(Kind::Object, i, 8192 + 64 * i as u64, 64))
            .collect();
        let mut blocks = Footer::build(7, 12, 1 << 19, &entries);
        let trailer = Trailer::read(7, 12, &blocks).unwrap();
        assert_eq!(trailer.footer_bytes(1 << 20), Some(blocks.len()));
        assert_eq!(Footer::entries(7, &trailer, &blocks), Some(entries));
        assert_eq!(Trailer::read(7, 13, &blocks), None);
        assert_eq!(Trailer::read(8, 12, &blocks), None);
        blocks[40] ^= 1;
        assert_eq!(Footer::entries(7, &trailer, &blocks), None);
    }
}
