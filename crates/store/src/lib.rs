//! The two storage tiers of larder: memory and flash.
//!
//! Knows no HTTP: keys, metadata bytes and body bytes.

pub mod device;
mod key;
mod meta;

pub use key::Key;
pub use meta::Meta;
