//! F: flow control. Lists in pages, and the tokens between them.

mod later;
mod misuse;
mod walk;

use std::time::Duration;

use stook_oai::Verb;

use crate::validate::chain::response_date;
use crate::validate::document::{Document, Element, Token};
use crate::validate::exchange::Exchange;
use crate::validate::facts::{granularity_of, read_datestamp};
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

/// Tokens should live so long; harvesters of the DRIVER network ask for a day.
const SHORT_LIFE: Duration = Duration::from_secs(23 * 3_600);
/// The page sizes that communities recommend.
const PAGE_SIZES: std::ops::RangeInclusive<usize> = 100..=500;
/// A list shorter than this need not be split.
const SMALL_LIST: u64 = 1_000;

/// What must hold of the list element of every answer.
type Rule = fn(&Exchange, &Element) -> Option<Verdict>;

const EVERY: &[(&str, Rule)] = &[
    ("F-1", stands_last),
    ("F-2", is_needed),
    ("F-9", expires_in_the_future),
    ("F-10", lives_long),
    ("F-11", tells_size_and_life),
    ("F-21", page_size),
    ("F-22", is_worth_splitting),
];

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    let records = walk::follow(run, "ListRecords")?;
    let headers = walk::follow(run, "ListIdentifiers")?;
    walk::to_the_end(run)?;
    misuse::check(run, &records, &headers)?;
    later::check(run, &headers)?;
    for (id, _) in EVERY {
        // Where nothing was split there was nothing to look at.
        run.judge(id, Verdict::not_applicable("no list with a token was seen"));
    }
    Ok(())
}

/// What is judged in every answer.
pub(super) fn every(run: &mut Run<'_>, exchange: &Exchange) {
    let lists = [
        Some(Verb::ListRecords),
        Some(Verb::ListIdentifiers),
        Some(Verb::ListSets),
    ];
    let payload = exchange.document().and_then(Document::payload);
    let Some(payload) = payload.filter(|payload| lists.contains(&Verb::parse(payload.local()))) else {
        return;
    };
    for (id, rule) in EVERY {
        if let Some(verdict) = rule(exchange, payload) {
            run.judge(id, verdict);
        }
    }
}

fn broken(exchange: &Exchange, came: impl Into<String>) -> Verdict {
    Verdict::Broken(vec![Found::new(came).on(exchange)])
}

fn milder(exchange: &Exchange, came: impl Into<String>, severity: Severity) -> Verdict {
    Verdict::Broken(vec![Found::new(came).on(exchange).with_severity(severity)])
}

fn is_first_page(exchange: &Exchange) -> bool {
    exchange.question.argument("resumptionToken").is_none()
}

/// Whether it is the first page of all records of oai_dc: what is so for one list is so for all, and told once.
fn is_everything(exchange: &Exchange) -> bool {
    let question = &exchange.question;
    question.arguments().len() == 2 && question.argument("metadataPrefix").as_deref() == Some("oai_dc")
}

/// The token of a page that has another behind it.
fn token_of(exchange: &Exchange) -> Option<Token> {
    let token = exchange.document()?.token()?;
    (!token.value.is_empty()).then_some(token)
}

fn stands_last(exchange: &Exchange, payload: &Element) -> Option<Verdict> {
    let tokens = payload.named("resumptionToken").count();
    let last = payload.elements().last();
    let is_last = last.is_some_and(|last| last.local() == "resumptionToken");
    Some(match tokens {
        0 => Verdict::Holds,
        1 if is_last => Verdict::Holds,
        1 => broken(exchange, "resumptionToken stands before other elements of the list"),
        several => broken(exchange, format!("{several} resumptionToken elements")),
    })
}

fn is_needed(exchange: &Exchange, _: &Element) -> Option<Verdict> {
    if !is_first_page(exchange) {
        return None;
    }
    let token = exchange.document()?.token();
    let is_empty = token.is_some_and(|token| token.value.is_empty());
    Some(match is_empty {
        true => broken(exchange, "an empty resumptionToken in a list that was not split"),
        false => Verdict::Holds,
    })
}

fn expires_in_the_future(exchange: &Exchange, _: &Element) -> Option<Verdict> {
    let written = exchange.document()?.token()?.expiration_date?;
    let date = read_datestamp(&written);
    let is_second = granularity_of(&written) == Some(stook_oai::Granularity::Second);
    let Some(date) = date.filter(|_| is_second) else {
        return Some(broken(exchange, format!("expirationDate {written:?}")));
    };
    let now = response_date(exchange)?;
    Some(match date > now {
        true => Verdict::Holds,
        false => broken(exchange, format!("expirationDate {written} in an answer of {now}")),
    })
}

fn lives_long(exchange: &Exchange, _: &Element) -> Option<Verdict> {
    let life = life(exchange)?;
    Some(match life >= SHORT_LIFE {
        true => Verdict::Holds,
        false => broken(exchange, format!("a token that lives {}", shown(life))),
    })
}

/// For how long a token is good.
fn life(exchange: &Exchange) -> Option<Duration> {
    let date = read_datestamp(&token_of(exchange)?.expiration_date?)?;
    let seconds = date.unix() - response_date(exchange)?.unix();
    u64::try_from(seconds)
        .ok()
        .filter(|seconds| *seconds > 0)
        .map(Duration::from_secs)
}

fn shown(life: Duration) -> String {
    match life.as_secs() {
        seconds @ 0..120 => format!("{seconds} seconds"),
        seconds @ 120..7_200 => format!("{} minutes", seconds / 60),
        seconds => format!("{} hours", seconds / 3_600),
    }
}

fn tells_size_and_life(exchange: &Exchange, _: &Element) -> Option<Verdict> {
    let token = token_of(exchange).filter(|_| is_everything(exchange))?;
    Some(if token.complete_list_size.is_none() {
        broken(exchange, "a token without completeListSize")
    } else if token.expiration_date.is_none() {
        let came = "a token without expirationDate, which is right only if it never expires";
        milder(exchange, came, Severity::Info)
    } else {
        Verdict::Holds
    })
}

fn page_size(exchange: &Exchange, _: &Element) -> Option<Verdict> {
    token_of(exchange).filter(|_| is_everything(exchange))?;
    let size = exchange.document()?.header_elements().count();
    Some(match PAGE_SIZES.contains(&size) {
        true => Verdict::Holds,
        false => broken(exchange, format!("a page of {size} entries")),
    })
}

fn is_worth_splitting(exchange: &Exchange, _: &Element) -> Option<Verdict> {
    let token = token_of(exchange).filter(|_| is_everything(exchange))?;
    let size: u64 = token.complete_list_size?.trim().parse().ok()?;
    Some(match size < SMALL_LIST {
        true => broken(exchange, format!("a list of {size} entries is split")),
        false => Verdict::Holds,
    })
}
