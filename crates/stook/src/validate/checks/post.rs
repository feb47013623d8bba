//! P: what GET answers, POST answers too.

use std::collections::BTreeSet;

use super::compare;
use crate::validate::document::Document;
use crate::validate::exchange::{Exchange, Question};
use crate::validate::gather::next_page;
use crate::validate::probe::fill;
use crate::validate::run::{Found, Run, Stop, Verdict};

const FORM_WITH_CHARSET: &str = "application/x-www-form-urlencoded; charset=UTF-8";

/// Bodies that are no form: their type and what is in them.
const NO_FORMS: &[(&str, &str)] = &[
    ("text/plain", "verb=Identify"),
    ("application/json", "{\"verb\":\"Identify\"}"),
    (
        "multipart/form-data; boundary=stook",
        "--stook\r\nContent-Disposition: form-data; name=\"verb\"\r\n\r\nIdentify\r\n--stook--\r\n",
    ),
    ("application/x-www-form-urlencoded", ""),
];

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    let is_wanted = ["P-1", "P-2", "P-3", "P-4", "P-7"].into_iter().any(|id| run.wants(id));
    if is_wanted {
        match identify(run)? {
            true => forms(run)?,
            false => {
                for id in ["P-2", "P-3", "P-4", "P-7"] {
                    run.judge(id, Verdict::not_applicable("POST does not work at all, as P-1 tells"));
                }
            }
        }
    }
    no_forms(run)?;
    two_verbs(run)
}

/// Whether POST works at all.
fn identify(run: &mut Run<'_>) -> Result<bool, Stop> {
    let by_get = run.get("verb=Identify")?;
    let by_post = run.ask(Question::post("verb=Identify").may_be_refused())?;
    run.judge("P-1", compare::same(&by_get, &by_post));
    Ok(by_post.succeeded() || !by_get.succeeded())
}

fn forms(run: &mut Run<'_>) -> Result<(), Stop> {
    record(run)?;
    tokens(run)?;
    if run.wants("P-4") {
        let plain = Question::post("verb=Identify").may_be_refused();
        let mut with_charset = plain.clone();
        with_charset.body = Some((FORM_WITH_CHARSET, "verb=Identify".to_owned()));
        let (plain, with_charset) = (run.ask(plain)?, run.ask(with_charset)?);
        run.judge("P-4", compare::same(&plain, &with_charset));
    }
    for query in ["verb=junk", "verb=GetRecord&identifier={id}"] {
        let verdict = match fill(query, &run.facts) {
            Err(why) => Verdict::NotApplicable(why),
            Ok(_) if !run.wants("P-7") => return Ok(()),
            Ok(query) => same_errors(&*run.get(&query)?, &*run.ask(Question::post(query))?),
        };
        run.judge("P-7", verdict);
    }
    Ok(())
}

/// Whether both have the same codes; which ones are right is for others to say.
fn same_errors(by_get: &Exchange, by_post: &Exchange) -> Verdict {
    let codes = |exchange: &Exchange| {
        exchange
            .errors()
            .into_iter()
            .map(|(code, _)| code)
            .collect::<BTreeSet<_>>()
    };
    let is_other = codes(by_get) != codes(by_post);
    Verdict::unless(
        is_other && (by_post.succeeded() || !by_post.errors().is_empty()),
        || {
            let came = format!("{} by POST, {} by GET", by_post.in_short(), by_get.in_short());
            Found::new(came).on(by_get).on(by_post)
        },
    )
}

/// The same, unless there is no answer of the protocol, which other checks tell.
fn same(by_get: &Exchange, by_post: &Exchange) -> Verdict {
    match by_post.succeeded() || !by_post.errors().is_empty() {
        true => compare::same(by_get, by_post),
        false => Verdict::not_applicable(format!("{} to POST, which other checks tell", by_post.in_short())),
    }
}

fn record(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("P-2") {
        return Ok(());
    }
    match fill("verb=GetRecord&identifier={id}&metadataPrefix=oai_dc", &run.facts) {
        Err(why) => run.judge("P-2", Verdict::NotApplicable(why)),
        Ok(query) => {
            let by_get = run.get(&query)?;
            let by_post = run.ask(Question::post(query))?;
            run.judge("P-2", same(&by_get, &by_post));
        }
    }
    Ok(())
}

/// A list that is begun by POST goes on by either.
fn tokens(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("P-3") {
        return Ok(());
    }
    let list = "verb=ListRecords&metadataPrefix=oai_dc";
    let by_get = run.get(list)?;
    let first = run.ask(Question::post(list))?;
    let verdict = same(&by_get, &first);
    if !matches!(verdict, Verdict::Holds) {
        run.judge("P-3", verdict);
        return Ok(());
    }
    let Some(next) = next_page("ListRecords", &first) else {
        run.judge("P-3", Verdict::not_applicable("the list of records has only one page"));
        return Ok(());
    };
    let by_post = run.ask(Question::post(&next))?;
    let by_get = run.get(&next)?;
    let is_page = by_post.document().and_then(Document::payload).is_some();
    run.judge(
        "P-3",
        match is_page {
            true => same(&by_post, &by_get),
            false => same(&by_get, &by_post),
        },
    );
    Ok(())
}

/// An answer of the protocol, or a refusal over HTTP.
fn is_proper(exchange: &Exchange) -> bool {
    let answer = exchange.answer();
    answer.is_some_and(|answer| match answer.status {
        200 => answer.document.envelope().is_some(),
        status => (400..500).contains(&status),
    })
}

fn no_forms(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("P-5") {
        return Ok(());
    }
    for (media_type, body) in NO_FORMS {
        let mut question = Question::post("").may_be_refused();
        question.body = Some((media_type, (*body).to_owned()));
        let exchange = run.ask(question)?;
        run.judge(
            "P-5",
            Verdict::unless(!is_proper(&exchange), || {
                let what = if body.is_empty() { "an empty body" } else { media_type };
                Found::new(format!("{} to {what}", exchange.in_short())).on(&exchange)
            }),
        );
    }
    Ok(())
}

/// Arguments in the URL and in the form.
fn two_verbs(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("P-6") {
        return Ok(());
    }
    let mut question = Question::post("verb=Identify").may_be_refused();
    "verb=ListMetadataFormats".clone_into(&mut question.query);
    let exchange = run.ask(question)?;
    run.judge(
        "P-6",
        Verdict::unless(!is_proper(&exchange), || Found::new(exchange.in_short()).on(&exchange)),
    );
    Ok(())
}
