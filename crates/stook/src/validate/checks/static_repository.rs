//! SR: the file of a static repository, on disk or behind a URL.
//!
//! A static repository is one XML file that a gateway answers for. It is judged alone: nothing of the protocol can be asked
//! where it stands.

mod content;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use stook_oai::Granularity;
use url::Url;

use crate::validate::ask::Asker;
use crate::validate::document::{Document, Element, Flaw};
use crate::validate::exchange::{Answer, Exchange, Question};
use crate::validate::facts::{Identity, granularity_of};
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

/// The namespace of the file.
pub(super) const STATIC: &str = "http://www.openarchives.org/OAI/2.0/static-repository";
/// For how many records a static repository is meant.
const MOST_RECORDS: usize = 5_000;
/// Of one kind of fault so many are told.
const MOST_TOLD: usize = 5;
const OTHER_RUN: &str = "this is a repository that answers for itself, not the file of a static one";

/// Nothing, in a run over a repository that answers for itself.
pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    for (id, _) in CHECKS {
        run.judge(id, Verdict::not_applicable(OTHER_RUN));
    }
    Ok(())
}

/// The file of a static repository, and how it came.
pub(crate) struct StaticFile<'a> {
    document: &'a Document,
    root: Option<&'a Element>,
    came: Option<Came<'a>>,
}

/// How a file came over HTTP.
struct Came<'a> {
    url: &'a Url,
    exchange: &'a Exchange,
    answer: &'a Answer,
    /// The status of asking again for what changed since; none if there was no date to ask with.
    unchanged: Option<u16>,
}

type Judge = fn(&StaticFile<'_>) -> Verdict;

const CHECKS: &[(&str, Judge)] = &[
    ("SR-1", is_valid),
    ("SR-2", has_nothing_forbidden),
    ("SR-3", prefixes_agree),
    ("SR-4", urls_agree),
    ("SR-5", suits_a_gateway),
];

/// Whether the file of a static repository is where a repository was asked for. `first` is the answer to Identify; a web
/// server that has only files does not look at the query.
pub(crate) fn is_at(asker: &mut Asker<'_>, first: &Exchange) -> bool {
    let Some(document) = first.document() else {
        return false;
    };
    if is_static(document) {
        return true;
    }
    document.envelope().is_none() && asker.ask(Question::get("")).document().is_some_and(is_static)
}

pub(super) fn is_static(document: &Document) -> bool {
    let root = document.root.as_ref();
    root.is_some_and(|root| root.is(STATIC, "Repository"))
}

/// Judges the file at a URL.
pub(crate) fn check_at(run: &mut Run<'_>, url: &Url) -> Result<(), Stop> {
    let exchange = run.ask_elsewhere(url, Question::get(""))?;
    let Some(answer) = exchange.answer() else {
        let found = Found::new(exchange.in_short()).on(&exchange);
        run.judge("SR-1", Verdict::Broken(vec![found]));
        return run.end_of_family();
    };
    let unchanged = match answer.header("Last-Modified") {
        Some(date) if run.wants("SR-5") => {
            let again: Arc<Exchange> =
                run.ask_elsewhere(url, Question::get("").with_header("If-Modified-Since", date))?;
            again.answer().map(|answer| answer.status)
        }
        _ => None,
    };
    let file = StaticFile {
        came: Some(Came {
            url,
            exchange: &exchange,
            answer,
            unchanged,
        }),
        ..StaticFile::of(&answer.document)
    };
    check_file(run, &file);
    run.end_of_family()
}

/// Judges a file.
pub(crate) fn check_file(run: &mut Run<'_>, file: &StaticFile<'_>) {
    run.facts.identity = file.identity();
    for (id, judge) in CHECKS {
        run.judge(id, judge(file));
    }
}

impl<'a> StaticFile<'a> {
    pub(crate) fn of(document: &'a Document) -> StaticFile<'a> {
        StaticFile {
            document,
            root: document.root.as_ref().filter(|root| root.is(STATIC, "Repository")),
            came: None,
        }
    }

    fn identity(&self) -> Option<Identity> {
        let identify = self.root?.child("Identify");
        Some(Identity {
            repository_name: identify
                .and_then(|identify| text_of(identify, "repositoryName"))
                .unwrap_or_default(),
            base_url: self.base_url().unwrap_or_default(),
            granularity: Some(Granularity::Day),
            ..Identity::default()
        })
    }

    fn base_url(&self) -> Option<String> {
        let identify = self.root?.child("Identify")?;
        content::children(identify, "baseURL").next().map(Element::exact_text)
    }

    /// The lists of records, with their prefixes.
    pub(super) fn lists(&self) -> impl Iterator<Item = (&'a str, &'a Element)> {
        let lists = self.root.into_iter().flat_map(|root| root.named("ListRecords"));
        lists.map(|list| (list.attribute("", "metadataPrefix").unwrap_or_default(), list))
    }

    /// The records of a prefix by their identifiers.
    pub(super) fn records_of(&self, prefix: &str) -> BTreeMap<String, &'a Element> {
        let lists = self.lists().filter(|(own, _)| *own == prefix);
        let records = lists.flat_map(|(_, list)| content::children(list, "record"));
        records
            .filter_map(|record| {
                let header = content::children(record, "header").next()?;
                Some((text_of(header, "identifier")?, record))
            })
            .collect()
    }

    fn headers(&self) -> impl Iterator<Item = &'a Element> {
        let records = self.lists().flat_map(|(_, list)| content::children(list, "record"));
        records.flat_map(|record| content::children(record, "header"))
    }

    /// Something that is wrong at an element.
    fn found(&self, came: impl Into<String>, element: &Element) -> Found {
        self.seen(Found::new(came)).at_line(self.document.line(element))
    }

    /// Something that is wrong with the whole.
    fn seen(&self, found: Found) -> Found {
        match &self.came {
            Some(came) => found.on(came.exchange),
            None => found,
        }
    }

    fn is_none(&self) -> Verdict {
        Verdict::not_applicable("it is not the file of a static repository")
    }
}

