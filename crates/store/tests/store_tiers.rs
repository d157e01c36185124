//! Memory over flash: what one does for the other, and what neither may do.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt;
use larder_admission::Reject;
use larder_store::device::MemDevice;
use larder_store::{
    DiskOptions, Key, Object, PIECE_BYTES, RamReject, RecoveryState, SsdOptions, SsdVerdict, Store,
    StoreOptions, Stored, Tier, UpdateError,
};

const DEVICE_BYTES: usize = 32 << 20;
const RAM_BYTES: u64 = 4 << 20;

async fn open(device: Arc<MemDevice>, ram_bytes: u64) -> Store<Bytes> {
    let disk = DiskOptions {
        format_seed: 11,
        ..DiskOptions::default()
    };
    let options = StoreOptions {
        ssd: Some(SsdOptions { device, disk }),
        ..StoreOptions::new(ram_bytes)
    };
    Store::open(options).await.expect("a blank device opens")
}

async fn blank(ram_bytes: u64) -> (Store<Bytes>, Key) {
    let store = open(Arc::new(MemDevice::new(DEVICE_BYTES)), ram_bytes).await;
    let key = store.key(Bytes::from_static(b"key"));
    (store, key)
}

async fn put(store: &Store<Bytes>, key: &Key, fill: u8, body_bytes: usize) -> Stored {
    let mut writer = store.writer(key.clone(), Some(body_bytes as u64));
    for piece in vec![fill; body_bytes].chunks(PIECE_BYTES) {
        writer.write(Bytes::copy_from_slice(piece)).await;
    }
    writer.finish(Bytes::from(vec![fill])).await
}

async fn content(object: &Object<Bytes>) -> Vec<u8> {
    let pieces: Vec<Bytes> = object
        .body
        .read(0..u64::MAX)
        .try_collect()
        .await
        .expect("nothing overwrites it");
    pieces.concat()
}

/// Makes memory forget everything.
fn forget(store: &Store<Bytes>) {
    store.set_ram_bytes(0);
    store.set_ram_bytes(RAM_BYTES);
}

async fn tier(store: &Store<Bytes>, key: &Key) -> Option<Tier> {
    store.get(key).await.map(|object| object.tier)
}

#[tokio::test]
async fn what_memory_gave_up_comes_back_from_flash_and_stays() {
    let (store, key) = blank(RAM_BYTES).await;
    for body_bytes in [0, 1, 3000, PIECE_BYTES + 1, 200_000] {
        let stored = put(&store, &key, 7, body_bytes).await;
        assert_eq!((stored.ram, stored.ssd), (Ok(()), SsdVerdict::Stored));
        forget(&store);
        let object = store.get(&key).await.expect("on flash");
        assert_eq!(object.tier, Tier::Ssd);
        assert_eq!(object.meta.as_ref(), &[7][..]);
        assert_eq!(content(&object).await, vec![7; body_bytes]);

        let object = store.get_ram(&key).expect("offered to memory");
        assert_eq!(content(&object).await, vec![7; body_bytes]);
        assert_eq!(object.body.as_single().is_some(), body_bytes <= PIECE_BYTES);
    }
}

#[tokio::test]
async fn a_large_body_is_read_from_flash_in_parts() {
    let (store, key) = blank(RAM_BYTES).await;
    let stored = put(&store, &key, 9, 3 << 20).await;
    let too_large = RamReject::Policy(Reject::TooLarge);
    assert_eq!(
        (stored.ram, stored.ssd),
        (Err(too_large), SsdVerdict::Stored)
    );
    let object = store.get(&key).await.expect("on flash");
    assert_eq!((object.tier, object.body.len()), (Tier::Ssd, 3 << 20));
    let mut reader = object.body.read(1_000_000..2_000_000);
    let mut remaining = reader.remaining();
    assert_eq!(remaining, 1_000_000);
    while let Some(piece) = reader.try_next().await.expect("nothing overwrites it") {
        remaining -= piece.len() as u64;
        assert_eq!(reader.remaining(), remaining);
    }
    assert_eq!(remaining, 0);
    assert_eq!(tier(&store, &key).await, Some(Tier::Ssd), "not in memory");
}

#[tokio::test]
async fn a_removal_reaches_both_tiers_and_open_writers() {
    let (store, key) = blank(RAM_BYTES).await;
    put(&store, &key, 1, 100).await;
    let mut writer = store.writer(key.clone(), None);
    writer.write(Bytes::from_static(b"late")).await;
    let removed = store.remove(&key).await.expect("the device works");
    assert!(removed.ram && removed.ssd);
    let stored = writer.finish(Bytes::new()).await;
    assert_eq!(stored.ram, Err(RamReject::Purged));
    assert_eq!(stored.ssd, SsdVerdict::Purged);
    assert_eq!(tier(&store, &key).await, None);
    let removed = store.remove(&key).await.expect("the device works");
    assert!(!removed.ram && !removed.ssd);
}

