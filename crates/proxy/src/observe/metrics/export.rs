//! The exposition: snapshots are taken, put in order and written as OpenMetrics text.

use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::families::{self, Family, Kind};
use super::sample::{Sample, Value};

/// The media type of [`Metrics::encode`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Something that knows its present values. It is called on each scrape and must not wait.
pub type Snapshot = Box<dyn Fn() -> Vec<Sample> + Send + Sync>;

/// All that is exported.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    snapshots: Snapshots,
}

#[derive(Clone, Default)]
struct Snapshots(Arc<RwLock<Vec<Snapshot>>>);

impl Metrics {
    /// Exports [`families::BUILD_INFO`] alone, with `version`.
    pub fn new(version: &'static str) -> Self {
        let snapshots = Snapshots::default();
        let mut registry = Registry::default();
        registry.register_collector(Box::new(snapshots.clone()));
        let metrics = Self {
            registry,
            snapshots,
        };
        metrics.register_snapshot(Box::new(move || {
            vec![Sample::labelled(&families::BUILD_INFO, &[version], 1)]
        }));
        metrics
    }

    /// Exports what `snapshot` gives. A sample is exported once: of two with the same family and
    /// labels the one registered first wins.
    pub fn register_snapshot(&self, snapshot: Snapshot) {
        self.snapshots.0.write().push(snapshot);
    }

    /// The exposition, as [`CONTENT_TYPE`].
    ///
    /// # Errors
    /// None that writing to memory can meet; the encoder's signature has one.
    pub fn encode(&self) -> Result<String, fmt::Error> {
        let mut out = String::new();
        text::encode(&mut out, &self.registry)?;
        Ok(out)
    }
}

impl Snapshots {
    /// The samples of all snapshots, family by family.
    fn take(&self) -> Vec<Sample> {
        let snapshots = self.0.read();
        let mut samples: Vec<Sample> = snapshots.iter().flat_map(|snapshot| snapshot()).collect();
        samples.sort_by(|a, b| order(a).cmp(&order(b)));
        samples.dedup_by(|a, b| a.family == b.family && a.labels == b.labels);
        samples
    }
}

