//! From a request to a page: asking, waiting, asking again, and knowing when to stop.
//!
//! What passes is waited for here. What leaves is a page, or a [`Trouble`] that says what could still help: another
//! window, a fresh list, a person.

use std::io::{BufRead, Read};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime};

use stook_oai::MetadataPrefix;
use stook_oai::request::Request;
use stook_oai::response::{EncodingHint, ReadLimits};

use super::body::Unpacked;
use super::client::{Answer, Client, NoAnswer};
use super::page::{self, Entry, Page, Reading, Unreadable};
use super::quirks::Quirks;
use super::report::Report;
use super::run::Outside;
use super::web_page::{LOOK_YOURSELF, looks_like_html, meaning_of, text_of_html, text_or};
use crate::config::Source;

/// A body that cannot be read is asked for so many times more.
const BROKEN_RETRIES: u32 = 3;
/// However often a source says when to come back.
const MOST_ATTEMPTS: u32 = 100;
/// So much of every answer is kept until it is known to be one.
const HEAD_BYTES: usize = 4_096;
/// No pause between attempts is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Why a page could not be had, after everything that passes had time to pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It is too much at once: a smaller window may help.
    TooLarge(String),
    /// It is more than our settings allow: a smaller window may help.
    BeyondLimits(String),
    /// It takes too long: a smaller window may help.
    TimedOut(String),
    /// No connection comes about.
    Unreachable(String),
    /// The page cannot be made or read: another window, or record by record, may help.
    Broken(String),
    /// The source does not understand the request: asking differently may help.
    Rejected(String),
    /// A page for people instead: behind a token, beginning the list anew may help.
    WebPage(String),
    /// Nothing helps but a person.
    Refused(String),
    /// The source asked us to come back, later than we are willing to wait.
    Later(u64),
    /// We were asked to stop.
    Stopped,
}

impl Trouble {
    /// In words.
    pub(super) fn reason(&self) -> String {
        match self {
            Trouble::TooLarge(reason)
            | Trouble::BeyondLimits(reason)
            | Trouble::TimedOut(reason)
            | Trouble::Unreachable(reason)
            | Trouble::Broken(reason)
            | Trouble::Rejected(reason)
            | Trouble::WebPage(reason)
            | Trouble::Refused(reason) => reason.clone(),
            Trouble::Later(seconds) => {
                let time = indicatif::HumanDuration(Duration::from_secs(*seconds));
                format!("the source asks to be left alone for {time}")
            }
            Trouble::Stopped => "stopped; run it again to go on".into(),
        }
    }
}

/// Asks one source.
pub(super) struct Fetcher<'a> {
    /// Its settings.
    pub(super) source: &'a Source,
    /// How it is reached.
    pub(super) client: Client,
    /// Who else asks the same host, who may stop us, who hears how it goes.
    pub(super) outside: &'a Outside<'a>,
    /// How often a request that fails is tried again.
    pub(super) retries: u32,
    last_request: Option<Instant>,
}

/// What one attempt came to.
enum Attempt {
    Page(Box<Page>),
    /// To be tried again, after this long if the source said so.
    Again {
        finding: &'static str,
        reason: String,
        wait: Option<Duration>,
        most: u32,
        trouble: fn(String) -> Trouble,
    },
    Trouble(Trouble),
}

impl<'a> Fetcher<'a> {
    /// Asks a source.
    pub(super) fn new(source: &'a Source, client: Client, outside: &'a Outside<'a>) -> Self {
        Fetcher {
            source,
            client,
            outside,
            retries: source.retries,
            last_request: None,
        }
    }

