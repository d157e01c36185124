//! The end of the log: records become runs, runs become jobs for the device. No I/O, no waiting.

use std::collections::VecDeque;
use std::ops::Range;

use bytes::{Bytes, BytesMut};
use zerocopy::IntoBytes;

use super::format::{
    Footer, FooterEntry, Geometry, HEADER_BYTES, Position, RECORD_BYTES_MAX, Record, RecordHeader,
    SEGMENT_HEADER_BYTES, SegmentHeader,
};
use super::options::RUN_BYTES_MIN;
use crate::device::{AlignedBuf, BLOCK_BYTES};

/// Runs that may wait for the device, those in flight included. Eight of the smallest hold the
/// longest record and the two partial runs beside it; eight of the default size are what a drive
/// of 500 MB/s writes in 16 ms.
pub(super) const RUNS_MAX: usize = 8;

const _: () = assert!(RECORD_BYTES_MAX <= (RUNS_MAX - 2) * RUN_BYTES_MIN);

static ZEROS: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];

/// What the device has to do, in order.
#[derive(Debug)]
pub(super) enum Job {
    /// Write these bytes of the log.
    Run { offset: u64, bytes: Bytes },
    /// When all before is durable: write the end of a full segment. So a footer lists nothing that
    /// the device may not have.
    Footer { offset: u64, blocks: AlignedBuf },
    /// When all before is written: write the header and make it durable. So no record of a segment
    /// is on the device unless its header surely is, and only the last segment of a life can have
    /// holes.
    Begin { offset: u64, blocks: AlignedBuf },
}

/// A job with the number of the last record that is whole once it is done.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) job: Job,
    pub(super) ticket: u64,
}

/// Where a record was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Appended {
    pub(super) position: Position,
    pub(super) seq: u64,
}

/// What memory knows of a stretch of the log.
#[derive(Debug)]
pub(super) struct InMemory {
    /// Bytes, with where they begin on the line; in order, and the last ends at the log's end if
    /// the stretch reaches it.
    pub(super) parts: Vec<(u64, Bytes)>,
    /// Where the log ends.
    pub(super) end: u64,
}

/// The open run, the frozen ones, and what is left to do about them.
#[derive(Debug)]
pub(super) struct Tail {
    geometry: Geometry,
    seed: u64,
    run_bytes: usize,
    next_seq: u64,
    segment: Option<OpenSegment>,
    run: OpenRun,
    /// Runs that the device does not have yet, oldest first; to be read from here.
    frozen: VecDeque<(u64, Bytes)>,
    jobs: VecDeque<Queued>,
    /// Records appended in this life: a record's number is its ticket for a flush.
    appended: u64,
    /// The writer should have a look.
    wake: bool,
}

#[derive(Debug)]
struct OpenSegment {
    seq: u64,
    /// First free byte.
    head: u64,
    entries: Vec<FooterEntry>,
}

/// Bytes of the open segment from byte `start`, a block's, up to the head.
#[derive(Debug, Default)]
struct OpenRun {
    start: u64,
    bytes: BytesMut,
}

impl Tail {
    pub(super) fn new(geometry: Geometry, seed: u64, run_bytes: usize, first_seq: u64) -> Self {
        Self {
            geometry,
            seed,
            run_bytes,
            next_seq: first_seq,
            segment: None,
            run: OpenRun::default(),
            frozen: VecDeque::new(),
            jobs: VecDeque::new(),
            appended: 0,
            wake: false,
        }
    }

    /// Whether memory suffices to append a record of so many bytes: it freezes as many runs as it
    /// fills, and one more where it seals a segment.
    pub(super) fn has_room(&self, record_bytes: usize) -> bool {
        let runs = record_bytes.div_ceil(self.run_bytes) + 1;
        self.frozen.len() + runs <= RUNS_MAX
    }

    /// Whether the open segment holds the record and its footer entry.
    pub(super) fn fits_segment(&self, record: &Record<'_>) -> bool {
        let Some(segment) = &self.segment else {
            return false;
        };
        let data = segment.head + self.geometry.grains_up(record.bytes() as u64);
        let entries = segment.entries.len() + usize::from(record.kind.is_indexed());
        let footer = Footer::bytes_for(entries) as u64;
        data.next_multiple_of(BLOCK_BYTES as u64) + footer <= self.geometry.segment_bytes
    }

    /// Seals the open segment and begins the next, whose sequence number it returns.
    pub(super) fn begin_segment(&mut self) -> u64 {
        let previous_end = self.seal().unwrap_or(0);
        let seq = self.next_seq;
        self.next_seq += 1;
        let blocks = SegmentHeader::new(self.seed, seq, previous_end).copies();
        let offset = self.device_offset(seq, 0);
        self.push_job(Job::Begin { offset, blocks });
        let head = SEGMENT_HEADER_BYTES as u64;
        self.run.start = head;
        self.segment = Some(OpenSegment {
            seq,
            head,
            entries: Vec::new(),
        });
        seq
    }

    /// Appends a record that [fits](Self::fits_segment); `None` if it does not.
    pub(super) fn append(&mut self, record: &Record<'_>) -> Option<Appended> {
        if !self.fits_segment(record) {
            return None;
        }
        let segment = self.segment.as_mut()?;
        let (seq, offset) = (segment.seq, segment.head);
        let bytes = record.bytes();
        if record.kind.is_indexed() {
            let entry = FooterEntry::new(record.kind, record.hash, offset, bytes);
            segment.entries.push(entry);
        }
        self.push(record.header(self.seed, seq).as_bytes());
        for part in record.parts() {
            self.push(part);
        }
        let padding = self.geometry.grains_up(bytes as u64) as usize - bytes;
        self.push(&ZEROS[..padding]);
        self.appended += 1;
        self.stamp_full_run();
        Some(Appended {
            position: self.geometry.position(seq, offset),
            seq,
        })
    }

