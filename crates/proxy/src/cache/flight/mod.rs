//! At most one origin fetch for a key: who leads, who follows, and the body they share.

mod table;
mod window;

pub use table::{FLIGHTS_MAX, FlightTable};
pub(super) use table::{Flight, FlightPermit, Join, Phase, Release, Streaming, Variant};
pub(super) use window::{End, ReadGap, Window, WindowReader};
