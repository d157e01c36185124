//! The store, opened as the configuration says.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use larder_store::device::{Device, DeviceOpenError, Engine, FileOptions, open_device};
use larder_store::{OpenError, SsdOptions, Store, StoreOptions};

use crate::cli::exit::{Misconfigured, TryAgain};
use crate::config::{self, Config};
use crate::meta::StoredMeta;
use crate::plan::{MemoryPlan, disk_options};

/// How long a data file may be in use before another larder is believed to run. A killed one keeps
/// its lock until the kernel has given back the I/O that was under way, some 40 ms on an idle
/// machine: who starts larder again at once must not be sent away.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// Between two tries to lock the data file.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Opens memory, and flash if there is any.
pub(super) async fn open(config: &Config, plan: &MemoryPlan) -> Result<Store<StoredMeta>> {
    let mut options = StoreOptions::new(plan.ram_tier_bytes);
    options.seed = fastrand::u64(..);
    options.ssd = ssd(config).await?;
    let store = Store::open(options)
        .await
        .map_err(|error| refused(&error))?;
    if let Some(ssd) = store.stats().ssd {
        tracing::info!(
            bytes = ssd.capacity_bytes,
            slots = ssd.index_slots,
            "flash is in service"
        );
    }
    Ok(store)
}

async fn ssd(config: &Config) -> Result<Option<SsdOptions>> {
    let Some(path) = config.store.file() else {
        return Ok(None);
    };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)
            .with_context(|| format!("creating the data directory {}", parent.display()))?;
    }
    let file = FileOptions {
        path,
        len_bytes: config.store.size_bytes,
        direct: config.store.direct,
    };
    let engine = match config.store.engine {
        config::Engine::Auto => Engine::Auto,
        config::Engine::Uring => Engine::Uring,
        config::Engine::File => Engine::File,
    };
    let device = open_patiently(&file, engine).await.map_err(|error| {
        let what = error.to_string();
        match error {
            DeviceOpenError::Locked { .. } => anyhow::Error::new(TryAgain { what }),
            _ => anyhow::Error::new(Misconfigured { what }),
        }
    })?;
    tracing::info!(engine = device.name(), path = %file.path.display(), "opened the data file");
    let disk = disk_options(&config.store, fastrand::u64(..));
    Ok(Some(SsdOptions { device, disk }))
}

/// Opens the device, and gives the kernel [`LOCK_PATIENCE`] to unlock what a killed process left.
async fn open_patiently(
    file: &FileOptions,
    engine: Engine,
) -> Result<Arc<dyn Device>, DeviceOpenError> {
    let deadline = tokio::time::Instant::now() + LOCK_PATIENCE;
    loop {
        match open_device(file, engine) {
            Err(DeviceOpenError::Locked { .. }) if tokio::time::Instant::now() < deadline => {
                tokio::time::sleep(LOCK_PAUSE).await;
            }
            opened => return opened,
        }
    }
}

/// A data file of another make is the operator's to sort out: larder wipes nothing.
fn refused(error: &OpenError) -> anyhow::Error {
    anyhow::Error::new(Misconfigured {
        what: format!("the data file cannot be used: {error}"),
    })
}
