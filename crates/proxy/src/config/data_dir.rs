//! Whether the data directory can hold the store: looked at before anything is created.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use rustix::fs::{Access, access, statvfs};

use super::load::Draft;
use super::quantity::Size;

const KEY: &str = "store.data_dir";

pub(super) fn check(draft: &mut Draft<'_>) {
    let Some(dir) = draft.config.store.data_dir.clone() else {
        return;
    };
    let found = match fs::metadata(&dir) {
        Ok(metadata) if metadata.is_dir() => usable(&dir).map(|()| dir.clone()),
        Ok(_) => Err((
            format!("{} is not a directory", dir.display()),
            "a directory",
        )),
        Err(error) if error.kind() == ErrorKind::NotFound => creatable(&dir),
        Err(error) => Err((format!("{}: {error}", dir.display()), "a directory")),
    };
    match found {
        Ok(existing) => check_file(draft, &existing),
        Err((what, expected)) => draft.refuse(KEY, what, expected),
    }
}

/// What is wrong, and what would be right.
type Wrong = (String, &'static str);

/// A directory that is not there yet: its parent has to be.
fn creatable(dir: &Path) -> Result<std::path::PathBuf, Wrong> {
    // The parent of `data` is the empty path, which means the working directory.
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or_else(|| Path::new("."));
    match fs::metadata(parent) {
        Ok(metadata) if metadata.is_dir() => usable(parent).map(|()| parent.to_owned()),
        Ok(_) => Err((
            format!("{} is not a directory", parent.display()),
            "a directory",
        )),
        Err(error) => {
            let what = format!(
                "neither it nor its parent is there: {}: {error}",
                parent.display()
            );
            Err((what, "a directory, or a new one inside of a directory"))
        }
    }
}

fn usable(dir: &Path) -> Result<(), Wrong> {
    access(dir, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).map_err(|error| {
        let what = format!(
            "{} cannot be used: {}",
            dir.display(),
            std::io::Error::from(error)
        );
        (what, "a directory that this user may read and write")
    })
}

/// The store's file: of the configured size if it is there, and else with room for it.
fn check_file(draft: &mut Draft<'_>, existing: &Path) {
    let size_bytes = draft.config.store.size_bytes;
    let Some(file) = draft.config.store.file() else {
        return;
    };
    match fs::metadata(&file) {
        Ok(metadata) if metadata.is_file() && metadata.len() != size_bytes => {
            let has = Size(metadata.len());
            let what = format!("{} has {has}, not {}", file.display(), Size(size_bytes));
            draft.refuse(
                "store.size",
                what,
                "the file's size; remove the file to start afresh",
            );
        }
        Ok(_) => {}
        Err(_) => check_room(draft, existing, size_bytes),
    }
}

fn check_room(draft: &mut Draft<'_>, existing: &Path, size_bytes: u64) {
    // A file system that does not say is tried at the start.
    let Ok(stat) = statvfs(existing) else { return };
    let free_bytes = stat.f_bavail.saturating_mul(stat.f_frsize);
    if free_bytes < size_bytes {
        let (size, free) = (Size(size_bytes), Size(free_bytes));
        let what = format!(
            "{size} do not fit into {}, where {free} are free",
            existing.display()
        );
        draft.refuse(
            "store.size",
            what,
            "a size that fits: the file is allocated in full",
        );
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use crate::config::machine::MemorySource;
    use crate::config::{Config, Machine, Overrides, STORE_FILE};

    fn load(dir: &Path, disk: u64) -> Result<(), String> {
        let memory_source = MemorySource::Cgroup;
        let machine = Machine {
            memory_bytes: 1 << 50,
            memory_source,
            cores: 1,
        };
        let overrides = Overrides {
            data_dir: Some(dir.to_owned()),
            disk: Some(disk),
            ..Overrides::default()
        };
        let result = Config::load(None, &overrides, &machine);
        result.map(drop).map_err(|problems| problems.to_string())
    }

    #[test]
    fn directories() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        for (dir, message) in [
            ("", None),
            ("new", None),
            ("new/newer", Some("neither it nor its parent is there")),
            ("file", Some("file is not a directory")),
            ("file/new", Some("Not a directory")),
        ] {
            let result = load(&root.path().join(dir), 16 << 20);
            match message {
                None => assert_eq!(result, Ok(()), "{dir}"),
                Some(message) => {
                    let text = result.unwrap_err();
                    assert!(text.contains(message), "{dir}: {text}");
                }
            }
        }
        assert!(!root.path().join("new").exists(), "a check creates nothing");
    }

    #[test]
    fn room_and_the_file_that_is_there() {
        let root = tempfile::tempdir().unwrap();
        let text = load(root.path(), 8 << 40).unwrap_err();
        assert!(text.contains("8TiB do not fit into"), "{text}");
        assert!(text.contains("--disk"), "{text}");

        let file = fs::File::create(root.path().join(STORE_FILE)).unwrap();
        file.set_len(32 << 20).unwrap();
        assert_eq!(load(root.path(), 32 << 20), Ok(()));
        let text = load(root.path(), 64 << 20).unwrap_err();
        assert!(text.contains("has 32MiB, not 64MiB"), "{text}");
    }
}
