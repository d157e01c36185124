//! The seam between a cache's storage and the policy that runs it.

/// A resident object's place in the storage that owns it: dense, reused after [`Policy::remove`].
pub type Slot = u32;

/// An object at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Hash of the full key.
    pub key: u128,
    /// Bytes that the object is charged with, metadata included.
    pub size: u64,
}

/// What the policy says of a [`Candidate`]. The names are those of the log, the metric and the
/// `Cache-Status` detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It enters, once the victims have left.
    Admit,
    /// It does not, and nothing leaves.
    Reject(Reject),
}

/// Why an object was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reject {
    /// Larger than what one object may take.
    TooLarge,
    /// Room could not be made within the bound of victims of one insertion.
    NoRoom,
    /// The admission coin fell against it (AdaptSize, e^(-size/c)).
    Coin,
    /// Worth less than what would have to leave.
    Value,
}

impl Reject {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLarge => "too-large",
            Self::NoRoom => "no-room",
            Self::Coin => "coin",
            Self::Value => "value",
        }
    }
}

/// A source of chance, given by the caller so that any run can be replayed from its seed.
pub trait Coins {
    /// Uniform in `[0, 1)`.
    fn unit(&mut self) -> f64;
    /// Uniform in `0..bound`; `bound` is not zero.
    fn below(&mut self, bound: u32) -> u32;
}

/// Admission and eviction of one shard.
///
/// The storage calls [`hit`](Self::hit) or [`miss`](Self::miss) once for each request,
/// [`admit`](Self::admit) when a body is at hand, and then, if the verdict is
/// [`Verdict::Admit`], [`remove`](Self::remove) for each victim and [`insert`](Self::insert)
/// for the newcomer. `remove` is also called for a purge. All are O(1), `admit` amortised.
pub trait Policy: Send {
    /// A request found `slot`.
    fn hit(&mut self, slot: Slot);

    /// A request for `key` found nothing.
    fn miss(&mut self, key: u128);

    /// May `candidate` enter, when `free` bytes of the budget are unused? Pushes onto `victims`
    /// the slots that must leave; leaves it empty on [`Verdict::Reject`]. Removes nothing.
    fn admit(
        &mut self,
        candidate: &Candidate,
        free: u64,
        coins: &mut dyn Coins,
        victims: &mut Vec<Slot>,
    ) -> Verdict;

    /// `candidate` now lives in `slot`.
    fn insert(&mut self, slot: Slot, candidate: &Candidate);

    /// `slot` is empty.
    fn remove(&mut self, slot: Slot);

    /// The object in `slot` is now charged as `candidate` says: its metadata changed, it did not.
    ///
    /// The default forgets what was known of it; a policy that remembers overrides this.
    fn resize(&mut self, slot: Slot, candidate: &Candidate) {
        self.remove(slot);
        self.insert(slot, candidate);
    }

    /// The slot to give up next when the budget itself shrinks; `None` if there is none.
    fn victim(&mut self, coins: &mut dyn Coins) -> Option<Slot>;
}
