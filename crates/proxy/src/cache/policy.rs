//! What an operator decides about caching.

use std::time::Duration;

use ipnet::IpNet;

use crate::config::HostPattern;
use crate::rules::cacheable::StorePolicy;
use crate::rules::fresh::FreshPolicy;
use crate::rules::pseudonym::Pseudonym;
use crate::rules::stale::StalePolicy;

/// The cache core's settings; `Default` is what `larder serve` does unasked.
#[derive(Clone, Debug)]
pub struct CachePolicy {
    /// What larder calls itself in `Via`, `CDN-Loop` and `Cache-Status`.
    pub name: Pseudonym,
    /// What may be stored.
    pub store: StorePolicy,
    /// For how long, where the origin does not say.
    pub fresh: FreshPolicy,
    /// For how long past that, when the origin fails.
    pub stale: StalePolicy,
    /// Largest body that is stored; larger ones are passed.
    pub object_bytes_max: u64,
    /// How long a request waits for the head of another's fetch before it sees to itself.
    pub collapse_wait: Duration,
    /// How long a key that proved uncacheable is not collapsed.
    pub hit_for_miss: Duration,
    /// The hosts that are served; empty means every host.
    pub hosts: Vec<HostPattern>,
    /// Who may purge by `PURGE`.
    pub purge_allow: Vec<IpNet>,
}

impl Default for CachePolicy {
    fn default() -> Self {
        Self {
            name: Pseudonym::new("larder").expect("invariant: a token"),
            store: StorePolicy::default(),
            fresh: FreshPolicy::default(),
            stale: StalePolicy::default(),
            object_bytes_max: 32 << 30,
            collapse_wait: Duration::from_secs(10),
            hit_for_miss: Duration::from_secs(120),
            hosts: Vec::new(),
            purge_allow: vec![
                IpNet::from(std::net::IpAddr::from([127, 0, 0, 1])),
                IpNet::from(std::net::IpAddr::from(std::net::Ipv6Addr::LOCALHOST)),
            ],
        }
    }
}

impl CachePolicy {
    /// Whether a host (lower case, without port) is served.
    pub fn serves(&self, host: &str) -> bool {
        self.hosts.is_empty() || self.hosts.iter().any(|pattern| pattern.matches(host))
    }
}
