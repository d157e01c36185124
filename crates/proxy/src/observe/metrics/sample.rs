//! One exported value: of which family, with which label values, how much.

use smallvec::SmallVec;

use super::families::Family;

/// Labels of one sample; no family has more than two.
pub(super) type LabelValues = SmallVec<[&'static str; 2]>;

/// A value at the moment of the scrape.
///
/// Label values are `&'static str`: a name out of an enum, so that no request can make one.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub(super) family: &'static Family,
    pub(super) labels: LabelValues,
    pub(super) value: Value,
}

/// How much.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A count or a level in whole units.
    Integer(u64),
    /// A level.
    Real(f64),
    /// A distribution.
    Distribution(Distribution),
}

/// What a histogram has seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// Sum of all values, in seconds.
    pub sum_seconds: f64,
    /// (upper bound in seconds, values above the bound before and not above this one). The last
    /// bound is infinite.
    pub buckets: Vec<(f64, u64)>,
}

impl Sample {
    /// A sample of a family without labels.
    pub fn new(family: &'static Family, value: impl Into<Value>) -> Self {
        Self::labelled(family, &[], value)
    }

    /// A sample with the values of its family's labels, in their order.
    pub fn labelled(
        family: &'static Family,
        labels: &[&'static str],
        value: impl Into<Value>,
    ) -> Self {
        debug_assert_eq!(labels.len(), family.labels().len(), "{}", family.name());
        Self {
            family,
            labels: LabelValues::from_slice(labels),
            value: value.into(),
        }
    }
}

impl Distribution {
    /// How many values were seen.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Integer(u64::from(value))
    }
}

impl From<Distribution> for Value {
    fn from(value: Distribution) -> Self {
        Self::Distribution(value)
    }
}