#[tokio::test]
async fn new_metadata_reaches_both_tiers() {
    let (store, key) = blank(RAM_BYTES).await;
    put(&store, &key, 1, 100).await;
    for (forget_first, meta) in [(false, "from memory"), (true, "from flash")] {
        if forget_first {
            forget(&store);
        }
        let object = store.get(&key).await.expect("stored");
        let update = store.update_meta(&key, Bytes::from_static(meta.as_bytes()), &object);
        assert_eq!(update.await.expect("stored").as_ref(), meta);
        let object = store.get(&key).await.expect("in memory");
        assert_eq!(
            (object.tier, object.meta.as_ref().as_ref()),
            (Tier::Ram, meta.as_bytes())
        );
        forget(&store);
        let object = store.get(&key).await.expect("on flash");
        assert_eq!(
            (object.tier, object.meta.as_ref().as_ref()),
            (Tier::Ssd, meta.as_bytes())
        );
        assert_eq!(content(&object).await, vec![1; 100]);
    }
}

#[tokio::test]
async fn new_metadata_is_not_for_a_body_that_was_replaced_or_removed() {
    let (store, key) = blank(RAM_BYTES).await;
    put(&store, &key, 1, 100).await;
    let in_ram = store.get(&key).await.expect("stored");
    forget(&store);
    let on_ssd = store.get(&key).await.expect("stored");
    put(&store, &key, 2, 100).await;
    for object in [&in_ram, &on_ssd] {
        let update = store
            .update_meta(&key, Bytes::from_static(b"old"), object)
            .await;
        assert!(matches!(update, Err(UpdateError::NotStored)), "{update:?}");
    }
    store.remove(&key).await.expect("the device works");
    for object in [&in_ram, &on_ssd] {
        let update = store
            .update_meta(&key, Bytes::from_static(b"old"), object)
            .await;
        assert!(matches!(update, Err(UpdateError::NotStored)), "{update:?}");
    }
    assert_eq!(tier(&store, &key).await, None);
}

#[tokio::test]
async fn writes_that_overlap_leave_the_decision_to_flash() {
    let (store, key) = blank(RAM_BYTES).await;
    let (first, second) = tokio::join!(put(&store, &key, 1, 50_000), put(&store, &key, 2, 50_000));
    assert!(first.ssd == SsdVerdict::Stored && second.ssd == SsdVerdict::Stored);
    let now = store.get(&key).await.expect("the newer one");
    forget(&store);
    let later = store.get(&key).await.expect("the same");
    assert_eq!(content(&now).await, content(&later).await);
    assert_eq!(now.meta, later.meta);
}

#[tokio::test]
async fn what_flash_refuses_is_not_found_there_in_an_older_version() {
    let (store, key) = blank(64 << 20).await;
    put(&store, &key, 1, 100).await;
    // More than half of the device: no log could hold it.
    let stored = put(&store, &key, 2, DEVICE_BYTES).await;
    assert_eq!(stored.ssd, SsdVerdict::TooLarge);
    store.set_ram_bytes(0);
    assert_eq!(tier(&store, &key).await, None);
}

#[tokio::test]
async fn a_restart_finds_what_was_closed_and_nothing_that_was_removed() {
    let device = Arc::new(MemDevice::new(DEVICE_BYTES));
    let store = open(Arc::clone(&device), RAM_BYTES).await;
    let keys: Vec<Key> = (0..20_u8)
        .map(|n| store.key(Bytes::from(vec![n])))
        .collect();
    for (key, fill) in keys.iter().zip(0..) {
        put(&store, key, fill, 5000).await;
    }
    for key in &keys[..10] {
        store.remove(key).await.expect("the device works");
    }
    store.close().await;
    assert_eq!(
        tier(&store, &keys[19]).await,
        Some(Tier::Ram),
        "memory still answers"
    );

    let store = open(Arc::new(MemDevice::from_image(device.image())), RAM_BYTES).await;
    while store
        .stats()
        .ssd
        .is_some_and(|ssd| ssd.recovery == RecoveryState::Running)
    {
        tokio::task::yield_now().await;
    }
    for (key, fill) in keys.iter().zip(0_u8..) {
        let object = store.get(key).await;
        assert_eq!(object.is_some(), fill >= 10, "object {fill}");
        if let Some(object) = object {
            assert_eq!(content(&object).await, vec![fill; 5000]);
        }
    }
}

#[tokio::test]
async fn a_write_that_was_dropped_half_way_stores_nothing() {
    let (store, key) = blank(RAM_BYTES).await;
    let mut writer = store.writer(key.clone(), None);
    writer.write(Bytes::from_static(b"one ")).await;
    drop(writer.write(Bytes::from_static(b"two ")));
    writer.write(Bytes::from_static(b"three")).await;
    let stored = writer.finish(Bytes::new()).await;
    assert_eq!(stored.ram, Err(RamReject::Interrupted));
    assert_eq!(stored.ssd, SsdVerdict::Interrupted);
    assert_eq!(tier(&store, &key).await, None);
}
