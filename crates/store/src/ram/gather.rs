//! The pieces of a body on their way into memory.

use std::sync::Arc;

use bytes::Bytes;
use larder_admission::Reject;

use super::allowance::Allowance;
use crate::{Body, PIECE_BYTES, RamReject};

/// Collects the pieces of a body while it may still fit, merging small ones: an origin that
/// dribbles bytes must not fill memory with bookkeeping.
#[derive(Debug)]
pub(crate) struct Gather {
    pieces: Vec<Bytes>,
    tail: Vec<u8>,
    body_bytes: u64,
    body_bytes_max: u64,
    allowance: Arc<Allowance>,
}

impl Gather {
    pub(super) fn new(body_bytes_max: u64, allowance: Arc<Allowance>) -> Self {
        Self {
            pieces: Vec::new(),
            tail: Vec::new(),
            body_bytes: 0,
            body_bytes_max,
            allowance,
        }
    }

    /// Appends a piece. A first one of any size and later ones of [`MERGE_BELOW_BYTES`] and more
    /// are kept as they are.
    ///
    /// # Errors
    /// When the body turns out too large, or all unfinished bodies together are. The collection is
    /// of no use then.
    pub(crate) fn push(&mut self, piece: Bytes) -> Result<(), RamReject> {
        let bytes = piece.len() as u64;
        if bytes > self.body_bytes_max - self.body_bytes {
            return Err(RamReject::Policy(Reject::TooLarge));
        }
        if !self.allowance.hold(bytes) {
            return Err(RamReject::Busy);
        }
        self.body_bytes += bytes;
        self.place(piece);
        Ok(())
    }

    fn place(&mut self, piece: Bytes) {
        if let [first] = self.pieces.as_slice()
            && first.len() < MERGE_BELOW_BYTES
        {
            self.tail.extend_from_slice(first);
            self.pieces.clear();
        }
        let first = self.pieces.is_empty() && self.tail.is_empty();
        if first || self.tail.is_empty() && piece.len() >= MERGE_BELOW_BYTES {
            self.pieces.push(piece);
        } else {
            self.merge(&piece);
        }
    }

    fn merge(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            let fits = piece.len().min(PIECE_BYTES - self.tail.len());
            let (now, later) = piece.split_at(fits);
            self.tail.extend_from_slice(now);
            piece = later;
            if self.tail.len() == PIECE_BYTES {
                self.seal();
            }
        }
    }

    fn seal(&mut self) {
        let tail = std::mem::take(&mut self.tail).into_boxed_slice();
        self.pieces.push(Bytes::from(tail));
    }

    /// The whole.
    pub(crate) fn into_body(mut self) -> Body {
        if !self.tail.is_empty() {
            self.seal();
        }
        Body::from_pieces(std::mem::take(&mut self.pieces))
    }
}

impl Drop for Gather {
    fn drop(&mut self) {
        self.allowance.release(self.body_bytes);
    }
}

/// A copy of less than 16 KiB costs about a microsecond; a piece of more costs less than half a
/// percent of overhead.
const MERGE_BELOW_BYTES: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, TryStreamExt};
    use proptest::prelude::*;

    use super::*;

    fn gather(body_bytes_max: u64, ram_bytes: u64) -> Gather {
        Gather::new(body_bytes_max, Arc::new(Allowance::new(ram_bytes)))
    }

    fn content(body: &Body) -> Vec<u8> {
        let pieces: Vec<Bytes> = body
            .read(0..u64::MAX)
            .try_collect()
            .now_or_never()
            .expect("memory is ready")
            .expect("memory does not fail");
        pieces.concat()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn nothing_is_lost_and_pieces_are_few(
            sizes in prop::collection::vec(
                prop_oneof![3 => 0_usize..200, 1 => 10_000_usize..PIECE_BYTES + 1], 0..40),
        ) {
            let pieces: Vec<Bytes> = sizes.iter().zip(0_u8..)
                .map(|(&size, fill)| Bytes::from(vec![fill; size])).collect();
            let mut gather = gather(4 << 20, 4 << 20);
            for piece in &pieces {
                prop_assert_eq!(gather.push(piece.clone()), Ok(()));
            }
            let whole = pieces.concat();
            let body = gather.into_body();
            prop_assert!(body.pieces() <= whole.len() / MERGE_BELOW_BYTES + 1);
            prop_assert_eq!(content(&body), whole);
        }
    }

    #[test]
    fn a_body_of_one_piece_is_not_copied() {
        let piece = Bytes::from(vec![1; 100]);
        let mut gather = gather(100, 100);
        assert_eq!(gather.push(piece.clone()), Ok(()));
        let body = gather.into_body();
        assert_eq!(
            body.as_single().expect("one piece").as_ptr(),
            piece.as_ptr()
        );
    }

    #[test]
    fn both_bounds_are_kept_and_what_was_held_is_paid_back() {
        let allowance = Arc::new(Allowance::new(250));
        let hundred = Bytes::from(vec![1; 100]);
        let mut first = Gather::new(200, Arc::clone(&allowance));
        let mut second = Gather::new(200, Arc::clone(&allowance));
        assert_eq!(first.push(hundred.clone()), Ok(()));
        assert_eq!(second.push(hundred.clone()), Ok(()));
        assert_eq!(second.push(hundred.clone()), Err(RamReject::Busy));
        drop(second);
        assert_eq!(first.push(hundred.clone()), Ok(()));
        let too_large = Err(RamReject::Policy(Reject::TooLarge));
        assert_eq!(first.push(hundred), too_large);
        drop(first);
        assert_eq!(allowance.held_bytes(), 0);
    }
}
