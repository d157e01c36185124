//! The guard as hyper sees it: what is read from a client that breaks the rules.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::Semaphore;

use super::*;

const GOOD: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const UPGRADE: &str = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n";

struct Pair {
    client: DuplexStream,
    guard: Guard<DuplexStream>,
    activity: Arc<Activity>,
    counts: Arc<ViolationCounts>,
}

async fn pair() -> Pair {
    let (client, server) = duplex(64 * 1024);
    let slot = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
    let activity = Arc::new(Activity::new(slot));
    let counts = Arc::default();
    let limits = ListenLimits::default();
    let guard = Guard::new(server, &limits, Arc::clone(&activity), Arc::clone(&counts));
    Pair {
        client,
        guard,
        activity,
        counts,
    }
}

#[tokio::test]
async fn a_bad_request_ends_in_poison_and_nothing_behind_it_is_read() {
    let Pair {
        mut client,
        mut guard,
        counts,
        ..
    } = pair().await;
    let bad = format!("{GOOD}GET / HTTP/1.1\r\nX: a\nHost: smuggled\r\n\r\n{GOOD}");
    client.write_all(bad.as_bytes()).await.unwrap();
    let mut read = String::new();
    guard.read_to_string(&mut read).await.unwrap();
    assert_eq!(read, format!("{GOOD}GET / HTTP/1.1\r\nX: a\0\r\n\r\n"));
    let seen: Vec<_> = counts.iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(seen, [(Violation::BareLf, 1)]);
}

#[tokio::test]
async fn poison_does_not_depend_on_the_size_of_reads() {
    let Pair {
        mut client,
        mut guard,
        ..
    } = pair().await;
    client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut read = Vec::new();
    let mut byte = [0];
    while guard.read(&mut byte).await.unwrap() > 0 {
        read.push(byte[0]);
    }
    assert_eq!(read, b"GET / HTTP/1.1\r\n\r\0\r\n\r\n");
}

#[tokio::test]
async fn a_bad_body_fails_with_its_name() {
    let Pair {
        mut client,
        mut guard,
        ..
    } = pair().await;
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    client
        .write_all(format!("{head}5\nhello\r\n0\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let mut read = vec![0; head.len() + 1];
    guard.read_exact(&mut read).await.unwrap();
    let error = guard.read(&mut read).await.unwrap_err();
    let violation = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Violation>());
    assert_eq!(violation, Some(&Violation::BareLf));
}

#[tokio::test]
async fn too_large_a_head_fills_whatever_asks() {
    let Pair {
        mut client,
        mut guard,
        ..
    } = pair().await;
    let head = format!("GET /{} HTTP/1.1\r\n", "a".repeat(40 * 1024));
    client.write_all(head.as_bytes()).await.unwrap();
    let mut read = vec![0; 128 * 1024];
    guard.read_exact(&mut read).await.unwrap();
    assert!(!read.windows(2).any(|pair| pair == b"\r\n"));
}

#[tokio::test]
async fn an_accepted_upgrade_passes_on_what_was_held() {
    let Pair {
        mut client,
        mut guard,
        activity,
        ..
    } = pair().await;
    client
        .write_all(format!("{UPGRADE}\0frames\n").as_bytes())
        .await
        .unwrap();
    let mut head = vec![0; UPGRADE.len()];
    guard.read_exact(&mut head).await.unwrap();
    let mut next = [0; 8];
    let early = tokio::time::timeout(Duration::from_millis(1), guard.read(&mut next)).await;
    assert!(early.is_err(), "read past a request that is not decided");
    activity.gate.accepted();
    guard.read_exact(&mut next).await.unwrap();
    assert_eq!(&next, b"\0frames\n");
    client.write_all(b"\r\r\n\0more!!").await.unwrap();
    guard.read_exact(&mut next).await.unwrap();
    assert_eq!(&next, b"\r\r\n\0more");
}

#[tokio::test]
async fn a_refused_upgrade_goes_on_as_http() {
    let Pair {
        mut client,
        mut guard,
        activity,
        ..
    } = pair().await;
    client
        .write_all(format!("{UPGRADE}{UPGRADE}{GOOD}\0").as_bytes())
        .await
        .unwrap();
    drop(client);
    let mut head = vec![0; UPGRADE.len()];
    guard.read_exact(&mut head).await.unwrap();
    activity.gate.refused();
    guard.read_exact(&mut head).await.unwrap();
    let reading = tokio::spawn(async move {
        let mut rest = String::new();
        guard.read_to_string(&mut rest).await.map(|_| rest)
    });
    tokio::task::yield_now().await;
    activity.gate.refused();
    let rest = reading.await.unwrap().unwrap();
    assert_eq!(rest, format!("{GOOD}\0\r\n\r\n"));
}

#[tokio::test(start_paused = true)]
async fn a_head_that_never_ends_is_answered_408() {
    let Pair {
        mut client,
        mut guard,
        ..
    } = pair().await;
    client.write_all(&GOOD.as_bytes()[..20]).await.unwrap();
    let mut read = vec![0; 20];
    guard.read_exact(&mut read).await.unwrap();
    let started = tokio::time::Instant::now();
    let error = guard.read(&mut read).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(started.elapsed(), ListenLimits::default().head_timeout);
    drop(guard);
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn closing_waits_for_a_client_that_still_talks_but_not_for_long() {
    let Pair {
        mut client,
        mut guard,
        ..
    } = pair().await;
    client.write_all(b"\0").await.unwrap();
    let mut read = Vec::new();
    guard.read_to_end(&mut read).await.unwrap();
    let talking = tokio::spawn(async move {
        client.write_all(&[b'x'; 500 * 1024]).await.unwrap();
        client
    });
    let started = tokio::time::Instant::now();
    guard.shutdown().await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(2) - Duration::from_millis(1));
    drop(talking.await.unwrap());
}
