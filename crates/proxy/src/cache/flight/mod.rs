//! At most one origin fetch for a key: who leads, who follows, and the body they share.

mod table;
mod window;

pub use table::{
    FLIGHTS_MAX, Flight, FlightPermit, FlightTable, Join, Phase, Release, Streaming, Variant,
};
pub use window::{End, ReadGap, Window, WindowReader};
