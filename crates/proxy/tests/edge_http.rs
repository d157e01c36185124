//! HTTP as it should be: keep-alive, pipelining, HTTP/2 by prior knowledge, who the client is.

mod edge_support;

use std::time::Duration;

use bytes::Bytes;
use edge_support::{Server, answer, read_until, rest, text, within};
use http::{Request, Version};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use larder::listen::{ClientAddr, ListenLimits};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
}

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let server = Server::echo(ListenLimits::default());
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    for turn in 0..5 {
        let path = format!("/{turn}");
        stream.write_all(get(&path).as_bytes()).await.unwrap();
        let answer = read_until(&mut stream, &format!("GET {path} ")).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
    assert_eq!(server.stats.accepted(), 1);
}

#[tokio::test]
async fn a_pipeline_is_answered_in_order() {
    let server = Server::echo(ListenLimits::default());
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let post = "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    let chunked = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
                   3\r\nabc\r\n2;e=1\r\nde\r\n0\r\n\r\n";
    let last = "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let pipeline = format!("{}{post}{chunked}{}{last}", get("/1"), get("/2"));
    stream.write_all(pipeline.as_bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    let order: Vec<usize> = [
        "GET /1 ",
        "POST /p hello",
        "POST /c abcde",
        "GET /2 ",
        "GET /last ",
    ]
    .iter()
    .map(|part| {
        answer
            .find(part)
            .unwrap_or_else(|| panic!("{part} is not in {answer}"))
    })
    .collect();
    assert!(order.is_sorted(), "{answer}");
}

#[tokio::test]
async fn http_1_0_is_answered_and_closed() {
    let server = Server::echo(ListenLimits::default());
    let answer = edge_support::talk(server.addr, b"GET /old HTTP/1.0\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.0 200 "), "{answer}");
    assert!(answer.ends_with("GET /old "), "{answer}");
}

#[tokio::test]
async fn http_2_by_prior_knowledge_on_the_same_port() {
    let server = Server::start(ListenLimits::default(), |request| {
        assert_eq!(request.version(), Version::HTTP_2);
        answer(text(request.uri().path()))
    });
    let stream = TcpStream::connect(server.addr).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    tokio::spawn(connection);
    let streams: Vec<_> = (0..20)
        .map(|stream| {
            let uri = format!("http://a/{stream}");
            sender.send_request(Request::get(uri).body(Full::<Bytes>::default()).unwrap())
        })
        .collect();
    for (stream, response) in streams.into_iter().enumerate() {
        let response = within(response).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, format!("/{stream}"));
    }
    assert_eq!(server.stats.accepted(), 1);
}

#[tokio::test]
async fn each_request_knows_its_client() {
    let server = Server::start(ListenLimits::default(), |request| {
        let client = request.extensions().get::<ClientAddr>().unwrap();
        answer(text(&client.0.to_string()))
    });
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(get("/").as_bytes()).await.unwrap();
    let client = stream.local_addr().unwrap().to_string();
    read_until(&mut stream, &client).await;
}

#[tokio::test]
async fn an_expectation_is_met_when_the_body_is_wanted() {
    let server = Server::echo(ListenLimits::default());
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    read_until(&mut stream, "HTTP/1.1 100 Continue\r\n\r\n").await;
    stream.write_all(b"ok").await.unwrap();
    read_until(&mut stream, "POST / ok").await;
}

#[tokio::test]
async fn a_slow_answer_is_waited_for() {
    let limits = ListenLimits {
        idle_timeout: Duration::from_millis(50),
        write_stall_timeout: Duration::from_millis(50),
        head_timeout: Duration::from_millis(50),
        ..ListenLimits::default()
    };
    let server = Server::start(limits, |_| {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            Ok(text("at last"))
        })
    });
    let answer = edge_support::talk(server.addr, get("/").as_bytes()).await;
    assert!(answer.ends_with("at last"), "{answer}");
}
