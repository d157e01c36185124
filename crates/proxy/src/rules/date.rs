//! What time does an HTTP date mean? (RFC 9110 §5.6.7, RFC 9111 §4.2)

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderValue;
use http::header::{AsHeaderName, HeaderMap};
use httpdate::HttpDate;

/// A point in time, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

/// Longest text that can be a date, in bytes: the RFC 850 form of a Wednesday has 33.
const DATE_BYTES_MAX: usize = 40;

/// The last second that the four-digit year of an HTTP date can express, 9999-12-31T23:59:59Z.
const DATE_SECS_MAX: u64 = 253_402_300_799;

impl Millis {
    /// The start of second `secs` since the epoch.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1000))
    }

    /// Whole seconds since the epoch, rounded down.
    pub const fn as_secs(self) -> u64 {
        self.0 / 1000
    }

    /// Milliseconds from `earlier` to `self`; 0 when a clock went backwards.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl From<SystemTime> for Millis {
    fn from(time: SystemTime) -> Self {
        let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Reads an HTTP date in any of its three forms; `None` when it is not one.
///
/// Letters match in any case, as RFC 9111 §4.2 asks of a cache; zones other than GMT, missing
/// commas, one-digit hours and the like are invalid. A two-digit year below 70 is of this century.
pub fn parse(value: &[u8]) -> Option<Millis> {
    let mut buffer = [0; DATE_BYTES_MAX];
    let text = buffer.get_mut(..value.len())?;
    text.copy_from_slice(value);
    canonical_case(text);
    let date: HttpDate = std::str::from_utf8(text).ok()?.parse().ok()?;
    Some(Millis::from(SystemTime::from(date)))
}

/// Writes `time` as an IMF-fixdate; times beyond the year 9999 become its last second.
pub fn format(time: Millis) -> HeaderValue {
    let secs = time.as_secs().min(DATE_SECS_MAX);
    let text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(secs));
    HeaderValue::try_from(text).expect("invariant: an IMF-fixdate is visible ASCII")
}

/// The time in field `name`: `None` when it is absent, malformed, or said twice with different
/// values.
pub(crate) fn field(headers: &HeaderMap, name: impl AsHeaderName) -> Option<Millis> {
    let mut lines = headers.get_all(name).iter();
    let first = lines.next()?;
    if lines.any(|line| line != first) {
        return None;
    }
    parse(first.as_bytes())
}

/// `THU, 18 aug` → `Thu, 18 Aug`, and the zone in capitals.
fn canonical_case(text: &mut [u8]) {
    for word in text.split_mut(|byte| !byte.is_ascii_alphabetic()) {
        if word.eq_ignore_ascii_case(b"gmt") {
            word.make_ascii_uppercase();
        } else if let Some((first, rest)) = word.split_first_mut() {
            first.make_ascii_uppercase();
            rest.make_ascii_lowercase();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_every_form_and_case() {
        const NOV_6: Option<u64> = Some(784_111_777);
        let table: &[(&str, Option<u64>)] = &[
            ("Sun, 06 Nov 1994 08:49:37 GMT", NOV_6),
            ("Sunday, 06-Nov-94 08:49:37 GMT", NOV_6),
            ("Sun Nov  6 08:49:37 1994", NOV_6),
            ("SUN, 06 Nov 1994 08:49:37 GMT", NOV_6),
            ("sun, 06 NOV 1994 08:49:37 gMT", NOV_6),
            ("sunday, 06-nov-94 08:49:37 gmt", NOV_6),
            ("sun nov  6 08:49:37 1994", NOV_6),
            ("Thu, 18 Aug 2050 02:01:18 GMT", Some(2_544_400_878)),
            ("Thursday, 18-Aug-50 02:01:18 GMT", Some(2_544_400_878)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Thu, 18 Aug 2050 02:01:18 UTC", None),
            ("Thu, 18 Aug 2050 02:01:18 +0000", None),
            ("Thu, 18 Aug 50 02:01:18 GMT", None),
            ("Thu 18 Aug 2050 02:01:18 GMT", None),
            ("Thu, 18  Aug  2050 02:01:18 GMT", None),
            ("Thu, 18-Aug-2050 02:01:18 GMT", None),
            ("Thu, 18 Aug 2050 02.01.18 GMT", None),
            ("Thu, 18 Aug 2050 2:01:18 GMT", None),
            ("Thu, 18 Aug 2050 25:01:18 GMT", None),
            ("Thu, 31 Feb 2050 02:01:18 GMT", None),
            ("Fri, 18 Aug 2050 02:01:18 GMT", None),
            ("Sunday, 06-Nov-94 08:49:37", None),
            (
                "Thu, 18 Aug 2050 02:01:18 GMT and then some more text",
                None,
            ),
            ("0", None),
            ("-1", None),
            ("", None),
            ("\u{fc}", None),
        ];
        for (text, expected) in table {
            assert_eq!(
                parse(text.as_bytes()).map(Millis::as_secs),
                *expected,
                "{text}"
            );
        }
    }

    #[test]
    fn every_length_of_every_form_is_read_without_panic() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
        ] {
            for end in 0..text.len() {
                assert_eq!(
                    parse(&text.as_bytes()[..end]),
                    None,
                    "{end} bytes of {text}"
                );
            }
        }
    }

    #[test]
    fn dates_are_written_and_clamped() {
        assert_eq!(
            format(Millis(784_111_777_999)),
            "Sun, 06 Nov 1994 08:49:37 GMT"
        );
        assert_eq!(format(Millis(u64::MAX)), "Fri, 31 Dec 9999 23:59:59 GMT");
        assert_eq!(
            parse(format(Millis::from_secs(1_000_000_000)).as_bytes()),
            Some(Millis(1_000_000_000_000))
        );
    }

    #[test]
    fn two_different_lines_are_no_date() {
        let mut headers = HeaderMap::new();
        let date = format(Millis(784_111_777_000));
        headers.append("expires", date.clone());
        headers.append("expires", date);
        assert_eq!(field(&headers, "expires"), Some(Millis(784_111_777_000)));
        headers.append("expires", HeaderValue::from_static("0"));
        assert_eq!(field(&headers, "expires"), None);
    }
}
