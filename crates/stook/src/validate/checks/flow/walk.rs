//! Follows tokens over the first pages, and to the end of a list that is short enough.

use std::collections::HashSet;
use std::sync::Arc;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::token_of;
use crate::validate::chain::Chain;
use crate::validate::exchange::{Exchange, Question};
use crate::validate::pages::{MOST_PAGES, headers_of};
use crate::validate::probe::encoded;
use crate::validate::run::{Found, Run, Stop, Verdict};

/// Sets that are tried to find a list of a few pages.
const MOST_SETS: usize = 8;
/// What cannot stand in a query whatever it means.
const BARE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'#')
    .add(b'&')
    .add(b'%')
    .add(b'+')
    .add(b'"')
    .add(b'<')
    .add(b'>');

/// Follows the list of all records of oai_dc; its pages, the first asked for anew since tokens may live shortly.
pub(super) fn follow(run: &mut Run<'_>, verb: &'static str) -> Result<Vec<Arc<Exchange>>, Stop> {
    if !super::super::wants_any(run, "F-") {
        return Ok(Vec::new());
    }
    let first = run.ask_anew(Question::get(format!("verb={verb}&metadataPrefix=oai_dc")))?;
    let (chain, pages) = pages_behind(run, verb, first)?;
    run.judge("F-6", duplicates(&pages));
    chain.judge(run);
    resend(run, &pages)?;
    Ok(pages)
}

fn pages_behind(
    run: &mut Run<'_>,
    verb: &'static str,
    first: Arc<Exchange>,
) -> Result<(Chain, Vec<Arc<Exchange>>), Stop> {
    let mut chain = Chain::new(verb);
    let mut pages = Vec::new();
    let mut next = chain.read(&first);
    pages.push(first);
    while let Some(query) = next.take() {
        if pages.len() == MOST_PAGES {
            break;
        }
        let page = run.ask_anew(Question::get(query))?;
        if !page.errors().is_empty() && is_escaping_to_blame(run, verb, &pages, &page)? {
            break;
        }
        next = chain.read(&page);
        pages.push(page);
    }
    Ok((chain, pages))
}

/// Whether a token is refused only because it was sent as URLs must be; judges that too.
fn is_escaping_to_blame(
    run: &mut Run<'_>,
    verb: &str,
    pages: &[Arc<Exchange>],
    refused: &Exchange,
) -> Result<bool, Stop> {
    let Some(token) = pages.last().and_then(|page| token_of(page)) else {
        return Ok(false);
    };
    let bare = utf8_percent_encode(&token.value, BARE).to_string();
    if bare == encoded(&token.value) {
        return Ok(false);
    }
    let answer = run.ask_anew(Question::get(format!("verb={verb}&resumptionToken={bare}")))?;
    if answer.succeeded() {
        let came = format!(
            "{} for a token that is taken when it is not percent-encoded",
            refused.in_short()
        );
        run.judge("F-19", Verdict::Broken(vec![Found::new(came).on(refused)]));
    }
    Ok(answer.succeeded())
}

/// An entry that comes on two pages. Within one page it is another check's.
fn duplicates(pages: &[Arc<Exchange>]) -> Verdict {
    if pages.len() < 2 {
        return Verdict::not_applicable("the list is not split");
    }
    let mut before: HashSet<(String, String)> = HashSet::new();
    let mut found = Vec::new();
    for page in pages {
        let here: HashSet<(String, String)> = headers_of(page)
            .map(|header| (header.identifier, header.datestamp))
            .collect();
        // One that changed meanwhile comes again, with another datestamp.
        for (identifier, _) in here.intersection(&before) {
            found.push(Found::new(format!("{identifier} is on two pages")).on(page));
        }
        before.extend(here);
    }
    Verdict::of(found)
}

