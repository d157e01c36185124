//! The bytes on the device: what each struct is, and nothing about when it is written.
//!
//! All integers are little-endian. `docs/on-disk-format.md` draws the whole device.

mod footer;
mod fragments;
mod geometry;
mod record;
mod segment;
mod superblock;

use twox_hash::XxHash3_64;

pub(super) use footer::{FOOTER_ENTRY_BYTES, Footer, FooterEntry, Trailer};
pub(super) use fragments::{FragmentRef, FragmentTable};
pub(super) use geometry::{Geometry, Position};
pub(super) use record::{Fault, HEADER_BYTES, Kind, Record, RecordHeader, RecordView};
pub(super) use segment::{HeaderArea, SEGMENT_HEADER_BYTES, SegmentHeader};
pub(super) use superblock::{Area, SUPERBLOCK_AREA_BYTES, Superblock};

/// Body bytes of a fragment, and the largest body that lies whole in its head record.
///
/// A hit on an inline object is one device read; 256 KiB is the largest read that still takes no
/// longer than a few 4 KiB ones on flash (64 KiB reads already run at the device's bandwidth), and
/// it bounds what a range of one byte costs.
pub(super) const FRAGMENT_BYTES: usize = 256 << 10;

/// Most fragments of an object: 65,536 × 256 KiB = 16 GiB. Their table takes 1 MiB.
pub(super) const FRAGMENTS_MAX: u64 = 1 << 16;

/// Longest metadata of an object, in bytes: an HTTP header block is bounded far below.
pub(super) const META_BYTES_MAX: usize = 128 << 10;

/// Longest record in bytes: a head with the longest key, metadata and fragment table.
pub(super) const RECORD_BYTES_MAX: usize =
    HEADER_BYTES + crate::Key::MAX_BYTES + META_BYTES_MAX + FragmentTable::bytes_for(FRAGMENTS_MAX);

/// XXH3-64 of `bytes`, keyed by the store's seed: bytes of another store, older than this one on
/// the same device, never pass for its own.
pub(super) fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, bytes)
}

/// The checksum of parts that lie one after the other: each keys the next. The lengths are not in
/// it, the record's header has them.
pub(super) fn checksum_parts(seed: u64, parts: [&[u8]; 3]) -> u64 {
    parts.into_iter().fold(seed, checksum)
}
