//! `[cache]`: what is kept, and for how long, where the origin does not say.

use std::time::Duration;

use super::document::Section;
use super::value;

/// What is kept, and for how long, where the origin does not say.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheConfig {
    /// Bytes of the largest body that is kept; larger ones stream through.
    pub object_bytes_max: u64,
    /// Longest lifetime by heuristic (RFC 9111 section 4.2.2).
    pub heuristic_max: Duration,
    /// Lifetime by heuristic, as a share of the time since `Last-Modified`.
    pub heuristic_fraction: f64,
    /// How long a request waits for another one's response head before it asks by itself.
    pub collapse_wait: Duration,
    /// Whether responses with `Set-Cookie` may be kept.
    pub set_cookie: bool,
    /// How long past its lifetime an object answers for a failing origin that did not say so itself
    /// (`stale-if-error`, RFC 5861); zero is never.
    pub stale_on_error: Duration,
    /// How long it is remembered that a key cannot be kept, so that its requests do not queue.
    pub hit_for_miss: Duration,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self {
            object_bytes_max: 16 << 30,
            heuristic_max: Duration::from_secs(86_400),
            heuristic_fraction: 0.1,
            collapse_wait: Duration::from_secs(5),
            set_cookie: false,
            stale_on_error: Duration::ZERO,
            hit_for_miss: Duration::from_secs(120),
        }
    }
}

impl CacheConfig {
    pub(super) fn read(section: &mut Section<'_, '_>) -> Self {
        /// The longest lifetime: 365 days, RFC 2616's advice, which RFC 9111 no longer repeats.
        const YEAR: Duration = Duration::from_secs(365 * 86_400);
        let d = Self::default();
        let up_to = |longest| value::duration(Duration::ZERO..=longest);
        Self {
            object_bytes_max: section.get(
                "object_size_max",
                d.object_bytes_max,
                value::size(1 << 10..=1 << 40),
            ),
            heuristic_max: section.get("heuristic_max", d.heuristic_max, up_to(YEAR)),
            heuristic_fraction: section.get(
                "heuristic_fraction",
                d.heuristic_fraction,
                value::fraction,
            ),
            collapse_wait: section.get(
                "collapse_wait",
                d.collapse_wait,
                up_to(Duration::from_secs(300)),
            ),
            set_cookie: section.get("set_cookie", d.set_cookie, value::boolean),
            stale_on_error: section.get("stale_on_error", d.stale_on_error, up_to(YEAR)),
            hit_for_miss: section.get(
                "hit_for_miss",
                d.hit_for_miss,
                up_to(Duration::from_secs(3600)),
            ),
        }
    }
}
