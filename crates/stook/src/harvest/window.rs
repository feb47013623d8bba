//! One window of the ledger: its requests, its pages, and what the source turns out to need on the way.

use std::collections::HashSet;

use stook_oai::request::{ListRequest, Request};
use stook_oai::{Datestamp, ErrorCode, Granularity, MetadataPrefix, SetSpec, UtcDatetime};

use super::collect::{AskedFor, Collected, Rest};
use super::fetch::Trouble;
use super::ledger::{DAY, Ledger, Window};
use super::page::{Failure, Page};
use super::quirks::{ADAPTATIONS, Asked, Quirks, is_encoded};
use super::run::{Ended, Harvest, Progress};

/// Empty pages in a row that a list may have.
pub(super) const EMPTY_PAGES: u32 = 20;
/// A longer token fits into no request line.
const MOST_TOKEN_BYTES: usize = 64 * 1024;
/// Asking again where much has been tried already.
pub(super) const FEW_RETRIES: u32 = 1;

/// One attempt at a window, page by page.
#[derive(Default)]
struct Passage {
    /// Pages seen, to know a list that runs in a circle.
    seen: HashSet<u64>,
    empty: u32,
    rejections: u32,
    trial: Option<Trial>,
}

/// Another way of asking that is being tried.
#[derive(Clone, Copy)]
enum Trial {
    /// One of [`ADAPTATIONS`]; after a breakdown rather than a refusal, it may be only chance that it works.
    Adaptation { at: usize, after_breakdown: bool },
    /// With dates, although everything is wanted.
    Dates,
}

/// Whether a window is to be asked again.
enum Step {
    /// For its next page, or in another way.
    Again,
    /// It is done, or others have taken its place.
    Over,
}

/// What to do about an error of the protocol.
enum Judgement {
    /// There is nothing more in the window.
    Nothing,
    /// The same once more.
    AskAgain,
    /// In another way.
    AskDifferently,
    /// From the beginning of the list.
    BeginAnew,
    /// Not at all.
    GiveUp,
}

