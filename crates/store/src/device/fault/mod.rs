//! The faulty twin of a disk: any device, with scripted faults in between.
//!
//! ```
//! use larder_store::device::{
//!     AlignedBuf, Device, Effect, Fault, FaultDevice, FaultError, MemDevice, Target,
//! };
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let (disk, faults) = FaultDevice::new(MemDevice::new(1 << 20), 42);
//!
//! // Two writes go well, then the disk is broken, then it is repaired.
//! let broken = Effect::Fail(Target::Writes, FaultError::Eio);
//! faults.inject(Fault::new(broken).after(2));
//! for nth in 0..4 {
//!     let (_, result) = disk.write(0, AlignedBuf::zeroed(4096)).await;
//!     assert_eq!(result.is_ok(), nth < 2);
//! }
//! faults.clear();
//! assert!(disk.write(0, AlignedBuf::zeroed(4096)).await.1.is_ok());
//! assert_eq!(faults.counts().failed, 2);
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```

mod gate;
mod script;

use std::future::ready;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use parking_lot::Mutex;

use gate::Gate;
pub use script::{Effect, Fault, FaultCounts, FaultError, Target};
use script::{Script, draw};

use super::{AlignedBuf, BLOCK_BYTES, Device, IoFuture, check_range};

/// A [`Device`] that does to another one's I/Os what its [`FaultHandle`] says.
///
/// The same script, seed and order of I/Os give the same faults. An I/O that is out of range or
/// misaligned is refused before the script sees it.
#[derive(Debug)]
pub struct FaultDevice<D> {
    inner: Arc<D>,
    shared: Arc<Shared>,
}

/// Changes the faults of a [`FaultDevice`] while it runs, and tells what they did. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FaultHandle {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    seed: u64,
    script: Mutex<Script>,
    gate: Gate,
}

impl<D: Device> FaultDevice<D> {
    /// A device that behaves like `inner` until a fault is injected. `seed` decides which bits flip
    /// and where writes tear.
    pub fn new(inner: D, seed: u64) -> (Self, FaultHandle) {
        let shared = Arc::new(Shared {
            seed,
            script: Mutex::default(),
            gate: Gate::default(),
        });
        let device = Self {
            inner: Arc::new(inner),
            shared: Arc::clone(&shared),
        };
        (device, FaultHandle { shared })
    }

    /// The device underneath: what really is on the disk.
    pub fn inner(&self) -> &D {
        &self.inner
    }

    fn decide(&self, target: Target, offset: u64, buf: &[u8]) -> Option<(Effect, u64)> {
        let bytes = offset..offset + buf.len() as u64;
        self.shared.script.lock().decide(target, &bytes)
    }

    fn hold(&self, target: Target, offset: u64, buf: AlignedBuf) -> IoFuture {
        let (inner, len) = (Arc::clone(&self.inner), buf.len());
        let start = move || match target {
            Target::Writes => inner.write(offset, buf),
            _ => inner.read(offset, buf),
        };
        let failed = move |error| (AlignedBuf::zeroed(len), Err(error));
        self.shared.gate.hold(start, failed)
    }

    fn flip(&self, offset: u64, buf: AlignedBuf, bits: u32, number: u64) -> IoFuture {
        let (seed, reading) = (self.shared.seed, self.inner.read(offset, buf));
        Box::pin(async move {
            let (mut buf, result) = reading.await;
            let len_bits = buf.len() as u64 * 8;
            for nth in 0..bits {
                let bit = draw(seed, number, nth) % len_bits;
                buf[(bit / 8) as usize] ^= 1 << (bit % 8);
            }
            (buf, result)
        })
    }

    fn tear(&self, offset: u64, buf: AlignedBuf, blocks: Option<usize>, number: u64) -> IoFuture {
        let blocks_all = buf.len() / BLOCK_BYTES;
        let drawn = || draw(self.shared.seed, number, 0) % blocks_all as u64;
        let blocks = blocks.unwrap_or_else(|| drawn() as usize).min(blocks_all);
        if blocks == 0 {
            return Box::pin(ready((buf, Ok(()))));
        }
        let mut landing = AlignedBuf::zeroed(blocks * BLOCK_BYTES);
        landing.copy_from_slice(&buf[..blocks * BLOCK_BYTES]);
        let landing = self.inner.write(offset, landing);
        Box::pin(async move { (buf, landing.await.1) })
    }
}

impl<D: Device> Device for FaultDevice<D> {
    fn len_bytes(&self) -> u64 {
        self.inner.len_bytes()
    }

    fn read(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        if let Err(error) = check_range(self.len_bytes(), offset, &buf) {
            return Box::pin(ready((buf, Err(error))));
        }
        match self.decide(Target::Reads, offset, &buf) {
            Some((Effect::Fail(_, error), _)) => Box::pin(ready((buf, Err(error.into())))),
            Some((Effect::Hold(target), _)) => self.hold(target, offset, buf),
            Some((Effect::FlipBits(bits), number)) => self.flip(offset, buf, bits, number),
            Some((Effect::LoseWrite | Effect::TearWrite(_), _)) | None => {
                self.inner.read(offset, buf)
            }
        }
    }

    fn write(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        if let Err(error) = check_range(self.len_bytes(), offset, &buf) {
            return Box::pin(ready((buf, Err(error))));
        }
        match self.decide(Target::Writes, offset, &buf) {
            Some((Effect::Fail(_, error), _)) => Box::pin(ready((buf, Err(error.into())))),
            Some((Effect::Hold(target), _)) => self.hold(target, offset, buf),
            Some((Effect::LoseWrite, _)) => Box::pin(ready((buf, Ok(())))),
            Some((Effect::TearWrite(blocks), number)) => self.tear(offset, buf, blocks, number),
            Some((Effect::FlipBits(_), _)) | None => self.inner.write(offset, buf),
        }
    }

    fn sync(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> {
        match self.decide(Target::Syncs, 0, &[]) {
            Some((Effect::Fail(_, error), _)) => Box::pin(ready(Err(error.into()))),
            Some((Effect::Hold(_), _)) => {
                let inner = Arc::clone(&self.inner);
                self.shared.gate.hold(move || inner.sync(), Err)
            }
            _ => self.inner.sync(),
        }
    }

    fn name(&self) -> &'static str {
        "fault"
    }
}

impl FaultHandle {
    /// Adds a rule, behind those already there. I/Os that have passed it stay as they are.
    pub fn inject(&self, fault: Fault) {
        self.shared.script.lock().faults.push(fault);
    }

    /// Repairs the device: takes all rules away and starts what is held. Counts stay.
    pub fn clear(&self) {
        self.shared.script.lock().faults.clear();
        self.release(usize::MAX);
    }

    /// Starts the `ios` oldest I/Os that [`Effect::Hold`] keeps back, and says how many there were.
    /// The rule goes on holding others.
    pub fn release(&self, ios: usize) -> usize {
        self.shared.gate.release(ios)
    }

    /// I/Os kept back right now.
    pub fn held(&self) -> usize {
        self.shared.gate.len()
    }

    /// What passed the device so far, and what became of it.
    pub fn counts(&self) -> FaultCounts {
        self.shared.script.lock().counts
    }
}
