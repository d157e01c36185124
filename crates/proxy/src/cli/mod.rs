//! The command line.

pub mod exit;
