//! Flow control: who gets a turn now, and when the others may come back.
//!
//! Three limits: how often one client may ask, how much it may ask at once, and how many requests are answered at once
//! altogether. Beyond the last one requests queue for a while. Whoever gets no turn is told to come back after a time
//! in which there will be one; nobody ever gets half an answer.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::Server;

/// Clients remembered before those without a debt are forgotten.
const MOST_CLIENTS: usize = 50_000;

/// Come back later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// After this many seconds.
    pub retry_after_seconds: u64,
    /// Which limit was met, for logs and metrics.
    pub limit: &'static str,
}

impl Busy {
    fn after(wait: Duration, limit: &'static str) -> Busy {
        Busy {
            retry_after_seconds: wait.as_secs_f64().ceil().max(1.0) as u64,
            limit,
        }
    }
}

/// How many requests are answered at once.
pub(super) fn most_turns(server: &Server) -> usize {
    match server.max_requests {
        0 => cores() * 2,
        requests => requests,
    }
}

/// How many threads can really run at once.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// The gate every OAI-PMH request passes.
pub struct Gate {
    turns: Arc<Semaphore>,
    most_turns: usize,
    waiting: AtomicUsize,
    /// How long an answer takes, in microseconds, on the average of late.
    service_micros: AtomicU64,
    longest_wait: Duration,
    /// Time between two requests of one client in the long run; none for no limit.
    interval: Option<Duration>,
    /// How far a client may run ahead of that.
    burst: Duration,
    most_of_a_client: usize,
    clients: Mutex<HashMap<IpAddr, Client>>,
}

struct Client {
    /// When the requests made so far are paid for.
    paid: Instant,
    requests: usize,
}

/// A turn; giving it back is dropping it.
pub struct Turn {
    gate: Arc<Gate>,
    client: IpAddr,
    _permit: Option<OwnedSemaphorePermit>,
    since: Instant,
}

/// What a gate lets through.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// At the same time.
    pub turns: usize,
    /// The longest wait for a turn.
    pub longest_wait: Duration,
    /// Between two requests of one client in the long run; none for no limit.
    pub interval: Option<Duration>,
    /// Requests that a client may be ahead of that.
    pub burst: u32,
    /// Of one client at the same time; 0 for no limit.
    pub of_a_client: usize,
}

impl Gate {
    /// A gate with the limits of the configuration.
    pub fn new(server: &Server) -> Gate {
        let rate = server.client_requests_per_second;
        Gate::with(Limits {
            turns: most_turns(server),
            longest_wait: Duration::from_secs(server.queue_seconds),
            interval: (rate > 0).then(|| Duration::from_secs(1) / rate),
            burst: server.client_burst,
            of_a_client: server.client_concurrent_requests,
        })
    }

    /// A gate with limits of its own.
    pub fn with(limits: Limits) -> Gate {
        Gate {
            turns: Arc::new(Semaphore::new(limits.turns)),
            most_turns: limits.turns,
            waiting: AtomicUsize::new(0),
            service_micros: AtomicU64::new(1_000),
            longest_wait: limits.longest_wait,
            interval: limits.interval,
            burst: limits.interval.unwrap_or_default() * limits.burst.max(1),
            most_of_a_client: limits.of_a_client,
            clients: Mutex::default(),
        }
    }

    /// Waits for a turn, not too long.
    ///
    /// # Errors
    /// [`Busy`] when a limit is met.
    pub async fn enter(self: Arc<Self>, client: IpAddr) -> Result<Turn, Busy> {
        let client = network(client);
        self.admit(client, Instant::now())?;
        // From here on dropping the turn takes the client's request off the count again.
        let mut turn = Turn {
            gate: self.clone(),
            client,
            _permit: None,
            since: Instant::now(),
        };
        let expected = self.expected_wait(self.waiting.load(Relaxed));
        if expected > self.longest_wait {
            return Err(Busy::after(expected, "server"));
        }
        let permit = {
            let _waiting = Waiting::one_more(&self.waiting);
            tokio::time::timeout(self.longest_wait, self.turns.clone().acquire_owned()).await
        };
        match permit {
            Ok(Ok(permit)) => {
                turn._permit = Some(permit);
                turn.since = Instant::now();
                Ok(turn)
            }
            _ => Err(Busy::after(self.expected_wait(self.waiting.load(Relaxed)), "server")),
        }
    }

    /// How long the last of so many waits, by how long answers have taken of late.
    fn expected_wait(&self, waiting: usize) -> Duration {
        let rounds = (waiting / self.most_turns.max(1)) as u64;
        Duration::from_micros(self.service_micros.load(Relaxed).saturating_mul(rounds))
    }

