//! Random reads of a file: what fio makes of them, and how they are scored.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Which reads.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// Bytes of one read.
    pub read_bytes: usize,
    /// Reads at once.
    pub depth: usize,
    /// Bytes of the file, from its start, that are read.
    pub file_bytes: u64,
    /// For how long.
    pub time: Duration,
}

/// What came of them.
#[derive(Debug, Clone, Copy)]
pub struct Score {
    /// Reads a second.
    pub reads_per_s: f64,
    /// CPU time of a read, in µs.
    pub cpu_us_per_read: f64,
}

/// The middle of the runs; nothing of none.
pub fn median(scores: &[Score], of: impl Fn(&Score) -> f64) -> Option<f64> {
    let mut values: Vec<_> = scores.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// What all threads of this process have used.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// The same reads by fio, in one process with one ring; nothing when fio is not installed.
///
/// # Errors
/// When fio fails.
pub fn fio(path: &Path, load: Load) -> Result<Option<Score>> {
    let mut command = Command::new("fio");
    command.arg(format!("--filename={}", path.display()));
    command.arg(format!("--size={}", load.file_bytes));
    command.arg(format!("--bs={}", load.read_bytes));
    command.arg(format!("--iodepth={}", load.depth));
    command.arg(format!("--runtime={}", load.time.as_secs()));
    command.args(["--name=read", "--rw=randread", "--ioengine=io_uring"]);
    command.args([
        "--direct=1",
        "--readonly",
        "--time_based",
        "--output-format=json",
    ]);
    let output = match command.output() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        output => output?,
    };
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let job = &report["jobs"][0];
    let number = |value: &Value| value.as_f64().ok_or("fio's report lacks a number");
    let cpu_ratio = (number(&job["usr_cpu"])? + number(&job["sys_cpu"])?) / 100.0;
    let run_us = number(&job["job_runtime"])? * 1e3;
    Ok(Some(Score {
        reads_per_s: number(&job["read"]["iops"])?,
        cpu_us_per_read: cpu_ratio * run_us / number(&job["read"]["total_ios"])?,
    }))
}
