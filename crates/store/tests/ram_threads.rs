//! Many threads, few keys: no answer is ever a mixture or somebody else's.

use std::sync::Barrier;
use std::thread;

use bytes::Bytes;
use futures_util::{FutureExt, TryStreamExt};
use larder_store::{Object, Store, StoreOptions};

const THREADS: u64 = 4;
const OPS: usize = 20_000;
const KEYS: u32 = 200;
const SEED: u64 = 0x1A2D_E201;

#[test]
fn what_is_found_is_what_somebody_stored() {
    println!("seed {SEED:#x}");
    let store = now(Store::open(StoreOptions::new(1 << 20))).expect("memory opens");
    let start = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, start) = (store.clone(), &start);
            scope.spawn(move || {
                start.wait();
                work(&store, fastrand::Rng::with_seed(SEED ^ thread));
            });
        }
    });
    let ram = store.stats().ram;
    assert!(ram.used_bytes <= ram.budget_bytes);
    assert!(
        ram.hits > 0 && ram.evicted > 0 && ram.removed > 0,
        "{ram:?}"
    );
    assert_eq!(ram.writing_bytes, 0);
    store.set_ram_bytes(0);
    assert_eq!(store.stats().ram.used_bytes, 0);
}

fn work(store: &Store<Bytes>, mut rng: fastrand::Rng) {
    for _ in 0..OPS {
        let number = rng.u32(..KEYS);
        let key = store.key(Bytes::from(format!("key {number}")));
        match rng.u8(..20) {
            0 => drop(now(store.remove(&key))),
            1 => store.set_ram_bytes(rng.u64(1 << 18..1 << 20)),
            2..9 => {
                let mut writer = store.writer(key, None);
                let fill = rng.u8(..);
                for _ in 0..rng.u8(..4) {
                    now(writer.write(Bytes::from(vec![fill; rng.usize(..20_000)])));
                }
                now(writer.finish(Bytes::from(format!("{number} {fill}"))));
            }
            _ => {
                if let Some(object) = store.get_ram(&key) {
                    check(number, &object);
                }
            }
        }
    }
    store.set_ram_bytes(1 << 20);
}

/// The metadata says whose body it is and of which byte.
fn check(number: u32, object: &Object<Bytes>) {
    let pieces: Vec<Bytes> =
        now(object.body.read(0..u64::MAX).try_collect()).expect("memory does not fail");
    let fill = pieces.first().map(|piece| piece[0]);
    assert!(pieces.iter().flatten().all(|&byte| Some(byte) == fill));
    let meta = std::str::from_utf8(&object.meta).expect("written as text");
    let (whose, of) = meta.split_once(' ').expect("two words");
    assert_eq!(whose.parse(), Ok(number));
    if let Some(fill) = fill {
        assert_eq!(of.parse(), Ok(fill));
    }
}

/// Memory never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("memory never waits")
}
