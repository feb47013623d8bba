//! H: what HTTP carries, whatever the answer says.

use std::time::Duration;

use stook_oai::Verb;
use url::Url;

use super::compare;
use crate::validate::ask::retry_after;
use crate::validate::document::Flaw;
use crate::validate::exchange::{Answer, Exchange, Hop, Method, NoAnswer, Question};
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

/// An answer that takes longer is slow.
const SLOW: Duration = Duration::from_secs(10);
/// Nobody comes back later than this.
const LONGEST_DELAY: Duration = Duration::from_secs(3600);
/// "Come back later" in a row, at most.
const MOST_DELAYS: usize = 5;

/// Looks at an answer.
type Look = fn(&Exchange, &Run<'_>) -> Verdict;

/// What holds for every answer.
const EVERY: &[(&str, Look)] = &[
    ("H-1", status),
    ("H-2", media_type),
    ("H-3", charset),
    ("H-4", limits),
    ("H-5", delays),
    ("H-6", redirects),
    ("H-7", permanent_redirects),
    ("H-9", security),
    ("H-12", wholeness),
];

/// What is judged in every answer.
pub(super) fn every(run: &mut Run<'_>, exchange: &Exchange) {
    for (id, check) in EVERY {
        let verdict = check(exchange, run);
        run.judge(id, verdict);
    }
}

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    other_host(run)?;
    https(run)?;
    other_methods(run)?;
    twice(run, "verb=Identify")?;
    twice(run, "verb=ListIdentifiers&metadataPrefix=oai_dc")
}

/// Without an answer to the first request of all, there is nothing to test.
fn is_first(exchange: &Exchange, run: &Run<'_>) -> bool {
    run.facts.identity.is_none() && exchange.question == Question::get("verb=Identify")
}

/// Broken once; fatal if nothing can be tested because of it.
fn broken(came: impl Into<String>, exchange: &Exchange, run: &Run<'_>) -> Verdict {
    let found = Found::new(came).on(exchange);
    Verdict::Broken(vec![match is_first(exchange, run) {
        true => found.with_severity(Severity::Fatal),
        false => found,
    }])
}

fn status(exchange: &Exchange, run: &Run<'_>) -> Verdict {
    if exchange.question.may_be_refused {
        return Verdict::not_applicable("nothing was asked that a server may not refuse");
    }
    match &exchange.outcome {
        Err(NoAnswer::Failed(_) | NoAnswer::Forbidden(_)) => broken(exchange.in_short(), exchange, run),
        Err(_) => Verdict::not_applicable("there was no answer"),
        Ok(answer) if answer.status == 200 => Verdict::Holds,
        Ok(answer) if answer.document.envelope().is_some() => {
            let what = match exchange.succeeded() {
                true => "an answer of the protocol".to_owned(),
                false => exchange.in_short(),
            };
            let came = format!("HTTP {} with {what}", answer.status);
            Verdict::Broken(vec![Found::new(came).on(exchange)])
        }
        Ok(answer) => broken(format!("HTTP {}", answer.status), exchange, run),
    }
}

fn media_type(exchange: &Exchange, run: &Run<'_>) -> Verdict {
    let is_judged = |answer: &&Answer| {
        let is_answer = answer.status == 200 || answer.document.envelope().is_some();
        is_answer && !exchange.question.may_be_refused && !answer.document.flaws.contains(&Flaw::Empty)
    };
    let Some(answer) = exchange.answer().filter(is_judged) else {
        return Verdict::not_applicable("there was no answer of the protocol");
    };
    let found = |came: String| Found::new(came).on(exchange);
    match answer.media_type().as_str() {
        "text/xml" => Verdict::Holds,
        "application/xml" => Verdict::Broken(vec![found("application/xml".into()).with_severity(Severity::Warn)]),
        "" => Verdict::Broken(vec![found("no Content-Type".into())]),
        other if answer.is_of_another_kind() => broken(
            format!("{other} with something that is no answer of the protocol"),
            exchange,
            run,
        ),
        other => Verdict::Broken(vec![found(other.to_owned())]),
    }
}

