//! What became of a finished write, tier by tier.

use larder_admission::Reject;

/// The end of a [`Writer`](crate::Writer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Memory keeps it, or why not.
    pub ram: Result<(), RamReject>,
    /// What flash did.
    pub ssd: SsdVerdict,
}

/// Why memory did not keep an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RamReject {
    /// The admission policy refused it.
    Policy(Reject),
    /// The key was removed after the write began.
    Purged,
    /// Another write of the key came in between: memory cannot know which of them flash has last.
    Superseded,
    /// Bodies being written already held their share of memory.
    Busy,
}

impl RamReject {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Policy(reject) => reject.as_str(),
            Self::Purged => "purged",
            Self::Superseded => "superseded",
            Self::Busy => "busy",
        }
    }
}

/// What flash did with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SsdVerdict {
    /// It can be found from now on.
    Stored,
    /// There is no SSD tier.
    Off,
    /// The device did not keep up.
    Busy,
    /// Larger than an object may be.
    TooLarge,
    /// The device was taken out of service.
    OutOfService,
    /// The key was removed after the write began.
    Purged,
}

impl SsdVerdict {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Off => "off",
            Self::Busy => "busy",
            Self::TooLarge => "too-large",
            Self::OutOfService => "out-of-service",
            Self::Purged => "purged",
        }
    }
}
