//! Every device behaves like an array of bytes.

mod device_common;

use std::io;

use device_common::{BLOCK, filled, on_each_device, run};
use futures_util::future::join_all;
use larder_store::device::{AlignedBuf, BLOCK_BYTES, Device};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const BLOCKS: u64 = 64;

#[derive(Debug, Clone)]
enum Step {
    Read { at: u64, blocks: u64 },
    Write { at: u64, blocks: u64, byte: u8 },
    Sync,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let range = (0..BLOCKS, 1..=8u64).prop_map(|(at, n)| (at, n.min(BLOCKS - at)));
    let write = (range.clone(), any::<u8>());
    let step = prop_oneof![
        8 => range.prop_map(|(at, blocks)| Step::Read { at, blocks }),
        8 => write.prop_map(|((at, blocks), byte)| Step::Write { at, blocks, byte }),
        1 => Just(Step::Sync),
    ];
    prop::collection::vec(step, 1..60)
}

async fn obey(device: &dyn Device, model: &mut [u8], step: Step) -> Result<(), TestCaseError> {
    let bytes = |at: u64, blocks: u64| {
        let from = (at * BLOCK) as usize;
        from..from + (blocks * BLOCK) as usize
    };
    match step {
        Step::Read { at, blocks } => {
            let (buf, result) = device.read(at * BLOCK, filled(blocks as usize, 0xEE)).await;
            prop_assert!(result.is_ok(), "{result:?}");
            prop_assert!(*buf == model[bytes(at, blocks)]);
        }
        Step::Write { at, blocks, byte } => {
            let buf = filled(blocks as usize, byte);
            let (buf, result) = device.write(at * BLOCK, buf).await;
            prop_assert!(result.is_ok(), "{result:?}");
            prop_assert!(
                buf.iter().all(|&b| b == byte),
                "the buffer came back changed"
            );
            model[bytes(at, blocks)].fill(byte);
        }
        Step::Sync => prop_assert!(device.sync().await.is_ok()),
    }
    Ok(())
}

#[test]
fn any_script_reads_what_it_wrote() {
    on_each_device(BLOCKS, |device| {
        let len = device.len_bytes() as usize;
        let model = parking_lot::Mutex::new(vec![0; len]);
        let script = |steps: Vec<Step>| {
            // One device serves all cases: the model goes on from where the last one ended.
            let mut model = model.lock();
            run(async {
                for step in steps {
                    obey(&*device, &mut model, step).await?;
                }
                Ok(())
            })
        };
        let mut runner = TestRunner::new(Config {
            failure_persistence: None,
            ..Config::with_cases(24)
        });
        if let Err(error) = runner.run(&steps(), script) {
            panic!("{}: {error}", device.name());
        }
    });
}

#[test]
fn more_ios_than_the_queue_holds_all_end() {
    const IOS: u64 = 1000;
    on_each_device(IOS, |device| {
        run(async {
            let byte = |n: u64| (n % 251) as u8;
            let writes = (0..IOS).map(|n| device.write(n * BLOCK, filled(1, byte(n))));
            let writes: Vec<_> = writes.collect();
            for (_, result) in join_all(writes).await {
                result.expect("write");
            }
            device.sync().await.expect("sync");
            let reads = (0..IOS)
                .rev()
                .map(|n| device.read(n * BLOCK, filled(1, 0xEE)));
            let reads: Vec<_> = reads.collect();
            for (n, (buf, result)) in (0..IOS).rev().zip(join_all(reads).await) {
                result.expect("read");
                assert!(buf.iter().all(|&b| b == byte(n)), "block {n}");
            }
        });
    });
}

#[test]
fn several_threads_share_a_device() {
    const THREADS: u64 = 4;
    const ROUNDS: u64 = 100;
    on_each_device(THREADS, |device| {
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let device = &device;
                scope.spawn(move || {
                    run(async {
                        for round in 0..ROUNDS {
                            let byte = (thread * ROUNDS + round) as u8;
                            let (buf, result) = device.write(thread * BLOCK, filled(1, byte)).await;
                            result.expect("write");
                            let (buf, result) = device.read(thread * BLOCK, buf).await;
                            result.expect("read");
                            assert!(buf.iter().all(|&b| b == byte));
                        }
                    });
                });
            }
        });
    });
}

#[test]
fn a_range_that_does_not_fit_is_refused_and_the_buffer_comes_back() {
    let offsets = [
        1,
        512,
        BLOCK / 2,
        7 * BLOCK,
        8 * BLOCK,
        u64::MAX - BLOCK + 1,
    ];
    on_each_device(8, |device| {
        for offset in offsets {
            let (buf, result) = run(device.read(offset, filled(2, 7)));
            let kind = result.expect_err("a read that does not fit").kind();
            assert_eq!(kind, io::ErrorKind::InvalidInput);
            assert_eq!(buf.len(), 2 * BLOCK_BYTES);
            let (_, result) = run(device.write(offset, buf));
            let kind = result.expect_err("a write that does not fit").kind();
            assert_eq!(kind, io::ErrorKind::InvalidInput);
        }
        let (buf, result) = run(device.read(0, AlignedBuf::zeroed(8 * BLOCK_BYTES)));
        result.expect("read");
        assert!(buf.iter().all(|&b| b == 0), "something was written");
    });
}
