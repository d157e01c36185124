//! Is what was written what is read, and does nothing else get through?

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use larder::meta::{Flags, Kind, StoredMeta};
use larder::rules::date::Millis;
use larder::rules::fresh::LifetimeSource;
use larder::rules::vary::VarySpec;
use larder_store::Meta;
use proptest::prelude::*;

use super::{ARRIVAL, lines_of, stored};

fn encoded(meta: &StoredMeta) -> Vec<u8> {
    let mut out = Vec::new();
    meta.encode(&mut out);
    out
}

fn name() -> impl Strategy<Value = HeaderName> {
    prop_oneof![
        prop::sample::select(vec!["etag", "set-cookie", "vary", "x-custom"])
            .prop_map(HeaderName::from_static),
        "[a-z][a-z0-9-]{0,30}".prop_map(|name| name.parse().unwrap()),
    ]
}

fn fields() -> impl Strategy<Value = HeaderMap> {
    let value = prop::collection::vec(prop_oneof![0x20u8..0x7f, 0x80u8..], 0..40)
        .prop_map(|bytes| HeaderValue::from_bytes(&bytes).unwrap());
    prop::collection::vec((name(), value), 0..20).prop_map(|lines| {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(name, value);
        }
        map
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    let spec = prop::collection::vec(name(), 1..5).prop_map(|names| VarySpec::new(names).unwrap());
    prop_oneof![
        Just(Kind::Object),
        (any::<u64>(), spec).prop_map(|(generation, spec)| Kind::VaryIndex { generation, spec }),
    ]
}

fn meta() -> impl Strategy<Value = StoredMeta> {
    let times = (0u64..1 << 62, 0u64..1 << 62, any::<u64>());
    let seconds = (any::<u32>(), any::<u32>(), prop::option::of(any::<u32>()));
    let flags = prop::sample::select(vec![
        Flags::default(),
        Flags::NO_CACHE,
        Flags::NO_CACHE | Flags::S_MAXAGE,
        Flags::MUST_REVALIDATE,
    ]);
    let source = prop::sample::select(LifetimeSource::ALL.to_vec());
    (
        kind(),
        100u16..1000,
        fields(),
        times,
        seconds,
        flags,
        source,
    )
        .prop_map(
            |(
                kind,
                status,
                headers,
                (sent, delay, age),
                (ttl_s, swr_s, sie_s),
                flags,
                ttl_source,
            )| {
                StoredMeta {
                    kind,
                    status: StatusCode::from_u16(status).unwrap(),
                    headers,
                    request_time: Millis(sent),
                    response_time: Millis(sent + delay),
                    initial_age_ms: age,
                    ttl_s,
                    ttl_source,
                    swr_s,
                    sie_s,
                    flags,
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_written_is_read(meta in meta()) {
        let read = StoredMeta::decode(&encoded(&meta)).unwrap();
        prop_assert_eq!(lines_of(&read.headers), lines_of(&meta.headers));
        prop_assert_eq!(read, meta);
    }

    #[test]
    fn a_part_or_more_is_refused(meta in meta(), cut in any::<prop::sample::Index>()) {
        let mut bytes = encoded(&meta);
        bytes.push(0);
        prop_assert_eq!(StoredMeta::decode(&bytes), None);
        bytes.pop();
        prop_assert_eq!(StoredMeta::decode(&bytes[..cut.index(bytes.len())]), None);
    }

    #[test]
    fn damage_never_panics(
        meta in meta(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = encoded(&meta);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(read) = StoredMeta::decode(&bytes) {
            prop_assert_eq!(StoredMeta::decode(&encoded(&read)), Some(read));
        }
    }

    #[test]
    fn noise_never_panics(
        head in prop::option::of(Just([1u8, 0, 0, 0, 200, 0])),
        noise in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let bytes = [head.map_or(Vec::new(), |head| head.to_vec()), noise].concat();
        let _ = StoredMeta::decode(&bytes);
    }
}

#[test]
fn foreign_bytes_are_refused() {
    let good = encoded(&stored(&[("cache-control", "max-age=60")]));
    // (position, byte): version, kind, flags, source, status.
    for (at, byte) in [(0, 0), (0, 2), (1, 2), (2, 8), (3, 6), (5, 0xff)] {
        let mut bytes = good.clone();
        bytes[at] = byte;
        assert_eq!(StoredMeta::decode(&bytes), None, "byte {at} = {byte}");
    }
    // A count of 2^63 header lines.
    let mut head = good[..6].to_vec();
    head.extend([0; 6]);
    head.extend([0x80; 9]);
    head.push(1);
    assert_eq!(StoredMeta::decode(&head), None);
}

#[test]
fn an_entry_takes_few_bytes_beside_its_text() {
    let index = StoredMeta::vary_index(1, VarySpec::new([http::header::ACCEPT]).unwrap(), ARRIVAL);
    assert!(encoded(&index).len() <= 32, "{}", encoded(&index).len());
    let meta = stored(&[("cache-control", "max-age=60"), ("etag", "\"a\"")]);
    let text: usize = lines_of(&meta.headers)
        .iter()
        .map(|(n, v)| n.len() + v.len())
        .sum();
    assert!(
        encoded(&meta).len() <= text + 32,
        "{}",
        encoded(&meta).len()
    );
}