    /// Asks until there is a page or no hope. Entries of attempts that failed have been handed over, too.
    ///
    /// # Errors
    /// [`Trouble`] when there is no page.
    pub(super) fn ask(
        &mut self,
        request: &Request,
        prefix: Option<&MetadataPrefix>,
        quirks: &Quirks,
        report: &mut Report,
        on_entry: &mut dyn FnMut(Entry),
    ) -> Result<Page, Trouble> {
        let query = quirks.query(request, prefix);
        let mut attempts = 0;
        let mut waited = Duration::ZERO;
        loop {
            self.pause_between()?;
            report.requests += 1;
            let attempt = self.attempt(&query, quirks, report, on_entry);
            self.last_request = Some(Instant::now());
            let (finding, reason, wait, most, trouble) = match attempt {
                Attempt::Page(page) => {
                    report.pages += 1;
                    report.bytes += page.bytes;
                    return Ok(*page);
                }
                Attempt::Trouble(trouble) => return Err(trouble),
                Attempt::Again {
                    finding,
                    reason,
                    wait,
                    most,
                    trouble,
                } => (finding, reason, wait, most, trouble),
            };
            report.find(finding, reason.clone());
            let longest = Duration::from_secs(self.source.longest_wait_seconds);
            if let Some(wait) = wait.filter(|wait| waited + *wait > longest) {
                return Err(Trouble::Later(wait.as_secs()));
            }
            // Whoever says when to come back is not hammered by coming back then, unless it says: at once.
            let wait = wait.filter(|wait| !wait.is_zero());
            if attempts >= most.min(self.retries) && wait.is_none() || attempts >= MOST_ATTEMPTS {
                return Err(trouble(reason));
            }
            let wait = wait.unwrap_or_else(|| self.growing_pause(attempts));
            waited += wait;
            attempts += 1;
            report.retries += 1;
            report.waiting = Some(format!(
                "{reason}; again in {} (attempt {})",
                indicatif::HumanDuration(wait.max(Duration::from_secs(1))),
                attempts + 1
            ));
            (self.outside.progress)(report, None);
            let slept = self.sleep(wait);
            report.waiting = None;
            slept?;
        }
    }

    fn growing_pause(&self, attempts: u32) -> Duration {
        let first = Duration::from_millis(self.source.retry_milliseconds.max(1));
        first.saturating_mul(1 << attempts.min(16)).min(LONGEST_PAUSE)
    }

    fn pause_between(&self) -> Result<(), Trouble> {
        let pause = Duration::from_millis(self.source.pause_milliseconds);
        match self.last_request {
            Some(last) if last.elapsed() < pause => self.sleep(pause - last.elapsed()),
            _ if self.outside.stop.load(Relaxed) => Err(Trouble::Stopped),
            _ => Ok(()),
        }
    }

    /// Sleeps, waking up to see whether it shall stop.
    fn sleep(&self, time: Duration) -> Result<(), Trouble> {
        let end = Instant::now() + time;
        loop {
            if self.outside.stop.load(Relaxed) {
                return Err(Trouble::Stopped);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(Duration::from_millis(100)));
        }
    }

    fn attempt(&self, query: &str, quirks: &Quirks, report: &mut Report, on_entry: &mut dyn FnMut(Entry)) -> Attempt {
        let _place = self.outside.polite.enter(&self.client.host());
        let answer = match self.client.get(query) {
            Ok(answer) => answer,
            Err(NoAnswer::Passing(reason)) => {
                return again("connection-failed", reason, Trouble::Unreachable);
            }
            Err(NoAnswer::TimedOut(reason)) => {
                return Attempt::Again {
                    finding: "timed-out",
                    reason,
                    wait: None,
                    most: 1,
                    trouble: Trouble::TimedOut,
                };
            }
            Err(NoAnswer::Permanent(reason)) => {
                report.find("no-answer", reason.clone());
                return Attempt::Trouble(Trouble::Refused(reason));
            }
        };
        if let Some(place) = &answer.redirected_to {
            report.find("redirected", format!("to {place}"));
        }
        self.classify(answer, quirks, report, on_entry)
    }

