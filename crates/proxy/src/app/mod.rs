//! `larder serve`: everything built from the configuration, run, and taken down again.

mod demo;
mod governor;
mod observed;
mod signals;
mod store;
mod telemetry;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use anyhow::{Context as _, Result};
use tokio::sync::watch;

use crate::admin::{self, AdminServer, Readiness, Routes};
use crate::cache::{Cache, CachePolicy, Core};
use crate::cli::exit::{Misconfigured, TryAgain};
use crate::config::{
    AccessLog as LogForm, Config, HostHeader, OriginConfig, ServerConfig, Upstream,
};
use crate::listen::{BindError, ListenLimits, ListenStats, Sharing, bind, serve as listen};
use crate::observe::access_log::{AccessLog, AccessLogWriter, Destination, Format};
use crate::observe::metrics::Metrics;
use crate::origin::{
    HostPolicy, OriginAddress, OriginBody, OriginClient, OriginLimits, WAITERS_MAX,
};
use crate::plan::{Demand, FILL_BYTES, MemoryPlan, plan};
use crate::rules::cacheable::StorePolicy;
use crate::rules::fresh::FreshPolicy;
use crate::rules::pseudonym::Pseudonym;
use crate::rules::stale::StalePolicy;

pub use observed::{Observed, Telling};

/// Runs larder until it is told to stop.
///
/// # Errors
/// When it cannot start. [`crate::cli::exit::code_of`] knows with which code the process ends.
pub fn serve(config: Config) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(config.server.workers as usize)
        .enable_all()
        .build()
        .context("starting the runtime")?;
    runtime.block_on(run(config))
}

async fn run(config: Config) -> Result<()> {
    let stop = signals::stop()?;
    let plan = plan(&Demand::of(&config)).context("a checked configuration")?;
    let listeners = bind_all(&config.server)?;
    let admin = bind_admin(&config.server).await?;
    let (address, is_demo) = demo::upstream(&config.origin.url).await?;
    let store = store::open(&config, &plan).await?;
    let core = Core::new(
        store,
        policy(&config)?,
        u64::from(plan.fills_max) * FILL_BYTES,
    );
    let client = OriginClient::new(address, origin_limits(&config.origin), host(&config.origin));
    let cache: Cache<OriginClient, OriginBody> = Cache::new(Arc::clone(&core), client.clone());

    let (log, log_writer) = access_log(&config)?;
    let telling = Arc::new(Telling::new(log));
    let stats = Arc::new(ListenStats::default());
    let metrics = telemetry::metrics(&core, &telling, &stats, &plan);
    let phase = Arc::new(Phase::default());
    let (finish, finished) = watch::channel(false);
    tokio::spawn(admin_server(
        admin,
        Arc::clone(&core),
        metrics,
        Arc::clone(&phase),
        finished.clone(),
    ));
    tokio::spawn(governor::govern(
        core.store.clone(),
        plan.clone(),
        finished.clone(),
    ));
    tokio::spawn(signals::reopen_logs(Arc::clone(&telling), finished));
    announce(&listeners)?;
    if is_demo {
        demo::print_requests(&listeners)?;
    }

    let service = Observed::new(
        cache,
        client,
        Arc::clone(&telling),
        config.server.upgrade_timeout,
    );
    let limits = listen_limits(&config.server, &plan);
    phase.enter(Readiness::Ready);
    let draining = Arc::clone(&phase);
    let stop = async move {
        stop.await;
        draining.enter(Readiness::Draining);
        tracing::info!("stopping: requests in flight are finished");
    };
    let stopped = listen(listeners, service, limits, stats, stop).await?;
    if stopped.cut > 0 {
        tracing::warn!(
            connections = stopped.cut,
            "the deadline came before their ends: cut"
        );
    }
    core.store.close().await;
    let _ = finish.send(true);
    if let Some(writer) = log_writer {
        // Blocks for at most its own bound; nothing else runs any more.
        writer.finish();
    }
    Ok(())
}

/// Where the process is in its life, for `/readyz`.
#[derive(Debug, Default)]
struct Phase(AtomicU8);

impl Phase {
    const ALL: [Readiness; 3] = [Readiness::Starting, Readiness::Ready, Readiness::Draining];

    fn enter(&self, readiness: Readiness) {
        self.0.store(readiness as u8, Ordering::Relaxed);
    }

    fn now(&self) -> Readiness {
        Self::ALL[usize::from(self.0.load(Ordering::Relaxed)) % Self::ALL.len()]
    }
}

