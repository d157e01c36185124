//! Dropping the future, or the device, never corrupts memory or disk.

mod device_common;

use std::sync::Arc;

use device_common::{BLOCK, dirs, filled, on_each_device, options, run};
use fastrand::Rng;
use futures_util::FutureExt;
use larder_store::device::{DeviceOpenError, Engine, open_device};

const BLOCKS: u64 = 256;
const SEED: u64 = 0x1a2d_e201;

#[test]
fn dropped_futures_leave_buffers_to_the_kernel() {
    println!("seed {SEED:#x}");
    on_each_device(BLOCKS, |device| {
        run(async {
            let mut random = Rng::with_seed(SEED);
            // What each block may hold: a write whose future was dropped may or may not be over.
            for round in 1..=40u8 {
                let mut kept = Vec::new();
                for block in 0..BLOCKS {
                    let mut io = device.write(block * BLOCK, filled(1, round));
                    match random.u8(..4) {
                        0 => drop(io),
                        1 => drop((&mut io).now_or_never()),
                        _ => kept.push(io),
                    }
                }
                // Memory that the allocator may hand out again while dropped I/Os still run.
                let canaries: Vec<_> = (0..64).map(|_| filled(1, 0xCA)).collect();
                for io in kept {
                    io.await.1.expect("write");
                }
                for block in 0..BLOCKS {
                    let io = device.read(block * BLOCK, filled(1, 0xEE));
                    match random.bool() {
                        true => drop(io),
                        false => {
                            let (buf, result) = io.await;
                            result.expect("read");
                            let first = buf[0];
                            assert!(first <= round, "block {block}: {first:#x}");
                            assert!(buf.iter().all(|&b| b == first), "block {block} is torn");
                        }
                    }
                }
                let intact = |c: &_| <[u8]>::iter(c).all(|&b| b == 0xCA);
                assert!(
                    canaries.iter().all(|c| intact(c)),
                    "a canary was overwritten"
                );
            }
        });
    });
}

#[test]
fn closing_finishes_what_is_queued_and_frees_the_file() {
    // Together more than the queue takes: some reads still wait for room when the device closes.
    const IOS: u64 = 200;
    for engine in [Engine::File, Engine::Auto] {
        for dir in dirs() {
            let options = options(dir.path(), BLOCKS, true);
            let device = open_device(&options, engine).expect("open");
            let clone = Arc::clone(&device);
            let writes = (0..IOS)
                .step_by(2)
                .map(|n| device.write(n * BLOCK, filled(1, n as u8)));
            // Every other write has nobody left who waits for it.
            let writes: Vec<_> = writes.collect();
            (1..IOS)
                .step_by(2)
                .for_each(|n| drop(device.write(n * BLOCK, filled(1, n as u8))));
            let reads = (0..IOS).map(|n| device.read(n * BLOCK, filled(1, 0)));
            let reads: Vec<_> = reads.collect();
            drop(device);
            let second = open_device(&options, engine)
                .err()
                .expect("one handle is left");
            assert!(matches!(second, DeviceOpenError::Locked { .. }), "{second}");
            drop(clone);

            let device = open_device(&options, engine).expect("reopen");
            run(async {
                for io in writes {
                    io.await.1.expect("a queued write");
                }
                for io in reads {
                    assert_eq!(io.await.0.len() as u64, BLOCK, "the buffer comes back");
                }
                for n in 0..IOS {
                    let (buf, result) = device.read(n * BLOCK, filled(1, 0xEE)).await;
                    result.expect("read");
                    assert!(buf.iter().all(|&b| b == n as u8), "block {n}");
                }
            });
        }
    }
}
