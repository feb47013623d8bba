//! U: what an attacker would send does no harm.

mod payloads;

use std::mem::discriminant;
use std::time::Duration;

use payloads::{FILES, LEAKS, PAYLOADS, Payload, TARGETS, Target};
use stook_oai::ErrorCode;

use crate::validate::document::{Document, Flaw};
use crate::validate::exchange::{Answer, Exchange, Question};
use crate::validate::probe::fill;
use crate::validate::run::{Found, Run, Stop, Verdict};

const CHECKS: [&str; 5] = ["U-1", "U-2", "U-3", "U-4", "U-5"];
/// A target that does not get all payloads gets one of so many.
const EVERY_SO_MANY: usize = 3;
/// As long as no request needs to be, and as many arguments.
const LONG_VALUE: usize = 64 * 1024;
const MANY_ARGUMENTS: usize = 1000;
/// A hostile request may take so many times as long as others do, and a second in any case.
const TIMES_SLOWER: u32 = 5;
const NEVER_SLOW: Duration = Duration::from_secs(1);

/// What ordinary answers are like.
struct Ordinary {
    slow: Duration,
    /// What is wrong with the XML of every answer, as other checks tell.
    flaws: Vec<Flaw>,
    /// Signs of a failure that stand in every answer: a base URL may well hold `/home/`.
    signs: Vec<&'static str>,
}

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    if !CHECKS.into_iter().any(|id| run.wants(id)) {
        return Ok(());
    }
    let ordinary = ordinary(run)?;
    for (target, payload) in pairs() {
        let query = match fill(target.query, &run.facts) {
            Ok(query) => format!("{query}{}", payload.value),
            Err(why) => {
                run.judge("U-5", Verdict::NotApplicable(why));
                continue;
            }
        };
        let exchange = run.ask(Question::get(query).may_be_refused())?;
        judge(run, &exchange, payload.name, payload.raw, &ordinary);
        run.judge("U-5", refused(&exchange, target.codes, payload.name));
    }
    for (question, name) in oddities() {
        let exchange = run.ask(question.may_be_refused())?;
        judge(run, &exchange, name, "", &ordinary);
    }
    Ok(())
}

/// Which payload goes where.
fn pairs() -> impl Iterator<Item = (&'static Target, &'static Payload)> {
    TARGETS.iter().enumerate().flat_map(|(row, target)| {
        let payloads = PAYLOADS.iter().enumerate();
        payloads
            .filter(move |(column, _)| target.all || (row + column).is_multiple_of(EVERY_SO_MANY))
            .map(move |(_, payload)| (target, payload))
    })
}

/// Requests that are odd as a whole.
fn oddities() -> Vec<(Question, &'static str)> {
    let long = format!(
        "verb=GetRecord&metadataPrefix=oai_dc&identifier={}",
        "x".repeat(LONG_VALUE)
    );
    let many: Vec<String> = (0..MANY_ARGUMENTS).map(|number| format!("a{number}=1")).collect();
    let mut xml = Question::post("");
    let entity = "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><x>&e;</x>";
    xml.body = Some(("text/xml", entity.to_owned()));
    vec![
        (Question::get(long.clone()), "a very long value"),
        (Question::post(long), "a very long value by POST"),
        (
            Question::get(format!("verb=Identify&{}", many.join("&"))),
            "a thousand arguments",
        ),
        (xml, "XML with an external entity"),
        (
            Question::get("verb=Identify")
                .with_header("Host", "stook.invalid")
                .with_header("Host", "stook.invalid"),
            "two Host headers",
        ),
    ]
}

fn ordinary(run: &mut Run<'_>) -> Result<Ordinary, Stop> {
    // An error, as hostile requests should get one.
    let error = run.get("verb=junk")?;
    let mut times: Vec<Duration> = run.facts.times.values().flatten().copied().collect();
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    Ok(Ordinary {
        slow: (median * TIMES_SLOWER).max(NEVER_SLOW),
        flaws: error
            .document()
            .map(|document| document.flaws.clone())
            .unwrap_or_default(),
        signs: error
            .answer()
            .map(|answer| signs_in(answer, LEAKS).collect())
            .unwrap_or_default(),
    })
}

/// What holds for the answer to any hostile request.
fn judge(run: &mut Run<'_>, exchange: &Exchange, name: &str, raw: &str, ordinary: &Ordinary) {
    let Some(answer) = exchange.answer() else {
        // A server may close the door on such a request.
        for id in ["U-1", "U-2", "U-3", "U-4"] {
            run.judge(id, Verdict::not_applicable(exchange.in_short()));
        }
        return;
    };
    let found = |came: Option<String>| match came {
        Some(came) => Verdict::Broken(vec![Found::new(format!("{came}, to {name}")).on(exchange)]),
        None => Verdict::Holds,
    };
    run.judge("U-1", found(leak(exchange, answer, ordinary)));
    run.judge("U-2", found(unescaped(answer, raw, ordinary)));
    run.judge(
        "U-3",
        found(
            signs_in(answer, FILES)
                .next()
                .map(|sign| format!("{sign:?}, which stands in a file")),
        ),
    );
    let took = answer.took;
    run.judge(
        "U-4",
        found((took > ordinary.slow).then(|| format!("an answer after {:.1} seconds", took.as_secs_f64()))),
    );
}

/// A failure, or what only the people who run it should see.
fn leak(exchange: &Exchange, answer: &Answer, ordinary: &Ordinary) -> Option<String> {
    if answer.status >= 500 {
        return Some(format!("HTTP {}", answer.status));
    }
    // Records may hold any text.
    if exchange.succeeded() {
        return None;
    }
    let sign = signs_in(answer, LEAKS).find(|sign| !ordinary.signs.contains(sign));
    sign.map(|sign| format!("{sign:?} in the answer"))
}

fn signs_in(answer: &Answer, signs: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    signs.iter().copied().filter(move |sign| text.contains(sign))
}

fn unescaped(answer: &Answer, raw: &str, ordinary: &Ordinary) -> Option<String> {
    if answer.header("X-Stook").is_some() {
        return Some("a header that was in the request".to_owned());
    }
    if !raw.is_empty() && String::from_utf8_lossy(&answer.body).contains(raw) {
        return Some(format!("{raw} as it was sent"));
    }
    if answer.is_of_another_kind() || answer.status != 200 {
        return None;
    }
    let is_new = |flaw: &&Flaw| {
        !ordinary
            .flaws
            .iter()
            .any(|known| discriminant(known) == discriminant(flaw))
    };
    let flaw = answer.document.flaws.iter().find(is_new)?;
    Some(match flaw {
        Flaw::Malformed { reason, .. } => format!("an answer that is no XML ({reason})"),
        Flaw::NotUtf8(_) => "bytes that are no UTF-8".to_owned(),
        Flaw::Characters(_) => "characters that XML does not have".to_owned(),
        _ => "an answer whose XML is broken".to_owned(),
    })
}

/// Whether the right error came. What is no answer of the protocol is judged by the other checks.
fn refused(exchange: &Exchange, codes: &[ErrorCode], name: &str) -> Verdict {
    let errors = exchange.errors();
    let succeeded = exchange.document().and_then(Document::payload).is_some();
    if errors.is_empty() && !succeeded {
        return Verdict::not_applicable(format!("{}, which is no answer of the protocol", exchange.in_short()));
    }
    let is_right = errors
        .iter()
        .any(|(code, _)| codes.iter().any(|wanted| wanted.as_str() == code));
    Verdict::unless(!is_right, || {
        Found::new(format!("{} to {name}", exchange.in_short())).on(exchange)
    })
}
