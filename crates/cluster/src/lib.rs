//! Placement and coding for a cluster of caches.
