//! A replay from its options to its report.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};

use crate::trace::TraceReader;

use super::{
    dial::Dialer,
    error::ReplayError,
    feed::{self, Selection},
    metrics::{self, Counters},
    options::{CONNECTIONS_MAX, ReplayOptions},
    progress::Progress,
    report::Report,
    tally::Tally,
    target::Target,
    worker::{Shared, work},
};

/// Wrong answers and errors that are shown one by one; the rest are only counted.
pub const NOTES_MAX: usize = 10;

/// How often the progress is told.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

/// Replays a trace.
///
/// Needs a tokio runtime with I/O and time; opening the trace blocks briefly. Dropping the future
/// ends the replay: connections are closed, and the reader's thread stops at its next request.
///
/// # Errors
///
/// When the options are wrong, the trace cannot be read to its end (or the limit), or the target
/// refuses the first connection for as long as the patience lasts. Whatever happens to single
/// requests is in the report.
pub async fn replay(
    options: ReplayOptions,
    mut progress: impl Progress,
) -> Result<Report, ReplayError> {
    if options.connections == 0 || options.connections > CONNECTIONS_MAX {
        let found = options.connections;
        return Err(ReplayError::Connections { found });
    }
    let target = Target::root(&options.target).map_err(ReplayError::Target)?;
    let page = options.metrics.as_deref().map(Target::page).transpose();
    let page = page.map_err(ReplayError::Target)?;
    let trace = TraceReader::open(&options.trace).map_err(ReplayError::Trace)?;
    let dialer = Dialer::new(target, options.connect_patience, options.stall_limit);
    probe(&dialer, &options).await?;

    let before = counters(page.as_ref(), &mut progress).await;
    progress.begin(options.limit);
    let result = run(trace, dialer, &options, &mut progress).await;
    progress.end();
    let mut report = result?;
    let after = counters(page.as_ref(), &mut progress).await;
    if let (Some(before), Some(after)) = (before, after) {
        let grown = after.since(&before);
        report.origin_requests = grown.origin_requests;
        report.ssd_written_bytes = grown.ssd_written_bytes;
    }
    Ok(report)
}

/// One connection, opened and closed: a target that was never there is no measurement.
async fn probe(dialer: &Dialer, options: &ReplayOptions) -> Result<(), ReplayError> {
    let dialed = dialer.dial().await;
    dialed.map(drop).map_err(|cause| ReplayError::Unreachable {
        target: options.target.clone(),
        patience: options.connect_patience,
        cause,
    })
}

async fn counters(page: Option<&Target>, progress: &mut impl Progress) -> Option<Counters> {
    match metrics::read(page?).await {
        Ok(counters) => Some(counters),
        Err(error) => {
            progress.note(&format!("metrics: {error}"));
            None
        }
    }
}

async fn run(
    trace: TraceReader,
    dialer: Dialer,
    options: &ReplayOptions,
    progress: &mut impl Progress,
) -> Result<Report, ReplayError> {
    let selection = Selection {
        limit: options.limit,
        size_bytes_max: options.size_bytes_max,
    };
    let (queue, ending) = feed::start(trace, selection)?;
    let (notes, noted) = mpsc::channel(NOTES_MAX);
    let shared = Arc::new(Shared {
        dialer: Arc::new(dialer),
        queue,
        tally: Mutex::new(Tally::new()),
        notes,
    });
    let began = Instant::now();
    let mut workers = JoinSet::new();
    for _ in 0..options.connections {
        workers.spawn(work(Arc::clone(&shared)));
    }
    watch(&mut workers, &shared, noted, began, progress).await?;
    let mut report = shared.tally.lock().report(began.elapsed());
    // The workers have ended because the queue has, and with it the reading.
    if let Ok(ending) = ending.await {
        report.skipped = ending.map_err(ReplayError::Trace)?;
    }
    Ok(report)
}

/// Waits for the workers and tells how far they are.
async fn watch(
    workers: &mut JoinSet<()>,
    shared: &Shared,
    mut noted: mpsc::Receiver<String>,
    began: Instant,
    progress: &mut impl Progress,
) -> Result<(), ReplayError> {
    let mut ticks = interval(PROGRESS_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut notes_left = NOTES_MAX;
    loop {
        tokio::select! {
            ended = workers.join_next() => match ended {
                Some(ended) => ended.map_err(ReplayError::Worker)?,
                None => break,
            },
            Some(note) = noted.recv(), if notes_left > 0 => {
                progress.note(&note);
                notes_left -= 1;
            }
            _ = ticks.tick() => progress.advance(&shared.tally.lock().snapshot(began.elapsed())),
        }
    }
    while notes_left > 0
        && let Ok(note) = noted.try_recv()
    {
        progress.note(&note);
        notes_left -= 1;
    }
    progress.advance(&shared.tally.lock().snapshot(began.elapsed()));
    Ok(())
}