/// The same token gives the same page: at once, and when the one behind it was used.
fn resend(run: &mut Run<'_>, pages: &[Arc<Exchange>]) -> Result<(), Stop> {
    let second = pages.get(1).filter(|page| page.succeeded()).cloned();
    let Some(second) = second else {
        for id in ["F-12", "F-13", "F-19"] {
            run.judge(id, Verdict::not_applicable("there was no second page to ask for again"));
        }
        return Ok(());
    };
    let token = pages
        .first()
        .and_then(|page| token_of(page))
        .map(|token| token.value)
        .unwrap_or_default();
    run.judge(
        "F-19",
        match token.chars().all(|character| character.is_ascii_alphanumeric()) {
            true => Verdict::not_applicable("tokens have only letters and digits"),
            false => Verdict::Holds,
        },
    );
    // The third page was asked for by now: this is what comes of an older token. The newest one is asked for twice.
    let newest = pages
        .last()
        .filter(|page| page.succeeded())
        .cloned()
        .unwrap_or_else(|| Arc::clone(&second));
    let again = run.ask_anew(newest.question.clone())?;
    let is_same = is_same_page(&newest, &again);
    run.judge("F-12", same(&again, is_same));
    if !is_same || pages.len() < 3 {
        let why = match is_same {
            true => "there was no third page",
            false => "no token can be used twice, which F-12 tells",
        };
        run.judge("F-13", Verdict::not_applicable(why));
        return Ok(());
    }
    let older = run.ask_anew(second.question.clone())?;
    run.judge("F-13", same(&older, is_same_page(&second, &older)));
    Ok(())
}

fn same(again: &Exchange, is_same: bool) -> Verdict {
    if again.errors().is_empty() && !again.succeeded() {
        return Verdict::not_applicable(format!("{}, which other checks tell", again.in_short()));
    }
    Verdict::unless(!is_same, || {
        let came = match again.succeeded() {
            true => format!("other entries than before ({})", again.in_short()),
            false => format!("{} instead of the page that came before", again.in_short()),
        };
        Found::new(came).on(again)
    })
}

/// Whether a page came again: with everything that did not change meanwhile.
fn is_same_page(page: &Exchange, again: &Exchange) -> bool {
    let now: HashSet<(String, String)> = headers_of(again)
        .map(|header| (header.identifier, header.datestamp))
        .collect();
    let asked = crate::validate::chain::response_date(page);
    let is_late = |datestamp: &str| crate::validate::facts::read_datestamp(datestamp) >= asked;
    let before: HashSet<(String, String)> = headers_of(page)
        .map(|header| (header.identifier, header.datestamp))
        .collect();
    let missing = before.difference(&now).count();
    let added = now
        .difference(&before)
        .filter(|(_, datestamp)| !is_late(datestamp))
        .count();
    again.succeeded() && missing == 0 && added == 0
}

/// Finds a list of a few pages, by sets, and follows it to its end.
pub(super) fn to_the_end(run: &mut Run<'_>) -> Result<(), Stop> {
    if !["F-4", "F-25", "F-6", "F-8"].iter().any(|id| run.wants(id)) {
        return Ok(());
    }
    let own = run.facts.set_spec.iter();
    let listed = run.facts.sets.iter().flatten().map(|set| &set.spec);
    let sets: Vec<String> = own.chain(listed).take(MOST_SETS).cloned().collect();
    for set in sets {
        let query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&set={}", encoded(&set));
        if !has_few_pages(&*run.get(&query)?) {
            continue;
        }
        let first = run.ask_anew(Question::get(query))?;
        let (chain, pages) = pages_behind(run, "ListIdentifiers", first)?;
        run.judge("F-6", duplicates(&pages));
        let is_ended = chain.ended;
        chain.judge(run);
        if is_ended {
            break;
        }
    }
    Ok(())
}

/// Whether a list is split, and its end is near.
fn has_few_pages(first: &Exchange) -> bool {
    let count = headers_of(first).count() as u64;
    let Some(token) = token_of(first) else {
        return false;
    };
    let size = token
        .complete_list_size
        .and_then(|size| size.trim().parse::<u64>().ok());
    size.is_none_or(|size| size <= count * MOST_PAGES as u64)
}