fn text_of(element: &Element, local: &str) -> Option<String> {
    content::children(element, local).next().map(Element::text)
}

/// SR-1: it arrives as XML in UTF-8, and holds what the schema says.
fn is_valid(file: &StaticFile<'_>) -> Verdict {
    let mut found = transport(file);
    let flaws = file.document.flaws.iter().filter_map(|flaw| file.flaw(flaw));
    found.extend(flaws);
    match (&file.document.root, file.root) {
        (_, Some(root)) => {
            let mut tell = |came: String, element: &Element| {
                if found.len() < MOST_TOLD {
                    found.push(file.found(came, element));
                }
            };
            content::hold(root, &mut tell);
            let metadata = file.lists().flat_map(|(_, list)| content::metadata(list));
            for element in metadata {
                if let Err(fault) = content::hold_metadata(element, file.document.written(element)) {
                    tell(format!("metadata that is not valid: {fault}"), element);
                }
            }
        }
        (Some(root), None) => {
            let came = format!(
                "the root is {} of {:?}, not Repository of {STATIC:?}",
                root.local(),
                root.namespace
            );
            found.push(file.found(came, root));
        }
        (None, None) => {}
    }
    Verdict::of(found)
}

fn transport(file: &StaticFile<'_>) -> Vec<Found> {
    let Some(came) = &file.came else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if came.answer.status != 200 {
        found.push(file.seen(Found::new(format!("HTTP {}", came.answer.status))));
    }
    let content_type = came.answer.header("Content-Type").unwrap_or("nothing");
    match came.answer.media_type().as_str() {
        "text/xml" => {}
        "application/xml" => found.push(
            file.seen(Found::new("Content-Type: application/xml"))
                .with_severity(Severity::Warn),
        ),
        _ => found.push(file.seen(Found::new(format!("Content-Type: {content_type}")))),
    }
    let charset = content_type
        .to_ascii_lowercase()
        .split_once("charset=")
        .map(|(_, charset)| {
            let charset = charset.split(';').next().unwrap_or_default();
            charset.trim().trim_matches('"').to_owned()
        });
    if let Some(charset) = charset.filter(|charset| charset != "utf-8") {
        found.push(file.seen(Found::new(format!("Content-Type names the charset {charset}"))));
    }
    found
}

