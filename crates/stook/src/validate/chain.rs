//! The pages of one list, token by token: what each must hold beside those before it.
//!
//! Enters: pages in their order. Leaves: the question for the next one, and verdicts at the end. It holds nothing of a page
//! but counts and the digests of tokens, so a chain may be as long as it likes.

use std::collections::{BTreeMap, HashSet};

use stook_oai::ErrorCode;

use super::document::{Document, Token};
use super::exchange::Exchange;
use super::gather::next_page;
use super::run::{Found, Run, Verdict};
use super::table::Severity;

/// The checks that a chain judges.
const CHECKS: [&str; 7] = ["F-3", "F-4", "F-5", "F-6", "F-7", "F-8", "F-25"];

/// Of each check so much is remembered.
const MOST_FOUND: usize = 100;

/// How far a list has been followed.
pub(crate) struct Chain {
    verb: &'static str,
    /// Pages so far.
    pub(crate) pages: u32,
    /// Entries so far.
    pub(crate) members: u64,
    /// Whether the last page was seen.
    pub(crate) ended: bool,
    /// Whether the first page had a token.
    pub(crate) split: bool,
    /// What completeListSize said first and last.
    pub(crate) first_size: Option<u64>,
    last_size: Option<u64>,
    /// Whether the pages so far have cursors.
    has_cursor: Option<bool>,
    /// Whether a page without entries came, so that counts mean nothing any more.
    uncounted: bool,
    /// Whether the last token gave nothing of the protocol at all.
    unanswered: bool,
    tokens: HashSet<[u8; 16]>,
    found: BTreeMap<&'static str, Vec<Found>>,
}

impl Chain {
    pub(crate) fn new(verb: &'static str) -> Chain {
        Chain {
            verb,
            pages: 0,
            members: 0,
            ended: false,
            split: false,
            first_size: None,
            last_size: None,
            has_cursor: None,
            uncounted: false,
            unanswered: false,
            tokens: HashSet::new(),
            found: BTreeMap::new(),
        }
    }

    /// Takes the next page; the query for the one behind it, if the list goes on.
    pub(crate) fn read(&mut self, page: &Exchange) -> Option<String> {
        self.pages += 1;
        let Some(document) = page.document().filter(|document| document.payload().is_some()) else {
            self.failed(page);
            return None;
        };
        let count = document.header_elements().count() as u64;
        let token = document.token();
        let next = next_page(self.verb, page);
        if count == 0 && self.pages > 1 {
            self.empty_page(page, next.is_some());
            self.uncounted = true;
        }
        if self.pages == 1 {
            self.split = next.is_some();
        }
        if self.split && !self.uncounted {
            self.cursor(page, token.as_ref());
            self.size(page, token.as_ref(), count, next.is_some());
        }
        self.members += count;
        match (next, token) {
            (Some(next), Some(token)) => self.is_new(page, &token).then_some(next),
            (_, token) => {
                self.end(page, token.as_ref());
                None
            }
        }
    }

    /// A token that gives no page.
    fn failed(&mut self, page: &Exchange) {
        let errors = page.errors();
        if self.pages == 1 || errors.is_empty() {
            self.unanswered = true;
            return;
        }
        if errors
            .iter()
            .any(|(code, _)| code == ErrorCode::NoRecordsMatch.as_str())
        {
            let came = "the last page has a token, and noRecordsMatch is all it leads to";
            self.find("F-4", Found::new(came).on(page));
            // That the list is no longer than its pages is then no fault of the number.
            self.found.remove("F-8");
        } else {
            let came = format!("{} for the token of page {}", page.in_short(), self.pages - 1);
            self.find("F-3", Found::new(came).on(page));
        }
    }

    fn empty_page(&mut self, page: &Exchange, has_more: bool) {
        let came = format!("page {} has no entries", self.pages);
        self.find(if has_more { "F-3" } else { "F-25" }, Found::new(came).on(page));
    }

    fn cursor(&mut self, page: &Exchange, token: Option<&Token>) {
        // A last page without the element is told as that.
        let Some(token) = token else {
            return;
        };
        let has_cursor = token.cursor.is_some();
        if self.has_cursor.is_some_and(|before| before != has_cursor) {
            let came = match has_cursor {
                true => format!("page {} has a cursor, pages before it have none", self.pages),
                false => format!("page {} has no cursor, pages before it have one", self.pages),
            };
            self.find("F-7", Found::new(came).on(page).with_severity(Severity::Warn));
        }
        self.has_cursor = Some(has_cursor);
        let Some(cursor) = &token.cursor else {
            return;
        };
        if cursor.trim().parse() != Ok(self.members) {
            let (number, before) = (self.pages, self.members);
            let came = format!("cursor {cursor:?} on page {number}, with {before} entries before it");
            self.find("F-7", Found::new(came).on(page));
        }
    }

