//! The sources of one `stook harvest`: several at once, and other processes at the same work.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Result, anyhow};
use indicatif::ProgressBar;
use stook_store::Store;

use crate::cli::in_words;
use crate::count::{counted, grouped};
use crate::harvest::source::{self, KnownSource};
use crate::harvest::{LeftToOthers, Outside, Polite, Report, Wanted};

/// How often a source that another process has is looked at.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// All sources of one command.
pub(super) struct Round<'a> {
    pub(super) store: &'a Store,
    pub(super) sources: Vec<KnownSource>,
    /// Those that were there before the command.
    pub(super) known: Vec<KnownSource>,
    pub(super) wanted: Wanted,
    /// Whether other processes may do a part of it.
    pub(super) shared: bool,
    pub(super) threads: usize,
    pub(super) contact: &'a str,
    pub(super) polite: &'a Polite,
    pub(super) stop: &'a AtomicBool,
    pub(super) bar: ProgressBar,
    pub(super) totals: Totals,
    /// Sources of which something is missing.
    pub(super) findings: AtomicUsize,
}

/// A source, by its place, that another process has; and its lease.
struct Held {
    at: usize,
    lease: String,
    /// Whether the other process is seen to be there.
    is_seen: bool,
}

impl Round<'_> {
    /// Harvests every source, and comes back to those that others have: a process that dies leaves its lease behind,
    /// one that lives renews it and is left alone.
    ///
    /// # Errors
    /// When the only source cannot be harvested for a reason that is not the source's.
    pub(super) fn run(&self) -> Result<()> {
        let mut held = self.pass((0..self.sources.len()).collect())?;
        let mut leases: HashMap<usize, String> = HashMap::new();
        while !held.is_empty() && !self.stop.load(Relaxed) {
            held = self.pass(held.iter().map(|held| held.at).collect())?;
            held.retain(|held| {
                let before = leases.insert(held.at, held.lease.clone());
                let lives = held.is_seen || before.is_some_and(|before| before != held.lease);
                if lives {
                    let name = &self.sources[held.at].name;
                    self.bar
                        .suspend(|| println!("{name}: left alone, another harvest of it is running"));
                }
                !lives
            });
            if !held.is_empty() {
                std::thread::sleep(BETWEEN_LOOKS);
            }
        }
        Ok(())
    }

    /// Harvests these, several at once; returns those that others have.
    fn pass(&self, places: Vec<usize>) -> Result<Vec<Held>> {
        let (next, held) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let worker = || -> Result<()> {
            while let Some(at) = places.get(next.fetch_add(1, Relaxed)) {
                let left = self.harvest(*at)?;
                held.lock().unwrap_or_else(PoisonError::into_inner).extend(left);
                if self.stop.load(Relaxed) {
                    break;
                }
            }
            Ok(())
        };
        let threads = self.threads.clamp(1, places.len().max(1));
        let results: Vec<Result<()>> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
            running
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|_| Err(anyhow!("a harvest failed; the panic is above")))
                })
                .collect()
        });
        results.into_iter().collect::<Result<Vec<()>>>()?;
        Ok(held.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Harvests one, unless another process has it.
    fn harvest(&self, at: usize) -> Result<Option<Held>> {
        let source = &self.sources[at];
        let outside = Outside {
            contact: self.contact,
            polite: self.polite,
            stop: self.stop,
            progress: &|report, advertised| show(&self.bar, &self.totals, at, report, advertised),
        };
        let outcome = source::harvest(self.store, source, self.wanted.clone(), &outside);
        let error = match outcome {
            Ok(report) => {
                self.totals.finish(at);
                self.bar.suspend(|| tell(source, &report));
                if self.known.iter().all(|known| known.name != source.name) && !report.answered {
                    // Nobody has ever heard of it: more likely a slip of the pen than a source. One that
                    // was added with its settings is kept: it may just be down.
                    source::forget(self.store, &source.name)?;
                }
                self.findings.fetch_add(usize::from(!report.is_exact()), Relaxed);
                return Ok(None);
            }
            Err(error) => error,
        };
        match error.downcast_ref() {
            Some(LeftToOthers::BeingHarvested { lease, is_seen, .. }) if self.shared => {
                let (lease, is_seen) = (lease.clone(), *is_seen);
                return Ok(Some(Held { at, lease, is_seen }));
            }
            Some(LeftToOthers::Harvested(_)) => {}
            _ if self.sources.len() == 1 => return Err(error),
            _ => {
                self.bar.suspend(|| eprintln!("{}: {}", source.name, in_words(&error)));
                self.findings.fetch_add(1, Relaxed);
            }
        }
        self.totals.finish(at);
        Ok(None)
    }
}

/// How far all sources together have come.
pub(super) struct Totals(Mutex<Vec<Total>>);

#[derive(Clone, Default)]
struct Total {
    received: u64,
    advertised: Option<u64>,
    finished: bool,
}

impl Totals {
    pub(super) fn of(sources: usize) -> Totals {
        Totals(Mutex::new(vec![Total::default(); sources]))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Total>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, at: usize) {
        self.lock()[at].finished = true;
    }
}

/// One line for all sources: records, of how many, what went wrong.
pub(super) fn show(bar: &ProgressBar, totals: &Totals, at: usize, report: &Report, advertised: Option<u64>) {
    let mut totals = totals.lock();
    totals[at].received = report.received;
    totals[at].advertised = advertised.or(totals[at].advertised);
    let received: u64 = totals.iter().map(|total| total.received).sum();
    let of: Option<u64> = totals.iter().map(|total| total.advertised).sum();
    let seconds = bar.elapsed().as_secs_f64().max(0.1);
    let rate = received as f64 / seconds;
    let mut line = counted(received, "record");
    if let Some(of) = of.filter(|of| *of >= received) {
        let left = (of - received) as f64 / rate.max(0.1);
        line = format!(
            "{} of {}, {} left",
            grouped(received),
            counted(of, "record"),
            indicatif::HumanDuration(Duration::from_secs_f64(left))
        );
    }
    line = format!("{line}, {}/s", grouped(rate as u64));
    if totals.len() > 1 {
        let finished = totals.iter().filter(|total| total.finished).count();
        line = format!("{finished} of {}, {line}", counted(totals.len() as u64, "source"));
    }
    if report.retries > 0 {
        line = format!("{line}, {} repeated", counted(report.retries, "request"));
    }
    if report.quarantined > 0 {
        line = format!("{line}, {} quarantined", grouped(report.quarantined));
    }
    if let Some(waiting) = &report.waiting {
        if bar.is_hidden() {
            eprintln!("waiting: {waiting}");
        }
        line = format!("{line}; {waiting}");
    }
    bar.set_message(line);
}

fn tell(source: &KnownSource, report: &Report) {
    print!("{}: {report}", source.name);
    if report.in_quarantine > 0 {
        println!("What could not be saved: stook quarantine --repository {}", source.name);
    }
}
