//! Size classes: how much to read, in eight bits.

/// Smallest step, in bytes: the smallest grain.
const UNIT_BYTES: u64 = 64;
/// Steps to an octave.
const STEPS: u64 = 16;

/// The class of 8 MiB, which no record is longer than: 131,072 units are 13 octaves above the first
/// sixteen.
const LAST: u64 = STEPS * 14 - 1;

const _: () = assert!(LAST < 1 << SizeClass::BITS);

/// A length rounded up to the next of sixteen steps per octave, from 64 bytes to 8 MiB: one read of
/// that length holds the record, and is a fortieth longer than the record on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeClass(u8);

impl SizeClass {
    /// Bits of a class.
    pub(super) const BITS: u32 = 8;

    /// The class of a length in bytes. Lengths above the last class get the last.
    pub fn of(bytes: u64) -> Self {
        let units = bytes.div_ceil(UNIT_BYTES).max(1);
        if units <= STEPS {
            return Self(units as u8 - 1);
        }
        // units - 1 = (STEPS + step) << octave, with a remainder that rounding up drops.
        let octave = (units - 1).ilog2() - STEPS.ilog2();
        let step = ((units - 1) >> octave) - STEPS;
        let class = STEPS * (u64::from(octave) + 1) + step;
        Self(class.min(LAST) as u8)
    }

    /// The longest length of the class, in bytes.
    pub fn bytes(self) -> u64 {
        let class = u64::from(self.0);
        if class < STEPS {
            return (class + 1) * UNIT_BYTES;
        }
        let (octave, step) = (class / STEPS - 1, class % STEPS);
        ((STEPS + step + 1) << octave) * UNIT_BYTES
    }

    pub(super) fn from_bits(bits: u64) -> Self {
        Self((bits & ((1 << Self::BITS) - 1)) as u8)
    }

    pub(super) fn bits(self) -> u64 {
        self.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_its_lengths_and_wastes_little() {
        for bytes in (0..100_000).chain((100_000..=8 << 20).step_by(997)) {
            let class = SizeClass::of(bytes);
            let read_bytes = class.bytes();
            assert!(read_bytes >= bytes, "{bytes}");
            let most = bytes + bytes / STEPS + UNIT_BYTES;
            assert!(read_bytes <= most, "{bytes} in {read_bytes}");
            assert_eq!(SizeClass::of(read_bytes), class, "{bytes}");
            assert_eq!(SizeClass::from_bits(class.bits()), class);
        }
        assert_eq!(SizeClass::of(8 << 20).bytes(), 8 << 20);
    }
}
