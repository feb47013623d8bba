//! X: the document around every answer.

mod request;
mod schema;

use std::time::{Duration, SystemTime};

use stook_oai::{ErrorCode, Granularity, Verb};

use super::transport::{beyond_limits, lacks};
use crate::validate::document::{Document, Element, Flaw, OAI, XSI};
use crate::validate::exchange::{Exchange, Question};
use crate::validate::facts::{granularity_of, read_datestamp};
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

/// The clock of a repository may be wrong by so much before it is told, and before it is an error.
const CLOCK_OFF: Duration = Duration::from_secs(5 * 60);
const CLOCK_WRONG: Duration = Duration::from_secs(24 * 3600);

/// What gzip begins with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Looks at a part of an answer.
type Look<Part> = fn(&Exchange, &Part, &Run<'_>) -> Verdict;

/// What holds for every answer that is XML.
const EVERY: &[(&str, Look<Document>)] = &[
    ("X-1", well_formed),
    ("X-2", declaration),
    ("X-3", characters),
    ("X-4", entities),
    ("X-5", root),
];

/// What holds for every answer that has the envelope of the protocol.
const EVERY_ENVELOPE: &[(&str, Look<Element>)] = &[
    ("X-6", schema_location),
    ("X-8", response_date),
    ("X-9", clock),
    ("X-10", request::base_url),
    ("X-11", request::of_success),
    ("X-12", request::of_bad_requests),
    ("X-13", request::of_other_errors),
    ("X-14", third_child),
    ("X-15", known_codes),
    ("X-16", error_texts),
];

/// Which errors each verb has (section 4; badArgument is for all).
const CODES: &[(Verb, &[ErrorCode])] = {
    use ErrorCode::{
        BadResumptionToken, CannotDisseminateFormat, IdDoesNotExist, NoMetadataFormats, NoRecordsMatch, NoSetHierarchy,
    };
    const LIST: &[ErrorCode] = &[
        BadResumptionToken,
        CannotDisseminateFormat,
        NoRecordsMatch,
        NoSetHierarchy,
    ];
    &[
        (Verb::Identify, &[]),
        (Verb::ListMetadataFormats, &[IdDoesNotExist, NoMetadataFormats]),
        (Verb::ListSets, &[BadResumptionToken, NoSetHierarchy]),
        (Verb::GetRecord, &[CannotDisseminateFormat, IdDoesNotExist]),
        (Verb::ListIdentifiers, LIST),
        (Verb::ListRecords, LIST),
    ]
};

/// Whoever asks for an error tells better that it was the wrong one, and H-6 that the arguments were lost on the way.
const ASK_FOR_ERRORS: &[&str] = &["H-6", "I", "M", "S", "L", "G", "R", "D", "T", "F", "E", "P", "Z"];

/// What is judged in every answer.
pub(super) fn every(run: &mut Run<'_>, exchange: &Exchange) {
    let Some(answer) = exchange.protocol_answer() else {
        return;
    };
    for (id, check) in EVERY {
        let verdict = check(exchange, &answer.document, run);
        run.judge(id, verdict);
    }
    let Some(envelope) = answer.document.envelope() else {
        return;
    };
    for (id, check) in EVERY_ENVELOPE {
        let verdict = check(exchange, envelope, run);
        run.judge(id, verdict);
    }
    schema::judge(run, exchange, &answer.document);
    if let Some(found) = strange_code(exchange) {
        run.judge_later("X-15", found, ASK_FOR_ERRORS);
    }
}

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    if run.wants("X-13") {
        run.get("verb=GetRecord&identifier=really_wrong_id&metadataPrefix=oai_dc")?;
    }
    request::special_characters(run)
}

/// Identify is the first that is asked, and without it nothing can be tested.
fn fatal_of_identify(found: Found, exchange: &Exchange, run: &Run<'_>) -> Found {
    let is_first = run.facts.identity.is_none() && exchange.question == Question::get("verb=Identify");
    if is_first {
        found.with_severity(Severity::Fatal)
    } else {
        found
    }
}

