//! Writes that cross a removal or one another.

use bytes::Bytes;
use futures_util::FutureExt;
use larder_admission::Reject;
use larder_store::{Key, RamReject, SsdVerdict, Store, StoreOptions, Stored, Writer};

fn store() -> (Store<Bytes>, Key) {
    let store = now(Store::open(StoreOptions::new(1 << 20))).expect("memory opens");
    let key = store.key(Bytes::from_static(b"key"));
    (store, key)
}

fn begin(store: &Store<Bytes>, key: &Key, body: &'static str) -> Writer<Bytes> {
    let mut writer = store.writer(key.clone(), None);
    now(writer.write(Bytes::from_static(body.as_bytes())));
    writer
}

fn finish(writer: Writer<Bytes>) -> Stored {
    now(writer.finish(Bytes::new()))
}

fn found(store: &Store<Bytes>, key: &Key) -> Option<Bytes> {
    store
        .get_ram(key)
        .and_then(|object| object.body.as_single().cloned())
}

/// Memory never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("memory never waits")
}

#[test]
fn a_removal_beats_the_writes_that_began_before_it() {
    let (store, key) = store();
    let (first, second) = (begin(&store, &key, "old"), begin(&store, &key, "old"));
    now(store.remove(&key)).expect("memory forgets");
    let third = begin(&store, &key, "new");

    assert_eq!(finish(first).ram, Err(RamReject::Purged));
    assert_eq!(found(&store, &key), None);
    assert_eq!(finish(third).ram, Ok(()));
    assert_eq!(finish(second).ram, Err(RamReject::Purged));
    assert_eq!(found(&store, &key), Some(Bytes::from_static(b"new")));
}

#[test]
fn a_removal_of_another_key_does_not_matter() {
    let (store, key) = store();
    let writer = begin(&store, &key, "body");
    let other = store.key(Bytes::from_static(b"other"));
    now(store.remove(&other)).expect("memory forgets");
    let stored = finish(writer);
    assert_eq!((stored.ram, stored.ssd), (Ok(()), SsdVerdict::Off));
}

#[test]
fn the_last_to_finish_wins() {
    let (store, key) = store();
    let (first, second) = (begin(&store, &key, "1"), begin(&store, &key, "2"));
    assert_eq!(finish(second).ram, Ok(()));
    assert_eq!(finish(first).ram, Ok(()));
    assert_eq!(found(&store, &key), Some(Bytes::from_static(b"1")));
}

#[test]
fn a_dropped_writer_leaves_what_was_there() {
    let (store, key) = store();
    finish(begin(&store, &key, "whole"));
    drop(begin(&store, &key, "half"));
    assert_eq!(found(&store, &key), Some(Bytes::from_static(b"whole")));
    assert_eq!(store.stats().ram.writing_bytes, 0);
}

#[test]
fn an_object_that_is_too_large_streams_past_and_takes_its_old_version_along() {
    let (store, key) = store();
    finish(begin(&store, &key, "small"));
    let mut writer = store.writer(key.clone(), None);
    for _ in 0..16 {
        now(writer.write(Bytes::from(vec![7; 64 << 10])));
    }
    assert_eq!(store.stats().ram.writing_bytes, 0, "given up on the way");
    let too_large = Err(RamReject::Policy(Reject::TooLarge));
    assert_eq!(finish(writer).ram, too_large);
    assert_eq!(found(&store, &key), None, "the old version is not newest");

    let hinted = store.writer(key, Some(1 << 20));
    assert_eq!(finish(hinted).ram, too_large);
    assert_eq!(
        store.stats().ram.rejected,
        [(RamReject::Policy(Reject::TooLarge), 2)]
    );
}
