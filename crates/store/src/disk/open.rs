//! Opening a device: whose it is, what it holds, and where the log goes on.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use super::core::{Core, CoreParts};
use super::format::{
    Area, Geometry, HeaderArea, SEGMENT_HEADER_BYTES, SUPERBLOCK_AREA_BYTES, Superblock,
};
use super::recover::{OldSegment, Recovery};
use super::{DiskOptions, OpenError};
use crate::device::{AlignedBuf, Device, IoFuture};

/// Segment headers that are read at one time.
const HEADERS_IN_FLIGHT: usize = 32;

/// Reads the superblock and all segment headers, and formats a blank device before.
pub(super) async fn open(
    device: Arc<dyn Device>,
    options: &DiskOptions,
) -> Result<Core, OpenError> {
    let area = read(device.read(0, area_buf(&device)?)).await;
    let area = area.map_err(|source| failed("read the superblock", source))?;
    let superblock = match Area::read(&area)? {
        Area::Blank => format(&device, options).await?,
        Area::Store { superblock, copies } => {
            if copies < 2 {
                tracing::warn!("one of the two superblocks is damaged");
            }
            superblock
        }
    };
    let geometry = superblock.geometry()?;
    if geometry.device_bytes > device.len_bytes() {
        return Err(OpenError::Shrunk {
            stored_bytes: geometry.device_bytes,
            device_bytes: device.len_bytes(),
        });
    }
    let headers = read_headers(&device, &geometry, superblock.seed()).await?;
    let history = History::of(&geometry, &headers);
    Ok(Core::new(CoreParts {
        device,
        geometry,
        seed: superblock.seed(),
        run_bytes: options.run_bytes_for(geometry.segment_bytes),
        index_sets: options.index_sets(geometry.data_bytes()),
        seqs: history.seqs,
        first_seq: history.next_seq,
        recovery: Recovery::new(history.old),
    }))
}

fn area_buf(device: &Arc<dyn Device>) -> Result<AlignedBuf, OpenError> {
    if device.len_bytes() < SUPERBLOCK_AREA_BYTES as u64 {
        return Err(OpenError::TooSmall {
            device_bytes: device.len_bytes(),
            least_bytes: SUPERBLOCK_AREA_BYTES as u64,
        });
    }
    Ok(AlignedBuf::zeroed(SUPERBLOCK_AREA_BYTES))
}

/// Makes a store on a device whose superblock area is blank. The superblocks come last, so that a
/// format that was cut off begins anew.
async fn format(device: &Arc<dyn Device>, options: &DiskOptions) -> Result<Superblock, OpenError> {
    let io = |source| failed("format the device", source);
    let geometry = Geometry::plan(device.len_bytes(), options)?;
    let seed = options.format_seed;
    let headers = read_headers(device, &geometry, seed).await?;
    for (segment, _) in headers
        .iter()
        .enumerate()
        .filter(|(_, header)| **header != HeaderArea::Blank)
    {
        // What an earlier owner left would look like a segment that was lost.
        let blank = AlignedBuf::zeroed(SEGMENT_HEADER_BYTES);
        let offset = geometry.device_offset(segment, 0);
        read(device.write(offset, blank)).await.map_err(io)?;
    }
    device.sync().await.map_err(io)?;
    let superblock = Superblock::new(&geometry, seed);
    for (offset, block) in superblock.copies() {
        read(device.write(offset, block)).await.map_err(io)?;
        device.sync().await.map_err(io)?;
    }
    tracing::info!(
        device = device.name(),
        segments = geometry.segments,
        segment_bytes = geometry.segment_bytes,
        grain_bytes = geometry.grain_bytes,
        "formatted a blank device"
    );
    Ok(superblock)
}

async fn read_headers(
    device: &Arc<dyn Device>,
    geometry: &Geometry,
    seed: u64,
) -> Result<Vec<HeaderArea>, OpenError> {
    let mut headers = Vec::with_capacity(geometry.segments as usize);
    let mut in_flight = VecDeque::new();
    let mut segments = 0..geometry.segments as usize;
    loop {
        let free = HEADERS_IN_FLIGHT - in_flight.len();
        in_flight.extend(segments.by_ref().take(free).map(|segment| {
            let buf = AlignedBuf::zeroed(SEGMENT_HEADER_BYTES);
            device.read(geometry.device_offset(segment, 0), buf)
        }));
        let Some(oldest) = in_flight.pop_front() else {
            return Ok(headers);
        };
        let blocks = read(oldest).await;
        let blocks = blocks.map_err(|source| failed("read a segment's header", source))?;
        headers.push(HeaderArea::read(geometry, seed, headers.len(), &blocks));
    }
}

async fn read(io: IoFuture) -> io::Result<AlignedBuf> {
    let (buf, result) = io.await;
    result.map(|()| buf)
}

fn failed(what: &'static str, source: io::Error) -> OpenError {
    OpenError::Io { what, source }
}

