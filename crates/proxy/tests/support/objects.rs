//! Objects whose every byte is known, and whether an answer has them.

use std::net::SocketAddr;

use larder_replay::Content;

use super::client::{Answer, Client};

/// An object of `larder origin`.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its path, and the name of its content.
    pub path: String,
    /// Its body's length.
    pub size_bytes: u64,
}

impl Object {
    /// The object of that size with that number.
    pub fn new(size_bytes: u64, id: u64) -> Self {
        Self {
            path: format!("/s/{size_bytes}/{id}"),
            size_bytes,
        }
    }

    /// `count` objects with sizes from nothing to `size_bytes_max`, the small ones more often: their
    /// logarithms are even, as in traces of the web.
    pub fn many(rng: &mut fastrand::Rng, count: u64, size_bytes_max: u64) -> Vec<Self> {
        let scale = (size_bytes_max as f64 + 1.0).ln();
        let size = |rng: &mut fastrand::Rng| (scale * rng.f64()).exp() as u64 - 1;
        (0..count).map(|id| Self::new(size(rng), id)).collect()
    }

    /// Its bytes.
    pub fn content(&self) -> Content {
        Content::new(&self.path, 0)
    }

    /// Asserts that `answer` has all of its bytes, and no other.
    pub fn assert_whole(&self, answer: &Answer) {
        assert_eq!(answer.status, 200, "{}: {answer:?}", self.path);
        assert_eq!(answer.body.len() as u64, self.size_bytes, "{}", self.path);
        assert_eq!(
            self.content().verify(0, &answer.body),
            None,
            "{}",
            self.path
        );
    }

    /// Asks for it, and compares every byte without keeping any.
    pub fn stream(&self, address: SocketAddr) -> Answer {
        let mut client = Client::connect(address);
        client.send_request("GET", &self.path, &[]);
        let answer = client.head().expect("an answer");
        assert_eq!(answer.status, 200, "{answer:?}");
        let length = answer.header("content-length");
        assert_eq!(length, Some(&*self.size_bytes.to_string()), "{answer:?}");
        let (content, mut offset) = (self.content(), 0);
        let mut buffer = vec![0; 256 << 10];
        while offset < self.size_bytes {
            let read = client.read_some(&mut buffer).expect("the rest of the body");
            assert!(read > 0, "ends after {offset} of {} bytes", self.size_bytes);
            assert_eq!(content.verify(offset, &buffer[..read]), None);
            offset += read as u64;
        }
        assert_eq!(offset, self.size_bytes);
        answer
    }
}
