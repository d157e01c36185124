//! The RAM tier against a map: whatever the order of operations, the budget is kept, what is found
//! is the newest, and what was removed is gone.

use std::collections::HashMap;

use bytes::Bytes;
use futures_util::{FutureExt, TryStreamExt};
use larder_store::{Body, Key, Object, Store, StoreOptions, WriteError};
use proptest::prelude::*;

const RAM_BYTES: u64 = 16 << 10;

#[derive(Clone, Debug)]
enum Op {
    Put { key: u8, pieces: Vec<u16> },
    Abandon { key: u8, piece: u16 },
    Get { key: u8 },
    Update { key: u8, meta_bytes: u8 },
    Remove { key: u8 },
    Resize { ram_bytes: u64 },
}

fn op() -> impl Strategy<Value = Op> {
    let key = 0_u8..12;
    let pieces = prop::collection::vec(0_u16..1500, 0..5);
    prop_oneof![
        6 => (key.clone(), pieces).prop_map(|(key, pieces)| Op::Put { key, pieces }),
        1 => (key.clone(), 0_u16..1500).prop_map(|(key, piece)| Op::Abandon { key, piece }),
        6 => key.clone().prop_map(|key| Op::Get { key }),
        2 => (key.clone(), 0_u8..200).prop_map(|(key, meta_bytes)| Op::Update { key, meta_bytes }),
        1 => key.prop_map(|key| Op::Remove { key }),
        1 => (0..2 * RAM_BYTES).prop_map(|ram_bytes| Op::Resize { ram_bytes }),
    ]
}

/// The store, and the newest (metadata, body) of each key that was ever stored.
struct Twins {
    store: Store<Bytes>,
    newest: HashMap<u8, (Bytes, Vec<u8>)>,
    fill: u8,
}

impl Twins {
    fn new() -> Self {
        let options = StoreOptions::new(RAM_BYTES);
        Self {
            store: now(Store::open(options)).expect("memory opens"),
            newest: HashMap::new(),
            fill: 0,
        }
    }

    fn key(&self, key: u8) -> Key {
        self.store.key(Bytes::from(vec![key]))
    }

    fn run(&mut self, op: Op) {
        match op {
            Op::Put { key, pieces } => self.put(key, &pieces),
            Op::Abandon { key, piece } => {
                let mut writer = self.store.writer(self.key(key), None);
                now(writer.write(Bytes::from(vec![0; piece.into()])));
            }
            Op::Get { key } => {
                self.get(key);
            }
            Op::Update { key, meta_bytes } => self.update(key, meta_bytes),
            Op::Remove { key } => {
                let resident = self.get(key).is_some();
                let removed = now(self.store.remove(&self.key(key))).expect("memory forgets");
                assert_eq!((removed.ram, removed.ssd), (resident, false));
                self.newest.remove(&key);
                assert!(self.get(key).is_none());
            }
            Op::Resize { ram_bytes } => self.store.set_ram_bytes(ram_bytes),
        }
        let ram = self.store.stats().ram;
        assert!(ram.used_bytes <= ram.budget_bytes, "{ram:?}");
        assert_eq!(ram.writing_bytes, 0);
    }

    fn put(&mut self, key: u8, pieces: &[u16]) {
        self.fill = self.fill.wrapping_add(1);
        let mut writer = self.store.writer(self.key(key), None);
        let mut body = Vec::new();
        for &bytes in pieces {
            let piece = vec![self.fill; bytes.into()];
            body.extend_from_slice(&piece);
            now(writer.write(Bytes::from(piece)));
        }
        let meta = Bytes::from(vec![self.fill; 3]);
        let stored = now(writer.finish(meta.clone()));
        self.newest.insert(key, (meta, body));
        assert_eq!(self.get(key).is_some(), stored.ram.is_ok(), "{stored:?}");
    }

    fn get(&self, key: u8) -> Option<Object<Bytes>> {
        let object = now(self.store.get(&self.key(key)))?;
        let (meta, body) = self.newest.get(&key).expect("nothing comes from nowhere");
        assert_eq!(object.meta.as_ref(), meta);
        assert_eq!(&content(&object.body), body);
        Some(object)
    }

    fn update(&mut self, key: u8, meta_bytes: u8) {
        let Some(object) = self.get(key) else { return };
        let meta = Bytes::from(vec![key; meta_bytes.into()]);
        let updated = now(self
            .store
            .update_meta(&self.key(key), meta.clone(), &object));
        assert_eq!(updated.expect("it is resident").as_ref(), &meta);
        if let Some((newest, _)) = self.newest.get_mut(&key) {
            *newest = meta;
        }
        self.get(key);
    }
}

/// Memory never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("memory never waits")
}

fn content(body: &Body) -> Vec<u8> {
    let pieces: Vec<Bytes> =
        now(body.read(0..body.len()).try_collect()).expect("memory does not fail");
    pieces.concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn behaves_as_the_map(ops in prop::collection::vec(op(), 1..150)) {
        let mut twins = Twins::new();
        for op in ops {
            twins.run(op);
        }
        twins.store.set_ram_bytes(0);
        let ram = twins.store.stats().ram;
        prop_assert_eq!((ram.objects, ram.used_bytes), (0, 0));
    }
}

#[test]
fn metadata_is_not_given_to_another_body() {
    let mut twins = Twins::new();
    twins.put(1, &[100]);
    let old = twins.get(1).expect("stored");
    twins.put(1, &[100]);
    let key = twins.key(1);
    let update = now(twins
        .store
        .update_meta(&key, Bytes::from_static(b"new"), &old));
    assert!(matches!(update, Err(WriteError::NotStored)));
    twins
        .get(1)
        .expect("the second body, with its own metadata");
}

#[test]
fn an_object_outlives_its_eviction() {
    let mut twins = Twins::new();
    twins.put(1, &[1000, 1000]);
    let object = twins.get(1).expect("stored");
    twins.store.set_ram_bytes(0);
    assert!(twins.get(1).is_none());
    assert_eq!(content(&object.body), vec![1; 2000]);
}
