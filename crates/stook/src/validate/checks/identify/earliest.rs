//! Whether the earliestDatestamp is what it promises, by all datestamps that were seen.

use stook_oai::Datestamp;

use crate::validate::facts::{Facts, read_datestamp};
use crate::validate::run::{Found, Run, Verdict};

/// No record was there to be stamped before this: long before there were repositories.
const UNLIKELY_BEFORE: &str = "1990-01-01";
/// So much before the first record is far.
const FAR_SECONDS: i64 = 5 * 365 * 86_400;

/// A check over what was seen.
type Check = fn(&Facts) -> Verdict;

/// What is judged when everything was seen.
pub(super) fn last(run: &mut Run<'_>) {
    let checks: [(&str, Check); 2] = [("I-15", is_a_lower_limit), ("I-16", is_no_dummy)];
    for (id, check) in checks {
        let verdict = check(&run.facts);
        run.judge(id, verdict);
    }
}

/// The earliestDatestamp, the earliest that was seen, as it was written, and where.
fn earliest_seen(facts: &Facts) -> Result<(Datestamp, Datestamp, &str, u32), Verdict> {
    let Some(told) = facts.earliest() else {
        return Err(Verdict::not_applicable("the earliestDatestamp cannot be read"));
    };
    let stamps = facts.headers.iter();
    let read = stamps.filter_map(|seen| Some((read_datestamp(&seen.header.datestamp)?, seen)));
    match read.min_by_key(|(datestamp, _)| *datestamp) {
        Some((_, seen)) if Some(told) > read_datestamp(&seen.response_date) => Err(Verdict::not_applicable(
            "the earliestDatestamp lies ahead, which another check tells",
        )),
        Some((datestamp, seen)) => Ok((told, datestamp, &seen.header.datestamp, seen.exchange)),
        None => Err(Verdict::not_applicable("no datestamp was seen")),
    }
}

fn is_a_lower_limit(facts: &Facts) -> Verdict {
    let (told, seen, written, exchange) = match earliest_seen(facts) {
        Ok(earliest) => earliest,
        Err(verdict) => return verdict,
    };
    Verdict::unless(seen < told, || {
        let came = format!("a datestamp {written} before the earliestDatestamp {}", told_as(facts));
        Found::new(came).in_answer(exchange)
    })
}

fn is_no_dummy(facts: &Facts) -> Verdict {
    let (told, seen, written, _) = match earliest_seen(facts) {
        Ok(earliest) => earliest,
        Err(verdict) => return verdict,
    };
    let is_unlikely = read_datestamp(UNLIKELY_BEFORE).is_some_and(|limit| told < limit);
    Verdict::unless(is_unlikely && seen.unix() - told.unix() > FAR_SECONDS, || {
        let came = format!(
            "earliestDatestamp is {}; the earliest seen is {written}",
            told_as(facts)
        );
        let exchange = facts.identity.as_ref().map_or(0, |identity| identity.exchange);
        Found::new(came).in_answer(exchange)
    })
}

fn told_as(facts: &Facts) -> &str {
    facts
        .identity
        .as_ref()
        .map_or("", |identity| &identity.earliest_datestamp)
}
