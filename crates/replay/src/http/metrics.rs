//! What did the target itself count? Its Prometheus page, before and after.

use std::{io, time::Duration};

use http::StatusCode;
use http_body_util::{BodyExt, Limited};
use tokio::time::timeout;

use super::{dial::Dialer, target::Target};

/// Largest page, in bytes. A page with bounded labels has some 100 KiB.
const PAGE_BYTES_MAX: usize = 8 << 20;

/// How long reading the page may take: a page that is slower says nothing of the moment.
const PAGE_LIMIT: Duration = Duration::from_secs(5);

/// The two counters of interest at one moment; `None` if the page does not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counters {
    pub(super) origin_requests: Option<u64>,
    pub(super) ssd_written_bytes: Option<u64>,
}

/// Why the page could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum MetricsError {
    #[error("no connection: {0}")]
    Connect(io::Error),
    #[error("the connection failed: {0}")]
    Connection(hyper::Error),
    #[error("expected status 200, found {}", .0.as_u16())]
    Status(StatusCode),
    #[error("the page did not come whole within {PAGE_BYTES_MAX} bytes: {0}")]
    Body(Box<dyn std::error::Error + Send + Sync>),
    #[error("the page took longer than {PAGE_LIMIT:?}")]
    Slow,
}

/// Reads the page once.
pub(super) async fn read(page: &Target) -> Result<Counters, MetricsError> {
    let text = timeout(PAGE_LIMIT, fetch(page))
        .await
        .map_err(|_| MetricsError::Slow)??;
    Ok(Counters::parse(&text))
}

async fn fetch(page: &Target) -> Result<String, MetricsError> {
    let dialer = Dialer::new(page.clone(), Duration::ZERO, PAGE_LIMIT);
    let mut sender = dialer.dial().await.map_err(MetricsError::Connect)?;
    let answer = sender
        .send_request(page.request(""))
        .await
        .map_err(MetricsError::Connection)?;
    if answer.status() != StatusCode::OK {
        return Err(MetricsError::Status(answer.status()));
    }
    let body = Limited::new(answer.into_body(), PAGE_BYTES_MAX)
        .collect()
        .await;
    let bytes = body.map_err(MetricsError::Body)?.to_bytes();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Counters {
    fn parse(text: &str) -> Self {
        Self {
            origin_requests: sum(text, "larder_origin_requests_total"),
            ssd_written_bytes: sum(text, "larder_ssd_written_bytes_total"),
        }
    }

    /// What was counted since `before`. `None` where a counter is missing now or went back, as
    /// after a restart; one that was missing before stood at zero.
    pub(super) fn since(&self, before: &Self) -> Self {
        let grown = |now: Option<u64>, before: Option<u64>| now?.checked_sub(before.unwrap_or(0));
        Self {
            origin_requests: grown(self.origin_requests, before.origin_requests),
            ssd_written_bytes: grown(self.ssd_written_bytes, before.ssd_written_bytes),
        }
    }
}

/// The sum of a counter over its labels, in the Prometheus text form or OpenMetrics.
fn sum(page: &str, name: &str) -> Option<u64> {
    let values = page
        .lines()
        .filter_map(|line| value(line.strip_prefix(name)?));
    // Counters are floats on the page; these count whole things.
    values.reduce(|a, b| a + b).map(|sum| sum as u64)
}

/// The value in what follows a name: `{labels} value …` or ` value …`.
fn value(rest: &str) -> Option<f64> {
    let (sample, _exemplar) = rest.split_once(" # ").unwrap_or((rest, ""));
    let after_labels = match sample.strip_prefix('{') {
        Some(labels) => labels.rsplit_once('}')?.1,
        None => sample,
    };
    let value = after_labels
        .strip_prefix(' ')?
        .split(' ')
        .next()?
        .parse::<f64>()
        .ok()?;
    (value.is_finite() && value >= 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_summed_over_their_labels() {
        let page = "\
# TYPE larder_origin_requests counter
larder_origin_requests_total{code=\"2xx\",site=\"a}b\"} 40
larder_origin_requests_total{code=\"5xx\"} 2.0 1700000000
larder_origin_requests_total_other 7
larder_ssd_written_bytes_total 1.5e3 # {trace=\"x\"} 1
# EOF
";
        let after = Counters::parse(page);
        assert_eq!(
            (after.origin_requests, after.ssd_written_bytes),
            (Some(42), Some(1500))
        );
        let before = Counters::parse("larder_origin_requests_total 2\n");
        let grown = after.since(&before);
        assert_eq!(
            (grown.origin_requests, grown.ssd_written_bytes),
            (Some(40), Some(1500))
        );
        let restarted = before.since(&after);
        assert_eq!(
            (restarted.origin_requests, restarted.ssd_written_bytes),
            (None, None)
        );
    }
}
