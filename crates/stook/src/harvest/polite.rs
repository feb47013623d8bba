//! How many requests one host gets at once, whichever sources they are for.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Shared by all harvests of the program.
pub struct Polite {
    most: usize,
    hosts: Mutex<HashMap<String, Arc<Host>>>,
}

#[derive(Default)]
struct Host {
    active: Mutex<usize>,
    freed: Condvar,
}

/// A place at the host; giving it back is dropping it.
pub struct Place {
    host: Arc<Host>,
}

impl Polite {
    /// At most so many requests to a host at once.
    pub fn new(most: usize) -> Polite {
        Polite {
            most: most.max(1),
            hosts: Mutex::default(),
        }
    }

    /// Waits for a place.
    pub fn enter(&self, host: &str) -> Place {
        let host = {
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            hosts.entry(host.to_owned()).or_default().clone()
        };
        {
            let mut active = host.active.lock().unwrap_or_else(PoisonError::into_inner);
            while *active >= self.most {
                active = host.freed.wait(active).unwrap_or_else(PoisonError::into_inner);
            }
            *active += 1;
        }
        Place { host }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut active = self.host.active.lock().unwrap_or_else(PoisonError::into_inner);
        *active -= 1;
        self.host.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_host_gets_no_more_than_it_may_and_others_do_not_wait_for_it() {
        let (polite, inside, most) = (Polite::new(2), AtomicUsize::new(0), AtomicUsize::new(0));
        let held = polite.enter("other.example:80");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _place = polite.enter("example.org:443");
                    most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                    std::thread::sleep(Duration::from_millis(5));
                    inside.fetch_sub(1, SeqCst);
                });
            }
        });
        drop(held);
        assert_eq!(most.load(SeqCst), 2);
    }
}
