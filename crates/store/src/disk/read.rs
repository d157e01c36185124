//! Reading a stretch of the log, wherever it is: on the device, still in memory, or half and half.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::time::timeout;

use super::core::Core;
use super::format::Position;
use super::tail::InMemory;
use crate::device::{AlignedBuf, BLOCK_BYTES, IoFuture};

/// A read that takes longer counts as failed. Drives retry a bad sector for some seconds; nobody
/// waits that long for a cache, and a device that answers nothing must not hold requests for ever.
const READ_PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of the log: from `at` on, in a buffer that may begin earlier and end later.
#[derive(Debug)]
pub(super) struct Stretch {
    pub(super) buf: Bytes,
    pub(super) at: usize,
}

/// Where the bytes come from.
enum Source {
    Memory(Bytes),
    Device {
        io: IoFuture,
        /// First byte of the read on the line.
        begin: u64,
        /// Where in the read the stretch begins.
        at: usize,
        /// What the device may not have yet.
        overlay: Option<InMemory>,
    },
    /// The disk is out of service.
    None,
}

impl Stretch {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buf[self.at..]
    }
}

/// Begins to read `bytes` of segment `seq` from `position` on, or as many as the segment has: the
/// I/O is queued when this returns, before the future is first polled.
pub(super) fn begin_read(
    core: &Arc<Core>,
    seq: u64,
    position: Position,
    bytes: u64,
) -> impl Future<Output = io::Result<Stretch>> + Send + use<> {
    let source = source(core, seq, position, bytes);
    let core = Arc::clone(core);
    async move { finish(&core, source).await }
}

fn source(core: &Core, seq: u64, position: Position, bytes: u64) -> Source {
    if !core.health.is_healthy() {
        return Source::None;
    }
    let (line, left) = core.line_of(seq, position);
    let wanted = line..line + bytes.min(left);
    let overlay = core.log.in_memory(&wanted);
    if let Some(whole) = overlay.as_ref().and_then(|memory| memory.whole(&wanted)) {
        return Source::Memory(whole);
    }
    // Segments are whole blocks: rounding never leaves the segment.
    let block = BLOCK_BYTES as u64;
    let begin = wanted.start - wanted.start % block;
    let buf = AlignedBuf::zeroed((wanted.end.next_multiple_of(block) - begin) as usize);
    let (segment, offset) = core.geometry.locate(position);
    let offset = core
        .geometry
        .device_offset(segment, offset - offset % block);
    core.counters.bytes_read.add(buf.len() as u64);
    Source::Device {
        io: core.device.read(offset, buf),
        begin,
        at: (wanted.start - begin) as usize,
        overlay,
    }
}

async fn finish(core: &Core, source: Source) -> io::Result<Stretch> {
    match source {
        Source::Memory(buf) => Ok(Stretch { buf, at: 0 }),
        Source::None => Err(io::Error::other("the disk is out of service")),
        Source::Device {
            io,
            begin,
            at,
            overlay,
        } => {
            let mut buf = settle(core, timeout(READ_PATIENCE, io).await)?;
            if let Some(memory) = overlay {
                memory.lay_over(begin, &mut buf);
            }
            let buf = Bytes::from_owner(buf);
            Ok(Stretch { buf, at })
        }
    }
}

/// Counts a read's success or failure; too many failures in a row end the service.
fn settle(
    core: &Core,
    done: Result<(AlignedBuf, io::Result<()>), tokio::time::error::Elapsed>,
) -> io::Result<AlignedBuf> {
    let result = match done {
        Ok((buf, result)) => result.map(|()| buf),
        Err(late) => Err(late.into()),
    };
    match &result {
        Ok(_) => core.health.read_succeeded(),
        Err(error) => {
            core.counters.read_errors.add(1);
            if core.health.read_failed() {
                core.fail("read", error);
            }
        }
    }
    result
}

impl InMemory {
    /// The stretch as far as the log goes, if memory has all of that.
    fn whole(&self, wanted: &std::ops::Range<u64>) -> Option<Bytes> {
        let end = wanted.end.min(self.end);
        let mut reached = wanted.start;
        for (begin, part) in &self.parts {
            if *begin != reached {
                return None;
            }
            reached += part.len() as u64;
        }
        if reached < end {
            return None;
        }
        // A copy: a slice would keep its whole run in memory for as long as a client reads.
        let mut whole = BytesMut::with_capacity((reached - wanted.start) as usize);
        self.parts
            .iter()
            .for_each(|(_, part)| whole.extend_from_slice(part));
        Some(whole.freeze())
    }

    fn lay_over(&self, begin: u64, buf: &mut [u8]) {
        for (start, part) in &self.parts {
            // Parts lie in the stretch that was read, hence not before its first block.
            let at = start.saturating_sub(begin) as usize;
            if let Some(target) = buf.get_mut(at..at + part.len()) {
                target.copy_from_slice(part);
            }
        }
    }
}
