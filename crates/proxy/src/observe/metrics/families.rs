//! The metrics that larder exports: names, kinds, units, labels. docs/metrics.md is this list.

/// A metric with all its label values.
#[derive(Debug, PartialEq, Eq)]
pub struct Family {
    name: &'static str,
    kind: Kind,
    unit: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
}

/// What a value means over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows; starts at zero with the process. Its name ends in `_total`.
    Counter,
    /// A level.
    Gauge,
    /// A distribution over [`super::BOUNDS_MICROS`].
    Histogram,
    /// Always one; its labels are the information. Its name ends in `_info`.
    Info,
}

impl Kind {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Info => "info",
        }
    }
}

impl Family {
    const fn counter(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self {
            name,
            kind: Kind::Counter,
            unit,
            labels: &[],
            help,
        }
    }

    const fn gauge(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self {
            kind: Kind::Gauge,
            ..Self::counter(name, unit, help)
        }
    }

    const fn seconds(name: &'static str, help: &'static str) -> Self {
        Self {
            kind: Kind::Histogram,
            ..Self::counter(name, "seconds", help)
        }
    }

    const fn info(name: &'static str, help: &'static str) -> Self {
        Self {
            kind: Kind::Info,
            ..Self::counter(name, "", help)
        }
    }

    const fn by(self, labels: &'static [&'static str]) -> Self {
        Self { labels, ..self }
    }

    /// The name as it is scraped, without the `_bucket`, `_sum`, `_count` of a histogram.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What its values mean over time.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The unit of its values: `bytes`, `requests`; empty for an information.
    pub const fn unit(&self) -> &'static str {
        self.unit
    }

    /// The names of its labels, in the order in which samples give their values.
    pub const fn labels(&self) -> &'static [&'static str] {
        self.labels
    }

    /// One line on what it counts.
    pub const fn help(&self) -> &'static str {
        self.help
    }

    /// The place in [`ALL`]; [`ALL`]'s length for a family that is not in it.
    pub(super) fn position(&self) -> usize {
        let found = ALL.iter().position(|family| family.name == self.name);
        found.unwrap_or(ALL.len())
    }
}

/// Requests answered, by what the cache decided and by who gave the bytes.
pub static REQUESTS: Family = Family::counter(
    "larder_requests_total",
    "requests",
    "Requests answered, by cache decision and by tier that gave the bytes",
)
.by(&["decision", "tier"]);

/// Body bytes sent to clients.
pub static RESPONSE_BYTES: Family = Family::counter(
    "larder_response_bytes_total",
    "bytes",
    "Body bytes sent to clients, by tier that gave them",
)
.by(&["tier"]);

/// Time from a request's head to its answer's last byte.
pub static REQUEST_SECONDS: Family = Family::seconds(
    "larder_request_seconds",
    "From the head of a request to the last byte of its answer, by cache decision",
)
.by(&["decision"]);

/// Requests answered by a fetch that another request leads.
pub static COLLAPSED_REQUESTS: Family = Family::counter(
    "larder_collapsed_requests_total",
    "requests",
    "Requests answered by a fetch that another request leads",
);

/// Requests sent to the origin.
pub static ORIGIN_REQUESTS: Family = Family::counter(
    "larder_origin_requests_total",
    "requests",
    "Requests sent to the origin, by how they ended",
)
.by(&["outcome"]);

/// Time of a fetch from the origin.
pub static ORIGIN_FETCH_SECONDS: Family = Family::seconds(
    "larder_origin_fetch_seconds",
    "From a request to the origin to the head of its answer",
);

/// Requests that the client got wrong.
pub static BAD_REQUESTS: Family = Family::counter(
    "larder_bad_requests_total",
    "requests",
    "Requests refused as the client's fault, by kind",
)
.by(&["kind"]);

/// Client connections that are open.
pub static CONNECTIONS: Family = Family::gauge(
    "larder_connections",
    "connections",
    "Client connections that are open",
);

/// What the memory tier holds.
pub static RAM_USED_BYTES: Family = Family::gauge(
    "larder_ram_used_bytes",
    "bytes",
    "What the memory tier holds, metadata included",
);

/// What the memory tier may hold.
pub static RAM_LIMIT_BYTES: Family = Family::gauge(
    "larder_ram_limit_bytes",
    "bytes",
    "What the memory tier may hold, metadata included",
);

/// 1 while the flash tier is in service.
pub static SSD_HEALTHY: Family = Family::gauge(
    "larder_ssd_healthy",
    "boolean",
    "1 while the flash tier is in service, 0 once its device failed",
);

/// Bytes written to flash.
pub static SSD_WRITTEN_BYTES: Family = Family::counter(
    "larder_ssd_written_bytes_total",
    "bytes",
    "Bytes written to flash, reclaim and checkpoints included",
);

/// Bytes read from flash.
pub static SSD_READ_BYTES: Family = Family::counter(
    "larder_ssd_read_bytes_total",
    "bytes",
    "Bytes read from flash, false reads included",
);

/// Reads that found another key.
pub static SSD_FALSE_READS: Family = Family::counter(
    "larder_ssd_false_reads_total",
    "reads",
    "Reads of a record that turned out to be of another key",
);

/// Records that failed their checksum.
pub static SSD_CORRUPT_RECORDS: Family = Family::counter(
    "larder_ssd_corrupt_records_total",
    "records",
    "Records dropped because their checksum or their form was wrong",
);

