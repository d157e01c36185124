//! Which body is this? The name that the two tiers share for one write of a key.

use twox_hash::XxHash3_128;

/// Fingerprint of the pieces of one write.
///
/// New metadata may only ever be married to the body that it was sent for, and the tiers may
/// disagree on which version of a key they hold. The same fingerprint in both means the same
/// body; that costs 20 µs per MiB, and needs neither a clock nor a counter that survives restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version(u128);

impl Version {
    /// Of no pieces yet, under the store's secret `seed`.
    pub(crate) fn start(seed: u64) -> Self {
        Self(u128::from(seed))
    }

    /// After one more piece.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        let seed = (self.0 as u64) ^ ((self.0 >> 64) as u64).rotate_left(32);
        self.0 = XxHash3_128::oneshot_with_seed(seed, piece);
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
