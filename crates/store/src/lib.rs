//! The two storage tiers of larder: memory and flash.
//!
//! Knows no HTTP: keys, metadata bytes and body bytes.

pub mod device;
mod disk;
mod key;
mod meta;

pub use disk::{
    Disk, DiskBody, DiskError, DiskLookup, DiskOptions, DiskReader, DiskStats, DiskWriter, Found,
    MissReason, OpenError, ReadError, RecoveryState, SkipReason, WriteError, index, index_bytes,
    write_buffer_bytes,
};
pub use key::Key;
pub use meta::Meta;
