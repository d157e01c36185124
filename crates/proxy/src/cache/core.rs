//! What every request shares.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use larder_store::{Key, Store};

use super::budget::FillBudget;
use super::clock::Clock;
use super::events::Events;
use super::flight::FlightTable;
use super::hit_for_miss::HitForMiss;
use super::policy::CachePolicy;
use crate::meta::StoredMeta;
use crate::rules::date::Millis;
use crate::rules::key::primary_key;
use crate::rules::normalize::Target;

/// The cache core's state: the store, the running fetches, what it remembers.
pub struct Core {
    /// Memory and flash.
    pub store: Store<StoredMeta>,
    /// Fetches in flight.
    pub flights: Arc<FlightTable>,
    /// What proved uncacheable lately.
    pub hit_for_miss: HitForMiss,
    /// What the operator decided.
    pub policy: CachePolicy,
    /// The time of day.
    pub clock: Clock,
    /// Memory for bodies in flight.
    pub fills: FillBudget,
    /// What happened, for the metrics.
    pub events: Events,
}

impl Core {
    /// A core over `store`, whose fetches in flight may hold `fill_bytes`.
    pub fn new(store: Store<StoredMeta>, policy: CachePolicy, fill_bytes: u64) -> Arc<Self> {
        Self::with_clock(store, policy, fill_bytes, Clock::System)
    }

    /// As [`Core::new`], with a clock of the caller's.
    pub fn with_clock(
        store: Store<StoredMeta>,
        policy: CachePolicy,
        fill_bytes: u64,
        clock: Clock,
    ) -> Arc<Self> {
        Arc::new(Self {
            store,
            flights: FlightTable::new(),
            hit_for_miss: HitForMiss::default(),
            policy,
            clock,
            fills: FillBudget::new(fill_bytes),
            events: Events::default(),
        })
    }

    /// Now.
    pub fn now(&self) -> Millis {
        self.clock.now()
    }

    /// The key under which a URL's object, or the index of its variants, is stored.
    pub fn key_of(&self, target: &Target) -> Key {
        self.store.key(primary_key(target))
    }

    /// A store key from bytes that a rule made.
    pub fn key(&self, bytes: Bytes) -> Key {
        self.store.key(bytes)
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core")
            .field("flights", &self.flights.len())
            .finish_non_exhaustive()
    }
}
