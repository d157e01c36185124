//! Replays a trace against an HTTP server and measures what comes back.
//!
//! One thread reads the trace into a bounded queue; each of N workers takes the oldest request
//! from it, sends it on a keep-alive connection of its own, compares every byte of the answer
//! with the object's [`Content`](crate::Content), and takes the next: a closed loop (AS-31).
//! Requests start in the order of the trace. Hits and tiers are learnt from `Cache-Status`
//! (RFC 9211).
//!
//! ```text
//! trace ─► feed (thread) ─► queue ─┬─► worker: link ─► exchange ─┬─► tally ─► report
//!                                  └─► worker: link ─► exchange ─┘
//! ```

mod cache_status;
mod dial;
mod error;
mod exchange;
mod feed;
mod link;
mod metrics;
mod options;
mod progress;
mod report;
mod run;
mod tally;
mod target;
mod worker;

pub use error::ReplayError;
pub use feed::{OBJECTS_TRACKED_MAX, QUEUE_REQUESTS};
pub use options::{CONNECTIONS_DEFAULT, CONNECTIONS_MAX, ReplayOptions};
pub use progress::{Progress, Silent, Snapshot, StderrProgress};
pub use report::{LatencyUs, Report};
pub use run::{NOTES_MAX, replay};
pub use target::TargetError;
