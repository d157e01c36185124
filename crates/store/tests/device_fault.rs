//! The faulty twin does what its script says, and nothing else.

mod device_common;

use device_common::{BLOCK, filled, run};
use futures_util::FutureExt;
use larder_store::device::{
    BLOCK_BYTES, Device, Effect, Fault, FaultDevice, FaultError, FaultHandle, MemDevice, Target,
};
use rustix::io::Errno;

const BLOCKS: usize = 16;
const SEED: u64 = 7;

fn disk() -> (FaultDevice<MemDevice>, FaultHandle) {
    FaultDevice::new(MemDevice::new(BLOCKS * BLOCK_BYTES), SEED)
}

/// How many leading bytes of the disk hold this byte.
fn landed_bytes(disk: &FaultDevice<MemDevice>, byte: u8) -> usize {
    let image = disk.inner().image();
    image.iter().take_while(|&&b| b == byte).count()
}

#[test]
fn a_failing_io_moves_nothing_and_says_why() {
    let errors = [
        (FaultError::Eio, Errno::IO),
        (FaultError::Enospc, Errno::NOSPC),
    ];
    for (error, errno) in errors {
        let (disk, faults) = disk();
        faults.inject(Fault::new(Effect::Fail(Target::Writes, error)));
        let (_, result) = run(disk.write(0, filled(2, 1)));
        let raw = result.expect_err("a failed write").raw_os_error();
        assert_eq!(raw, Some(errno.raw_os_error()));
        assert_eq!(landed_bytes(&disk, 1), 0);
        run(disk.read(0, filled(1, 0))).1.expect("reads go on");
        run(disk.sync()).expect("syncs go on");
    }
}

#[test]
fn flipped_bits_are_in_the_answer_and_not_on_the_disk() {
    let read = |bits| {
        let (disk, faults) = disk();
        faults.inject(Fault::new(Effect::FlipBits(bits)).within(BLOCK..2 * BLOCK));
        let (elsewhere, _) = run(disk.read(0, filled(1, 0)));
        assert!(elsewhere.iter().all(|&b| b == 0), "out of the range");
        let (buf, result) = run(disk.read(BLOCK, filled(1, 0)));
        result.expect("the disk does not know");
        assert_eq!(landed_bytes(&disk, 0), BLOCKS * BLOCK_BYTES);
        buf.to_vec()
    };
    let ones = |buf: &[u8]| buf.iter().map(|b| b.count_ones()).sum::<u32>();
    assert_eq!(ones(&read(1)), 1);
    assert_eq!(ones(&read(3)), 3);
    assert_eq!(read(3), read(3), "the same seed gives the same bits");
}

#[test]
fn a_lost_write_reports_success() {
    let (disk, faults) = disk();
    faults.inject(Fault::new(Effect::LoseWrite).after(1).times(1));
    for byte in 1..=3 {
        let offset = u64::from(byte - 1) * BLOCK;
        run(disk.write(offset, filled(1, byte))).1.expect("success");
    }
    let image = disk.inner().image();
    let firsts: Vec<_> = image.chunks(BLOCK_BYTES).map(|b| b[0]).take(3).collect();
    assert_eq!(firsts, [1, 0, 3]);
    assert_eq!(faults.counts().lost, 1);
}

#[test]
fn a_torn_write_lands_its_first_blocks() {
    for blocks in [0, 1, 3, 4, 9] {
        let (disk, faults) = disk();
        faults.inject(Fault::new(Effect::TearWrite(Some(blocks))));
        let (buf, result) = run(disk.write(0, filled(4, 1)));
        result.expect("success");
        assert_eq!(buf.len(), 4 * BLOCK_BYTES, "the whole buffer comes back");
        assert_eq!(landed_bytes(&disk, 1), blocks.min(4) * BLOCK_BYTES);
    }
    let (disk, faults) = disk();
    faults.inject(Fault::new(Effect::TearWrite(None)));
    for byte in 1..=50 {
        run(disk.write(0, filled(4, byte))).1.expect("success");
        assert!(landed_bytes(&disk, byte) < 4 * BLOCK_BYTES, "less than all");
    }
}

#[test]
fn held_ios_start_in_order_when_released_and_without_their_callers() {
    let (disk, faults) = disk();
    faults.inject(Fault::new(Effect::Hold(Target::Writes)));
    let mut first = disk.write(0, filled(1, 1));
    drop(disk.write(BLOCK, filled(1, 1)));
    let third = disk.write(2 * BLOCK, filled(1, 1));
    assert!((&mut first).now_or_never().is_none(), "held");
    assert_eq!((faults.held(), landed_bytes(&disk, 1)), (3, 0));

    assert_eq!(faults.release(2), 2);
    assert_eq!(
        landed_bytes(&disk, 1),
        2 * BLOCK_BYTES,
        "a dropped future's write too"
    );
    run(first).1.expect("released");

    faults.clear();
    run(third).1.expect("released by the repair");
    run(disk.write(0, filled(1, 2))).1.expect("no longer held");
    assert_eq!(faults.counts().held, 3);
}

#[test]
fn a_held_sync_waits_and_its_end_is_an_error_when_all_is_dropped() {
    let (disk, faults) = disk();
    faults.inject(Fault::new(Effect::Hold(Target::Syncs)).times(1));
    let sync = disk.sync();
    run(disk.sync()).expect("the second is not held");
    drop((disk, faults));
    run(sync).expect_err("nobody is left to release it");
}

#[test]
fn an_io_out_of_range_is_no_business_of_the_script() {
    let (disk, faults) = disk();
    faults.inject(Fault::new(Effect::LoseWrite));
    run(disk.write(BLOCKS as u64 * BLOCK, filled(1, 0)))
        .1
        .expect_err("out of range");
    assert_eq!(faults.counts().writes, 0);
}
