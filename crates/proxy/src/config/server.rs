//! `[server]`: where larder listens, and what it takes from clients.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use toml::de::DeValue;

use super::document::{Reading, Section, Value};
use super::host::HostPattern;
use super::machine::Machine;
use super::problem::Mistake;
use super::value::{self, parse_address, parse_network};

/// The most addresses to listen at: each costs an accept loop.
pub const LISTENERS_MAX: usize = 16;

/// Bounds of every timeout on clients. Below the lower a healthy link's jitter counts as silence.
const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3600);

/// A pseudonym travels in `Via` with every request; longer ones only cost bytes.
const NAME_BYTES_MAX: usize = 64;

/// Where larder listens, and what it takes from clients.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// Addresses for clients; at least one, at most [`LISTENERS_MAX`].
    pub listen: Vec<SocketAddr>,
    /// Address for metrics, health and purges; `None` is off. It asks nobody who they are.
    pub admin: Option<SocketAddr>,
    /// The hosts that are served; empty means every host.
    pub hosts: Vec<HostPattern>,
    /// The pseudonym in `Via` (RFC 9110 section 7.6.3) and the name in `Cache-Status` (RFC 9211):
    /// a token that is also a structured-field token.
    pub name: String,
    /// Threads that serve; at least 1.
    pub workers: u32,
    /// Client connections at once; `None` lets the memory plan say
    /// ([`crate::plan::MemoryPlan::connections_max`]).
    pub connections_max: Option<u32>,
    /// Bytes of a request's head.
    pub header_bytes_max: u64,
    /// Header lines of a request.
    pub headers_max: u32,
    /// Bytes of a request's body.
    pub body_bytes_max: u64,
    /// Time for a request's head, from its first byte to its last.
    pub header_timeout: Duration,
    /// Longest silence inside a request's body.
    pub body_timeout: Duration,
    /// Longest wait for a further request on an open connection.
    pub keepalive_timeout: Duration,
    /// Longest time that a client may take nothing of a response.
    pub write_timeout: Duration,
    /// Longest silence in both directions of an upgraded connection (WebSocket).
    pub upgrade_timeout: Duration,
    /// Time that responses in flight have to finish when the process stops.
    pub drain_timeout: Duration,
    /// Streams at once in one HTTP/2 connection.
    pub h2_streams_max: u32,
    /// Networks whose clients may `PURGE`.
    pub purge_allow: Vec<IpNet>,
}

impl ServerConfig {
    /// The defaults; `config/larder.toml` gives the reasons.
    pub fn defaults(machine: &Machine) -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 8080))],
            admin: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 8081))),
            hosts: Vec::new(),
            name: "larder".to_owned(),
            workers: machine.cores.max(1),
            connections_max: None,
            header_bytes_max: 64 << 10,
            headers_max: 100,
            body_bytes_max: 128 << 20,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(60),
            keepalive_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(60),
            upgrade_timeout: Duration::from_secs(300),
            drain_timeout: Duration::from_secs(30),
            h2_streams_max: 100,
            purge_allow: vec![
                IpNet::V4(Ipv4Net::from(Ipv4Addr::LOCALHOST)),
                IpNet::V6(Ipv6Net::from(std::net::Ipv6Addr::LOCALHOST)),
            ],
        }
    }

    pub(super) fn read(section: &mut Section<'_, '_>, machine: &Machine) -> Self {
        let d = Self::defaults(machine);
        let timeout = || value::duration(TIMEOUTS);
        let count = |highest| value::integer(0..=highest);
        Self {
            listen: section.get("listen", d.listen, addresses),
            admin: section.get("admin", d.admin, value::optional("off", address)),
            hosts: section.get("hosts", d.hosts, value::list(host)),
            name: section.get("name", d.name, name),
            workers: match section.get("workers", 0, count(1024)) {
                0 => d.workers,
                workers => workers,
            },
            connections_max: match section.get("connections_max", 0, count(1 << 20)) {
                0 => d.connections_max,
                connections => Some(connections),
            },
            header_bytes_max: section.get(
                "header_bytes_max",
                d.header_bytes_max,
                value::size(8 << 10..=1 << 20),
            ),
            headers_max: section.get("headers_max", d.headers_max, value::integer(16..=1000)),
            body_bytes_max: section.get(
                "body_bytes_max",
                d.body_bytes_max,
                value::size(0..=1 << 50),
            ),
            header_timeout: section.get("header_timeout", d.header_timeout, timeout()),
            body_timeout: section.get("body_timeout", d.body_timeout, timeout()),
            keepalive_timeout: section.get("keepalive_timeout", d.keepalive_timeout, timeout()),
            write_timeout: section.get("write_timeout", d.write_timeout, timeout()),
            upgrade_timeout: section.get(
                "upgrade_timeout",
                d.upgrade_timeout,
                value::duration(Duration::from_secs(1)..=Duration::from_secs(86_400)),
            ),
            drain_timeout: section.get(
                "drain_timeout",
                d.drain_timeout,
                value::duration(Duration::ZERO..=Duration::from_secs(3600)),
            ),
            h2_streams_max: section.get(
                "h2_streams_max",
                d.h2_streams_max,
                value::integer(1..=1000),
            ),
            purge_allow: section.get("purge_allow", d.purge_allow, value::list(network)),
        }
    }
}

fn address(value: &Value<'_>) -> Reading<SocketAddr> {
    value::parsed(
        "an address and a port: \"127.0.0.1:8080\", \"[::1]:8080\"",
        parse_address,
    )(value)
}

/// One address, or a list of them.
fn addresses(value: &Value<'_>) -> Reading<Vec<SocketAddr>> {
    let DeValue::Array(_) = value.get_ref() else {
        return address(value).map(|address| vec![address]);
    };
    let addresses = value::list(address)(value)?;
    if (1..=LISTENERS_MAX).contains(&addresses.len()) {
        return Ok(addresses);
    }
    let what = format!("{} addresses", addresses.len());
    Err(vec![Mistake::new(
        value.span(),
        what,
        format!("1 to {LISTENERS_MAX} addresses"),
    )])
}

fn host(value: &Value<'_>) -> Reading<HostPattern> {
    value::parsed(
        "a host name: \"example.org\", \"*.example.org\"",
        str::parse::<HostPattern>,
    )(value)
}

fn network(value: &Value<'_>) -> Reading<IpNet> {
    value::parsed(
        "a network or an address: \"10.0.0.0/8\", \"::1\"",
        parse_network,
    )(value)
}

/// A token of RFC 9110 section 5.6.2 that begins with a letter, as a token of RFC 9651 must.
fn name(value: &Value<'_>) -> Reading<String> {
    let is_name = |name: &str| {
        name.len() <= NAME_BYTES_MAX
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
    };
    value::parsed(
        "a letter, then up to 63 letters, digits, `-`, `.` or `_`",
        |name| {
            is_name(name)
                .then(|| name.to_owned())
                .ok_or_else(|| format!("`{name}` is not a token"))
        },
    )(value)
}