    /// Hands the open run to the device, padded to whole blocks.
    pub(super) fn freeze(&mut self) {
        let Some(seq) = self.segment.as_ref().map(|segment| segment.seq) else {
            return;
        };
        let used = self.run.bytes.len() % BLOCK_BYTES;
        // Records are whole grains, a grain holds a header, and blocks are whole grains.
        if used != 0 {
            let gap = BLOCK_BYTES - used;
            let header = RecordHeader::padding(self.seed, seq, gap);
            self.push(header.as_bytes());
            self.push(&ZEROS[..gap - HEADER_BYTES]);
        }
        self.freeze_blocks();
    }

    /// Ends the open segment with its footer. Where its records end, if there is one.
    pub(super) fn seal(&mut self) -> Option<u64> {
        self.freeze();
        let segment = self.segment.take()?;
        let blocks = Footer::build(self.seed, segment.seq, segment.head, &segment.entries);
        let offset = self.geometry.segment_bytes - blocks.len() as u64;
        let offset = self.device_offset(segment.seq, offset);
        self.appended += 1;
        self.push_job(Job::Footer { offset, blocks });
        Some(segment.head)
    }

    /// The oldest frozen run has reached the device.
    pub(super) fn run_written(&mut self) {
        self.frozen.pop_front();
    }

    pub(super) fn first_job(&self) -> Option<&Job> {
        self.jobs.front().map(|queued| &queued.job)
    }

    pub(super) fn take_job(&mut self) -> Option<Queued> {
        self.jobs.pop_front()
    }

    /// Lets go of everything: the device will take no more.
    pub(super) fn abandon(&mut self) {
        self.jobs.clear();
        self.frozen.clear();
        self.run = OpenRun::default();
        self.segment = None;
    }

    /// The number of the last record appended.
    pub(super) fn appended(&self) -> u64 {
        self.appended
    }

    /// Whether the open run holds data.
    pub(super) fn is_dirty(&self) -> bool {
        !self.run.bytes.is_empty()
    }

    pub(super) fn take_wake(&mut self) -> bool {
        std::mem::take(&mut self.wake)
    }

    /// Everything before this point of the line is on the device.
    pub(super) fn memory_floor(&self) -> u64 {
        let open = match &self.segment {
            Some(segment) => self.geometry.line(segment.seq, self.run.start),
            None => self.geometry.line(self.next_seq, 0),
        };
        self.frozen.front().map_or(open, |(start, _)| *start)
    }

    /// The bytes of a stretch of the line that the device may not have yet. Those of the open run
    /// are copied: it goes on growing.
    pub(super) fn in_memory(&self, stretch: &Range<u64>) -> InMemory {
        let mut parts = Vec::new();
        for (start, bytes) in &self.frozen {
            if let Some(part) = overlap(stretch, *start, bytes.len()) {
                let begin = start + part.start as u64;
                parts.push((begin, bytes.slice(part)));
            }
        }
        let end = match &self.segment {
            None => self.geometry.line(self.next_seq, 0),
            Some(segment) => {
                let start = self.geometry.line(segment.seq, self.run.start);
                if let Some(part) = overlap(stretch, start, self.run.bytes.len()) {
                    let begin = start + part.start as u64;
                    parts.push((begin, Bytes::copy_from_slice(&self.run.bytes[part])));
                }
                self.geometry.line(segment.seq, segment.head)
            }
        };
        InMemory { parts, end }
    }

    /// Copies bytes to the head, freezing each run that they fill.
    fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.run.bytes.is_empty() {
                self.run.bytes.reserve(self.run_bytes);
                self.wake = true;
            }
            let free = self.run_bytes - self.run.bytes.len();
            let (now, later) = bytes.split_at(free.min(bytes.len()));
            self.run.bytes.extend_from_slice(now);
            if let Some(segment) = &mut self.segment {
                segment.head += now.len() as u64;
            }
            if self.run.bytes.len() == self.run_bytes {
                self.freeze_blocks();
            }
            bytes = later;
        }
    }

    /// Freezes a run of whole blocks, and begins the next at the head.
    fn freeze_blocks(&mut self) {
        let Some(segment) = self.segment.as_ref().filter(|_| self.is_dirty()) else {
            return;
        };
        let (seq, head) = (segment.seq, segment.head);
        let bytes = std::mem::take(&mut self.run.bytes).freeze();
        let start = std::mem::replace(&mut self.run.start, head);
        let line = self.geometry.line(seq, start);
        self.frozen.push_back((line, bytes.clone()));
        let offset = self.device_offset(seq, start);
        self.push_job(Job::Run { offset, bytes });
    }

    /// A record that ended where its run did was counted after the run was frozen.
    fn stamp_full_run(&mut self) {
        if let Some(last) = self.jobs.back_mut().filter(|_| self.run.bytes.is_empty()) {
            last.ticket = self.appended;
        }
    }

    fn push_job(&mut self, job: Job) {
        let ticket = self.appended;
        self.jobs.push_back(Queued { job, ticket });
        self.wake = true;
    }

    fn device_offset(&self, seq: u64, offset: u64) -> u64 {
        let segment = self.geometry.segment_of_seq(seq);
        self.geometry.device_offset(segment, offset)
    }
}

/// The part of `len` bytes from `start` that lies in `stretch`, counted from `start`.
fn overlap(stretch: &Range<u64>, start: u64, len: usize) -> Option<Range<usize>> {
    let end = start + len as u64;
    let (from, to) = (stretch.start.max(start), stretch.end.min(end));
    (from < to).then(|| (from - start) as usize..(to - start) as usize)
}

#[cfg(test)]
mod tests;