/// What the segments' headers tell of the past.
#[derive(Debug, PartialEq, Eq)]
struct History {
    /// The sequence number of each segment; 0 for those that hold nothing to be found.
    seqs: Vec<u64>,
    next_seq: u64,
    /// Those to recover, newest first.
    old: Vec<OldSegment>,
}

impl History {
    fn of(geometry: &Geometry, headers: &[HeaderArea]) -> Self {
        let newest = headers.iter().filter_map(HeaderArea::seq).max();
        let Some(newest) = newest else {
            return Self {
                seqs: vec![0; headers.len()],
                next_seq: geometry.segments,
                old: Vec::new(),
            };
        };
        let next = geometry.segment_of_seq(newest + 1);
        let is_lost = |segment: usize| headers.get(segment) == Some(&HeaderArea::Lost);
        // A segment whose header cannot be read may have held removals of what is older than it.
        // Not so the next to be written: it held what is oldest.
        let lost = (0..headers.len()).filter(|segment| is_lost(*segment) && *segment != next);
        let floor = lost
            .map(|segment| latest_seq(geometry, segment, newest))
            .max();
        let seq_of = |header: &HeaderArea| header.seq().filter(|seq| Some(*seq) > floor);
        // Had the lost one been begun already, its number must not be used twice: a lap later.
        let skipped = if is_lost(next) { geometry.segments } else { 0 };
        Self {
            seqs: headers.iter().map(|h| seq_of(h).unwrap_or(0)).collect(),
            next_seq: newest + 1 + skipped,
            old: old_segments(geometry, headers, seq_of),
        }
    }
}

/// The latest sequence number up to `newest` that a segment can have had.
fn latest_seq(geometry: &Geometry, segment: usize, newest: u64) -> u64 {
    let same_lap = newest - newest % geometry.segments + segment as u64;
    match same_lap <= newest {
        true => same_lap,
        false => same_lap.saturating_sub(geometry.segments),
    }
}

fn old_segments(
    geometry: &Geometry,
    headers: &[HeaderArea],
    seq_of: impl Fn(&HeaderArea) -> Option<u64>,
) -> Vec<OldSegment> {
    let end_of = |seq: u64| match headers.get(geometry.segment_of_seq(seq + 1)) {
        Some(HeaderArea::Written {
            seq: next,
            previous_end,
        }) if *next == seq + 1 => Some(*previous_end).filter(|end| *end != 0),
        _ => None,
    };
    let mut old: Vec<_> = headers
        .iter()
        .filter_map(seq_of)
        .map(|seq| OldSegment {
            seq,
            end: end_of(seq),
        })
        .collect();
    old.sort_unstable_by_key(|segment| std::cmp::Reverse(segment.seq));
    old
}

impl HeaderArea {
    fn seq(&self) -> Option<u64> {
        match self {
            Self::Written { seq, .. } => Some(*seq),
            Self::Blank | Self::Lost => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(seq: u64, previous_end: u64) -> HeaderArea {
        HeaderArea::Written { seq, previous_end }
    }

    fn geometry() -> Geometry {
        Geometry::plan(9 << 20, &DiskOptions::default()).unwrap()
    }

    #[test]
    fn a_blank_log_begins_with_lap_one() {
        let history = History::of(&geometry(), &[HeaderArea::Blank; 8]);
        assert_eq!((history.next_seq, history.old.len()), (8, 0));
    }

    #[test]
    fn the_log_goes_on_after_the_newest_and_knows_what_was_sealed() {
        let mut headers = [HeaderArea::Blank; 8];
        headers[..3].copy_from_slice(&[written(8, 0), written(9, 5), written(10, 0)]);
        let history = History::of(&geometry(), &headers);
        let old = [(10, None), (9, None), (8, Some(5))];
        let old = old.map(|(seq, end)| OldSegment { seq, end });
        assert_eq!(history.old, old);
        assert_eq!(history.next_seq, 11);
        assert_eq!(history.seqs, [8, 9, 10, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_lost_header_hides_what_is_older() {
        let mut headers: Vec<_> = (0..8)
            .map(|i| written(if i < 3 { 16 } else { 8 } + i, 8))
            .collect();
        // Newest is 18; segment 6 held 14; 11 (next to go), 12 and 13 are older.
        headers[6] = HeaderArea::Lost;
        let history = History::of(&geometry(), &headers);
        assert_eq!(history.seqs, [16, 17, 18, 0, 0, 0, 0, 15]);
        assert_eq!(history.next_seq, 19);
    }

    #[test]
    fn a_torn_header_of_the_next_segment_costs_that_segment_only() {
        let mut headers: Vec<_> = (0..8)
            .map(|i| written(if i < 3 { 16 } else { 8 } + i, 8))
            .collect();
        headers[3] = HeaderArea::Lost;
        let history = History::of(&geometry(), &headers);
        assert_eq!(history.seqs, [16, 17, 18, 0, 12, 13, 14, 15]);
        assert_eq!(history.next_seq, 27);
    }
}
