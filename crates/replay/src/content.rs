//! What are the bytes of an object? A function of its name, its version and the offset.
//!
//! An object is an endless sequence of 64-bit little-endian words,
//!
//! ```text
//! word(i) = mix(seed + (i + 1) * GAMMA)      seed = XXH3-64(name; version)
//! mix(s)  = high64(p) ^ low64(p)             p    = s * (s ^ FOLD), 128 bits wide
//! ```
//!
//! that is, wyrand (Wang Yi, <https://github.com/wangyi-fudan/wyhash>) started at `seed` and read
//! at any place in O(1), since its state is a counter. One multiplication a word: making a body
//! costs less than copying it through a socket.
//! Whoever knows the name can check any range of the body without a copy of it: a byte of another
//! object, of another version or of another offset is found at once.

use twox_hash::XxHash3_64;

/// Increment of wyrand's counter.
const GAMMA: u64 = 0x2d35_8dcc_aa6c_78a5;

/// What wyrand folds its counter with.
const FOLD: u64 = 0x8bb8_4b93_962e_acc9;

/// Bytes of a word.
const WORD_BYTES: usize = size_of::<u64>();

/// Bytes generated at a time to count wrong bytes. Only a body already known to be wrong gets there.
const SCRATCH_BYTES: usize = 1 << 10;

/// The bytes of one version of one object. Two words: copy it freely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Content {
    seed: u64,
}

impl Content {
    /// The content that goes by `name` in its `version`.
    ///
    /// The origin's names are request paths, as in `/s/1024/42` or `/object/a/b`, in version 0
    /// unless the request says otherwise.
    pub fn new(name: &str, version: u64) -> Self {
        Self {
            seed: XxHash3_64::oneshot_with_seed(version, name.as_bytes()),
        }
    }

    /// Identity of the content, fit for an entity tag.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Writes the bytes that stand at `offset` into `out`. Offsets wrap at 2^64.
    pub fn fill(&self, offset: u64, out: &mut [u8]) {
        let (head, rest) = out.split_at_mut(head_bytes(offset, out.len()));
        self.fill_within_word(offset, head);
        let start = offset.wrapping_add(head.len() as u64);
        let (words, tail) = rest.as_chunks_mut::<WORD_BYTES>();
        let mut index = start / WORD_BYTES as u64;
        for word in words.iter_mut() {
            *word = self.word(index).to_le_bytes();
            index = index.wrapping_add(1);
        }
        self.fill_within_word(start.wrapping_add(words.as_flattened().len() as u64), tail);
    }

    /// Compares `bytes`, said to stand at `offset`. `None` if all are right, else the offset of
    /// the first wrong one, counted from the start of the object.
    pub fn verify(&self, offset: u64, bytes: &[u8]) -> Option<u64> {
        let (head, rest) = bytes.split_at(head_bytes(offset, bytes.len()));
        let start = offset.wrapping_add(head.len() as u64);
        let (words, tail) = rest.as_chunks::<WORD_BYTES>();
        let end = start.wrapping_add(words.as_flattened().len() as u64);
        self.verify_within_word(offset, head)
            .or_else(|| self.verify_words(start, words))
            .or_else(|| self.verify_within_word(end, tail))
    }

    /// How many of `bytes`, said to stand at `offset`, are wrong. As fast as
    /// [`verify`](Self::verify) while none is.
    pub fn wrong_bytes(&self, offset: u64, bytes: &[u8]) -> u64 {
        if self.verify(offset, bytes).is_none() {
            return 0;
        }
        let mut expected = [0; SCRATCH_BYTES];
        let mut at = offset;
        let mut wrong = 0;
        for found in bytes.chunks(SCRATCH_BYTES) {
            let expected = &mut expected[..found.len()];
            self.fill(at, expected);
            let pairs = found.iter().zip(expected.iter());
            wrong += pairs.filter(|(found, expected)| found != expected).count() as u64;
            at = at.wrapping_add(found.len() as u64);
        }
        wrong
    }

    fn word(&self, index: u64) -> u64 {
        let state = self
            .seed
            .wrapping_add(index.wrapping_add(1).wrapping_mul(GAMMA));
        let product = u128::from(state) * u128::from(state ^ FOLD);
        (product >> 64) as u64 ^ product as u64
    }

    /// The word that `offset` lies in, shifted so that the byte at `offset` is its first.
    fn word_from(&self, offset: u64) -> [u8; WORD_BYTES] {
        let skipped_bits = 8 * (offset % WORD_BYTES as u64);
        (self.word(offset / WORD_BYTES as u64) >> skipped_bits).to_le_bytes()
    }