/// Objects that were not written to flash.
pub static SSD_SKIPPED_WRITES: Family = Family::counter(
    "larder_ssd_skipped_writes_total",
    "objects",
    "Objects that were not written to flash, by reason",
)
.by(&["reason"]);

/// Memory by consumer.
pub static MEMORY_BYTES: Family = Family::gauge(
    "larder_memory_bytes",
    "bytes",
    "Memory that larder accounts for, by consumer",
)
.by(&["consumer"]);

/// The one number.
pub static MEMORY_LIMIT_BYTES: Family = Family::gauge(
    "larder_memory_limit_bytes",
    "bytes",
    "Memory that the whole process keeps to (memory.limit)",
);

/// Resident set.
pub static PROCESS_RESIDENT_BYTES: Family = Family::gauge(
    "larder_process_resident_bytes",
    "bytes",
    "Resident set of the process, as the kernel counts it",
);

/// Highest resident set so far.
pub static PROCESS_RESIDENT_BYTES_MAX: Family = Family::gauge(
    "larder_process_resident_bytes_max",
    "bytes",
    "Highest resident set of the process so far (VmHWM)",
);

/// Lines of the access log that were dropped.
pub static ACCESS_LOG_DROPPED_LINES: Family = Family::counter(
    "larder_access_log_dropped_lines_total",
    "lines",
    "Lines of the access log lost to a full queue or a failed write",
);

/// Requests that gave up on a fetch which another led, as it said nothing in time.
pub static STALLED_LEADERS: Family = Family::counter(
    "larder_stalled_leaders_total",
    "requests",
    "Requests that gave up on a fetch which another led, as it said nothing in time",
);

/// Bodies continued from another source after their own failed midway.
pub static RESUMED_BODIES: Family = Family::counter(
    "larder_resumed_bodies_total",
    "bodies",
    "Bodies continued from another source after their own failed midway",
);

/// Stale objects asked for anew behind a client's back.
pub static BACKGROUND_REFRESHES: Family = Family::counter(
    "larder_background_refreshes_total",
    "requests",
    "Stale objects asked for anew behind a client's back",
);

/// URLs purged or invalidated.
pub static PURGES: Family = Family::counter(
    "larder_purges_total",
    "purges",
    "URLs purged or invalidated",
);

/// Objects that the memory tier holds.
pub static RAM_OBJECTS: Family = Family::gauge(
    "larder_ram_objects",
    "objects",
    "Objects that the memory tier holds",
);

/// Size of the log on flash.
pub static SSD_CAPACITY_BYTES: Family = Family::gauge(
    "larder_ssd_capacity_bytes",
    "bytes",
    "Size of the log on flash",
);

/// Times that the log on flash came round since it was formatted.
pub static SSD_LAPS: Family = Family::counter(
    "larder_ssd_laps_total",
    "laps",
    "Times that the log on flash came round since it was formatted",
);

/// Objects found again on flash since the start.
pub static SSD_RECOVERED_OBJECTS: Family = Family::counter(
    "larder_ssd_recovered_objects_total",
    "objects",
    "Objects found again on flash since the start",
);

/// What runs.
pub static BUILD_INFO: Family =
    Family::info("larder_build_info", "The version that runs").by(&["version"]);

/// Everything that is exported, in the order of the exposition.
pub static ALL: [&Family; 30] = [
    &REQUESTS,
    &RESPONSE_BYTES,
    &REQUEST_SECONDS,
    &COLLAPSED_REQUESTS,
    &ORIGIN_REQUESTS,
    &ORIGIN_FETCH_SECONDS,
    &BAD_REQUESTS,
    &CONNECTIONS,
    &RAM_USED_BYTES,
    &RAM_LIMIT_BYTES,
    &SSD_HEALTHY,
    &SSD_WRITTEN_BYTES,
    &SSD_READ_BYTES,
    &SSD_FALSE_READS,
    &SSD_CORRUPT_RECORDS,
    &SSD_SKIPPED_WRITES,
    &MEMORY_BYTES,
    &MEMORY_LIMIT_BYTES,
    &PROCESS_RESIDENT_BYTES,
    &PROCESS_RESIDENT_BYTES_MAX,
    &ACCESS_LOG_DROPPED_LINES,
    &STALLED_LEADERS,
    &RESUMED_BODIES,
    &BACKGROUND_REFRESHES,
    &PURGES,
    &RAM_OBJECTS,
    &SSD_CAPACITY_BYTES,
    &SSD_LAPS,
    &SSD_RECOVERED_OBJECTS,
    &BUILD_INFO,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rules_of_prometheus() {
        for family in ALL {
            let name = family.name();
            assert!(name.starts_with("larder_"), "{name}");
            let counts = family.kind() == Kind::Counter;
            assert_eq!(name.ends_with("_total"), counts, "{name}");
            assert_eq!(
                name.ends_with("_info"),
                family.kind() == Kind::Info,
                "{name}"
            );
            if matches!(family.unit(), "bytes" | "seconds") {
                assert!(name.contains(&format!("_{}", family.unit())), "{name}");
            }
            assert_eq!(family.unit().is_empty(), family.kind() == Kind::Info);
            assert!(!family.help().ends_with('.'), "{name}");
        }
    }

    #[test]
    fn names_are_different() {
        for (position, family) in ALL.iter().enumerate() {
            assert_eq!(family.position(), position, "{}", family.name());
        }
    }
}