fn order(sample: &Sample) -> (usize, &[&'static str]) {
    (sample.family.position(), &sample.labels)
}

impl Collector for Snapshots {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for samples in self.take().chunk_by(|a, b| a.family == b.family) {
            if let Some(first) = samples.first() {
                encode_family(&mut encoder, first.family, samples)?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Snapshots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} snapshots", self.0.read().len())
    }
}

fn encode_family(
    encoder: &mut DescriptorEncoder<'_>,
    family: &'static Family,
    samples: &[Sample],
) -> fmt::Result {
    let (suffix, kind) = match family.kind() {
        Kind::Counter => ("_total", MetricType::Counter),
        Kind::Gauge => ("", MetricType::Gauge),
        Kind::Histogram => ("", MetricType::Histogram),
        Kind::Info => ("_info", MetricType::Info),
    };
    // The encoder puts the suffix back.
    let name = family.name();
    let name = name.strip_suffix(suffix).unwrap_or(name);
    let mut encoder = encoder.encode_descriptor(name, family.help(), None, kind)?;
    for sample in samples {
        let labels: Vec<_> = pairs(sample).collect();
        if family.kind() == Kind::Info {
            encoder.encode_info(&labels)?;
        } else if labels.is_empty() {
            encode_value(&mut encoder, family, &sample.value)?;
        } else {
            encode_value(&mut encoder.encode_family(&labels)?, family, &sample.value)?;
        }
    }
    Ok(())
}

fn pairs(sample: &Sample) -> impl Iterator<Item = (&'static str, &'static str)> {
    let names = sample.family.labels().iter().copied();
    names.zip(sample.labels.iter().copied())
}

fn encode_value(encoder: &mut MetricEncoder<'_>, family: &Family, value: &Value) -> fmt::Result {
    match (family.kind(), value) {
        (Kind::Counter, Value::Integer(count)) => {
            encoder.encode_counter::<NoLabelSet, _, f64>(count, None)
        }
        (Kind::Counter, Value::Real(count)) => {
            encoder.encode_counter::<NoLabelSet, _, f64>(count, None)
        }
        (Kind::Gauge, Value::Integer(level)) => encoder.encode_gauge(level),
        (Kind::Gauge, Value::Real(level)) => encoder.encode_gauge(level),
        (Kind::Histogram, Value::Distribution(seen)) => encoder.encode_histogram::<NoLabelSet>(
            seen.sum_seconds,
            seen.count(),
            &seen.buckets,
            None,
        ),
        _ => {
            debug_assert!(false, "{} cannot be {value:?}", family.name());
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Distribution, RequestCounters};
    use super::*;

    #[test]
    fn the_exposition_is_open_metrics() {
        let metrics = Metrics::new("1.2.3");
        let requests = RequestCounters::new(&["hit", "miss"], &["ram", "origin"]);
        requests.record(0, 0, 10, Duration::from_micros(80));
        let connections = || vec![Sample::new(&families::CONNECTIONS, 7)];
        metrics.register_snapshot(Box::new(connections));
        metrics.register_snapshot(Box::new(move || requests.samples()));
        let text = metrics.encode().unwrap();
        let expected = [
            "# TYPE larder_requests counter",
            "larder_requests_total{decision=\"hit\",tier=\"ram\"} 1",
            "larder_response_bytes_total{tier=\"ram\"} 10",
            "larder_response_bytes_total{tier=\"origin\"} 0",
            "# TYPE larder_request_seconds histogram",
            "larder_request_seconds_sum{decision=\"hit\"} 0.00008",
            "larder_request_seconds_count{decision=\"hit\"} 1",
            "larder_request_seconds_bucket{le=\"0.0001\",decision=\"hit\"} 1",
            "larder_request_seconds_bucket{le=\"+Inf\",decision=\"hit\"} 1",
            "# TYPE larder_connections gauge",
            "larder_connections 7",
            "# TYPE larder_build info",
            "larder_build_info{version=\"1.2.3\"} 1",
        ];
        for line in expected {
            assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn a_family_stands_together_and_a_sample_once() {
        let metrics = Metrics::new("1");
        for level in [1_u64, 2] {
            metrics.register_snapshot(Box::new(move || {
                vec![
                    Sample::labelled(&families::MEMORY_BYTES, &["hot"], level),
                    Sample::new(&families::CONNECTIONS, level),
                ]
            }));
        }
        let memory = || vec![Sample::labelled(&families::MEMORY_BYTES, &["index"], 9)];
        metrics.register_snapshot(Box::new(memory));
        let text = metrics.encode().unwrap();
        let of_memory = text.lines().filter(|l| l.contains("larder_memory_bytes"));
        let expected = [
            "# HELP larder_memory_bytes Memory that larder accounts for, by consumer",
            "# TYPE larder_memory_bytes gauge",
            "larder_memory_bytes{consumer=\"hot\"} 1",
            "larder_memory_bytes{consumer=\"index\"} 9",
        ];
        assert_eq!(of_memory.collect::<Vec<_>>(), expected);
        assert_eq!(text.matches("\nlarder_connections ").count(), 1);
    }

    #[test]
    fn every_family_can_be_exported_by_its_own_name() {
        let metrics = Metrics::new("1");
        for family in families::ALL {
            metrics.register_snapshot(Box::new(move || {
                let value = match family.kind() {
                    Kind::Histogram => Value::from(Distribution {
                        sum_seconds: 0.5,
                        buckets: vec![(f64::INFINITY, 1)],
                    }),
                    _ => Value::from(1),
                };
                let labels = ["a", "b"];
                vec![Sample::labelled(
                    family,
                    &labels[..family.labels().len()],
                    value,
                )]
            }));
        }
        let text = metrics.encode().unwrap();
        for family in families::ALL {
            let name = match family.kind() {
                Kind::Histogram => format!("{}_count", family.name()),
                _ => family.name().to_owned(),
            };
            let named = |line: &str| line.split(['{', ' ']).next() == Some(&name);
            assert!(text.lines().any(named), "{name} is not in\n{text}");
        }
    }

    /// A row of the table: name, kind, unit, labels.
    fn row(family: &Family) -> String {
        let labels: Vec<_> = family.labels().iter().map(|l| format!("`{l}`")).collect();
        let (name, kind, unit) = (family.name(), family.kind().as_str(), family.unit());
        format!("| `{name}` | {kind} | {unit} | {} |", labels.join(", "))
    }

    #[test]
    fn the_documentation_lists_exactly_these() {
        let text = include_str!("../../../../../docs/metrics.md");
        let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        // The first cell of a row is a name alone; that of an alert is an expression.
        let named = |line: &&str| {
            let cell = line
                .strip_prefix("| `larder_")
                .and_then(|rest| rest.split('|').next());
            cell.is_some_and(|cell| cell.trim_end().trim_end_matches('`').split(' ').count() == 1)
        };
        let rows: Vec<_> = text.lines().filter(named).map(squeezed).collect();
        for family in families::ALL {
            let row = squeezed(&row(family));
            assert!(
                rows.iter().any(|r| r.starts_with(&row)),
                "docs/metrics.md lacks {row}"
            );
        }
        assert_eq!(
            rows.len(),
            families::ALL.len(),
            "docs/metrics.md lists others too"
        );
    }
}