    /// By the status first, then by what the body really is.
    fn classify(
        &self,
        answer: Answer,
        quirks: &Quirks,
        report: &mut Report,
        on_entry: &mut dyn FnMut(Entry),
    ) -> Attempt {
        let status = answer.status;
        let wait = answer.retry_after.as_deref().and_then(retry_after);
        match status {
            200..=299 => self.read(answer, quirks, report, on_entry),
            429 | 503 => Attempt::Again {
                finding: if status == 429 { "http-429" } else { "http-503" },
                reason: match &answer.retry_after {
                    Some(text) => format!("HTTP {status}, Retry-After: {text}"),
                    None => format!("HTTP {status} without Retry-After"),
                },
                wait,
                most: u32::MAX,
                trouble: Trouble::Broken,
            },
            413 => {
                report.find("too-much-at-once", "HTTP 413");
                Attempt::Trouble(Trouble::TooLarge("HTTP 413: too much at once".into()))
            }
            401 | 407 => {
                report.find("credentials-wanted", format!("HTTP {status}"));
                let reason = format!(
                    "HTTP {status}: the source asks for credentials. Try: the settings user and password, or token"
                );
                Attempt::Trouble(Trouble::Refused(reason))
            }
            // A bot protection that is hammered closes for longer.
            403 => {
                let text = text_of_html(answer.body);
                report.find("http-403", text.clone());
                let reason = format!("HTTP 403: the source refuses us, ask its operator: {text}");
                Attempt::Trouble(Trouble::Refused(reason))
            }
            // Some answer protocol errors with a code of their own choice: the body knows better.
            400..=499 => self.read_or(answer, status, quirks, report, on_entry, |reason| match status {
                404 | 410 => Attempt::Again {
                    finding: "http-404",
                    reason,
                    wait: None,
                    most: BROKEN_RETRIES,
                    trouble: Trouble::Refused,
                },
                _ => Attempt::Trouble(Trouble::Rejected(reason)),
            }),
            500..=599 => self.read_or(answer, status, quirks, report, on_entry, |reason| {
                again("http-5xx", reason, Trouble::Broken)
            }),
            _ => Attempt::Trouble(Trouble::Refused(format!("HTTP {status}"))),
        }
    }

    /// Reads a body that comes with a status of failure; if it is no answer of the protocol, `otherwise` decides.
    fn read_or(
        &self,
        answer: Answer,
        status: u16,
        quirks: &Quirks,
        report: &mut Report,
        on_entry: &mut dyn FnMut(Entry),
        otherwise: impl FnOnce(String) -> Attempt,
    ) -> Attempt {
        match self.read_page(answer, quirks, report, on_entry) {
            Ok(page) if page.entries > 0 || !page.errors.is_empty() => {
                report.find("answer-with-http-error", format!("HTTP {status}"));
                Attempt::Page(Box::new(page))
            }
            _ if matches!(status, 404 | 410) => otherwise(format!("HTTP {status}: nothing is there. {LOOK_YOURSELF}")),
            _ => otherwise(format!("HTTP {status}")),
        }
    }

    fn read(&self, answer: Answer, quirks: &Quirks, report: &mut Report, on_entry: &mut dyn FnMut(Entry)) -> Attempt {
        let few = |finding, reason: String| Attempt::Again {
            finding,
            reason,
            wait: None,
            most: BROKEN_RETRIES,
            trouble: Trouble::Broken,
        };
        match self.read_page(answer, quirks, report, on_entry) {
            Ok(page) => Attempt::Page(Box::new(page)),
            Err(Unreadable::Empty) => few("empty-answer", "an answer without content".into()),
            Err(Unreadable::Truncated) => few("truncated", "an answer that ends in the middle".into()),
            Err(Unreadable::Broken(reason)) => few("broken-xml", reason),
            Err(Unreadable::TimedOut) => Attempt::Again {
                finding: "timed-out",
                reason: "the answer came too slowly".into(),
                wait: None,
                most: 1,
                trouble: Trouble::TimedOut,
            },
            Err(Unreadable::TooMuch(reason)) => {
                report.find("beyond-our-limits", reason.clone());
                Attempt::Trouble(Trouble::BeyondLimits(reason))
            }
            Err(Unreadable::Forbidden(reason)) => {
                report.find("forbidden-content", reason.clone());
                Attempt::Trouble(Trouble::Broken(reason))
            }
            Err(Unreadable::Html(text)) => {
                report.find("web-page", text.clone());
                Attempt::Trouble(meaning_of(text))
            }
        }
    }

