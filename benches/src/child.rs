//! A server in a process of its own, pinned to its processors, with its CPU time.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::thread::{CpuSet, sched_setaffinity};

/// How long a server may take from its announcement to its first connection.
const REACHABLE_WITHIN: Duration = Duration::from_secs(10);

/// The environment variable that makes a benchmark's own binary be the server.
pub const ROLE: &str = "LARDER_BENCH_ROLE";

/// A running child. Killed on drop.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Where it listens.
    pub address: String,
}

/// Pins the calling thread, and the threads that it starts from now on.
///
/// # Errors
/// When the kernel refuses, as it does for a processor that is not there.
pub fn pin(processors: &[usize]) -> anyhow::Result<()> {
    let mut set = CpuSet::new();
    for processor in processors {
        set.set(*processor);
    }
    sched_setaffinity(None, &set).context("cannot pin")
}

/// Says where the server listens, to the benchmark that started it.
pub fn announce(address: std::net::SocketAddr) {
    println!("listening {address}");
}

impl Server {
    /// Starts this binary again in the role `role`, and waits until it listens.
    ///
    /// # Errors
    /// When it does not start or announces nothing.
    pub fn start(role: &str) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .env(ROLE, role)
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the server")?;
        let stdout = child.stdout.take().context("no pipe")?;
        let mut lines = BufReader::new(stdout).lines();
        let address = loop {
            let line = lines.next().context("the server announced nothing")??;
            if let Some(address) = line.strip_prefix("listening ") {
                break address.to_owned();
            }
        };
        let server = Self { child, address };
        server.until_reachable()?;
        Ok(server)
    }

    /// What is announced before it is bound refuses for a moment.
    fn until_reachable(&self) -> anyhow::Result<()> {
        let begun = Instant::now();
        while let Err(error) = TcpStream::connect(&self.address) {
            if begun.elapsed() > REACHABLE_WITHIN {
                return Err(error).context("the server cannot be reached");
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    /// CPU seconds used so far, user and system.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn cpu_seconds(&self) -> anyhow::Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name, in parentheses, may hold spaces: count from behind it.
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .context("no fields")?
            .split_whitespace()
            .collect();
        let ticks = |at: usize| -> anyhow::Result<u64> {
            Ok(fields.get(at).context("too few fields")?.parse()?)
        };
        let hertz = rustix::param::clock_ticks_per_second();
        Ok((ticks(11)? + ticks(12)?) as f64 / hertz as f64)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
