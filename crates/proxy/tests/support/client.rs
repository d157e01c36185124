//! A client that sends what it is told, byte by byte, and reads what comes.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use super::PATIENCE;

/// An answer, whole.
#[derive(Clone)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Header lines in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body, without transfer coding.
    pub body: Vec<u8>,
}

impl Answer {
    /// The first line of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The last member of `Cache-Status`: larder's.
    pub fn cache_status(&self) -> &str {
        let mut lines = self.headers.iter();
        let last = lines.rfind(|(name, _)| name == "cache-status");
        last.map_or("", |(_, value)| value.as_str())
    }

    /// Whether the cache says that it had the answer.
    pub fn is_hit(&self) -> bool {
        self.cache_status().contains(";hit")
    }

    /// Whether the cache says that it had the answer in this tier.
    pub fn is_hit_from(&self, tier: &str) -> bool {
        self.is_hit() && self.cache_status().contains(&format!(";detail={tier}"))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Without the body's bytes: a failed test is to be read.
impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (status, headers, body_bytes) = (self.status, &self.headers, self.body.len());
        write!(f, "{status} {headers:?} and {body_bytes} bytes")
    }
}

/// A keep-alive connection.
pub struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    /// Connects.
    pub fn connect(address: SocketAddr) -> Self {
        Self::try_connect(address).expect("it listens")
    }

    /// Connects, if somebody listens.
    ///
    /// # Errors
    /// When nobody does.
    pub fn try_connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let stream = BufReader::new(stream);
        Ok(Self { stream })
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).expect("it reads");
    }

    /// Sends a request without a body.
    pub fn send_request(&mut self, method: &str, path: &str, headers: &[(&str, &str)]) {
        self.send(head(method, path, headers).as_bytes());
    }

    /// One request, one answer.
    pub fn ask(&mut self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send_request(method, path, headers);
        self.answer(method == "HEAD").expect("an answer")
    }

    /// One GET; `None` when the connection breaks before the answer's end.
    pub fn try_get(&mut self, path: &str) -> Option<Answer> {
        let stream = self.stream.get_mut();
        stream.write_all(head("GET", path, &[]).as_bytes()).ok()?;
        self.answer(false)
    }

    /// One POST of a JSON text.
    pub fn post(&mut self, path: &str, body: &str) -> Answer {
        let length = body.len().to_string();
        let headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", &length),
        ];
        let request = head("POST", path, &headers) + body;
        self.send(request.as_bytes());
        self.answer(false).expect("an answer")
    }

    /// Reads one answer; `None` when the connection breaks before its end.
    pub fn answer(&mut self, head_only: bool) -> Option<Answer> {
        let mut answer = self.head()?;
        if !head_only {
            answer.body = self.body(&answer)?;
        }
        Some(answer)
    }

    /// Reads the body that belongs to this head; `None` when the connection breaks before its end.
    pub fn body(&mut self, head: &Answer) -> Option<Vec<u8>> {
        if matches!(head.status, 101 | 204 | 304) {
            return Some(Vec::new());
        }
        if let Some(length) = head.header("content-length") {
            let mut body = vec![0; length.parse().ok()?];
            self.stream.read_exact(&mut body).ok()?;
            return Some(body);
        }
        if head.header("transfer-encoding").is_some() {
            return self.chunks();
        }
        let mut body = Vec::new();
        self.stream.read_to_end(&mut body).ok()?;
        Some(body)
    }

    /// Reads a status line and headers.
    pub fn head(&mut self) -> Option<Answer> {
        let status = self.line()?.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        Some(Answer {
            status,
            headers,
            body: Vec::new(),
        })
    }

    /// Reads what is there of the body, at least one byte; 0 at the end.
    ///
    /// # Errors
    /// When the connection breaks.
    pub fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }

    /// Fills the buffer.
    pub fn read_all(&mut self, buffer: &mut [u8]) {
        self.stream.read_exact(buffer).expect("as many bytes");
    }

    /// Whether the other side has closed, without a further byte.
    pub fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0]), Ok(0) | Err(_))
    }

    /// Says that nothing more will be sent.
    pub fn finish(&mut self) {
        let stream = self.stream.get_mut();
        stream.shutdown(Shutdown::Write).expect("it is connected");
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
    }

    fn chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let length = usize::from_str_radix(self.line()?.trim(), 16).ok()?;
            let mut chunk = vec![0; length];
            self.stream.read_exact(&mut chunk).ok()?;
            self.line()?;
            if length == 0 {
                return Some(body);
            }
            body.append(&mut chunk);
        }
    }
}

/// One GET on a connection of its own.
pub fn get(address: SocketAddr, path: &str) -> Answer {
    Client::connect(address).ask("GET", path, &[])
}

fn head(method: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: test.example\r\n");
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head + "\r\n"
}
