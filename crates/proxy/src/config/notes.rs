//! What is no mistake, but would surprise somebody who did not mean it.

use super::{Config, Size, Upstream};

impl Config {
    /// Sentences for the operator, printed by `larder check` and logged at the start.
    pub fn notes(&self) -> Vec<String> {
        [
            self.demo_origin(),
            self.open_admin(),
            self.unused_store(),
            self.mean_object(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn demo_origin(&self) -> Option<String> {
        let note = "the origin is the built-in demo: name yours by --origin or origin.url";
        (self.origin.url == Upstream::Demo).then(|| note.to_owned())
    }

    fn open_admin(&self) -> Option<String> {
        let open = self
            .server
            .admin
            .filter(|admin| !admin.ip().is_loopback())?;
        Some(format!(
            "server.admin = {open} is not on loopback: whoever reaches it may purge everything"
        ))
    }

    fn unused_store(&self) -> Option<String> {
        let note = "there is no tier on flash: name its directory by --data-dir or store.data_dir";
        self.store.data_dir.is_none().then(|| note.to_owned())
    }

    /// An index for objects larger than are kept would never fill, nor would the flash.
    fn mean_object(&self) -> Option<String> {
        let (mean, max) = (self.store.mean_object_bytes, self.cache.object_bytes_max);
        let (mean_size, max_size) = (Size(mean), Size(max));
        (self.store.data_dir.is_some() && mean > max).then(|| {
            format!(
                "store.mean_object_size = {mean_size} is above cache.object_size_max = {max_size}: \
                 the index is full before the store is"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::config::machine::MemorySource;
    use crate::config::{Config, Machine, Overrides};

    #[test]
    fn notes() {
        let memory_source = MemorySource::MemTotal;
        let machine = Machine {
            memory_bytes: 8 << 30,
            memory_source,
            cores: 4,
        };
        let quiet = "origin.url = 'http://a'\nstore.data_dir = '/tmp'\n";
        for (text, count) in [
            (String::new(), 2),
            (quiet.to_owned(), 0),
            (format!("{quiet}server.admin = ':9000'"), 1),
            (format!("{quiet}cache.object_size_max = '1KiB'"), 1),
        ] {
            let config = Config::parse(&text, &Overrides::default(), &machine).unwrap();
            assert_eq!(config.notes().len(), count, "{text}: {:?}", config.notes());
        }
    }
}
