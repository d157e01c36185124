//! Which fault befalls which I/O: a list of rules, decided in order.

use std::io;
use std::ops::Range;

use rustix::io::Errno;
use twox_hash::XxHash3_64;

/// The kind of I/O that a fault befalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Syncs. They have no range: each matches every range.
    Syncs,
}

/// The error that a failing I/O answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultError {
    /// EIO: the medium is broken.
    Eio,
    /// ENOSPC: a file that was not preallocated met a full filesystem.
    Enospc,
}

impl From<FaultError> for io::Error {
    fn from(error: FaultError) -> Self {
        match error {
            FaultError::Eio => Errno::IO.into(),
            FaultError::Enospc => Errno::NOSPC.into(),
        }
    }
}

/// What a fault does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Moves nothing and answers with an error.
    Fail(Target, FaultError),
    /// Keeps the I/O from starting until it is released.
    Hold(Target),
    /// Reads well, but with this many flipped bits at places drawn from the seed.
    FlipBits(u32),
    /// Reports success for a write that never lands.
    LoseWrite,
    /// Reports success for a write of which only the first blocks land: this many, or, with
    /// `None`, a number drawn from the seed that is less than all.
    TearWrite(Option<usize>),
}

impl Effect {
    /// The kind of I/O that it befalls.
    pub fn target(self) -> Target {
        match self {
            Self::Fail(target, _) | Self::Hold(target) => target,
            Self::FlipBits(_) => Target::Reads,
            Self::LoseWrite | Self::TearWrite(_) => Target::Writes,
        }
    }
}

/// One rule of the script. Of several that fit an I/O, the one injected first befalls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    effect: Effect,
    within: Range<u64>,
    after: u64,
    times: u64,
}

impl Fault {
    /// Befalls each I/O of its kind, anywhere, from now on.
    pub fn new(effect: Effect) -> Self {
        Self {
            effect,
            within: 0..u64::MAX,
            after: 0,
            times: u64::MAX,
        }
    }

    /// Only I/Os that touch this range of bytes.
    #[must_use]
    pub fn within(self, within: Range<u64>) -> Self {
        Self { within, ..self }
    }

    /// Spares the next `ios` that it would befall.
    #[must_use]
    pub fn after(self, ios: u64) -> Self {
        Self { after: ios, ..self }
    }

    /// Ends after having befallen `ios`.
    #[must_use]
    pub fn times(self, ios: u64) -> Self {
        Self { times: ios, ..self }
    }

    fn fits(&self, target: Target, bytes: &Range<u64>) -> bool {
        self.effect.target() == target
            && (target == Target::Syncs
                || (bytes.start < self.within.end && self.within.start < bytes.end))
    }

    /// Counts an I/O that fits, and says whether the fault befalls it.
    fn befalls(&mut self) -> bool {
        if self.after > 0 {
            self.after -= 1;
            return false;
        }
        let befalls = self.times > 0;
        self.times = self.times.saturating_sub(1);
        befalls
    }
}

/// What passed a faulty device so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Reads, whatever became of them.
    pub reads: u64,
    /// Writes, whatever became of them.
    pub writes: u64,
    /// Syncs, whatever became of them.
    pub syncs: u64,
    /// I/Os that failed by [`Effect::Fail`].
    pub failed: u64,
    /// I/Os kept back by [`Effect::Hold`], released or not.
    pub held: u64,
    /// Reads that [`Effect::FlipBits`] changed.
    pub flipped: u64,
    /// Writes that [`Effect::LoseWrite`] swallowed.
    pub lost: u64,
    /// Writes that [`Effect::TearWrite`] cut.
    pub torn: u64,
}

/// The rules in force, and the counts.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) faults: Vec<Fault>,
    pub(super) counts: FaultCounts,
}

impl Script {
    /// The fault that befalls this I/O, with the I/O's number of its kind for [`draw`].
    pub(super) fn decide(&mut self, target: Target, bytes: &Range<u64>) -> Option<(Effect, u64)> {
        let counts = &mut self.counts;
        let number = match target {
            Target::Reads => &mut counts.reads,
            Target::Writes => &mut counts.writes,
            Target::Syncs => &mut counts.syncs,
        };
        *number += 1;
        let number = *number;
        let mut faults = self.faults.iter_mut();
        let effect =
            faults.find_map(|f| (f.fits(target, bytes) && f.befalls()).then_some(f.effect))?;
        *match effect {
            Effect::Fail(..) => &mut counts.failed,
            Effect::Hold(_) => &mut counts.held,
            Effect::FlipBits(_) => &mut counts.flipped,
            Effect::LoseWrite => &mut counts.lost,
            Effect::TearWrite(_) => &mut counts.torn,
        } += 1;
        Some((effect, number))
    }
}

/// The `nth` random number for I/O `number`: the same for the same seed.
pub(super) fn draw(seed: u64, number: u64, nth: u32) -> u64 {
    let salted = seed.wrapping_add(u64::from(nth));
    XxHash3_64::oneshot_with_seed(salted, &number.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of ten consecutive block-sized reads the script hits.
    fn hits(faults: Vec<Fault>) -> Vec<u64> {
        let mut script = Script {
            faults,
            ..Script::default()
        };
        let hit = |n: &u64| {
            let bytes = n * 4096..(n + 1) * 4096;
            script.decide(Target::Reads, &bytes).is_some()
        };
        (0..10).filter(hit).collect()
    }

    #[test]
    fn a_rule_has_a_place_a_start_and_an_end() {
        let eio = || Fault::new(Effect::Fail(Target::Reads, FaultError::Eio));
        let table: [(Vec<Fault>, Vec<u64>); 7] = [
            (vec![], vec![]),
            (vec![eio()], (0..10).collect()),
            (vec![eio().after(8)], vec![8, 9]),
            (vec![eio().times(2)], vec![0, 1]),
            (vec![eio().after(3).times(1)], vec![3]),
            (vec![eio().within(4095..8193)], vec![0, 1, 2]),
            (vec![eio().times(1), eio().after(3).times(1)], vec![0, 4]),
        ];
        for (faults, expected) in table {
            let shown = format!("{faults:?}");
            assert_eq!(hits(faults), expected, "{shown}");
        }
    }

    #[test]
    fn a_fault_spares_other_kinds() {
        let fault = Fault::new(Effect::LoseWrite);
        assert_eq!(hits(vec![fault]), Vec::<u64>::new());
    }
}
