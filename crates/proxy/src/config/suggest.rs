//! What an operator probably meant.

use strsim::damerau_levenshtein;

/// The candidate nearest to `found`, if it is near enough to have been meant.
///
/// At most a third of the characters may differ (and one always may): `lisen` is `listen`, while
/// `port` is not `host`. A candidate that begins with `found`, or ends it, is near too: `size` in
/// `size_max`. Equal distances go to the first candidate.
pub(super) fn closest<'a>(
    found: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    /// Below this, what begins alike says nothing.
    const PREFIX_CHARS_MIN: usize = 4;
    /// No key is longer; the distance costs the product of both lengths.
    const FOUND_BYTES_MAX: usize = 64;

    if found.len() > FOUND_BYTES_MAX {
        return None;
    }
    let found = found.to_ascii_lowercase().replace('-', "_");
    let allowed = (found.chars().count() / 3).max(1);
    let distance = |candidate: &str| {
        let contained = found.len() >= PREFIX_CHARS_MIN
            && (candidate.starts_with(&found) || candidate.ends_with(&found));
        if contained {
            allowed
        } else {
            damerau_levenshtein(&found, candidate)
        }
    };
    candidates
        .map(|candidate| (distance(candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far() {
        let keys = [
            "listen",
            "admin",
            "connect_timeout",
            "connections_max",
            "size",
            "data_dir",
        ];
        for (found, near) in [
            ("lisen", Some("listen")),
            ("Listen", Some("listen")),
            ("conection_timeout", Some("connect_timeout")),
            ("connection_max", Some("connections_max")),
            ("timeout", Some("connect_timeout")),
            ("data-dir", Some("data_dir")),
            ("siez", Some("size")),
            ("max_conns", None),
            ("port", None),
            ("", None),
        ] {
            assert_eq!(closest(found, keys.into_iter()), near, "{found}");
        }
        assert_eq!(closest(&"listen".repeat(1000), keys.into_iter()), None);
    }
}
