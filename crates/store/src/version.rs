//! Which body is this? The name that the two tiers share for one write of a key.

use std::num::NonZeroU64;

use twox_hash::XxHash3_64;

/// Fingerprint of the pieces of one write.
///
/// New metadata may only ever be married to the body that it was sent for, and the tiers may
/// disagree on which version of a key they hold. The same fingerprint of the same key means the
/// same body; that costs 20 µs per MiB, and needs neither a clock nor a counter that survives
/// restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version(NonZeroU64);

impl Version {
    /// Of no pieces yet, under the store's secret `seed`.
    pub(crate) fn start(seed: u64) -> Self {
        Self::of(seed)
    }

    /// After one more piece.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        *self = Self::of(XxHash3_64::oneshot_with_seed(self.0.get(), piece));
    }

    /// Zero is left out, so that "none" takes no room.
    fn of(hash: u64) -> Self {
        Self(NonZeroU64::new(hash).unwrap_or(NonZeroU64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pieces: &[&[u8]]) -> Version {
        let mut version = Version::start(7);
        for piece in pieces {
            version.push(piece);
        }
        version
    }

    #[test]
    fn every_piece_counts() {
        assert_eq!(of(&[b"a", b"b"]), of(&[b"a", b"b"]));
        assert_ne!(of(&[b"a", b"b"]), of(&[b"b", b"a"]));
        assert_ne!(of(&[b"a"]), of(&[b"a", b""]));
        assert_ne!(of(&[b"a", b"c"]), of(&[b"b", b"c"]));
    }
}
