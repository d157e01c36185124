//! Which keys are being fetched now: at most one fetch a key.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use larder_store::{Key, Object};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::Window;
use crate::cache::OriginFailure;
use crate::meta::StoredMeta;
use crate::rules::detail::Detail;
use crate::rules::vary::VarySpec;

/// Fetches that may run at once and be joined. Beyond it a request is passed: the bound is on
/// memory (a few hundred bytes each), origin connections are bounded elsewhere.
pub const FLIGHTS_MAX: usize = 65_536;

const SHARDS: usize = 64;

/// Running fetches by their keys' hashes.
type Shard = Mutex<HashMap<u128, Arc<Flight>>>;

/// All running fetches.
#[derive(Debug)]
pub struct FlightTable {
    shards: Box<[Shard]>,
    count: AtomicUsize,
}

/// One running fetch.
#[derive(Debug)]
pub struct Flight {
    key: u128,
    /// The URL's key, without the variant: what a purge names.
    primary: u128,
    phase: watch::Sender<Phase>,
    purged: AtomicBool,
}

/// How far a fetch is, as those who wait for it see it.
#[derive(Clone, Debug)]
pub enum Phase {
    /// No answer from the origin yet.
    Waiting,
    /// A storable answer arrives.
    Streaming(Streaming),
    /// The origin confirmed what was stored.
    Object(Object<StoredMeta>),
    /// Nothing to share.
    Released(Release),
}

/// A storable answer on its way.
#[derive(Clone, Debug)]
pub struct Streaming {
    /// Status, headers and freshness.
    pub meta: Arc<StoredMeta>,
    /// The body so far.
    pub window: Arc<Window>,
    /// Length of the body, when the origin said it.
    pub body_bytes: Option<u64>,
    /// The key under which the answer will be stored: who computes another one from its own
    /// request headers was not meant (RFC 9111 §4.1).
    pub variant: Option<Variant>,
}

/// What a request's headers must match to share an answer that varies.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The generation of the URL's variants.
    pub generation: u64,
    /// The header names of `Vary`.
    pub spec: VarySpec,
    /// The variant's key.
    pub key: Key,
}

/// Why nothing is shared.
#[derive(Clone, Debug)]
pub enum Release {
    /// The answer may not be stored; each asks for itself.
    Uncacheable(Detail),
    /// The origin failed.
    Failed(OriginFailure),
}

/// What [`FlightTable::join`] gave.
#[derive(Debug)]
pub enum Join {
    /// Nobody fetches this key: the caller does.
    Lead(FlightPermit),
    /// Somebody does.
    Follow(Arc<Flight>),
    /// Too many fetches run; go alone.
    Full,
}

/// The right, and the duty, to fetch. Dropping it ends the flight; if nothing was published its
/// followers are released with a failure, and one of them leads anew.
#[derive(Debug)]
pub struct FlightPermit {
    table: Arc<FlightTable>,
    flight: Arc<Flight>,
}

impl FlightTable {
    /// An empty table.
    pub fn new() -> Arc<Self> {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Arc::new(Self {
            shards,
            count: AtomicUsize::new(0),
        })
    }

    fn shard(&self, key: u128) -> &Mutex<HashMap<u128, Arc<Flight>>> {
        &self.shards[key as usize % SHARDS]
    }

