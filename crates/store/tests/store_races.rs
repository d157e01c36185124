//! A flash lookup that is overtaken: what it read must not enter memory any more.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use larder_store::device::{AlignedBuf, Device, IoFuture, MemDevice};
use larder_store::{DiskOptions, Key, SsdOptions, SsdVerdict, Store, StoreOptions};
use tokio::sync::watch;

const RAM_BYTES: u64 = 4 << 20;

/// A device whose reads see what was there when they began, and end when the gate is open.
struct Gated {
    device: MemDevice,
    open: watch::Sender<bool>,
    reads: watch::Sender<u64>,
}

impl Device for Gated {
    fn len_bytes(&self) -> u64 {
        self.device.len_bytes()
    }

    fn read(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        let read = self.device.read(offset, buf);
        let mut open = self.open.subscribe();
        self.reads.send_modify(|reads| *reads += 1);
        Box::pin(async move {
            let done = read.await;
            let _ = open.wait_for(|open| *open).await;
            done
        })
    }

    fn write(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        self.device.write(offset, buf)
    }

    fn sync(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> {
        self.device.sync()
    }

    fn name(&self) -> &'static str {
        "gated"
    }
}

/// A store with an old object on flash and nothing in memory.
async fn store() -> (Store<Bytes>, Key, Arc<Gated>) {
    let device = Arc::new(Gated {
        device: MemDevice::new(32 << 20),
        open: watch::Sender::new(true),
        reads: watch::Sender::new(0),
    });
    let ssd = SsdOptions {
        device: Arc::clone(&device) as Arc<dyn Device>,
        disk: DiskOptions {
            format_seed: 12,
            ..DiskOptions::default()
        },
    };
    let options = StoreOptions {
        ssd: Some(ssd),
        ..StoreOptions::new(RAM_BYTES)
    };
    let store = Store::open(options).await.expect("a blank device opens");
    let key = store.key(Bytes::from_static(b"key"));
    put(&store, &key, b"old").await;
    store.flush().await;
    forget(&store);
    (store, key, device)
}

async fn put(store: &Store<Bytes>, key: &Key, body: &'static [u8]) {
    let mut writer = store.writer(key.clone(), None);
    writer.write(Bytes::from_static(body)).await;
    let stored = writer.finish(Bytes::new()).await;
    assert_eq!(stored.ssd, SsdVerdict::Stored);
}

/// Makes memory forget everything.
fn forget(store: &Store<Bytes>) {
    store.set_ram_bytes(0);
    store.set_ram_bytes(RAM_BYTES);
}

/// Runs `meanwhile` between the read of a lookup and its end.
async fn overtake(
    store: &Store<Bytes>,
    key: &Key,
    device: &Gated,
    meanwhile: impl Future<Output = ()>,
) {
    let before = *device.reads.borrow();
    device.open.send_replace(false);
    let lookup = tokio::spawn({
        let (store, key) = (store.clone(), key.clone());
        async move { store.get_ssd(&key).await }
    });
    let mut reads = device.reads.subscribe();
    let begun = reads.wait_for(|reads| *reads > before).await;
    drop(begun.expect("the device lives"));
    meanwhile.await;
    device.open.send_replace(true);
    let object = lookup.await.expect("no panic");
    let body = object.and_then(|object| object.body.as_single().cloned());
    assert_eq!(body, Some(Bytes::from_static(b"old")), "it began before");
}

#[tokio::test]
async fn nothing_comes_between() {
    let (store, key, device) = store().await;
    overtake(&store, &key, &device, async {}).await;
    assert!(store.get_ram(&key).is_some(), "offered and taken");
}

#[tokio::test]
async fn a_removal_comes_between() {
    let (store, key, device) = store().await;
    let remove = async {
        let removed = store.remove(&key).await.expect("the device works");
        assert!(removed.ssd);
    };
    overtake(&store, &key, &device, remove).await;
    assert!(store.get(&key).await.is_none());
}

#[tokio::test]
async fn a_newer_object_comes_between_and_leaves_memory_again() {
    let (store, key, device) = store().await;
    let replace = async {
        put(&store, &key, b"new").await;
        forget(&store);
    };
    overtake(&store, &key, &device, replace).await;
    assert!(store.get_ram(&key).is_none());
    let object = store.get(&key).await.expect("on flash");
    assert_eq!(object.body.as_single().expect("small"), "new");
}
