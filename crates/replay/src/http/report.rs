//! The result of a replay, as JSON and as a table.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// What a replay has found.
///
/// Errors are among `requests`, but their bytes, hits and times are in no other count; wrong bytes
/// alone make no error. Ratios without anything to divide by are 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Requests sent.
    pub requests: u64,
    /// Of these, those not answered with 200 and as many bytes as the object has.
    pub errors: u64,
    /// Errors by kind: `connect`, `connection`, `status`, `wrong-length`, `early-end`, `stalled`.
    pub errors_by: BTreeMap<String, u64>,
    /// Body bytes that are not those of the object asked for.
    pub wrong_bytes: u64,
    /// Requests that the target's cache answered.
    pub hits: u64,
    /// Body bytes received.
    pub bytes: u64,
    /// Of these, those of hits.
    pub hit_bytes: u64,
    /// `hits / requests`
    pub object_hit_ratio: f64,
    /// `hit_bytes / bytes`
    pub byte_hit_ratio: f64,
    /// What a cache without bounds would have had of the same requests; `None` if the trace has
    /// more objects than are tracked ([`OBJECTS_TRACKED_MAX`](super::OBJECTS_TRACKED_MAX)).
    pub infinite_object_hit_ratio: Option<f64>,
    /// The same of the bytes asked for.
    pub infinite_byte_hit_ratio: Option<f64>,
    /// Hits by tier, as the target names them; `ram` and `ssd` are always there.
    pub tiers: BTreeMap<String, u64>,
    /// Requests that waited for another one's fetch.
    pub collapsed: u64,
    /// Requests by elapsed time.
    pub requests_per_s: f64,
    /// Body bytes by elapsed time, in 10^6 bytes per second.
    pub mb_per_s: f64,
    /// From the request's beginning to the last body byte, in microseconds.
    pub latency_us: LatencyUs,
    /// From the request's beginning to the answer's head, in microseconds.
    pub ttfb_us: LatencyUs,
    /// Requests of the trace that were too large to be sent.
    pub skipped: u64,
    /// Kept connections that the target closed before it answered a request on them.
    pub reconnects: u64,
    /// From the first request to the last answer, in seconds.
    pub elapsed_s: f64,
    /// By how much the target's `larder_origin_requests_total` grew, if that could be read.
    pub origin_requests: Option<u64>,
    /// By how much the target's `larder_ssd_written_bytes_total` grew, if that could be read.
    pub ssd_written_bytes: Option<u64>,
}

/// Quantiles of a time, in microseconds, with three significant digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyUs {
    /// Median.
    pub p50: u64,
    /// 90%
    pub p90: u64,
    /// 99%
    pub p99: u64,
    /// 99.9%
    pub p999: u64,
    /// The longest.
    pub max: u64,
}

impl Report {
    /// One JSON object on one line, without the line's end.
    pub fn to_json(&self) -> String {
        // Numbers and maps with text for keys always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Report {
    /// What the target counted, as far as that is known.
    fn fmt_target_counters(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(requests) = self.origin_requests {
            write!(f, "\norigin requests    {requests}")?;
        }
        if let Some(bytes) = self.ssd_written_bytes {
            write!(f, "\nssd written        {bytes} bytes")?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            requests,
            errors,
            wrong_bytes,
            skipped,
            reconnects,
            ..
        } = self;
        writeln!(
            f,
            "requests           {requests} ({errors} errors, {wrong_bytes} wrong bytes)"
        )?;
        if !self.errors_by.is_empty() {
            writeln!(f, "errors             {}", counts(&self.errors_by))?;
        }
        writeln!(f, "skipped            {skipped}")?;
        writeln!(f, "reconnects         {reconnects}")?;
        let (object, byte) = (self.object_hit_ratio, self.byte_hit_ratio);
        let infinite = bounded(self.infinite_object_hit_ratio);
        writeln!(
            f,
            "object hit ratio   {object:.4} (infinite cache {infinite})"
        )?;
        let infinite = bounded(self.infinite_byte_hit_ratio);
        writeln!(
            f,
            "byte hit ratio     {byte:.4} (infinite cache {infinite})"
        )?;
        writeln!(f, "hits by tier       {}", counts(&self.tiers))?;
        writeln!(f, "collapsed          {}", self.collapsed)?;
        let (rate, mb, elapsed) = (self.requests_per_s, self.mb_per_s, self.elapsed_s);
        writeln!(
            f,
            "throughput         {rate:.1} requests/s, {mb:.1} MB/s in {elapsed:.2} s"
        )?;
        writeln!(f, "latency (us)       {}", self.latency_us)?;
        write!(f, "first byte (us)    {}", self.ttfb_us)?;
        self.fmt_target_counters(f)
    }
}

impl fmt::Display for LatencyUs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            p50,
            p90,
            p99,
            p999,
            max,
        } = self;
        write!(
            f,
            "p50 {p50}, p90 {p90}, p99 {p99}, p99.9 {p999}, max {max}"
        )
    }
}

fn counts(counts: &BTreeMap<String, u64>) -> String {
    let parts: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    parts.join(", ")
}

fn bounded(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "unknown".to_owned(), |ratio| format!("{ratio:.4}"))
}
