//! `[store]`: the tier on flash.

use std::path::PathBuf;
use std::time::Duration;

use super::document::Section;
use super::value;

/// The name of the store's file inside `data_dir`.
pub const STORE_FILE: &str = "larder.store";

/// The least flash worth a tier: eight segments of the smallest size, and room to reclaim them.
pub const SIZE_BYTES_MIN: u64 = 16 << 20;

/// What 32 bits of positions in 4 KiB units would reach; no single device is near it.
pub const SIZE_BYTES_MAX: u64 = 16 << 40;

/// The tier on flash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreConfig {
    /// The directory of the store; `None` means that there is no tier on flash.
    pub data_dir: Option<PathBuf>,
    /// Bytes of the store's file, which is allocated in full at the first start.
    pub size_bytes: u64,
    /// How the file is read and written.
    pub engine: Engine,
    /// Whether the page cache is passed by (`O_DIRECT`), where the file system can.
    pub direct: bool,
    /// Bytes of a mean object, from which the number of index slots follows.
    pub mean_object_bytes: u64,
    /// What the index keeps in memory.
    pub index: IndexMode,
    /// How long a written object may wait in memory for its write to flash.
    pub flush_after: Duration,
}

/// How the store's file is read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// io_uring where the kernel allows it, else the pool of threads.
    Auto,
    /// io_uring; the start fails where the kernel refuses it.
    Uring,
    /// A pool of threads with `pread` and `pwrite`.
    File,
}

impl Engine {
    /// The name in the configuration and in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Uring => "uring",
            Self::File => "file",
        }
    }
}

/// What the index keeps in memory, by the names that HashCache gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexMode {
    /// Every object's tag, rank and place in the log: each hit is one read, a miss is none.
    Log,
}

impl IndexMode {
    /// The name in the configuration and in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
        }
    }
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self {
            data_dir: None,
            size_bytes: 8 << 30,
            engine: Engine::Auto,
            direct: true,
            mean_object_bytes: 16 << 10,
            index: IndexMode::Log,
            flush_after: Duration::from_secs(1),
        }
    }
}

impl StoreConfig {
    pub(super) fn read(section: &mut Section<'_, '_>) -> Self {
        let d = Self::default();
        let engines = &[
            ("auto", Engine::Auto),
            ("uring", Engine::Uring),
            ("file", Engine::File),
        ];
        Self {
            data_dir: section.get("data_dir", d.data_dir, value::optional("", value::path)),
            size_bytes: section.get(
                "size",
                d.size_bytes,
                value::size(SIZE_BYTES_MIN..=SIZE_BYTES_MAX),
            ),
            engine: section.get("engine", d.engine, value::choice(engines)),
            direct: section.get("direct", d.direct, value::boolean),
            mean_object_bytes: section.get(
                "mean_object_size",
                d.mean_object_bytes,
                value::size(256..=64 << 20),
            ),
            index: section.get("index", d.index, value::choice(&[("log", IndexMode::Log)])),
            flush_after: section.get(
                "flush_after",
                d.flush_after,
                value::duration(Duration::from_millis(10)..=Duration::from_secs(60)),
            ),
        }
    }

    /// The store's file; `None` means that there is no tier on flash.
    pub fn file(&self) -> Option<PathBuf> {
        self.data_dir.as_ref().map(|dir| dir.join(STORE_FILE))
    }
}
