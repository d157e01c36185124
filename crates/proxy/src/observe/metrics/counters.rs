//! Counters of a family with no label, or with one whose values are known beforehand.

use super::families::Family;
use super::sample::Sample;
use super::striped::Striped;

/// A counter for each value of the one label of a family, or the only counter of a family
/// without labels.
#[derive(Debug)]
pub struct Counters {
    family: &'static Family,
    values: &'static [&'static str],
    counters: Striped,
}

impl Counters {
    /// The counter of a family without labels, at zero. Its index is 0.
    pub fn single(family: &'static Family) -> Self {
        Self::by(family, &[])
    }

    /// Counters at zero, one for each of `values`: a list like `NAMES` of an enum, whose
    /// positions are the indexes of [`add`](Self::add).
    pub fn by(family: &'static Family, values: &'static [&'static str]) -> Self {
        Self {
            family,
            values,
            counters: Striped::new(values.len().max(1)),
        }
    }

    /// Adds to the counter at `index`. One relaxed addition; never waits. An index beyond the
    /// values adds to no counter that is exported.
    pub fn add(&self, index: usize, count: u64) {
        self.counters.add(index, count);
    }

    /// The counter at `index`.
    pub fn get(&self, index: usize) -> u64 {
        self.counters.sum(index)
    }

    /// What to export.
    pub fn samples(&self) -> Vec<Sample> {
        if self.values.is_empty() {
            return vec![Sample::new(self.family, self.get(0))];
        }
        let values = self.values.iter().enumerate();
        values
            .map(|(index, value)| Sample::labelled(self.family, &[value], self.get(index)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::families::{BAD_REQUESTS, COLLAPSED_REQUESTS};
    use super::*;

    #[test]
    fn each_value_has_its_own_counter() {
        let counters = Counters::by(&BAD_REQUESTS, &["host", "uri"]);
        counters.add(1, 2);
        counters.add(7, 1);
        let expected = [
            Sample::labelled(&BAD_REQUESTS, &["host"], 0),
            Sample::labelled(&BAD_REQUESTS, &["uri"], 2),
        ];
        assert_eq!(counters.samples(), expected);
    }

    #[test]
    fn a_family_without_labels_has_one() {
        let counter = Counters::single(&COLLAPSED_REQUESTS);
        counter.add(0, 3);
        assert_eq!(counter.samples(), [Sample::new(&COLLAPSED_REQUESTS, 3)]);
    }
}
