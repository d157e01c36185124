//! What the stories about the disk share.
#![allow(dead_code, reason = "each story uses its part")]

pub(crate) mod recorder;

use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt;
use larder_store::device::Device;
use larder_store::{
    Disk, DiskBody, DiskLookup, DiskOptions, Found, Key, MissReason, ReadError, WriteError,
};

pub(crate) const MIB: usize = 1 << 20;
pub(crate) const SEED: u64 = 0x1a2d_e200_d15c_0001;

pub(crate) fn options() -> DiskOptions {
    DiskOptions {
        format_seed: SEED,
        mean_object_bytes: 4 << 10,
        ..DiskOptions::default()
    }
}

/// Opens and waits for recovery.
pub(crate) async fn open(device: Arc<dyn Device>) -> Disk {
    let disk = Disk::open(device, options()).await.unwrap();
    disk.recovered().await;
    disk
}

pub(crate) fn key(name: &str) -> Key {
    Key::new(Bytes::copy_from_slice(name.as_bytes()), SEED)
}

/// Bytes that differ by name, version and place.
pub(crate) fn bytes(name: &str, version: u64, len: usize) -> Bytes {
    let seed = key(name).hash() as u64 ^ version.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut bytes = vec![0; len];
    rng.fill(&mut bytes);
    bytes.into()
}

pub(crate) async fn put(
    disk: &Disk,
    name: &str,
    meta: &str,
    body: &Bytes,
) -> Result<(), WriteError> {
    let mut writer = disk.writer(key(name));
    // Pieces as a network would bring them: of odd lengths.
    let mut rest = body.clone();
    while !rest.is_empty() {
        let piece = rest.split_to(rest.len().min(77_777));
        writer.write(piece).await?;
    }
    writer.finish(Bytes::copy_from_slice(meta.as_bytes())).await
}

pub(crate) async fn get(disk: &Disk, name: &str) -> Result<Found, MissReason> {
    match disk.get(&key(name)).await {
        DiskLookup::Hit(found) => Ok(found),
        DiskLookup::Miss(reason) => Err(reason),
    }
}

pub(crate) async fn read(body: &DiskBody, from: u64, to: u64) -> Result<Vec<u8>, ReadError> {
    let pieces: Vec<Bytes> = body.read(from..to).try_collect().await?;
    Ok(pieces.concat())
}

pub(crate) async fn read_all(body: &DiskBody) -> Result<Vec<u8>, ReadError> {
    read(body, 0, body.len()).await
}

/// The metadata and the whole body.
pub(crate) async fn fetch(disk: &Disk, name: &str) -> Result<(String, Vec<u8>), MissReason> {
    let found = get(disk, name).await?;
    let body = read_all(&found.body).await.unwrap();
    Ok((String::from_utf8(found.meta.to_vec()).unwrap(), body))
}