fn well_formed(exchange: &Exchange, document: &Document, run: &Run<'_>) -> Verdict {
    let Some(answer) = exchange.answer().filter(|answer| beyond_limits(answer, run).is_none()) else {
        return Verdict::not_applicable("the answer was not read to its end");
    };
    let is_identify = exchange.question.is_identify();
    if answer.body.starts_with(&GZIP) {
        let found = Found::new("a gzip body without Content-Encoding").on(exchange);
        return Verdict::Broken(vec![fatal_of_identify(found, exchange, run)]);
    }
    let cut_off = lacks(answer);
    // H-12 tells of an Identify that is not whole, and of what stands behind any answer.
    let came = match (cut_off, is_identify) {
        (Some(_), true) => return Verdict::not_applicable("the answer is not whole"),
        (Some(reason), false) => Some((reason, None)),
        (None, _) => document.flaws.iter().find_map(|flaw| match flaw {
            Flaw::Malformed { line, reason, .. } => Some((reason.clone(), Some(*line))),
            _ => None,
        }),
    };
    let Some((came, line)) = came else {
        return Verdict::Holds;
    };
    let mut found = fatal_of_identify(Found::new(came).on(exchange), exchange, run);
    found.line = line;
    Verdict::Broken(vec![found])
}

fn declaration(exchange: &Exchange, document: &Document, _: &Run<'_>) -> Verdict {
    if document.envelope().is_none() {
        return Verdict::not_applicable("the answer has no envelope of the protocol");
    }
    let found = document.flaws.iter().filter_map(|flaw| match flaw {
        Flaw::NoDeclaration => Some(Found::new("no XML declaration at the beginning")),
        Flaw::Declaration(text) => Some(Found::new(text.clone())),
        Flaw::ByteOrderMark => Some(Found::new("a byte order mark").with_severity(Severity::Warn)),
        _ => None,
    });
    Verdict::of(found.map(|found| found.on(exchange)).collect())
}

fn characters(exchange: &Exchange, document: &Document, _: &Run<'_>) -> Verdict {
    if document.root.is_none() {
        return Verdict::not_applicable("the answer is not XML");
    }
    let body = exchange.answer().map_or(&[][..], |answer| &answer.body);
    let line = |at: usize| 1 + body.iter().take(at).filter(|byte| **byte == b'\n').count();
    let found = document.flaws.iter().filter_map(|flaw| match flaw {
        Flaw::NotUtf8(at) => Some(Found::new("bytes that are no UTF-8").at_line(line(*at))),
        Flaw::Characters(_) => Some(Found::new("characters that XML 1.0 does not have")),
        _ => None,
    });
    Verdict::of(found.map(|found| found.on(exchange)).collect())
}

fn entities(exchange: &Exchange, document: &Document, _: &Run<'_>) -> Verdict {
    let found = document.flaws.iter().filter_map(|flaw| match flaw {
        Flaw::Doctype => Some("a document type declaration".to_owned()),
        Flaw::Entity(name) => Some(format!("the entity {name}")),
        _ => None,
    });
    Verdict::of(found.map(|came| Found::new(came).on(exchange)).collect())
}

fn root(exchange: &Exchange, document: &Document, run: &Run<'_>) -> Verdict {
    let Some(root) = &document.root else {
        return Verdict::not_applicable("the answer is not XML");
    };
    Verdict::unless(document.envelope().is_none(), || {
        let namespace = match &*root.namespace {
            "" => "no namespace".to_owned(),
            namespace => format!("the namespace {namespace}"),
        };
        let came = format!("the root {} in {namespace}", root.name);
        fatal_of_identify(Found::new(came).on(exchange), exchange, run)
    })
}

fn schema_location(exchange: &Exchange, envelope: &Element, _: &Run<'_>) -> Verdict {
    const SCHEMA: &str = "http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd";
    let found = |came: &str| Verdict::Broken(vec![Found::new(came).on(exchange)]);
    let Some(value) = envelope.attribute(XSI, "schemaLocation") else {
        return found("no xsi:schemaLocation on the root");
    };
    let words: Vec<&str> = value.split_whitespace().collect();
    match words.chunks(2).find(|pair| pair[0] == OAI) {
        Some([_, SCHEMA]) => Verdict::Holds,
        Some([_, other]) if other.strip_prefix("https") == SCHEMA.strip_prefix("http") => {
            let found = Found::new(format!("the schema is named as {other}")).on(exchange);
            Verdict::Broken(vec![found.with_severity(Severity::Warn)])
        }
        Some([_, other]) => found(&format!("the schema is named as {other}")),
        _ => found(&format!("xsi:schemaLocation=\"{value}\"")),
    }
}

fn response_date(exchange: &Exchange, envelope: &Element, _: &Run<'_>) -> Verdict {
    let date = envelope.child("responseDate").map(Element::exact_text);
    match date {
        None => Verdict::Broken(vec![Found::new("no responseDate").on(exchange)]),
        Some(date) => Verdict::unless(granularity_of(&date) != Some(Granularity::Second), || {
            Found::new(format!("<responseDate>{date}</responseDate>")).on(exchange)
        }),
    }
}

