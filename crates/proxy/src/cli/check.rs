//! `larder check`: validates the configuration, and prints how memory and flash are divided.

use anyhow::{Context as _, Result};
use clap::Args;

use super::{ConfigArgs, output};
use crate::config::{Config, Machine, Size};
use crate::plan::{Demand, MemoryPlan, SsdShape, plan};

const EXAMPLES: &str = "\
Examples:
  larder check --config /etc/larder.toml
  larder check --ram 2GiB --data-dir /var/lib/larder --disk 500GiB    what would that cost?";

/// The configuration to look at.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// The same flags as those of `larder serve`.
    #[command(flatten)]
    pub config: ConfigArgs,
}

pub(super) fn run(args: &CheckArgs) -> Result<()> {
    let machine = Machine::detect();
    let config = args.config.load(&machine)?;
    output::print(&report(&config, &machine)?)
}

fn report(config: &Config, machine: &Machine) -> Result<String> {
    let demand = Demand::of(config);
    let plan = plan(&demand).context("a checked configuration")?;
    let mut lines = summary(config);
    lines.extend(memory(&plan, machine));
    if let Some(ssd) = &demand.ssd {
        lines.extend(store(config, ssd));
    }
    let notes: Vec<_> = config
        .notes()
        .iter()
        .map(|note| format!("note: {note}"))
        .collect();
    if !notes.is_empty() {
        lines.push(String::new());
    }
    lines.extend(notes);
    Ok(lines.join("\n") + "\n")
}

fn summary(config: &Config) -> Vec<String> {
    let listen: Vec<_> = config
        .server
        .listen
        .iter()
        .map(ToString::to_string)
        .collect();
    let admin = config
        .server
        .admin
        .map_or_else(|| "off".to_owned(), |admin| admin.to_string());
    vec![
        "The configuration is valid.".to_owned(),
        String::new(),
        format!("listen  {}", listen.join(", ")),
        format!("admin   {admin}"),
        format!("origin  {}", config.origin.url),
    ]
}

fn memory(plan: &MemoryPlan, machine: &Machine) -> Vec<String> {
    let (limit, has) = (Size(plan.limit_bytes), Size(machine.memory_bytes));
    let source = machine.memory_source.as_str();
    let mut lines = vec![
        String::new(),
        format!("memory  {limit} of {has} ({source})"),
    ];
    lines.extend(plan.rows.iter().map(|row| {
        let (consumer, bytes) = (row.consumer.as_str(), Size(row.bytes));
        format!("  {consumer:<18} {bytes:>9}  {}", row.why)
    }));
    lines
}

fn store(config: &Config, ssd: &SsdShape) -> Vec<String> {
    let file = config.store.file().unwrap_or_default();
    let mean = Size(config.store.mean_object_bytes);
    let (segments, segment, objects) = (ssd.segments, Size(ssd.segment_bytes), ssd.objects);
    let (slots, bits) = (ssd.index_slots, ssd.bits_per_slot());
    let index = config.store.index.as_str();
    vec![
        String::new(),
        format!("store   {} in {}", Size(ssd.device_bytes), file.display()),
        format!(
            "  {:<18} {segments:>9}  of {segment}, written one after the other",
            "segments"
        ),
        format!("  {:<18} {objects:>9}  of {mean}, that fill it", "objects"),
        format!(
            "  {:<18} {slots:>9}  objects at most that the index can find",
            "index_slots"
        ),
        format!(
            "  {:<18} {bits:>9}  of memory per slot, index = \"{index}\"",
            "index_bits"
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{MemorySource, Overrides};

    #[test]
    fn the_report_of_a_small_larder() {
        let memory_source = MemorySource::Cgroup;
        let machine = Machine {
            memory_bytes: 1 << 30,
            memory_source,
            cores: 2,
        };
        let text = "memory.limit = '64MiB'\nstore = { data_dir = '/data', size = '1GiB' }";
        let config = Config::parse(text, &Overrides::default(), &machine).unwrap();
        let expected = include_str!("../../tests/cli/check_small.stdout");
        assert_eq!(report(&config, &machine).unwrap(), expected);
    }
}
