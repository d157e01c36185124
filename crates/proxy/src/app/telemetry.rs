//! What is exported, gathered from the parts that count.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method, Uri, Version, header};
use larder_store::{MissReason, SkipReason, StoreStats};

use super::Telling;
use crate::admin::{PurgeError, PurgeFuture, PurgeReport, PurgeRequest, Purger};
use crate::cache::{Core, purge};
use crate::listen::ListenStats;
use crate::observe::memory::Ledger;
use crate::observe::metrics::{Metrics, Sample, families};
use crate::plan::MemoryPlan;
use crate::rules::key::primary_key;
use crate::rules::normalize::{Scheme, normalize};

/// A registry that reads all parts at each scrape.
pub(super) fn metrics(
    core: &Arc<Core>,
    telling: &Arc<Telling>,
    stats: &Arc<ListenStats>,
    plan: &MemoryPlan,
) -> Arc<Metrics> {
    let metrics = Metrics::new(env!("CARGO_PKG_VERSION"));
    let told = Arc::clone(telling);
    metrics.register_snapshot(Box::new(move || {
        let log = told.log().map(|log| log.samples()).unwrap_or_default();
        [told.requests.samples(), log].concat()
    }));
    let events = Arc::clone(core);
    metrics.register_snapshot(Box::new(move || event_samples(&events)));
    let store = core.store.clone();
    metrics.register_snapshot(Box::new(move || store_samples(&store.stats())));
    let listen = Arc::clone(stats);
    metrics.register_snapshot(Box::new(move || listen_samples(&listen)));
    let ledger = ledger(core, telling, plan);
    metrics.register_snapshot(Box::new(move || ledger.samples()));
    Arc::new(metrics)
}

fn event_samples(core: &Core) -> Vec<Sample> {
    let events = &core.events;
    let failed = events.origin_failures.get();
    let answered = events.origin_requests.get().saturating_sub(failed);
    vec![
        Sample::new(&families::COLLAPSED_REQUESTS, events.collapsed.get()),
        Sample::labelled(&families::ORIGIN_REQUESTS, &["answered"], answered),
        Sample::labelled(&families::ORIGIN_REQUESTS, &["failed"], failed),
        Sample::new(&families::STALLED_LEADERS, events.stalled_leaders.get()),
        Sample::new(&families::RESUMED_BODIES, events.resumed.get()),
        Sample::new(
            &families::BACKGROUND_REFRESHES,
            events.background_refreshes.get(),
        ),
        Sample::new(&families::PURGES, events.purged.get()),
    ]
}

fn store_samples(stats: &StoreStats) -> Vec<Sample> {
    let mut samples = vec![
        Sample::new(&families::RAM_USED_BYTES, stats.ram.used_bytes),
        Sample::new(&families::RAM_LIMIT_BYTES, stats.ram.budget_bytes),
        Sample::new(&families::RAM_OBJECTS, stats.ram.objects),
    ];
    let Some(ssd) = &stats.ssd else {
        return samples;
    };
    samples.extend([
        Sample::new(&families::SSD_HEALTHY, u64::from(ssd.healthy)),
        Sample::new(&families::SSD_WRITTEN_BYTES, ssd.bytes_written),
        Sample::new(&families::SSD_READ_BYTES, ssd.bytes_read),
        Sample::new(
            &families::SSD_FALSE_READS,
            ssd.misses[MissReason::FalseRead as usize],
        ),
        Sample::new(
            &families::SSD_CORRUPT_RECORDS,
            ssd.corrupt + stats.undecodable,
        ),
        Sample::new(&families::SSD_CAPACITY_BYTES, ssd.capacity_bytes),
        Sample::new(&families::SSD_LAPS, ssd.laps),
        Sample::new(&families::SSD_RECOVERED_OBJECTS, ssd.recovered),
    ]);
    samples.extend(
        SkipReason::ALL
            .iter()
            .zip(ssd.skipped)
            .map(|(reason, count)| {
                Sample::labelled(&families::SSD_SKIPPED_WRITES, &[reason.as_str()], count)
            }),
    );
    samples
}

fn listen_samples(stats: &ListenStats) -> Vec<Sample> {
    let closed: u64 = stats.closed().map(|(_, count)| count).sum();
    let open = stats.accepted().saturating_sub(closed);
    let mut samples = vec![Sample::new(&families::CONNECTIONS, open)];
    samples.extend(stats.violations().iter().map(|(violation, count)| {
        Sample::labelled(&families::BAD_REQUESTS, &[violation.as_str()], count)
    }));
    samples
}

fn ledger(core: &Arc<Core>, telling: &Arc<Telling>, plan: &MemoryPlan) -> Ledger {
    let mut ledger = Ledger::new(plan.limit_bytes);
    let (ram, writing) = (core.store.clone(), core.store.clone());
    ledger.add("ram-tier", Box::new(move || ram.stats().ram.used_bytes));
    ledger.add("fills", Box::new(move || writing.stats().ram.writing_bytes));
    for row in plan.rows.iter().filter(|row| row.consumer.is_fixed()) {
        let bytes = row.bytes;
        ledger.add(row.consumer.as_str(), Box::new(move || bytes));
    }
    let told = Arc::clone(telling);
    let queued = move || told.log().map_or(0, |log| log.queued_bytes());
    ledger.add("access-log", Box::new(queued));
    ledger
}

/// Purges by way of the admin address.
pub(super) struct CorePurger(pub(super) Arc<Core>);

impl Purger for CorePurger {
    fn purge(&self, request: PurgeRequest) -> PurgeFuture<'_> {
        Box::pin(async move {
            let bad = |reason: String| PurgeError::BadUrl {
                url: request.url.clone(),
                reason,
            };
            let uri: Uri = request
                .url
                .parse()
                .map_err(|e: http::uri::InvalidUri| bad(e.to_string()))?;
            let authority = uri
                .authority()
                .ok_or_else(|| bad("it has no host".to_owned()))?;
            let host = HeaderValue::from_str(authority.as_str()).map_err(|e| bad(e.to_string()))?;
            let headers = HeaderMap::from_iter([(header::HOST, host)]);
            let target = normalize(&Method::GET, &uri, Version::HTTP_11, &headers, Scheme::Http)
                .map_err(|why| bad(why.as_str().to_owned()))?;
            let key = self.0.key(primary_key(&target));
            match purge(&self.0, &key).await {
                Ok(purged) => Ok(PurgeReport {
                    found: purged.found,
                }),
                Err(error) => Err(PurgeError::NotDurable(error.to_string())),
            }
        })
    }
}
