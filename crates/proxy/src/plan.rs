//! Where the memory goes: `memory.limit` split into what each consumer may take, before the start.
//!
//! Pure arithmetic: numbers in, rows out. What has a fixed cost (the process, the index of the
//! SSD tier, its write buffers) is paid first; connections, reads and fills get a share of the
//! limit each and thereby a bound on their number; the RAM tier gets what is left. A plan in which
//! nothing worth having is left is an error that names the largest cost.

mod ssd;

use thiserror::Error;

use crate::config::{Config, Size};

pub use ssd::SsdShape;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Resident bytes of a started process without any traffic: code, runtime, thread stacks touched,
/// metrics, the demo origin.
pub const PROCESS_BYTES: u64 = 12 * MIB;

/// Resident bytes of one more worker: the touched part of its stack, its run queue, and what its
/// allocator arena keeps.
pub const WORKER_BYTES: u64 = 512 * KIB;

/// Bytes of one idle client connection: the read buffer at its initial 8 KiB, the write buffer, and
/// the tasks.
pub const CONNECTION_BYTES: u64 = 16 * KIB;

/// Bytes that one read from flash holds: a fragment (256 KiB) on its way out.
pub const READ_BYTES: u64 = 256 * KIB;

/// Bytes that one fetch from the origin holds beside what the RAM tier accounts: four pieces of
/// 64 KiB between the origin and the slowest reader that is waited for.
pub const FILL_BYTES: u64 = 256 * KIB;

/// One in so many bytes of the limit is nobody's: what the allocator loses between the sizes asked
/// for and the pages held.
pub const RESERVE_DIVISOR: u64 = 10;

/// A smaller RAM tier holds no working set; then the limit is called too small.
pub const RAM_TIER_BYTES_MIN: u64 = 4 * MIB;

/// Connections, fills and reads: one in so many bytes of the limit, and the bounds of their number.
const CONNECTIONS: Share = Share {
    divisor: 16,
    each_bytes: CONNECTION_BYTES,
    min: 64,
    max: 65_536,
};
const FILLS: Share = Share {
    divisor: 16,
    each_bytes: FILL_BYTES,
    min: 16,
    max: 1024,
};
const READS: Share = Share {
    divisor: 32,
    each_bytes: READ_BYTES,
    min: 8,
    max: 256,
};

/// What a plan is made for. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// `memory.limit`.
    pub limit_bytes: u64,
    /// Threads that serve.
    pub workers: u32,
    /// Client connections at once; `None` asks for as many as their share pays for.
    pub connections: Option<u32>,
    /// The SSD tier, if there is one.
    pub ssd: Option<SsdShape>,
}

/// Who takes memory. The names are those of the metric `larder_memory_bytes{consumer}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Consumer {
    /// The process without traffic.
    Process,
    /// The index of the SSD tier.
    SsdIndex,
    /// Data on its way to flash.
    SsdWriteBuffers,
    /// Data on its way from flash.
    SsdReads,
    /// Responses on their way from the origin.
    Fills,
    /// Clients' connections.
    Connections,
    /// The allocator's loss.
    Reserve,
    /// Bodies and metadata in memory.
    RamTier,
}

/// One consumer's part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Who.
    pub consumer: Consumer,
    /// How much.
    pub bytes: u64,
    /// How that comes about.
    pub why: String,
}

/// The limit, divided. The rows' bytes add up to `limit_bytes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPlan {
    /// `memory.limit`.
    pub limit_bytes: u64,
    /// Every consumer, the RAM tier last.
    pub rows: Vec<Row>,
    /// Client connections at once.
    pub connections_max: u32,
    /// Fetches from the origin at once.
    pub fills_max: u32,
    /// Reads from flash at once; 0 without an SSD tier.
    pub reads_max: u32,
    /// The budget of the RAM tier.
    pub ram_tier_bytes: u64,
}

/// The limit does not pay for what is asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{limit} is too small: {largest_bytes} of it for {largest} ({why}), {needed} with all the rest",
    limit = Size(*.limit_bytes), needed = Size(*.needed_bytes),
    largest_bytes = Size(.largest.bytes), largest = .largest.consumer.as_str(), why = .largest.why
)]
pub struct PlanError {
    /// `memory.limit`.
    pub limit_bytes: u64,
    /// The least limit that would do.
    pub needed_bytes: u64,
    /// Who asks for most.
    pub largest: Row,
}

/// A part of the limit, and how many of something it pays for.
struct Share {
    divisor: u64,
    each_bytes: u64,
    min: u32,
    max: u32,
}

impl Share {
    fn count(&self, limit_bytes: u64) -> u32 {
        let paid = limit_bytes / self.divisor / self.each_bytes;
        u32::try_from(paid)
            .unwrap_or(self.max)
            .clamp(self.min, self.max)
    }
}

