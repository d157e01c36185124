//! One line for each answer, with what was decided and who gave the bytes: the words of
//! `Cache-Status` and of the metrics.

#![allow(
    clippy::unwrap_used,
    reason = "what only tests call may say what it expects"
)]

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::larder::Larder;
use support::objects::Object;
use support::origin::Origin;

const RAM: [&str; 2] = ["--ram", "128MiB"];

#[test]
fn combined_with_decision_and_tier() {
    let origin = Origin::start();
    let mut larder = Larder::start(&[&["--origin", &origin.url()], &RAM[..]].concat());
    let object = Object::new(1234, 1);
    for _ in 0..2 {
        object.assert_whole(&larder.get(&object.path));
    }
    larder.ask(
        "GET",
        "/object/x?no_store=1&size=5",
        &[("User-Agent", "e2e \"1\"")],
    );
    larder.ask("PURGE", &object.path, &[]);
    // Lines may come in another order than the requests: each when its answer's last byte is sent.
    for end in [
        r#""GET /s/1234/1 HTTP/1.1" 200 1234 "-" "-" "miss" origin"#,
        r#""GET /s/1234/1 HTTP/1.1" 200 1234 "-" "-" "hit" ram"#,
        r#""GET /object/x?no_store=1&size=5 HTTP/1.1" 200 5 "-" "e2e \"1\"" "miss" origin"#,
        r#""PURGE /s/1234/1 HTTP/1.1" 200"#,
    ] {
        support::until(end, || {
            let said = larder.said();
            let mut lines = said
                .lines()
                .filter(|line| line.starts_with("127.0.0.1 - - ["));
            lines.any(|line| line.contains(end))
        });
    }
}

/// The lines of a log as far as they are written.
fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let whole = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    whole
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn json_in_a_file_that_may_be_rotated() {
    let (dir, origin) = (support::disk_dir(), Origin::start());
    let (file, rotated) = (dir.path().join("access.log"), dir.path().join("access.1"));
    let config = format!(
        "[log]\naccess = 'json'\naccess_path = '{}'\n",
        file.display()
    );
    let larder = Larder::configured(&config, &[&["--origin", &origin.url()], &RAM[..]].concat());
    let object = Object::new(1234, 1);
    for _ in 0..2 {
        object.assert_whole(&larder.get(&object.path));
    }
    support::until("two lines", || lines(&file).len() == 2);
    let mut decided: Vec<_> = lines(&file).iter().map(decision_and_tier).collect();
    decided.sort_unstable();
    assert_eq!(decided, ["hit ram", "miss origin"]);
    for line in lines(&file) {
        assert_eq!(line["method"], "GET", "{line}");
        assert_eq!(line["target"], "/s/1234/1", "{line}");
        assert_eq!(line["host"], "test.example", "{line}");
        assert_eq!(line["status"], 200, "{line}");
        assert_eq!(line["response_bytes"], 1234, "{line}");
        assert!(line["duration_us"].as_u64() > Some(0), "{line}");
    }

    fs::rename(&file, &rotated).unwrap();
    larder.rotate_log();
    support::until("a new file", || {
        larder.get(&object.path);
        !lines(&file).is_empty()
    });
    assert!(lines(&rotated).len() >= 2);
}

fn decision_and_tier(line: &Value) -> String {
    let word = |name: &str| line[name].as_str().unwrap();
    format!("{} {}", word("decision"), word("tier"))
}
