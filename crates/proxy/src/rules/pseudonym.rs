//! What does this cache call itself to others?

use http::{HeaderValue, Version};
use sfv::{StringRef, TokenRef};

/// Longest name, in bytes: it stands in every message.
pub const NAME_BYTES_MAX: usize = 64;

/// The name in Via, CDN-Loop and Cache-Status, with the values that are the same in every message
/// made once.
#[derive(Clone, Debug)]
pub struct Pseudonym {
    name: String,
    cache_status: String,
    cdn_loop: HeaderValue,
    via_1_0: HeaderValue,
    via_1_1: HeaderValue,
    via_2_0: HeaderValue,
}

/// A name that cannot stand in a header field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// Empty or too long.
    #[error("the name has {bytes} bytes; 1 to {NAME_BYTES_MAX} are possible")]
    Length {
        /// Bytes of the name.
        bytes: usize,
    },
    /// Not a token (RFC 9110 §5.6.2).
    #[error(
        "the name has {character:?} at byte {at}; letters, digits and !#$%&'*+-.^_`|~ can stand there"
    )]
    Character {
        /// The first character that cannot stand there.
        character: char,
        /// Its position in bytes.
        at: usize,
    },
}

impl Pseudonym {
    /// Checks that `name` is a token of 1 to [`NAME_BYTES_MAX`] bytes, as the `pseudonym` of Via
    /// and the `cdn-id` of CDN-Loop have to be.
    pub fn new(name: &str) -> Result<Self, InvalidName> {
        let bytes = name.len();
        if !(1..=NAME_BYTES_MAX).contains(&bytes) {
            return Err(InvalidName::Length { bytes });
        }
        if let Some((at, character)) = name.char_indices().find(|(_, c)| !is_token_char(*c)) {
            return Err(InvalidName::Character { character, at });
        }
        let via = |version: &str| value(&format!("{version} {name}"));
        Ok(Self {
            name: name.to_owned(),
            cache_status: structured(name),
            cdn_loop: value(name),
            via_1_0: via("1.0"),
            via_1_1: via("1.1"),
            via_2_0: via("2.0"),
        })
    }

    /// The bare name.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// The name as a member of Cache-Status: a token of structured fields or, as those are fewer,
    /// a string (RFC 9211 §2).
    pub(crate) fn cache_status(&self) -> &str {
        &self.cache_status
    }

    pub(crate) fn cdn_loop(&self) -> &HeaderValue {
        &self.cdn_loop
    }

    /// The Via line for a message received over `version`.
    pub(crate) fn via(&self, version: Version) -> &HeaderValue {
        match version {
            Version::HTTP_2 => &self.via_2_0,
            Version::HTTP_10 => &self.via_1_0,
            _ => &self.via_1_1,
        }
    }
}

fn is_token_char(character: char) -> bool {
    character.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(character)
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).expect("invariant: tokens and spaces are visible ASCII")
}

fn structured(name: &str) -> String {
    if TokenRef::from_str(name).is_ok() {
        return name.to_owned();
    }
    let string = StringRef::from_str(name).expect("invariant: a token is printable ASCII");
    // No character of a token needs an escape in a string.
    format!("\"{}\"", string.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let long = "x".repeat(NAME_BYTES_MAX + 1);
        assert!(Pseudonym::new(&long[1..]).is_ok());
        let table = [
            ("", InvalidName::Length { bytes: 0 }),
            (
                long.as_str(),
                InvalidName::Length {
                    bytes: NAME_BYTES_MAX + 1,
                },
            ),
            (
                "a b",
                InvalidName::Character {
                    character: ' ',
                    at: 1,
                },
            ),
            (
                "a;b",
                InvalidName::Character {
                    character: ';',
                    at: 1,
                },
            ),
            (
                "edge\u{fc}",
                InvalidName::Character {
                    character: '\u{fc}',
                    at: 4,
                },
            ),
            (
                "a\"",
                InvalidName::Character {
                    character: '"',
                    at: 1,
                },
            ),
        ];
        for (name, error) in table {
            assert_eq!(Pseudonym::new(name).unwrap_err(), error, "{name}");
        }
    }

    #[test]
    fn each_field_has_its_form() {
        let larder = Pseudonym::new("larder").unwrap();
        assert_eq!(larder.cache_status(), "larder");
        assert_eq!(larder.cdn_loop(), "larder");
        assert_eq!(larder.via(Version::HTTP_10), "1.0 larder");
        assert_eq!(larder.via(Version::HTTP_11), "1.1 larder");
        assert_eq!(larder.via(Version::HTTP_2), "2.0 larder");
        assert_eq!(Pseudonym::new("7edge").unwrap().cache_status(), "\"7edge\"");
    }
}
