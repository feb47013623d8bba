//! A server on a port of its own, and a client that sends exactly the bytes it is told to.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use stook::config::{Repository, Server};
use stook::provider::Provider;
use stook::provider::http::Site;
use stook::provider::serve;
use tokio::sync::oneshot;

use super::{Bench, plain_settings, titled};

/// Nothing here takes longer, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that is stopped when it goes out of scope.
pub struct Running {
    pub address: SocketAddr,
    /// What it serves from.
    pub bench: Bench,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<anyhow::Result<()>>>,
}

impl Running {
    /// Serves these repositories.
    pub fn start(bench: Bench, providers: Vec<Provider>, settings: Server) -> Running {
        let (tell_address, address) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            serve::runtime(&settings)?.block_on(async {
                let listener = serve::bind("127.0.0.1:0").await?;
                tell_address.send(listener.local_addr()?)?;
                let shutdown = async {
                    let _ = stopped.await;
                };
                serve::run(listener, Site::new(providers, settings), shutdown).await
            })
        });
        Running {
            address: address.recv().unwrap(),
            bench,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Serves one repository with these records in it.
    pub fn library(records: usize, repository: Repository, server: Server) -> Running {
        let bench = Bench::at("2024-03-01T08:00:00Z");
        let provider = bench.provider(repository);
        let text = "A ferry crosses the river; карта, mapa, 地図. ".repeat(20);
        let changes =
            (0..records).map(|number| titled(&format!("{number:05}"), &["maps"], &format!("{number} {text}")));
        bench.apply(&provider, changes.collect());
        Running::start(bench, vec![provider], server)
    }

    /// Serves a small repository as it comes.
    pub fn small() -> Running {
        Running::library(7, plain_settings(3), Server::default())
    }

    pub fn connect(&self) -> Connection {
        Connection::open(self.address)
    }

    /// One GET on a connection of its own.
    pub fn get(&self, target: &str) -> Response {
        self.connect().get(target)
    }

    /// Asks it to stop; whether it has is for [`stop`](Self::stop) to find out.
    pub fn ask_to_stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    /// Whether it has stopped.
    pub fn has_stopped(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops it and waits until it has.
    pub fn stop(&mut self) {
        self.ask_to_stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.ask_to_stop();
        if let Some(thread) = self.thread.take()
            && !std::thread::panicking()
        {
            thread.join().unwrap().unwrap();
        }
    }
}

/// A connection that is kept alive.
pub struct Connection {
    pub stream: TcpStream,
    received: Vec<u8>,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} is there twice");
        value
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Connection {
    pub fn open(address: SocketAddr) -> Connection {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection {
            stream,
            received: vec![],
        }
    }

    /// A GET with no more headers than it needs.
    pub fn get(&mut self, target: &str) -> Response {
        self.get_with(target, "")
    }

    /// A GET with further header lines, each ending in CRLF.
    pub fn get_with(&mut self, target: &str, headers: &str) -> Response {
        self.exchange(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes())
    }

    /// A POST of a form.
    pub fn post(&mut self, target: &str, body: &str) -> Response {
        self.post_as(target, "application/x-www-form-urlencoded", body.as_bytes())
    }

    pub fn post_as(&mut self, target: &str, media_type: &str, body: &[u8]) -> Response {
        let length = body.len();
        let head = format!(
            "POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n"
        );
        self.exchange(&[head.as_bytes(), body].concat())
    }

    pub fn exchange(&mut self, request: &[u8]) -> Response {
        self.send(request);
        self.receive().expect("an answer")
    }

    /// Sends as much as the server takes: it may have answered and closed before it read everything.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Says that nothing more comes from this side.
    pub fn finish(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The next answer; none if the server closes the connection instead.
    pub fn receive(&mut self) -> Option<Response> {
        self.receive_answer_to(true)
    }

    /// The answer to a HEAD: everything but a body.
    pub fn receive_head(&mut self) -> Option<Response> {
        self.receive_answer_to(false)
    }

    /// The head of an answer whose body is to be read as it comes.
    pub fn read_head(&mut self) -> String {
        let end = loop {
            match find(&self.received, b"\r\n\r\n") {
                Some(end) => break end + 4,
                None => assert!(self.fill(), "no answer came"),
            }
        };
        String::from_utf8(self.received.drain(..end).collect()).unwrap()
    }

    fn receive_answer_to(&mut self, has_body: bool) -> Option<Response> {
        let end = loop {
            if let Some(end) = find(&self.received, b"\r\n\r\n") {
                break end;
            }
            if !self.fill() {
                assert!(
                    self.received.is_empty(),
                    "half a head: {:?}",
                    String::from_utf8_lossy(&self.received)
                );
                return None;
            }
        };
        let head = String::from_utf8(self.received[..end].to_vec()).unwrap();
        self.received.drain(..end + 4);
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.map(|line| line.split_once(':').unwrap());
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
        let mut response = Response {
            status,
            headers: headers.collect(),
            body: vec![],
        };
        if status == 100 {
            return Some(response);
        }
        if response.header("transfer-encoding") == Some("chunked") {
            response.body = self.receive_chunks();
            return Some(response);
        }
        // Of everything else the server knows how long it is.
        let length: usize = response.header("content-length").expect("a length").parse().unwrap();
        if has_body {
            while self.received.len() < length {
                assert!(
                    self.fill(),
                    "the answer broke off at {} of {length} bytes",
                    self.received.len()
                );
            }
            response.body = self.received.drain(..length).collect();
        }
        Some(response)
    }

    /// A body that is made while it is sent, to its end.
    fn receive_chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        while let Some(chunk) = self.receive_chunk() {
            body.extend(chunk);
        }
        body
    }

    /// The next piece of such a body; none at its end.
    pub fn receive_chunk(&mut self) -> Option<Vec<u8>> {
        let line = loop {
            if let Some(line) = find(&self.received, b"\r\n") {
                break line;
            }
            assert!(self.fill(), "the answer broke off between two chunks");
        };
        let length = std::str::from_utf8(&self.received[..line]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        while self.received.len() < line + 2 + length + 2 {
            assert!(self.fill(), "the answer broke off in a chunk");
        }
        let chunk: Vec<u8> = self.received.drain(..line + 2 + length + 2).collect();
        (length > 0).then(|| chunk[line + 2..line + 2 + length].to_vec())
    }

    /// Whether nothing more comes from the server.
    pub fn is_closed(&mut self) -> bool {
        assert!(self.received.is_empty());
        !self.fill()
    }

    fn fill(&mut self) -> bool {
        let mut bytes = [0; 16 * 1024];
        match self.stream.read(&mut bytes) {
            Ok(0) => false,
            Ok(count) => {
                self.received.extend_from_slice(&bytes[..count]);
                true
            }
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => false,
            Err(error) => panic!("{error}"),
        }
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}
