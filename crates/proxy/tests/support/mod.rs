//! What the end-to-end tests share: the real binary, real sockets, and whoever waits for them.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file is a crate that uses its part"
)]
#![allow(clippy::panic, reason = "what only tests call may say what it expects")]

pub mod client;
pub mod larder;
pub mod objects;
pub mod origin;
pub mod process;

use std::time::{Duration, Instant};

/// Longer than anything here takes, on a busy machine: a test that waits for it has failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks at a condition.
const GLANCE: Duration = Duration::from_millis(5);

/// Waits for a condition, and says which one never came.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "never came: {what}");
        std::thread::park_timeout(GLANCE);
    }
}

/// A new directory on the disk that builds are on: a real one, not a file system in memory.
pub fn disk_dir() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory for the test")
}
