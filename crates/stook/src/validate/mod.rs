//! The validator: asks a repository everything the protocol lets one ask, and says what is wrong.
//!
//! ```text
//! table      every check: what must hold, how bad, which section, why, how to mend
//! options    what a run is asked to do
//! ask        one question over HTTP → an exchange                        (exchange)
//! document   the body of an answer → a tree and the flaws of its XML
//! gather     the first requests: what there is to ask for                (facts)
//! probe      questions whose right answer is known beforehand
//! checks/    one family per file, each with its table of texts
//! run        asks, judges, remembers                                     (evidence, waiting)
//! report     for people and for machines
//! ```

mod ask;
mod checks;
mod document;
mod evidence;
mod exchange;
mod facts;
mod gather;
mod options;
mod probe;
pub mod report;
mod run;
pub mod table;
mod waiting;

use std::time::{Instant, SystemTime};

use anyhow::Result;
use stook_oai::Datestamp;

pub use ask::Manners;
pub use options::{Options, Outside, Profile, Progress};
pub use report::Report;

use ask::Asker;
use evidence::Evidence;
use run::{Run, Stop};

/// Tests the repository at a URL.
///
/// # Errors
/// When the URL or an option cannot be used. A repository that cannot be tested is a report that says so.
pub fn repository<'a>(url: &str, options: &'a Options, outside: Outside<'a>) -> Result<Report> {
    options.check_names()?;
    let (began, started) = (now(), Instant::now());
    let asker = Asker::new(url, options.manners.clone(), outside.stop)?;
    let base_url = options.base_url.clone().unwrap_or_else(|| url.trim().to_owned());
    let evidence = Evidence::new(options.evidence.as_deref());
    let mut run = Run::new(options, asker, evidence, outside);
    run.facts.base_url = base_url.clone();
    let stopped = run_all(&mut run).err();
    checks::at_the_end(&mut run);
    let finished = run.finish();
    let identity = finished.facts.identity.as_ref();
    Ok(Report {
        subject: base_url,
        repository_name: identity.map(|identity| identity.repository_name.clone()),
        began,
        took: started.elapsed(),
        requests: finished.requests,
        outcomes: finished.outcomes,
        ended_early: stopped.map(|stop| match stop {
            Stop::Fatal(reason) => reason,
            Stop::OutOfRequests => format!("{} requests were sent, which is the limit", finished.requests),
            Stop::Asked => "it was stopped".to_owned(),
        }),
        evidence: finished.evidence.folder().map(std::path::Path::to_owned),
        evidence_failure: finished.evidence.failure().map(str::to_owned),
        could_test: identity.is_some(),
    })
}

/// First what there is to ask for, then family by family.
fn run_all(run: &mut Run<'_>) -> Result<(), Stop> {
    gather::gather(run)?;
    for (family, check) in table::families().iter().zip(checks::FAMILIES) {
        run.begin(family);
        check(run)?;
        run.end_of_family()?;
    }
    Ok(())
}

fn now() -> String {
    let seconds = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    let datestamp = i64::try_from(seconds).ok().and_then(Datestamp::from_unix);
    datestamp.unwrap_or(Datestamp::UNIX_EPOCH).to_string()
}
