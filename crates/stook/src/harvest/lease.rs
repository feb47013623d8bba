//! The right to harvest a source: one process at a time, and none for ever.
//!
//! A lease is a note in the store. Its holder renews it while it lives; a lease that was not renewed belongs to nobody.
//! On one machine there is no need to wait for that: a holder that is gone is known to be gone.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use stook_store::{Note, RepositoryId, Store};

const KEY: &str = "lease";
const SECONDS: i64 = 300;
const RENEWAL: Duration = Duration::from_secs(60);

/// Held until it is dropped.
pub(super) struct Lease {
    stop: Option<Sender<()>>,
    renewing: Option<JoinHandle<()>>,
}

/// Somebody else harvests the source.
#[derive(Debug, thiserror::Error)]
#[error("{0} is being harvested by process {1}\nTry: wait until it has finished")]
pub struct BeingHarvested(pub String, pub u32);

impl Lease {
    /// Takes the lease of a source.
    ///
    /// # Errors
    /// When somebody else has it.
    pub(super) fn take(store: &Store, repository: RepositoryId, name: &str) -> Result<Lease> {
        let found = store.notes(repository, KEY)?;
        let held = found.into_iter().find(|(key, _)| key == KEY).map(|(_, text)| text);
        if let Some(holder) = held.as_deref().and_then(Holder::parse).filter(Holder::is_there) {
            let process = holder.process;
            return Err(BeingHarvested(name.to_owned(), process).into());
        }
        let text = Holder::ourselves().text();
        if !store.swap_note(repository, held.as_deref(), &note(Some(&text)))? {
            bail!("{name} has just been taken by another harvest\nTry: wait until it has finished");
        }
        let (stop, stopped) = channel();
        let store = store.clone();
        let renewing = std::thread::spawn(move || {
            let mut current = text;
            while stopped.recv_timeout(RENEWAL) == Err(RecvTimeoutError::Timeout) {
                let next = Holder::ourselves().text();
                if store
                    .swap_note(repository, Some(&current), &note(Some(&next)))
                    .is_ok_and(|done| done)
                {
                    current = next;
                }
            }
            let _ = store.swap_note(repository, Some(&current), &note(None));
        });
        Ok(Lease {
            stop: Some(stop),
            renewing: Some(renewing),
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(renewing) = self.renewing.take() {
            let _ = renewing.join();
        }
    }
}

fn note(text: Option<&str>) -> Note {
    Note {
        key: KEY.into(),
        text: text.map(str::to_owned),
    }
}

/// Who holds a lease.
struct Holder {
    until: i64,
    process: u32,
    /// When the process started, by the count of its machine: numbers of processes are used again.
    started: String,
    /// Which machine, since its last start.
    machine: String,
}

impl Holder {
    fn ourselves() -> Holder {
        let process = std::process::id();
        Holder {
            until: now() + SECONDS,
            process,
            started: start_of(process).unwrap_or_else(|| "-".into()),
            machine: machine(),
        }
    }

    fn text(&self) -> String {
        format!("{} {} {} {}", self.until, self.process, self.started, self.machine)
    }

    fn parse(text: &str) -> Option<Holder> {
        let mut parts = text.split(' ');
        Some(Holder {
            until: parts.next()?.parse().ok()?,
            process: parts.next()?.parse().ok()?,
            started: parts.next()?.to_owned(),
            machine: parts.next()?.to_owned(),
        })
    }

    /// Whether the holder may still be at work.
    fn is_there(&self) -> bool {
        if self.machine != machine() || self.machine == "-" {
            return self.until > now();
        }
        // Several sources of one process are several leases, so our own are respected too.
        start_of(self.process).is_some_and(|started| started == self.started)
    }
}

fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX)
}

/// The machine since it was started; `-` where that cannot be told.
fn machine() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.map_or_else(|_| "-".into(), |id| id.trim().to_owned())
}

/// When a process of this machine started; none if there is no such process.
fn start_of(process: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything; the 22nd field is the 20th behind it.
    let behind = stat.rsplit_once(')')?.1;
    behind.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use stook_store::Clock;

    use super::*;

    fn store() -> (tempfile::TempDir, Store, RepositoryId) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&folder.path().join("store.db"), Clock::system()).unwrap();
        let repository = store.declare_repository("source").unwrap();
        (folder, store, repository)
    }

    #[test]
    fn one_at_a_time_and_again_when_it_is_given_back() {
        let (_folder, store, repository) = store();
        let lease = Lease::take(&store, repository, "source").unwrap();
        let refused = Lease::take(&store, repository, "source").err().unwrap();
        assert!(refused.to_string().contains("is being harvested"), "{refused}");
        drop(lease);
        assert!(store.notes(repository, KEY).unwrap().is_empty());
        Lease::take(&store, repository, "source").unwrap();
    }

    #[test]
    fn a_dead_holder_holds_nothing_and_a_distant_one_until_its_time_is_over() {
        let (_folder, store, repository) = store();
        let ours = Holder::ourselves();
        for (machine, process, started, until, expected) in [
            (ours.machine.as_str(), ours.process, "1", now() + 99, false),
            (
                ours.machine.as_str(),
                u32::MAX - 7,
                ours.started.as_str(),
                now() + 99,
                false,
            ),
            ("elsewhere", 1, "1", now() + 99, true),
            ("elsewhere", 1, "1", now() - 1, false),
        ] {
            let holder = Holder {
                until,
                process,
                started: started.to_owned(),
                machine: machine.to_owned(),
            };
            store.write_notes(repository, &[note(Some(&holder.text()))]).unwrap();
            let refused = Lease::take(&store, repository, "source").is_err();
            assert_eq!(refused, expected, "{}", holder.text());
        }
    }
}
