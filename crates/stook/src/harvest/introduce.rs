//! What a source says of itself: Identify, ListMetadataFormats, ListSets.
//!
//! None of them is needed to harvest, so one that fails is reported and the harvest goes on. Where all of them fail
//! there is nobody to ask.

use std::collections::HashSet;
use std::time::SystemTime;

use anyhow::{Context, Result};
use stook_oai::request::Request;
use stook_oai::{Datestamp, MetadataFormat, MetadataPrefix, SetSpec};

use super::collect::{Collected, Rest};
use super::fetch::Trouble;
use super::page::Page;
use super::run::{Ended, Harvest};

/// Sets worth asking for; more are counted as found.
const MOST_SETS: usize = 200_000;
/// A source that nobody has ever reached is asked again so often.
const FIRST_CONTACT_RETRIES: u32 = 2;
/// Sets named in a message.
const SETS_NAMED: usize = 10;
/// Time-outs that are endured before anything is known.
const MOST_TIMEOUTS: u32 = 2;

/// What came of the questions so far.
#[derive(Default)]
struct Acquaintance {
    answered: bool,
    timeouts: u32,
    /// Why one was not answered.
    reason: String,
}

impl Harvest<'_> {
    /// Asks the source about itself.
    ///
    /// # Errors
    /// When it does not answer at all, or not what is wanted.
    pub(super) fn introduce(&mut self) -> Result<(), Ended> {
        let mut acquaintance = Acquaintance::default();
        if self.wanted.first_contact {
            self.fetcher.retries = FIRST_CONTACT_RETRIES.min(self.source.retries);
        }
        self.identify(&mut acquaintance)?;
        self.fetcher.retries = self.source.retries;
        self.formats(&mut acquaintance)?;
        self.sets(&mut acquaintance)?;
        self.report.answered = acquaintance.answered;
        if !acquaintance.answered {
            let reason = format!("the source does not answer: {}", acquaintance.reason);
            return Err(Trouble::Refused(reason).into());
        }
        Ok(())
    }

    /// One question; none if it is not answered, and the harvest may go on without.
    fn question(
        &mut self,
        request: &Request,
        finding: &str,
        acquaintance: &mut Acquaintance,
    ) -> Result<Option<(Page, Rest)>, Ended> {
        let mut collected = Collected::of_facts(&mut *self.sink);
        let asked = self
            .fetcher
            .ask(request, None, &self.quirks, &mut self.report, &mut |entry| {
                collected.take(entry);
            });
        let rest = collected.rest()?;
        let trouble = match asked {
            Ok(page) if page.entries > 0 || page.errors.is_empty() => {
                acquaintance.answered = true;
                return Ok(Some((page, rest)));
            }
            // That there are no sets is an answer.
            Ok(page) => {
                let error = page.errors.first();
                acquaintance.answered |= error.is_some_and(|error| error.code.is_some());
                Trouble::Rejected(error.map(|error| error.text.clone()).unwrap_or_default())
            }
            Err(trouble @ (Trouble::Stopped | Trouble::Later(_) | Trouble::Refused(_))) => return Err(trouble.into()),
            // Who cannot be reached for one question cannot be for the next.
            Err(Trouble::Unreachable(reason)) => {
                let reason = format!("the source does not answer: {reason}. Try: check its address");
                return Err(Trouble::Refused(reason).into());
            }
            Err(trouble) if matches!(request, Request::Identify) && matches!(trouble, Trouble::WebPage(_)) => {
                return Err(trouble.into());
            }
            Err(trouble) => trouble,
        };
        self.report.find(finding, trouble.reason());
        acquaintance.reason = trouble.reason();
        acquaintance.timeouts += u32::from(matches!(trouble, Trouble::TimedOut(_)));
        if acquaintance.timeouts >= MOST_TIMEOUTS {
            return Err(trouble.into());
        }
        Ok(None)
    }

    fn identify(&mut self, acquaintance: &mut Acquaintance) -> Result<(), Ended> {
        let answer = self.question(&Request::Identify, "identify-failed", acquaintance)?;
        let now = answer.as_ref().and_then(|(page, _)| page.response_date);
        self.facts.now = now.map_or_else(system_clock, Datestamp::unix);
        if let Some((
            _,
            Rest {
                identify: Some(identify),
                ..
            },
        )) = answer
        {
            self.facts.granularity = identify.granularity;
            self.facts.earliest = identify.earliest_datestamp.unix();
        }
        if let Some(granularity) = self.quirks.granularity {
            self.facts.granularity = granularity.into();
        }
        Ok(())
    }

    fn formats(&mut self, acquaintance: &mut Acquaintance) -> Result<(), Ended> {
        let request = Request::ListMetadataFormats { identifier: None };
        if let Some((_, rest)) = self.question(&request, "formats-unknown", acquaintance)? {
            self.facts.formats = rest.formats;
        }
        for prefix in &self.source.prefixes {
            let offered = self
                .facts
                .formats
                .iter()
                .find(|format| format.prefix.as_str() == prefix);
            let format = match offered {
                Some(format) => format.clone(),
                None if self.facts.formats.is_empty() => well_known(prefix)?,
                None => {
                    let known: Vec<&str> = self.facts.formats.iter().map(|format| format.prefix.as_str()).collect();
                    let reason = format!("it does not offer the format {prefix}, only {}", known.join(", "));
                    return Err(Trouble::Refused(reason).into());
                }
            };
            self.memory.declare_format(&format)?;
        }
        Ok(())
    }

    fn sets(&mut self, acquaintance: &mut Acquaintance) -> Result<(), Ended> {
        let mut token = None;
        let mut seen = HashSet::new();
        loop {
            let request = Request::ListSets {
                resumption_token: token,
            };
            let Some((page, rest)) = self.question(&request, "sets-unknown", acquaintance)? else {
                break;
            };
            let mut new = false;
            for set in rest.sets {
                if seen.insert(set.spec.as_str().to_owned()) {
                    new = true;
                    self.memory.define_set(&set)?;
                    self.facts.sets.push(set.spec);
                }
            }
            token = page.next().map(str::to_owned);
            if token.is_none() || !new || seen.len() >= MOST_SETS {
                break;
            }
        }
        for set in self.source.sets.clone() {
            self.look_for_set(&set)?;
        }
        Ok(())
    }

    /// A set that is wanted should be among those the source lists, or above them.
    fn look_for_set(&mut self, set: &str) -> Result<(), Ended> {
        let parsed = SetSpec::parse(set).map_err(|error| Ended::Failure(error.into()))?;
        let sets = &self.facts.sets;
        if sets.is_empty() || sets.contains(&parsed) {
            return Ok(());
        }
        let mut harvested = false;
        for prefix in &self.source.prefixes {
            harvested |= self.memory.ledger(prefix, set)?.target.rounds > 0;
        }
        if harvested {
            self.report
                .find("set-vanished", format!("{set} is not among the sets the source lists"));
            return Ok(());
        }
        if sets.iter().any(|listed| parsed.contains(listed)) {
            return Ok(());
        }
        let mut named: Vec<&str> = sets.iter().take(SETS_NAMED).map(SetSpec::as_str).collect();
        if sets.len() > SETS_NAMED {
            named.push("…");
        }
        let reason = format!("it has no set {set}, only {}", named.join(", "));
        Err(Trouble::Refused(reason).into())
    }
}

/// Where the source shows no clock of its own. Only for cutting windows, never for the cursor.
fn system_clock() -> i64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// A format that the source would not describe.
fn well_known(prefix: &str) -> Result<MetadataFormat> {
    let known = stook_metadata::well_known()
        .iter()
        .find(|format| format.prefix.as_str() == prefix);
    match known {
        Some(format) => Ok(format.metadata_format()),
        None => Ok(MetadataFormat {
            prefix: MetadataPrefix::parse(prefix).context("the format's prefix")?,
            schema: String::new(),
            namespace: String::new(),
        }),
    }
}