fn bind_all(server: &ServerConfig) -> Result<Vec<TcpListener>> {
    let listener = |address: &SocketAddr| {
        bind(*address, Sharing::Exclusive).map_err(|error| {
            let what = error.to_string();
            match error {
                BindError::InUse { .. } => anyhow::Error::new(TryAgain { what }),
                _ => anyhow::Error::new(Misconfigured { what }),
            }
        })
    };
    server.listen.iter().map(listener).collect()
}

async fn bind_admin(server: &ServerConfig) -> Result<Option<AdminServer>> {
    let Some(address) = server.admin else {
        return Ok(None);
    };
    let bound = AdminServer::bind(address).await;
    Ok(Some(bound.with_context(|| {
        format!("binding the admin address {address}")
    })?))
}

async fn admin_server(
    server: Option<AdminServer>,
    core: Arc<Core>,
    metrics: Arc<Metrics>,
    phase: Arc<Phase>,
    mut finished: watch::Receiver<bool>,
) {
    let Some(server) = server else { return };
    if let Ok(address) = server.local_addr() {
        eprintln!("larder: admin on http://{address}");
    }
    let mut routes = Routes::new();
    admin::health_routes(&mut routes, move || phase.now());
    admin::metrics_route(&mut routes, metrics);
    admin::purge_route(&mut routes, Arc::new(telemetry::CorePurger(core)));
    let shutdown = async move {
        let _ = finished.wait_for(|finished| *finished).await;
    };
    server.serve(routes, shutdown).await;
}

fn announce(listeners: &[TcpListener]) -> io::Result<()> {
    for listener in listeners {
        eprintln!("larder: listening on http://{}", listener.local_addr()?);
    }
    Ok(())
}

fn policy(config: &Config) -> Result<CachePolicy> {
    let cache = &config.cache;
    let seconds = |time: std::time::Duration| u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
    Ok(CachePolicy {
        name: Pseudonym::new(&config.server.name).context("server.name")?,
        store: StorePolicy {
            set_cookie: cache.set_cookie,
        },
        fresh: FreshPolicy {
            heuristic_fraction: cache.heuristic_fraction,
            heuristic_max_s: seconds(cache.heuristic_max),
        },
        stale: StalePolicy {
            on_error_s: seconds(cache.stale_on_error),
        },
        object_bytes_max: cache.object_bytes_max,
        collapse_wait: cache.collapse_wait,
        hit_for_miss: cache.hit_for_miss,
        purge_allow: config.server.purge_allow.clone(),
        hosts: config.server.hosts.clone(),
    })
}

fn origin_limits(origin: &OriginConfig) -> OriginLimits {
    OriginLimits {
        connections_max: origin.connections_max as usize,
        waiters_max: WAITERS_MAX.max(4 * origin.connections_max as usize),
        wait_timeout: origin.connection_wait,
        connect_timeout: origin.connect_timeout,
        header_timeout: origin.response_timeout,
        body_timeout: origin.idle_timeout,
        idle_timeout: origin.keepalive_timeout,
        head_bytes_max: origin.header_bytes_max as usize,
    }
}

fn host(origin: &OriginConfig) -> HostPolicy {
    match origin.host_header {
        HostHeader::Pass => HostPolicy::Client,
        HostHeader::Origin => HostPolicy::Origin,
    }
}

fn listen_limits(server: &ServerConfig, plan: &MemoryPlan) -> ListenLimits {
    ListenLimits {
        connections_max: plan.connections_max as usize,
        head_bytes_max: server.header_bytes_max as usize,
        fields_max: server.headers_max as usize,
        body_bytes_max: server.body_bytes_max,
        streams_max: server.h2_streams_max,
        head_timeout: server.header_timeout,
        body_idle_timeout: server.body_timeout,
        idle_timeout: server.keepalive_timeout,
        write_stall_timeout: server.write_timeout,
        stop_timeout: server.drain_timeout,
    }
}

fn access_log(config: &Config) -> Result<(Option<AccessLog>, Option<AccessLogWriter>)> {
    let format = match config.log.access {
        LogForm::Combined => Format::Combined,
        LogForm::Json => Format::Json,
        LogForm::Off => return Ok((None, None)),
    };
    let destination = config
        .log
        .access_path
        .clone()
        .map_or(Destination::Stdout, Destination::File);
    let (log, writer) = AccessLog::start(format, destination).context("opening the access log")?;
    Ok((Some(log), Some(writer)))
}

/// The address of a checked origin.
fn address_of(upstream: &Upstream) -> Result<Option<OriginAddress>> {
    match upstream {
        Upstream::Demo => Ok(None),
        Upstream::Url(url) => Ok(Some(url.as_str().parse().context("origin.url")?)),
    }
}
