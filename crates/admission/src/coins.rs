//! Chance that can be replayed.

use crate::Coins;

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): eight bytes of state, equidistributed, and
/// the same sequence on every machine. For sampling and admission, not for secrets.
#[derive(Clone, Debug)]
pub struct SplitMix {
    state: u64,
}

impl SplitMix {
    /// The sequence of `seed`. Nearby seeds give unrelated sequences.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The sequence number `stream` of `seed`: one per shard, say.
    pub const fn stream(seed: u64, stream: u64) -> Self {
        Self::new(mix(
            seed ^ mix(stream.wrapping_add(1).wrapping_mul(GOLDEN_GAMMA))
        ))
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN_GAMMA);
        mix(self.state)
    }
}

impl Coins for SplitMix {
    fn unit(&mut self) -> f64 {
        // The top 53 bits: every value is a multiple of 2^-53, and 1.0 is out of reach.
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    fn below(&mut self, bound: u32) -> u32 {
        // Multiply and shift (Lemire 2019) without the rejection step: with 64 random bits the
        // bias is below 2^-32.
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u32
    }
}

/// 2^64 over the golden ratio, made odd.
const GOLDEN_GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // Vigna's splitmix64.c, seed 1234567.
        let mut coins = SplitMix::new(1_234_567);
        let first = [coins.next_u64(), coins.next_u64(), coins.next_u64()];
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn coins_stay_in_range_and_are_fair() {
        let mut coins = SplitMix::stream(7, 3);
        let mut sum = 0.0;
        let mut sides = [0_u32; 6];
        for _ in 0..60_000 {
            let unit = coins.unit();
            assert!((0.0..1.0).contains(&unit));
            sum += unit;
            sides[coins.below(6) as usize] += 1;
        }
        // Five standard deviations: 5 * sqrt(1/12 / 60000) and 5 * sqrt(60000 * 5/36).
        assert!((sum / 60_000.0 - 0.5).abs() < 0.006);
        assert!(sides.iter().all(|&n| n.abs_diff(10_000) < 457), "{sides:?}");
    }

    #[test]
    fn streams_of_one_seed_differ() {
        let first = |stream| SplitMix::stream(1, stream).next_u64();
        assert_ne!(first(0), first(1));
        assert_ne!(first(1), first(2));
    }
}
