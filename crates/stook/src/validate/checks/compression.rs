//! C: content codings are asked for, announced and delivered.

use std::sync::Arc;

use super::compare;
use crate::validate::exchange::{Exchange, Question};
use crate::validate::run::{Found, Run, Stop, Verdict};

/// What HTTP knows as a content coding (IANA's registry, and two old names).
const CODINGS: &[&str] = &[
    "gzip",
    "x-gzip",
    "compress",
    "x-compress",
    "deflate",
    "br",
    "zstd",
    "dcb",
    "dcz",
    "exi",
    "pack200-gzip",
    "aes128gcm",
];
/// A server may find Identify too small to pack; a list is larger.
const ASKED_PACKED: [&str; 2] = ["verb=Identify", "verb=ListRecords&metadataPrefix=oai_dc"];

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    let plain = run.get("verb=Identify")?;
    run.judge("C-1", unpacked(&plain));
    values(run);
    if coding(&plain).is_some() || !plain.succeeded() {
        for id in ["C-2", "C-3", "C-4", "C-6"] {
            run.judge(id, Verdict::not_applicable("there is no plain answer to compare with"));
        }
        return Ok(());
    }
    let packed = gzip(run, &plain)?;
    announced(run)?;
    delivered_only(run, packed.as_deref());
    identity_only(run)
}

/// The content coding of an answer, if it has one.
fn coding(exchange: &Exchange) -> Option<String> {
    let coding = exchange
        .answer()?
        .header("Content-Encoding")?
        .trim()
        .to_ascii_lowercase();
    (!coding.is_empty() && coding != "identity").then_some(coding)
}

fn unpacked(exchange: &Exchange) -> Verdict {
    if exchange.answer().is_none() {
        return Verdict::not_applicable("there was no answer");
    }
    match coding(exchange) {
        Some(coding) => Verdict::Broken(vec![Found::new(format!("Content-Encoding: {coding}")).on(exchange)]),
        None => Verdict::Holds,
    }
}

/// Asks as a harvester does that can unpack gzip.
fn gzip(run: &mut Run<'_>, plain: &Exchange) -> Result<Option<Arc<Exchange>>, Stop> {
    if !run.wants("C-2") && !run.wants("C-4") {
        return Ok(None);
    }
    let question = Question::get("verb=Identify").with_header("Accept-Encoding", "gzip;q=1.0, identity;q=0.5");
    let exchange = run.ask(question.may_be_refused())?;
    let found = |came: String| Verdict::Broken(vec![Found::new(came).on(&exchange)]);
    let verdict = match (&exchange.outcome, coding(&exchange).as_deref()) {
        (Err(nothing), _) => found(format!("no answer: {nothing}")),
        (Ok(_), Some(other)) if !matches!(other, "gzip" | "x-gzip") => found(format!("Content-Encoding: {other}")),
        (Ok(answer), _) => match &answer.incomplete {
            Some(reason) => found(reason.clone()),
            None => compare::same(plain, &exchange),
        },
    };
    let holds = matches!(verdict, Verdict::Holds);
    run.judge("C-2", verdict);
    Ok(holds.then_some(exchange))
}

/// Each coding that Identify announces.
fn announced(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("C-3") {
        return Ok(());
    }
    let codings: Vec<String> = announcements(run)
        .into_iter()
        .filter(|value| is_coding(value))
        .collect();
    if codings.is_empty() {
        run.judge("C-3", Verdict::not_applicable("Identify announces no compression"));
    }
    for announced in codings {
        let verdict = deliver(run, &announced)?;
        run.judge("C-3", verdict);
    }
    Ok(())
}

fn deliver(run: &mut Run<'_>, announced: &str) -> Result<Verdict, Stop> {
    let mut numbers = Vec::new();
    for query in ASKED_PACKED {
        let accepted = format!("{announced};q=1.0, identity;q=0.5");
        let question = Question::get(query).with_header("Accept-Encoding", &accepted);
        let exchange = run.ask(question.may_be_refused())?;
        if coding(&exchange).is_some_and(|coding| is_same(&coding, announced)) {
            return Ok(Verdict::Holds);
        }
        numbers.push(exchange.number);
    }
    let found = Found::new(format!(
        "{announced} is announced, and never comes when it is asked for"
    ));
    Ok(Verdict::Broken(vec![numbers.into_iter().fold(found, Found::in_answer)]))
}

/// `x-gzip` is another name of gzip.
fn is_same(one: &str, other: &str) -> bool {
    let name = |coding: &str| coding.trim().to_ascii_lowercase().trim_start_matches("x-").to_owned();
    name(one) == name(other)
}

fn delivered_only(run: &mut Run<'_>, packed: Option<&Exchange>) {
    let verdict = match packed.map(|exchange| (exchange, coding(exchange))) {
        None => Verdict::not_applicable("compression does not work, as C-2 tells"),
        Some((_, None)) => Verdict::Holds,
        Some((exchange, Some(coding))) => {
            let is_announced = announcements(run).iter().any(|announced| is_same(announced, &coding));
            Verdict::unless(!is_announced, || {
                Found::new(format!("{coding} comes, and Identify does not announce it")).on(exchange)
            })
        }
    };
    run.judge("C-4", verdict);
}

fn values(run: &mut Run<'_>) {
    let Some(number) = run.facts.identity.as_ref().map(|identity| identity.exchange) else {
        return run.judge("C-5", Verdict::not_applicable("there is no Identify"));
    };
    let wrong = announcements(run).into_iter().filter(|value| !is_coding(value));
    let found = wrong.map(|value| Found::new(format!("<compression>{value}</compression>")).in_answer(number));
    let verdict = Verdict::of(found.collect());
    run.judge("C-5", verdict);
}

fn is_coding(value: &str) -> bool {
    CODINGS.iter().any(|coding| coding.eq_ignore_ascii_case(value))
}

fn announcements(run: &Run<'_>) -> Vec<String> {
    let identity = run.facts.identity.as_ref();
    identity
        .map(|identity| identity.compressions.clone())
        .unwrap_or_default()
}

fn identity_only(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("C-6") {
        return Ok(());
    }
    let question = Question::get("verb=Identify").with_header("Accept-Encoding", "identity;q=1, *;q=0");
    let exchange = run.ask(question.may_be_refused())?;
    let verdict = match exchange.succeeded() {
        false if exchange.answer().is_some() && coding(&exchange).is_none() => {
            Verdict::Broken(vec![Found::new(exchange.in_short()).on(&exchange)])
        }
        _ => unpacked(&exchange),
    };
    run.judge("C-6", verdict);
    Ok(())
}
