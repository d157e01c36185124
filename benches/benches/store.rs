//! How near do reads through the store come to what the drive gives?
//!
//! Objects of 32 KiB at random, found by the index, read and verified, against
//! `fio --ioengine=io_uring` reading 32 KiB at random from the same file at the same depth. The
//! two take turns, since a shared drive drifts by more than they differ.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use fastrand::Rng;
use larder_benches::reads::{Load, Score, cpu_time, fio, median};
use larder_store::device::{Engine, FileOptions, open_device};
use larder_store::{Disk, DiskLookup, DiskOptions, Key};
use tokio::task::JoinSet;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const OBJECT_BYTES: usize = 32 << 10;
const OBJECTS: u64 = 28_000;
const FILE_BYTES: u64 = 1 << 30;
const DEPTHS: [usize; 2] = [8, 32];
const ROUNDS: usize = 5;
const RUN: Duration = Duration::from_secs(2);

fn main() -> Result<()> {
    let parent =
        std::env::var_os("LARDER_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = tempfile::tempdir_in(parent)?;
    let file = FileOptions {
        path: dir.path().join("data"),
        len_bytes: FILE_BYTES,
        direct: true,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let disk = runtime.block_on(filled(&file))?;
    println!("{OBJECTS} objects of {OBJECT_BYTES} bytes, {ROUNDS} rounds of {RUN:?}");
    println!(" depth  method     reads/s  CPU us/read  vs fio");
    for depth in DEPTHS {
        let load = Load {
            read_bytes: OBJECT_BYTES,
            depth,
            file_bytes: FILE_BYTES,
            time: RUN,
        };
        let (mut limit, mut store) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            limit.extend(fio(&file.path, load).map_err(|error| error.to_string())?);
            store.push(runtime.block_on(read(&disk, depth))?);
        }
        let best = median(&limit, |score| score.reads_per_s);
        for (name, scores) in [("fio", &limit), ("store", &store)] {
            let (Some(rate), Some(cpu)) = (
                median(scores, |s| s.reads_per_s),
                median(scores, |s| s.cpu_us_per_read),
            ) else {
                println!("{depth:>6}  {name:<6} not here");
                continue;
            };
            let ratio = best.map_or(f64::NAN, |best| rate / best);
            println!("{depth:>6}  {name:<6}  {rate:>10.0}  {cpu:>11.1}  {ratio:>6.2}");
        }
    }
    runtime.block_on(disk.close())?;
    Ok(())
}

fn key(disk: &Disk, nth: u64) -> Key {
    Key::new(
        Bytes::from(format!("http://example.org/object/{nth}")),
        disk.seed(),
    )
}

/// A disk with all objects on it.
async fn filled(file: &FileOptions) -> Result<Disk> {
    let device = open_device(file, Engine::Auto)?;
    let options = DiskOptions {
        format_seed: 42,
        mean_object_bytes: OBJECT_BYTES as u64,
        ..DiskOptions::default()
    };
    let disk = Disk::open(device, options).await?;
    let body = Bytes::from(vec![7; OBJECT_BYTES]);
    for nth in 0..OBJECTS {
        let mut writer = disk.writer(key(&disk, nth));
        writer.write(body.clone()).await?;
        writer.finish(Bytes::from_static(b"metadata")).await?;
    }
    disk.flush().await?;
    Ok(disk)
}

/// As many tasks as the depth says, each with one lookup at a time.
async fn read(disk: &Disk, depth: usize) -> Result<Score> {
    let (started, cpu_started) = (Instant::now(), cpu_time());
    let hits = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let mut tasks = JoinSet::new();
    for task in 0..depth as u64 {
        let (disk, hits) = (disk.clone(), Arc::clone(&hits));
        tasks.spawn(async move {
            let mut random = Rng::with_seed(task);
            while started.elapsed() < RUN {
                let wanted = key(&disk, random.u64(..OBJECTS));
                match disk.get(&wanted).await {
                    DiskLookup::Hit(found) if found.body.len() == OBJECT_BYTES as u64 => {
                        hits.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                    // A full set has given it up: not what is measured.
                    _ => {}
                }
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task?;
    }
    let hits = hits.load(std::sync::atomic::Ordering::Relaxed) as f64;
    let cpu = cpu_time().saturating_sub(cpu_started);
    Ok(Score {
        reads_per_s: hits / started.elapsed().as_secs_f64(),
        cpu_us_per_read: cpu.as_secs_f64() * 1e6 / hits,
    })
}