    /// Counts a request of the client in, or says when it may come back.
    ///
    /// The rate is kept by a virtual clock (GCRA): each request moves the time at which the client's requests are paid
    /// for by one interval, and a client may be a burst ahead of now.
    fn admit(&self, client: IpAddr, now: Instant) -> Result<(), Busy> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= MOST_CLIENTS && !clients.contains_key(&client) {
            clients.retain(|_, client| client.requests > 0 || client.paid > now);
        }
        let entry = clients.entry(client).or_insert(Client { paid: now, requests: 0 });
        if self.most_of_a_client > 0 && entry.requests >= self.most_of_a_client {
            return Err(Busy::after(
                self.expected_wait(entry.requests),
                "client requests at once",
            ));
        }
        if let Some(interval) = self.interval {
            let paid = entry.paid.max(now);
            let ahead = (paid + interval).saturating_duration_since(now);
            if ahead > self.burst {
                return Err(Busy::after(ahead - self.burst, "client rate"));
            }
            entry.paid = paid + interval;
        }
        entry.requests += 1;
        Ok(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self._permit.is_some() {
            let took = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
            let before = self.gate.service_micros.load(Relaxed);
            self.gate
                .service_micros
                .store((before * 15 + took.max(1)) / 16 + 1, Relaxed);
        }
        let mut clients = self.gate.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get_mut(&self.client) {
            client.requests -= 1;
            // A client that owes nothing need not be remembered.
            if client.requests == 0 && client.paid <= Instant::now() {
                clients.remove(&self.client);
            }
        }
    }
}

/// Counts those who wait, also when they give up waiting.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn one_more(count: &'a AtomicUsize) -> Waiting<'a> {
        count.fetch_add(1, Relaxed);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Whoever has one IPv6 address has all of its /64.
pub(crate) fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => {
            let mut segments = address.segments();
            segments[4..].fill(0);
            IpAddr::V6(segments.into())
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn gate(change: impl FnOnce(&mut Server)) -> Arc<Gate> {
        let mut server = Server {
            max_requests: 1,
            queue_seconds: 1,
            ..Server::default()
        };
        change(&mut server);
        Arc::new(Gate::new(&server))
    }

    #[test]
    fn a_client_that_comes_back_when_it_was_told_is_let_in() {
        let gate = gate(|server| (server.client_requests_per_second, server.client_burst) = (2, 3));
        let start = Instant::now();
        for _ in 0..3 {
            gate.admit(client(1), start).unwrap();
        }
        let busy = gate.admit(client(1), start).unwrap_err();
        assert_eq!((busy.retry_after_seconds, busy.limit), (1, "client rate"));
        gate.admit(client(2), start).unwrap();
        gate.admit(client(1), start + Duration::from_secs(busy.retry_after_seconds))
            .unwrap();
    }

    #[test]
    fn neighbours_in_an_ipv6_network_are_one_client() {
        let [one, other]: [IpAddr; 2] = ["2001:db8::1".parse().unwrap(), "2001:db8::ffff:2".parse().unwrap()];
        assert_eq!(network(one), network(other));
        assert_ne!(network(one), network("2001:db8:0:1::1".parse().unwrap()));
        assert_eq!(network("::ffff:192.0.2.1".parse().unwrap()), client(1));
    }

    #[tokio::test]
    async fn beyond_the_limit_requests_wait_and_then_are_told_to_come_back() {
        let gate = gate(|server| server.queue_seconds = 0);
        let first = gate.clone().enter(client(1)).await.unwrap();
        let busy = gate.clone().enter(client(2)).await.err().unwrap();
        assert_eq!((busy.retry_after_seconds, busy.limit), (1, "server"));
        drop(first);
        gate.clone().enter(client(2)).await.unwrap();
        assert_eq!(gate.waiting.load(Relaxed), 0);
    }

    #[tokio::test]
    async fn a_waiting_request_gets_the_turn_that_becomes_free() {
        let gate = gate(|_| {});
        let first = gate.clone().enter(client(1)).await.unwrap();
        let second = tokio::spawn(gate.clone().enter(client(2)));
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(first);
        assert!(second.await.unwrap().is_ok());
    }

    #[tokio::test]
    async fn a_client_cannot_take_every_turn() {
        let gate = gate(|server| (server.client_concurrent_requests, server.max_requests) = (2, 8));
        let held = (
            gate.clone().enter(client(1)).await.unwrap(),
            gate.clone().enter(client(1)).await.unwrap(),
        );
        assert_eq!(
            gate.clone().enter(client(1)).await.err().unwrap().limit,
            "client requests at once"
        );
        gate.clone().enter(client(2)).await.unwrap();
        drop(held);
        gate.clone().enter(client(1)).await.unwrap();
    }
}
