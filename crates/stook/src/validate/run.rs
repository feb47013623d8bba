//! One run over one repository: asks, judges, remembers.
//!
//! A check is a function from what came to a [`Verdict`]. Whoever makes one says so with [`Run::judge`], so that the report
//! knows of every check whether it held, was broken, or could not be made and why.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use url::Url;

use super::ask::Asker;
use super::checks;
use super::evidence::Evidence;
use super::exchange::{Exchange, Question};
use super::facts::Facts;
use super::options::{Options, Outside, Progress};
use super::report::{Finding, Outcome};
use super::table::{self, Severity, When};
use super::waiting::Waiting;

/// Of one check so many findings are kept; the others are counted.
const MOST_FINDINGS: usize = 5;
/// Answers up to this size are kept, so that nothing is asked twice.
const KEPT_BYTES: usize = 512 * 1024;

/// What a check says.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// All is well.
    Holds,
    /// Something is wrong: once or several times.
    Broken(Vec<Found>),
    /// There is nothing to look at, and why.
    NotApplicable(String),
}

impl Verdict {
    /// Broken if anything was found.
    pub(crate) fn of(found: Vec<Found>) -> Verdict {
        match found.is_empty() {
            true => Verdict::Holds,
            false => Verdict::Broken(found),
        }
    }

    /// Broken unless something is so.
    pub(crate) fn unless(broken: bool, found: impl FnOnce() -> Found) -> Verdict {
        match broken {
            true => Verdict::Broken(vec![found()]),
            false => Verdict::Holds,
        }
    }

    pub(crate) fn is_broken(&self) -> bool {
        matches!(self, Verdict::Broken(_))
    }

    pub(crate) fn not_applicable(why: impl Into<String>) -> Verdict {
        Verdict::NotApplicable(why.into())
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// What came, in a sentence that a person understands.
    pub(crate) came: String,
    /// If it is not as bad as the table says, or worse.
    pub(crate) severity: Option<Severity>,
    /// The requests it was seen in.
    pub(crate) exchanges: Vec<u32>,
    /// The line of the answer, from 1.
    pub(crate) line: Option<usize>,
}

impl Found {
    pub(crate) fn new(came: impl Into<String>) -> Found {
        Found {
            came: came.into(),
            severity: None,
            exchanges: Vec::new(),
            line: None,
        }
    }

    /// In an answer.
    pub(crate) fn on(mut self, exchange: &Exchange) -> Found {
        self.exchanges.push(exchange.number);
        self
    }

    /// In the answer of this number.
    pub(crate) fn in_answer(mut self, number: u32) -> Found {
        self.exchanges.push(number);
        self
    }

    pub(crate) fn at_line(mut self, line: usize) -> Found {
        self.line = Some(line);
        self
    }

    /// Of another severity than the table says.
    pub(crate) fn with_severity(mut self, severity: Severity) -> Found {
        self.severity = Some(severity);
        self
    }
}

/// Why a run ends before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Something makes further testing senseless.
    Fatal(String),
    /// As many requests as allowed were sent.
    OutOfRequests,
    /// Somebody asked for it.
    Asked,
}

/// A run in progress.
pub(crate) struct Run<'a> {
    pub(crate) options: &'a Options,
    pub(crate) facts: Facts,
    /// None where a file is tested.
    asker: Option<Asker<'a>>,
    outside: Outside<'a>,
    evidence: Evidence,
    outcomes: BTreeMap<&'static str, Outcome>,
    /// Answers by their questions.
    kept: HashMap<Question, Arc<Exchange>>,
    /// An answer that came before the run began; whoever asks for it gets it.
    first: Option<Exchange>,
    /// Set when something fatal was found.
    fatal: Option<String>,
    /// What is told at the end, if nobody else does.
    waiting: Waiting,
}

