//! Times in fixed buckets.

use std::time::Duration;

use super::families::Family;
use super::sample::{Distribution, Sample};
use super::striped::Striped;

/// Upper bounds of the buckets in µs; one more has no bound.
///
/// 1, 2.5, 5 a decade: from what a memory hit takes to what a client still waits for.
pub const BOUNDS_MICROS: [u64; 18] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000,
];

/// Counters of one histogram: the buckets, the one without a bound, and the sum in µs.
pub(super) const COUNTERS: usize = BOUNDS_MICROS.len() + 2;

const SUM: usize = COUNTERS - 1;

/// A histogram of a family without labels.
#[derive(Debug)]
pub struct Histogram {
    family: &'static Family,
    counters: Striped,
}

impl Histogram {
    /// An empty one.
    pub fn new(family: &'static Family) -> Self {
        Self {
            family,
            counters: Striped::new(COUNTERS),
        }
    }

    /// Counts one duration. Two relaxed additions; never waits.
    pub fn record(&self, duration: Duration) {
        record(&self.counters, 0, duration);
    }

    /// What to export.
    pub fn samples(&self) -> Vec<Sample> {
        vec![Sample::new(self.family, read(&self.counters, 0))]
    }
}

/// Counts `duration` in the histogram whose counters begin at `base`.
#[inline]
pub(super) fn record(counters: &Striped, base: usize, duration: Duration) {
    // Rounded up, so that nothing is counted below a bound that it passed.
    let micros = duration
        .as_nanos()
        .div_ceil(1_000)
        .min(u128::from(u64::MAX)) as u64;
    let bucket = BOUNDS_MICROS.partition_point(|bound| *bound < micros);
    counters.add(base + bucket, 1);
    counters.add(base + SUM, micros);
}

/// Reads the histogram whose counters begin at `base`.
pub(super) fn read(counters: &Striped, base: usize) -> Distribution {
    let bounds = BOUNDS_MICROS.iter().map(|micros| seconds(*micros));
    let bounds = bounds.chain([f64::INFINITY]).enumerate();
    Distribution {
        sum_seconds: seconds(counters.sum(base + SUM)),
        buckets: bounds
            .map(|(at, bound)| (bound, counters.sum(base + at)))
            .collect(),
    }
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_its_own_bucket() {
        let cases = [
            (Duration::ZERO, 0),
            (Duration::from_micros(100), 0),
            (Duration::from_nanos(100_001), 1),
            (Duration::from_micros(250), 1),
            (Duration::from_secs(60), 17),
            (Duration::from_secs(61), 18),
            (Duration::MAX, 18),
        ];
        for (duration, bucket) in cases {
            let counters = Striped::new(COUNTERS);
            record(&counters, 0, duration);
            let seen = read(&counters, 0);
            let found = seen.buckets.iter().position(|(_, count)| *count == 1);
            assert_eq!(found, Some(bucket), "{duration:?}");
            assert_eq!(seen.count(), 1);
        }
    }

    #[test]
    fn bounds_grow_and_the_sum_is_in_seconds() {
        assert!(BOUNDS_MICROS.is_sorted_by(|a, b| a < b));
        let counters = Striped::new(COUNTERS);
        record(&counters, 0, Duration::from_millis(1_500));
        record(&counters, 0, Duration::from_millis(250));
        let seen = read(&counters, 0);
        assert_eq!(seen.sum_seconds, 1.75);
        assert_eq!(seen.buckets.last(), Some(&(f64::INFINITY, 0)));
    }
}
