//! A disk that is full, foreign, taken, cut short or broken: either larder says so and does not start,
//! or every request is answered all the same.

#![allow(
    clippy::unwrap_used,
    reason = "what only tests call may say what it expects"
)]

mod support;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use larder::config::STORE_FILE;
use support::client::Client;
use support::larder::Larder;
use support::objects::Object;
use support::origin::Origin;
use support::process::{Ended, Process};

const MIB: u64 = 1 << 20;

fn arguments<'a>(dir: &'a Path, origin: &'a str, disk: &'a str) -> [&'a str; 8] {
    let dir = dir.to_str().unwrap();
    [
        "--data-dir",
        dir,
        "--disk",
        disk,
        "--ram",
        "64MiB",
        "--origin",
        origin,
    ]
}

/// Starts a larder that will not live.
fn refused(dir: &Path, disk: &str) -> Ended {
    let ports = ["serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
    let args = arguments(dir, "http://127.0.0.1:9", disk);
    Process::run(&[&ports[..], &args].concat())
}

/// A larder that has lived, and its data file.
fn formatted(dir: &Path) -> std::path::PathBuf {
    let larder = Larder::start(&arguments(dir, "http://127.0.0.1:9", "16MiB"));
    assert_eq!(larder.stop().code(), Some(0));
    dir.join(STORE_FILE)
}

/// Asserts that a start with this file fails as the configuration's fault and changes nothing.
fn assert_refused_untouched(file: &Path, why: &str) {
    let before = fs::read(file).unwrap();
    let ended = refused(file.parent().unwrap(), "16MiB");
    assert_eq!(ended.code, Some(78), "{}", ended.said);
    assert!(ended.said.contains(why), "{why:?} is not in {}", ended.said);
    assert!(ended.said.contains(STORE_FILE), "{}", ended.said);
    assert!(before == fs::read(file).unwrap(), "the file was changed");
}

#[test]
fn a_file_of_another_version_is_refused_and_kept() {
    let dir = support::disk_dir();
    let file = formatted(dir.path());
    // The version is at byte 16 of both superblocks (docs/on-disk-format.md).
    let store = File::options().write(true).open(&file).unwrap();
    for superblock in [0, MIB - 4096] {
        let version = 99_u32.to_le_bytes();
        store.write_all_at(&version, superblock + 16).unwrap();
    }
    assert_refused_untouched(&file, "99");
}

#[test]
fn a_file_of_somebody_else_is_refused_and_kept() {
    let dir = support::disk_dir();
    let file = dir.path().join(STORE_FILE);
    let mut letters = vec![b'x'; 16 << 20];
    letters[..20].copy_from_slice(b"somebody's letters, ");
    fs::write(&file, letters).unwrap();
    assert_refused_untouched(&file, "data that is not larder's");
}

#[test]
fn a_file_of_another_size_is_refused_and_kept() {
    let dir = support::disk_dir();
    let file = formatted(dir.path());
    let ended = refused(dir.path(), "32MiB");
    assert_eq!(ended.code, Some(78), "{}", ended.said);
    assert!(
        ended.said.contains("has 16MiB, not 32MiB"),
        "{}",
        ended.said
    );
    assert_eq!(fs::metadata(file).unwrap().len(), 16 * MIB);
}

#[test]
fn two_processes_never_share_a_data_directory() {
    let dir = support::disk_dir();
    let first = Larder::start(&arguments(dir.path(), "demo", "16MiB"));
    let second = refused(dir.path(), "16MiB");
    assert_eq!(second.code, Some(75), "{}", second.said);
    assert!(second.said.contains("in use"), "{}", second.said);
    assert_eq!(first.get("/").status, 200);
}

/// Asks for all, twice, and every answer has to be right.
fn assert_all_answered(larder: &Larder, objects: &[Object]) {
    let mut client = Client::connect(larder.address);
    for object in objects.iter().chain(objects) {
        object.assert_whole(&client.ask("GET", &object.path, &[]));
    }
}

#[test]
fn a_file_cut_short_under_the_process_costs_no_answer() {
    let (dir, origin) = (support::disk_dir(), Origin::start());
    let url = origin.url();
    let larder = Larder::start(&arguments(dir.path(), &url, "128MiB"));
    let objects = Object::many(&mut fastrand::Rng::with_seed(5), 600, MIB);
    let (old, new) = objects.split_at(400);
    assert_all_answered(&larder, old);
    assert!(larder.metric("larder_ssd_written_bytes_total", "") > 8 * MIB);
    let file = dir.path().join(STORE_FILE);
    let store = File::options().write(true).open(file).unwrap();
    store.set_len(2 * MIB).unwrap();
    // What was read from memory alone before the cut may be asked for on flash now.
    assert_all_answered(&larder, &objects);
    assert_all_answered(&larder, new);
    assert_eq!(larder.stop().code(), Some(0));
}

/// A small file system in memory, unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None`, and said so, where this user may not mount.
    fn mount(size: &str) -> Option<Self> {
        let dir = support::disk_dir();
        let options = format!("size={size}");
        let arguments = ["-t", "tmpfs", "-o", &options, "larder-e2e"];
        if run("mount", &arguments, Some(dir.path())).is_some() {
            return Some(Self(dir));
        }
        eprintln!("skipped: mounting a small file system takes root and a kernel that lets it");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run("umount", &["-l"], Some(self.path()));
    }
}

