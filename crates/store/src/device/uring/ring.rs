//! The ring's thread: submit what came in, wait, hand out what is done.
#![allow(
    unsafe_code,
    reason = "the kernel reads submitted buffers behind the borrow checker's back; one use, proved"
)]

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

use io_uring::types::{Fd, Fixed, FsyncFlags};
use io_uring::{IoUring, Probe, cqueue, opcode, squeue};
use rustix::event::PollFlags;
use rustix::io::Errno;
use slab::Slab;

use super::at;
use super::inbox::{Inbox, Taken};
use crate::device::front::IN_DEVICE_MAX;
use crate::device::op::{Direction, Op, Step};
use crate::device::{DataFile, DeviceOpenError};

/// Room for one entry of every I/O in the device and for the poll on the eventfd: the submission
/// queue is never full. The kernel makes the completion queue twice as long.
const RING_ENTRIES: u32 = (IN_DEVICE_MAX as u32 + 1).next_power_of_two();

/// Failed system calls in a row after which the ring counts as broken. EAGAIN means that the
/// kernel is short of memory for the moment, EBUSY that completions must be taken first: with
/// [`SUBMIT_PAUSE`] between them, a second of either is survived.
const SUBMIT_RETRIES_MAX: u32 = 1000;
const SUBMIT_PAUSE: Duration = Duration::from_millis(1);

/// The data file in the ring's table of files.
const FILE: Fixed = Fixed(0);

/// The `user_data` of the poll on the eventfd; all others are slots of [`InFlight`].
const WAKE: u64 = u64::MAX;

/// A ring and everything that the kernel may touch through it.
pub(super) struct Ring {
    // Before `in_flight`: fields are dropped in this order, and the ring is the kernel's way in.
    ring: IoUring,
    in_flight: InFlight,
    inbox: Arc<Inbox>,
    fresh: Vec<Op>,
    _file: Arc<DataFile>,
}

impl Ring {
    /// Sets the ring up on the calling thread, which must be the one to run it.
    pub(super) fn start(file: Arc<DataFile>, inbox: Arc<Inbox>) -> Result<Self, DeviceOpenError> {
        let ring = build().map_err(at("io_uring_setup"))?;
        check_opcodes(&ring)?;
        let registered = ring.submitter().register_files(&[file.file.as_raw_fd()]);
        registered.map_err(at("register the data file"))?;
        let mut ring = Self {
            ring,
            in_flight: InFlight(Slab::with_capacity(IN_DEVICE_MAX)),
            inbox,
            fresh: Vec::with_capacity(IN_DEVICE_MAX),
            _file: file,
        };
        ring.try_wake().map_err(at("poll an eventfd"))?;
        Ok(ring)
    }

