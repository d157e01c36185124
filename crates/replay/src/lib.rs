//! Traces, content, a synthetic origin and an HTTP replayer.
