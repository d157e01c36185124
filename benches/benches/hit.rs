//! What does a hit in memory cost, against hyper alone with the same body?
//!
//! Both servers in turn, pinned to processor 0, in processes of their own; the load on another
//! processor. Printed: requests per second, CPU time per request, and the ratios pair by pair.

use std::time::Duration;

use anyhow::{Context, ensure};
use bytes::Bytes;
use larder::config::{AccessLog, Config, Machine, Upstream};
use larder_benches::child::{ROLE, Server, announce, pin};
use larder_benches::load::Load;
use larder_benches::{bare, table};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

const ROUNDS: usize = 7;
const TIME: Duration = Duration::from_secs(2);
const CONNECTIONS: usize = 64;

fn main() -> anyhow::Result<()> {
    if let Ok(role) = std::env::var(ROLE) {
        pin(&[0])?;
        return serve(&role);
    }
    pin(&[1]).context("this benchmark wants two processors")?;
    let client = Builder::new_current_thread().enable_all().build()?;
    println!("body_bytes  server   requests/s  cpu_us/request");
    for body_bytes in [1 << 10, 64 << 10] {
        let origin = Server::start(&format!("bare {body_bytes}"))?;
        let origin = &origin.address;
        let mut ratios = Vec::new();
        for _ in 0..ROUNDS {
            let bare = measure(&client, &format!("bare {body_bytes}"), body_bytes)?;
            let larder = measure(&client, &format!("larder {origin}"), body_bytes)?;
            for (name, (rate, cpu)) in [("bare", bare), ("larder", larder)] {
                println!("{body_bytes:>10}  {name:<7}  {rate:>10.0}  {cpu:>14.2}");
            }
            ratios.push((larder.0 / bare.0, bare.1 / larder.1));
        }
        let rate = table::median(ratios.iter().map(|r| r.0).collect());
        let cpu = table::median(ratios.iter().map(|r| r.1).collect());
        println!(
            "{body_bytes:>10}  larder / bare: requests/s {rate:.2}, requests per cpu second {cpu:.2}"
        );
    }
    Ok(())
}

/// Requests a second and CPU microseconds a request, all answers from memory.
fn measure(
    client: &tokio::runtime::Runtime,
    role: &str,
    body_bytes: usize,
) -> anyhow::Result<(f64, f64)> {
    let server = Server::start(role)?;
    let load = Load {
        address: server.address.clone(),
        path: "/object".to_owned(),
        connections: CONNECTIONS,
        body_bytes,
    };
    client.block_on(load.run(TIME / 4))?;
    let before = server.cpu_seconds()?;
    let rate = client.block_on(load.run(TIME))?;
    let cpu_seconds = server.cpu_seconds()? - before;
    ensure!(rate.requests > 0, "no request was answered");
    Ok((rate.per_second(), cpu_seconds * 1e6 / rate.requests as f64))
}

fn serve(role: &str) -> anyhow::Result<()> {
    let (name, rest) = role.split_once(' ').context("role")?;
    if name == "larder" {
        return serve_larder(rest);
    }
    let body = Bytes::from(vec![b'x'; rest.parse()?]);
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    Ok(runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        announce(listener.local_addr()?);
        bare::serve(listener, body).await
    })?)
}

/// `larder serve` as it is, but for the access log, which bare hyper does not write either.
fn serve_larder(origin: &str) -> anyhow::Result<()> {
    let probe = std::net::TcpListener::bind("127.0.0.1:0")?;
    let address = probe.local_addr()?;
    drop(probe);
    let mut config = Config::defaults(&Machine::detect());
    config.server.listen = vec![address];
    config.server.admin = None;
    config.server.workers = 1;
    config.origin.url = Upstream::Url(format!("http://{origin}/").parse()?);
    config.log.access = AccessLog::Off;
    announce(address);
    larder::app::serve(config)
}
