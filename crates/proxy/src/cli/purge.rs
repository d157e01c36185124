//! `larder purge`: asks a running larder to forget an object.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use clap::Args;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

use super::{output, runtime};
use crate::config::{Config, Machine, Overrides, parse_address};

const EXAMPLES: &str = "\
Examples:
  larder purge --url http://example.org/picture.svg
  larder purge --url http://example.org/picture.svg --admin 10.0.0.7:8081
  larder purge --url http://example.org/picture.svg --config /etc/larder.toml

The purge is durable when the command returns.";

/// A purge waits for one write to flash; a larder that needs longer is in trouble.
const PATIENCE: Duration = Duration::from_secs(10);

/// The answer is one small JSON object.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// What to forget, and who.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PurgeArgs {
    /// The object's URL as clients ask for it, all of its variants included
    #[arg(long, value_name = "URL")]
    pub url: Url,

    /// The admin address of the running larder [default: server.admin]
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    pub admin: Option<SocketAddr>,

    /// The configuration of the running larder, for its admin address
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

pub(super) fn run(args: &PurgeArgs) -> Result<()> {
    let admin = reachable(admin(args)?);
    let body = serde_json::json!({ "url": args.url.as_str() }).to_string();
    let exchange = async { timeout(PATIENCE, post(admin, body)).await };
    let (status, answer) = runtime::single()?
        .block_on(exchange)
        .with_context(|| format!("{admin} did not answer within {} s", PATIENCE.as_secs()))?
        .with_context(|| format!("asking the larder whose admin address is {admin}"))?;
    output::print(&format!("{}\n", answer.trim_end()))?;
    if !status.is_success() {
        bail!("{admin} answered {status}");
    }
    Ok(())
}

fn admin(args: &PurgeArgs) -> Result<SocketAddr> {
    if let Some(admin) = args.admin {
        return Ok(admin);
    }
    let path = args.config.as_deref();
    let config = Config::read(path, &Overrides::default(), &Machine::detect())?;
    config
        .server
        .admin
        .context("server.admin is off: there is nobody to ask")
}

/// An address that is listened at may be every address of the machine; one to connect to is not.
fn reachable(listened: SocketAddr) -> SocketAddr {
    let ip = match listened.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listened.port())
}

async fn post(admin: SocketAddr, body: String) -> Result<(StatusCode, String)> {
    let stream = TcpStream::connect(admin).await.context("connecting")?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // Ends with the runtime; its error is the exchange's too.
    tokio::spawn(connection);
    let request = Request::post("/purge")
        .header(header::HOST, admin.to_string())
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)))?;
    let (head, body) = sender.send_request(request).await?.into_parts();
    let answer = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
    let answer = answer
        .map_err(anyhow::Error::from_boxed)
        .context("reading the answer")?;
    Ok((
        head.status,
        String::from_utf8_lossy(&answer.to_bytes()).into_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_reached_by_loopback() {
        for (listened, reached) in [
            ("0.0.0.0:1", "127.0.0.1:1"),
            ("[::]:1", "[::1]:1"),
            ("10.0.0.7:1", "10.0.0.7:1"),
        ] {
            let (listened, reached) = (listened.parse().unwrap(), reached.parse().unwrap());
            assert_eq!(reachable(listened), reached);
        }
    }
}
