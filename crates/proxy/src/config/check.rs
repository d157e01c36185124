//! Mistakes that only show between keys.

use std::net::{IpAddr, SocketAddr};

use url::Host;

use super::load::Draft;
use super::quantity::Size;
use super::{Machine, Upstream};
use crate::plan::{Demand, plan};

/// A store for fewer objects is a mistake in one of the two sizes.
const OBJECTS_MIN: u64 = 64;

pub(super) fn check(draft: &mut Draft<'_>, machine: &Machine) {
    addresses(draft);
    origin(draft);
    store(draft);
    memory(draft, machine);
}

fn addresses(draft: &mut Draft<'_>) {
    let listen = draft.config.server.listen.clone();
    for (index, address) in listen.iter().enumerate() {
        if listen[..index].contains(address) && address.port() != 0 {
            draft.refuse(
                "server.listen",
                format!("{address} is there twice"),
                "each address once",
            );
        }
    }
    let Some(admin) = draft.config.server.admin else {
        return;
    };
    if let Some(client) = listen.iter().find(|client| overlap(client, &admin)) {
        let what = format!("{admin} is taken by server.listen = {client}");
        draft.refuse("server.admin", what, "an address of its own, or \"off\"");
    }
}

/// Whether two sockets cannot be bound both. Port 0 is a new port each time.
fn overlap(a: &SocketAddr, b: &SocketAddr) -> bool {
    let any = |ip: IpAddr| ip.is_unspecified();
    a.port() != 0 && a.port() == b.port() && (a.ip() == b.ip() || any(a.ip()) || any(b.ip()))
}

fn origin(draft: &mut Draft<'_>) {
    if let Some(listen) = own_address(draft) {
        let what = format!("the origin is larder itself, which listens at {listen}");
        draft.refuse("origin.url", what, "the server that has the content");
    }
}

/// The address of ours that the origin's URL names. A name that resolves to one is found at run
/// time, by `Via`.
fn own_address(draft: &Draft<'_>) -> Option<SocketAddr> {
    let Upstream::Url(url) = &draft.config.origin.url else {
        return None;
    };
    let names = |own: IpAddr| match url.host() {
        Some(Host::Ipv4(ip)) => IpAddr::V4(ip) == own || own.is_unspecified() && ip.is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::V6(ip) == own || own.is_unspecified() && ip.is_loopback(),
        Some(Host::Domain(name)) => {
            name == "localhost" && (own.is_loopback() || own.is_unspecified())
        }
        None => false,
    };
    let port = url.port_or_known_default();
    let listen = &draft.config.server.listen;
    listen
        .iter()
        .find(|own| port == Some(own.port()) && names(own.ip()))
        .copied()
}

fn store(draft: &mut Draft<'_>) {
    let store = &draft.config.store;
    // In the file, a size without a directory is a tier that is switched off for now.
    if store.data_dir.is_none() && draft.overrides.disk.is_some() {
        let what = "a size without a directory: there is no tier on flash".to_owned();
        draft.refuse(
            "store.size",
            what,
            "--data-dir DIR beside it, or store.data_dir in the file",
        );
    }
    let store = &draft.config.store;
    if store.mean_object_bytes > store.size_bytes / OBJECTS_MIN {
        let mean = Size(store.mean_object_bytes);
        let what = format!(
            "a store of {} has room for less than {OBJECTS_MIN} objects of {mean}",
            Size(store.size_bytes)
        );
        draft.refuse(
            "store.mean_object_size",
            what,
            "the mean size of what is cached",
        );
    }
}

fn memory(draft: &mut Draft<'_>, machine: &Machine) {
    let limit_bytes = draft.config.memory.limit_bytes;
    if limit_bytes > machine.memory_bytes {
        let (limit, has) = (Size(limit_bytes), Size(machine.memory_bytes));
        let what = format!(
            "{limit} is more than there is: {has} ({})",
            machine.memory_source.as_str()
        );
        draft.refuse(
            "memory.limit",
            what,
            "a size below that, or a share such as \"80%\"",
        );
        return;
    }
    if let Err(error) = plan(&Demand::of(&draft.config)) {
        let expected = error.remedy();
        draft.refuse("memory.limit", error.to_string(), expected);
    }
}

#[cfg(test)]
mod tests {
    use crate::config::machine::MemorySource;
    use crate::config::{Config, Machine, Overrides};

    const MACHINE: Machine = Machine {
        memory_bytes: 8 << 30,
        memory_source: MemorySource::Cgroup,
        cores: 4,
    };

    #[test]
    fn keys_that_do_not_suit_each_other() {
        for (text, message) in [
            (
                "[server]\nlisten = ['1.2.3.4:1', '1.2.3.4:1']",
                Some("1.2.3.4:1 is there twice"),
            ),
            ("[server]\nlisten = ['1.2.3.4:0', '1.2.3.4:0']", None),
            (
                "[server]\nlisten = ':8081'",
                Some("taken by server.listen = [::]:8081"),
            ),
            ("[server]\nlisten = ':8081'\nadmin = 'off'", None),
            ("[server]\nadmin = '127.0.0.2:8080'", None),
            (
                "[origin]\nurl = 'http://127.0.0.1:8080'",
                Some("the origin is larder itself"),
            ),
            (
                "[origin]\nurl = 'http://localhost:8080'",
                Some("the origin is larder itself"),
            ),
            ("[origin]\nurl = 'http://10.0.0.1:8080'", None),
            (
                "[server]\nlisten = ':80'\n[origin]\nurl = 'http://[::1]'",
                Some("larder itself"),
            ),
            (
                "[server]\nlisten = ':80'\n[origin]\nurl = 'http://10.0.0.1'",
                None,
            ),
            (
                "[store]\nsize = '16MiB'\nmean_object_size = '1MiB'",
                Some("less than 64 objects"),
            ),
            (
                "[memory]\nlimit = '16GiB'",
                Some("16GiB is more than there is: 8GiB (cgroup)"),
            ),
            ("[memory]\nlimit = '100%'", None),
            (
                "[memory]\nlimit = '64MiB'\n[store]\nsize = '1TiB'\ndata_dir = '/x'",
                Some("64MiB is too small"),
            ),
            ("[memory]\nlimit = '64MiB'\n[store]\nsize = '1TiB'", None),
        ] {
            let problems = Config::parse(text, &Overrides::default(), &MACHINE).err();
            let whats: Vec<_> = problems
                .iter()
                .flatten()
                .map(|problem| &*problem.what)
                .collect();
            match message {
                None => assert_eq!(whats, [""; 0], "{text}"),
                Some(message) => {
                    assert_eq!(whats.len(), 1, "{text}: {whats:?}");
                    assert!(whats[0].contains(message), "{text}: {whats:?}");
                }
            }
        }
    }

    #[test]
    fn a_size_of_flash_needs_a_place() {
        let overrides = Overrides {
            disk: Some(1 << 30),
            ..Overrides::default()
        };
        let problems = Config::parse("", &overrides, &MACHINE).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert!(
            problems[0].what.contains("without a directory"),
            "{problems:?}"
        );
    }
}
