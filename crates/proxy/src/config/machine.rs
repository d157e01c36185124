//! What the machine, or the cgroup around the process, has: the measure of some defaults.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::{fs, thread};

/// Assumed when nothing can be read, as outside of Linux.
const MEMORY_ASSUMED_BYTES: u64 = 1 << 30;

/// How many levels of cgroups are looked at; systemd and container runtimes nest to about ten.
const CGROUP_DEPTH_MAX: usize = 32;

/// The resources that the process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Who says so.
    pub memory_source: MemorySource,
    /// Cores that may run at once, quotas of the cgroup included.
    pub cores: u32,
}

/// Where the amount of memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemorySource {
    /// `memory.max` (cgroup v2) of the process's cgroup or of one around it.
    Cgroup,
    /// `memory.limit_in_bytes` (cgroup v1).
    CgroupV1,
    /// `MemTotal` of `/proc/meminfo`.
    MemTotal,
    /// Nothing could be read.
    Assumed,
}

impl MemorySource {
    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cgroup => "cgroup",
            Self::CgroupV1 => "cgroup-v1",
            Self::MemTotal => "memtotal",
            Self::Assumed => "assumed",
        }
    }
}

impl Machine {
    /// Looks at `/proc` and `/sys`. What cannot be read does not limit.
    pub fn detect() -> Self {
        let read = |path: &Path| fs::read_to_string(path).ok();
        let (memory_bytes, memory_source) = memory(read);
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            memory_bytes,
            memory_source,
            cores: u32::try_from(cores).unwrap_or(u32::MAX),
        }
    }
}

/// The smallest of what the machine has and what each cgroup around the process allows.
fn memory(read: impl Fn(&Path) -> Option<String>) -> (u64, MemorySource) {
    let own = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let limits = |paths: Vec<PathBuf>, source| {
        let limits = paths
            .into_iter()
            .filter_map(|path| parse_limit(&read(&path)?));
        limits.min().map(|bytes| (bytes, source))
    };
    let total = read(Path::new("/proc/meminfo")).and_then(|text| parse_mem_total(&text));
    [
        total.map(|bytes| (bytes, MemorySource::MemTotal)),
        limits(limit_paths(&own), MemorySource::Cgroup),
        limits(limit_paths_v1(&own), MemorySource::CgroupV1),
    ]
    .into_iter()
    .flatten()
    .min_by_key(|(bytes, _)| *bytes)
    .unwrap_or((MEMORY_ASSUMED_BYTES, MemorySource::Assumed))
}

/// `MemTotal:       32791204 kB` → bytes. The file's kB are KiB (proc_meminfo(5)).
fn parse_mem_total(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    kib.checked_mul(1024).filter(|bytes| *bytes > 0)
}

/// A limit file: `max`, or a number of bytes. Version 1 writes "none" as a number near 2^63.
fn parse_limit(text: &str) -> Option<u64> {
    const UNLIMITED: u64 = 1 << 60;
    text.trim()
        .parse()
        .ok()
        .filter(|bytes| (1..UNLIMITED).contains(bytes))
}

/// The `memory.max` files of the process's cgroup (v2) and of all around it. The root has none, but
/// in a container the root *is* the container's cgroup, and has.
fn limit_paths(cgroups: &str) -> Vec<PathBuf> {
    let own = cgroups
        .lines()
        .find_map(|line| line.strip_prefix("0::"))
        .unwrap_or("/");
    ancestors("/sys/fs/cgroup", own, "memory.max")
}

/// The same for cgroup v1: `5:memory:/path`.
fn limit_paths_v1(cgroups: &str) -> Vec<PathBuf> {
    let own = cgroups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers
            .split(',')
            .any(|name| name == "memory")
            .then_some(path)
    });
    own.map_or_else(Vec::new, |own| {
        ancestors("/sys/fs/cgroup/memory", own, "memory.limit_in_bytes")
    })
}

fn ancestors(mount: &str, own: &str, file: &str) -> Vec<PathBuf> {
    let own = Path::new(own.trim_start_matches('/'));
    let levels = own.ancestors().take(CGROUP_DEPTH_MAX);
    levels
        .map(|level| Path::new(mount).join(level).join(file))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal:        4005200 kB\nMemFree:          123 kB\n";

    fn memory_of(files: &[(&str, &str)]) -> (u64, MemorySource) {
        memory(|path| {
            let file = files.iter().find(|(name, _)| Path::new(name) == path)?;
            Some(file.1.to_owned())
        })
    }

    #[test]
    fn the_smallest_limit_around_the_process_counts() {
        let own = ("/proc/self/cgroup", "0::/larder.slice/larder.service\n");
        let total = ("/proc/meminfo", MEMINFO);
        let service = "/sys/fs/cgroup/larder.slice/larder.service/memory.max";
        let slice = "/sys/fs/cgroup/larder.slice/memory.max";
        for (files, expected) in [
            (&[][..], (MEMORY_ASSUMED_BYTES, MemorySource::Assumed)),
            (&[total], (4_005_200 << 10, MemorySource::MemTotal)),
            (
                &[total, own, (service, "max\n")],
                (4_005_200 << 10, MemorySource::MemTotal),
            ),
            (
                &[total, own, (service, "536870912\n")],
                (512 << 20, MemorySource::Cgroup),
            ),
            (
                &[own, (service, "536870912\n"), (slice, "268435456\n")],
                (256 << 20, MemorySource::Cgroup),
            ),
            // Inside a container, the namespace's root is the container.
            (
                &[
                    total,
                    ("/proc/self/cgroup", "0::/\n"),
                    ("/sys/fs/cgroup/memory.max", "1048576"),
                ],
                (1 << 20, MemorySource::Cgroup),
            ),
            // A limit above what there is does not add memory.
            (
                &[total, own, (service, "99999999999")],
                (4_005_200 << 10, MemorySource::MemTotal),
            ),
        ] {
            assert_eq!(memory_of(files), expected, "{files:?}");
        }
    }

    #[test]
    fn version_one() {
        let own = (
            "/proc/self/cgroup",
            "11:cpu,cpuacct:/a\n5:memory:/docker/x\n",
        );
        let limit = "/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes";
        let got = memory_of(&[own, (limit, "134217728\n"), ("/proc/meminfo", MEMINFO)]);
        assert_eq!(got, (128 << 20, MemorySource::CgroupV1));
        let got = memory_of(&[
            own,
            (limit, "9223372036854771712\n"),
            ("/proc/meminfo", MEMINFO),
        ]);
        assert_eq!(got, (4_005_200 << 10, MemorySource::MemTotal));
    }

    #[test]
    fn files_that_make_no_sense_do_not_limit() {
        for text in [
            "",
            "MemTotal",
            "MemTotal: x kB",
            "MemTotal: 99999999999999999999 kB",
        ] {
            assert_eq!(parse_mem_total(text), None, "{text}");
        }
        for text in ["", "max", "0", "-1", "1 2"] {
            assert_eq!(parse_limit(text), None, "{text}");
        }
    }

    #[test]
    fn this_machine_has_something() {
        let machine = Machine::detect();
        assert!(machine.memory_bytes > 0 && machine.cores > 0, "{machine:?}");
    }
}
