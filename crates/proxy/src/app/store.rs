//! The store, opened as the configuration says.

use anyhow::{Context as _, Result};
use larder_store::device::{DeviceOpenError, Engine, FileOptions, open_device};
use larder_store::{OpenError, SsdOptions, Store, StoreOptions};

use crate::cli::exit::{Misconfigured, TryAgain};
use crate::config::{self, Config};
use crate::meta::StoredMeta;
use crate::plan::{MemoryPlan, disk_options};

/// Opens memory, and flash if there is any.
pub(super) async fn open(config: &Config, plan: &MemoryPlan) -> Result<Store<StoredMeta>> {
    let mut options = StoreOptions::new(plan.ram_tier_bytes);
    options.seed = fastrand::u64(..);
    options.ssd = ssd(config)?;
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

fn ssd(config: &Config) -> Result<Option<SsdOptions>> {
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
    let device = open_device(&file, engine).map_err(|error| {
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

/// A data file of another make is the operator's to sort out: larder wipes nothing.
fn refused(error: &OpenError) -> anyhow::Error {
    anyhow::Error::new(Misconfigured {
        what: format!("the data file cannot be used: {error}"),
    })
}
