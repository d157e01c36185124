//! Requests do not wait for recovery, and what they do wins over what recovery finds.
#![allow(
    clippy::unwrap_used,
    reason = "a story says what it expects by unwrapping"
)]

mod disk_support;

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use disk_support::*;
use larder_store::device::{AlignedBuf, Device, IoFuture, MemDevice};
use larder_store::{Disk, MissReason, RecoveryState};
use tokio::sync::watch;

/// Holds back reads of whole footers and segments until the gate opens; headers and the records of
/// hits are read at once.
struct Gate {
    device: MemDevice,
    open: watch::Sender<bool>,
}

impl Gate {
    fn new(image: Vec<u8>) -> Arc<Self> {
        Arc::new(Self {
            device: MemDevice::from_image(image),
            open: watch::Sender::new(false),
        })
    }

    fn is_trailer(offset: u64, buf: &AlignedBuf) -> bool {
        (offset + buf.len() as u64).is_multiple_of(MIB as u64) && offset > MIB as u64
    }
}

impl Device for Gate {
    fn len_bytes(&self) -> u64 {
        self.device.len_bytes()
    }

    fn read(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        let is_trailer = Self::is_trailer(offset, &buf);
        let read = self.device.read(offset, buf);
        if !is_trailer {
            return read;
        }
        let mut open = self.open.subscribe();
        Box::pin(async move {
            let _ = open.wait_for(|open| *open).await;
            read.await
        })
    }

    fn write(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        self.device.write(offset, buf)
    }

    fn sync(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> {
        self.device.sync()
    }

    fn name(&self) -> &'static str {
        "gate"
    }
}

/// Two segments of objects, closed.
async fn image() -> Vec<u8> {
    let device = Arc::new(MemDevice::new(32 * MIB));
    let disk = open(device.clone()).await;
    for n in 0..100 {
        let name = format!("key-{n}");
        put(&disk, &name, "old", &bytes(&name, 0, 15_000))
            .await
            .unwrap();
    }
    disk.close().await.unwrap();
    device.image()
}

#[tokio::test]
async fn what_happens_during_recovery_wins() {
    let gate = Gate::new(image().await);
    let disk = Disk::open(gate.clone(), options()).await.unwrap();
    assert!(disk.is_recovering());
    assert_eq!(
        get(&disk, "key-1").await.unwrap_err(),
        MissReason::Recovering
    );

    put(&disk, "key-2", "new", &bytes("key-2", 1, 10))
        .await
        .unwrap();
    assert_eq!(disk.remove(&key("key-3")).await, Ok(false));
    put(&disk, "key-4", "new", &bytes("key-4", 1, 10))
        .await
        .unwrap();
    assert_eq!(disk.remove(&key("key-4")).await, Ok(true));
    assert_eq!(fetch(&disk, "key-2").await.unwrap().0, "new");
    assert!(disk.is_recovering(), "no request waits for recovery");

    gate.open.send_replace(true);
    assert_eq!(disk.recovered().await, RecoveryState::Complete);
    assert_eq!(fetch(&disk, "key-1").await.unwrap().0, "old");
    assert_eq!(fetch(&disk, "key-2").await.unwrap().0, "new");
    for name in ["key-3", "key-4"] {
        assert_eq!(get(&disk, name).await.unwrap_err(), MissReason::Absent);
    }
    // Closed sets cost their other objects, and no more than those.
    assert!(disk.stats().recovered >= 80, "{:?}", disk.stats());

    disk.close().await.unwrap();
    let disk = open(Arc::new(MemDevice::from_image(gate.device.image()))).await;
    assert_eq!(fetch(&disk, "key-2").await.unwrap().0, "new");
    for name in ["key-3", "key-4"] {
        assert_eq!(get(&disk, name).await.unwrap_err(), MissReason::Absent);
    }
}

#[tokio::test]
async fn many_removals_shared_one_flush_and_all_hold() {
    let image = image().await;
    let device = Arc::new(MemDevice::from_image(image));
    let disk = open(device.clone()).await;
    let before = disk.stats().bytes_written;
    let removals = (0..50).map(|n| {
        let disk = disk.clone();
        tokio::spawn(async move { disk.remove(&key(&format!("key-{n}"))).await })
    });
    for removal in removals.collect::<Vec<_>>() {
        assert_eq!(removal.await.unwrap(), Ok(true));
    }
    // The segment's header and one block: fifty tombstones of 64 bytes.
    assert_eq!(disk.stats().bytes_written - before, 3 * 4096);
    drop(disk);
    let disk = open(device).await;
    for n in 0..100 {
        let found = get(&disk, &format!("key-{n}")).await;
        assert_eq!(found.is_ok(), n >= 50, "key-{n}");
    }
}

#[tokio::test]
async fn restarts_without_writes_change_nothing() {
    let image = image().await;
    let device = Arc::new(MemDevice::from_image(image.clone()));
    for _ in 0..3 {
        let disk = open(device.clone()).await;
        assert_eq!(disk.stats().recovered, 100);
        disk.close().await.unwrap();
    }
    assert!(device.image() == image);
}
