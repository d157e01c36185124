//! The fragment table: where the body of a large object lies.

use zerocopy::little_endian::{U64, U128};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::geometry::POSITION_BITS;
use super::{FRAGMENT_BYTES, Position};

/// ```text
///  0                                                 8                16
///  ├ position: bits 0..34, low seq bits: bits 34..64 ┼ payload check ─┤
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub(in crate::disk) struct FragmentRef {
    place: U64,
    checksum: U64,
}

const SEQ_BITS: u32 = u64::BITS - POSITION_BITS;
const ID_BYTES: usize = size_of::<U128>();

/// The body bytes of a fragmented head: the object's id, then a [`FragmentRef`] per fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::disk) struct FragmentTable {
    /// Repeated in each fragment, and never used twice on a device.
    pub(in crate::disk) object_id: u128,
    pub(in crate::disk) fragments: Vec<FragmentRef>,
}

impl FragmentRef {
    /// Bytes of an entry.
    pub(in crate::disk) const BYTES: usize = size_of::<Self>();

    pub(in crate::disk) fn new(position: Position, seq: u64, checksum: u64) -> Self {
        Self {
            place: (position.0 | seq << POSITION_BITS).into(),
            checksum: checksum.into(),
        }
    }

    pub(in crate::disk) fn position(&self) -> Position {
        Position(self.place.get() & ((1 << POSITION_BITS) - 1))
    }

    /// Whether `seq` can be the sequence number that was noted: equal in the low 30 bits, which no
    /// device sees twice (2^30 segments of 1 MiB are a pebibyte of writes).
    pub(in crate::disk) fn is_of(&self, seq: u64) -> bool {
        self.place.get() >> POSITION_BITS == seq & ((1 << SEQ_BITS) - 1)
    }

    /// What the fragment's payload must hash to.
    pub(in crate::disk) fn checksum(&self) -> u64 {
        self.checksum.get()
    }
}

const _: () = assert!(FragmentRef::BYTES == 16);

impl FragmentTable {
    /// Bytes of a table of so many fragments.
    pub(in crate::disk) const fn bytes_for(fragments: u64) -> usize {
        ID_BYTES + fragments as usize * FragmentRef::BYTES
    }

    pub(in crate::disk) fn encode(&self) -> Vec<u8> {
        let id = U128::new(self.object_id);
        [id.as_bytes(), self.fragments.as_bytes()].concat()
    }

    /// The table of a body of `total` bytes; `None` unless it has exactly the fragments for that.
    pub(in crate::disk) fn decode(bytes: &[u8], total: u64) -> Option<Self> {
        let (id, rest) = U128::read_from_prefix(bytes).ok()?;
        let fragments = <[FragmentRef]>::ref_from_bytes(rest).ok()?;
        let enough = total.div_ceil(FRAGMENT_BYTES as u64) == fragments.len() as u64;
        (enough && total > 0).then(|| Self {
            object_id: id.get(),
            fragments: fragments.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_reads_back_for_its_length_only() {
        let table = FragmentTable {
            object_id: 1 << 100,
            fragments: (0..3)
                .map(|i| FragmentRef::new(Position((1 << 34) - 1 - i), (1 << 40) + i, i))
                .collect(),
        };
        let bytes = table.encode();
        assert_eq!(bytes.len(), FragmentTable::bytes_for(3));
        let total = 2 * FRAGMENT_BYTES as u64 + 1;
        assert_eq!(FragmentTable::decode(&bytes, total), Some(table.clone()));
        assert_eq!(FragmentTable::decode(&bytes, total - 1), None);
        assert_eq!(FragmentTable::decode(&bytes[..60], total), None);
        let first = table.fragments[0];
        assert_eq!(first.position(), Position((1 << 34) - 1));
        assert!(first.is_of(1 << 40) && !first.is_of((1 << 40) + 1));
    }
}
