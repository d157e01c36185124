//! How does an answer say what the cache did? (RFC 9211)

use std::collections::HashSet;

use http::StatusCode;
use http::header::CACHE_STATUS;
use larder::rules::cache_status::{CacheStatus, Fwd, KEY_BYTES_MAX};
use larder::rules::cacheable::NoStore;
use larder::rules::decide::Reason;
use larder::rules::detail::Detail;
use larder::rules::normalize::BadRequest;
use larder::rules::pseudonym::Pseudonym;
use larder::rules::via::Loop;
use proptest::prelude::*;
use sfv::{KeyRef, ListSerializer, StringRef, TokenRef};

use super::headers;

fn own(name: &str) -> Pseudonym {
    Pseudonym::new(name).unwrap()
}

fn text(status: &CacheStatus<'_>) -> String {
    status.to_value(&own("larder")).to_str().unwrap().to_owned()
}

const NOTHING: CacheStatus<'static> = CacheStatus {
    hit: false,
    fwd: None,
    fwd_status: None,
    ttl: None,
    stored: false,
    collapsed: false,
    key: None,
    detail: None,
};

#[track_caller]
fn says(table: &[(CacheStatus<'_>, &str)]) {
    for (status, expected) in table {
        assert_eq!(text(status), *expected);
    }
}

#[test]
fn hits() {
    let hit = CacheStatus {
        hit: true,
        ..NOTHING
    };
    let ram = Some(Detail::Ram);
    assert_eq!(NOTHING, CacheStatus::default());
    says(&[
        (NOTHING, "larder"),
        (
            CacheStatus {
                ttl: Some(376),
                detail: ram,
                ..hit
            },
            "larder;hit;ttl=376;detail=ram",
        ),
        (
            CacheStatus {
                ttl: Some(-412),
                ..hit
            },
            "larder;hit;ttl=-412",
        ),
        (
            CacheStatus {
                fwd: Some(Fwd::Miss),
                ..hit
            },
            "larder;hit",
        ),
    ]);
}

#[test]
fn forwarded_requests() {
    let forwarded = |why| CacheStatus {
        fwd: Some(why),
        ..NOTHING
    };
    let fwd_status = Some(StatusCode::NOT_MODIFIED);
    let detail = Some(NoStore::SetCookie.into());
    says(&[
        (
            CacheStatus {
                stored: true,
                ..forwarded(Fwd::UriMiss)
            },
            "larder;fwd=uri-miss;stored",
        ),
        (
            CacheStatus {
                collapsed: true,
                ..forwarded(Fwd::UriMiss)
            },
            "larder;fwd=uri-miss;collapsed",
        ),
        (
            CacheStatus {
                fwd_status,
                ..forwarded(Fwd::Stale)
            },
            "larder;fwd=stale;fwd-status=304",
        ),
        (
            CacheStatus {
                detail,
                ..forwarded(Fwd::Bypass)
            },
            "larder;fwd=bypass;detail=set-cookie",
        ),
    ]);
}

#[test]
fn keys_are_quoted_or_left_out() {
    let long = "x".repeat(KEY_BYTES_MAX + 1);
    let key = |key| CacheStatus {
        key: Some(key),
        ..NOTHING
    };
    says(&[
        (key("http://a/\"\\"), "larder;key=\"http://a/\\\"\\\\\""),
        (key("\u{fc}"), "larder"),
        (key("a\nb"), "larder"),
        (key(&long), "larder"),
    ]);
}

#[test]
fn lifetimes_stay_in_the_bounds_of_a_structured_field() {
    let ttl = |ttl_s| CacheStatus {
        ttl: Some(ttl_s),
        ..NOTHING
    };
    says(&[
        (ttl(i64::MAX), "larder;ttl=999999999999999"),
        (ttl(i64::MIN), "larder;ttl=-999999999999999"),
    ]);
}

#[test]
fn details_have_the_names_of_decisions() {
    let detail = |detail| CacheStatus {
        detail: Some(detail),
        ..NOTHING
    };
    says(&[
        (
            detail(Reason::RequestMaxAge.into()),
            "larder;detail=request-max-age",
        ),
        (
            detail(BadRequest::HostMissing.into()),
            "larder;detail=host-missing",
        ),
        (detail(Loop::Via.into()), "larder;detail=via-loop"),
    ]);
}

#[test]
fn it_comes_after_what_the_origin_said() {
    let mut fields = headers(&[("cache-status", "shield;hit")]);
    CacheStatus {
        hit: true,
        ..CacheStatus::default()
    }
    .append_to(&mut fields, &own("larder"));
    let lines: Vec<_> = fields.get_all(CACHE_STATUS).iter().collect();
    assert_eq!(lines, ["shield;hit", "larder;hit"]);
}

#[test]
fn details_are_unique_tokens_and_documented() {
    let documented: HashSet<&str> = include_str!("../../../../docs/cache-status.md")
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let mut names = HashSet::new();
    for detail in Detail::all() {
        let name = detail.as_str();
        assert!(TokenRef::from_str(name).is_ok(), "{name} is no token");
        assert!(names.insert(name), "{name} stands for two details");
    }
    assert_eq!(names, documented);
}

/// The same field by the serializer of structured fields.
fn serialized(status: &CacheStatus<'_>, name: &str) -> String {
    let key = |name| KeyRef::from_str(name).unwrap();
    let mut list = ListSerializer::new();
    let item = match TokenRef::from_str(name) {
        Ok(token) => list.bare_item(token),
        Err(_) => list.bare_item(StringRef::from_str(name).unwrap()),
    };
    let item = if status.hit {
        item.parameter(key("hit"), true)
    } else {
        item
    };
    let item = match status.fwd.filter(|_| !status.hit) {
        Some(fwd) => item.parameter(key("fwd"), TokenRef::from_str(fwd.as_str()).unwrap()),
        None => item,
    };
    let item = match status.fwd_status {
        Some(code) => item.parameter(key("fwd-status"), code.as_u16()),
        None => item,
    };
    let item = match status.ttl {
        Some(ttl) => item.parameter(key("ttl"), sfv::Integer::try_from(ttl).unwrap()),
        None => item,
    };
    let item = if status.stored {
        item.parameter(key("stored"), true)
    } else {
        item
    };
    let item = if status.collapsed {
        item.parameter(key("collapsed"), true)
    } else {
        item
    };
    let item = match status.key {
        Some(shown) => item.parameter(key("key"), StringRef::from_str(shown).unwrap()),
        None => item,
    };
    if let Some(detail) = status.detail {
        let _ = item.parameter(key("detail"), TokenRef::from_str(detail.as_str()).unwrap());
    }
    list.finish().unwrap()
}

fn any_fwd() -> impl Strategy<Value = Fwd> {
    prop::sample::select(vec![
        Fwd::Bypass,
        Fwd::Method,
        Fwd::UriMiss,
        Fwd::VaryMiss,
        Fwd::Miss,
        Fwd::Request,
        Fwd::Stale,
        Fwd::Partial,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn it_is_what_a_structured_field_would_be(
        name in "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}",
        (hit, stored, collapsed) in any::<(bool, bool, bool)>(),
        fwd in prop::option::of(any_fwd()),
        code in prop::option::of(100u16..600),
        ttl in prop::option::of(-999_999_999_999_999i64..=999_999_999_999_999),
        key in prop::option::of("[ -~]{0,20}"),
        detail in prop::option::of(prop::sample::select(Detail::all().collect::<Vec<_>>())),
    ) {
        let fwd_status = code.map(|code| StatusCode::from_u16(code).unwrap());
        let key = key.as_deref();
        let status = CacheStatus { hit, fwd, fwd_status, ttl, stored, collapsed, key, detail };
        let value = status.to_value(&own(&name));
        prop_assert_eq!(value.to_str().unwrap(), serialized(&status, &name));
    }
}
