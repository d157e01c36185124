//! What does `CDN-Cache-Control` say? (RFC 9213)
//!
//! A structured field, unlike Cache-Control: one error anywhere and the field does not exist.

use http::HeaderMap;
use http::header::CDN_CACHE_CONTROL;
use sfv::{BareItem, Dictionary, ListEntry, Parser};

use super::cache_control::{DELTA_SECS_MAX, ResponseDirectives};
use super::lexer::parse_fields;

/// The directives of a valid, non-empty `CDN-Cache-Control`; `None` sends the caller back to
/// Cache-Control (RFC 9213 §2.1).
///
/// A directive whose value has the wrong type counts as the stricter reading of it: a lifetime as
/// 0 seconds, a restriction as given, a permission as absent.
pub(crate) fn parse(headers: &HeaderMap) -> Option<ResponseDirectives> {
    let mut lines = headers.get_all(CDN_CACHE_CONTROL).iter();
    let first = lines.next()?;
    let mut combined = first.as_bytes().to_vec();
    for line in lines {
        combined.extend_from_slice(b", ");
        combined.extend_from_slice(line.as_bytes());
    }
    let dictionary: Dictionary = Parser::new(&combined).parse().ok()?;
    if dictionary.is_empty() {
        return None;
    }
    let mut parsed = ResponseDirectives {
        targeted: true,
        ..ResponseDirectives::default()
    };
    for (name, value) in &dictionary {
        add(&mut parsed, name.as_str(), value);
    }
    Some(parsed)
}

fn add(parsed: &mut ResponseDirectives, name: &str, value: &ListEntry) {
    match name {
        "no-store" => parsed.no_store = restricts(value),
        "no-cache" => match fields(value) {
            Some(fields) => parsed.withheld.extend(fields),
            None => parsed.no_cache = restricts(value),
        },
        "private" => match fields(value) {
            Some(fields) => parsed.withheld.extend(fields),
            None => parsed.private = restricts(value),
        },
        "public" => parsed.public = permits(value),
        "must-revalidate" => parsed.must_revalidate = restricts(value),
        "proxy-revalidate" => parsed.proxy_revalidate = restricts(value),
        "must-understand" => parsed.must_understand = permits(value),
        "max-age" => parsed.max_age = Some(seconds(value)),
        "s-maxage" => parsed.s_maxage = Some(seconds(value)),
        "stale-while-revalidate" => parsed.stale_while_revalidate = Some(seconds(value)),
        "stale-if-error" => parsed.stale_if_error = Some(seconds(value)),
        _ => {}
    }
}

fn bare(value: &ListEntry) -> Option<&BareItem> {
    match value {
        ListEntry::Item(item) => Some(&item.bare_item),
        ListEntry::InnerList(_) => None,
    }
}

/// Everything but `?0`.
fn restricts(value: &ListEntry) -> bool {
    bare(value).and_then(BareItem::as_boolean) != Some(false)
}

/// Only `?1`, which is what no value at all means.
fn permits(value: &ListEntry) -> bool {
    bare(value).and_then(BareItem::as_boolean) == Some(true)
}

fn seconds(value: &ListEntry) -> u32 {
    let secs = bare(value)
        .and_then(BareItem::as_integer)
        .map_or(0, i64::from);
    u32::try_from(secs.clamp(0, i64::from(DELTA_SECS_MAX))).unwrap_or(0)
}

fn fields(value: &ListEntry) -> Option<super::cache_control::FieldNames> {
    parse_fields(bare(value)?.as_string()?.as_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn with(lines: &[&'static str]) -> ResponseDirectives {
        let mut headers = HeaderMap::new();
        headers.insert("cache-control", HeaderValue::from_static("no-store"));
        for line in lines {
            headers.append("cdn-cache-control", HeaderValue::from_static(line));
        }
        ResponseDirectives::parse(&headers)
    }

    #[test]
    fn a_valid_field_replaces_cache_control() {
        let table: &[(&[&str], Option<u32>)] = &[
            (&["max-age=3600"], Some(3600)),
            (&["max-age=2147483648"], Some(DELTA_SECS_MAX)),
            (&["max-age=99999999999"], Some(DELTA_SECS_MAX)),
            (&["max-age=0"], Some(0)),
            (&["max-age=-5"], Some(0)),
            (&["foobar, max-age=3600"], Some(3600)),
            (&["max-age=3600;param=1"], Some(3600)),
            (&["max-age=1, max-age=2"], Some(2)),
            (&["max-age=1", "no-cache"], Some(1)),
            (&["max-age=\"3600\""], Some(0)),
            (&["max-age=3600.0"], Some(0)),
            (&["max-age=(1 2)"], Some(0)),
            (&["max-age"], Some(0)),
            (&["foo"], None),
        ];
        for (lines, max_age) in table {
            let parsed = with(lines);
            assert!(parsed.targeted && !parsed.no_store, "{lines:?}");
            assert_eq!(parsed.max_age, *max_age, "{lines:?}");
        }
    }

    #[test]
    fn an_invalid_or_empty_field_does_not_exist() {
        let table: &[&[&str]] = &[
            &[],
            &[""],
            &["max-age=10000, &&&&&"],
            &["max-age =100"],
            &["max-age= 100"],
            &["MaX-aGe=3600"],
            &["max-age=3600,"],
            &["max-age=9999999999999999"],
            &["max-age='1'"],
            &["max-age=1", "&"],
            &["no-cache=\"unclosed"],
        ];
        for lines in table {
            let parsed = with(lines);
            assert!(parsed.no_store && !parsed.targeted, "{lines:?}");
        }
    }

    #[test]
    fn flags_and_their_types() {
        assert!(with(&["no-store"]).no_store);
        assert!(with(&["no-store=1"]).no_store);
        assert!(!with(&["no-store=?0"]).no_store);
        assert!(with(&["private"]).private);
        assert!(with(&["no-cache"]).no_cache);
        assert!(with(&["no-cache=(\"a\")"]).no_cache);
        assert!(!with(&["no-cache=\"set-cookie\""]).no_cache);
        assert_eq!(with(&["no-cache=\"set-cookie\""]).withheld.len(), 1);
        assert!(with(&["public"]).public);
        assert!(!with(&["public=1"]).public);
        assert!(with(&["must-revalidate, s-maxage=4"]).must_revalidate);
        assert_eq!(
            with(&["stale-if-error=4, s-maxage=3"]).stale_if_error,
            Some(4)
        );
    }
}
