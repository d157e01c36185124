//! How many lookups a second does the RAM tier answer, next to a cache library and to a lock?
//!
//! A million resident objects of 200 bytes; 95 of 100 operations are lookups that hit, 5 replace
//! an object; keys are skewed (half of the requests go to an eighth of them). `quick_cache` is spared a
//! second hash of the key. The naive cache is one lock around a map and a queue, first in, first
//! out. Only ratios within one run mean anything.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures_util::FutureExt;
use larder_store::{Key, Store, StoreOptions};
use parking_lot::Mutex;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{Equivalent, OptionsBuilder, UnitWeighter};

const OBJECTS: usize = 1_000_000;
const BODY_BYTES: usize = 200;
const THREADS: [usize; 2] = [1, 2];
const SEED: u64 = 42;

type Value = (Arc<Bytes>, Bytes);

trait Contender: Sync {
    fn get(&self, key: &Key) -> Option<Value>;
    fn put(&self, key: &Key, value: Value);
}

struct Larder(Store<Bytes>);

impl Larder {
    fn new() -> Self {
        let opened = Store::open(StoreOptions::new(1 << 30)).now_or_never();
        Self(opened.expect("memory never waits").expect("memory opens"))
    }
}

impl Contender for Larder {
    fn get(&self, key: &Key) -> Option<Value> {
        let object = self.0.get_ram(key)?;
        Some((object.meta, object.body.as_single()?.clone()))
    }

    fn put(&self, key: &Key, (meta, body): Value) {
        let mut writer = self.0.writer(key.clone(), None);
        let written = writer.write(body).now_or_never();
        written.expect("memory never waits");
        black_box(writer.finish(meta).now_or_never());
    }
}

/// The key as `quick_cache` likes it best.
#[derive(PartialEq, Eq, Clone)]
struct Hashed(Key);

impl Hash for Hashed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash() as u64);
    }
}

/// The same, borrowed.
struct Borrowed<'a>(&'a Key);

impl Hash for Borrowed<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash() as u64);
    }
}

impl Equivalent<Hashed> for Borrowed<'_> {
    fn equivalent(&self, other: &Hashed) -> bool {
        *self.0 == other.0
    }
}

#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

type Quick =
    Cache<Hashed, Value, UnitWeighter, BuildHasherDefault<AsIs>, DefaultLifecycle<Hashed, Value>>;

fn quick() -> Quick {
    let options = OptionsBuilder::new()
        .estimated_items_capacity(2 * OBJECTS)
        .weight_capacity(2 * OBJECTS as u64)
        .build()
        .expect("both set");
    Cache::with_options(
        options,
        UnitWeighter,
        BuildHasherDefault::default(),
        DefaultLifecycle::default(),
    )
}

impl Contender for Quick {
    fn get(&self, key: &Key) -> Option<Value> {
        Self::get(self, &Borrowed(key))
    }

    fn put(&self, key: &Key, value: Value) {
        self.insert(Hashed(key.clone()), value);
    }
}

#[derive(Default)]
struct Naive(Mutex<(HashMap<Bytes, Value>, VecDeque<Bytes>)>);

impl Contender for Naive {
    fn get(&self, key: &Key) -> Option<Value> {
        self.0.lock().0.get(key.bytes()).cloned()
    }

    fn put(&self, key: &Key, value: Value) {
        let (map, queue) = &mut *self.0.lock();
        if map.insert(key.bytes().clone(), value).is_none() {
            queue.push_back(key.bytes().clone());
        }
        if map.len() > 2 * OBJECTS
            && let Some(oldest) = queue.pop_front()
        {
            map.remove(&oldest);
        }
    }
}

fn value() -> Value {
    (
        Arc::new(Bytes::from_static(b"metadata")),
        Bytes::from(vec![7; BODY_BYTES]),
    )
}

/// `ops` operations on each of `threads` threads; the time of the slowest.
fn run(contender: &dyn Contender, keys: &[Key], threads: usize, ops: u64) -> Duration {
    let work = |thread: usize| {
        let mut rng = fastrand::Rng::with_seed(SEED + thread as u64);
        let start = Instant::now();
        for _ in 0..ops {
            // The cube of a uniform number: half of the requests for an eighth of the keys.
            let at = rng.f64().powi(3) * keys.len() as f64;
            let key = &keys[at as usize];
            if rng.u8(..100) < 95 {
                black_box(contender.get(key).expect("all are resident"));
            } else {
                contender.put(key, value());
            }
        }
        start.elapsed()
    };
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        let times = running.into_iter().filter_map(|run| run.join().ok());
        times.max().unwrap_or_default()
    })
}

fn hit_throughput(criterion: &mut Criterion) {
    let larder = Larder::new();
    let mut keys: Vec<Key> = (0..OBJECTS)
        .map(|number| larder.0.key(Bytes::from(format!("/objects/{number:09}"))))
        .collect();
    // Neighbours in popularity are not neighbours in memory.
    fastrand::Rng::with_seed(SEED).shuffle(&mut keys);
    compare(criterion, "larder", &larder, &keys);
    drop(larder);
    compare(criterion, "quick_cache", &quick(), &keys);
    compare(criterion, "naive", &Naive::default(), &keys);
}

fn compare(criterion: &mut Criterion, name: &str, contender: &dyn Contender, keys: &[Key]) {
    for key in keys {
        contender.put(key, value());
    }
    let mut group = criterion.benchmark_group("ram");
    for threads in THREADS {
        group.throughput(Throughput::Elements(threads as u64));
        group.bench_function(format!("{name}/{threads}"), |bencher| {
            bencher.iter_custom(|ops| run(contender, keys, threads, ops));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(5));
    targets = hit_throughput
}
criterion_main!(benches);
