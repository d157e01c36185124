//! The rules of HTTP caching as pure functions: no I/O, no clock, no state.
//!
//! Each file answers one question of RFC 9110, 9111, 9211 or 9213 and names the section beside
//! the branch that follows it. Time comes in as [`Millis`](date::Millis).

pub mod cache_control;
pub mod cache_status;
pub mod cacheable;
pub mod conditional;
pub mod date;
pub mod decide;
pub mod detail;
pub mod fresh;
pub mod freshen;
pub mod hop;
pub mod invalidate;
pub mod key;
pub mod normalize;
pub mod pseudonym;
pub mod range;
pub mod stale;
pub mod vary;
pub mod via;

mod lexer;
mod lists;
mod request_value;
mod targeted;
