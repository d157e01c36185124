//! A slot: all that memory knows of an object, in 64 bits.

use super::SizeClass;

/// Where a key's record is, and how long a read holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Position in the log, in grains; 34 bits.
    pub position: u64,
    /// Lap in which it was written, modulo 16 (HC-19).
    pub generation: u8,
    /// Length class of the record.
    pub class: SizeClass,
}

/// The hash bits that a slot keeps: the top ones (HC-13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag(u64);

/// ```text
///  bit 0               34          38      46     49           63
///  ├── position ───────┼ generation┼ class ┼ rank ┼─── tag ────┼ used
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot(u64);

const POSITION_BITS: u32 = 34;
const GENERATION_BITS: u32 = 4;
const RANK_BITS: u32 = 3;
const TAG_BITS: u32 = 14;

const GENERATION_AT: u32 = POSITION_BITS;
const CLASS_AT: u32 = GENERATION_AT + GENERATION_BITS;
const RANK_AT: u32 = CLASS_AT + SizeClass::BITS;
const TAG_AT: u32 = RANK_AT + RANK_BITS;
const USED: u64 = 1 << (TAG_AT + TAG_BITS);

const _: () = assert!(TAG_AT + TAG_BITS + 1 == u64::BITS);
const _: () = assert!(super::WAYS == 1 << RANK_BITS);

/// `bits` bits of `word` from bit `at` on.
fn field(word: u64, at: u32, bits: u32) -> u64 {
    word >> at & ((1 << bits) - 1)
}

impl Tag {
    pub(super) fn of(hash: u128) -> Self {
        Self((hash >> (u128::BITS - TAG_BITS)) as u64)
    }
}

impl Slot {
    pub(super) const EMPTY: Self = Self(0);

    /// A used slot of rank 0.
    pub(super) fn new(tag: Tag, place: Place) -> Self {
        let position = field(place.position, 0, POSITION_BITS);
        let generation = field(place.generation.into(), 0, GENERATION_BITS);
        Self(
            position
                | generation << GENERATION_AT
                | place.class.bits() << CLASS_AT
                | tag.0 << TAG_AT
                | USED,
        )
    }

    pub(super) fn is_used(self) -> bool {
        self.0 & USED != 0
    }

    pub(super) fn has(self, tag: Tag) -> bool {
        self.is_used() && field(self.0, TAG_AT, TAG_BITS) == tag.0
    }

    pub(super) fn place(self) -> Option<Place> {
        self.is_used().then(|| Place {
            position: field(self.0, 0, POSITION_BITS),
            generation: field(self.0, GENERATION_AT, GENERATION_BITS) as u8,
            class: SizeClass::from_bits(self.0 >> CLASS_AT),
        })
    }

    /// 0 is the least recently used of the set.
    pub(super) fn rank(self) -> u64 {
        field(self.0, RANK_AT, RANK_BITS)
    }

    pub(super) fn set_rank(&mut self, rank: u64) {
        let mask = ((1 << RANK_BITS) - 1) << RANK_AT;
        self.0 = self.0 & !mask | (rank << RANK_AT & mask);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_do_not_touch_each_other(
            hash: u128, position in 0..1u64 << 34, generation in 0..16u8,
            bytes in 0..8u64 << 20, rank in 0..8u64,
        ) {
            let class = SizeClass::of(bytes);
            let place = Place { position, generation, class };
            let mut slot = Slot::new(Tag::of(hash), place);
            slot.set_rank(7);
            slot.set_rank(rank);
            prop_assert_eq!(slot.place(), Some(place));
            prop_assert_eq!(slot.rank(), rank);
            prop_assert!(slot.has(Tag::of(hash)) && !slot.has(Tag::of(!hash)));
        }
    }
}
