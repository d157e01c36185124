//! How many random reads per second does each engine get out of a drive, and what CPU do they cost?
//!
//! ```text
//! cargo bench -p larder-benches --bench device
//! LARDER_BENCH_DIR=/mnt/flash LARDER_BENCH_ROUNDS=5 cargo bench -p larder-benches --bench device
//! ```
//!
//! Reads at random blocks of one fully written file, by as many tasks as the depth says, against
//! `fio --ioengine=io_uring` on the same file when it is installed. The methods take turns within
//! each round, since a shared drive drifts by more than they differ; the table has medians.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use larder_benches::reads::{Load, Score, cpu_time, fio, median};
use larder_store::device::{
    AlignedBuf, BLOCK_BYTES, Device, DeviceOpenError, Engine, FileOptions, open_device,
};
use tokio::task::JoinSet;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const FILE_BYTES: u64 = 1 << 30;
const FILL_BYTES: usize = 1 << 20;
const READ_BYTES: [usize; 2] = [4 << 10, 32 << 10];
const DEPTHS: [usize; 3] = [1, 8, 32];
const RUN: Duration = Duration::from_secs(2);
const SEED: u64 = 42;

fn main() -> Result<()> {
    let parent =
        std::env::var_os("LARDER_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let rounds = match std::env::var("LARDER_BENCH_ROUNDS") {
        Ok(rounds) => rounds.parse::<usize>()?.max(1),
        Err(_) => 3,
    };
    let dir = tempfile::tempdir_in(parent)?;
    let options = FileOptions {
        path: dir.path().join("data"),
        len_bytes: FILE_BYTES,
        direct: true,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(fill(&options))?;
    println!(
        "{FILE_BYTES} bytes in {}, {rounds} rounds of {RUN:?}",
        dir.path().display()
    );
    println!(
        "{:>8} {:>6} {:>8} {:>10} {:>12} {:>8}",
        "bytes", "depth", "method", "reads/s", "CPU us/read", "vs fio"
    );
    for read_bytes in READ_BYTES {
        for depth in DEPTHS {
            let load = Load {
                read_bytes,
                depth,
                file_bytes: FILE_BYTES,
                time: RUN,
            };
            let mut scores = Method::ALL.map(|_| Vec::new());
            for _ in 0..rounds {
                for (method, scores) in Method::ALL.iter().zip(&mut scores) {
                    scores.extend(method.measure(&options, load, &runtime)?);
                }
            }
            print(load, &scores);
        }
    }
    Ok(())
}

/// Unwritten extents are read without touching the drive: every block is written first.
async fn fill(options: &FileOptions) -> Result<()> {
    let device = open_device(options, Engine::File)?;
    let mut random = Rng::with_seed(SEED);
    let mut buf = AlignedBuf::zeroed(FILL_BYTES);
    for offset in (0..FILE_BYTES).step_by(FILL_BYTES) {
        random.fill(&mut buf);
        let (back, result) = device.write(offset, buf).await;
        result?;
        buf = back;
    }
    Ok(device.sync().await?)
}

#[derive(Debug, Clone, Copy)]
enum Method {
    Fio,
    Device(Engine),
}

impl Method {
    const ALL: [Self; 3] = [
        Self::Fio,
        Self::Device(Engine::Uring),
        Self::Device(Engine::File),
    ];

    fn as_str(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Device(engine) => engine.as_str(),
        }
    }

    /// Nothing when the method does not exist on this machine.
    fn measure(
        self,
        options: &FileOptions,
        load: Load,
        runtime: &tokio::runtime::Runtime,
    ) -> Result<Option<Score>> {
        match self {
            Self::Fio => fio(&options.path, load),
            Self::Device(engine) => match open_device(options, engine) {
                Ok(device) => Ok(Some(runtime.block_on(drive(device, load))?)),
                Err(DeviceOpenError::Uring { .. }) => Ok(None),
                Err(error) => Err(error.into()),
            },
        }
    }
}

/// As many tasks as the depth says, each with one read at a time.
async fn drive(device: Arc<dyn Device>, load: Load) -> Result<Score> {
    let (started, cpu_started) = (Instant::now(), cpu_time());
    let mut tasks = JoinSet::new();
    for task in 0..load.depth as u64 {
        let device = Arc::clone(&device);
        let mut random = Rng::with_seed(SEED + task);
        tasks.spawn(async move {
            let mut buf = AlignedBuf::zeroed(load.read_bytes);
            let mut reads = 0u64;
            while started.elapsed() < RUN {
                let nth = random.u64(..FILE_BYTES / load.read_bytes as u64);
                let (back, result) = device.read(nth * load.read_bytes as u64, buf).await;
                result?;
                buf = back;
                reads += 1;
            }
            std::io::Result::Ok(reads)
        });
    }
    let mut reads = 0;
    while let Some(task) = tasks.join_next().await {
        reads += task??;
    }
    let cpu = cpu_time().saturating_sub(cpu_started);
    Ok(Score {
        reads_per_s: reads as f64 / started.elapsed().as_secs_f64(),
        cpu_us_per_read: cpu.as_secs_f64() * 1e6 / reads as f64,
    })
}

fn print(load: Load, scores: &[Vec<Score>; Method::ALL.len()]) {
    let Load {
        read_bytes, depth, ..
    } = load;
    let fio = median(&scores[0], |s| s.reads_per_s);
    for (method, scores) in Method::ALL.iter().zip(scores) {
        let Some(reads_per_s) = median(scores, |s| s.reads_per_s) else {
            println!("{read_bytes:>8} {depth:>6} {:>8} not here", method.as_str());
            continue;
        };
        let cpu = median(scores, |s| s.cpu_us_per_read).unwrap_or_default();
        let ratio = fio.map_or_else(|| "-".into(), |fio| format!("{:.2}", reads_per_s / fio));
        println!(
            "{read_bytes:>8} {depth:>6} {:>8} {reads_per_s:>10.0} {cpu:>12.1} {ratio:>8}",
            method.as_str()
        );
    }
}

const _: () =
    assert!(READ_BYTES[0].is_multiple_of(BLOCK_BYTES) && FILL_BYTES.is_multiple_of(BLOCK_BYTES));
