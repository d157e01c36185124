//! LRU against a queue that anybody can check by reading.

use std::collections::{HashMap, VecDeque};

use larder_admission::{
    Candidate, Coins, Lru, MAX_VICTIMS, Policy, Reject, Slot, SplitMix, Verdict,
};
use proptest::prelude::*;

const CAPACITY_BYTES: u64 = 100;
const OBJECT_BYTES_MAX: u64 = 40;

#[derive(Clone, Copy, Debug)]
enum Op {
    Request { key: u128, size: u64 },
    Remove { key: u128 },
    Resize { key: u128, size: u64 },
    Victim,
}

fn op() -> impl Strategy<Value = Op> {
    let key = 0_u128..24;
    prop_oneof![
        8 => (key.clone(), 1_u64..50).prop_map(|(key, size)| Op::Request { key, size }),
        1 => key.clone().prop_map(|key| Op::Remove { key }),
        1 => (key, 1_u64..8).prop_map(|(key, size)| Op::Resize { key, size }),
        1 => Just(Op::Victim),
    ]
}

/// A storage around the policy, and beside it the model: (key, size), hottest first.
struct Twins {
    lru: Lru,
    coins: SplitMix,
    slots: HashMap<u128, Slot>,
    free_slots: Vec<Slot>,
    model: VecDeque<(u128, u64)>,
}

impl Twins {
    fn new() -> Self {
        Self {
            lru: Lru::new(CAPACITY_BYTES, OBJECT_BYTES_MAX),
            coins: SplitMix::new(1),
            slots: HashMap::new(),
            free_slots: (0..CAPACITY_BYTES as Slot).collect(),
            model: VecDeque::new(),
        }
    }

    fn used(&self) -> u64 {
        self.model.iter().map(|&(_, size)| size).sum()
    }

    fn request(&mut self, key: u128, size: u64) {
        if let Some(&slot) = self.slots.get(&key) {
            self.lru.hit(slot);
            let at = self.position(key).expect("resident in both");
            let object = self.model.remove(at).expect("just found");
            self.model.push_front(object);
            return;
        }
        self.lru.miss(key);
        let candidate = Candidate { key, size };
        let free = CAPACITY_BYTES.saturating_sub(self.used());
        let mut victims = Vec::new();
        let verdict = self
            .lru
            .admit(&candidate, free, &mut self.coins, &mut victims);
        if size > OBJECT_BYTES_MAX {
            assert_eq!(verdict, Verdict::Reject(Reject::TooLarge));
            assert!(victims.is_empty());
            return;
        }
        assert_eq!(verdict, Verdict::Admit);
        for slot in victims {
            assert!(
                CAPACITY_BYTES.saturating_sub(self.used()) < size,
                "one too many"
            );
            let (coldest, _) = self.model.pop_back().expect("a victim was resident");
            assert_eq!(self.slots.remove(&coldest), Some(slot));
            self.leave(slot);
        }
        let slot = self.free_slots.pop().expect("sizes are at least 1");
        self.lru.insert(slot, &candidate);
        self.slots.insert(key, slot);
        self.model.push_front((key, size));
    }

    fn remove(&mut self, key: u128) {
        if let Some(at) = self.position(key) {
            self.model.remove(at);
            let slot = self.slots.remove(&key).expect("resident in both");
            self.leave(slot);
        }
    }

    fn resize(&mut self, key: u128, size: u64) {
        if let Some(at) = self.position(key) {
            self.model[at].1 = size;
            self.lru.resize(self.slots[&key], &Candidate { key, size });
        }
    }

    fn victim(&mut self) {
        let coldest = self.model.back().map(|(key, _)| self.slots[key]);
        assert_eq!(self.lru.victim(&mut self.coins), coldest);
    }

    fn leave(&mut self, slot: Slot) {
        self.lru.remove(slot);
        self.free_slots.push(slot);
    }

    fn position(&self, key: u128) -> Option<usize> {
        self.model.iter().position(|&(other, _)| other == key)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn behaves_as_the_queue(ops in prop::collection::vec(op(), 1..200)) {
        let mut twins = Twins::new();
        for op in ops {
            match op {
                Op::Request { key, size } => twins.request(key, size),
                Op::Remove { key } => twins.remove(key),
                Op::Resize { key, size } => twins.resize(key, size),
                Op::Victim => twins.victim(),
            }
        }
        while let Some(&(coldest, _)) = twins.model.back() {
            twins.victim();
            twins.remove(coldest);
        }
        twins.victim();
    }
}

#[test]
fn an_insertion_pushes_out_a_bounded_number() {
    let objects = MAX_VICTIMS as u64 + 1;
    let mut lru = Lru::new(objects, objects);
    let coins: &mut dyn Coins = &mut SplitMix::new(1);
    for slot in 0..objects as Slot {
        let candidate = Candidate {
            key: u128::from(slot),
            size: 1,
        };
        lru.insert(slot, &candidate);
    }
    let mut victims = Vec::new();
    let mut admit = |size, victims: &mut Vec<Slot>| {
        let candidate = Candidate {
            key: u128::MAX,
            size,
        };
        lru.admit(&candidate, 0, coins, victims)
    };
    assert_eq!(
        admit(objects, &mut victims),
        Verdict::Reject(Reject::NoRoom)
    );
    assert!(victims.is_empty());
    assert_eq!(admit(objects - 1, &mut victims), Verdict::Admit);
    assert_eq!(victims.len(), MAX_VICTIMS);
}

#[test]
fn a_budget_that_shrank_below_the_object_leaves_no_room() {
    let mut lru = Lru::new(100, 100);
    let candidate = Candidate { key: 1, size: 100 };
    let mut victims = Vec::new();
    let verdict = lru.admit(&candidate, 50, &mut SplitMix::new(1), &mut victims);
    assert_eq!(verdict, Verdict::Reject(Reject::NoRoom));
}
