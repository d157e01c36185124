//! Runs, jobs and what memory still has of them.

use super::*;
use crate::DiskOptions;
use crate::disk::format::Kind;

fn tail() -> Tail {
    let geometry = Geometry::plan(9 << 20, &DiskOptions::default()).unwrap();
    Tail::new(geometry, 7, RUN_BYTES_MIN, geometry.segments)
}

fn put(tail: &mut Tail, body: &[u8]) -> Appended {
    let record = Record::new(7, Kind::Object, 1, 0, [b"key", b"meta", body]);
    if !tail.fits_segment(&record) {
        tail.begin_segment();
    }
    tail.append(&record).unwrap()
}

#[test]
fn a_record_spans_runs_and_is_whole_in_memory() {
    let mut tail = tail();
    let body = vec![5; RUN_BYTES_MIN + 100];
    let at = put(&mut tail, &body);
    let line = tail.geometry.line(at.seq, SEGMENT_HEADER_BYTES as u64);
    let found = tail.in_memory(&(line..line + (1 << 20)));
    let bytes: Vec<u8> = found.parts.iter().flat_map(|(_, b)| b.to_vec()).collect();
    assert_eq!(found.parts.len(), 2);
    assert_eq!(found.end, line + bytes.len() as u64);
    assert!(bytes.windows(body.len()).any(|window| window == body));
}

#[test]
fn the_floor_rises_as_runs_reach_the_device() {
    let mut tail = tail();
    let before = tail.memory_floor();
    put(&mut tail, &vec![5; 2 * RUN_BYTES_MIN]);
    tail.freeze();
    let mut floor = tail.memory_floor();
    assert!(floor > before);
    for _ in 0..3 {
        tail.run_written();
        assert!(tail.memory_floor() > floor);
        floor = tail.memory_floor();
    }
    assert!(tail.in_memory(&(0..u64::MAX)).parts.is_empty());
    assert_eq!(tail.in_memory(&(0..1)).end, floor);
}

#[test]
fn jobs_tile_a_segment_between_header_and_footer() {
    let mut tail = tail();
    let mut seq = put(&mut tail, &[1; 3000]).seq;
    let first = seq;
    while seq == first {
        seq = put(&mut tail, &[1; 3000]).seq;
        tail.run_written();
    }
    let begin = tail.device_offset(first, 0);
    let mut at = begin;
    while let Some(Queued { job, ticket }) = tail.take_job() {
        match job {
            Job::Begin { offset, blocks } if ticket == 0 => {
                assert_eq!(offset, at);
                at += blocks.len() as u64;
            }
            Job::Begin { offset, .. } => {
                assert_eq!(offset, begin + tail.geometry.segment_bytes);
            }
            Job::Run { offset, bytes } => {
                assert_eq!(offset, at);
                at += bytes.len() as u64;
            }
            Job::Footer { offset, blocks } => {
                assert!(at <= offset && offset - at < 4 * BLOCK_BYTES as u64);
                at = offset + blocks.len() as u64;
            }
        }
    }
    assert_eq!(at, begin + tail.geometry.segment_bytes);
}

#[test]
fn a_record_that_ends_with_its_run_is_in_the_run_s_ticket() {
    let mut tail = tail();
    let body = vec![5; RUN_BYTES_MIN - HEADER_BYTES - b"keymeta".len()];
    put(&mut tail, &body);
    assert!(!tail.is_dirty());
    let tickets: Vec<_> = std::iter::from_fn(|| tail.take_job())
        .map(|queued| queued.ticket)
        .collect();
    assert_eq!(tickets, [0, 1]);
}
