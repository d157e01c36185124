//! Stopping: what is in flight finishes, what does not is cut and counted.

mod edge_support;

use std::sync::Arc;
use std::time::Duration;

use edge_support::{Server, answer, endless, read_until, rest, text, within};
use http::Response;
use larder::listen::{ListenLimits, Stopped};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

#[tokio::test]
async fn an_answer_in_flight_is_finished_and_its_connection_closed() {
    let (begun, go) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (begins, waits) = (Arc::clone(&begun), Arc::clone(&go));
    let server = Server::start(ListenLimits::default(), move |_| {
        begins.add_permits(1);
        let waits = Arc::clone(&waits);
        Box::pin(async move {
            waits.acquire().await.unwrap().forget();
            Ok(text("finished"))
        })
    });
    let addr = server.addr;
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(GET).await.unwrap();
    within(begun.acquire()).await.unwrap().forget();
    let stopping = server.stop();
    // No new connection is served while the old one finishes.
    within(async {
        while TcpStream::connect(addr).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    go.add_permits(1);
    let answer = rest(&mut stream).await;
    assert!(
        answer.to_lowercase().contains("connection: close"),
        "{answer}"
    );
    assert!(answer.ends_with("finished"), "{answer}");
    let stopped = within(stopping).await.unwrap().unwrap();
    assert_eq!(stopped, Stopped { open: 1, cut: 0 });
}

#[tokio::test]
async fn idle_connections_do_not_hold_it_up() {
    let server = Server::echo(ListenLimits::default());
    let mut idle = TcpStream::connect(server.addr).await.unwrap();
    idle.write_all(GET).await.unwrap();
    read_until(&mut idle, "GET / ").await;
    let _silent = TcpStream::connect(server.addr).await.unwrap();
    edge_support::until(|| server.stats.accepted() == 2).await;
    let stopped = server.stopped().await;
    assert_eq!(stopped.cut, 0);
    assert_eq!(rest(&mut idle).await, "");
}

#[tokio::test]
async fn what_does_not_finish_is_cut_and_counted() {
    let limits = ListenLimits {
        stop_timeout: Duration::from_millis(50),
        ..ListenLimits::default()
    };
    let server = Server::start(limits, |_| answer(Response::new(endless())));
    let mut reading = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(GET).await.unwrap();
        read_until(&mut stream, "\r\n\r\n").await;
        reading.push(stream);
    }
    assert_eq!(server.stopped().await, Stopped { open: 3, cut: 3 });
}
