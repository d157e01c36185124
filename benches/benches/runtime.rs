//! One multi-threaded runtime, or one single-threaded runtime a core with `SO_REUSEPORT`?
//!
//! A bare hyper server in each layout on all processors, the load on the same ones, in turn.
//! Printed: requests per second and CPU time per request, and the ratio pair by pair.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use larder_benches::child::{ROLE, Server, announce};
use larder_benches::load::Load;
use larder_benches::{bare, table};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

const ROUNDS: usize = 5;
const TIME: Duration = Duration::from_secs(2);

fn main() -> anyhow::Result<()> {
    if let Ok(role) = std::env::var(ROLE) {
        return serve(&role);
    }
    let client = Builder::new_multi_thread().enable_all().build()?;
    println!("body_bytes  layout      requests/s  cpu_us/request");
    for body_bytes in [1 << 10, 64 << 10] {
        let mut ratios = Vec::new();
        for _ in 0..ROUNDS {
            let shared = measure(&client, "shared", body_bytes)?;
            let per_core = measure(&client, "per-core", body_bytes)?;
            for (name, (rate, cpu)) in [("shared", shared), ("per-core", per_core)] {
                println!("{body_bytes:>10}  {name:<10}  {rate:>10.0}  {cpu:>14.2}");
            }
            ratios.push((per_core.0 / shared.0, per_core.1 / shared.1));
        }
        let rate = table::median(ratios.iter().map(|r| r.0).collect());
        let cpu = table::median(ratios.iter().map(|r| r.1).collect());
        println!("{body_bytes:>10}  per-core / shared: requests/s {rate:.2}, cpu {cpu:.2}");
    }
    Ok(())
}

fn measure(
    client: &tokio::runtime::Runtime,
    layout: &str,
    body_bytes: usize,
) -> anyhow::Result<(f64, f64)> {
    let server = Server::start(&format!("{layout} {body_bytes}"))?;
    let load = Load {
        address: server.address.clone(),
        path: "/".to_owned(),
        connections: 64,
        body_bytes,
    };
    client.block_on(load.run(TIME / 4))?;
    let before = server.cpu_seconds()?;
    let rate = client.block_on(load.run(TIME))?;
    let cpu_us = (server.cpu_seconds()? - before) * 1e6 / rate.requests as f64;
    Ok((rate.per_second(), cpu_us))
}

fn serve(role: &str) -> anyhow::Result<()> {
    let (layout, body_bytes) = role.split_once(' ').context("role")?;
    let body = Bytes::from(vec![b'x'; body_bytes.parse()?]);
    let cores = std::thread::available_parallelism()?.get();
    if layout == "shared" {
        let runtime = Builder::new_multi_thread()
            .worker_threads(cores)
            .enable_all()
            .build()?;
        return Ok(runtime.block_on(async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            announce(listener.local_addr()?);
            bare::serve(listener, body).await
        })?);
    }
    let first = listener(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let address = first.local_addr()?;
    let mut listeners = vec![first];
    for _ in 1..cores {
        listeners.push(listener(address)?);
    }
    announce(address);
    std::thread::scope(|scope| {
        for listener in listeners {
            let body = body.clone();
            scope.spawn(move || -> anyhow::Result<()> {
                let runtime = Builder::new_current_thread().enable_all().build()?;
                Ok(runtime.block_on(async {
                    bare::serve(TcpListener::from_std(listener)?, body).await
                })?)
            });
        }
    });
    Ok(())
}

fn listener(address: SocketAddr) -> anyhow::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(1024)?;
    Ok(socket.into())
}