impl Consumer {
    /// The name in metrics and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::SsdIndex => "ssd_index",
            Self::SsdWriteBuffers => "ssd_write_buffers",
            Self::SsdReads => "ssd_reads",
            Self::Fills => "fills",
            Self::Connections => "connections",
            Self::Reserve => "reserve",
            Self::RamTier => "ram_tier",
        }
    }
}

impl Demand {
    /// What a checked, or almost checked, configuration asks for.
    pub fn of(config: &Config) -> Self {
        let store = &config.store;
        let ssd = store.data_dir.as_ref();
        Self {
            limit_bytes: config.memory.limit_bytes,
            workers: config.server.workers,
            connections: config.server.connections_max,
            ssd: ssd.map(|_| SsdShape::of(store.size_bytes, store.mean_object_bytes)),
        }
    }
}

impl PlanError {
    /// What would make it fit.
    pub fn remedy(&self) -> String {
        let least = self.needed_bytes.div_ceil(MIB) * MIB;
        let other = match self.largest.consumer {
            Consumer::SsdIndex => ", or a smaller store.size, or a larger store.mean_object_size",
            Consumer::Connections => ", or a smaller server.connections_max",
            _ => "",
        };
        format!("at least {}{other}", Size(least))
    }
}

/// Divides the limit.
///
/// # Errors
/// [`PlanError`] if less than [`RAM_TIER_BYTES_MIN`] is left for the RAM tier.
pub fn plan(demand: &Demand) -> Result<MemoryPlan, PlanError> {
    let limit_bytes = demand.limit_bytes;
    let counts = Counts::of(demand);
    let mut rows = costs(demand, &counts);
    let ram_tier_bytes = limit_bytes.saturating_sub(sum(&rows));
    if ram_tier_bytes < RAM_TIER_BYTES_MIN {
        let largest = rows.swap_remove(largest(&rows));
        return Err(PlanError {
            limit_bytes,
            needed_bytes: needed(demand),
            largest,
        });
    }
    rows.push(row(
        Consumer::RamTier,
        ram_tier_bytes,
        "what is left".to_owned(),
    ));
    let Counts {
        connections,
        fills,
        reads,
    } = counts;
    Ok(MemoryPlan {
        limit_bytes,
        rows,
        connections_max: connections,
        fills_max: fills,
        reads_max: reads,
        ram_tier_bytes,
    })
}

/// How many of each may be there at once.
struct Counts {
    connections: u32,
    fills: u32,
    reads: u32,
}

impl Counts {
    fn of(demand: &Demand) -> Self {
        let connections = || CONNECTIONS.count(demand.limit_bytes);
        Self {
            connections: demand.connections.unwrap_or_else(connections),
            fills: FILLS.count(demand.limit_bytes),
            reads: demand.ssd.map_or(0, |_| READS.count(demand.limit_bytes)),
        }
    }
}

/// Every row but the RAM tier's.
fn costs(demand: &Demand, counts: &Counts) -> Vec<Row> {
    let mut rows = vec![process(demand.workers)];
    if let Some(ssd) = &demand.ssd {
        rows.extend(ssd_rows(ssd));
        rows.push(many(Consumer::SsdReads, counts.reads, READ_BYTES));
    }
    rows.push(many(Consumer::Fills, counts.fills, FILL_BYTES));
    rows.push(many(
        Consumer::Connections,
        counts.connections,
        CONNECTION_BYTES,
    ));
    let why = format!("1/{RESERVE_DIVISOR} of the limit, for what the allocator loses");
    rows.push(row(
        Consumer::Reserve,
        demand.limit_bytes / RESERVE_DIVISOR,
        why,
    ));
    rows
}

fn process(workers: u32) -> Row {
    let bytes = PROCESS_BYTES + WORKER_BYTES * u64::from(workers);
    let (base, each) = (Size(PROCESS_BYTES), Size(WORKER_BYTES));
    row(
        Consumer::Process,
        bytes,
        format!("{base}, and {each} per worker for {workers}"),
    )
}

fn ssd_rows(ssd: &SsdShape) -> [Row; 2] {
    let (slots, bits, device) = (ssd.index_slots, ssd.bits_per_slot(), Size(ssd.device_bytes));
    let index = format!("{slots} slots of {bits} bits for {device} of store");
    let buffers = "written data until it is on the device".to_owned();
    [
        row(Consumer::SsdIndex, ssd.index_bytes, index),
        row(Consumer::SsdWriteBuffers, ssd.write_buffer_bytes, buffers),
    ]
}

fn many(consumer: Consumer, count: u32, each_bytes: u64) -> Row {
    let why = format!("{count} at once, {} each", Size(each_bytes));
    row(consumer, u64::from(count) * each_bytes, why)
}

