//! What an operator sees of larder: metrics, the access log, and where the memory goes.

pub mod access_log;
pub mod memory;
pub mod metrics;
