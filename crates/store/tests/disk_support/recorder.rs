//! A device that remembers all that was done to it, and what a crash would leave of that.

use std::io;
use std::pin::Pin;

use larder_store::device::{AlignedBuf, Device, IoFuture, MemDevice};
use parking_lot::Mutex;

/// What was done, by the store or (marks) by the story.
#[derive(Clone, Debug)]
pub(crate) enum Event<M> {
    Write { offset: usize, bytes: Vec<u8> },
    Sync,
    Mark(M),
}

/// Passes everything on to a device in memory, and notes it in the order of the calls.
pub(crate) struct Recorder<M> {
    device: MemDevice,
    first_image: Vec<u8>,
    events: Mutex<Vec<Event<M>>>,
}

/// What a crash does to the writes that no sync followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    /// The process dies: the last write may be torn, the others are there.
    Kill,
    /// The power goes: each write may be there, torn or missing.
    PowerLoss,
}

/// What a drive writes at once.
const SECTOR_BYTES: usize = 512;

impl<M: Clone + Send + 'static> Recorder<M> {
    pub(crate) fn new(image: Vec<u8>) -> Self {
        Self {
            device: MemDevice::from_image(image.clone()),
            first_image: image,
            events: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn mark(&self, mark: M) {
        self.events.lock().push(Event::Mark(mark));
    }

    pub(crate) fn events(&self) -> Vec<Event<M>> {
        self.events.lock().clone()
    }

    /// The image that a crash after the first `count` events leaves.
    pub(crate) fn image_after(
        &self,
        count: usize,
        crash: Crash,
        rng: &mut fastrand::Rng,
    ) -> Vec<u8> {
        let events = self.events.lock();
        let events = &events[..count];
        let synced = events.iter().rposition(|e| matches!(e, Event::Sync));
        let last = events
            .iter()
            .rposition(|e| matches!(e, Event::Write { .. }));
        let mut image = self.first_image.clone();
        for (at, event) in events.iter().enumerate() {
            let Event::Write { offset, bytes } = event else {
                continue;
            };
            let at_risk = synced.is_none_or(|synced| at > synced);
            let keep = match crash {
                Crash::Kill if Some(at) == last && at_risk => torn(bytes, rng),
                Crash::PowerLoss if at_risk => match rng.u8(..3) {
                    0 => 0,
                    1 => torn(bytes, rng),
                    _ => bytes.len(),
                },
                _ => bytes.len(),
            };
            image[*offset..offset + keep].copy_from_slice(&bytes[..keep]);
        }
        image
    }
}

fn torn(bytes: &[u8], rng: &mut fastrand::Rng) -> usize {
    rng.usize(..=bytes.len() / SECTOR_BYTES) * SECTOR_BYTES
}

impl<M: Clone + Send + 'static> Device for Recorder<M> {
    fn len_bytes(&self) -> u64 {
        self.device.len_bytes()
    }

    fn read(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        self.device.read(offset, buf)
    }

    fn write(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        self.events.lock().push(Event::Write {
            offset: offset as usize,
            bytes: buf.to_vec(),
        });
        self.device.write(offset, buf)
    }

    fn sync(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> {
        self.events.lock().push(Event::Sync);
        self.device.sync()
    }

    fn name(&self) -> &'static str {
        "recorder"
    }
}
