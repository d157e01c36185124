//! Counters that many threads add to at once: a copy for every few threads, summed when read.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use crossbeam_utils::CachePadded;

/// Counters in a line. A padded line is 128 bytes on x86-64 and aarch64 (two cache lines, for the
/// prefetcher takes them in pairs), which sixteen counters fill.
const LINE_COUNTERS: usize = 16;

/// More copies than this save no time that a scrape and the memory would not lose again.
const STRIPES_MAX: usize = 16;

/// `len` counters, `stripes` times.
///
/// The threads share the stripes evenly, so that two threads seldom write to one line.
#[derive(Debug)]
pub(super) struct Striped {
    lines: Box<[Line]>,
    lines_per_stripe: usize,
    stripes: usize,
}

type Line = CachePadded<[AtomicU64; LINE_COUNTERS]>;

impl Striped {
    /// `len` counters at zero.
    pub(super) fn new(len: usize) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self::with_stripes(len, cores.min(STRIPES_MAX))
    }

    fn with_stripes(len: usize, stripes: usize) -> Self {
        let lines_per_stripe = len.div_ceil(LINE_COUNTERS);
        let lines = (0..lines_per_stripe * stripes).map(|_| Line::default());
        Self {
            lines: lines.collect(),
            lines_per_stripe,
            stripes,
        }
    }

    /// Adds to the counter at `index`; an index beyond the end adds nothing.
    #[inline]
    pub(super) fn add(&self, index: usize, count: u64) {
        if let Some(counter) = self.counter(thread_number() % self.stripes, index) {
            counter.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// The counter at `index`, as far as other threads' additions have arrived; wraps at 2^64.
    pub(super) fn sum(&self, index: usize) -> u64 {
        let counters = (0..self.stripes).filter_map(|stripe| self.counter(stripe, index));
        counters.fold(0, |sum, c| sum.wrapping_add(c.load(Ordering::Relaxed)))
    }

    fn counter(&self, stripe: usize, index: usize) -> Option<&AtomicU64> {
        let line = index / LINE_COUNTERS;
        if line >= self.lines_per_stripe {
            return None;
        }
        let line = self.lines.get(stripe * self.lines_per_stripe + line)?;
        line.get(index % LINE_COUNTERS)
    }
}

/// A number for the calling thread: the n-th that ever counted has n.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_among_threads() {
        const THREADS: u64 = 8;
        const ADDITIONS: u64 = 10_000;
        for stripes in [1, 3, 16] {
            let counters = Striped::with_stripes(20, stripes);
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| (0..ADDITIONS).for_each(|n| counters.add((n % 20) as usize, 2)));
                }
            });
            let sums = (0..20).map(|index| counters.sum(index));
            assert!(
                sums.into_iter()
                    .all(|sum| sum == 2 * THREADS * ADDITIONS / 20)
            );
        }
    }

    #[test]
    fn an_index_beyond_the_end_does_nothing() {
        let counters = Striped::with_stripes(LINE_COUNTERS, 2);
        counters.add(LINE_COUNTERS, 1);
        counters.add(usize::MAX, 1);
        assert_eq!(
            (0..100).map(|index| counters.sum(index)).max(),
            Some(0),
            "no other counter moved"
        );
    }
}
