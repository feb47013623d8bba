//! The validator: asks a repository everything the protocol lets one ask, and says what is wrong.
//!
//! ```text
//! table      every check: what must hold, how bad, which section, why, how to mend
//! options    what a run is asked to do
//! ask        one question over HTTP → an exchange                        (exchange)
//! document   the body of an answer → a tree and the flaws of its XML
//! gather     the first requests: what there is to ask for                (facts)
//! probe      questions whose right answer is known beforehand
//! pages      the first pages of a list; chain: what its pages must hold beside each other
//! checks/    one family per file, each with its table of texts
//! deep/      whole lists, compared with each other
//! run        asks, judges, remembers                                     (evidence, waiting)
//! report     for people and for machines
//! ```

mod ask;
mod chain;
mod checks;
mod deep;
mod document;
mod evidence;
mod exchange;
mod facts;
mod gather;
mod options;
mod pages;
mod probe;
pub mod report;
mod run;
pub mod table;
mod waiting;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, bail};
use stook_oai::Datestamp;

pub use ask::Manners;
pub use options::{Options, Outside, Profile, Progress};
pub use report::Report;

// The explorer shows the same answers to people.
pub(crate) use ask::Asker;
pub(crate) use document::{Document, Element, Flaw, Header, Token};
pub(crate) use exchange::{Answer, Exchange, NoAnswer, Question};

use checks::static_repository::{self, StaticFile};
use run::{Run, Stop};

/// Tests the repository at a URL, or the static repository whose file is there.
///
/// # Errors
/// When the URL or an option cannot be used. A repository that cannot be tested is a report that says so.
pub fn repository<'a>(url: &str, options: &'a Options, outside: Outside<'a>) -> Result<Report> {
    options.check_names()?;
    let begun = Begun::now();
    let mut asker = Asker::new(url, options.manners.clone(), outside.stop)?;
    let base_url = options.base_url.clone().unwrap_or_else(|| url.trim().to_owned());
    let first = asker.ask(Question::get("verb=Identify"));
    let is_static = static_repository::is_at(&mut asker, &first);
    let place = asker.base().clone();
    let mut run = Run::new(options, Some(asker), outside);
    run.facts.base_url.clone_from(&base_url);
    run.facts.earlier = options.earlier.as_deref().map(report::seen_in).transpose()?;
    let stopped = match is_static {
        true => static_repository::check_at(&mut run, &place).err(),
        false => {
            run.begin_with(first);
            run_all(&mut run).err()
        }
    };
    checks::at_the_end(&mut run);
    Ok(begun.report(base_url, run, stopped))
}

/// Tests the file of a static repository, before it is anywhere.
///
/// # Errors
/// When the file or an option cannot be used. What is no static repository is a report that says so.
pub fn file<'a>(path: &Path, options: &'a Options, outside: Outside<'a>) -> Result<Report> {
    options.check_names()?;
    let begun = Begun::now();
    let most = options.manners.most_bytes;
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(|| format!("reading {}", path.display()))?;
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("reading {}", path.display()))?;
    if bytes.len() as u64 > most {
        bail!(
            "{} has more than {most} bytes\nTry: a repository of its own; a static one is meant for up to 5,000 records",
            path.display()
        );
    }
    let document = Document::read(&bytes);
    let mut run = Run::new(options, None, outside);
    static_repository::check_file(&mut run, &StaticFile::of(&document));
    let stopped = run.end_of_family().err();
    Ok(begun.report(path.display().to_string(), run, stopped))
}

/// First what there is to ask for, then family by family, then whole lists.
fn run_all(run: &mut Run<'_>) -> Result<(), Stop> {
    gather::gather(run)?;
    for (family, check) in table::families().iter().zip(checks::FAMILIES) {
        run.begin(family);
        check(run)?;
        run.end_of_family()?;
    }
    if run.options.deep {
        deep::walk(run)?;
    }
    checks::last(run)?;
    run.end_of_family()
}

/// When a run began.
struct Begun {
    date: String,
    at: Instant,
}

impl Begun {
    fn now() -> Begun {
        let seconds = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
        let datestamp = i64::try_from(seconds).ok().and_then(Datestamp::from_unix);
        Begun {
            date: datestamp.unwrap_or(Datestamp::UNIX_EPOCH).to_string(),
            at: Instant::now(),
        }
    }

    fn report(self, subject: String, run: Run<'_>, stopped: Option<Stop>) -> Report {
        let finished = run.finish();
        let identity = finished.facts.identity.as_ref();
        Report {
            subject,
            repository_name: identity.map(|identity| identity.repository_name.clone()),
            began: self.date,
            took: self.at.elapsed(),
            requests: finished.requests,
            seen: finished.facts.seen(),
            outcomes: finished.outcomes,
            ended_early: stopped.map(|stop| match stop {
                Stop::Fatal(reason) => reason,
                Stop::OutOfRequests => format!("{} requests were sent, which is the limit", finished.requests),
                Stop::Asked => "it was stopped".to_owned(),
            }),
            evidence: finished.evidence.folder().map(Path::to_owned),
            evidence_failure: finished.evidence.failure().map(str::to_owned),
            could_test: identity.is_some(),
            changes: None,
        }
    }
}
