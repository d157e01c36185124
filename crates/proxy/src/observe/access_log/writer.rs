//! The queue, and the thread that formats and writes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;

use super::output::{Destination, Output};
use super::record::AccessRecord;
use super::stamp::Stamps;
use super::{combined, json};
use crate::observe::metrics::{Sample, families};

/// Lines that may wait: a tenth of a second at 80,000 requests a second, which a disk that
/// flushes its cache may take.
pub const QUEUE_RECORDS: usize = 8192;

/// Memory that waiting lines may hold. 512 bytes a line, more than a usual one has.
pub const QUEUE_BYTES: usize = 512 * QUEUE_RECORDS;

/// How long [`AccessLogWriter::finish`] waits for what is queued: a reader that does not read must
/// not keep the process from its end.
pub const FINISH_TIME_MAX: Duration = Duration::from_secs(5);

/// One write has at most this, and one line more.
const BATCH_BYTES: usize = 64 << 10;

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Apache's combined format and three fields.
    #[default]
    Combined,
    /// One JSON object.
    Json,
}

/// The log, as requests see it. A clone is another handle on the same queue.
#[derive(Clone, Debug)]
pub struct AccessLog {
    jobs: SyncSender<Job>,
    state: Arc<State>,
}

/// The thread's owner. [`finish`](Self::finish) it, or what is queued when the process ends is
/// lost.
#[derive(Debug)]
pub struct AccessLogWriter {
    log: AccessLog,
    done: Receiver<()>,
}

#[derive(Debug)]
enum Job {
    Record(AccessRecord),
    /// Look at the flags.
    Wake,
}

#[derive(Debug, Default)]
struct State {
    queued_bytes: AtomicUsize,
    dropped_lines: AtomicU64,
    reopen: AtomicBool,
    finish: AtomicBool,
}

impl Format {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Combined => "combined",
            Self::Json => "json",
        }
    }
}

impl AccessLog {
    /// Opens the destination and starts the writer's thread.
    ///
    /// # Errors
    /// When the file cannot be opened, or the thread cannot be started.
    pub fn start(format: Format, destination: Destination) -> io::Result<(Self, AccessLogWriter)> {
        Self::start_with(format, destination.open()?)
    }

    fn start_with(format: Format, output: Box<dyn Output>) -> io::Result<(Self, AccessLogWriter)> {
        let (jobs, queue) = mpsc::sync_channel(QUEUE_RECORDS);
        let (end, done) = mpsc::sync_channel(1);
        let state = Arc::new(State::default());
        let writer = Writer::new(format, output, Arc::clone(&state));
        thread::Builder::new()
            .name("access-log".to_owned())
            .spawn(move || {
                writer.run(&queue);
                let _ = end.send(());
            })?;
        let log = Self { jobs, state };
        Ok((log.clone(), AccessLogWriter { log, done }))
    }

