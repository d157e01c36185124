//! A record of the log: a header of one cache line, then key, metadata and body.

use std::ops::Range;

use zerocopy::little_endian::{U32, U64, U128};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{checksum, checksum_parts};

const MAGIC: u32 = u32::from_le_bytes(*b"lrec");

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::disk) enum Kind {
    /// An object, whole.
    Object = 1,
    /// An object whose body lies in fragments: the body bytes are their table.
    Fragmented = 2,
    /// A fragment; found by its object's table, never by the index.
    Fragment = 3,
    /// Everything older with this key hash is removed.
    Tombstone = 4,
    /// Nothing, up to the next block.
    Padding = 5,
}

impl Kind {
    pub(in crate::disk) fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Object,
            2 => Self::Fragmented,
            3 => Self::Fragment,
            4 => Self::Tombstone,
            5 => Self::Padding,
            _ => return None,
        })
    }

    /// Whether recovery wants to know of it.
    pub(in crate::disk) fn is_indexed(self) -> bool {
        matches!(self, Self::Object | Self::Fragmented | Self::Tombstone)
    }
}

/// ```text
///  0         4                8              16                             32
///  ├─ "lrec" ┼ header check ──┼─ segment seq ─┼─ key hash, or object id ─────┤
///  32              40           48       52        56         60     61     64
///  ├ payload check ┼─ total B ──┼─ key B ┼─ meta B ┼─ body B ─┼ kind ┼ zeros ┤ key, meta, body,
/// ```                                                            zeros to the next grain
///
/// The header check is the low half of the keyed XXH3-64 of bytes 8..64, and so covers the payload
/// check. `total` is the length of the object's body; of a fragment, its index.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(in crate::disk) struct RecordHeader {
    magic: U32,
    header_checksum: U32,
    seq: U64,
    hash: U128,
    payload_checksum: U64,
    total: U64,
    key_bytes: U32,
    meta_bytes: U32,
    body_bytes: U32,
    kind: u8,
    zeros: [u8; 3],
}

/// Bytes of a record's header.
pub(in crate::disk) const HEADER_BYTES: usize = size_of::<RecordHeader>();
const CHECKED_FROM: usize = 8;
const _: () = assert!(HEADER_BYTES == 64);

/// A record to be written.
#[derive(Clone, Copy, Debug)]
pub(in crate::disk) struct Record<'a> {
    pub(in crate::disk) kind: Kind,
    pub(in crate::disk) hash: u128,
    total: u64,
    parts: [&'a [u8]; 3],
    payload_checksum: u64,
}

/// Why bytes are not the record that they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::disk) enum Fault {
    /// No record of this store begins here.
    NoHeader { got: u64, expected: u64 },
    /// A record, but of another lap.
    OtherSeq { got: u64, expected: u64 },
    /// The header asks for more bytes than there are.
    Truncated { got: u64, expected: u64 },
    /// The payload is not what was written.
    Payload { got: u64, expected: u64 },
}

/// A verified record in the bytes that it was read from.
#[derive(Clone, Debug)]
pub(in crate::disk) struct RecordView {
    pub(in crate::disk) header: RecordHeader,
    pub(in crate::disk) key: Range<usize>,
    pub(in crate::disk) meta: Range<usize>,
    pub(in crate::disk) body: Range<usize>,
}

impl<'a> Record<'a> {
    /// Computes the payload's checksum: call it before any lock.
    pub(in crate::disk) fn new(
        seed: u64,
        kind: Kind,
        hash: u128,
        total: u64,
        parts: [&'a [u8]; 3],
    ) -> Self {
        Self {
            kind,
            hash,
            total,
            parts,
            payload_checksum: checksum_parts(seed, parts),
        }
    }

    pub(in crate::disk) fn tombstone(seed: u64, hash: u128) -> Self {
        Self::new(seed, Kind::Tombstone, hash, 0, [&[]; 3])
    }

    /// Header and payload, in bytes.
    pub(in crate::disk) fn bytes(&self) -> usize {
        HEADER_BYTES + self.parts.iter().map(|part| part.len()).sum::<usize>()
    }

    pub(in crate::disk) fn parts(&self) -> [&'a [u8]; 3] {
        self.parts
    }

    pub(in crate::disk) fn payload_checksum(&self) -> u64 {
        self.payload_checksum
    }

    /// The header, once the segment is known.
    pub(in crate::disk) fn header(&self, seed: u64, seq: u64) -> RecordHeader {
        let [key, meta, body] = self.parts.map(|part| U32::new(part.len() as u32));
        let mut header = RecordHeader {
            magic: MAGIC.into(),
            header_checksum: 0.into(),
            seq: seq.into(),
            hash: self.hash.into(),
            payload_checksum: self.payload_checksum.into(),
            total: self.total.into(),
            key_bytes: key,
            meta_bytes: meta,
            body_bytes: body,
            kind: self.kind as u8,
            zeros: [0; 3],
        };
        header.header_checksum = header.own_checksum(seed).into();
        header
    }
}

impl RecordHeader {
    /// A padding record of `bytes` in all, its header included.
    pub(in crate::disk) fn padding(seed: u64, seq: u64, bytes: usize) -> Self {
        let empty = Record::new(seed, Kind::Padding, 0, 0, [&[]; 3]);
        let mut header = empty.header(seed, seq);
        header.body_bytes = (bytes.saturating_sub(HEADER_BYTES) as u32).into();
        header.header_checksum = header.own_checksum(seed).into();
        header
    }

