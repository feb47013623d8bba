//! Tokens that are sent in ways they were not made for.

use std::sync::Arc;
use std::time::Duration;

use stook_oai::ErrorCode::{BadArgument, BadResumptionToken};

use super::{life, token_of};
use crate::validate::exchange::{Exchange, Question};
use crate::validate::probe::Expect::Error;
use crate::validate::probe::{Expect, Probe, encoded, probe};
use crate::validate::run::{Found, Run, Stop, Verdict};

/// A token that expires is waited for so long.
const LONGEST_LIFE: Duration = Duration::from_secs(5);

const REFUSED: Expect = Error(&[BadResumptionToken]);
const NO_TOKEN: &str = "no list is split, so there is no token";

/// ListSets has a check of its own for this.
const PROBES: &[Probe] = &[
    probe("F-16", "verb=ListRecords&resumptionToken=junk", REFUSED),
    probe("F-16", "verb=ListIdentifiers&resumptionToken=junk", REFUSED),
    probe(
        "F-20",
        "verb=ListRecords&resumptionToken=",
        Error(&[BadResumptionToken, BadArgument]),
    ),
    probe(
        "F-20",
        "verb=ListIdentifiers&resumptionToken=",
        Error(&[BadResumptionToken, BadArgument]),
    ),
];

/// Ways to misuse a token of a verb: the check, the query with `{token}`, what must come.
const MISUSES: &[(&str, &str, &str, Expect)] = &[
    (
        "F-15",
        "ListRecords",
        "verb=ListRecords&resumptionToken={token}&metadataPrefix=oai_dc",
        NOT_ALONE,
    ),
    (
        "F-15",
        "ListRecords",
        "verb=ListRecords&resumptionToken={token}&until=2030-01-01",
        NOT_ALONE,
    ),
    (
        "F-15",
        "ListRecords",
        "verb=ListRecords&resumptionToken={token}&set=a",
        NOT_ALONE,
    ),
    (
        "F-15",
        "ListIdentifiers",
        "verb=ListIdentifiers&resumptionToken={token}&metadataPrefix=oai_dc",
        NOT_ALONE,
    ),
    (
        "F-17",
        "ListRecords",
        "verb=ListIdentifiers&resumptionToken={token}",
        REFUSED,
    ),
    (
        "F-17",
        "ListIdentifiers",
        "verb=ListRecords&resumptionToken={token}",
        REFUSED,
    ),
    (
        "F-18",
        "ListRecords",
        "verb=ListRecords&resumptionToken={changed}",
        REFUSED,
    ),
    ("F-18", "ListRecords", "verb=ListRecords&resumptionToken={cut}", REFUSED),
    (
        "F-18",
        "ListRecords",
        "verb=ListRecords&resumptionToken={longer}",
        REFUSED,
    ),
    (
        "F-24",
        "ListRecords",
        "verb=ListRecords&resumptionToken={token}&resumptionToken={token}",
        Error(&[BadArgument]),
    ),
];

/// It is a bad argument by the letter; what is wrong with the token itself may be told first.
const NOT_ALONE: Expect = Error(&[BadArgument, BadResumptionToken]);

pub(super) fn check(run: &mut Run<'_>, records: &[Arc<Exchange>], headers: &[Arc<Exchange>]) -> Result<(), Stop> {
    run.probe_all(PROBES)?;
    let first = |pages: &[Arc<Exchange>]| pages.first().and_then(|page| token_of(page)).map(|token| token.value);
    for (id, verb, query, expect) in MISUSES {
        let (own, other) = if *verb == "ListRecords" {
            (records, headers)
        } else {
            (headers, records)
        };
        let token = first(own);
        match token {
            // Then it is no token of another verb.
            Some(token) if *id == "F-17" && is_token_of(&token, other) => {
                run.judge(
                    id,
                    Verdict::not_applicable("both verbs gave the same token, so it is right for both"),
                );
            }
            Some(token) => run.expect(id, Question::get(filled(query, &token)), expect).map(drop)?,
            None => run.judge(id, Verdict::not_applicable(NO_TOKEN)),
        }
    }
    expired(run, headers.first())
}

fn is_token_of(token: &str, pages: &[Arc<Exchange>]) -> bool {
    let tokens = pages.iter().filter_map(|page| token_of(page));
    tokens.into_iter().any(|given| given.value == token)
}

/// A query with a token in it: as it is, or spoilt.
fn filled(query: &str, token: &str) -> String {
    let characters: Vec<char> = token.chars().collect();
    let middle = characters.len() / 2;
    // What another token could be by chance would prove nothing: not a digit for a digit.
    let changed = |at: usize, character: char| match (at == middle, character) {
        (true, '~') => '!',
        (true, _) => '~',
        (false, own) => own,
    };
    let changed: String = characters
        .iter()
        .enumerate()
        .map(|(at, own)| changed(at, *own))
        .collect();
    let cut: String = characters[..middle].iter().collect();
    query
        .replace("{token}", &encoded(token))
        .replace("{changed}", &encoded(&changed))
        .replace("{cut}", &encoded(if cut.is_empty() { "~" } else { &cut }))
        .replace("{longer}", &encoded(&format!("{token}x")))
}

/// What becomes of a token that has expired, where one need not wait long for that.
fn expired(run: &mut Run<'_>, first: Option<&Arc<Exchange>>) -> Result<(), Stop> {
    if !run.wants("F-14") {
        return Ok(());
    }
    let life = first.and_then(|page| life(page)).filter(|life| *life <= LONGEST_LIFE);
    let Some((life, page)) = life.zip(first) else {
        let why = format!("no token expires within {} seconds", LONGEST_LIFE.as_secs());
        run.judge("F-14", Verdict::NotApplicable(why));
        return Ok(());
    };
    let page = run.ask_anew(page.question.clone())?;
    let Some(token) = token_of(&page) else {
        run.judge("F-14", Verdict::not_applicable(NO_TOKEN));
        return Ok(());
    };
    run.wait(life + Duration::from_secs(1))?;
    let query = format!("verb=ListIdentifiers&resumptionToken={}", encoded(&token.value));
    let answer = run.ask_anew(Question::get(query))?;
    let is_refused = matches!(REFUSED.judge(&answer), Verdict::Holds);
    let verdict = Verdict::unless(!answer.succeeded() && !is_refused, || {
        Found::new(format!("{} for a token that has expired", answer.in_short())).on(&answer)
    });
    run.judge("F-14", verdict);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spoilt_tokens_are_none() {
        let all = filled("{token} {changed} {cut} {longer}", "list-12");
        assert_eq!(all, "list%2D12 lis%7E%2D12 lis list%2D12x");
        assert_eq!(filled("{changed} {cut}", "~"), "%21 %7E");
    }
}
