//! What a lookup gives.

use std::sync::Arc;

use crate::Body;

/// Where an object was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// Memory.
    Ram,
    /// Flash.
    Ssd,
}

impl Tier {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ram => "ram",
            Self::Ssd => "ssd",
        }
    }
}

/// A stored object. A clone copies references, never bytes, and stays whole when the store gives
/// the object up meanwhile.
#[derive(Debug)]
pub struct Object<M> {
    /// What was stored beside the body.
    pub meta: Arc<M>,
    /// The body.
    pub body: Body,
    /// The tier that answered.
    pub tier: Tier,
}

impl<M> Clone for Object<M> {
    fn clone(&self) -> Self {
        Self {
            meta: Arc::clone(&self.meta),
            body: self.body.clone(),
            tier: self.tier,
        }
    }
}
