//! Whose device is it? Nothing is wiped, and one good superblock is enough.
#![allow(
    clippy::unwrap_used,
    reason = "a story says what it expects by unwrapping"
)]

mod disk_support;

use std::sync::Arc;

use disk_support::*;
use larder_store::device::MemDevice;
use larder_store::{Disk, DiskOptions, OpenError};

async fn refused(image: Vec<u8>) -> OpenError {
    let device = Arc::new(MemDevice::from_image(image.clone()));
    let error = Disk::open(device.clone(), options()).await.unwrap_err();
    assert!(device.image() == image, "a refused device was written to");
    error
}

/// A device with one object in it.
async fn image() -> Vec<u8> {
    let device = Arc::new(MemDevice::new(16 * MIB));
    let disk = open(device.clone()).await;
    put(&disk, "a", "meta", &bytes("a", 0, 1000)).await.unwrap();
    disk.close().await.unwrap();
    device.image()
}

#[tokio::test]
async fn foreign_devices_are_refused_and_not_touched() {
    for at in [0, 510, 1024 + 56, 65_600, MIB - 1] {
        let mut image = vec![0; 16 * MIB];
        image[at] = 0x55;
        assert!(matches!(refused(image).await, OpenError::Foreign), "{at}");
    }
}

#[tokio::test]
async fn other_versions_are_refused_and_not_touched() {
    let mut image = image().await;
    image[16] = 2;
    image[MIB - 4096 + 16] = 2;
    let error = refused(image).await;
    assert_eq!(
        error.to_string(),
        "the store has format version 2, this larder reads version 1"
    );
}

#[tokio::test]
async fn damage_to_both_superblocks_is_refused() {
    let mut image = image().await;
    image[48] ^= 1;
    image[MIB - 4096 + 48] ^= 1;
    assert!(matches!(
        refused(image).await,
        OpenError::SuperblockCorrupt { .. }
    ));
}

#[tokio::test]
async fn one_superblock_is_enough() {
    let whole = image().await;
    for copy in [0, MIB - 4096] {
        let mut image = whole.clone();
        image[copy..copy + 4096].fill(0xff);
        let disk = open(Arc::new(MemDevice::from_image(image))).await;
        assert!(fetch(&disk, "a").await.is_ok());
    }
}

#[tokio::test]
async fn a_smaller_device_is_refused_and_a_larger_one_is_not() {
    let image = image().await;
    let error = refused(image[..15 * MIB].to_vec()).await;
    assert!(matches!(error, OpenError::Shrunk { .. }), "{error}");
    let error = refused(vec![0; MIB / 2]).await;
    assert!(matches!(error, OpenError::TooSmall { .. }), "{error}");
    let mut larger = image;
    larger.resize(20 * MIB, 7);
    let disk = open(Arc::new(MemDevice::from_image(larger))).await;
    assert!(fetch(&disk, "a").await.is_ok());
}

#[tokio::test]
async fn what_is_on_the_device_wins_over_the_options() {
    let device = Arc::new(MemDevice::from_image(image().await));
    let other = DiskOptions {
        segment_bytes: 4 << 20,
        format_seed: 99,
        ..options()
    };
    let disk = Disk::open(device, other).await.unwrap();
    assert_eq!(disk.seed(), SEED);
    assert_eq!(disk.stats().segment_bytes, 1 << 20);
}

#[tokio::test]
async fn what_an_earlier_store_left_is_never_found() {
    let mut image = image().await;
    image[..MIB].fill(0);
    let device = Arc::new(MemDevice::from_image(image));
    let other = DiskOptions {
        format_seed: SEED + 1,
        ..options()
    };
    let disk = Disk::open(device, other).await.unwrap();
    disk.recovered().await;
    assert!(fetch(&disk, "a").await.is_err());
    assert_eq!(disk.stats().recovered, 0);
}
