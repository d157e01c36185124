//! Objects in memory and on flash.
#![doc = include_str!("../README.md")]

mod body;
pub mod device;
mod disk;
mod error;
mod key;
mod meta;
mod object;
mod options;
mod ram;
mod ssd;
mod stats;
mod store;
mod verdict;
mod version;
mod writer;

pub use body::{Body, BodyReader, PIECE_BYTES};
pub use disk::{
    Disk, DiskBody, DiskError, DiskLookup, DiskOptions, DiskReader, DiskStats, DiskWriter, Found,
    MissReason, OpenError, ReadError, RecoveryState, SkipReason, WriteError, index, index_bytes,
    write_buffer_bytes,
};
pub use error::{RemoveError, UpdateError};
pub use key::Key;
pub use meta::Meta;
pub use object::{Object, Tier};
pub use options::{MakePolicy, RamShare, SsdOptions, StoreOptions};
pub use ram::{RamPlan, RamStats};
pub use stats::StoreStats;
pub use store::{Removed, Store};
pub use verdict::{RamReject, SsdVerdict, Stored};
pub use writer::Writer;
