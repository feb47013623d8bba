//! The right to harvest a source, or to see to watched folders: one process at a time, and none for ever.
//!
//! A lease is a note in the store. Its holder renews it while it lives; a lease that was not renewed belongs to nobody.
//! When that is, the store's clock says, which is the same for all machines. On one machine there is no need to wait for
//! it: a holder that is gone is known to be gone.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use stook_store::{Note, RepositoryId, Store, StoreError};

const KEY: &str = "lease";
/// How long a lease usually lasts without a renewal.
pub(crate) const LASTS: Duration = Duration::from_secs(300);
/// A lease is renewed so many times before it would lapse.
const RENEWALS: u32 = 5;

/// Held until it is dropped.
pub(crate) struct Lease {
    stop: Option<Sender<()>>,
    renewing: Option<JoinHandle<()>>,
}

/// Who has a lease.
pub(crate) struct Held {
    /// The number of the process on its machine.
    pub(crate) process: u32,
    /// The lease as it is now.
    lease: String,
    /// Whether the process is seen to be there.
    is_seen: bool,
}

/// Somebody else has to do with the source.
#[derive(Debug, thiserror::Error)]
pub enum LeftToOthers {
    /// It is being harvested.
    #[error("{name} is being harvested by process {process}\nTry: wait until it has finished")]
    BeingHarvested {
        /// The source.
        name: String,
        /// The number of the process on its machine.
        process: u32,
        /// The lease as it is now; another one after it was renewed.
        lease: String,
        /// Whether the process is seen to be there; otherwise it may have died, and its lease will tell.
        is_seen: bool,
    },
    /// It was harvested since we looked.
    #[error("{0} has just been harvested by another process")]
    Harvested(String),
}

impl Lease {
    /// Takes the lease of a source; it lapses so long after its last renewal.
    ///
    /// # Errors
    /// When somebody else has it.
    pub(super) fn take(store: &Store, repository: RepositoryId, name: &str, lasts: Duration) -> Result<Lease> {
        let taken = Lease::take_named(store, repository, KEY, lasts)?;
        taken.map_err(|held| {
            let Held {
                process,
                lease,
                is_seen,
            } = held;
            let name = name.to_owned();
            let others = LeftToOthers::BeingHarvested {
                name,
                process,
                lease,
                is_seen,
            };
            others.into()
        })
    }

    /// Takes the lease that is kept as the note of this key, unless somebody else has it.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub(crate) fn take_named(
        store: &Store,
        repository: RepositoryId,
        key: &'static str,
        lasts: Duration,
    ) -> Result<Result<Lease, Held>, StoreError> {
        let text = loop {
            let held = held(store, repository, key)?;
            let now = now(store)?;
            if let Some(text) = &held
                && let Some(holder) = Holder::parse(text).filter(|holder| holder.is_there(now))
            {
                return Ok(Err(Held {
                    process: holder.process,
                    lease: text.clone(),
                    is_seen: holder.is_here(),
                }));
            }
            let text = Holder::ourselves(now, lasts).text();
            if store.swap_note(repository, held.as_deref(), &note(key, Some(&text)))? {
                break text;
            }
            // Somebody was faster, and is the holder now; or was, and has finished.
        };
        let (stop, stopped) = channel();
        let store = store.clone();
        let renewing = std::thread::spawn(move || {
            let mut current = text;
            while stopped.recv_timeout(lasts / RENEWALS) == Err(RecvTimeoutError::Timeout) {
                // A store that cannot be asked now can be asked the next time.
                let Ok(now) = now(&store) else { continue };
                let next = Holder::ourselves(now, lasts).text();
                if store
                    .swap_note(repository, Some(&current), &note(key, Some(&next)))
                    .is_ok_and(|done| done)
                {
                    current = next;
                }
            }
            let _ = store.swap_note(repository, Some(&current), &note(key, None));
        });
        Ok(Ok(Lease {
            stop: Some(stop),
            renewing: Some(renewing),
        }))
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

fn held(store: &Store, repository: RepositoryId, key: &str) -> Result<Option<String>, StoreError> {
    let found = store.notes(repository, key)?;
    Ok(found.into_iter().find(|(found, _)| found == key).map(|(_, text)| text))
}

/// The store's time.
fn now(store: &Store) -> Result<i64, StoreError> {
    store.look_up(|snapshot| Ok(snapshot.response_date().unix()))
}

fn note(key: &str, text: Option<&str>) -> Note {
    Note {
        key: key.into(),
        text: text.map(str::to_owned),
    }
}

/// Who holds a lease.
struct Holder {
    until: i64,
    process: u32,
    /// When the process started, by the count of its machine: numbers of processes are used again.
    started: String,
    /// Among whose processes it is: a machine since its last start, or a container of it.
    machine: String,
}

impl Holder {
    fn ourselves(now: i64, lasts: Duration) -> Holder {
        let process = std::process::id();
        Holder {
            until: now.saturating_add(i64::try_from(lasts.as_secs()).unwrap_or(i64::MAX)),
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

    /// Whether it is a process that we could see.
    fn is_here(&self) -> bool {
        self.machine == machine() && self.machine != "-"
    }

    /// Whether the holder may still be at work.
    fn is_there(&self, now: i64) -> bool {
        if !self.is_here() {
            return self.until > now;
        }
        // Several sources of one process are several leases, so our own are respected too.
        start_of(self.process).is_some_and(|started| started == self.started)
    }
}

/// The machine since it was started, and the container on it: two of them do not see each other's processes. `-` where
/// that cannot be told.
fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let processes = std::fs::read_link("/proc/self/ns/pid");
    match (boot, processes) {
        (Ok(boot), Ok(processes)) => format!("{}/{}", boot.trim(), processes.display()),
        _ => "-".into(),
    }
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
        let lease = Lease::take(&store, repository, "source", LASTS).unwrap();
        let refused = Lease::take(&store, repository, "source", LASTS).err().unwrap();
        assert!(refused.to_string().contains("is being harvested"), "{refused}");
        drop(lease);
        assert!(store.notes(repository, KEY).unwrap().is_empty());
        Lease::take(&store, repository, "source", LASTS).unwrap();
    }

    #[test]
    fn a_dead_holder_holds_nothing_and_a_distant_one_until_its_time_is_over() {
        let (_folder, store, repository) = store();
        let now = now(&store).unwrap();
        let container = format!("{}/pid:[7]", machine().split('/').next().unwrap());
        let ours = Holder::ourselves(now, LASTS);
        for (machine, process, started, until, expected) in [
            (ours.machine.as_str(), ours.process, "1", now + 99, false),
            (
                ours.machine.as_str(),
                u32::MAX - 7,
                ours.started.as_str(),
                now + 99,
                false,
            ),
            // Another container of the same machine: its processes cannot be seen.
            (container.as_str(), ours.process, "1", now + 99, true),
            ("elsewhere", 1, "1", now + 99, true),
            ("elsewhere", 1, "1", now - 1, false),
        ] {
            let holder = Holder {
                until,
                process,
                started: started.to_owned(),
                machine: machine.to_owned(),
            };
            store
                .write_notes(repository, &[note(KEY, Some(&holder.text()))])
                .unwrap();
            let refused = Lease::take(&store, repository, "source", LASTS).is_err();
            assert_eq!(refused, expected, "{}", holder.text());
        }
    }
}
