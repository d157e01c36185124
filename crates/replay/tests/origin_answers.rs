//! What the origin plans to answer, without a socket.
#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping"
)]

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use larder_replay::{
    Content,
    origin::{Ending, PathKind, Payload, Plan, answer},
};

fn plan(method: &Method, uri: &str, fields: &[(HeaderName, &str)]) -> Plan {
    let value = |text: &str| HeaderValue::from_str(text).unwrap();
    let headers: HeaderMap = fields
        .iter()
        .map(|(name, text)| (name.clone(), value(text)))
        .collect();
    answer(method, &uri.parse::<Uri>().unwrap(), &headers)
}

fn get(uri: &str) -> Plan {
    plan(&Method::GET, uri, &[])
}

fn field(plan: &Plan, name: impl header::AsHeaderName) -> Option<&str> {
    plan.headers.get(name).map(|value| value.to_str().unwrap())
}

#[test]
fn status_and_length_by_request() {
    let cases = [
        (Method::GET, "/s/10/a", 200, 10, PathKind::Sized),
        (
            Method::GET,
            "/s/10/a?anything=goes",
            200,
            10,
            PathKind::Sized,
        ),
        (Method::GET, "/s/0/a/b", 200, 0, PathKind::Sized),
        (Method::GET, "/s/ten/a", 400, 61, PathKind::Sized),
        (Method::GET, "/s/10/", 400, 61, PathKind::Sized),
        (Method::GET, "/s/1099511627777/a", 400, 61, PathKind::Sized),
        (Method::POST, "/s/10/a", 405, 30, PathKind::Sized),
        (Method::GET, "/object/a/b?size=7", 200, 7, PathKind::Object),
        (
            Method::GET,
            "/object/a?size=7&status=503",
            503,
            7,
            PathKind::Object,
        ),
        (
            Method::GET,
            "/object/a?size=7&status=204",
            204,
            0,
            PathKind::Object,
        ),
        (Method::HEAD, "/object/a?size=7", 200, 0, PathKind::Object),
        (Method::POST, "/object/a?size=7", 200, 0, PathKind::Object),
        (Method::DELETE, "/object/a", 405, 36, PathKind::Object),
        (Method::GET, "/object/", 404, 53, PathKind::Unknown),
        (Method::GET, "/", 404, 53, PathKind::Unknown),
    ];
    for (method, uri, status, len_bytes, kind) in cases {
        let plan = plan(&method, uri, &[]);
        let found = (plan.status.as_u16(), plan.payload.len_bytes(), plan.kind);
        assert_eq!(found, (status, len_bytes, kind), "{method} {uri}");
    }
}

#[test]
fn a_sized_object_is_fresh_for_a_day_and_has_both_validators() {
    let plan = get("/s/10/a");
    assert_eq!(field(&plan, header::CACHE_CONTROL), Some("max-age=86400"));
    assert_eq!(
        field(&plan, header::LAST_MODIFIED),
        Some("Mon, 01 Jan 2024 00:00:00 GMT")
    );
    assert_eq!(field(&plan, header::CONTENT_LENGTH), Some("10"));
    assert!(field(&plan, header::ETAG).unwrap().starts_with('"'));
    assert_ne!(
        field(&plan, header::ETAG),
        field(&get("/s/10/b"), header::ETAG)
    );
    assert_ne!(
        field(&plan, header::ETAG),
        field(&get("/s/11/a"), header::ETAG)
    );
}

#[test]
fn an_unknown_option_is_answered_with_the_list() {
    let plan = get("/object/a?max-age=5");
    assert_eq!(plan.status, StatusCode::BAD_REQUEST);
    let Payload::Text(text) = plan.payload else {
        panic!("expected a text")
    };
    let text = String::from_utf8(text.to_vec()).unwrap();
    assert!(
        text.starts_with("unknown option `max-age`; the options are:\nsize=N "),
        "{text}"
    );
}

#[test]
fn options_become_fields() {
    let plan = get("/object/a?vary=Accept,x-b&tag=t1,t2&set_cookie=1&etag=weak&last_modified=none");
    assert_eq!(field(&plan, header::VARY), Some("accept, x-b"));
    assert_eq!(field(&plan, "surrogate-key"), Some("t1 t2"));
    assert_eq!(field(&plan, "cache-tag"), Some("t1,t2"));
    assert_eq!(field(&plan, header::SET_COOKIE), Some("session=1; Path=/"));
    assert!(field(&plan, header::ETAG).unwrap().starts_with("W/\""));
    assert_eq!(field(&plan, header::LAST_MODIFIED), None);
    let bare = get("/object/a?etag=none&chunked=1&hang=half");
    assert_eq!(field(&bare, header::ETAG), None);
    assert_eq!(field(&bare, header::CACHE_CONTROL), None);
    assert_eq!(field(&bare, header::CONTENT_LENGTH), None);
    assert_eq!(bare.pacing.ending, Ending::Hang);
}

#[test]
fn conditions_and_ranges() {
    let uri = "/object/a?size=100";
    let full = get(uri);
    let etag = field(&full, header::ETAG).unwrap();
    let revalidated = plan(&Method::GET, uri, &[(header::IF_NONE_MATCH, etag)]);
    assert_eq!(revalidated.status, StatusCode::NOT_MODIFIED);
    assert_eq!(field(&revalidated, header::ETAG), Some(etag));
    assert_eq!(field(&revalidated, header::CONTENT_LENGTH), None);

    let range = (header::RANGE, "bytes=10-19");
    let part = plan(&Method::GET, uri, std::slice::from_ref(&range));
    assert_eq!(part.status, StatusCode::PARTIAL_CONTENT);
    assert_eq!(field(&part, header::CONTENT_RANGE), Some("bytes 10-19/100"));
    let content = Content::new("/object/a", 0);
    let payload = Payload::Content {
        content,
        offset: 10,
        len_bytes: 10,
    };
    assert_eq!(part.payload, payload);

    let guarded = |validator| {
        plan(
            &Method::GET,
            uri,
            &[range.clone(), (header::IF_RANGE, validator)],
        )
    };
    assert_eq!(guarded(etag).status, StatusCode::PARTIAL_CONTENT);
    assert_eq!(guarded("\"other\"").status, StatusCode::OK);
    let head = plan(&Method::HEAD, uri, &[range]);
    assert_eq!(
        (head.status, field(&head, header::CONTENT_LENGTH)),
        (StatusCode::OK, Some("100"))
    );

    let beyond = plan(&Method::GET, uri, &[(header::RANGE, "bytes=100-")]);
    assert_eq!(beyond.status, StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(field(&beyond, header::CONTENT_RANGE), Some("bytes */100"));
}

#[test]
fn versions_and_variants_have_their_own_bytes() {
    let content = |plan: Plan| match plan.payload {
        Payload::Content { content, .. } => content,
        Payload::Text(text) => panic!("expected content, found {text:?}"),
    };
    assert_eq!(
        content(get("/object/a?version=3")),
        Content::new("/object/a", 3)
    );
    let accept = [(header::ACCEPT, "text/html")];
    let variant = content(plan(&Method::GET, "/object/a?vary=accept", &accept));
    assert_eq!(variant, Content::new("/object/a\naccept:text/html", 0));
    let absent = content(get("/object/a?vary=accept"));
    assert_eq!(absent, Content::new("/object/a\naccept:", 0));
}
