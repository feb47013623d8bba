//! The first pages of a list: what a selection gives, as far as a default run looks.

use std::sync::Arc;

use stook_oai::{Datestamp, ErrorCode};

use super::document::{Document, Header};
use super::exchange::{Exchange, Question};
use super::facts::read_datestamp;
use super::gather::next_page;
use super::probe::{Expect, encoded};
use super::run::{Run, Stop, Verdict};

/// Pages of a list that are read, however long it is.
pub(crate) const MOST_PAGES: usize = 3;

/// The first pages of a list.
pub(crate) struct Listed {
    /// At least one.
    pub(crate) pages: Vec<Arc<Exchange>>,
    /// Whether these are all.
    pub(crate) complete: bool,
}

impl Run<'_> {
    /// Asks for the first pages of a list; pages that are known are not asked for again.
    pub(crate) fn list(&mut self, verb: &str, selection: &str) -> Result<Listed, Stop> {
        let mut query = format!("verb={verb}&{selection}");
        let mut pages: Vec<Arc<Exchange>> = Vec::new();
        loop {
            let page = self.get(&query)?;
            let next = next_page(verb, &page);
            let is_whole = page.succeeded() || (pages.is_empty() && has_no_records(&page));
            pages.push(page);
            match next {
                None => {
                    return Ok(Listed {
                        pages,
                        complete: is_whole,
                    });
                }
                Some(next) if pages.len() < MOST_PAGES && !pages.iter().any(|page| page.question.query == next) => {
                    query = next;
                }
                Some(_) => return Ok(Listed { pages, complete: false }),
            }
        }
    }

    /// Whether a record is not known to have changed: what changes between two lists is nobody's fault.
    pub(crate) fn is_unchanged(&mut self, identifier: &str, datestamp: &str) -> Result<bool, Stop> {
        let identifier = encoded(identifier);
        let query = format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier}");
        let exchange = self.ask_once(Question::get(query))?;
        let Some(document) = exchange.document() else {
            return Ok(true);
        };
        let mut headers = document.headers();
        let is_newer = headers.any(|now| now.datestamp != datestamp);
        let keeps_all = self
            .facts
            .identity
            .as_ref()
            .map(|identity| identity.deleted_record.as_str());
        let is_gone = document.has_error(ErrorCode::IdDoesNotExist) && keeps_all != Some("persistent");
        Ok(!is_newer && !is_gone)
    }
}

fn has_no_records(page: &Exchange) -> bool {
    page.document()
        .is_some_and(|document| document.has_error(ErrorCode::NoRecordsMatch))
}

impl Listed {
    pub(crate) fn first(&self) -> &Exchange {
        &self.pages[0]
    }

    /// The verdict where there is neither a list nor the word that it is empty.
    pub(crate) fn refused(&self) -> Option<Verdict> {
        let is_list = self.first().succeeded() || has_no_records(self.first());
        (!is_list).then(|| Expect::SuccessOr(&[ErrorCode::NoRecordsMatch]).judge(self.first()))
    }

    /// The headers of all pages.
    pub(crate) fn headers(&self) -> impl Iterator<Item = Header> {
        self.pages.iter().flat_map(|page| headers_of(page))
    }

    pub(crate) fn has(&self, identifier: &str) -> bool {
        self.headers().any(|header| header.identifier == identifier)
    }
}

/// The headers of one page.
pub(crate) fn headers_of(page: &Exchange) -> impl Iterator<Item = Header> {
    page.document().into_iter().flat_map(Document::headers)
}

/// The headers of a page that a range of dates does not cover; those whose datestamp cannot be read are told elsewhere.
pub(crate) fn outside(page: &Exchange, from: Option<Datestamp>, until: Option<Datestamp>) -> Vec<Header> {
    let is_outside = |header: &Header| {
        read_datestamp(&header.datestamp).is_some_and(|datestamp| {
            from.is_some_and(|from| datestamp < from) || until.is_some_and(|until| datestamp > until)
        })
    };
    headers_of(page).filter(is_outside).collect()
}

/// Whether a header shows that its record is in a set: by that set, or by one below it.
pub(crate) fn shows(header: &Header, set: &str) -> bool {
    header.set_specs.iter().any(|own| is_in(own, set))
}

/// Whether a set is another one, or below it.
pub(crate) fn is_in(own: &str, set: &str) -> bool {
    own.strip_prefix(set)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_is_below_it_and_not_what_begins_alike() {
        assert!(is_in("maps", "maps") && is_in("maps:city", "maps"));
        assert!(!is_in("mapsheets", "maps") && !is_in("maps", "maps:city"));
    }
}