    /// Joins the fetch of `key`, or starts it.
    pub fn join(self: &Arc<Self>, key: &Key, primary: &Key) -> Join {
        let mut shard = self.shard(key.hash()).lock();
        if let Some(flight) = shard.get(&key.hash()) {
            return Join::Follow(Arc::clone(flight));
        }
        if self.count.load(Ordering::Relaxed) >= FLIGHTS_MAX {
            return Join::Full;
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        let flight = Arc::new(Flight {
            key: key.hash(),
            primary: primary.hash(),
            phase: watch::Sender::new(Phase::Waiting),
            purged: AtomicBool::new(false),
        });
        shard.insert(key.hash(), Arc::clone(&flight));
        Join::Lead(FlightPermit {
            table: Arc::clone(self),
            flight,
        })
    }

    /// Nobody joins `flight` from now on; its own followers stay.
    pub fn detach(&self, flight: &Arc<Flight>) {
        let mut shard = self.shard(flight.key).lock();
        if shard
            .get(&flight.key)
            .is_some_and(|current| Arc::ptr_eq(current, flight))
        {
            shard.remove(&flight.key);
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Forbids every running fetch of the URL to store what it brings, and anybody to join it.
    /// Looks at all flights, since variants live under other keys: a purge is rare and the table
    /// is bounded.
    pub fn purge(&self, primary: &Key) -> usize {
        let mut purged = 0;
        for shard in &self.shards {
            shard.lock().retain(|_, flight| {
                let hit = flight.primary == primary.hash();
                if hit {
                    flight.purged.store(true, Ordering::SeqCst);
                    self.count.fetch_sub(1, Ordering::Relaxed);
                    purged += 1;
                }
                !hit
            });
        }
        purged
    }

    /// Fetches running now.
    pub fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// No fetch runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Flight {
    /// Waits for the answer's head, or for the news that there is none to share. Cancel safe.
    pub async fn head(&self) -> Phase {
        let mut phase = self.phase.subscribe();
        let waited = phase
            .wait_for(|phase| !matches!(phase, Phase::Waiting))
            .await;
        match waited {
            Ok(phase) => phase.clone(),
            Err(_) => Phase::Released(Release::Failed(OriginFailure::Abandoned)),
        }
    }

    /// Whether a purge overtook this fetch.
    pub fn is_purged(&self) -> bool {
        self.purged.load(Ordering::SeqCst)
    }
}

impl FlightPermit {
    /// The flight that this permit leads.
    pub fn flight(&self) -> &Arc<Flight> {
        &self.flight
    }

    /// Tells the followers.
    pub fn publish(&self, phase: Phase) {
        self.flight.phase.send_replace(phase);
    }

    /// Ends the flight with nothing to share.
    pub fn release(self, release: Release) {
        self.table.detach(&self.flight);
        self.publish(Phase::Released(release));
    }
}

impl Drop for FlightPermit {
    fn drop(&mut self) {
        self.table.detach(&self.flight);
        self.flight.phase.send_if_modified(|phase| {
            let waiting = matches!(phase, Phase::Waiting);
            if waiting {
                *phase = Phase::Released(Release::Failed(OriginFailure::Abandoned));
            }
            waiting
        });
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn key(name: &'static str) -> Key {
        Key::new(Bytes::from_static(name.as_bytes()), 7)
    }

    #[tokio::test]
    async fn the_second_follows_and_learns_of_a_dropped_leader() {
        let table = FlightTable::new();
        let Join::Lead(permit) = table.join(&key("a"), &key("a")) else {
            panic!("must lead")
        };
        let Join::Follow(flight) = table.join(&key("a"), &key("a")) else {
            panic!("must follow")
        };
        drop(permit);
        assert!(matches!(
            flight.head().await,
            Phase::Released(Release::Failed(OriginFailure::Abandoned))
        ));
        assert!(matches!(table.join(&key("a"), &key("a")), Join::Lead(_)));
        assert!(table.is_empty());
    }

    #[test]
    fn a_purge_marks_every_variant_and_lets_nobody_join() {
        let table = FlightTable::new();
        let Join::Lead(one) = table.join(&key("a/1"), &key("a")) else {
            panic!("must lead")
        };
        let Join::Lead(two) = table.join(&key("a/2"), &key("a")) else {
            panic!("must lead")
        };
        let Join::Lead(other) = table.join(&key("b"), &key("b")) else {
            panic!("must lead")
        };
        assert_eq!(table.purge(&key("a")), 2);
        assert!(one.flight().is_purged() && two.flight().is_purged());
        assert!(!other.flight().is_purged());
        let Join::Lead(again) = table.join(&key("a/1"), &key("a")) else {
            panic!("must lead")
        };
        drop(one);
        assert!(matches!(
            table.join(&key("a/1"), &key("a")),
            Join::Follow(_)
        ));
        drop((again, two, other));
        assert!(table.is_empty());
    }
}
