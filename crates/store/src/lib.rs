//! Objects in memory and on flash.
#![doc = include_str!("../README.md")]

mod body;
pub mod device;
mod error;
mod key;
mod meta;
mod object;
mod options;
mod ram;
mod stats;
mod store;
mod verdict;
mod version;
mod writer;

pub use body::{Body, BodyReader, PIECE_BYTES};
pub use error::{OpenError, ReadError, RemoveError, WriteError};
pub use key::Key;
pub use meta::Meta;
pub use object::{Object, Tier};
pub use options::{MakePolicy, RamShare, StoreOptions};
pub use ram::{RamPlan, RamStats};
pub use stats::StoreStats;
pub use store::{Removed, Store};
pub use verdict::{RamReject, SsdVerdict, Stored};
pub use writer::Writer;