impl Harvest<'_> {
    /// Asks for a window until it is done or something else has taken its place.
    pub(super) fn window(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &mut Ledger,
        at: usize,
        progress: &mut Progress,
    ) -> Result<(), Ended> {
        let mut passage = Passage::default();
        while let Step::Again = self.page(prefix, ledger, at, &mut passage, progress)? {}
        Ok(())
    }

    fn page(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &mut Ledger,
        at: usize,
        passage: &mut Passage,
        progress: &mut Progress,
    ) -> Result<Step, Ended> {
        let window = ledger.windows[at].clone();
        let quirks = self.quirks_of(passage.trial, &window);
        let request = self.request(prefix, ledger, &window, &quirks);
        let impatient = window.suspect || passage.trial.is_some();
        self.fetcher.retries = if impatient {
            FEW_RETRIES.min(self.source.retries)
        } else {
            self.source.retries
        };
        let asked = self.asked(&request);
        let wanted = AskedFor {
            // Widened, perhaps.
            until: window.until.filter(|_| asked.until && !asked.one_day),
            ..self.asked_for(prefix, self.set_of(ledger, &window), &window)
        };
        let (answer, rest) = self.ask_list(&request, prefix, &quirks, wanted)?;
        self.fetcher.retries = self.source.retries;
        let page = match answer {
            Ok(page) => page,
            Err(trouble) => return self.failed(prefix, ledger, at, &asked, trouble, passage, progress),
        };
        progress.failures = 0;
        progress.dates_work |= asked.dates;
        if let Some(error) = page.errors.first() {
            return self.refused(prefix, ledger, at, &asked, error, passage, progress);
        }
        if page.entries > 0 {
            progress.until_works |= asked.until;
            progress.one_day_works |= asked.one_day;
        }
        progress.some_date = rest.odd.some_date.or(progress.some_date);
        if !self.conclude(prefix, ledger, &window, passage, quirks.clone())? {
            return Ok(Step::Again);
        }
        if page.entries > 0 && !passage.seen.insert(page.digest) {
            self.report.find("token-loop", "the same page came again");
            let trouble = Trouble::Broken("the list runs in a circle".into());
            return self.over(|harvest| harvest.remedy(prefix, ledger, at, trouble, progress));
        }
        passage.empty = if page.entries == 0 { passage.empty + 1 } else { 0 };
        self.keep(prefix, ledger, at, page, rest, &quirks, passage.empty, progress)
    }

    fn over(&mut self, last: impl FnOnce(&mut Self) -> Result<(), Ended>) -> Result<Step, Ended> {
        last(self)?;
        Ok(Step::Over)
    }

    /// Sends a request for records or headers.
    pub(super) fn ask_list(
        &mut self,
        request: &Request,
        prefix: &MetadataPrefix,
        quirks: &Quirks,
        wanted: AskedFor,
    ) -> Result<(Result<Page, Trouble>, Rest), Ended> {
        let mut collected = Collected::of_records(&mut *self.sink, wanted);
        let answer = self
            .fetcher
            .ask(request, Some(prefix), quirks, &mut self.report, &mut |entry| {
                collected.take(entry);
            });
        Ok((answer, collected.rest()?))
    }

    /// Hands a good page on, with the token behind it.
    #[expect(clippy::too_many_arguments, reason = "they are the page and where it belongs")]
    fn keep(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &mut Ledger,
        at: usize,
        page: Page,
        mut rest: Rest,
        quirks: &Quirks,
        empty: u32,
        progress: &mut Progress,
    ) -> Result<Step, Ended> {
        if ledger.target.round.is_none() {
            ledger.target.round = page.response_date.map(Datestamp::unix);
        }
        let by_identifier = ledger.windows[at].by_identifier;
        let size = page.token.as_ref().and_then(|token| token.complete_list_size);
        let next = page.next().map(str::to_owned).filter(|_| empty < EMPTY_PAGES);
        let window = &mut ledger.windows[at];
        window.pages += 1;
        window.received += rest.received;
        window.advertised = size.or(window.advertised);
        window.loses_set |= rest.odd.outside_set > 0;
        window.token = next.clone();
        if by_identifier {
            let headers = std::mem::take(&mut rest.headers);
            self.fetch_each(prefix, &headers, ledger, at, quirks)?;
        } else {
            progress.record_pages += 1;
            self.report.received += rest.received;
            self.rescue(prefix, &mut rest, quirks, progress)?;
            let damaged = rest.quarantined.len() as u64;
            self.report.quarantined += damaged;
            self.report
                .count("quarantined-records", damaged, "records that cannot be read");
        }
        self.oddities(prefix, ledger, at, &page, &rest, empty, progress)?;
        let mut notes = vec![ledger.target_note()];
        if next.is_some() {
            notes.push(ledger.window_note(at));
        }
        // The last page comes before the note that ends the window.
        self.deliver(rest.delivery(notes))?;
        (self.outside.progress)(&self.report, ledger.windows[at].advertised);
        match next {
            None => self.over(|harvest| harvest.finish(ledger, at, progress)),
            Some(token) if token.len() > MOST_TOKEN_BYTES => {
                self.report
                    .find("token-too-long", format!("a token of {} bytes", token.len()));
                ledger.windows[at].restarts += 1;
                let trouble = Trouble::Broken("the token fits into no request".into());
                self.over(|harvest| harvest.remedy(prefix, ledger, at, trouble, progress))
            }
            Some(_) => Ok(Step::Again),
        }
    }

    /// The request for the next page of a window.
    fn request(&self, prefix: &MetadataPrefix, ledger: &Ledger, window: &Window, quirks: &Quirks) -> Request {
        let list = match &window.token {
            Some(token) => ListRequest::Resume {
                resumption_token: token.clone(),
            },
            None => {
                let set = self.set_of(ledger, window);
                self.selection(prefix, set, (window.from, window.until), quirks)
            }
        };
        if window.by_identifier {
            Request::ListIdentifiers(list)
        } else {
            Request::ListRecords(list)
        }
    }

    /// The beginning of a list, as the source wants it.
    pub(super) fn selection(
        &self,
        prefix: &MetadataPrefix,
        set: Option<SetSpec>,
        (from, until): (Option<i64>, Option<i64>),
        quirks: &Quirks,
    ) -> ListRequest {
        let granularity = self.granularity(quirks);
        let from = from.filter(|_| !quirks.no_dates);
        let until = until.filter(|_| !quirks.no_dates && !quirks.no_until);
        // earliestDatestamp is often later than the earliest record.
        let needed = (quirks.needs_dates && !quirks.no_dates && until.is_none()).then_some(0);
        let from = from.or(needed);
        let date = |seconds: i64| Datestamp::from_unix(seconds).map(|date| UtcDatetime::new(date, granularity));
        let until = until.map(|until| match from {
            // Some give nothing for a single granule; what comes too much is the next window's anyway.
            Some(from) if on_one_day(from, until) && (quirks.whole_days || granularity == Granularity::Day) => {
                until + DAY
            }
            Some(from) if from == until => until + 1,
            _ => until,
        });
        ListRequest::Selection {
            metadata_prefix: prefix.clone(),
            from: from.and_then(date),
            until: until.and_then(date),
            set,
        }
    }

    /// How dates are written in requests.
    pub(super) fn granularity(&self, quirks: &Quirks) -> Granularity {
        quirks.granularity.map_or(self.facts.granularity, Into::into)
    }

    /// What matters about a request if it is rejected.
    fn asked(&self, request: &Request) -> Asked {
        let (from, until, token) = match request {
            Request::ListRecords(ListRequest::Selection { from, until, .. })
            | Request::ListIdentifiers(ListRequest::Selection { from, until, .. }) => (*from, *until, false),
            _ => (None, None, true),
        };
        let one_day = from.zip(until).is_some_and(|(from, until)| {
            from.granularity() == Granularity::Second
                && on_one_day(from.first_second().unix(), until.first_second().unix())
        });
        Asked {
            dates: from.is_some() || until.is_some(),
            until: until.is_some(),
            one_day,
            token,
            encoded: is_encoded(request),
            granularity: self.facts.granularity,
        }
    }

    pub(super) fn set_of(&self, ledger: &Ledger, window: &Window) -> Option<SetSpec> {
        let set = if window.slice.is_empty() {
            &ledger.target.set
        } else {
            &window.slice
        };
        SetSpec::parse(set).ok()
    }

    pub(super) fn asked_for(&self, prefix: &MetadataPrefix, set: Option<SetSpec>, window: &Window) -> AskedFor {
        let format = self.facts.formats.iter().find(|format| format.prefix == *prefix);
        AskedFor {
            prefix: prefix.clone(),
            namespace: format.map_or(String::new(), |format| format.namespace.clone()),
            set,
            from: window.from,
            until: window.until,
            earliest: self.facts.earliest,
            loses_set: window.loses_set,
            place: self.source.url.clone(),
        }
    }

    /// The quirks, and the one that is being tried.
    fn quirks_of(&self, trial: Option<Trial>, window: &Window) -> Quirks {
        let mut quirks = self.quirks.clone();
        match trial {
            None => {}
            Some(Trial::Adaptation { at, .. }) => {
                let asked = Asked {
                    dates: window.from.is_some() || window.until.is_some(),
                    until: window.until.is_some(),
                    one_day: false,
                    token: window.token.is_some(),
                    encoded: true,
                    granularity: self.facts.granularity,
                };
                (ADAPTATIONS[at].learn)(&asked, &mut quirks);
            }
            Some(Trial::Dates) => quirks.needs_dates = true,
        }
        quirks
    }

    /// Moves on to the next way of asking; `false` when there is none left.
    fn adapt(&self, asked: &Asked, trial: &mut Option<Trial>, after_breakdown: bool) -> bool {
        let first = match trial {
            Some(Trial::Adaptation { at, .. }) => *at + 1,
            _ => 0,
        };
        let next = (first..ADAPTATIONS.len()).find(|at| (ADAPTATIONS[*at].applies)(asked, &self.quirks));
        *trial = next.map(|at| Trial::Adaptation { at, after_breakdown });
        trial.is_some()
    }

    /// A page has come: if something was tried, is it what the source needs? Not if the trouble has passed by itself.
    fn conclude(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &Ledger,
        window: &Window,
        passage: &mut Passage,
        quirks: Quirks,
    ) -> Result<bool, Ended> {
        let sentence = match passage.trial.take() {
            None => return Ok(true),
            Some(Trial::Dates) => "dates are sent, although everything is wanted",
            Some(Trial::Adaptation { at, after_breakdown }) => {
                if after_breakdown && self.works_after_all(prefix, ledger, window)? {
                    passage.rejections += 1;
                    return Ok(false);
                }
                ADAPTATIONS[at].sentence
            }
        };
        self.quirks = quirks;
        self.report.find("learned", sentence);
        Ok(true)
    }

    /// Whether the breakdown has passed, rather than been got around: the request as it was is answered.
    fn works_after_all(&mut self, prefix: &MetadataPrefix, ledger: &Ledger, window: &Window) -> Result<bool, Ended> {
        let quirks = self.quirks.clone();
        let request = self.request(prefix, ledger, window, &quirks);
        let wanted = self.asked_for(prefix, None, window);
        let patience = std::mem::replace(&mut self.fetcher.retries, 0);
        let (answer, _) = self.ask_list(&request, prefix, &quirks, wanted)?;
        self.fetcher.retries = patience;
        Ok(answer.is_ok_and(|page| page.errors.is_empty() || page.errors.iter().all(Failure::says_nothing_there)))
    }

    /// No page has come.
    #[expect(clippy::too_many_arguments, reason = "they are the failure and where it belongs")]
    fn failed(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &mut Ledger,
        at: usize,
        asked: &Asked,
        trouble: Trouble,
        passage: &mut Passage,
        progress: &mut Progress,
    ) -> Result<Step, Ended> {
        let breakdown = match &trouble {
            Trouble::Rejected(_) => Some(false),
            // Some servers crash on what others reject.
            Trouble::Broken(_) | Trouble::Unreachable(_)
                if asked.dates && !progress.dates_work && passage.rejections < 2 =>
            {
                Some(true)
            }
            _ => None,
        };
        if breakdown.is_some_and(|breakdown| self.adapt(asked, &mut passage.trial, breakdown)) {
            return Ok(Step::Again);
        }
        self.over(|harvest| harvest.remedy(prefix, ledger, at, trouble, progress))
    }

    /// An error of the protocol has come.
    #[expect(clippy::too_many_arguments, reason = "they are the error and where it belongs")]
    fn refused(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &mut Ledger,
        at: usize,
        asked: &Asked,
        error: &Failure,
        passage: &mut Passage,
        progress: &mut Progress,
    ) -> Result<Step, Ended> {
        let window = ledger.windows[at].clone();
        match self.judge(error, &window, ledger) {
            Judgement::Nothing => {
                if let Some(trial) = self.doubt(asked, &window, ledger, passage.trial) {
                    passage.trial = Some(trial);
                    return Ok(Step::Again);
                }
                if asked.until && !progress.until_works && self.until_is_broken(prefix, ledger, &window)? {
                    self.quirks.no_until = true;
                    self.report
                        .find("learned", "until is not sent: with it nothing is ever found");
                    self.absorb_later_windows(ledger, at)?;
                    return Ok(Step::Again);
                }
                progress.until_works |= asked.until;
                if asked.one_day && !progress.one_day_works && self.one_day_is_broken(prefix, progress)? {
                    self.quirks.whole_days = true;
                    self.report.find("learned", "from and until are never on one day");
                    return Ok(Step::Again);
                }
                if asked.one_day && !progress.one_day_works && !self.quirks.whole_days {
                    progress.doubtful.push(window.number);
                }
                self.over(|harvest| harvest.finish(ledger, at, progress))
            }
            Judgement::AskAgain if passage.rejections == 0 => {
                passage.rejections += 1;
                self.report.find("error-asked-again", error.text.clone());
                Ok(Step::Again)
            }
            Judgement::AskAgain | Judgement::AskDifferently => {
                let trouble = Trouble::Rejected(error.text.clone());
                self.failed(prefix, ledger, at, asked, trouble, passage, progress)
            }
            Judgement::BeginAnew => {
                self.report.find("token-refused", error.text.clone());
                let trouble = Trouble::Broken(error.text.clone());
                self.over(|harvest| harvest.remedy(prefix, ledger, at, trouble, progress))
            }
            Judgement::GiveUp => self.over(|harvest| harvest.gap(ledger, at, error.text.clone())),
        }
    }

    /// Where "nothing" may be the wrong answer to the way we asked: another way to try.
    fn doubt(&self, asked: &Asked, window: &Window, ledger: &Ledger, trial: Option<Trial>) -> Option<Trial> {
        if trial.is_some() || asked.token {
            return None;
        }
        let selective = asked.dates || self.set_of(ledger, window).is_some();
        if !selective && !self.quirks.needs_dates && !self.quirks.no_dates {
            return Some(Trial::Dates);
        }
        None
    }

    /// What an error of the protocol means here.
    fn judge(&mut self, failure: &Failure, window: &Window, ledger: &Ledger) -> Judgement {
        let resumed = window.token.is_some();
        let selective = window.from.is_some() || window.until.is_some() || self.set_of(ledger, window).is_some();
        match failure.code {
            Some(ErrorCode::NoRecordsMatch) if resumed => {
                self.report
                    .find("no-records-at-the-end", "the last token leads to noRecordsMatch");
                Judgement::Nothing
            }
            Some(ErrorCode::NoRecordsMatch) => Judgement::Nothing,
            Some(ErrorCode::BadResumptionToken) => Judgement::BeginAnew,
            Some(ErrorCode::BadArgument) if resumed => Judgement::AskAgain,
            Some(ErrorCode::BadArgument | ErrorCode::BadVerb) => Judgement::AskDifferently,
            Some(ErrorCode::CannotDisseminateFormat) if selective => {
                self.report.find("cannot-disseminate-nothing", failure.text.clone());
                Judgement::Nothing
            }
            None if failure.says_nothing_there() => Judgement::Nothing,
            None if !resumed => Judgement::AskAgain,
            _ if resumed => Judgement::BeginAnew,
            _ => Judgement::GiveUp,
        }
    }
}

fn on_one_day(one: i64, other: i64) -> bool {
    one.div_euclid(DAY) == other.div_euclid(DAY)
}
