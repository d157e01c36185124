//! A running `larder serve`.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitStatus;

use rustix::process::Signal;
use tempfile::NamedTempFile;

use super::client::{Answer, Client, get};
use super::process::Process;

/// Whatever ports are free.
const PORTS: [&str; 5] = ["serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"];

/// `larder serve`.
pub struct Larder {
    process: Process,
    /// Where clients go.
    pub address: SocketAddr,
    /// Where operators go.
    pub admin: SocketAddr,
    /// Read at the start, kept for the sake of its name.
    config: Option<NamedTempFile>,
}

impl Larder {
    /// Starts it on free ports, with these arguments besides.
    pub fn start(args: &[&str]) -> Self {
        let mut process = Process::start(&[&PORTS, args].concat());
        let admin = process.address("larder: admin on http://");
        let address = process.address("larder: listening on http://");
        Self {
            process,
            address,
            admin,
            config: None,
        }
    }

    /// The same with a configuration file.
    pub fn configured(toml: &str, args: &[&str]) -> Self {
        let mut file = NamedTempFile::with_suffix(".toml").expect("a file for the configuration");
        file.write_all(toml.as_bytes()).expect("room for it");
        let path = file.path().to_str().expect("a name in ASCII").to_owned();
        let mut larder = Self::start(&[&["--config", &path], args].concat());
        larder.config = Some(file);
        larder
    }

    /// Kills it without a chance to say goodbye.
    pub fn kill(mut self) {
        self.kill_under_load();
        self.process.wait();
    }

    /// The same while others still talk to it.
    pub fn kill_under_load(&self) {
        self.process.signal(Signal::KILL);
    }

    /// Asks it to stop, and waits until it has.
    pub fn stop(mut self) -> ExitStatus {
        self.process.signal(Signal::TERM);
        self.process.wait()
    }

    /// One GET on a connection of its own.
    pub fn get(&self, path: &str) -> Answer {
        get(self.address, path)
    }

    /// One request on a connection of its own.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        Client::connect(self.address).ask(method, path, headers)
    }

    /// Tells it to open its access log anew.
    pub fn rotate_log(&self) {
        self.process.signal(Signal::USR1);
    }

    /// The value of a metric, summed over the label sets that contain `labels`.
    pub fn metric(&self, name: &str, labels: &str) -> u64 {
        let text = get(self.admin, "/metrics").text();
        let rests = text.lines().filter_map(|line| line.strip_prefix(name));
        let samples = rests.filter(|rest| rest.starts_with([' ', '{']) && rest.contains(labels));
        let values = samples.filter_map(|sample| sample.rsplit(' ').next());
        values.filter_map(|value| value.parse::<u64>().ok()).sum()
    }

    /// Purges by way of the admin address.
    pub fn purge(&self, path: &str) -> Answer {
        let body = format!(r#"{{"url":"http://test.example{path}"}}"#);
        Client::connect(self.admin).post("/purge", &body)
    }

    /// The most memory that it had so far, as the kernel counts it.
    pub fn resident_bytes_max(&self) -> u64 {
        let path = format!("/proc/{}/status", self.process.pid());
        let status = std::fs::read_to_string(path).expect("Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.expect("a peak") << 10
    }

    /// The rest of the first line of its output that begins with `prefix`, waited for.
    pub fn line(&mut self, prefix: &str) -> String {
        self.process.line(prefix)
    }

    /// All that it said so far.
    pub fn said(&mut self) -> String {
        self.process.said()
    }
}
