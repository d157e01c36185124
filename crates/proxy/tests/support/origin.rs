//! A running `larder origin`.

use std::net::SocketAddr;

use rustix::process::Signal;

use super::client::get;
use super::process::Process;

/// `larder origin`.
pub struct Origin {
    process: Process,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Origin {
    /// Starts it on a free port.
    pub fn start() -> Self {
        let mut process = Process::start(&["origin", "--listen", "127.0.0.1:0"]);
        let address = process.address("larder origin listens at http://");
        Self { process, address }
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Requests that it has seen.
    pub fn requests(&self) -> u64 {
        self.count("requests")
    }

    /// Body bytes that it has handed out.
    pub fn bytes(&self) -> u64 {
        self.count("bytes")
    }

    /// Takes it away.
    pub fn kill(mut self) {
        self.process.signal(Signal::KILL);
        self.process.wait();
    }

    fn count(&self, name: &str) -> u64 {
        let stats = get(self.address, "/_stats").body;
        let stats: serde_json::Value =
            serde_json::from_slice(&stats).expect("the origin says JSON");
        stats[name].as_u64().expect("a count")
    }
}
