//! What a segment holds, from its footer or, where there is none, record by record.

use std::io;
use std::time::Duration;

use tokio::time::timeout;

use super::core::Core;
use super::format::{
    Footer, FooterEntry, HEADER_BYTES, Kind, RecordHeader, RecordView, SEGMENT_HEADER_BYTES,
    Trailer,
};
use crate::device::{AlignedBuf, BLOCK_BYTES};

/// A read that takes longer ends recovery. Nobody waits for it, but it must not wait for ever.
const READ_PATIENCE: Duration = Duration::from_secs(30);

/// Bytes that a walk reads at once.
const WINDOW_BYTES: u64 = 1 << 20;

/// The records of a segment that recovery asks for.
#[derive(Debug)]
pub(super) struct Scan {
    /// Oldest first. Beyond a hole, tombstones only: what is there was never acknowledged, but if
    /// the hole is damage then a removal may have been, and it must hold.
    pub(super) entries: Vec<FooterEntry>,
    /// Where the records end; `None` if a footer lists them all.
    pub(super) walked_to: Option<u64>,
}

/// Reads segment `seq`, whichever way there is.
pub(super) async fn scan(core: &Core, seq: u64) -> io::Result<Scan> {
    if let Some(entries) = read_footer(core, seq).await? {
        return Ok(Scan {
            entries,
            walked_to: None,
        });
    }
    let mut walk = Walk {
        core,
        seq,
        window: AlignedBuf::zeroed(0),
        window_at: 0,
        entries: Vec::new(),
    };
    let hole = walk.records().await?;
    walk.tombstones_beyond(hole).await?;
    Ok(Scan {
        entries: walk.entries,
        walked_to: Some(hole),
    })
}

async fn read_footer(core: &Core, seq: u64) -> io::Result<Option<Vec<FooterEntry>>> {
    let segment_bytes = core.geometry.segment_bytes;
    let last = read(core, seq, segment_bytes - BLOCK_BYTES as u64, BLOCK_BYTES).await?;
    let Some(trailer) = Trailer::read(core.seed, seq, &last) else {
        return Ok(None);
    };
    let Some(footer_bytes) = trailer.footer_bytes(segment_bytes) else {
        return Ok(None);
    };
    let blocks = read(core, seq, segment_bytes - footer_bytes as u64, footer_bytes).await?;
    Ok(Footer::entries(core.seed, &trailer, &blocks))
}

async fn read(core: &Core, seq: u64, offset: u64, bytes: usize) -> io::Result<AlignedBuf> {
    let segment = core.geometry.segment_of_seq(seq);
    let offset = core.geometry.device_offset(segment, offset);
    core.counters.bytes_read.add(bytes as u64);
    let read = core.device.read(offset, AlignedBuf::zeroed(bytes));
    let (buf, result) = timeout(READ_PATIENCE, read).await?;
    result.map(|()| buf)
}

/// A walk through the records of one segment.
struct Walk<'a> {
    core: &'a Core,
    seq: u64,
    window: AlignedBuf,
    /// Byte of the segment at which the window begins.
    window_at: u64,
    entries: Vec<FooterEntry>,
}

impl Walk<'_> {
    /// Verifies record after record. The byte at which the first hole begins.
    async fn records(&mut self) -> io::Result<u64> {
        let mut at = SEGMENT_HEADER_BYTES as u64;
        while let Some(view) = self.record_at(at).await? {
            let bytes = view.header.record_bytes();
            if let Some(kind) = view.header.kind().filter(|kind| kind.is_indexed()) {
                let entry = FooterEntry::new(kind, view.header.hash(), at, bytes as usize);
                self.entries.push(entry);
            }
            at += self.core.geometry.grains_up(bytes);
        }
        Ok(at)
    }

    /// The whole, verified record at a byte of the segment.
    async fn record_at(&mut self, at: u64) -> io::Result<Option<RecordView>> {
        let (seed, seq) = (self.core.seed, self.seq);
        let header = RecordHeader::read(seed, seq, self.bytes(at, HEADER_BYTES as u64).await?);
        let Ok(header) = header else {
            return Ok(None);
        };
        let record = self.bytes(at, header.record_bytes()).await?;
        Ok(RecordView::read(seed, seq, record).ok())
    }

    /// Notes the segment's tombstones from a byte on. Headers are keyed by the store's seed:
    /// nothing that a body holds can pass for one.
    async fn tombstones_beyond(&mut self, hole: u64) -> io::Result<()> {
        let (seed, seq) = (self.core.seed, self.seq);
        let mut at = hole;
        while at + HEADER_BYTES as u64 <= self.core.geometry.segment_bytes {
            let bytes = self.bytes(at, HEADER_BYTES as u64).await?;
            let header = RecordHeader::read(seed, seq, bytes).ok();
            if let Some(header) = header.filter(|h| h.kind() == Some(Kind::Tombstone)) {
                let entry = FooterEntry::new(Kind::Tombstone, header.hash(), at, HEADER_BYTES);
                self.entries.push(entry);
            }
            at += self.core.geometry.grain_bytes;
        }
        Ok(())
    }

    /// Bytes of the segment from `at` on, read if the window does not have them; fewer at its end.
    async fn bytes(&mut self, at: u64, bytes: u64) -> io::Result<&[u8]> {
        let segment_bytes = self.core.geometry.segment_bytes;
        let end = at.saturating_add(bytes).min(segment_bytes);
        if at < self.window_at || end > self.window_at + self.window.len() as u64 {
            let block = BLOCK_BYTES as u64;
            self.window_at = at - at % block;
            let window_end = end
                .next_multiple_of(block)
                .max(self.window_at + WINDOW_BYTES);
            let window_bytes = window_end.min(segment_bytes) - self.window_at;
            self.window = read(self.core, self.seq, self.window_at, window_bytes as usize).await?;
        }
        let range = (at - self.window_at) as usize..end.saturating_sub(self.window_at) as usize;
        Ok(self.window.get(range).unwrap_or_default())
    }
}
