//! Wrong configurations, and all that the binary says about them in one go.
//!
//! `tests/cli/NAME.toml` is what it is given and `NAME.stderr` what it answers. With
//! `LARDER_BLESS=1` the answers are written instead of compared.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn cases() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli")
}

/// Runs larder among the cases, so that the paths in its messages are the same everywhere.
fn larder(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_larder"));
    command
        .args(args)
        .current_dir(cases())
        .output()
        .expect("the binary runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn refuses(name: &str) {
    let output = larder(&["check", "--config", &format!("{name}.toml")]);
    assert_eq!(output.status.code(), Some(78), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let golden = cases().join(format!("{name}.stderr"));
    if std::env::var_os("LARDER_BLESS").is_some() {
        fs::write(&golden, stderr(&output)).expect("the golden file is writable");
    }
    let expected = fs::read_to_string(&golden).unwrap_or_default();
    assert_eq!(stderr(&output), expected, "{}", golden.display());
}

#[test]
fn unknown_keys() {
    refuses("unknown_keys");
}

#[test]
fn bad_values() {
    refuses("bad_values");
}

#[test]
fn bad_syntax() {
    refuses("bad_syntax");
}

#[test]
fn keys_that_do_not_suit_each_other() {
    refuses("misfits");
}

#[test]
fn a_file_that_is_not_there() {
    let output = larder(&["check", "--config", "absent.toml"]);
    assert_eq!(output.status.code(), Some(78));
    assert!(
        stderr(&output).contains("absent.toml: No such file"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn flags_are_held_against_the_machine_too() {
    let output = larder(&["check", "--ram", "900TiB", "--disk", "1GiB"]);
    assert_eq!(output.status.code(), Some(78));
    let text = stderr(&output);
    assert!(
        text.starts_with("larder: 2 problems in the command line and the defaults"),
        "{text}"
    );
    assert!(
        text.contains("\n--ram: 900TiB is more than there is"),
        "{text}"
    );
    assert!(
        text.contains("\n--disk: a size without a directory"),
        "{text}"
    );
}

#[test]
fn the_dumped_defaults_are_valid_and_the_plan_is_printed() {
    let dump = larder(&["config", "dump", "--defaults"]);
    assert!(dump.status.success());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("larder.toml");
    fs::write(&path, &dump.stdout).unwrap();
    let path = path.to_str().unwrap();
    let data_dir = dir.path().to_str().unwrap();
    let flags = ["--ram", "64MiB", "--disk", "64MiB", "--data-dir", data_dir];
    let output = larder(&[&["check", "--config", path][..], &flags].concat());
    assert_eq!(stderr(&output), "");
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in [
        "The configuration is valid.",
        "memory  64MiB of",
        "ram_tier",
        "store   64MiB in",
    ] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
}
