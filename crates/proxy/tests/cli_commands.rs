//! The commands as an operator types them: exit codes, help, the origin, and purges.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;

fn larder(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_larder"));
    command.args(args).output().expect("the binary runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn usage_is_two_and_says_how() {
    for (args, part) in [
        (&[][..], "Usage: larder"),
        (&["chekc"], "'check'"),
        (
            &["check", "--ram", "64M"],
            "write 64MiB (powers of 1024) or 64MB (powers of 1000)",
        ),
        (&["check", "--ram", "1MiB"], "1MiB is below 32MiB"),
        (
            &["check", "--disk", "1KiB"],
            "1KiB is not between 16MiB and 16TiB",
        ),
        (
            &["check", "--listen", "localhost:80"],
            "a name may have several addresses",
        ),
        (&["check", "--origin", "localhost:80"], "has no scheme"),
        (&["config", "dump"], "--defaults"),
        (&["origin"], "--listen"),
        (&["purge"], "--url"),
        (&["replay", "--trace", "x"], "--target"),
        (&["replay", "--connections", "0"], "not in 1..=10000"),
    ] {
        let output = larder(args);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{args:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(part),
            "{args:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn version_and_help() {
    let version = concat!("larder ", env!("CARGO_PKG_VERSION"), "\n");
    for args in [&["--version"][..], &["version"]] {
        assert_eq!(stdout(&larder(args)), version);
    }
    let help = larder(&["help"]);
    assert!(help.status.success());
    for part in [
        "check",
        "purge",
        "origin",
        "config",
        "Examples:",
        "Exit codes:",
    ] {
        assert!(stdout(&help).contains(part), "{part}");
    }
    assert!(stdout(&larder(&["help", "origin"])).contains("max_age=S"));
}

/// A child that is stopped when the test ends, however it ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_origin_says_where_it_listens_and_stops_when_told() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_larder"));
    command
        .args(["origin", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped());
    let mut origin = Running(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(origin.0.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line.trim().rsplit_once("http://").unwrap().1.to_owned();

    let mut stream = TcpStream::connect(&address).unwrap();
    stream
        .write_all(b"GET /s/5/a HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(
        answer.starts_with(b"HTTP/1.1 200 OK\r\n"),
        "{}",
        String::from_utf8_lossy(&answer)
    );

    replays(&address);
    let taken = larder(&["origin", "--listen", &address]);
    assert_eq!(taken.status.code(), Some(75), "{}", stderr(&taken));

    let pid = rustix::process::Pid::from_child(&origin.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(origin.0.wait().unwrap().success());
}

/// A trace against the origin itself: every byte is right, and nothing is a hit.
fn replays(address: &str) {
    let dir = tempfile::tempdir().expect("a directory");
    let trace = dir.path().join("trace.csv");
    std::fs::write(&trace, "0,1,10\n1,2,70000\n2,1,10\n").expect("a trace");
    let trace = trace.to_str().expect("a path in UTF-8");
    let target = format!("http://{address}");
    let flags = [
        "replay",
        "--trace",
        trace,
        "--target",
        &target,
        "--max-size",
        "64KiB",
    ];
    let output = larder(&[&flags[..], &["--json"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for (key, value) in [
        ("requests", 2),
        ("skipped", 1),
        ("errors", 0),
        ("wrong_bytes", 0),
        ("hits", 0),
    ] {
        assert_eq!(report[key], value, "{key} in {report}");
    }
    assert!(stdout(&larder(&flags)).contains("object hit ratio   0.0000"));
    let absent = larder(&["replay", "--trace", "/nowhere", "--target", &target]);
    assert_eq!(absent.status.code(), Some(1));
    assert!(stderr(&absent).contains("/nowhere"), "{}", stderr(&absent));
}

/// An admin server that takes one request, answers it, and gives it back.
fn admin(answer: &'static str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a connection");
        let mut reader = BufReader::new(&stream);
        let mut request = String::new();
        while !request.ends_with("\r\n\r\n") {
            assert!(
                reader.read_line(&mut request).expect("a line") > 0,
                "{request}"
            );
        }
        let length = request
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or(0)];
        reader.read_exact(&mut body).expect("the body");
        (&stream).write_all(answer.as_bytes()).expect("an answer");
        request + &String::from_utf8_lossy(&body)
    });
    (address, server)
}

#[test]
fn a_purge_asks_the_admin_address() {
    let (address, server) = admin("HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{\"purged\":true}");
    let output = larder(&[
        "purge",
        "--url",
        "http://example.org/a?b=\"c",
        "--admin",
        &address,
    ]);
    let request = server.join().unwrap();
    assert!(request.starts_with("POST /purge HTTP/1.1\r\n"), "{request}");
    assert!(
        request.contains("content-type: application/json\r\n"),
        "{request}"
    );
    assert!(
        request.ends_with("{\"url\":\"http://example.org/a?b=%22c\"}"),
        "{request}"
    );
    assert_eq!(stdout(&output), "{\"purged\":true}\n");
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_refused_purge_is_an_error_and_its_reason_is_printed() {
    let (address, server) =
        admin("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\n{}");
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("larder.toml");
    std::fs::write(&config, format!("server.admin = '{address}'")).unwrap();
    let config = config.to_str().unwrap();
    let output = larder(&["purge", "--url", "http://example.org/a", "--config", config]);
    server.join().unwrap();
    assert_eq!(stdout(&output), "{}\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("503 Service Unavailable"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_purge_that_reaches_nobody_says_whom_it_asked() {
    // Bound and closed: nobody listens there now.
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .to_string();
    let output = larder(&[
        "purge",
        "--url",
        "http://example.org/a",
        "--admin",
        &address,
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(&address), "{}", stderr(&output));
}
