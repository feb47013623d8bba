//! E: what is no request gets an error that says so.

use stook_oai::ErrorCode::{BadArgument, BadVerb, CannotDisseminateFormat};

use crate::validate::exchange::{Exchange, Question};
use crate::validate::probe::Expect::{Error, ErrorRather};
use crate::validate::probe::{Probe, probe};
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

const PROBES: &[Probe] = &[
    probe("E-1", "", Error(&[BadVerb])),
    probe("E-2", "junk", Error(&[BadVerb])),
    probe("E-3", "verb=junk", Error(&[BadVerb])),
    probe("E-3", "verb=IllegalVerb", Error(&[BadVerb])),
    probe("E-4", "verb=identify", Error(&[BadVerb])),
    probe("E-5", "verb=", Error(&[BadVerb])),
    probe("E-6", "verb=Identify&verb=Identify", REPEATED_VERB),
    probe("E-6", "verb=Identify&verb=ListSets", REPEATED_VERB),
    probe(
        "E-7",
        "verb=GetRecord&Identifier={id}&metadataPrefix=oai_dc",
        Error(&[BadArgument]),
    ),
    probe("E-8", "verb=Identify&nonsense=1", Error(&[BadArgument])),
    probe("E-8", "verb=ListMetadataFormats&nonsense=1", Error(&[BadArgument])),
    probe("E-8", "verb=ListSets&nonsense=1", Error(&[BadArgument])),
    probe(
        "E-8",
        "verb=ListIdentifiers&metadataPrefix=oai_dc&nonsense=1",
        Error(&[BadArgument]),
    ),
    probe(
        "E-8",
        "verb=ListRecords&metadataPrefix=oai_dc&nonsense=1",
        Error(&[BadArgument]),
    ),
    probe(
        "E-8",
        "verb=GetRecord&identifier={id}&metadataPrefix=oai_dc&nonsense=1",
        Error(&[BadArgument]),
    ),
    probe(
        "E-9",
        "verb=ListIdentifiers&metadataPrefix=oai_dc&metadataPrefix=oai_dc",
        Error(&[BadArgument]),
    ),
    probe(
        "E-9",
        "verb=GetRecord&identifier={id}&identifier={id}&metadataPrefix=oai_dc",
        Error(&[BadArgument]),
    ),
    probe(
        "E-9",
        "verb=ListMetadataFormats&identifier={id}&identifier={id}",
        Error(&[BadArgument]),
    ),
    probe(
        "E-12",
        "verb=ListRecords&from=x&metadataPrefix=bad%2Fprefix",
        // That there is no such format is true as well.
        ErrorRather(&[BadArgument], &[(CannotDisseminateFormat, Severity::Warn)]),
    ),
];

/// Some well-known software says badArgument to it.
const REPEATED_VERB: crate::validate::probe::Expect = ErrorRather(&[BadVerb], &[(BadArgument, Severity::Warn)]);

/// Far beyond what a request needs, and within what servers take.
const LONG_GET: usize = 8_000;
const LONG_POST: usize = 1_000_000;

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    run.probe_all(PROBES)?;
    two_faults(run)?;
    separators(run)?;
    long_values(run)
}

/// Both faults of a request should be told at once.
fn two_faults(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("E-10") {
        return Ok(());
    }
    let exchange = run.get("verb=ListRecords&metadataPrefix=oai_dc&from=junk&nonsense=1")?;
    let errors = exchange.errors();
    let verdict = match errors.len() {
        0 if exchange.succeeded() => {
            let came = format!("{} for a request with two faults", exchange.in_short());
            Verdict::Broken(vec![Found::new(came).on(&exchange)])
        }
        0 => Verdict::not_applicable("there was no answer of the protocol"),
        1 => {
            let came = format!("only one error ({}) for two faults", exchange.in_short());
            Verdict::Broken(vec![Found::new(came).on(&exchange).with_severity(Severity::Rec)])
        }
        _ => Verdict::Holds,
    };
    run.judge("E-10", verdict);
    Ok(())
}

/// How `&` may be written is not said; what breaks is worth knowing.
fn separators(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("E-11") {
        return Ok(());
    }
    for query in ["verb=Identify;foo=1", "verb=Identify&", "verb=Identify&&"] {
        let exchange = run.ask(Question::get(query).may_be_refused())?;
        run.judge("E-11", survives(&exchange));
    }
    Ok(())
}

fn long_values(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("E-13") {
        return Ok(());
    }
    let long = |length: usize| format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={}", "x".repeat(length));
    for question in [Question::get(long(LONG_GET)), Question::post(long(LONG_POST))] {
        let exchange = run.ask(question.may_be_refused())?;
        run.judge("E-13", survives(&exchange));
    }
    Ok(())
}

/// Whether a server took no harm: it answered, and did not fail.
pub(super) fn survives(exchange: &Exchange) -> Verdict {
    let status = exchange.answer().map(|answer| answer.status);
    // A server may close the door on what is too much for it.
    let failed = status.is_some_and(|status| status >= 500);
    Verdict::unless(failed, || Found::new(exchange.in_short()).on(exchange))
}
