//! Sockets and threads: one thread per listener, one per connection.
//!
//! Blocking on purpose: a fault decides byte by byte what a client sees, and
//! a thread that sleeps is the simplest thing that trickles. Dropping the
//! server closes every connection and does not wait for sleepers.

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::http::Incoming;

/// Enough for an answer; 500 sources with several connections each are common.
const STACK_BYTES: usize = 512 << 10;
/// A TLS record that says: fatal, protocol_version (RFC 8446 §6.2).
const TLS_ALERT: [u8; 7] = [0x15, 3, 1, 0, 2, 2, 70];

/// What a server does with a request.
pub(crate) trait Answering: Send + Sync + 'static {
    /// Answers; false closes the connection.
    fn answer(&self, incoming: &Incoming, stream: &mut TcpStream, stop: &Stop) -> io::Result<bool>;
}

/// Tells sleepers that the server stops, and closes what they hold.
#[derive(Default)]
pub(crate) struct Stop {
    open: Mutex<Open>,
    stopped: Condvar,
}

#[derive(Default)]
struct Open {
    stopped: bool,
    next: u64,
    streams: HashMap<u64, TcpStream>,
}

impl Stop {
    /// Sleeps; true if the server stopped meanwhile.
    pub(crate) fn sleep(&self, duration: Duration) -> bool {
        let open = lock(&self.open);
        let (open, _) = self
            .stopped
            .wait_timeout_while(open, duration, |open| !open.stopped)
            .unwrap_or_else(PoisonError::into_inner);
        open.stopped
    }

    fn has_stopped(&self) -> bool {
        lock(&self.open).stopped
    }

    fn stop(&self) {
        let mut open = lock(&self.open);
        open.stopped = true;
        for stream in open.streams.values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.stopped.notify_all();
    }

    /// Keeps a handle on a connection for as long as it is open; none if the
    /// server has stopped.
    fn enter(&self, stream: &TcpStream) -> Option<u64> {
        let mut open = lock(&self.open);
        if open.stopped {
            return None;
        }
        let key = open.next;
        open.next += 1;
        open.streams.insert(key, stream.try_clone().ok()?);
        Some(key)
    }

    fn leave(&self, key: u64) {
        lock(&self.open).streams.remove(&key);
    }
}

/// Listeners at work until this is dropped.
pub(crate) struct Server {
    stop: Arc<Stop>,
    addresses: Vec<SocketAddr>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(listeners: Vec<TcpListener>, answering: Arc<dyn Answering>) -> io::Result<Self> {
        let stop = Arc::new(Stop::default());
        let mut server = Self {
            stop,
            addresses: Vec::new(),
            threads: Vec::new(),
        };
        for (door, listener) in listeners.into_iter().enumerate() {
            server.addresses.push(listener.local_addr()?);
            let (stop, answering) = (Arc::clone(&server.stop), Arc::clone(&answering));
            let thread = Builder::new().stack_size(STACK_BYTES);
            server
                .threads
                .push(thread.spawn(move || accept(&listener, door, &answering, &stop))?);
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.stop();
        for address in &self.addresses {
            // Wakes the listener, which then sees that it is over.
            let _ = TcpStream::connect_timeout(address, Duration::from_secs(1));
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, door: usize, answering: &Arc<dyn Answering>, stop: &Arc<Stop>) {
    loop {
        let accepted = listener.accept();
        if stop.has_stopped() {
            return;
        }
        let Ok((stream, _)) = accepted else {
            // Out of file descriptors, most likely: some will be closed.
            stop.sleep(Duration::from_millis(10));
            continue;
        };
        let (answering, stop) = (Arc::clone(answering), Arc::clone(stop));
        let thread = Builder::new().stack_size(STACK_BYTES);
        // A connection that no thread can be had for is closed, as by any
        // server under load.
        let _ = thread.spawn(move || {
            if let Some(key) = stop.enter(&stream) {
                // A client that goes away is no event here.
                let _ = converse(stream, door, answering.as_ref(), &stop);
                stop.leave(key);
            }
        });
    }
}

fn converse(mut stream: TcpStream, door: usize, answering: &dyn Answering, stop: &Stop) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut first = [0];
    if stream.peek(&mut first)? == 1 && first == [0x16] {
        stream.write_all(&TLS_ALERT)?;
        return stream.shutdown(Shutdown::Write);
    }
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(incoming) = Incoming::read(&mut reader, door)? {
        let wants_end = incoming
            .header("Connection")
            .is_some_and(|value| value.eq_ignore_ascii_case("close"));
        if !answering.answer(&incoming, &mut stream, stop)? || wants_end {
            return Ok(());
        }
    }
    Ok(())
}

/// Locks; what a thread that panicked left behind is as good as any.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
