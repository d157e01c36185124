//! What a client may use: each limit with its default and where it comes from.

use std::time::Duration;

/// Connections per call of `serve`. Each pins up to `2 × HEAD_BYTES_MAX` of read buffer while a head
/// arrives: 16,384 of them are at most 1 GiB, and idle ones hold next to nothing.
pub const CONNECTIONS_MAX: usize = 16_384;
/// Bytes of a request head, and of what hyper buffers to write: nginx and Varnish take 32 KiB.
pub const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Fields per head: hyper's own default, up to which it parses on the stack.
pub const FIELDS_MAX: usize = 100;
/// Bytes of a request body. A cache sees uploads pass by; it stores none.
pub const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Concurrent HTTP/2 streams per connection: what RFC 9113 §6.5.2 recommends as the least.
pub const STREAMS_MAX: u32 = 100;

/// The smallest buffer that hyper accepts.
pub(super) const HYPER_BUFFER_BYTES_MIN: usize = 8192;
/// Window of one HTTP/2 stream: the default of RFC 9113 §6.9.2.
pub(super) const STREAM_WINDOW_BYTES: u32 = 65_535;
/// Window of a connection: request bodies that wait in memory for a slow origin are this much per
/// client, not `STREAMS_MAX × STREAM_WINDOW_BYTES`.
pub(super) const CONNECTION_WINDOW_BYTES: u32 = 4 * STREAM_WINDOW_BYTES;
/// Bytes buffered per HTTP/2 stream that a reader has not taken.
pub(super) const STREAM_SEND_BYTES_MAX: usize = 64 * 1024;
/// Streams that a client reset before they were looked at (CVE-2023-44487, rapid reset).
pub(super) const PENDING_RESETS_MAX: usize = 20;
/// Streams that were reset for the client's errors before the connection is closed.
pub(super) const ERROR_RESETS_MAX: usize = 100;
/// An HTTP/2 client that is silent for so long is pinged, and dropped when it does not answer.
pub(super) const PING_INTERVAL: Duration = Duration::from_secs(20);
/// How long it may take to answer a ping.
pub(super) const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// What the clients of one [`serve`](super::serve) may use.
#[derive(Clone, Debug)]
pub struct ListenLimits {
    /// Open connections, tunnels included; beyond it the kernel's backlog waits. At least one per
    /// listener is always allowed.
    pub connections_max: usize,
    /// Bytes of a request head, request line included: more is answered 431.
    pub head_bytes_max: usize,
    /// Fields per head: more is answered 431.
    pub fields_max: usize,
    /// Bytes of a request body: more fails the body with [`BodyError::TooLarge`](super::BodyError).
    pub body_bytes_max: u64,
    /// Concurrent HTTP/2 streams per connection.
    pub streams_max: u32,
    /// From the first byte of a head to its last: longer is answered 408.
    pub head_timeout: Duration,
    /// Between two pieces of a request body.
    pub body_idle_timeout: Duration,
    /// Without a request, or a byte of a response, on an open connection.
    pub idle_timeout: Duration,
    /// Without bytes taken by a client that is owed some, less than a kilobyte not counted.
    pub write_stall_timeout: Duration,
    /// From the request to stop until what still runs is cut.
    pub stop_timeout: Duration,
}

impl Default for ListenLimits {
    fn default() -> Self {
        Self {
            connections_max: CONNECTIONS_MAX,
            head_bytes_max: HEAD_BYTES_MAX,
            fields_max: FIELDS_MAX,
            body_bytes_max: BODY_BYTES_MAX,
            streams_max: STREAMS_MAX,
            head_timeout: Duration::from_secs(10),
            body_idle_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(60),
            write_stall_timeout: Duration::from_secs(30),
            stop_timeout: Duration::from_secs(30),
        }
    }
}
