//! What has come back so far, counted.

use std::{collections::BTreeMap, time::Duration};

use hdrhistogram::Histogram;

use super::{
    exchange::Received,
    feed::Job,
    progress::Snapshot,
    report::{LatencyUs, Report},
};

/// Names of tiers that are told apart; the hits of further ones are those of [`OTHER_TIER`].
const TIERS_MAX: usize = 16;

/// Where hits without a tier, or of one tier too many, are counted.
const OTHER_TIER: &str = "other";

/// Longest latency told apart: an hour, far beyond any stall limit. Longer ones count as this.
const LATENCY_US_MAX: u64 = 3_600_000_000;

/// Significant digits of a latency: an error below 0.1%, 190 KiB a histogram.
const LATENCY_DIGITS: u8 = 3;

/// Counts of a run.
#[derive(Debug)]
pub(super) struct Tally {
    requests: u64,
    requested_bytes: u64,
    errors_by: BTreeMap<&'static str, u64>,
    wrong_bytes: u64,
    bytes: u64,
    hits: u64,
    hit_bytes: u64,
    infinite: Option<Infinite>,
    tiers: BTreeMap<String, u64>,
    collapsed: u64,
    reconnects: u64,
    latency: Histogram<u64>,
    ttfb: Histogram<u64>,
}

/// What an infinite cache would have had.
#[derive(Clone, Copy, Debug, Default)]
struct Infinite {
    hits: u64,
    hit_bytes: u64,
}

impl Tally {
    pub(super) fn new() -> Self {
        let histogram = || {
            Histogram::new_with_bounds(1, LATENCY_US_MAX, LATENCY_DIGITS)
                .expect("invariant: the bounds are in order and the digits are at most 5")
        };
        Self {
            requests: 0,
            requested_bytes: 0,
            errors_by: BTreeMap::new(),
            wrong_bytes: 0,
            bytes: 0,
            hits: 0,
            hit_bytes: 0,
            infinite: Some(Infinite::default()),
            // Always there, so that a reader of the report need not ask.
            tiers: ["ram", "ssd"].map(|tier| (tier.to_owned(), 0)).into(),
            collapsed: 0,
            reconnects: 0,
            latency: histogram(),
            ttfb: histogram(),
        }
    }

    /// Counts one request. An error counts as a request and its wrong bytes as wrong; its other
    /// bytes and its hit do not count.
    pub(super) fn add(&mut self, job: &Job, received: &Received, reconnects: u64) {
        self.requests += 1;
        self.requested_bytes += job.request.size_bytes;
        self.reconnects += reconnects;
        self.wrong_bytes += received.wrong_bytes;
        self.infinite = self.infinite.zip(job.seen).map(|(mut infinite, seen)| {
            infinite.hits += u64::from(seen);
            infinite.hit_bytes += if seen { job.request.size_bytes } else { 0 };
            infinite
        });
        if let Some(fault) = &received.fault {
            *self.errors_by.entry(fault.as_str()).or_default() += 1;
            return;
        }
        self.bytes += received.bytes;
        self.collapsed += u64::from(received.cache.collapsed);
        self.latency.saturating_record(micros(received.latency));
        self.ttfb.saturating_record(micros(received.ttfb));
        if received.cache.hit {
            self.hits += 1;
            self.hit_bytes += received.bytes;
            self.add_tier(received.cache.tier.as_deref().unwrap_or(OTHER_TIER));
        }
    }

    fn add_tier(&mut self, tier: &str) {
        let known = self.tiers.contains_key(tier) || self.tiers.len() < TIERS_MAX;
        let tier = if known { tier } else { OTHER_TIER };
        *self.tiers.entry(tier.to_owned()).or_default() += 1;
    }

    fn errors(&self) -> u64 {
        self.errors_by.values().sum()
    }

    pub(super) fn snapshot(&self, elapsed: Duration) -> Snapshot {
        Snapshot {
            requests: self.requests,
            errors: self.errors(),
            wrong_bytes: self.wrong_bytes,
            hits: self.hits,
            bytes: self.bytes,
            elapsed,
        }
    }

