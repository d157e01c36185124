//! The two storage tiers of larder: memory and flash.
//!
//! Knows no HTTP: keys, metadata bytes and body bytes. Knows no clock either: what is stale is
//! the caller's question, and its answer is kept in the metadata.
//!
//! ```
//! use bytes::Bytes;
//! use larder_store::{Store, StoreOptions};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! // Rendered map tiles, at most 64 MiB of them in memory. The metadata is plain bytes here; a
//! // type of your own implements `Meta`.
//! let tiles: Store<Bytes> = Store::open(StoreOptions::new(64 << 20)).await?;
//!
//! let key = tiles.key(Bytes::from_static(b"tile/12/2200/1343"));
//! let mut writer = tiles.writer(key.clone(), Some(9));
//! writer.write(Bytes::from_static(b"a drawing")).await;
//! let stored = writer.finish(Bytes::from_static(b"style=7")).await;
//! assert_eq!(stored.ram, Ok(()));
//!
//! let tile = tiles.get(&key).await.expect("it was stored just now");
//! assert_eq!(tile.body.as_single().unwrap(), "a drawing");
//! assert_eq!(tile.meta.as_ref(), "style=7");
//!
//! tiles.remove(&key).await?;
//! assert!(tiles.get(&key).await.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
