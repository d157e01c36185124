//! What the benchmarks share: a load generator, pinned child processes, a bare server.
//!
//! Benchmarks live in `benches/`, one file a question. Each compares with a peer or a limit in
//! the same run and prints ratios; wall time on a shared machine is noise, so where a server is
//! measured the figure to trust is its CPU time per request.

pub mod bare;
pub mod child;
pub mod load;
pub mod reads;
pub mod table;
