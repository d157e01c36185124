//! The index against a map, and its eviction against a list.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
enum Op {
    Insert(u128),
    Lookup(u128),
    Remove(u128),
    RemoveAt(u128),
    /// All places below the n-th go.
    Reclaim(u64),
    Sweep(usize),
}

/// Few enough keys to meet again; two neighbours share set and tag.
fn key(n: u8) -> u128 {
    let spread = u128::from(n / 2 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    spread ^ (u128::from(n % 2) << 64)
}

fn op() -> impl Strategy<Value = Op> {
    let hash = || any::<u8>().prop_map(key);
    prop_oneof![
        6 => hash().prop_map(Op::Insert),
        4 => hash().prop_map(Op::Lookup),
        1 => hash().prop_map(Op::Remove),
        1 => hash().prop_map(Op::RemoveAt),
        1 => (0..40u64).prop_map(Op::Reclaim),
        1 => (0..4usize).prop_map(Op::Sweep),
    ]
}

fn place(position: u64) -> Place {
    Place {
        position,
        generation: (position % 16) as u8,
        class: SizeClass::of(position),
    }
}

fn check_shape(index: &Index) -> Result<(), TestCaseError> {
    let mut used = 0;
    for shard in &index.shards {
        let shard = shard.lock();
        for set in &shard.sets {
            prop_assert!(set.has_sound_ranks(), "{set:?}");
            used += (0..WAYS).filter(|way| set.place(*way).is_some()).count() as u64;
        }
    }
    prop_assert_eq!(index.slots_used(), used);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What is found was the newest insert of a key with that set and tag, is live, and is gone
    /// once removed.
    #[test]
    fn finds_the_newest_or_nothing(
        sets in 1..9usize,
        ops in proptest::collection::vec(op(), 1..400),
    ) {
        let index = Index::new(sets);
        let slot_of = |hash| (index.set_of(hash), (hash >> 114) as u16);
        let mut model = HashMap::new();
        let mut floor = 0;
        for (now, op) in (1..).zip(ops) {
            let live = |place: Place| place.position >= floor;
            match op {
                Op::Insert(hash) => {
                    index.insert(hash, place(now), live);
                    model.insert(slot_of(hash), now);
                    prop_assert_eq!(index.lookup(hash, live), Some(place(now)));
                }
                Op::Lookup(hash) => {
                    let found = index.lookup(hash, live);
                    let newest = model.get(&slot_of(hash)).map(|at| place(*at));
                    prop_assert!(found.is_none() || found == newest.filter(|p| live(*p)));
                }
                Op::Remove(hash) => {
                    let found = index.peek(hash).is_some();
                    prop_assert_eq!(index.remove(hash), found);
                    model.remove(&slot_of(hash));
                    prop_assert_eq!(index.peek(hash), None);
                }
                Op::RemoveAt(hash) => {
                    prop_assert!(!index.remove_at(hash, place(now)));
                    if let Some(at) = index.peek(hash) {
                        prop_assert!(index.remove_at(hash, at));
                        model.remove(&slot_of(hash));
                    }
                }
                Op::Reclaim(keep) => floor = floor.max(now.saturating_sub(keep)),
                Op::Sweep(part) => index.sweep(part, 4, live),
            }
            check_shape(&index)?;
        }
        (0..4).for_each(|part| index.sweep(part, 4, |_| false));
        prop_assert_eq!(index.slots_used(), 0);
    }

    /// With distinct tags, a set behaves as an LRU list of eight.
    #[test]
    fn evicts_the_least_recently_used(ops in proptest::collection::vec((0..12u128, any::<bool>()), 1..200)) {
        let index = Index::new(1);
        let mut list: Vec<u128> = Vec::new();
        for (tag, insert) in ops {
            let hash = tag << 114;
            let known = list.iter().position(|other| *other == tag).map(|at| list.remove(at));
            if insert {
                index.insert(hash, place(tag as u64), |_| true);
                list.truncate(WAYS - 1);
                list.insert(0, tag);
            } else {
                prop_assert_eq!(index.lookup(hash, |_| true).is_some(), known.is_some());
                known.into_iter().for_each(|tag| list.insert(0, tag));
            }
        }
        for tag in 0..12 {
            prop_assert_eq!(index.peek(tag << 114).is_some(), list.contains(&tag));
        }
    }
}

#[test]
fn older_entries_never_replace_and_never_follow_a_loss() {
    let index = Index::new(1);
    let live = |_| true;
    let hash = |n: u128| n << 114;
    assert_eq!(index.recover(hash(1), place(1), live), Recovered::Closed);
    index.begin_recovery();
    index.insert(hash(1), place(9), live);
    assert_eq!(index.recover(hash(1), place(8), live), Recovered::Known);
    for n in 2..=8 {
        assert_eq!(index.recover(hash(n), place(7), live), Recovered::Inserted);
    }
    assert_eq!(index.recover(hash(9), place(6), live), Recovered::Full);
    // The last recovered is the oldest, and goes first.
    assert_eq!(index.insert(hash(10), place(10), live), Inserted::Evicted);
    assert_eq!(index.peek(hash(8)), None);
    // The set lost an entry: an older version of it must not come in, wherever room appears.
    assert!(index.remove_at(hash(10), place(10)));
    assert_eq!(index.recover(hash(8), place(5), live), Recovered::Closed);
    index.end_recovery();
}

#[test]
fn a_removal_during_recovery_holds_for_what_is_not_yet_recovered() {
    let index = Index::new(4);
    index.begin_recovery();
    assert!(!index.remove(key(3)));
    assert_eq!(index.recover(key(3), place(1), |_| true), Recovered::Closed);
}

#[test]
fn every_set_belongs_to_one_shard() {
    for sets in [1, 2, 63, 64, 65, 1000] {
        let index = Index::new(sets);
        let total: usize = index
            .shards
            .iter()
            .map(|shard| shard.lock().sets.len())
            .sum();
        assert_eq!(total, sets);
        let last = index.split(sets - 1);
        assert!(last.1 < index.shards[last.0].lock().sets.len());
    }
}