fn charset(exchange: &Exchange, _: &Run<'_>) -> Verdict {
    let Some(answer) = exchange.protocol_answer() else {
        return Verdict::not_applicable("there was no answer of the protocol");
    };
    let content_type = answer.header("Content-Type").unwrap_or_default();
    let charset = content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_it = name.trim().eq_ignore_ascii_case("charset");
        is_it.then(|| value.trim().trim_matches('"'))
    });
    match charset {
        Some(charset) if !charset.eq_ignore_ascii_case("utf-8") => {
            Verdict::Broken(vec![Found::new(format!("charset={charset}")).on(exchange)])
        }
        _ => Verdict::Holds,
    }
}

fn limits(exchange: &Exchange, run: &Run<'_>) -> Verdict {
    let answer = match &exchange.outcome {
        Err(NoAnswer::TimedOut(reason)) => return broken(reason.clone(), exchange, run),
        Err(_) => return Verdict::not_applicable("there was no answer"),
        Ok(answer) => answer,
    };
    match beyond_limits(answer, run) {
        Some(came) => broken(came, exchange, run),
        None => Verdict::unless(answer.took > SLOW, || {
            Found::new(format!("an answer that took {} seconds", answer.took.as_secs())).on(exchange)
        }),
    }
}

/// Which limit an answer is beyond, so that it was not read to its end.
pub(super) fn beyond_limits(answer: &Answer, run: &Run<'_>) -> Option<String> {
    let manners = &run.options.manners;
    if answer.body.len() as u64 > manners.most_bytes {
        return Some(format!("more than {} bytes", manners.most_bytes));
    }
    let took = answer.took;
    (answer.incomplete.is_some() && took >= manners.timeout)
        .then(|| format!("an answer that was not all there in {} seconds", took.as_secs()))
}

fn delays(exchange: &Exchange, run: &Run<'_>) -> Verdict {
    let delays: Vec<&Hop> = exchange.hops.iter().filter(|hop| hop.status >= 400).collect();
    if delays.is_empty() {
        return Verdict::not_applicable("the repository never said \"come back later\"");
    }
    let found = |came: String, severity| Found::new(came).on(exchange).with_severity(severity);
    let mut all: Vec<Found> = delays
        .iter()
        .filter_map(|hop| delay(hop))
        .map(|(came, severity)| found(came, severity))
        .collect();
    if delays.len() > MOST_DELAYS {
        let came = format!("HTTP {} {} times in a row", delays[0].status, delays.len());
        all.push(found(came, Severity::Fatal));
    }
    if let (true, Err(NoAnswer::Postponed(reason))) = (all.is_empty(), &exchange.outcome) {
        all.push(found(format!("{reason}, which was not waited for"), Severity::Info));
    }
    if is_first(exchange, run) && exchange.answer().is_none() {
        all = all
            .into_iter()
            .map(|found| found.with_severity(Severity::Fatal))
            .collect();
    }
    Verdict::of(all)
}

/// What is wrong with one "come back later".
fn delay(hop: &Hop) -> Option<(String, Severity)> {
    let status = hop.status;
    let Some(told) = &hop.retry_after else {
        return Some((format!("HTTP {status} without Retry-After"), Severity::Warn));
    };
    match retry_after(told) {
        None => Some((format!("HTTP {status} with Retry-After: {told}"), Severity::Error)),
        Some(wait) if wait > LONGEST_DELAY => {
            let came = format!("HTTP {status}, come back in {} seconds", wait.as_secs());
            Some((came, Severity::Fatal))
        }
        Some(_) => None,
    }
}

fn redirects_of(exchange: &Exchange) -> impl Iterator<Item = &Hop> {
    exchange.hops.iter().filter(|hop| hop.status < 400)
}

