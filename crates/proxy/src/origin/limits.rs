//! What an origin may cost: each limit with its default and where it comes from.

use std::time::Duration;

/// Connections to one origin, idle ones included: within what a stock origin accepts (Apache
/// serves 256 at a time, nginx 512 per worker).
pub const CONNECTIONS_MAX: usize = 256;
/// Requests that wait for a connection: four per connection are served within a few round trips,
/// and what cannot be is better told so at once.
pub const WAITERS_MAX: usize = 4 * CONNECTIONS_MAX;
/// Bytes of a response head: twice what nginx takes by default for its largest.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Addresses of one name that are tried.
pub const ADDRESSES_MAX: usize = 8;
/// How long an unused connection is kept: below the five seconds after which Node and Apache close
/// theirs, so that a request seldom meets a connection on its way to be closed.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// What one origin may cost.
#[derive(Clone, Debug)]
pub struct OriginLimits {
    /// Open connections. A tunnel holds one for as long as it lives.
    pub connections_max: usize,
    /// Requests that wait for one; more fail at once.
    pub waiters_max: usize,
    /// How long they wait.
    pub wait_timeout: Duration,
    /// From the lookup of the name to an open connection, all addresses together.
    pub connect_timeout: Duration,
    /// From the request, or the last of its body that the origin took, to the response's head.
    pub header_timeout: Duration,
    /// Between two pieces of a response body.
    pub body_timeout: Duration,
    /// How long an unused connection is kept.
    pub idle_timeout: Duration,
    /// Bytes of a response head, at least 8192.
    pub head_bytes_max: usize,
}

impl Default for OriginLimits {
    fn default() -> Self {
        Self {
            connections_max: CONNECTIONS_MAX,
            waiters_max: WAITERS_MAX,
            wait_timeout: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(5),
            header_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(60),
            idle_timeout: IDLE_TIMEOUT,
            head_bytes_max: HEAD_BYTES_MAX,
        }
    }
}
