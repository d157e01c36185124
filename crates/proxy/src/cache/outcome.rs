//! What was decided about a request: the words of the log, the metric and the header.

use larder_store::Tier;

/// How a request was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decision {
    /// From the store, fresh.
    Hit,
    /// From the store, stale, with permission.
    Stale,
    /// From the store, after the origin confirmed it.
    Revalidated,
    /// From the origin, by this request's own fetch.
    Miss,
    /// From the origin, by a fetch that another request leads.
    Collapsed,
    /// From the origin, past the cache.
    Pass,
    /// A purge.
    Purge,
    /// Refused: the client's fault.
    Refused,
    /// Failed: the origin's fault, or ours.
    #[default]
    Failed,
}

impl Decision {
    /// All, in the order of [`Decision::index`].
    pub const ALL: [Self; 9] = [
        Self::Hit,
        Self::Stale,
        Self::Revalidated,
        Self::Miss,
        Self::Collapsed,
        Self::Pass,
        Self::Purge,
        Self::Refused,
        Self::Failed,
    ];

    /// The names of [`Decision::ALL`].
    pub const NAMES: [&'static str; 9] = [
        "hit",
        "stale",
        "revalidated",
        "miss",
        "collapsed",
        "pass",
        "purge",
        "refused",
        "failed",
    ];

    /// Position in [`Decision::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Who gave the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum From {
    /// larder itself: an error page, a 304.
    #[default]
    None,
    /// Memory.
    Ram,
    /// Flash.
    Ssd,
    /// The origin.
    Origin,
}

impl From {
    /// The names, in the order of [`From::index`].
    pub const NAMES: [&'static str; 4] = ["none", "ram", "ssd", "origin"];

    /// Position in [`From::NAMES`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl core::convert::From<Tier> for From {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::Ram => Self::Ram,
            Tier::Ssd => Self::Ssd,
        }
    }
}

/// A decision with its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How.
    pub decision: Decision,
    /// By whom.
    pub from: From,
}

impl Outcome {
    /// Both.
    pub const fn new(decision: Decision, from: From) -> Self {
        Self { decision, from }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_the_variants() {
        for (index, decision) in Decision::ALL.into_iter().enumerate() {
            assert_eq!(decision.index(), index);
            assert_eq!(decision.as_str(), format!("{decision:?}").to_lowercase());
        }
        for from in [From::None, From::Ram, From::Ssd, From::Origin] {
            assert_eq!(from.as_str(), format!("{from:?}").to_lowercase());
        }
    }
}
