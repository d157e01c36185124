//! What the owner of a disk chooses, and what memory it will take.

use std::time::Duration;

use super::flusher::WRITES_IN_FLIGHT;
use super::format::{FOOTER_ENTRY_BYTES, Geometry, HEADER_BYTES};
use super::index::Index;
use super::tail::RUNS_MAX;
use crate::device::BLOCK_BYTES;

/// Smallest run: [`RUNS_MAX`] of them hold the longest record with room for two more runs.
pub(super) const RUN_BYTES_MIN: usize = 256 << 10;
/// Largest run: throughput no longer grows with the write's size.
const RUN_BYTES_MAX: usize = 4 << 20;

/// How a disk is formatted and used. The defaults fit any device.
#[derive(Clone, Debug)]
pub struct DiskOptions {
    /// Wished size of a segment, the unit in which the log forgets; less on a device that would
    /// have fewer than 64 of them, at least 1 MiB. Used only when formatting.
    pub segment_bytes: u64,
    /// Size of one write; less where a segment has fewer than four, at least 256 KiB.
    pub run_bytes: usize,
    /// Mean object size, metadata included: the index has room for as many as the device holds.
    pub mean_object_bytes: u64,
    /// How long data may wait for more before it is written.
    pub flush_after: Duration,
    /// The secret seed of all hashes and checksums. Used only when formatting, where it must be
    /// random: a seed used before on this device makes old bytes pass for new ones.
    pub format_seed: u64,
}

impl Default for DiskOptions {
    fn default() -> Self {
        Self {
            segment_bytes: 16 << 20,
            run_bytes: 1 << 20,
            mean_object_bytes: 16 << 10,
            flush_after: Duration::from_secs(1),
            format_seed: 0,
        }
    }
}

impl DiskOptions {
    /// The size of a run on a device with such segments, in bytes.
    pub(super) fn run_bytes_for(&self, segment_bytes: u64) -> usize {
        let most = (segment_bytes / 4) as usize;
        let run_bytes = self.run_bytes.clamp(RUN_BYTES_MIN, RUN_BYTES_MAX).min(most);
        run_bytes.next_multiple_of(BLOCK_BYTES)
    }

    /// Sets of the index for so many bytes of log.
    pub(super) fn index_sets(&self, data_bytes: u64) -> usize {
        // No object is smaller than its header.
        let mean_bytes = self.mean_object_bytes.max(HEADER_BYTES as u64);
        Index::sets_for(data_bytes / mean_bytes)
    }
}

/// Bytes of memory that the index of a device of `device_bytes` takes: fixed while it is open.
pub fn index_bytes(device_bytes: u64, options: &DiskOptions) -> u64 {
    let Ok(geometry) = Geometry::plan(device_bytes, options) else {
        return 0;
    };
    let seqs_bytes = geometry.segments * size_of::<u64>() as u64;
    Index::bytes_for(options.index_sets(geometry.data_bytes())) + seqs_bytes
}

/// Most bytes of memory that data on its way to a device of `device_bytes` takes: runs, the
/// copies that the device writes from and, for objects of the mean size, the table of the open
/// segment's records beside the footer made from the one before. An open [`DiskWriter`] holds up
/// to 256 KiB on top.
///
/// [`DiskWriter`]: super::DiskWriter
pub fn write_buffer_bytes(device_bytes: u64, options: &DiskOptions) -> u64 {
    let Ok(geometry) = Geometry::plan(device_bytes, options) else {
        return 0;
    };
    let runs = RUNS_MAX + 1 + WRITES_IN_FLIGHT;
    let run_bytes = options.run_bytes_for(geometry.segment_bytes) as u64;
    let entries = geometry.segment_bytes / options.mean_object_bytes.max(HEADER_BYTES as u64);
    runs as u64 * run_bytes + 2 * entries * FOOTER_ENTRY_BYTES as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_known_before_start() {
        let options = DiskOptions::default();
        // 64 Mi objects at load 0.8, eight to a line of 64 bytes: 10 bytes each.
        let index_mib = index_bytes(1 << 40, &options) >> 20;
        assert!((630..650).contains(&index_mib), "{index_mib} MiB");
        let buffers_mib = write_buffer_bytes(1 << 40, &options) >> 20;
        assert_eq!(buffers_mib, 11);
        assert_eq!(index_bytes(0, &options), 0);
        assert_eq!(options.run_bytes_for(1 << 20), 256 << 10);
    }
}
