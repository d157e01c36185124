//! The in-memory twin of a disk, for tests.

use std::future::ready;
use std::io;
use std::pin::Pin;

use parking_lot::Mutex;

use super::{AlignedBuf, Device, IoFuture, check_range};

/// A device in memory. Contents live as long as the value.
#[derive(Debug)]
pub struct MemDevice {
    bytes: Mutex<Vec<u8>>,
}

impl MemDevice {
    /// A device of `len` zero bytes.
    pub fn new(len: usize) -> Self {
        Self {
            bytes: Mutex::new(vec![0; len]),
        }
    }

    /// A device with these contents: what a crash left, say.
    pub fn from_image(image: Vec<u8>) -> Self {
        Self {
            bytes: Mutex::new(image),
        }
    }

    /// A copy of the contents.
    pub fn image(&self) -> Vec<u8> {
        self.bytes.lock().clone()
    }
}

impl Device for MemDevice {
    fn len_bytes(&self) -> u64 {
        self.bytes.lock().len() as u64
    }

    fn read(&self, offset: u64, mut buf: AlignedBuf) -> IoFuture {
        let result = check_range(self.len_bytes(), offset, &buf).map(|()| {
            let from = offset as usize;
            let len = buf.len();
            buf.copy_from_slice(&self.bytes.lock()[from..from + len]);
        });
        Box::pin(ready((buf, result)))
    }

    fn write(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        let result = check_range(self.len_bytes(), offset, &buf).map(|()| {
            let from = offset as usize;
            self.bytes.lock()[from..from + buf.len()].copy_from_slice(&buf);
        });
        Box::pin(ready((buf, result)))
    }

    fn sync(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> {
        Box::pin(ready(Ok(())))
    }

    fn name(&self) -> &'static str {
        "mem"
    }
}
