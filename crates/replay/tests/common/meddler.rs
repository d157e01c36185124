//! A proxy that remembers what it has seen, says so in `Cache-Status`, and meddles by a script.

use std::{
    collections::HashSet,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::Mutex,
};

/// What is done to one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meddle {
    Nothing,
    /// The byte at this offset is flipped.
    Flip(usize),
    /// The connection is closed after half of the body.
    Cut,
    /// So many bytes too many, announced in the head.
    Longer(usize),
    /// Another status.
    Status(u16),
    /// The connection is closed without an answer.
    Close,
    /// Half of the body, then nothing.
    Hang,
}

/// From the number of the request, counted from 0, to what is done to its answer.
type Script = fn(usize) -> Meddle;

struct Meddler {
    origin: SocketAddr,
    script: Script,
    requests: AtomicUsize,
    forwarded: AtomicUsize,
    seen: Mutex<HashSet<String>>,
}

/// Starts the proxy; it ends with the test's runtime.
pub(crate) async fn start(origin: SocketAddr, script: Script) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let meddler = Arc::new(Meddler {
        origin,
        script,
        requests: AtomicUsize::new(0),
        forwarded: AtomicUsize::new(0),
        seen: Mutex::new(HashSet::new()),
    });
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(Arc::clone(&meddler).converse(stream));
        }
    });
    address
}

impl Meddler {
    async fn converse(self: Arc<Self>, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while let Some(path) = read_request(&mut stream).await {
            let stream = stream.get_mut();
            if path == "/metrics" {
                let forwarded = self.forwarded.load(Ordering::Relaxed);
                let page = format!("larder_origin_requests_total{{code=\"2xx\"}} {forwarded}\n");
                answer(stream, 200, "x", page.len(), page.as_bytes()).await;
                continue;
            }
            let meddle = (self.script)(self.requests.fetch_add(1, Ordering::Relaxed));
            if meddle == Meddle::Close {
                return;
            }
            let (_, _, body) = super::get(self.origin, &path).await.unwrap();
            let hit = !self.seen.lock().await.insert(path);
            self.forwarded
                .fetch_add(usize::from(!hit), Ordering::Relaxed);
            let status = if hit {
                "larder; hit; detail=ram"
            } else {
                "larder; fwd=uri-miss; stored"
            };
            if !reply(stream, meddle, status, body.to_vec()).await {
                return;
            }
        }
    }
}

/// Answers with meddling; whether the connection is still good.
async fn reply(stream: &mut TcpStream, meddle: Meddle, status: &str, mut body: Vec<u8>) -> bool {
    let len = body.len();
    match meddle {
        Meddle::Nothing | Meddle::Close => answer(stream, 200, status, len, &body).await,
        Meddle::Status(code) => answer(stream, code, status, len, &body).await,
        Meddle::Flip(at) => {
            body[at] ^= 1;
            answer(stream, 200, status, len, &body).await;
        }
        Meddle::Longer(more) => {
            body.resize(len + more, 0);
            answer(stream, 200, status, len + more, &body).await;
        }
        Meddle::Cut => {
            answer(stream, 200, status, len, &body[..len / 2]).await;
            return false;
        }
        Meddle::Hang => {
            answer(stream, 200, status, len, &body[..len / 2]).await;
            std::future::pending::<()>().await;
        }
    }
    true
}

async fn answer(stream: &mut TcpStream, code: u16, status: &str, len: usize, body: &[u8]) {
    let head =
        format!("HTTP/1.1 {code} X\r\ncontent-length: {len}\r\ncache-status: {status}\r\n\r\n");
    // The client may have gone: then the next read ends the conversation.
    let _ = stream.write_all(&[head.as_bytes(), body].concat()).await;
}

/// The path of the next request; `None` when the client is gone.
async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut first = String::new();
    stream
        .read_line(&mut first)
        .await
        .ok()
        .filter(|bytes| *bytes > 0)?;
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        stream
            .read_line(&mut line)
            .await
            .ok()
            .filter(|bytes| *bytes > 0)?;
    }
    first.split(' ').nth(1).map(str::to_owned)
}