    fn read_page(
        &self,
        answer: Answer,
        quirks: &Quirks,
        report: &mut Report,
        on_entry: &mut dyn FnMut(Entry),
    ) -> Result<Page, Unreadable> {
        let mut body = answer.body;
        let head = head_of(&mut body);
        if looks_like_html(&head) {
            return Err(Unreadable::Html(text_of_html(body)));
        }
        self.compare_coding(answer.says_gzip, body.is_gzip(), report)?;
        let reading = Reading {
            limits: ReadLimits {
                max_entry_bytes: self.source.max_record_megabytes.saturating_mul(1_000_000),
                max_depth: self.source.max_depth,
                ..ReadLimits::default()
            },
            strict: self.source.strict,
            hint: EncodingHint {
                setting: quirks.encoding.as_deref(),
                charset: answer.charset.as_deref(),
            },
        };
        let page = page::read(&mut body, reading, on_entry).map_err(|unreadable| match unreadable {
            _ if body.exceeded().is_some() => Unreadable::TooMuch(body.exceeded().unwrap_or_default().into()),
            // The reader knows only its title.
            Unreadable::Html(title) => Unreadable::Html(text_or(&head, title)),
            other => other,
        })?;
        if body.broke_off() {
            report.find("unexpected-end", "the connection closed behind a complete document");
        }
        for (tolerance, times) in page.tolerated.iter() {
            report.count(tolerance.name(), times, tolerance.sentence());
        }
        Ok(page)
    }

    /// Packed or not is known by the bytes; what the header says otherwise is a fault that strict mode refuses.
    fn compare_coding(&self, says_gzip: bool, is_gzip: bool, report: &mut Report) -> Result<(), Unreadable> {
        let (name, sentence) = match (says_gzip, is_gzip) {
            (true, false) => ("gzip-declared-only", "Content-Encoding says gzip, the body is not"),
            (false, true) => ("gzip-undeclared", "the body is gzip, which no header says"),
            _ => return Ok(()),
        };
        report.find(name, sentence);
        if self.source.strict {
            return Err(Unreadable::Broken(sentence.into()));
        }
        Ok(())
    }
}

fn again(finding: &'static str, reason: String, trouble: fn(String) -> Trouble) -> Attempt {
    Attempt::Again {
        finding,
        reason,
        wait: None,
        most: u32::MAX,
        trouble,
    }
}

/// `Retry-After`: seconds, or a date.
fn retry_after(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    // One that is over means now, which is not at once.
    Some(date.duration_since(SystemTime::now()).unwrap_or(Duration::from_secs(1)))
}

/// The beginning of a body, which stays to be read.
fn head_of<R: Read>(body: &mut Unpacked<R>) -> Vec<u8> {
    let start = body.fill_buf().unwrap_or_default();
    start[..start.len().min(HEAD_BYTES)].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_comes_in_two_forms() {
        assert_eq!(retry_after(" 120 "), Some(Duration::from_secs(120)));
        assert_eq!(
            retry_after("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(Duration::from_secs(1))
        );
        let soon = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(90));
        let wait = retry_after(&soon).unwrap();
        assert!((88..=90).contains(&wait.as_secs()), "{wait:?}");
        for odd in ["", "soon", "-5", "1e3"] {
            assert_eq!(retry_after(odd), None, "{odd}");
        }
    }
}