    /// The report of a run that took `elapsed`.
    pub(super) fn report(&self, elapsed: Duration) -> Report {
        let elapsed_s = elapsed.as_secs_f64();
        let infinite = |part: fn(&Infinite) -> u64, of| {
            self.infinite
                .as_ref()
                .map(|infinite| ratio(part(infinite) as f64, of as f64))
        };
        let errors_by = self
            .errors_by
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count));
        Report {
            requests: self.requests,
            errors: self.errors(),
            errors_by: errors_by.collect(),
            wrong_bytes: self.wrong_bytes,
            hits: self.hits,
            bytes: self.bytes,
            hit_bytes: self.hit_bytes,
            object_hit_ratio: ratio(self.hits as f64, self.requests as f64),
            byte_hit_ratio: ratio(self.hit_bytes as f64, self.bytes as f64),
            infinite_object_hit_ratio: infinite(|infinite| infinite.hits, self.requests),
            infinite_byte_hit_ratio: infinite(|infinite| infinite.hit_bytes, self.requested_bytes),
            tiers: self.tiers.clone(),
            collapsed: self.collapsed,
            requests_per_s: ratio(self.requests as f64, elapsed_s),
            mb_per_s: ratio(self.bytes as f64 / 1e6, elapsed_s),
            latency_us: percentiles(&self.latency),
            ttfb_us: percentiles(&self.ttfb),
            skipped: 0,
            reconnects: self.reconnects,
            elapsed_s,
            origin_requests: None,
            ssd_written_bytes: None,
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn percentiles(histogram: &Histogram<u64>) -> LatencyUs {
    LatencyUs {
        p50: histogram.value_at_quantile(0.5),
        p90: histogram.value_at_quantile(0.9),
        p99: histogram.value_at_quantile(0.99),
        p999: histogram.value_at_quantile(0.999),
        max: histogram.max(),
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use crate::{
        http::{cache_status::CacheAnswer, exchange::Fault},
        trace::Request,
    };

    use super::*;

    fn job(size_bytes: u64, seen: Option<bool>) -> Job {
        let request = Request {
            timestamp_s: 0.0,
            id: 1,
            size_bytes,
        };
        Job { request, seen }
    }

    fn received(bytes: u64, tier: Option<&str>) -> Received {
        let cache = CacheAnswer {
            hit: tier.is_some(),
            tier: tier.map(str::to_owned),
            collapsed: false,
        };
        Received {
            bytes,
            cache,
            latency: Duration::from_micros(bytes),
            ..Received::default()
        }
    }

    #[test]
    fn ratios_are_of_what_was_asked_for() {
        let mut tally = Tally::new();
        tally.add(&job(100, Some(false)), &received(100, None), 0);
        tally.add(&job(300, Some(true)), &received(300, Some("ram")), 1);
        let fault = Some(Fault::Status(StatusCode::BAD_GATEWAY));
        let failed = Received {
            fault,
            ..received(0, None)
        };
        tally.add(&job(400, Some(true)), &failed, 0);
        let report = tally.report(Duration::from_secs(2));
        assert_eq!((report.requests, report.errors, report.hits), (3, 1, 1));
        assert_eq!(
            (report.bytes, report.hit_bytes, report.reconnects),
            (400, 300, 1)
        );
        assert_eq!(report.object_hit_ratio, 1.0 / 3.0);
        assert_eq!(report.byte_hit_ratio, 0.75);
        assert_eq!(report.infinite_object_hit_ratio, Some(2.0 / 3.0));
        assert_eq!(report.infinite_byte_hit_ratio, Some(700.0 / 800.0));
        assert_eq!((report.requests_per_s, report.latency_us.max), (1.5, 300));
        assert_eq!(report.errors_by["status"], 1);
    }

    #[test]
    fn tiers_are_bounded_and_the_infinite_cache_can_be_lost() {
        let mut tally = Tally::new();
        for i in 0..100 {
            tally.add(
                &job(1, (i < 50).then_some(true)),
                &received(1, Some(&format!("t{i}"))),
                0,
            );
        }
        let report = tally.report(Duration::from_secs(1));
        assert!(report.tiers.len() <= TIERS_MAX + 1);
        assert_eq!(report.tiers.values().sum::<u64>(), 100);
        assert_eq!(report.infinite_object_hit_ratio, None);
    }
}