impl<'a> Run<'a> {
    pub(crate) fn new(options: &'a Options, asker: Option<Asker<'a>>, outside: Outside<'a>) -> Run<'a> {
        Run {
            options,
            facts: Facts::default(),
            asker,
            outside,
            evidence: Evidence::new(options.evidence.as_deref()),
            outcomes: BTreeMap::new(),
            kept: HashMap::new(),
            first: None,
            fatal: None,
            waiting: Waiting::default(),
        }
    }

    /// With an answer that came before, and is not to be asked for again.
    pub(crate) fn begin_with(&mut self, first: Exchange) {
        self.first = Some(first);
    }

    /// Asks with GET; what was asked before is not asked again.
    pub(crate) fn get(&mut self, query: &str) -> Result<Arc<Exchange>, Stop> {
        self.ask(Question::get(query))
    }

    /// Asks; what was asked before is not asked again.
    pub(crate) fn ask(&mut self, question: Question) -> Result<Arc<Exchange>, Stop> {
        match self.kept.get(&question) {
            Some(exchange) => Ok(Arc::clone(exchange)),
            None => self.ask_anew(question),
        }
    }

    /// Asks, even if the same was asked before.
    pub(crate) fn ask_anew(&mut self, question: Question) -> Result<Arc<Exchange>, Stop> {
        let exchange = self.ask_once(question)?;
        if exchange.answer().is_none_or(|answer| answer.body.len() <= KEPT_BYTES) {
            self.kept.insert(exchange.question.clone(), Arc::clone(&exchange));
        }
        Ok(exchange)
    }

    /// Asks without keeping the answer: of a whole list there is no end of pages.
    pub(crate) fn ask_once(&mut self, question: Question) -> Result<Arc<Exchange>, Stop> {
        let first = self.first.take_if(|first| first.question == question);
        let exchange = match first {
            Some(first) => self.received(first)?,
            None => self.send(|asker| asker.ask(question))?,
        };
        self.facts.note(&exchange);
        checks::every_answer(self, &exchange);
        match self.fatal.take() {
            Some(reason) => Err(Stop::Fatal(reason)),
            None => Ok(exchange),
        }
    }

    /// Asks for a document that the repository says is somewhere else. It is no answer of the repository, so it is judged
    /// by nobody but whoever asks.
    pub(crate) fn ask_elsewhere(&mut self, url: &Url, question: Question) -> Result<Arc<Exchange>, Stop> {
        self.send(|asker| asker.ask_at(url.clone(), question))
    }

    fn send(&mut self, ask: impl FnOnce(&mut Asker<'a>) -> Exchange) -> Result<Arc<Exchange>, Stop> {
        if self.outside.stop.load(Relaxed) {
            return Err(Stop::Asked);
        }
        let Some(asker) = self.asker.as_mut() else {
            return Err(Stop::Fatal("a file cannot be asked".to_owned()));
        };
        if asker.asked() >= self.options.most_requests {
            return Err(Stop::OutOfRequests);
        }
        let exchange = ask(asker);
        self.received(exchange)
    }

    fn received(&mut self, exchange: Exchange) -> Result<Arc<Exchange>, Stop> {
        if self.outside.stop.load(Relaxed) {
            return Err(Stop::Asked);
        }
        let requests = self.requests();
        (self.outside.progress)(Progress::Asked {
            requests,
            url: &exchange.url,
        });
        let exchange = Arc::new(exchange);
        self.evidence.keep(&exchange);
        Ok(exchange)
    }

    fn requests(&self) -> u32 {
        self.asker.as_ref().map_or(0, Asker::asked)
    }

    /// Lets go of the answers that are kept.
    pub(crate) fn forget(&mut self) {
        self.kept = HashMap::new();
    }

    /// Waits, unless somebody wants it to stop.
    pub(crate) fn wait(&self, time: Duration) -> Result<(), Stop> {
        let end = Instant::now() + time;
        loop {
            if self.outside.stop.load(Relaxed) {
                return Err(Stop::Asked);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(Duration::from_millis(100)));
        }
    }

    /// Tells how far a walk through a whole list has come.
    pub(crate) fn walked(&mut self, records: u64) {
        (self.outside.progress)(Progress::Walked { records });
    }

    /// Whether a check is to be made; nothing is asked for one that is not.
    pub(crate) fn wants(&self, id: &str) -> bool {
        table::check(id).is_some_and(|check| self.options.wants(check))
    }

    /// Takes the verdict of a check.
    pub(crate) fn judge(&mut self, id: &'static str, verdict: Verdict) {
        let Some(check) = table::check(id).filter(|check| self.options.wants(check)) else {
            return;
        };
        debug_assert!(check.when != When::Never, "{id} is said not to be made");
        match verdict {
            Verdict::Holds => self.outcome(id).hold(),
            Verdict::NotApplicable(why) => self.outcome(id).not_applicable(why),
            Verdict::Broken(found) => {
                for found in found {
                    self.find(check, id, found);
                }
            }
        }
    }

    /// Takes a finding that is told at the end, unless one of the other checks (or families) finds fault with one of the
    /// answers in which it was seen: then that check tells it better.
    pub(crate) fn judge_later(&mut self, id: &'static str, found: Found, others: &'static [&'static str]) {
        self.waiting.add(id, found, others);
    }

    /// Tells what nobody else has told.
    pub(crate) fn judge_what_waits(&mut self) {
        for (id, found) in std::mem::take(&mut self.waiting).into_untold() {
            self.judge(
                id,
                match found {
                    Some(found) => Verdict::Broken(vec![found]),
                    None => Verdict::not_applicable("another check tells what is wrong there"),
                },
            );
        }
    }

    fn outcome(&mut self, id: &'static str) -> &mut Outcome {
        self.outcomes.entry(id).or_default()
    }

    fn find(&mut self, check: &'static table::Check, id: &'static str, found: Found) {
        let finding = Finding {
            check: check.id.clone(),
            severity: found.severity.unwrap_or(check.severity),
            came: found.came,
            asked: found
                .exchanges
                .iter()
                .filter_map(|number| self.evidence.asked(*number))
                .collect(),
            exchanges: found.exchanges,
            line: found.line,
        };
        if finding.severity == Severity::Fatal && self.fatal.is_none() {
            self.fatal = Some(finding.came.clone());
        }
        if finding.severity > Severity::Rec {
            self.waiting.note(id, &finding.exchanges);
        }
        let outcome = self.outcomes.entry(id).or_default();
        if outcome.is_told(&finding) || outcome.findings.len() >= MOST_FINDINGS {
            outcome.more += 1;
            return;
        }
        for number in &finding.exchanges {
            self.evidence.save(*number);
        }
        (self.outside.progress)(Progress::Found(&finding));
        outcome.findings.push(finding);
    }

    /// Says which family is next.
    pub(crate) fn begin(&mut self, family: &'static table::Family) {
        (self.outside.progress)(Progress::Family(family));
    }

    /// Ends a family: something fatal in what it judged ends the run.
    pub(crate) fn end_of_family(&mut self) -> Result<(), Stop> {
        match self.fatal.take() {
            Some(reason) => Err(Stop::Fatal(reason)),
            None => Ok(()),
        }
    }

    /// What became of each check.
    pub(crate) fn finish(self) -> Finished {
        Finished {
            requests: self.requests(),
            outcomes: self.outcomes,
            facts: self.facts,
            evidence: self.evidence,
        }
    }
}

/// What a run leaves.
pub(crate) struct Finished {
    pub(crate) outcomes: BTreeMap<&'static str, Outcome>,
    pub(crate) requests: u32,
    pub(crate) facts: Facts,
    pub(crate) evidence: Evidence,
}