    /// Arms the poll on the eventfd and sees one wake-up come through.
    fn try_wake(&mut self) -> io::Result<()> {
        push(&mut self.ring.submission(), &wake_entry(&self.inbox))?;
        self.inbox.wake();
        self.ring.submit_and_wait(1)?;
        let Some(entry) = self.ring.completion().next() else {
            return Err(io::ErrorKind::TimedOut.into());
        };
        answer_of(&entry)?;
        match cqueue::more(entry.flags()) {
            true => Ok(()),
            false => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Serves until the inbox is closed and the last I/O has ended.
    ///
    /// # Errors
    /// When the ring is broken. Buffers still in flight are then leaked: the kernel may write to
    /// them at any time.
    pub(super) fn run(&mut self) -> io::Result<()> {
        let mut failures = 0;
        loop {
            let taken = self.inbox.take(&mut self.fresh);
            self.submit_fresh()?;
            if taken == Taken::Last && self.in_flight.0.is_empty() {
                // Otherwise the kernel gives the file, and its lock, back some time after the ring.
                return self.ring.submitter().unregister_files();
            }
            // One system call submits what was taken and waits for whatever ends first.
            let entered = self.ring.submit_and_wait(1);
            self.inbox.awake();
            match entered {
                Ok(_) => failures = 0,
                Err(e) if failures < SUBMIT_RETRIES_MAX && is_passing(&e) => {
                    failures += 1;
                    std::thread::park_timeout(SUBMIT_PAUSE);
                }
                Err(e) => return Err(e),
            }
            self.reap()?;
        }
    }

    fn submit_fresh(&mut self) -> io::Result<()> {
        let mut queue = self.ring.submission();
        for op in self.fresh.drain(..) {
            let slot = self.in_flight.0.vacant_entry();
            let user_data = slot.key() as u64;
            let entry = entry_of(slot.insert(op));
            push(&mut queue, &entry.user_data(user_data))?;
        }
        Ok(())
    }

    /// Hands out every completion that is there.
    fn reap(&mut self) -> io::Result<()> {
        let (_, mut submissions, completions) = self.ring.split();
        for entry in completions {
            if entry.user_data() == WAKE {
                if !cqueue::more(entry.flags()) {
                    push(&mut submissions, &wake_entry(&self.inbox))?;
                }
                continue;
            }
            let slot = entry.user_data() as usize;
            let Some(op) = self.in_flight.0.get_mut(slot) else {
                return Err(io::Error::other(format!("completion of empty slot {slot}")));
            };
            match step(op, answer_of(&entry)) {
                Step::Again => push(&mut submissions, &entry_of(op).user_data(slot as u64))?,
                Step::Done(result) => self.in_flight.0.remove(slot).finish(result),
            }
        }
        Ok(())
    }
}

/// The I/Os whose buffers the kernel may be reading or writing.
struct InFlight(Slab<Op>);

impl Drop for InFlight {
    /// Empty when the ring has ended in order. Otherwise the memory is given up, not freed.
    fn drop(&mut self) {
        for op in self.0.drain() {
            op.abandon();
        }
    }
}

/// The cheapest kind of ring that this kernel has: Linux 6.1, 5.19, any.
fn build() -> io::Result<IoUring> {
    let invalid = Some(Errno::INVAL.raw_os_error());
    let mut builder = IoUring::builder();
    builder.setup_single_issuer().setup_defer_taskrun();
    match builder.build(RING_ENTRIES) {
        Err(e) if e.raw_os_error() == invalid => {}
        built => return built,
    }
    match IoUring::builder().setup_coop_taskrun().build(RING_ENTRIES) {
        Err(e) if e.raw_os_error() == invalid => IoUring::new(RING_ENTRIES),
        built => built,
    }
}

fn check_opcodes(ring: &IoUring) -> Result<(), DeviceOpenError> {
    let mut probe = Probe::new();
    let probed = ring.submitter().register_probe(&mut probe);
    probed.map_err(at("ask for the operations"))?;
    let needed = [
        opcode::Read::CODE,
        opcode::Write::CODE,
        opcode::Fsync::CODE,
        opcode::PollAdd::CODE,
    ];
    match needed.iter().all(|&code| probe.is_supported(code)) {
        true => Ok(()),
        false => Err(at("find the operations")(io::ErrorKind::Unsupported.into())),
    }
}

fn wake_entry(inbox: &Inbox) -> squeue::Entry {
    opcode::PollAdd::new(Fd(inbox.wake_fd()), u32::from(PollFlags::IN.bits()))
        .multi(true)
        .build()
        .user_data(WAKE)
}

fn entry_of(op: &mut Op) -> squeue::Entry {
    let Op::Transfer(transfer, ..) = op else {
        let sync = opcode::Fsync::new(FILE);
        return sync.flags(FsyncFlags::DATASYNC).build();
    };
    let (direction, offset) = (transfer.direction, transfer.rest_offset());
    let rest = transfer.rest();
    // `rest` is at most 1 GiB.
    let (ptr, len) = (rest.as_mut_ptr(), rest.len() as u32);
    match direction {
        Direction::Read => opcode::Read::new(FILE, ptr, len).offset(offset).build(),
        Direction::Write => opcode::Write::new(FILE, ptr, len).offset(offset).build(),
    }
}

fn step(op: &mut Op, answer: Result<usize, Errno>) -> Step {
    match op {
        Op::Transfer(transfer, ..) => transfer.advance(answer),
        Op::Sync(..) => Step::Done(answer.map(drop).map_err(io::Error::from)),
    }
}

fn answer_of(entry: &cqueue::Entry) -> Result<usize, Errno> {
    let result = entry.result();
    usize::try_from(result).map_err(|_| Errno::from_raw_os_error(-result))
}

fn push(queue: &mut squeue::SubmissionQueue<'_>, entry: &squeue::Entry) -> io::Result<()> {
    // SAFETY: what an entry points to outlives its completion. The entries are those of
    // - `wake_entry`, which points to nothing (its descriptor lives as long as `Ring::inbox`);
    // - `entry_of` with an operation in `Ring::in_flight`, whose heap buffer neither moves nor is
    //   touched from here until `reap` has seen the completion: `Op` has no way out of the slab
    //   but `reap`, and `InFlight::drop`, which leaks the buffer instead of freeing it.
    let pushed = unsafe { queue.push(entry) };
    pushed.map_err(|_| io::Error::other("the submission queue is full"))
}

/// Whether the same call may succeed a moment later.
fn is_passing(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::INTR | Errno::AGAIN | Errno::BUSY))
}
