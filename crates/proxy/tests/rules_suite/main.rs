//! The caching rules, case by case: one file for each question.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says what it expects"
)]

mod cache_status;
mod conditional;
mod decide;
mod fresh;
mod freshen;
mod hop;
mod invalidate;
mod meta;
mod meta_codec;
mod normalize;
mod range;
mod stale;
mod storable;
mod vary;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use larder::meta::StoredMeta;
use larder::rules::cache_control::{RequestDirectives, ResponseDirectives};
use larder::rules::date::{Millis, format};
use larder::rules::fresh::FreshPolicy;

/// When responses arrive: 2001-09-09T01:46:40Z and a half second.
const ARRIVAL: Millis = Millis(1_000_000_000_500);

type Lines<'a> = &'a [(&'a str, &'a str)];

/// Fields; a value `@n` stands for the date `n` seconds after the arrival.
fn headers(lines: Lines<'_>) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in lines {
        let offset_s = value
            .strip_prefix('@')
            .and_then(|offset| offset.parse().ok());
        let value = match offset_s {
            Some(offset_s) => date(offset_s),
            None => HeaderValue::from_bytes(value.as_bytes()).unwrap(),
        };
        map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value);
    }
    map
}

fn date(offset_s: i64) -> HeaderValue {
    format(Millis::from_secs(
        ARRIVAL.as_secs().checked_add_signed(offset_s).unwrap(),
    ))
}

fn request(cache_control: &str) -> RequestDirectives {
    RequestDirectives::parse(&headers(&[("cache-control", cache_control)]))
}

/// A 200 that took no time to come.
fn stored(lines: Lines<'_>) -> StoredMeta {
    stored_as(StatusCode::OK, lines)
}

fn stored_as(status: StatusCode, lines: Lines<'_>) -> StoredMeta {
    let headers = headers(lines);
    let directives = ResponseDirectives::parse(&headers);
    let policy = FreshPolicy::default();
    StoredMeta::from_response(status, &headers, &directives, ARRIVAL, ARRIVAL, &policy).unwrap()
}

/// `secs` after the arrival.
fn after(secs: u64) -> Millis {
    Millis(ARRIVAL.0 + secs * 1000)
}

/// All lines in the order of the map, for comparison.
fn lines_of(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| {
            (
                name.to_string(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        })
        .collect()
}
