//! `larder` as an operator runs it: the binary, what it says, its signals, its end.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use super::{PATIENCE, until};

/// Lines of a process that a failed test shows.
const LAST_WORDS: usize = 30;

/// A running `larder` whose output is collected line by line, both streams into one.
pub struct Process {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

/// A `larder` that has ended by itself.
pub struct Ended {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// All that it said.
    pub said: String,
}

impl Process {
    /// Starts `larder` with these arguments.
    pub fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_larder"))
            .args(args)
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary was built");
        let (sender, lines) = channel();
        collect(child.stdout.take().expect("it is piped"), sender.clone());
        collect(child.stderr.take().expect("it is piped"), sender);
        Self {
            child,
            lines,
            seen: Vec::new(),
        }
    }

    /// Runs `larder` to its end.
    pub fn run(args: &[&str]) -> Ended {
        let mut process = Self::start(args);
        let code = process.wait().code();
        // Both streams end with the process: then so does the channel.
        process.seen.extend(process.lines.iter());
        Ended {
            code,
            said: process.seen.join("\n"),
        }
    }

    /// The rest of the first line that begins with `prefix`, waited for if need be.
    pub fn line(&mut self, prefix: &str) -> String {
        let rest = |line: &String| line.strip_prefix(prefix).map(str::to_owned);
        if let Some(found) = self.seen.iter().find_map(rest) {
            return found;
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("no line {prefix:?} in:\n{}", self.seen.join("\n"));
            };
            let found = rest(&line);
            self.seen.push(line);
            if let Some(found) = found {
                return found;
            }
        }
    }

    /// The address behind `prefix`.
    pub fn address(&mut self, prefix: &str) -> SocketAddr {
        let rest = self.line(prefix);
        rest.parse()
            .unwrap_or_else(|_| panic!("no address behind {prefix:?}: {rest:?}"))
    }

    /// All that it said so far.
    pub fn said(&mut self) -> String {
        self.seen.extend(self.lines.try_iter());
        self.seen.join("\n")
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is our child");
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        let mut status = None;
        until("the end of the process", || {
            status = self.child.try_wait().expect("it is our child");
            status.is_some()
        });
        status.expect("it has come")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            self.said();
            let last = &self.seen[self.seen.len().saturating_sub(LAST_WORDS)..];
            eprintln!("--- pid {} said at last:\n{}", self.pid(), last.join("\n"));
        }
    }
}

fn collect(stream: impl Read + Send + 'static, sender: Sender<String>) {
    let lines = BufReader::new(stream).lines();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
}
