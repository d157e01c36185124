//! The configuration: read from TOML, checked as a whole, and plain structs from there on.
//!
//! `config/larder.toml` lists every key with its default and the reason for it;
//! `docs/configuration.md` is the manual. All mistakes of a file are reported at once, with line,
//! column, what would be right, and what was probably meant.

mod cache;
mod check;
mod data_dir;
mod document;
mod host;
mod load;
mod log;
mod machine;
mod memory;
mod notes;
mod origin;
mod overrides;
mod problem;
mod quantity;
mod server;
mod store;
mod suggest;
mod value;

pub use cache::CacheConfig;
pub use host::HostPattern;
pub use load::FILE_BYTES_MAX;
pub use log::{AccessLog, Level, LogConfig, LogFormat};
pub use machine::{Machine, MemorySource};
pub use memory::{LIMIT_BYTES_MIN, LIMIT_PERCENT, MemoryConfig, MemoryLimit};
pub use origin::{HostHeader, OriginConfig, Upstream};
pub use overrides::Overrides;
pub use problem::{PROBLEMS_MAX, Place, Problem, Problems};
pub use quantity::{QuantityError, Size, Span, parse_duration, parse_size};
pub use server::{LISTENERS_MAX, ServerConfig};
pub use store::{Engine, IndexMode, SIZE_BYTES_MAX, SIZE_BYTES_MIN, STORE_FILE, StoreConfig};
pub use value::parse_address;

/// `config/larder.toml`: every key, commented out, with its default and the reason for it.
pub const DEFAULTS_TOML: &str = include_str!("../../../../config/larder.toml");

/// All that an operator decides. Every value is within its documented bounds, and the memory plan
/// of the whole fits ([`crate::plan`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where larder listens, and what it takes from clients.
    pub server: ServerConfig,
    /// Whom it asks for what it does not have.
    pub origin: OriginConfig,
    /// The one number that bounds the whole process.
    pub memory: MemoryConfig,
    /// The tier on flash.
    pub store: StoreConfig,
    /// What is kept, and for how long, where the origin does not say.
    pub cache: CacheConfig,
    /// What is written down, and where.
    pub log: LogConfig,
}
