//! Opening the data file: what is created, what is refused, and with which words.

mod device_common;

use std::fs::{self, File};
use std::path::Path;

use device_common::{BLOCK, dirs, filled, options, run};
use larder_store::device::{DeviceOpenError, Engine, FileOptions, open_data_file, open_device};

#[test]
fn a_new_file_has_its_length_and_its_blocks() {
    for dir in dirs() {
        let options = options(dir.path(), 16, true);
        let file = open_data_file(&options).expect("open");
        assert_eq!(file.len_bytes(), 16 * BLOCK);
        assert_eq!(file.path(), options.path);
        let meta = fs::metadata(&options.path).expect("stat");
        assert_eq!(meta.len(), 16 * BLOCK);
        if file.is_preallocated() {
            let allocated = std::os::unix::fs::MetadataExt::blocks(&meta) * 512;
            assert!(allocated >= 16 * BLOCK, "{allocated} bytes allocated");
        }
    }
}

#[test]
fn without_direct_the_page_cache_is_used() {
    for dir in dirs() {
        let file = open_data_file(&options(dir.path(), 1, false)).expect("open");
        assert!(!file.is_direct());
    }
}

#[test]
fn contents_survive_a_reopening() {
    for dir in dirs() {
        let options = options(dir.path(), 4, true);
        let device = open_device(&options, Engine::File).expect("open");
        run(device.write(BLOCK, filled(2, 9))).1.expect("write");
        drop(device);
        let device = open_device(&options, Engine::Auto).expect("reopen");
        let (buf, result) = run(device.read(BLOCK, filled(2, 0)));
        result.expect("read");
        assert!(buf.iter().all(|&b| b == 9));
    }
}

#[test]
fn a_second_user_is_refused() {
    let dir = &dirs()[0];
    let options = options(dir.path(), 4, true);
    let first = open_data_file(&options).expect("open");
    let error = open_data_file(&options).expect_err("locked");
    assert!(matches!(error, DeviceOpenError::Locked { .. }), "{error}");
    drop(first);
    open_data_file(&options).expect("free again");
}

#[test]
fn a_file_of_another_length_is_never_touched() {
    let dir = &dirs()[0];
    let path = dir.path().join("data");
    fs::write(&path, b"somebody's letters").expect("write");
    let error = open_data_file(&options(dir.path(), 4, true)).expect_err("differs");
    assert!(
        matches!(
            error,
            DeviceOpenError::LengthDiffers {
                found_bytes: 18,
                expected_bytes: 16384,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(fs::read(&path).expect("read"), b"somebody's letters");
}

#[test]
fn an_empty_file_counts_as_new() {
    let dir = &dirs()[0];
    File::create(dir.path().join("data")).expect("create");
    open_data_file(&options(dir.path(), 4, true)).expect("open");
}

#[test]
fn more_than_the_filesystem_has_is_refused_and_given_back() {
    let dir = &dirs()[0];
    let blocks = 1 << 28; // 1 TiB
    let free = free_bytes(dir.path());
    // 0: a filesystem without a size takes anything.
    if free == 0 || free >= blocks * BLOCK {
        return println!("skipped: {free} bytes free");
    }
    let error = open_data_file(&options(dir.path(), blocks, true)).expect_err("too large");
    let DeviceOpenError::NoSpace {
        len_bytes,
        available_bytes,
        ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(*len_bytes, blocks * BLOCK);
    assert!(*available_bytes < blocks * BLOCK);
    // The failure left nothing behind that would refuse a smaller length.
    open_data_file(&options(dir.path(), 4, true)).expect("a smaller one");
}

fn free_bytes(dir: &Path) -> u64 {
    let stat = rustix::fs::statvfs(dir).expect("statvfs");
    stat.f_bavail * stat.f_frsize
}

#[test]
fn what_is_no_storage_is_refused() {
    let dir = &dirs()[0];
    let at = |path: &Path, len_bytes| {
        let path = path.to_path_buf();
        open_data_file(&FileOptions {
            path,
            len_bytes,
            direct: true,
        })
        .expect_err("refused")
    };
    let error = at(dir.path(), BLOCK);
    assert!(
        matches!(error, DeviceOpenError::NotStorage { .. }),
        "{error}"
    );
    let error = at(Path::new("/dev/null"), BLOCK);
    assert!(
        matches!(error, DeviceOpenError::NotStorage { .. }),
        "{error}"
    );
    let error = at(&dir.path().join("absent/data"), BLOCK);
    assert!(
        matches!(error, DeviceOpenError::Io { step: "open", .. }),
        "{error}"
    );
    for len_bytes in [0, 1, BLOCK - 1, BLOCK + 512] {
        let error = at(&dir.path().join("data"), len_bytes);
        assert!(
            matches!(error, DeviceOpenError::BadLength { .. }),
            "{error}"
        );
    }
    assert!(
        !dir.path().join("data").exists(),
        "a refused length creates nothing"
    );
}