fn redirects(exchange: &Exchange, run: &Run<'_>) -> Verdict {
    let count = redirects_of(exchange).count();
    match &exchange.outcome {
        Err(NoAnswer::LostOnTheWay(_)) if count > 1 => {
            return broken(format!("{count} redirects one behind the other"), exchange, run);
        }
        Err(NoAnswer::LostOnTheWay(reason)) => return broken(reason.clone(), exchange, run),
        _ if count == 0 => return Verdict::not_applicable("nothing was redirected"),
        Err(_) => return Verdict::not_applicable("what was redirected had no answer"),
        Ok(_) => {}
    }
    let question = &exchange.question;
    let asked = if question.method == Method::Get {
        question.arguments()
    } else {
        Vec::new()
    };
    let wrong = |hop: &Hop| {
        let location = hop.location.as_deref().unwrap_or_default();
        let what = match Url::parse(location) {
            Err(_) => "which is no absolute URL",
            Ok(url) => {
                let kept: Vec<(String, String)> = url.query_pairs().into_owned().collect();
                if asked.iter().all(|argument| kept.contains(argument)) {
                    return None;
                }
                "without the arguments of the request"
            }
        };
        Some(format!("HTTP {} to {}, {what}", hop.status, place(location)))
    };
    let wrong = redirects_of(exchange).filter_map(wrong);
    Verdict::of(wrong.map(|came| Found::new(came).on(exchange)).collect())
}

/// A Location without its query, so that one redirect of all requests is one finding.
fn place(location: &str) -> &str {
    location.split('?').next().unwrap_or_default()
}

fn permanent_redirects(exchange: &Exchange, _: &Run<'_>) -> Verdict {
    let mut redirects = redirects_of(exchange).peekable();
    if redirects.peek().is_none() {
        return Verdict::not_applicable("nothing was redirected");
    }
    let permanent = redirects.filter(|hop| matches!(hop.status, 301 | 308));
    let told = |hop: &Hop| {
        let location = hop.location.as_deref().unwrap_or("nowhere");
        format!("HTTP {} to {}", hop.status, place(location))
    };
    Verdict::of(permanent.map(|hop| Found::new(told(hop)).on(exchange)).collect())
}

fn security(exchange: &Exchange, run: &Run<'_>) -> Verdict {
    match &exchange.outcome {
        Err(NoAnswer::Insecure(reason)) => {
            let came = format!("the secure connection failed: {reason}");
            Verdict::Broken(vec![match is_first(exchange, run) {
                true => Found::new(came).on(exchange).with_severity(Severity::Fatal),
                false => Found::new(came).on(exchange).with_severity(Severity::Error),
            }])
        }
        _ if exchange.url.starts_with("https:") => Verdict::Holds,
        _ => Verdict::not_applicable("the base URL is not https"),
    }
}

/// With less than the whole of Identify nothing can be tested; whether other answers are whole is judged by X-1.
fn wholeness(exchange: &Exchange, run: &Run<'_>) -> Verdict {
    let answer = exchange.protocol_answer();
    let Some(answer) = answer.filter(|answer| beyond_limits(answer, run).is_none()) else {
        return Verdict::not_applicable("there was no answer of the protocol that was read to its end");
    };
    let lacks = lacks(answer).filter(|_| exchange.question.is_identify());
    let trailing = || {
        // Behind the root of something else, anything may stand.
        let document = Some(&answer.document).filter(|document| document.envelope().is_some())?;
        let mut flaws = document.flaws.iter();
        flaws.find_map(|flaw| match flaw {
            Flaw::Trailing(text) => Some(format!("{text:?} behind the root element")),
            _ => None,
        })
    };
    let severity = match is_first(exchange, run) && lacks.is_some() {
        true => Severity::Fatal,
        false => Severity::Error,
    };
    match lacks.or_else(trailing) {
        Some(came) => Verdict::Broken(vec![Found::new(came).on(exchange).with_severity(severity)]),
        None => Verdict::Holds,
    }
}

