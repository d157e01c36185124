//! How far is the replay? A bar on a terminal, a line now and then elsewhere, or nothing.

use std::{
    io::{IsTerminal as _, stderr},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

/// How often a line is printed where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// A run at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Requests done.
    pub requests: u64,
    /// Of these, errors.
    pub errors: u64,
    /// Wrong body bytes.
    pub wrong_bytes: u64,
    /// Hits.
    pub hits: u64,
    /// Body bytes received.
    pub bytes: u64,
    /// Since the first request.
    pub elapsed: Duration,
}

/// Who is told how far a replay is. All calls come from the one task that runs it; none may block
/// for long.
pub trait Progress: Send {
    /// It begins; at most `requests_max` requests, if that is known.
    fn begin(&mut self, requests_max: Option<u64>);
    /// It goes on: called a few times a second.
    fn advance(&mut self, now: &Snapshot);
    /// Something to be shown; bounded by [`NOTES_MAX`](super::NOTES_MAX) lines a run.
    fn note(&mut self, line: &str);
    /// It has ended, well or not.
    fn end(&mut self);
}

/// Says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

/// Writes to stderr: a bar if that is a terminal, else a line every five seconds.
#[derive(Debug, Default)]
pub struct StderrProgress {
    bar: Option<ProgressBar>,
    /// When the last line was written, on the run's own clock.
    told: Duration,
}

impl Snapshot {
    /// Everything but the number of requests, in words.
    fn describe(&self) -> String {
        let hits = 100.0 * self.hits as f64 / self.requests.max(1) as f64;
        let mb_per_s = self.bytes as f64 / 1e6 / self.elapsed.as_secs_f64().max(1e-3);
        let (errors, wrong) = (self.errors, self.wrong_bytes);
        format!("{hits:.1}% hits, {errors} errors, {wrong} wrong bytes, {mb_per_s:.1} MB/s")
    }
}

impl Progress for Silent {
    fn begin(&mut self, _: Option<u64>) {}
    fn advance(&mut self, _: &Snapshot) {}
    fn note(&mut self, _: &str) {}
    fn end(&mut self) {}
}

impl Progress for StderrProgress {
    fn begin(&mut self, requests_max: Option<u64>) {
        if !stderr().is_terminal() {
            return;
        }
        let template = match requests_max {
            Some(_) => "{wide_bar} {pos}/{len} requests, {msg}, {eta} left",
            None => "{spinner} {pos} requests, {per_sec}, {msg}",
        };
        let bar = requests_max.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        let style = ProgressStyle::with_template(template);
        self.bar = Some(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())));
    }

    fn advance(&mut self, now: &Snapshot) {
        if let Some(bar) = &self.bar {
            bar.set_position(now.requests);
            bar.set_message(now.describe());
        } else if now.elapsed >= self.told + LINE_INTERVAL {
            self.told = now.elapsed;
            let (seconds, requests) = (now.elapsed.as_secs(), now.requests);
            eprintln!(
                "replay: {seconds} s, {requests} requests, {}",
                now.describe()
            );
        }
    }

    fn note(&mut self, line: &str) {
        // A bar prints nothing when its terminal is gone.
        match &self.bar {
            Some(bar) => bar.println(format!("replay: {line}")),
            None => eprintln!("replay: {line}"),
        }
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
