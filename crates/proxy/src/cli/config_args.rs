//! The flags that say which configuration is meant: a file, and what wins over it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::config::{
    Config, Machine, MemoryLimit, Overrides, Problems, SIZE_BYTES_MAX, SIZE_BYTES_MIN, Size,
    Upstream, parse_address, parse_size,
};

/// A file, and what wins over it.
#[derive(Debug, Clone, Default, Args)]
pub struct ConfigArgs {
    /// The configuration; without one, everything has its default
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Where clients connect [server.listen]
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    pub listen: Option<SocketAddr>,

    /// The server that has the content, http://host:port [origin.url]
    #[arg(long, value_name = "URL")]
    pub origin: Option<Upstream>,

    /// The directory of the tier on flash [store.data_dir]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,

    /// Memory of the whole process, such as 2GiB or 80% [memory.limit]
    #[arg(long, value_name = "SIZE", value_parser = MemoryLimit::parse)]
    pub ram: Option<MemoryLimit>,

    /// Bytes of the tier on flash, such as 100GiB [store.size]
    #[arg(long, value_name = "SIZE", value_parser = parse_disk)]
    pub disk: Option<u64>,

    /// Address for metrics, health and purges [server.admin]
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    pub admin: Option<SocketAddr>,
}

impl ConfigArgs {
    /// The checked configuration of this command line on this machine, as [`Config::load`] gives it.
    ///
    /// # Errors
    /// Every mistake at once.
    pub fn load(&self, machine: &Machine) -> Result<Config, Problems> {
        Config::load(self.config.as_deref(), &self.overrides(), machine)
    }

    fn overrides(&self) -> Overrides {
        Overrides {
            listen: self.listen,
            admin: self.admin,
            origin: self.origin.clone(),
            ram: self.ram,
            data_dir: self.data_dir.clone(),
            disk: self.disk,
        }
    }
}

fn parse_disk(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text).map_err(|error| error.to_string())?;
    if (SIZE_BYTES_MIN..=SIZE_BYTES_MAX).contains(&bytes) {
        return Ok(bytes);
    }
    let (low, high) = (Size(SIZE_BYTES_MIN), Size(SIZE_BYTES_MAX));
    Err(format!("{} is not between {low} and {high}", Size(bytes)))
}