/// What an answer lacks to be whole.
pub(super) fn lacks(answer: &Answer) -> Option<String> {
    let cut_off = answer.document.flaws.iter().find_map(|flaw| match flaw {
        Flaw::Empty => Some("an empty body".to_owned()),
        Flaw::Malformed {
            cut_off: true, reason, ..
        } => Some(reason.clone()),
        _ => None,
    });
    // What cannot be unpacked is judged by the checks of compression.
    let is_packed = answer.header("Content-Encoding").is_some();
    cut_off.or_else(|| answer.incomplete.clone().filter(|_| !is_packed))
}

fn other_host(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("H-8") {
        return Ok(());
    }
    let exchange = run.get("verb=Identify")?;
    let host = |url: &str| Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let last = redirects_of(&exchange).last().and_then(|hop| hop.location.as_deref());
    let verdict = match last.map(host) {
        None => Verdict::not_applicable("Identify was not redirected"),
        Some(Some(other)) if host(&exchange.url).is_some_and(|own| own != other) => Verdict::Broken(vec![
            Found::new(format!("Identify is answered by {other}")).on(&exchange),
        ]),
        Some(_) => Verdict::Holds,
    };
    run.judge("H-8", verdict);
    Ok(())
}

/// Not wrong at all, but the protocol was written before it, and so were some harvesters.
fn https(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("H-9") {
        return Ok(());
    }
    let exchange = run.get("verb=Identify")?;
    if exchange.url.starts_with("https:") && exchange.answer().is_some() {
        let found = Found::new("the base URL is https, with a certificate that holds").on(&exchange);
        run.judge("H-9", Verdict::Broken(vec![found.with_severity(Severity::Info)]));
    }
    Ok(())
}

fn other_methods(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("H-10") {
        return Ok(());
    }
    for method in [Method::Head, Method::Put, Method::Delete] {
        let exchange = run.ask(Question::get("verb=Identify").by(method).may_be_refused())?;
        let status = exchange.answer().map(|answer| answer.status);
        // 501 is what HTTP has for a method that a server does not know.
        let is_proper = status.is_some_and(|status| status < 500 || status == 501);
        let came = match status {
            Some(status) => format!("HTTP {status} to {}", method.as_str()),
            None => format!("{} to {}", exchange.in_short(), method.as_str()),
        };
        run.judge("H-10", Verdict::unless(!is_proper, || Found::new(came).on(&exchange)));
    }
    Ok(())
}

/// The same again must be the same. A repository may change between two requests, but hardly between each two.
fn twice(run: &mut Run<'_>, query: &str) -> Result<(), Stop> {
    if !run.wants("H-11") {
        return Ok(());
    }
    let first = run.get(query)?;
    let second = run.ask_anew(Question::get(query))?;
    let mut verdict = compare::same(&first, &second);
    if matches!(verdict, Verdict::Broken(_)) {
        let third = run.ask_anew(Question::get(query))?;
        verdict = compare::same(&second, &third);
    }
    run.judge("H-11", verdict);
    Ok(())
}

/// How long answers took, when all are in.
pub(super) fn at_the_end(run: &mut Run<'_>) {
    let verbs = Verb::ALL.iter().map(|verb| verb.as_str());
    let told: Vec<String> = verbs
        .filter_map(|verb| Some(format!("{verb} {}", times(run.facts.times.get(verb)?))))
        .collect();
    run.judge(
        "H-13",
        match told.is_empty() {
            true => Verdict::not_applicable("nothing was answered"),
            false => Verdict::Broken(vec![Found::new(told.join("; "))]),
        },
    );
}

fn times(times: &[Duration]) -> String {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = |percent: usize| sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1)));
    let [median, most, slowest] = [50, 95, 100].map(|percent| at(percent).map_or(0, Duration::as_millis));
    format!("{median} ms (95 % within {most} ms, slowest {slowest} ms)")
}
