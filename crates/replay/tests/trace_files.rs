//! Traces from files: the three forms agree, and a file that is no trace says where it fails.
#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping"
)]

use std::{
    io::Cursor,
    path::{Path, PathBuf},
};

use larder_replay::trace::{LINE_BYTES_MAX, Request, TraceReader};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(name)
}

fn read(text: impl Into<Vec<u8>>) -> Result<Vec<Request>, String> {
    let reader =
        TraceReader::new("t", Cursor::new(text.into())).map_err(|error| error.to_string())?;
    reader
        .map(|request| request.map_err(|error| error.to_string()))
        .collect()
}

#[test]
fn plain_gzip_and_zstd_are_the_same_trace() {
    let requests = |name| {
        let reader = TraceReader::open(testdata(name)).unwrap();
        reader.collect::<Result<Vec<_>, _>>().unwrap()
    };
    let plain = requests("tiny.csv");
    assert_eq!(plain.len(), 300);
    assert!(plain.is_sorted_by(|a, b| a.timestamp_s <= b.timestamp_s));
    assert_eq!(requests("tiny.csv.gz"), plain);
    assert_eq!(requests("tiny.csv.zst"), plain);
}

#[test]
fn line_ends_and_a_header_do_not_matter() {
    let expected = read("1,2,3\n4,5,6\n").unwrap();
    assert_eq!(expected.len(), 2);
    for text in [
        "1,2,3\r\n4,5,6\r\n",
        "1,2,3\n4,5,6",
        "timestamp,object_id,size_bytes\n1,2,3\n4,5,6\n",
    ] {
        assert_eq!(read(text).unwrap(), expected, "{text:?}");
    }
    assert_eq!(read("timestamp,object_id,size_bytes\n").unwrap(), []);
}

#[test]
fn a_file_that_is_no_trace_says_so() {
    let fields = "expected 3 fields `timestamp,object_id,size_bytes`, found";
    let cases: [(Vec<u8>, String); 5] = [
        (
            Vec::new(),
            format!("t: line 1: {fields} the end of the file"),
        ),
        (
            b"1,2,3\n4,5,6\nhello\n".to_vec(),
            format!("t: line 3: {fields} 1 (\"hello\")"),
        ),
        (
            b"# A title\n".to_vec(),
            format!("t: line 1: {fields} 1 (\"# A title\")"),
        ),
        (
            b"1,2,3\n\n".to_vec(),
            format!("t: line 2: {fields} 0 (\"\")"),
        ),
        (
            vec![b'x'; 1 << 20],
            format!(
                "t: line 1: expected at most {LINE_BYTES_MAX} bytes, found more ({:?}…)",
                "x".repeat(40)
            ),
        ),
    ];
    for (bytes, text) in cases {
        assert_eq!(read(bytes), Err(text));
    }
}

#[test]
fn the_longest_line_is_read_and_one_byte_more_is_not() {
    let line = |spaces: usize| format!("1,2,{}3\n", " ".repeat(spaces));
    let fitting = LINE_BYTES_MAX - line(0).len();
    assert_eq!(read(line(fitting)).unwrap().len(), 1);
    assert!(
        read(line(fitting + 1))
            .unwrap_err()
            .contains("at most 256 bytes")
    );
}

#[test]
fn a_cut_off_file_is_an_error_with_its_path() {
    for name in ["tiny.csv.gz", "tiny.csv.zst"] {
        let bytes = std::fs::read(testdata(name)).unwrap();
        let error = read(&bytes[..bytes.len() - 9]).unwrap_err();
        assert!(error.starts_with("t: cannot read line "), "{error}");
    }
    let error = TraceReader::open("/no/such/trace.csv")
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("/no/such/trace.csv: cannot open the trace: "),
        "{error}"
    );
}

#[test]
fn nothing_is_read_after_an_error() {
    let mut reader = TraceReader::new("t", Cursor::new("x\n1,2,3\n")).unwrap();
    assert!(reader.next().unwrap().is_err());
    assert!(reader.next().is_none());
}

/// Real traces, when they are at hand: `LARDER_SHARED`, or `shared` beside the work tree.
#[test]
fn shared_traces_are_read() {
    let shared = std::env::var_os("LARDER_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    for (name, expected) in [
        ("real-adaptsize-sample.csv.zst", None),
        ("akamai-image.csv.zst", Some(100_000)),
    ] {
        let path = shared.join("traces").join(name);
        if !path.exists() {
            println!("skipped: no {}", path.display());
            continue;
        }
        let requests = TraceReader::open(&path)
            .unwrap()
            .take(expected.unwrap_or(usize::MAX));
        let read = requests
            .inspect(|request| assert!(request.is_ok(), "{request:?}"))
            .count();
        println!("{}: {read} requests", path.display());
        assert!(expected.is_none_or(|expected| expected == read) && read > 1000);
    }
}
