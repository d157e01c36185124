//! Timestamps as text. Seconds are formatted once, however many lines they have.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// What is shown for a time that no calendar has.
const NO_TIME: &str = "-";

/// The last second that was formatted.
#[derive(Debug)]
pub(super) struct Stamps {
    pattern: &'static str,
    second: Option<u64>,
    text: String,
}

impl Stamps {
    /// `21/Nov/2026:13:30:00 +0000`, as Apache's `%t`, in UTC.
    pub(super) fn clf() -> Self {
        Self::new("%d/%b/%Y:%H:%M:%S +0000")
    }

    /// `2026-11-21T13:30:00`: RFC 3339 in UTC, without fraction and zone.
    pub(super) fn rfc3339() -> Self {
        Self::new("%Y-%m-%dT%H:%M:%S")
    }

    fn new(pattern: &'static str) -> Self {
        Self {
            pattern,
            second: None,
            text: String::new(),
        }
    }

    /// The second of `time_ms`, in ms since 1970.
    pub(super) fn second(&mut self, time_ms: u64) -> &str {
        let second = time_ms / 1000;
        if self.second != Some(second) {
            self.text = format(self.pattern, second).unwrap_or_else(|| NO_TIME.to_owned());
            self.second = Some(second);
        }
        &self.text
    }
}

fn format(pattern: &str, second: u64) -> Option<String> {
    let time = Timestamp::from_second(i64::try_from(second).ok()?).ok()?;
    let time = time.to_zoned(TimeZone::UTC);
    jiff::fmt::strtime::format(pattern, &time).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_is_formatted_and_kept() {
        let mut stamps = Stamps::clf();
        assert_eq!(stamps.second(0), "01/Jan/1970:00:00:00 +0000");
        assert_eq!(
            stamps.second(1_795_267_800_123),
            "21/Nov/2026:13:30:00 +0000"
        );
        assert_eq!(
            stamps.second(1_795_267_800_999),
            "21/Nov/2026:13:30:00 +0000"
        );
        assert_eq!(
            stamps.second(1_795_267_801_000),
            "21/Nov/2026:13:30:01 +0000"
        );
        assert_eq!(
            Stamps::rfc3339().second(1_795_267_800_000),
            "2026-11-21T13:30:00"
        );
    }

    #[test]
    fn a_time_beyond_the_calendar_is_shown_as_none() {
        assert_eq!(Stamps::clf().second(u64::MAX), NO_TIME);
    }
}