const fn row(consumer: Consumer, bytes: u64, why: String) -> Row {
    Row {
        consumer,
        bytes,
        why,
    }
}

fn sum(rows: &[Row]) -> u64 {
    rows.iter()
        .fold(0, |sum, row| sum.saturating_add(row.bytes))
}

/// The row with the most bytes; the first is always there.
fn largest(rows: &[Row]) -> usize {
    (0..rows.len())
        .max_by_key(|index| rows[*index].bytes)
        .unwrap_or(0)
}

/// The least limit that would do: the smallest n with costs(n) + RAM tier ≤ n.
///
/// Found from below. The shares and the reserve grow with the limit, by less than a third of it
/// together (asserted below), so each step leaves less than a third of the distance, and 64 bits
/// are used up in as many steps.
fn needed(demand: &Demand) -> u64 {
    let mut limit_bytes = demand.limit_bytes;
    for _ in 0..u64::BITS {
        let next = Demand {
            limit_bytes,
            ..*demand
        };
        let least = sum(&costs(&next, &Counts::of(&next))).saturating_add(RAM_TIER_BYTES_MIN);
        if least <= limit_bytes {
            break;
        }
        limit_bytes = least;
    }
    limit_bytes
}

const _: () = {
    const fn thousandths(divisor: u64) -> u64 {
        1000_u64.div_ceil(divisor)
    }
    let shares = thousandths(CONNECTIONS.divisor) + thousandths(FILLS.divisor);
    assert!(shares + thousandths(READS.divisor) + thousandths(RESERVE_DIVISOR) < 333);
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GIB: u64 = 1 << 30;

    fn demand(limit_bytes: u64, ssd_bytes: u64) -> Demand {
        let ssd = (ssd_bytes > 0).then(|| SsdShape::of(ssd_bytes, 16 << 10));
        Demand {
            limit_bytes,
            workers: 2,
            connections: None,
            ssd,
        }
    }

    #[test]
    fn limits_and_what_they_pay_for() {
        for (limit, ssd, connections, fills, reads, ram_tier) in [
            (
                64 * MIB,
                GIB,
                256,
                16,
                8,
                64 * MIB - 29 * MIB - 64 * MIB / 10,
            ),
            (GIB, 0, 4096, 256, 0, GIB - 13 * MIB - 128 * MIB - GIB / 10),
            (256 * GIB, 1024 * GIB, 65_536, 1024, 256, 0),
        ] {
            let plan = plan(&demand(limit, ssd)).unwrap();
            let counts = (plan.connections_max, plan.fills_max, plan.reads_max);
            assert_eq!(counts, (connections, fills, reads), "{limit}");
            if ram_tier > 0 {
                assert_eq!(plan.ram_tier_bytes, ram_tier, "{plan:#?}");
            }
        }
    }

    #[test]
    fn too_small_says_for_what_and_what_would_do() {
        let error = plan(&demand(64 * MIB, 1024 * GIB)).unwrap_err();
        assert_eq!(error.largest.consumer, Consumer::SsdIndex);
        let text = error.to_string();
        let start = "64MiB is too small: 1GiB of it for ssd_index (134217728 slots of 64 bits for \
                     1TiB of store)";
        assert!(text.starts_with(start), "{text}");
        assert!(
            error.remedy().contains("store.mean_object_size"),
            "{}",
            error.remedy()
        );

        let connections = Some(1 << 20);
        let error = plan(&Demand {
            connections,
            ..demand(GIB, 0)
        })
        .unwrap_err();
        assert_eq!(error.largest.consumer, Consumer::Connections);
    }

    #[test]
    fn the_least_limit_of_the_configuration_pays_for_the_least_larder() {
        assert!(plan(&demand(crate::config::LIMIT_BYTES_MIN, 0)).is_ok());
    }

    proptest! {
        #[test]
        fn the_rows_add_up_or_the_error_names_the_least_limit(
            limit in 0..64 * GIB,
            ssd in 0..4096 * GIB,
            workers in 1..256_u32,
            connections in proptest::option::of(1..1_000_000_u32),
        ) {
            let demand = Demand { workers, connections, ..demand(limit, ssd) };
            match plan(&demand) {
                Ok(plan) => prop_assert_eq!(sum(&plan.rows), limit),
                Err(error) => {
                    let fits = |limit_bytes| plan(&Demand { limit_bytes, ..demand }).is_ok();
                    prop_assert!(error.needed_bytes > limit);
                    prop_assert!(fits(error.needed_bytes));
                    // One step of a share may lie between; a mebibyte less never does.
                    prop_assert!(!fits(error.needed_bytes.saturating_sub(MIB)));
                }
            }
        }
    }
}