    /// `out` must not reach beyond the word that `offset` lies in.
    fn fill_within_word(&self, offset: u64, out: &mut [u8]) {
        for (byte, right) in out.iter_mut().zip(self.word_from(offset)) {
            *byte = right;
        }
    }

    /// `bytes` must not reach beyond the word that `offset` lies in.
    fn verify_within_word(&self, offset: u64, bytes: &[u8]) -> Option<u64> {
        let pairs = bytes.iter().zip(self.word_from(offset));
        let at = pairs.into_iter().position(|(byte, right)| *byte != right)?;
        Some(offset.wrapping_add(at as u64))
    }

    fn verify_words(&self, start: u64, words: &[[u8; WORD_BYTES]]) -> Option<u64> {
        let first = start / WORD_BYTES as u64;
        words.iter().zip(0_u64..).find_map(|(word, i)| {
            let difference = u64::from_le_bytes(*word) ^ self.word(first.wrapping_add(i));
            (difference != 0).then(|| {
                let byte = u64::from(difference.trailing_zeros() / 8);
                start.wrapping_add(i * WORD_BYTES as u64).wrapping_add(byte)
            })
        })
    }
}

/// How many of `len` bytes at `offset` come before the next whole word.
fn head_bytes(offset: u64, len: usize) -> usize {
    let into_word = (offset % WORD_BYTES as u64) as usize;
    if into_word == 0 {
        0
    } else {
        len.min(WORD_BYTES - into_word)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, byte by byte.
    fn naive(content: Content, offset: u64, len: usize) -> Vec<u8> {
        (0..len as u64)
            .map(|i| {
                let at = offset + i;
                content.word(at / 8).to_le_bytes()[(at % 8) as usize]
            })
            .collect()
    }

    #[test]
    fn the_bytes_of_a_name_never_change() {
        let mut bytes = [0; 8];
        Content::new("/s/1024/42", 0).fill(0, &mut bytes);
        assert_eq!(bytes, GOLDEN);
    }

    const GOLDEN: [u8; 8] = [37, 124, 144, 131, 194, 150, 186, 143];

    #[test]
    fn the_words_are_those_of_wyrand() {
        // The first outputs of fastrand 2.5, another implementation, seeded with 0.
        let reference = [
            0x9a45_cd88_8d59_f0d6,
            0x0144_5b6a_1896_63f5,
            0x1842_218b_97e7_a496,
        ];
        let content = Content { seed: 0 };
        assert_eq!([0, 1, 2].map(|index| content.word(index)), reference);
    }

    #[test]
    fn names_and_versions_differ() {
        let one = Content::new("/object/a", 0);
        let mut bytes = [0; 64];
        one.fill(0, &mut bytes);
        assert_eq!(one.verify(0, &bytes), None);
        assert!(Content::new("/object/a", 1).verify(0, &bytes).is_some());
        assert!(Content::new("/object/b", 0).verify(0, &bytes).is_some());
        assert!(one.verify(8, &bytes).is_some(), "shifted by a word");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_split_gives_the_same_bytes(
            version: u64,
            offset in 0..1_u64 << 50,
            len in 0..600_usize,
            cuts in prop::collection::vec(0..600_usize, 0..6),
        ) {
            let content = Content::new("/object/split", version);
            let whole = naive(content, offset, len);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(len)).collect();
            cuts.extend([0, len]);
            cuts.sort_unstable();
            let mut pieces = vec![0; len];
            for pair in cuts.windows(2) {
                let piece = &mut pieces[pair[0]..pair[1]];
                content.fill(offset + pair[0] as u64, piece);
                prop_assert_eq!(content.verify(offset + pair[0] as u64, piece), None);
            }
            prop_assert_eq!(pieces, whole);
        }

        #[test]
        fn a_wrong_byte_is_found_where_it_is(
            offset in 0..1_u64 << 50,
            mut at in prop::collection::btree_set(0..3000_usize, 1..5),
            flip in 1..=255_u8,
        ) {
            let content = Content::new("/object/wrong", 0);
            let mut bytes = naive(content, offset, 3000);
            for &i in &at {
                bytes[i] ^= flip;
            }
            prop_assert_eq!(content.wrong_bytes(offset, &bytes), at.len() as u64);
            let first = at.pop_first().unwrap() as u64;
            prop_assert_eq!(content.verify(offset, &bytes), Some(offset + first));
        }
    }
}
