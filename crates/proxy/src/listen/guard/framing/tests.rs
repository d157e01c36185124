//! What passes and what does not: tables, and the same verdict however the bytes arrive.

use proptest::prelude::*;

use super::{Breach, Fed, Framing};
use crate::listen::Violation as V;

const HEAD_BYTES_MAX: usize = 4096;

fn feed_whole(bytes: &[u8]) -> Result<Fed, Breach> {
    Framing::new(HEAD_BYTES_MAX).feed(bytes)
}

/// Feeds `bytes` in pieces; a held stream goes on with HTTP. Returns the first violation.
fn feed_pieces<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Result<Framing, V> {
    let mut framing = Framing::new(HEAD_BYTES_MAX);
    for mut piece in pieces {
        loop {
            match framing.feed(piece).map_err(|breach| breach.violation)? {
                Fed::All => break,
                Fed::Held { at } => {
                    framing.decide(false);
                    piece = &piece[at..];
                }
            }
        }
    }
    Ok(framing)
}

const GOOD: &[&str] = &[
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nhost:a:8080\r\nAccept: */*\r\nX:\r\nY: \t a\tb \r\n\r\n",
    "GET http://a/b?c=d HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET HTTPS://a HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /caf\u{e9} HTTP/1.1\r\nHost:\r\nX-Name: \u{e9}\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "PRI / HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5 \r\n\r\nhello",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\n\0\n\r",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\ntransfer-encoding:chunked\r\n\r\n\
     00A;a=\"b\"\r\n\r\n\r\n\r\n\r\n\r\n\r\n000;x\r\nX-Sum: 1\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\n\r \n",
];

const BAD: &[(&str, V)] = &[
    // The request line.
    (" GET / HTTP/1.1\r\nHost: a\r\n\r\n", V::Method),
    ("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", V::Method),
    ("G(T / HTTP/1.1\r\n", V::Method),
    (
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1\r\n",
        V::Method,
    ),
    ("GET\r\n", V::BareCr),
    ("\nGET / HTTP/1.1\r\n", V::BareLf),
    ("\rGET / HTTP/1.1\r\n", V::BareCr),
    ("GET  / HTTP/1.1\r\n", V::Target),
    ("GET /\r\n", V::Version),
    ("GET / \r\n", V::Version),
    ("GET /\n", V::BareLf),
    ("GET /a b HTTP/1.1\r\n", V::Version),
    ("GET /a\tb HTTP/1.1\r\n", V::Target),
    ("GET /a\0b HTTP/1.1\r\n", V::Control),
    ("GET /a\x7fb HTTP/1.1\r\n", V::Control),
    ("GET example.org HTTP/1.1\r\n", V::Target),
    ("GET ftp://a/ HTTP/1.1\r\n", V::Target),
    ("GET http:/a HTTP/1.1\r\n", V::Target),
    ("GET * HTTP/1.1\r\n", V::Target),
    ("OPTIONS ** HTTP/1.1\r\n", V::Target),
    ("CONNECT a:443 HTTP/1.1\r\n", V::Connect),
    ("GET / HTTP/1.1 \r\n", V::Version),
    ("GET / HTTP/1.2\r\n", V::Version),
    ("GET / HTTP/2.0\r\n", V::Version),
    ("GET / http/1.1\r\n", V::Version),
    ("GET / HTTP/1.1\n", V::BareLf),
    ("GET / HTTP/1.1\r\r\n", V::BareCr),
    ("PRI * HTTP/2.0\r\n\r\nSX\r\n\r\n", V::Target),
    // Field lines.
    ("GET / HTTP/1.1\r\n Host: a\r\n", V::Fold),
    ("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", V::Fold),
    ("GET / HTTP/1.1\r\nHost: a\r\n\tb\r\n\r\n", V::Fold),
    ("GET / HTTP/1.1\r\nHost : a\r\n", V::SpaceBeforeColon),
    ("GET / HTTP/1.1\r\nHost\t: a\r\n", V::SpaceBeforeColon),
    ("GET / HTTP/1.1\r\n: a\r\n", V::FieldName),
    ("GET / HTTP/1.1\r\nno colon\r\n", V::SpaceBeforeColon),
    ("GET / HTTP/1.1\r\nnocolon\r\n", V::BareCr),
    ("GET / HTTP/1.1\r\nX[]: a\r\n", V::FieldName),
    ("GET / HTTP/1.1\r\nX\u{e9}: a\r\n", V::FieldName),
    ("GET / HTTP/1.1\r\nX: a\nY: b\r\n\r\n", V::BareLf),
    ("GET / HTTP/1.1\r\nX: a\rY: b\r\n\r\n", V::BareCr),
    ("GET / HTTP/1.1\r\nX: a\0b\r\n", V::Control),
    ("GET / HTTP/1.1\r\nX: a\x1bb\r\n", V::Control),
    ("GET / HTTP/1.1\r\nHost: a\r\n\n", V::BareLf),
    ("GET / HTTP/1.1\r\nHost: a\r\n\rGET", V::BareCr),
    // Host.
    ("GET / HTTP/1.1\r\n\r\n", V::HostMissing),
    (
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        V::HostRepeated,
    ),
    (
        "GET / HTTP/1.0\r\nHost: a\r\nhost: b\r\n\r\n",
        V::HostRepeated,
    ),
    ("GET / HTTP/1.1\r\nHost: a b\r\n", V::HostInvalid),
    ("GET / HTTP/1.1\r\nHost: a,b\r\n", V::HostInvalid),
    ("GET / HTTP/1.1\r\nHost: a/b\r\n", V::HostInvalid),
    ("GET / HTTP/1.1\r\nHost: u@a\r\n", V::HostInvalid),
    // Lengths and codings.
    (
        "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n",
        V::LengthRepeated,
    ),
    (
        "POST / HTTP/1.1\r\nContent-Length: 5\r\ncontent-length: 6\r\n",
        V::LengthRepeated,
    ),
    (
        "POST / HTTP/1.1\r\nContent-Length: 5, 5\r\n",
        V::LengthInvalid,
    ),
    (
        "POST / HTTP/1.1\r\nContent-Length: +5\r\n",
        V::LengthInvalid,
    ),
    (
        "POST / HTTP/1.1\r\nContent-Length: -5\r\n",
        V::LengthInvalid,
    ),
    (
        "POST / HTTP/1.1\r\nContent-Length: 0x5\r\n",
        V::LengthInvalid,
    ),
    (
        "POST / HTTP/1.1\r\nContent-Length: 5 5\r\n",
        V::LengthInvalid,
    ),
    ("POST / HTTP/1.1\r\nContent-Length:\r\n", V::LengthInvalid),
    (
        "POST / HTTP/1.1\r\nContent-Length: 1000000000000000000\r\n",
        V::LengthInvalid,
    ),
    (
        "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        V::LengthWithCoding,
    ),
    (
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        V::LengthWithCoding,
    ),
    (
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n",
        V::CodingRepeated,
    ),
    (
        "POST / HTTP/1.1\r\nTransfer-Encoding: identity\r\n",
        V::CodingUnknown,
    ),
    (
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n",
        V::CodingUnknown,
    ),
    (
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n",
        V::CodingUnknown,
    ),
    (
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked;q=1\r\n",
        V::CodingUnknown,
    ),
    (
        "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n",
        V::CodingUnknown,
    ),
    (
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunke\r\n",
        V::CodingUnknown,
    ),
    (
        "POST / HTTP/1.1\r\nTransfer-Encoding: \x0bchunked\r\n",
        V::Control,
    ),
    (
        "POST / HTTP/1.1\r\nTransfer-Encoding:\r\n",
        V::CodingUnknown,
    ),
    (
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n",
        V::CodingInOldVersion,
    ),
    (
        "POST / HTTP/1.1\r\nTransfer-Encoding : chunked\r\n",
        V::SpaceBeforeColon,
    ),
];

const CHUNKED_HEAD: &str = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

const BAD_CHUNKED: &[(&str, V)] = &[
    ("\r\n", V::ChunkSize),
    ("x\r\n", V::ChunkSize),
    ("0x5\r\nhello\r\n", V::ChunkSize),
    ("-5\r\nhello\r\n", V::ChunkSize),
    (";a\r\n", V::ChunkSize),
    ("1000000000000000\r\n", V::ChunkSize),
    ("5\nhello\r\n", V::BareLf),
    ("5\rhello\r\n", V::BareCr),
    ("5 \r\nhello\r\n", V::ChunkExtension),
    ("5 ;a\r\nhello\r\n", V::ChunkExtension),
    ("5;a\nhello\r\n", V::BareLf),
    ("5;a\0\r\nhello\r\n", V::Control),
    ("5\r\nhello0\r\n\r\n", V::ChunkEnd),
    ("5\r\nhello\n0\r\n\r\n", V::ChunkEnd),
    ("5\r\nhello\r0\r\n\r\n", V::ChunkEnd),
    ("5\r\nhell\r\n0\r\n\r\n", V::ChunkEnd),
    ("0\r\nX: a\n\r\n", V::BareLf),
    ("0\r\n X: a\r\n\r\n", V::Fold),
    ("0\r\nContent-Length: 5\r\n\r\n", V::TrailerForbidden),
    (
        "0\r\nTransfer-Encoding: chunked\r\n\r\n",
        V::TrailerForbidden,
    ),
    ("0\r\nHost: b\r\n\r\n", V::TrailerForbidden),
    ("0\r\n\rX", V::BareCr),
    // A body that ends is followed by a request, and by nothing else.
    ("0\r\n\r\n\0", V::Control),
];

#[test]
fn what_is_to_the_letter_passes() {
    for text in GOOD {
        assert_eq!(feed_whole(text.as_bytes()), Ok(Fed::All), "{text:?}");
    }
}

#[test]
fn what_is_not_is_refused_by_name() {
    for (text, violation) in BAD {
        let verdict = feed_whole(text.as_bytes()).map_err(|breach| breach.violation);
        assert_eq!(verdict, Err(*violation), "{text:?}");
    }
    for (body, violation) in BAD_CHUNKED {
        let text = format!("{CHUNKED_HEAD}{body}");
        let verdict = feed_whole(text.as_bytes()).map_err(|breach| breach.violation);
        assert_eq!(verdict, Err(*violation), "{text:?}");
    }
}

#[test]
fn a_bad_head_is_never_passed_on_whole() {
    for (text, _) in BAD {
        let Err(Breach { at, .. }) = feed_whole(text.as_bytes()) else {
            panic!("{text:?}")
        };
        let passed = &text.as_bytes()[..at];
        let ends = passed.windows(4).any(|w| w == b"\r\n\r\n") || passed.ends_with(b"\n\n");
        assert!(
            !ends || text.starts_with("PRI"),
            "{text:?} passed up to {at}"
        );
    }
}

#[test]
fn the_limits_hold_to_the_byte() {
    let head = |bytes: usize| {
        let start = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
        format!("{start}{}\r\n\r\n", "x".repeat(bytes - start.len() - 4))
    };
    assert_eq!(feed_whole(head(HEAD_BYTES_MAX).as_bytes()), Ok(Fed::All));
    let breach = Breach {
        at: HEAD_BYTES_MAX,
        violation: V::HeadTooLarge,
    };
    assert_eq!(feed_whole(head(HEAD_BYTES_MAX + 1).as_bytes()), Err(breach));
    // Each head has the whole allowance.
    let two = head(HEAD_BYTES_MAX).repeat(2);
    assert_eq!(feed_whole(two.as_bytes()), Ok(Fed::All));

    let extension = format!("{CHUNKED_HEAD}1;{}", "e".repeat(1024));
    let verdict = feed_whole(extension.as_bytes()).map_err(|breach| breach.violation);
    assert_eq!(verdict, Err(V::ChunkExtension));
    let trailers = format!("{CHUNKED_HEAD}0\r\nX: {}", "t".repeat(8 * 1024));
    let verdict = feed_whole(trailers.as_bytes()).map_err(|breach| breach.violation);
    assert_eq!(verdict, Err(V::TrailerTooLarge));
}

#[test]
fn nothing_is_read_past_a_request_for_another_protocol() {
    let text = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n";
    let after = b"\x81\x05hello";
    let bytes = [text.as_bytes(), after].concat();
    let mut framing = Framing::new(HEAD_BYTES_MAX);
    assert_eq!(framing.feed(&bytes), Ok(Fed::Held { at: text.len() }));
    assert_eq!(framing.feed(after), Ok(Fed::Held { at: 0 }));
    framing.decide(true);
    assert_eq!(framing.feed(after), Ok(Fed::All));
    assert!(framing.is_opaque());

    let mut refused = Framing::new(HEAD_BYTES_MAX);
    assert_eq!(
        refused.feed(text.as_bytes()),
        Ok(Fed::Held { at: text.len() })
    );
    refused.decide(false);
    assert_eq!(
        refused.feed(after),
        Err(Breach {
            at: 0,
            violation: V::Method
        })
    );
}

#[test]
fn an_upgrade_waits_for_its_body_and_for_http_1_1() {
    let head = "POST / HTTP/1.1\r\nHost: a\r\nupgrade: x\r\nContent-Length: 5\r\n\r\n";
    let text = format!("{head}helloGET");
    let at = head.len() + 5;
    assert_eq!(feed_whole(text.as_bytes()), Ok(Fed::Held { at }));
    let old = "GET / HTTP/1.0\r\nUpgrade: x\r\n\r\n";
    assert_eq!(feed_whole(old.as_bytes()), Ok(Fed::All));
}

#[test]
fn knows_where_it_stands() {
    let mut framing = Framing::new(HEAD_BYTES_MAX);
    assert!(framing.is_between_requests() && !framing.is_within_head());
    framing.feed(b"P").unwrap();
    assert!(framing.is_within_head() && !framing.is_between_requests());
    framing
        .feed(b"OST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1")
        .unwrap();
    assert!(!framing.is_within_head() && !framing.is_between_requests());
    framing.feed(b"2").unwrap();
    assert!(framing.is_between_requests());
}

/// A well-formed request.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let line = ("[A-Z]{1,12}", "/[!-~]{0,40}");
    let fields =
        proptest::collection::vec("X-[A-Za-z0-9!#$%&'*+.^_`|~-]{1,20}: ?[ -~]{0,60}", 0..8);
    let body = prop_oneof![
        Just(None),
        proptest::collection::vec(any::<u8>(), 0..50).prop_map(|body| Some((false, body))),
        proptest::collection::vec(any::<u8>(), 0..50).prop_map(|body| Some((true, body))),
    ];
    (line, fields, body, any::<bool>()).prop_map(|((method, target), fields, body, upgrade)| {
        let mut bytes = format!("{method} {target} HTTP/1.1\r\nHost: a.example\r\n").into_bytes();
        for field in fields {
            bytes.extend(format!("{field}\r\n").bytes());
        }
        if upgrade {
            bytes.extend(b"Upgrade: websocket\r\n");
        }
        match body {
            None => bytes.extend(b"\r\n"),
            Some((false, body)) => {
                bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
                bytes.extend(body);
            }
            Some((true, body)) => {
                bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
                for chunk in body.chunks(7) {
                    bytes.extend(format!("{:x};e\r\n", chunk.len()).bytes());
                    bytes.extend(chunk);
                    bytes.extend(b"\r\n");
                }
                bytes.extend(b"0\r\nX-Sum: 1\r\n\r\n");
            }
        }
        bytes
    })
}

fn pieces(bytes: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2)
        .map(|cut| bytes[cut[0]..cut[1]].to_vec())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn pipelines_pass_however_they_arrive(
        requests in proptest::collection::vec(request(), 1..5),
        cuts in proptest::collection::vec(any::<usize>(), 0..12),
    ) {
        let bytes = requests.concat();
        let parts = pieces(&bytes, &cuts);
        let framing = feed_pieces(parts.iter().map(Vec::as_slice));
        let mut framing = framing.map_err(|v| TestCaseError::fail(v.as_str()))?;
        framing.decide(false);
        prop_assert!(framing.is_between_requests());
    }

    #[test]
    fn the_verdict_does_not_depend_on_the_pieces(
        mut request in request(),
        at in any::<usize>(),
        byte in prop_oneof![Just(b'\r'), Just(b'\n'), Just(0), Just(b' '), Just(b':'), any::<u8>()],
        cuts in proptest::collection::vec(any::<usize>(), 0..12),
    ) {
        let at = at % request.len();
        request[at] = byte;
        request.extend(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        let whole = feed_pieces([request.as_slice()].into_iter()).err();
        let parts = pieces(&request, &cuts);
        prop_assert_eq!(whole, feed_pieces(parts.iter().map(Vec::as_slice)).err());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = feed_whole(&bytes);
        let _ = feed_whole(&[CHUNKED_HEAD.as_bytes(), &bytes].concat());
    }
}
