//! What each answered request adds: one count, its bytes, its time.

use std::time::Duration;

use super::families::{REQUEST_SECONDS, REQUESTS, RESPONSE_BYTES};
use super::histogram;
use super::sample::Sample;
use super::striped::Striped;

/// Counters of answered requests by (decision, tier).
///
/// One block of counters per stripe, in this order:
///
/// ```text
/// | requests: decisions x tiers | bytes: tiers | seconds: decisions x histogram |
/// ```
#[derive(Debug)]
pub struct RequestCounters {
    decisions: &'static [&'static str],
    tiers: &'static [&'static str],
    counters: Striped,
}

impl RequestCounters {
    /// Counters at zero. The positions in the two lists of names are the indexes of
    /// [`record`](Self::record).
    pub fn new(decisions: &'static [&'static str], tiers: &'static [&'static str]) -> Self {
        let (d, t) = (decisions.len(), tiers.len());
        Self {
            decisions,
            tiers,
            counters: Striped::new(d * t + t + d * histogram::COUNTERS),
        }
    }

    /// Counts an answered request: `bytes` of body sent, `duration` from the head of the request
    /// to the last byte of the answer. Four relaxed additions; never waits, allocates nothing.
    /// An index beyond its names counts nothing.
    #[inline]
    pub fn record(&self, decision: usize, tier: usize, bytes: u64, duration: Duration) {
        if decision >= self.decisions.len() || tier >= self.tiers.len() {
            return;
        }
        self.counters.add(self.requests_at(decision, tier), 1);
        self.counters.add(self.bytes_at(tier), bytes);
        histogram::record(&self.counters, self.seconds_at(decision), duration);
    }

    /// What to export. Pairs of decision and tier that never were are left out: most cannot be.
    pub fn samples(&self) -> Vec<Sample> {
        let mut samples = Vec::new();
        for (d, decision) in self.decisions.iter().enumerate() {
            for (t, tier) in self.tiers.iter().enumerate() {
                let requests = self.counters.sum(self.requests_at(d, t));
                if requests > 0 {
                    samples.push(Sample::labelled(&REQUESTS, &[decision, tier], requests));
                }
            }
            let seconds = histogram::read(&self.counters, self.seconds_at(d));
            if seconds.count() > 0 {
                samples.push(Sample::labelled(&REQUEST_SECONDS, &[decision], seconds));
            }
        }
        for (t, tier) in self.tiers.iter().enumerate() {
            let bytes = self.counters.sum(self.bytes_at(t));
            samples.push(Sample::labelled(&RESPONSE_BYTES, &[tier], bytes));
        }
        samples
    }

    fn requests_at(&self, decision: usize, tier: usize) -> usize {
        decision * self.tiers.len() + tier
    }

    fn bytes_at(&self, tier: usize) -> usize {
        self.decisions.len() * self.tiers.len() + tier
    }

    fn seconds_at(&self, decision: usize) -> usize {
        self.bytes_at(self.tiers.len()) + decision * histogram::COUNTERS
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::Value;
    use super::*;

    const DECISIONS: [&str; 3] = ["hit", "miss", "pass"];
    const TIERS: [&str; 2] = ["ram", "origin"];

    fn integer(samples: &[Sample], name: &str, labels: &[&str]) -> Option<u64> {
        let named = |s: &&Sample| s.family.name() == name && *s.labels == *labels;
        match samples.iter().find(named)?.value {
            Value::Integer(value) => Some(value),
            _ => None,
        }
    }

    #[test]
    fn requests_bytes_and_seconds_keep_apart() {
        let counters = RequestCounters::new(&DECISIONS, &TIERS);
        for decision in 0..DECISIONS.len() {
            for tier in 0..TIERS.len() {
                let times = decision * 2 + tier;
                let time = Duration::from_secs(1 << decision);
                (0..times).for_each(|_| counters.record(decision, tier, 100, time));
            }
        }
        let samples = counters.samples();
        let requests = "larder_requests_total";
        assert_eq!(integer(&samples, requests, &["hit", "ram"]), None);
        assert_eq!(integer(&samples, requests, &["hit", "origin"]), Some(1));
        assert_eq!(integer(&samples, requests, &["miss", "ram"]), Some(2));
        assert_eq!(integer(&samples, requests, &["pass", "origin"]), Some(5));
        let bytes = "larder_response_bytes_total";
        assert_eq!(integer(&samples, bytes, &["ram"]), Some(600));
        assert_eq!(integer(&samples, bytes, &["origin"]), Some(900));
        let seconds = samples.iter().filter_map(|s| match &s.value {
            Value::Distribution(d) => Some((s.labels[0], d.count(), d.sum_seconds)),
            _ => None,
        });
        let seconds: Vec<_> = seconds.collect();
        assert_eq!(
            seconds,
            [("hit", 1, 1.0), ("miss", 5, 10.0), ("pass", 9, 36.0)]
        );
    }

    #[test]
    fn an_unknown_index_counts_nothing() {
        let counters = RequestCounters::new(&DECISIONS, &TIERS);
        counters.record(DECISIONS.len(), 0, 1, Duration::ZERO);
        counters.record(0, TIERS.len(), 1, Duration::ZERO);
        let bytes = counters.samples();
        assert_eq!(bytes.len(), TIERS.len());
        assert!(bytes.iter().all(|s| s.value == Value::Integer(0)));
    }
}
