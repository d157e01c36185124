//! A closed loop of keep-alive HTTP/1.1 connections that costs less than any server it drives.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What to ask, and how hard.
#[derive(Clone, Debug)]
pub struct Load {
    /// `host:port`.
    pub address: String,
    /// Request target.
    pub path: String,
    /// Connections, each with one request at a time.
    pub connections: usize,
    /// Length of the body of every answer.
    pub body_bytes: usize,
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Answers, all of them whole.
    pub requests: u64,
    /// Seconds that they took.
    pub seconds: f64,
}

impl Rate {
    /// Requests a second.
    pub fn per_second(self) -> f64 {
        self.requests as f64 / self.seconds
    }
}

impl Load {
    /// Asks for `time`.
    ///
    /// # Errors
    /// When a connection breaks or an answer is not 200.
    pub async fn run(&self, time: Duration) -> anyhow::Result<Rate> {
        let stop = Arc::new(AtomicBool::new(false));
        let requests = Arc::new(AtomicU64::new(0));
        let start = Instant::now();
        let workers: Vec<_> = (0..self.connections)
            .map(|_| {
                let (load, stop, requests) =
                    (self.clone(), Arc::clone(&stop), Arc::clone(&requests));
                tokio::spawn(async move { load.connection(&stop, &requests).await })
            })
            .collect();
        tokio::time::sleep(time).await;
        stop.store(true, Ordering::Relaxed);
        for worker in workers {
            worker.await.context("a worker died")??;
        }
        let seconds = start.elapsed().as_secs_f64();
        Ok(Rate {
            requests: requests.load(Ordering::Relaxed),
            seconds,
        })
    }

    async fn connection(&self, stop: &AtomicBool, requests: &AtomicU64) -> anyhow::Result<()> {
        let mut stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\n\r\n",
            self.path, self.address
        );
        let mut buffer = vec![0; self.body_bytes + 4096];
        while !stop.load(Ordering::Relaxed) {
            stream.write_all(request.as_bytes()).await?;
            self.answer(&mut stream, &mut buffer).await?;
            requests.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn answer(&self, stream: &mut TcpStream, buffer: &mut [u8]) -> anyhow::Result<()> {
        let mut filled = 0;
        let mut whole = usize::MAX;
        while filled < whole {
            let read = stream.read(&mut buffer[filled..]).await?;
            if read == 0 {
                bail!("the server closed after {filled} bytes of an answer");
            }
            filled += read;
            if whole == usize::MAX
                && let Some(head) = end_of_head(&buffer[..filled])
            {
                if !buffer.starts_with(b"HTTP/1.1 200") {
                    bail!("not 200: {}", String::from_utf8_lossy(&buffer[..head]));
                }
                whole = head + self.body_bytes;
            }
        }
        Ok(())
    }
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let limit = bytes.len().min(4096);
    bytes[..limit]
        .windows(4)
        .position(|w| w == b"\r\n\r\n")
        .map(|at| at + 4)
}