    fn size(&mut self, page: &Exchange, token: Option<&Token>, count: u64, has_more: bool) {
        let Some(text) = token.and_then(|token| token.complete_list_size.as_deref()) else {
            return;
        };
        let Some(size) = text.trim().parse::<u64>().ok().filter(|size| *size > 0) else {
            return self.find("F-8", Found::new(format!("completeListSize {text:?}")).on(page));
        };
        if self.pages == 1 && has_more && size <= count {
            let came = format!("completeListSize {size} on a first page of {count} entries that has a token");
            self.find("F-8", Found::new(came).on(page).with_severity(Severity::Warn));
        }
        if let Some(before) = self.last_size.filter(|before| *before != size) {
            let came = format!("completeListSize {before}, then {size}");
            self.find("F-8", Found::new(came).on(page).with_severity(Severity::Info));
        }
        self.first_size.get_or_insert(size);
        self.last_size = Some(size);
    }

    fn is_new(&mut self, page: &Exchange, token: &Token) -> bool {
        let digest = blake3::hash(token.value.as_bytes());
        let mut short = [0; 16];
        short.copy_from_slice(&digest.as_bytes()[..16]);
        let is_new = self.tokens.insert(short);
        if !is_new {
            let came = format!("page {} has the token of an earlier page", self.pages);
            self.find("F-5", Found::new(came).on(page));
        }
        is_new
    }

    fn end(&mut self, page: &Exchange, token: Option<&Token>) {
        self.ended = true;
        if !self.split {
            return;
        }
        if token.is_none() {
            let came = "the last page has no resumptionToken element";
            self.find("F-4", Found::new(came).on(page).with_severity(Severity::Warn));
        }
        let Some(size) = self.last_size.filter(|size| *size != self.members && !self.uncounted) else {
            return;
        };
        let came = format!("{} entries, with a completeListSize of {size}", self.members);
        // Fewer than promised may be a list that was cut; more is a number that is wrong.
        let id = if self.members < size { "F-6" } else { "F-8" };
        self.find(id, Found::new(came).on(page).with_severity(Severity::Warn));
    }

    pub(crate) fn find(&mut self, id: &'static str, found: Found) {
        let all = self.found.entry(id).or_default();
        if all.len() < MOST_FOUND {
            all.push(found);
        }
    }

    /// Whether more or fewer entries came than were promised.
    pub(crate) fn is_of_other_size(&self) -> bool {
        self.last_size.is_some_and(|size| size != self.members)
    }

    /// Leaves out what was found about the number of entries: the list changed meanwhile.
    pub(crate) fn forgive_size(&mut self) {
        self.found.remove("F-6");
        self.found.remove("F-8");
    }

    /// Judges what a chain can.
    pub(crate) fn judge(mut self, run: &mut Run<'_>) {
        for id in CHECKS {
            let verdict = match self.found.remove(id) {
                Some(found) => Verdict::Broken(found),
                None => self.verdict(id),
            };
            run.judge(id, verdict);
        }
    }

    /// Of a check that found nothing.
    fn verdict(&self, id: &str) -> Verdict {
        if !self.split {
            return Verdict::not_applicable("the list is not split");
        }
        match id {
            "F-4" | "F-25" if !self.ended => {
                Verdict::not_applicable("the last page was not reached; --deep goes to the end")
            }
            "F-7" if self.has_cursor != Some(true) => Verdict::not_applicable("there is no cursor"),
            "F-8" if self.last_size.is_none() => Verdict::not_applicable("there is no completeListSize"),
            _ if self.unanswered => Verdict::not_applicable("there was no answer, which other checks tell"),
            _ if self.pages < 2 => Verdict::not_applicable("there was no second page"),
            _ => Verdict::Holds,
        }
    }
}

/// The responseDate of a page, as a point in time.
pub(crate) fn response_date(page: &Exchange) -> Option<stook_oai::Datestamp> {
    super::facts::read_datestamp(&page.document().and_then(Document::response_date)?)
}