fn clock(exchange: &Exchange, envelope: &Element, _: &Run<'_>) -> Verdict {
    let date = envelope
        .child("responseDate")
        .map(Element::exact_text)
        .unwrap_or_default();
    let Some(told) = read_datestamp(&date).filter(|_| granularity_of(&date) == Some(Granularity::Second)) else {
        return Verdict::not_applicable("no responseDate can be read");
    };
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    let behind = i64::try_from(now).unwrap_or(i64::MAX).saturating_sub(told.unix());
    let off = Duration::from_secs(behind.unsigned_abs());
    if off <= CLOCK_OFF {
        return Verdict::Holds;
    }
    let direction = if behind > 0 { "behind" } else { "ahead of" };
    let came = format!("responseDate is {} {direction} the clock here", roughly(off));
    let found = Found::new(came).on(exchange);
    Verdict::Broken(vec![match off > CLOCK_WRONG {
        true => found.with_severity(Severity::Error),
        false => found,
    }])
}

/// In the largest unit, so that one wrong clock is one finding.
fn roughly(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds < 3600 => format!("some {} minutes", seconds / 60),
        seconds if seconds < 2 * 24 * 3600 => format!("some {} hours", seconds / 3600),
        seconds => format!("some {} days", seconds / (24 * 3600)),
    }
}

/// The verb that was asked for, if there is exactly one.
fn one_verb(exchange: &Exchange) -> Option<Verb> {
    let arguments = exchange.question.arguments();
    let mut verbs = arguments.iter().filter(|(name, _)| name == "verb");
    let (_, verb) = verbs.next()?;
    Verb::parse(verb).filter(|_| verbs.next().is_none())
}

fn third_child(exchange: &Exchange, envelope: &Element, _: &Run<'_>) -> Verdict {
    let all: Vec<&Element> = envelope.elements().collect();
    let head = all
        .iter()
        .take_while(|element| matches!(element.local(), "responseDate" | "request"));
    let in_order = {
        let names: Vec<&str> = head.clone().map(|element| element.local()).collect();
        // One that is missing is told by.
        matches!(
            names[..],
            ["responseDate", "request"] | ["responseDate"] | ["request"] | []
        )
    };
    let rest = &all[head.count()..];
    let errors = rest.iter().filter(|element| element.is(OAI, "error")).count();
    let named: Vec<&str> = rest.iter().map(|element| element.local()).collect();
    let came = match rest {
        _ if !in_order => "responseDate and request are not the first two, in this order".to_owned(),
        [] => "nothing behind request".to_owned(),
        _ if errors == rest.len() => return Verdict::Holds,
        [only] if &*only.namespace == OAI && Verb::parse(only.local()).is_some() => match one_verb(exchange) {
            Some(verb) if verb.as_str() != only.local() => format!("{} for {}", only.local(), verb.as_str()),
            _ => return Verdict::Holds,
        },
        [only] => format!("the element {}", only.name),
        _ => format!("{} one behind the other", named[..named.len().min(5)].join(", ")),
    };
    Verdict::Broken(vec![Found::new(came).on(exchange)])
}

fn known_codes(exchange: &Exchange, _: &Element, _: &Run<'_>) -> Verdict {
    let errors = exchange.errors();
    if errors.is_empty() {
        return Verdict::not_applicable("there was no error");
    }
    let unknown = errors.iter().filter(|(code, _)| ErrorCode::parse(code).is_none());
    let found = unknown.map(|(code, _)| Found::new(format!("<error code=\"{code}\">")).on(exchange));
    Verdict::of(found.collect())
}

/// A known code that the verb does not have.
fn strange_code(exchange: &Exchange) -> Option<Found> {
    let verb = one_verb(exchange)?;
    let (_, codes) = CODES.iter().find(|(known, _)| *known == verb)?;
    let errors = exchange.errors();
    let strange = errors
        .iter()
        .filter_map(|(code, _)| ErrorCode::parse(code))
        .find(|code| *code != ErrorCode::BadArgument && !codes.contains(code))?;
    Some(Found::new(format!("{} for {}", strange.as_str(), verb.as_str())).on(exchange))
}

fn error_texts(exchange: &Exchange, _: &Element, _: &Run<'_>) -> Verdict {
    let errors = exchange.errors();
    if errors.is_empty() {
        return Verdict::not_applicable("there was no error");
    }
    let silent = errors
        .iter()
        .filter(|(code, text)| text.is_empty() && code != ErrorCode::NoSetHierarchy.as_str());
    let found = silent.map(|(code, _)| Found::new(format!("{code} without a word")).on(exchange));
    Verdict::of(found.collect())
}