impl StaticFile<'_> {
    fn flaw(&self, flaw: &Flaw) -> Option<Found> {
        let came = match flaw {
            // XML without a declaration is UTF-8 all the same.
            Flaw::NoDeclaration => return None,
            Flaw::Empty => "the file is empty".to_owned(),
            Flaw::NotUtf8(offset) => format!("byte {offset} is no UTF-8"),
            Flaw::ByteOrderMark => "a byte order mark before the XML declaration".to_owned(),
            Flaw::Declaration(text) => format!("the XML declaration {text}"),
            Flaw::Doctype => "a document type declaration".to_owned(),
            Flaw::Entity(entity) => format!("the entity {entity}, which XML does not know"),
            Flaw::Characters(count) => format!("{count} characters that XML cannot carry"),
            Flaw::Malformed { reason, .. } => format!("not well formed: {reason}"),
            Flaw::Trailing(text) => format!("something behind the root element: {text}"),
        };
        let found = self.seen(Found::new(came));
        Some(match flaw {
            Flaw::ByteOrderMark | Flaw::Doctype => found.with_severity(Severity::Warn),
            Flaw::Malformed { line, .. } => found.at_line(*line),
            _ => found,
        })
    }
}

/// SR-2: what the protocol has and a static repository has not.
fn has_nothing_forbidden(file: &StaticFile<'_>) -> Verdict {
    let Some(root) = file.root else {
        return file.is_none();
    };
    let mut found = Vec::new();
    let mut tell = |came: String, element: &Element| {
        if found.len() < MOST_TOLD {
            found.push(file.found(came, element));
        }
    };
    for identify in root.named("Identify") {
        for (name, only) in [("deletedRecord", "no"), ("granularity", "YYYY-MM-DD")] {
            let others = content::children(identify, name).filter(|element| element.text() != only);
            others.for_each(|element| tell(format!("{name} is {:?}", element.text()), element));
        }
        content::children(identify, "compression").for_each(|element| tell("compression in Identify".into(), element));
        content::children(identify, "earliestDatestamp").for_each(|element| note_day(element, &mut tell));
    }
    for (_, list) in file.lists() {
        content::children(list, "resumptionToken").for_each(|element| tell("a resumptionToken".into(), element));
        for record in content::children(list, "record") {
            if content::children(record, "metadata").next().is_none() {
                tell("a record without metadata".into(), record);
            }
        }
    }
    for header in file.headers() {
        if let Some(status) = header.attribute("", "status") {
            tell(format!("a header with status={status:?}"), header);
        }
        content::children(header, "setSpec")
            .for_each(|element| tell(format!("the setSpec {:?}", element.text()), element));
        content::children(header, "datestamp").for_each(|element| note_day(element, &mut tell));
    }
    Verdict::of(found)
}

fn note_day(element: &Element, tell: &mut dyn FnMut(String, &Element)) {
    let text = element.exact_text();
    if granularity_of(&text) != Some(Granularity::Day) {
        tell(format!("the {} {text:?}, which is no day", element.local()), element);
    }
}

/// SR-3: lists and formats name the same prefixes.
fn prefixes_agree(file: &StaticFile<'_>) -> Verdict {
    let Some(root) = file.root else {
        return file.is_none();
    };
    let mut found = Vec::new();
    let formats = root
        .named("ListMetadataFormats")
        .flat_map(|formats| content::children(formats, "metadataFormat"));
    let declared: Vec<String> = formats.filter_map(|format| text_of(format, "metadataPrefix")).collect();
    if !declared.iter().any(|prefix| prefix == "oai_dc") {
        found.push(file.found("ListMetadataFormats does not name oai_dc", root));
    }
    let mut listed = HashSet::new();
    for (prefix, list) in file.lists().filter(|(prefix, _)| !prefix.is_empty()) {
        if !declared.iter().any(|own| own == prefix) {
            let came = format!("ListRecords of {prefix:?}, which ListMetadataFormats does not name");
            found.push(file.found(came, list));
        }
        if !listed.insert(prefix) {
            found.push(file.found(format!("a second ListRecords of {prefix:?}"), list));
        }
        let mut known = HashSet::new();
        for record in content::children(list, "record") {
            let header = content::children(record, "header").next();
            let identifier = header
                .and_then(|header| text_of(header, "identifier"))
                .unwrap_or_default();
            if !known.insert(identifier.clone()) && found.len() < MOST_TOLD {
                found.push(file.found(
                    format!("{identifier:?} a second time in the list of {prefix:?}"),
                    record,
                ));
            }
        }
    }
    Verdict::of(found)
}

