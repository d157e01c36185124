//! `[memory]`: the one number that bounds the whole process.

use super::document::{Reading, Section, Value};
use super::machine::Machine;
use super::quantity::{Size, parse_size};
use super::value;

/// Below this the process does not fit, whatever else is configured (see [`crate::plan`]).
pub const LIMIT_BYTES_MIN: u64 = 32 << 20;

/// The share of the machine's memory that is the default: the rest is the kernel's, for its socket
/// buffers above all, which no process's own books show.
pub const LIMIT_PERCENT: u8 = 80;

/// The one number that bounds the whole process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryConfig {
    /// Bytes of the whole process: bodies, metadata, index, buffers, connections.
    pub limit_bytes: u64,
}

impl MemoryConfig {
    /// [`LIMIT_PERCENT`] of what the cgroup, or else the machine, has.
    pub fn defaults(machine: &Machine) -> Self {
        Self {
            limit_bytes: MemoryLimit::Percent(LIMIT_PERCENT).resolve(machine),
        }
    }

    pub(super) fn read(section: &mut Section<'_, '_>, machine: &Machine) -> Self {
        let default = MemoryLimit::Percent(LIMIT_PERCENT);
        Self {
            limit_bytes: section.get("limit", default, limit).resolve(machine),
        }
    }
}

/// A limit as it is written: so many bytes, or a share of what there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryLimit {
    /// Bytes.
    Bytes(u64),
    /// Hundredths of the cgroup's or the machine's memory, 1 to 100.
    Percent(u8),
}

impl MemoryLimit {
    /// The limit in bytes on this machine.
    pub fn resolve(self, machine: &Machine) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            // Division first: no overflow, and the error is below 100 bytes.
            Self::Percent(percent) => machine.memory_bytes / 100 * u64::from(percent),
        }
    }

    /// Reads `2GiB` or `80%`.
    ///
    /// # Errors
    /// A sentence that quotes what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(percent) = text.trim().strip_suffix('%') {
            let percent = percent.trim_end().parse::<u8>().ok();
            let percent = percent.filter(|percent| (1..=100).contains(percent));
            return percent
                .map(Self::Percent)
                .ok_or_else(|| format!("`{text}` is not a share from 1% to 100%"));
        }
        let bytes = parse_size(text).map_err(|error| error.to_string())?;
        if bytes < LIMIT_BYTES_MIN {
            return Err(format!(
                "{} is below {}",
                Size(bytes),
                Size(LIMIT_BYTES_MIN)
            ));
        }
        Ok(Self::Bytes(bytes))
    }
}

fn limit(value: &Value<'_>) -> Reading<MemoryLimit> {
    if value.get_ref().is_str() {
        let expected = "a size such as \"2GiB\", or a share such as \"80%\"";
        return value::parsed(expected, MemoryLimit::parse)(value);
    }
    value::size(LIMIT_BYTES_MIN..=1 << 50)(value).map(MemoryLimit::Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::machine::MemorySource;

    #[test]
    fn limits() {
        let memory_source = MemorySource::MemTotal;
        let machine = Machine {
            memory_bytes: 4 << 30,
            memory_source,
            cores: 2,
        };
        for (text, bytes) in [
            ("64MiB", 64 << 20),
            ("100%", (4_u64 << 30) / 100 * 100),
            (" 50 %", (4_u64 << 30) / 100 * 50),
        ] {
            assert_eq!(
                MemoryLimit::parse(text).unwrap().resolve(&machine),
                bytes,
                "{text}"
            );
        }
        for text in ["0%", "101%", "-1%", "%", "1.5%", "16MiB", "64M", ""] {
            assert!(MemoryLimit::parse(text).is_err(), "{text}");
        }
    }
}
