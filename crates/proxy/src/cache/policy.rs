//! What an operator decides about caching.

use std::time::Duration;

use ipnet::IpNet;

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
            purge_allow: vec![
                IpNet::from(std::net::IpAddr::from([127, 0, 0, 1])),
                IpNet::from(std::net::IpAddr::from(std::net::Ipv6Addr::LOCALHOST)),
            ],
        }
    }
}