/// A block device over a sparse file, given back when dropped.
struct Loop(String);

impl Loop {
    fn over(file: &Path) -> Option<Self> {
        let found = run("losetup", &["-f", "--show"], Some(file));
        if found.is_none() {
            eprintln!("skipped: a loop device takes root and a kernel that has one");
        }
        found.map(|name| Self(name.trim().to_owned()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        run("losetup", &["-d", &self.0], None);
    }
}

/// What a command printed, if it went well.
fn run(command: &str, arguments: &[&str], path: Option<&Path>) -> Option<String> {
    let output = Command::new(command).args(arguments).args(path).output();
    let output = output.ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

#[test]
fn a_disk_without_room_is_the_configurations_fault() {
    let Some(disk) = SmallDisk::mount("32m") else {
        return;
    };
    let ended = refused(disk.path(), "64MiB");
    assert_eq!(ended.code, Some(78), "{}", ended.said);
    let sizes = ["64MiB", "32MiB are free", "--disk"];
    assert!(
        sizes.iter().all(|size| ended.said.contains(size)),
        "{}",
        ended.said
    );
    assert!(!disk.path().join(STORE_FILE).exists());
}

/// The data file is a device of 64 MiB, whose backing has room for the first 24 MiB: all writes beyond
/// fail with EIO, as those of a dying drive do.
#[test]
fn a_disk_that_dies_midway_costs_no_answer() {
    let Some(disk) = SmallDisk::mount("24m") else {
        return;
    };
    let backing = disk.path().join("backing");
    File::create(&backing).unwrap().set_len(64 * MIB).unwrap();
    let Some(device) = Loop::over(&backing) else {
        return;
    };
    let (dir, origin) = (support::disk_dir(), Origin::start());
    std::os::unix::fs::symlink(&device.0, dir.path().join(STORE_FILE)).unwrap();
    let url = origin.url();
    let larder = Larder::start(&arguments(dir.path(), &url, "64MiB"));
    assert_eq!(larder.metric("larder_ssd_healthy", ""), 1);
    let objects = Object::many(&mut fastrand::Rng::with_seed(6), 800, MIB);
    assert_all_answered(&larder, &objects);
    support::until("the disk out of service", || {
        larder.metric("larder_ssd_healthy", "") == 0
    });
    assert_all_answered(&larder, &objects);
    assert_eq!(larder.stop().code(), Some(0));
}
