//! A caching HTTP reverse proxy for the edge.
