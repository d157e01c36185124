//! Benchmarks live in `benches/`, one file a question.
