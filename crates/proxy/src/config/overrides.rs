//! Flags of the command line, which win over the file.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::memory::MemoryLimit;
use super::origin::Upstream;
use super::{Config, Machine};

/// Flags of the command line, which win over the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--listen`: replaces every address of `server.listen`.
    pub listen: Option<SocketAddr>,
    /// `--admin`: replaces `server.admin`.
    pub admin: Option<SocketAddr>,
    /// `--origin`: replaces `origin.url`.
    pub origin: Option<Upstream>,
    /// `--ram`: replaces `memory.limit`.
    pub ram: Option<MemoryLimit>,
    /// `--data-dir`: replaces `store.data_dir`.
    pub data_dir: Option<PathBuf>,
    /// `--disk`, bytes: replaces `store.size`.
    pub disk: Option<u64>,
}

impl Overrides {
    pub(super) fn apply(&self, config: &mut Config, machine: &Machine) {
        if let Some(listen) = self.listen {
            config.server.listen = vec![listen];
        }
        if let Some(admin) = self.admin {
            config.server.admin = Some(admin);
        }
        if let Some(origin) = &self.origin {
            config.origin.url = origin.clone();
        }
        if let Some(ram) = self.ram {
            config.memory.limit_bytes = ram.resolve(machine);
        }
        if let Some(data_dir) = &self.data_dir {
            config.store.data_dir = Some(data_dir.clone());
        }
        if let Some(disk) = self.disk {
            config.store.size_bytes = disk;
        }
    }

    /// The flag that decided about `key`, if one did.
    pub(super) fn flag(&self, key: &str) -> Option<&'static str> {
        let (flag, given) = match key {
            "server.listen" => ("--listen", self.listen.is_some()),
            "server.admin" => ("--admin", self.admin.is_some()),
            "origin.url" => ("--origin", self.origin.is_some()),
            "memory.limit" => ("--ram", self.ram.is_some()),
            "store.data_dir" => ("--data-dir", self.data_dir.is_some()),
            "store.size" => ("--disk", self.disk.is_some()),
            _ => return None,
        };
        given.then_some(flag)
    }
}
