//! A synthetic origin: objects of the size asked for, made up on the fly, faults included.
//!
//! It keeps nothing (AS-32: only ids and sizes, bodies of the right length on the fly), so it is
//! never the bottleneck of a measurement and any body can be checked by whoever knows its name.
//!
//! | path | what it answers |
//! |---|---|
//! | `GET /s/<size>/<id>` | `size` bytes, fresh for a day, strong `ETag`, fixed `Last-Modified`; a query is ignored |
//! | `GET /object/<id>?…` | what the options ask for: [`OPTIONS_HELP`] |
//! | `POST /object/<id>?…` | an empty answer with the `status` asked for (200) |
//! | `GET /_stats` | the counters, as JSON ([`OriginCounts`]) |
//! | `POST /_reset` | sets them to zero |
//!
//! The body of both kinds is [`Content`](crate::Content) of the request's path (no query) in
//! version 0, or in the `version` asked for. With `vary=a,b` each variant has its own bytes: the
//! content's name is then the path followed, for each field in the order named, by `\n`, the
//! field's name in lower case, `:` and its value in the request (empty if it has none).
//! Objects know `HEAD`, conditional requests and single ranges; several ranges at once are
//! answered with the whole object, as RFC 9110 section 14.2 allows.

mod answer;
mod body;
mod options;
mod range;
mod server;
mod stats;
mod validators;

pub use answer::{Ending, Pacing, PathKind, Payload, Plan, answer};
pub use body::{FRAME_BYTES, PlanBody};
pub use options::OPTIONS_HELP;
pub use server::{CONNECTIONS_MAX, DRAIN_LIMIT, serve, serve_counted};
pub use stats::{OriginCounts, OriginStats};