/// SR-4: the URL of the file, and the base URL that a gateway makes of it.
fn urls_agree(file: &StaticFile<'_>) -> Verdict {
    let Some(base_url) = file.base_url() else {
        return Verdict::not_applicable("there is no baseURL to compare with");
    };
    let tell = |came: String| file.seen(Found::new(came));
    let parsed = Url::parse(&base_url).ok();
    let is_good =
        |url: &Url| matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none();
    if !parsed.as_ref().is_some_and(is_good) {
        let came = format!("the baseURL {base_url:?}, which is no web address without query and fragment");
        return Verdict::Broken(vec![tell(came)]);
    }
    let Some(came) = &file.came else {
        return Verdict::Holds;
    };
    let mut found = Vec::new();
    if came.url.query().is_some() || came.url.fragment().is_some() {
        found.push(tell(format!("the file is at {}, a URL with a query", came.url)));
    }
    if came.url.scheme() != "http" {
        let reason = format!(
            "the file is at {}; the base URL of a gateway can only speak of http",
            came.url
        );
        found.push(tell(reason).with_severity(Severity::Warn));
    }
    let ending = format!("/{}", behind_gateway(came.url));
    if !base_url.ends_with(&ending) {
        found.push(tell(format!("the baseURL {base_url:?} does not end with {ending:?}")));
    }
    Verdict::of(found)
}

/// What a gateway appends to its own URL to name a static repository: the URL without scheme, the colon of a port escaped.
pub(super) fn behind_gateway(url: &Url) -> String {
    let port = url.port().map_or(String::new(), |port| format!("%3A{port}"));
    format!("{}{port}{}", url.host_str().unwrap_or_default(), url.path())
}

/// SR-5: dates that are true, a size that a gateway can hold, and a server that says when the file changed.
fn suits_a_gateway(file: &StaticFile<'_>) -> Verdict {
    let Some(root) = file.root else {
        return file.is_none();
    };
    let mut found = Vec::new();
    let identify = root.child("Identify");
    let earliest = identify
        .and_then(|identify| text_of(identify, "earliestDatestamp"))
        .unwrap_or_default();
    // Days of one form are in the order of their texts.
    let is_before =
        |element: &Element| granularity_of(&element.text()) == Some(Granularity::Day) && element.text() < earliest;
    let mut datestamps = file.headers().flat_map(|header| content::children(header, "datestamp"));
    if let Some(before) = datestamps.find(|element| is_before(element)) {
        let came = format!(
            "the datestamp {} before the earliestDatestamp {earliest}",
            before.text()
        );
        found.push(file.found(came, before));
    }
    let records = file.headers().count();
    if records > MOST_RECORDS {
        let came = format!("{records} records");
        found.push(file.seen(Found::new(came)).with_severity(Severity::Rec));
    }
    if let Some(came) = &file.came {
        let remark = match (came.answer.header("Last-Modified"), came.unchanged) {
            (None, _) => Some("no Last-Modified header".to_owned()),
            (Some(_), Some(304)) => None,
            (Some(_), status) => {
                let status = status.map_or("no answer".to_owned(), |status| format!("HTTP {status}"));
                Some(format!(
                    "{status} instead of 304 to If-Modified-Since with the file's own date"
                ))
            }
        };
        found.extend(remark.map(|remark| file.seen(Found::new(remark)).with_severity(Severity::Rec)));
    }
    Verdict::of(found)
}