    /// Queues a line. Never waits: when the queue is full, in records or in bytes, the line is
    /// lost and counted.
    pub fn record(&self, record: AccessRecord) {
        let bytes = record.weight_bytes();
        let before = self.state.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        let fits = before + bytes <= QUEUE_BYTES;
        if !fits || self.jobs.try_send(Job::Record(record)).is_err() {
            self.state.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.state.dropped_lines.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Asks the writer to open its file anew before it writes the next line: after a rotation.
    pub fn reopen(&self) {
        self.state.reopen.store(true, Ordering::Release);
        self.wake();
    }

    /// Lines lost so far, to a full queue or a failed write.
    pub fn dropped_lines(&self) -> u64 {
        self.state.dropped_lines.load(Ordering::Relaxed)
    }

    /// Memory that waiting lines hold, in bytes, for the ledger.
    pub fn queued_bytes(&self) -> u64 {
        self.state.queued_bytes.load(Ordering::Relaxed) as u64
    }

    /// What to export.
    pub fn samples(&self) -> Vec<Sample> {
        let family = &families::ACCESS_LOG_DROPPED_LINES;
        vec![Sample::new(family, self.dropped_lines())]
    }

    /// A full queue is awake without it.
    fn wake(&self) {
        let _ = self.jobs.try_send(Job::Wake);
    }
}

impl AccessLogWriter {
    /// Writes what is queued and ends the thread. Waits for at most [`FINISH_TIME_MAX`]; `false`
    /// when that was not enough. What is recorded from now on is lost.
    pub fn finish(self) -> bool {
        self.finish_within(FINISH_TIME_MAX)
    }

    fn finish_within(self, time: Duration) -> bool {
        self.log.state.finish.store(true, Ordering::Release);
        self.log.wake();
        // Disconnected: the thread is gone, and waiting longer brings nothing.
        !matches!(self.done.recv_timeout(time), Err(RecvTimeoutError::Timeout))
    }
}

/// The thread's side.
struct Writer {
    format: Format,
    stamps: Stamps,
    output: Box<dyn Output>,
    state: Arc<State>,
    batch: Vec<u8>,
    batch_lines: u64,
    failing: bool,
}

impl Writer {
    fn new(format: Format, output: Box<dyn Output>, state: Arc<State>) -> Self {
        let stamps = match format {
            Format::Combined => Stamps::clf(),
            Format::Json => Stamps::rfc3339(),
        };
        Self {
            format,
            stamps,
            output,
            state,
            batch: Vec::with_capacity(BATCH_BYTES),
            batch_lines: 0,
            failing: false,
        }
    }

    /// Until the log is finished, or all of its handles are gone.
    fn run(mut self, queue: &Receiver<Job>) {
        while let Ok(job) = queue.recv() {
            // Read before the queue is drained: what was queued before the flag was set is in it.
            let finishing = self.state.finish.load(Ordering::Acquire);
            self.append(job);
            while self.batch.len() < BATCH_BYTES
                && let Ok(job) = queue.try_recv()
            {
                self.append(job);
            }
            let drained = self.batch.len() < BATCH_BYTES;
            self.flush();
            if finishing && drained {
                return;
            }
        }
    }

    fn append(&mut self, job: Job) {
        let Job::Record(record) = job else { return };
        let bytes = record.weight_bytes();
        match self.format {
            Format::Combined => combined::append(&mut self.batch, &record, &mut self.stamps),
            Format::Json => json::append(&mut self.batch, &record, &mut self.stamps),
        }
        self.batch_lines += 1;
        self.state.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn flush(&mut self) {
        let reopened = match self.state.reopen.swap(false, Ordering::AcqRel) {
            true => self.output.reopen(),
            false => Ok(()),
        };
        // A file that cannot be opened anew leaves the old one open: its lines are not lost.
        let written = match self.batch_lines {
            0 => Ok(()),
            _ => self.output.write_lines(&self.batch),
        };
        if written.is_err() {
            let dropped = &self.state.dropped_lines;
            dropped.fetch_add(self.batch_lines, Ordering::Relaxed);
        }
        self.report(&reopened.and(written));
        self.batch.clear();
        self.batch_lines = 0;
    }

    /// Once when it begins to fail, and once when it works again.
    fn report(&mut self, result: &io::Result<()>) {
        match result {
            Err(error) if !self.failing => {
                tracing::error!(%error, "the access log cannot be written");
            }
            Ok(()) if self.failing => tracing::info!("the access log is written again"),
            _ => {}
        }
        self.failing = result.is_err();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::Sender;

    use super::super::record::{FIELD_BYTES_MAX, Text, example};
    use super::*;

    /// Long enough for a busy machine; a test that passes does not wait for it.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// An output that tells of each write and waits until it may end.
    struct Gate {
        writes: Sender<Vec<u8>>,
        leave: Receiver<io::Result<()>>,
    }

    impl Output for Gate {
        fn write_lines(&mut self, lines: &[u8]) -> io::Result<()> {
            self.writes.send(lines.to_vec()).unwrap();
            self.leave.recv_timeout(PATIENCE).unwrap_or(Ok(()))
        }
    }

    struct Gated {
        log: AccessLog,
        writer: AccessLogWriter,
        writes: Receiver<Vec<u8>>,
        leave: Sender<io::Result<()>>,
    }

    fn gated() -> Gated {
        let (writes_in, writes) = mpsc::channel();
        let (leave, leave_out) = mpsc::channel();
        let gate = Gate {
            writes: writes_in,
            leave: leave_out,
        };
        let (log, writer) = AccessLog::start_with(Format::Combined, Box::new(gate)).unwrap();
        Gated {
            log,
            writer,
            writes,
            leave,
        }
    }

    fn numbered(number: usize) -> AccessRecord {
        AccessRecord {
            target: Text::from(format!("/{number}").as_str()),
            ..example::record()
        }
    }

    #[test]
    fn every_line_arrives_in_order_before_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        let destination = Destination::File(path.clone());
        let (log, writer) = AccessLog::start(Format::Json, destination).unwrap();
        (0..1000).for_each(|number| log.record(numbered(number)));
        assert!(writer.finish_within(PATIENCE));
        assert_eq!((log.dropped_lines(), log.queued_bytes()), (0, 0));
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 1000);
        for (number, line) in text.lines().enumerate() {
            assert!(
                line.contains(&format!("\"target\":\"/{number}\"")),
                "{line}"
            );
        }
    }

    #[test]
    fn a_full_queue_drops_and_counts_and_never_waits() {
        let Gated {
            log,
            writer,
            writes,
            leave,
        } = gated();
        log.record(numbered(0));
        writes.recv_timeout(PATIENCE).unwrap(); // the writer is stuck with the first line
        (0..QUEUE_RECORDS + 10).for_each(|number| log.record(numbered(number)));
        assert_eq!(log.dropped_lines(), 10);
        drop(leave);
        assert!(writer.finish_within(PATIENCE));
        let lines: Vec<u8> = writes.try_iter().flatten().collect();
        let lines = lines.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines, QUEUE_RECORDS);
        assert_eq!(log.queued_bytes(), 0);
    }

    #[test]
    fn the_queue_is_bounded_in_bytes_too() {
        let Gated {
            log, writes, leave, ..
        } = gated();
        log.record(numbered(0));
        writes.recv_timeout(PATIENCE).unwrap();
        let long = Text::from("x".repeat(FIELD_BYTES_MAX).as_str());
        let record = AccessRecord {
            target: long.clone(),
            referer: Some(long.clone()),
            user_agent: Some(long),
            ..example::record()
        };
        let fit = QUEUE_BYTES / record.weight_bytes();
        assert!(fit < QUEUE_RECORDS);
        (0..fit + 3).for_each(|_| log.record(record.clone()));
        assert_eq!(log.dropped_lines(), 3);
        assert!(log.queued_bytes() <= QUEUE_BYTES as u64);
        drop(leave);
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted() {
        let Gated {
            log,
            writer,
            writes,
            leave,
        } = gated();
        leave
            .send(Err(io::Error::from(io::ErrorKind::StorageFull)))
            .unwrap();
        log.record(numbered(0));
        writes.recv_timeout(PATIENCE).unwrap();
        leave.send(Ok(())).unwrap();
        log.record(numbered(1));
        writes.recv_timeout(PATIENCE).unwrap();
        assert!(writer.finish_within(PATIENCE));
        assert_eq!(log.dropped_lines(), 1);
        let dropped = Sample::new(&families::ACCESS_LOG_DROPPED_LINES, 1_u64);
        assert_eq!(log.samples(), [dropped]);
    }

    #[test]
    fn a_stuck_reader_does_not_keep_the_process() {
        let Gated {
            log,
            writer,
            writes,
            leave,
        } = gated();
        log.record(numbered(0));
        writes.recv_timeout(PATIENCE).unwrap();
        assert!(!writer.finish_within(Duration::from_millis(1)));
        drop(leave);
    }

    #[test]
    fn after_a_rotation_lines_go_to_the_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, old) = (folder.path().join("log"), folder.path().join("log.1"));
        let destination = Destination::File(path.clone());
        let (log, writer) = AccessLog::start(Format::Combined, destination.clone()).unwrap();
        log.record(numbered(1));
        fs::rename(&path, &old).unwrap();
        assert!(writer.finish_within(PATIENCE));
        let (log, writer) = AccessLog::start(Format::Combined, destination).unwrap();
        fs::rename(&path, folder.path().join("log.2")).unwrap();
        log.reopen();
        log.record(numbered(2));
        assert!(writer.finish_within(PATIENCE));
        assert!(fs::read_to_string(&old).unwrap().contains("GET /1 "));
        assert!(fs::read_to_string(&path).unwrap().contains("GET /2 "));
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_an_error_at_the_start() {
        let destination = Destination::File("/nonexistent/access.log".into());
        assert!(AccessLog::start(Format::Json, destination).is_err());
    }
}
