//! What is the key of an object? (RFC 9111 §2)

use bytes::{BufMut, Bytes, BytesMut};
use larder_store::Key;

use super::normalize::{AUTHORITY_BYTES_MAX, TARGET_BYTES_MAX, Target};

// `https://` and the slash that an absolute form may leave out: every target that `normalize`
// lets through has a key.
const _: () = assert!(AUTHORITY_BYTES_MAX + TARGET_BYTES_MAX + 9 <= Key::MAX_BYTES);

/// The primary key of a target: scheme, authority, path and query, written as the URI that they
/// are.
///
/// Unambiguous, as an authority has no slash; and without a NUL, as a target has none. The method
/// is no part of it: only GET is stored.
pub fn primary_key(target: &Target) -> Bytes {
    let scheme = target.scheme.as_str();
    let path_and_query = target.path_and_query.as_str();
    let capacity = scheme.len() + 3 + target.authority.len() + path_and_query.len();
    let mut key = BytesMut::with_capacity(capacity);
    key.put_slice(scheme.as_bytes());
    key.put_slice(b"://");
    key.put_slice(target.authority.as_bytes());
    key.put_slice(path_and_query.as_bytes());
    key.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::normalize::Scheme;

    fn key(scheme: Scheme, authority: &str, path_and_query: &'static str) -> Bytes {
        primary_key(&Target {
            scheme,
            authority: authority.to_owned(),
            path_and_query: http::uri::PathAndQuery::from_static(path_and_query),
        })
    }

    #[test]
    fn the_key_is_the_uri() {
        assert_eq!(
            key(Scheme::Http, "a.example", "/b?c"),
            "http://a.example/b?c"
        );
        assert_eq!(
            key(Scheme::Https, "a.example:8443", "/"),
            "https://a.example:8443/"
        );
        assert_eq!(key(Scheme::Http, "a.example", "*"), "http://a.example*");
    }

    #[test]
    fn everything_in_a_target_counts() {
        let keys = [
            key(Scheme::Http, "a", "/"),
            key(Scheme::Https, "a", "/"),
            key(Scheme::Http, "a:81", "/"),
            key(Scheme::Http, "b", "/"),
            key(Scheme::Http, "a", "/b"),
            key(Scheme::Http, "a", "/B"),
            key(Scheme::Http, "a", "//b"),
            key(Scheme::Http, "a", "/b?"),
            key(Scheme::Http, "a", "/b?c"),
            key(Scheme::Http, "a", "/%62"),
        ];
        for (at, one) in keys.iter().enumerate() {
            assert!(keys[at + 1..].iter().all(|other| other != one), "{one:?}");
        }
    }
}
