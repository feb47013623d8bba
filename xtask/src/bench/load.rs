//! Loads of many connections on several servers, in turns.
//!
//! Each server is loaded for a short while, then the next, then all again, and
//! the median round counts: what else the machine does meets all of them.

use std::path::Path;

use anyhow::Result;

use super::wrk::{self, Plan};
use crate::server::Server;

/// A server and what is asked of it.
pub(super) struct Subject {
    /// As in the columns of the report.
    pub(super) name: &'static str,
    pub(super) server: Server,
    pub(super) paths: Vec<String>,
}

/// How the loads are made.
pub(super) struct Rounds<'a> {
    pub(super) count: usize,
    pub(super) seconds: u64,
    pub(super) scratch: &'a Path,
}

/// What a server did in its median round.
pub(super) struct Figures {
    pub(super) name: &'static str,
    pub(super) pages_per_second: f64,
    /// Milliseconds of processor time that the server took for a page.
    pub(super) processor_ms: f64,
}

impl Rounds<'_> {
    /// Loads all subjects with this many connections.
    ///
    /// # Errors
    /// When a load cannot be made or is not answered with success.
    pub(super) fn load(&self, subjects: &[&Subject], connections: usize, gzip: bool) -> Result<Vec<Figures>> {
        let mut rates = vec![Vec::new(); subjects.len()];
        let mut processor = vec![Vec::new(); subjects.len()];
        for _ in 0..self.count {
            for (at, subject) in subjects.iter().enumerate() {
                let before = subject.server.processor_time();
                let load = wrk::load(&self.plan(subject, connections, gzip), self.scratch)?;
                let taken = subject.server.processor_time().saturating_sub(before);
                rates[at].push(load.pages_per_second);
                processor[at].push(taken.as_secs_f64() * 1e3 / load.pages.max(1.0));
            }
        }
        let figures = subjects.iter().zip(rates).zip(processor);
        Ok(figures
            .map(|((subject, rates), processor)| Figures {
                name: subject.name,
                pages_per_second: median(rates),
                processor_ms: median(processor),
            })
            .collect())
    }

    fn plan<'s>(&self, subject: &'s Subject, connections: usize, gzip: bool) -> Plan<'s> {
        Plan {
            port: subject.server.port,
            paths: &subject.paths,
            connections,
            seconds: self.seconds,
            gzip,
        }
    }
}

/// The middle of some figures; zero of none.
pub(super) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(0.0)
}