    /// The header at the start of `bytes`, if it is a record's of segment `seq`.
    pub(in crate::disk) fn read(seed: u64, seq: u64, bytes: &[u8]) -> Result<Self, Fault> {
        let (header, _) = Self::read_from_prefix(bytes).map_err(|_| Fault::Truncated {
            got: bytes.len() as u64,
            expected: HEADER_BYTES as u64,
        })?;
        if header.magic != MAGIC {
            return Err(Fault::NoHeader {
                got: header.magic.get().into(),
                expected: MAGIC.into(),
            });
        }
        let (got, expected) = (header.own_checksum(seed), header.header_checksum.get());
        if got != expected || header.kind().is_none() {
            return Err(Fault::NoHeader {
                got: got.into(),
                expected: expected.into(),
            });
        }
        if header.seq != seq {
            return Err(Fault::OtherSeq {
                got: header.seq.get(),
                expected: seq,
            });
        }
        Ok(header)
    }

    fn own_checksum(&self, seed: u64) -> u32 {
        checksum(seed, &self.as_bytes()[CHECKED_FROM..]) as u32
    }

    pub(in crate::disk) fn kind(&self) -> Option<Kind> {
        Kind::from_byte(self.kind)
    }

    pub(in crate::disk) fn hash(&self) -> u128 {
        self.hash.get()
    }

    pub(in crate::disk) fn payload_checksum(&self) -> u64 {
        self.payload_checksum.get()
    }

    pub(in crate::disk) fn total(&self) -> u64 {
        self.total.get()
    }

    /// Header and payload, in bytes. Three 32-bit lengths cannot overflow 64 bits.
    pub(in crate::disk) fn record_bytes(&self) -> u64 {
        let parts = [self.key_bytes, self.meta_bytes, self.body_bytes];
        HEADER_BYTES as u64 + parts.map(|part| u64::from(part.get())).iter().sum::<u64>()
    }
}

impl RecordView {
    /// Verifies the record at the start of `bytes`: header, lengths, payload. The key is the
    /// caller's to compare.
    pub(in crate::disk) fn read(seed: u64, seq: u64, bytes: &[u8]) -> Result<Self, Fault> {
        let header = RecordHeader::read(seed, seq, bytes)?;
        let key_end = HEADER_BYTES + header.key_bytes.get() as usize;
        let meta_end = key_end + header.meta_bytes.get() as usize;
        let body_end = meta_end + header.body_bytes.get() as usize;
        let truncated = Fault::Truncated {
            got: bytes.len() as u64,
            expected: header.record_bytes(),
        };
        let view = Self {
            header,
            key: HEADER_BYTES..key_end,
            meta: key_end..meta_end,
            body: meta_end..body_end,
        };
        if bytes.len() < body_end {
            return Err(truncated);
        }
        // Padding carries no data: its zeros are not worth a pass.
        if header.kind() == Some(Kind::Padding) {
            return Ok(view);
        }
        let parts = [&view.key, &view.meta, &view.body].map(|part| &bytes[part.clone()]);
        let (got, expected) = (checksum_parts(seed, parts), header.payload_checksum.get());
        if got != expected {
            return Err(Fault::Payload { got, expected });
        }
        Ok(view)
    }
}

impl Fault {
    /// What was found and what should have been, for an error's numbers.
    pub(in crate::disk) fn numbers(self) -> (u64, u64) {
        let (Self::NoHeader { got, expected }
        | Self::OtherSeq { got, expected }
        | Self::Truncated { got, expected }
        | Self::Payload { got, expected }) = self;
        (got, expected)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(record: &Record<'_>, seq: u64) -> Vec<u8> {
        let mut bytes = record.header(7, seq).as_bytes().to_vec();
        record
            .parts()
            .iter()
            .for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_record_reads_back(key: Vec<u8>, meta: Vec<u8>, body: Vec<u8>, hash: u128, seq: u64) {
            let record = Record::new(7, Kind::Object, hash, 5, [&key, &meta, &body]);
            let bytes = written(&record, seq);
            prop_assert_eq!(bytes.len(), record.bytes());
            let view = RecordView::read(7, seq, &bytes).unwrap();
            prop_assert_eq!(&bytes[view.key], &key);
            prop_assert_eq!(&bytes[view.meta], &meta);
            prop_assert_eq!(&bytes[view.body], &body);
            prop_assert_eq!((view.header.hash(), view.header.total()), (hash, 5));
            prop_assert!(RecordView::read(8, seq, &bytes).is_err(), "of another store");
            prop_assert!(RecordView::read(7, seq ^ 1, &bytes).is_err(), "of another lap");
        }

        #[test]
        fn a_flipped_bit_is_found(body: Vec<u8>, at: usize, bit in 0..8u8) {
            let record = Record::new(7, Kind::Object, 1, 5, [b"key", b"meta", &body]);
            let mut bytes = written(&record, 3);
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            prop_assert!(RecordView::read(7, 3, &bytes).is_err());
        }

        #[test]
        fn any_bytes_are_judged_without_panic(bytes: Vec<u8>) {
            let mut with_magic = MAGIC.to_le_bytes().to_vec();
            with_magic.extend_from_slice(&bytes);
            prop_assert!(RecordView::read(7, 3, &bytes).is_err());
            prop_assert!(RecordView::read(7, 3, &with_magic).is_err());
        }
    }
}
