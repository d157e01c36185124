//! guard
pub mod framing;
pub mod violation;
