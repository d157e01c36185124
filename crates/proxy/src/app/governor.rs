//! Keeps the process within `memory.limit`: when the kernel counts more than the plan foresaw,
//! the RAM tier gives way, and takes its room back when there is any.

use std::time::Duration;

use larder_store::Store;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::meta::StoredMeta;
use crate::observe::memory::ProcessMemory;
use crate::plan::MemoryPlan;

/// How often the resident set is read: two reads of `/proc`, some 30 µs.
const PERIOD: Duration = Duration::from_millis(100);

/// Above this share of the limit, in percent, the RAM tier shrinks by what is over.
const HIGH_PERCENT: u64 = 90;

/// Below this share it grows back, a step at a time.
const LOW_PERCENT: u64 = 80;

/// A step of growth: this part of the plan's RAM tier.
const STEP_DIVISOR: u64 = 64;

/// The RAM tier keeps at least this part of what was planned.
const FLOOR_DIVISOR: u64 = 8;

/// Watches until the process ends.
pub(super) async fn govern(
    store: Store<StoredMeta>,
    plan: MemoryPlan,
    mut finished: watch::Receiver<bool>,
) {
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut budget_bytes = plan.ram_tier_bytes;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            _ = finished.changed() => return,
        }
        let Some(resident_bytes) = ProcessMemory::now().resident_bytes else {
            return;
        };
        let next_bytes = next_budget(&plan, budget_bytes, resident_bytes);
        if next_bytes != budget_bytes {
            budget_bytes = next_bytes;
            store.set_ram_bytes(budget_bytes);
        }
    }
}

/// The RAM tier's budget for the next period.
fn next_budget(plan: &MemoryPlan, budget_bytes: u64, resident_bytes: u64) -> u64 {
    let limit_bytes = plan.limit_bytes;
    let high_bytes = limit_bytes / 100 * HIGH_PERCENT;
    let floor_bytes = plan.ram_tier_bytes / FLOOR_DIVISOR;
    if resident_bytes > high_bytes {
        return budget_bytes
            .saturating_sub(resident_bytes - high_bytes)
            .max(floor_bytes);
    }
    if resident_bytes < limit_bytes / 100 * LOW_PERCENT {
        let step_bytes = plan.ram_tier_bytes / STEP_DIVISOR;
        return (budget_bytes + step_bytes).min(plan.ram_tier_bytes);
    }
    budget_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_ram_tier_yields_and_comes_back() {
        let plan = MemoryPlan {
            limit_bytes: 1000 * MIB,
            rows: Vec::new(),
            connections_max: 1,
            fills_max: 1,
            reads_max: 1,
            ram_tier_bytes: 640 * MIB,
        };
        for (budget_mib, resident_mib, next_mib) in [
            (640, 500, 640),
            (640, 850, 640),
            (640, 950, 590),
            (590, 850, 590),
            (590, 799, 600),
            (90, 990, 80),
            (80, 2000, 80),
        ] {
            let next = next_budget(&plan, budget_mib * MIB, resident_mib * MIB);
            // Percentages of a limit are cut to whole bytes.
            assert!(
                next.abs_diff(next_mib * MIB) < 1000,
                "{budget_mib} {resident_mib} {next}"
            );
        }
    }
}
