//! Where the memory goes: a ledger of consumers, and what the kernel says of the process.

use std::fs;
use std::path::{Path, PathBuf};

use super::metrics::{Sample, families};

/// Longest file of `/proc` or `/sys` that is read here; the real ones have less than 4 KiB.
const KERNEL_TEXT_BYTES_MAX: u64 = 64 << 10;

/// What a consumer holds, in bytes. It is called on each scrape and must not wait.
pub type Held = Box<dyn Fn() -> u64 + Send + Sync>;

/// Who holds how much of the one number, `memory.limit`.
pub struct Ledger {
    limit_bytes: u64,
    consumers: Vec<(&'static str, Held)>,
}

/// What the kernel says of this process. Each is absent where the kernel does not say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessMemory {
    /// Resident set, in bytes.
    pub resident_bytes: Option<u64>,
    /// Highest resident set so far, in bytes.
    pub resident_bytes_max: Option<u64>,
    /// What the process's cgroup (v2) is charged with, page cache included, in bytes.
    pub cgroup_bytes: Option<u64>,
    /// What that cgroup may be charged with, in bytes; absent if it has no limit of its own.
    pub cgroup_bytes_max: Option<u64>,
}

impl Ledger {
    /// An empty ledger under `limit_bytes`.
    pub fn new(limit_bytes: u64) -> Self {
        Self {
            limit_bytes,
            consumers: Vec::new(),
        }
    }

    /// Adds a consumer. Its name is the label of [`families::MEMORY_BYTES`].
    pub fn add(&mut self, consumer: &'static str, held: Held) {
        self.consumers.push((consumer, held));
    }

    /// What the whole process keeps to.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// What each consumer holds now.
    pub fn held_bytes(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.consumers.iter().map(|(name, held)| (*name, held()))
    }

    /// What all consumers hold now.
    pub fn total_bytes(&self) -> u64 {
        self.held_bytes()
            .fold(0, |sum, (_, bytes)| sum.saturating_add(bytes))
    }

    /// What to export: consumers, the limit, and the kernel's own count beside them.
    pub fn samples(&self) -> Vec<Sample> {
        let held = self.held_bytes();
        let mut samples: Vec<_> = held
            .map(|(name, bytes)| Sample::labelled(&families::MEMORY_BYTES, &[name], bytes))
            .collect();
        let process = ProcessMemory::now();
        let levels = [
            (&families::MEMORY_LIMIT_BYTES, Some(self.limit_bytes)),
            (&families::PROCESS_RESIDENT_BYTES, process.resident_bytes),
            (
                &families::PROCESS_RESIDENT_BYTES_MAX,
                process.resident_bytes_max,
            ),
        ];
        let known = levels.into_iter();
        samples.extend(known.filter_map(|(family, bytes)| Some(Sample::new(family, bytes?))));
        samples
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.held_bytes()).finish()
    }
}

impl ProcessMemory {
    /// Asks the kernel. Reads a few small files of `/proc` and `/sys`, none of which waits for a
    /// disk.
    pub fn now() -> Self {
        let status = kernel_text(Path::new("/proc/self/status"));
        let of_process = |field| parse_status(status.as_ref()?, field);
        let cgroup = kernel_text(Path::new("/proc/self/cgroup"));
        let cgroup = cgroup.as_deref().and_then(cgroup_folder);
        let of_cgroup = |name| parse_bytes(&kernel_text(&cgroup.as_ref()?.join(name))?);
        Self {
            resident_bytes: of_process("VmRSS:"),
            resident_bytes_max: of_process("VmHWM:"),
            cgroup_bytes: of_cgroup("memory.current"),
            cgroup_bytes_max: of_cgroup("memory.max"),
        }
    }
}

/// The text of a kernel's file; `None` if there is none or it is longer than any that is known.
fn kernel_text(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut text = String::new();
    let file = fs::File::open(path).ok()?;
    let read = file.take(KERNEL_TEXT_BYTES_MAX).read_to_string(&mut text);
    read.ok().map(|_| text)
}

/// A line of `/proc/self/status` such as `VmHWM:    1234 kB`, in bytes. The file's kB are KiB
/// (proc_pid_status(5)).
pub fn parse_status(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    let mut words = line.split_ascii_whitespace();
    let kibibytes: u64 = words.next()?.parse().ok()?;
    (words.next() == Some("kB"))
        .then_some(kibibytes)?
        .checked_mul(1024)
}

/// `memory.current` or `memory.max`: a number of bytes, or `max` for none.
pub fn parse_bytes(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// `/proc/self/cgroup`: the folder of the process's cgroup of version 2, from its `0::` line. The
/// path is refused when it leads out of the hierarchy (cgroup_namespaces(7) shows `/..` for what
/// is outside).
pub fn cgroup_folder(text: &str) -> Option<PathBuf> {
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let leads_out = path.split('/').any(|part| part == "..");
    (!leads_out).then(|| Path::new("/sys/fs/cgroup").join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_texts_are_read() {
        let status = "Name:\tlarder\nVmPeak:\t  900 kB\nVmHWM:\t    812 kB\nVmRSS:\t 800 kB\n";
        assert_eq!(parse_status(status, "VmHWM:"), Some(812 << 10));
        assert_eq!(parse_status(status, "VmRSS:"), Some(800 << 10));
        assert_eq!(parse_bytes("536870912\n"), Some(512 << 20));
        assert_eq!(parse_bytes("max\n"), None);
        let folder = cgroup_folder("1:cpu:/x\n0::/larder.slice/larder.service\n");
        let expected = PathBuf::from("/sys/fs/cgroup/larder.slice/larder.service");
        assert_eq!(folder, Some(expected));
        assert_eq!(
            cgroup_folder("0::/\n"),
            Some(PathBuf::from("/sys/fs/cgroup/"))
        );
    }

    #[test]
    fn nonsense_is_none() {
        for text in [
            "",
            "VmHWM:",
            "VmHWM: x kB",
            "VmHWM: 1 MB",
            "VmHWM: 18446744073709551615 kB",
        ] {
            assert_eq!(parse_status(text, "VmHWM:"), None, "{text}");
        }
        for text in ["", "-1", "1 2", "1e9"] {
            assert_eq!(parse_bytes(text), None, "{text}");
        }
        for text in ["", "1:memory:/x", "0::/../../etc"] {
            assert_eq!(cgroup_folder(text), None, "{text}");
        }
    }

    #[test]
    fn this_process_lives_somewhere() {
        let process = ProcessMemory::now();
        let resident_bytes = process.resident_bytes.unwrap();
        assert!(resident_bytes > 64 << 10, "{process:?}");
        assert!(
            process.resident_bytes_max.unwrap() > 64 << 10,
            "{process:?}"
        );
    }

    #[test]
    fn the_ledger_adds_up() {
        let mut ledger = Ledger::new(100);
        ledger.add("hot", Box::new(|| 30));
        ledger.add("index", Box::new(|| 12));
        assert_eq!(ledger.total_bytes(), 42);
        assert_eq!(format!("{ledger:?}"), "{\"hot\": 30, \"index\": 12}");
        let samples = ledger.samples();
        let hot = Sample::labelled(&families::MEMORY_BYTES, &["hot"], 30_u64);
        assert!(samples.contains(&hot));
        assert!(samples.contains(&Sample::new(&families::MEMORY_LIMIT_BYTES, 100_u64)));
        ledger.add("wrong", Box::new(|| u64::MAX));
        assert_eq!(ledger.total_bytes(), u64::MAX);
    }
}
