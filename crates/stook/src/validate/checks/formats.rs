//! M: which formats there are.

mod schemas;

use stook_metadata::dublin_core::{OAI_DC_NAMESPACE, OAI_DC_SCHEMA};
use stook_oai::ErrorCode::{BadArgument, IdDoesNotExist, NoMetadataFormats};
use stook_oai::{Excerpt, MetadataPrefix};

use crate::validate::document::{Document, Element};
use crate::validate::exchange::Exchange;
use crate::validate::facts::{Facts, Format};
use crate::validate::probe::Expect::{Error, SuccessOr};
use crate::validate::probe::{Probe, encoded, probe};
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

const PROBES: &[Probe] = &[
    probe(
        "M-8",
        "verb=ListMetadataFormats&identifier=really_wrong_id",
        Error(&[IdDoesNotExist, BadArgument]),
    ),
    probe(
        "M-9",
        "verb=ListMetadataFormats&metadataPrefix=oai_dc",
        Error(&[BadArgument]),
    ),
    probe(
        "M-9",
        "verb=ListMetadataFormats&resumptionToken=x",
        Error(&[BadArgument]),
    ),
    probe(
        "M-10",
        "verb=ListMetadataFormats&identifier={id}&identifier={id}",
        Error(&[BadArgument]),
    ),
];

/// A check over the list of formats.
type Check = fn(&Facts) -> Vec<Found>;
/// A column of it.
type Column = fn(&Format) -> &str;

/// What is judged in the list of formats.
const CHECKS: &[(&str, Check)] = &[
    ("M-2", has_oai_dc),
    ("M-3", oai_dc_is_the_reserved),
    ("M-4", prefixes),
    ("M-5", namespaces_and_schemas),
];

/// The prefix that nobody should use.
const RESERVED: &str = "all";

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    let exchange = run.get("verb=ListMetadataFormats")?;
    run.judge("M-1", has_formats(&exchange));
    for (id, check) in CHECKS {
        let verdict = match run.facts.formats.is_empty() {
            true => Verdict::not_applicable("there are no formats"),
            false => Verdict::of(check(&run.facts).into_iter().map(|found| found.on(&exchange)).collect()),
        };
        run.judge(id, verdict);
    }
    schemas::check(run, &exchange)?;
    of_an_item(run)?;
    run.probe_all(PROBES)?;
    of_a_deleted_item(run)
}

fn has_formats(exchange: &Exchange) -> Verdict {
    if !exchange.succeeded() && exchange.errors().is_empty() {
        return Verdict::not_applicable(format!("{}, which other checks tell", exchange.in_short()));
    }
    Verdict::unless(formats_in(exchange).next().is_none(), || {
        Found::new(format!("{} instead of formats", exchange.in_short())).on(exchange)
    })
}

/// The formats of an answer.
fn formats_in(exchange: &Exchange) -> impl Iterator<Item = &Element> {
    let payload = exchange.document().and_then(Document::payload);
    payload.into_iter().flat_map(|payload| payload.named("metadataFormat"))
}

fn has_oai_dc(facts: &Facts) -> Vec<Found> {
    match facts.format("oai_dc") {
        Some(_) => Vec::new(),
        None => {
            let prefixes: Vec<&str> = facts.formats.iter().map(|format| &*format.prefix).collect();
            vec![Found::new(format!("only {}", prefixes.join(", ")))]
        }
    }
}

fn oai_dc_is_the_reserved(facts: &Facts) -> Vec<Found> {
    let Some(format) = facts.format("oai_dc") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (name, written, wanted) in [
        ("schema", &format.schema, OAI_DC_SCHEMA),
        ("metadataNamespace", &format.namespace, OAI_DC_NAMESPACE),
    ] {
        if written != wanted {
            let wrong = Found::new(format!("the {name} of oai_dc is {}", Excerpt(written)));
            found.push(match is_secure_form(written, wanted) {
                true => wrong.with_severity(Severity::Warn),
                false => wrong,
            });
        }
    }
    found
}

/// Whether one address is the other with https.
pub(super) fn is_secure_form(written: &str, wanted: &str) -> bool {
    let bare = |text: &str| text.trim_start_matches("https:").trim_start_matches("http:").to_owned();
    written != wanted && bare(written) == bare(wanted)
}

fn prefixes(facts: &Facts) -> Vec<Found> {
    let mut found = Vec::new();
    for (at, Format { prefix, .. }) in facts.formats.iter().enumerate() {
        let is_told = facts.formats[..at].iter().any(|before| before.prefix == *prefix);
        match MetadataPrefix::parse(prefix.as_str()) {
            Err(_) => found.push(Found::new(format!("the metadataPrefix {}", Excerpt(prefix)))),
            Ok(_) if is_told => found.push(Found::new(format!("the metadataPrefix {prefix} twice"))),
            Ok(_) if prefix == RESERVED => {
                let wrong = Found::new(format!("the metadataPrefix {RESERVED}, which is reserved"));
                found.push(wrong.with_severity(Severity::Warn));
            }
            Ok(_) => {}
        }
    }
    found
}

fn namespaces_and_schemas(facts: &Facts) -> Vec<Found> {
    let mut found = Vec::new();
    let columns: [(&str, Column); 2] = [
        ("metadataNamespace", |format| &format.namespace),
        ("schema", |format| &format.schema),
    ];
    for (at, format) in facts.formats.iter().enumerate() {
        for (name, column) in columns {
            let before = &facts.formats[..at];
            // The same prefix twice is told as that.
            let twin = before
                .iter()
                .find(|twin| column(twin) == column(format) && twin.prefix != format.prefix);
            if let Some(twin) = twin {
                let value = Excerpt(column(format));
                let came = format!("{} and {} have the same {name} {value}", twin.prefix, format.prefix);
                found.push(Found::new(came));
                break;
            }
        }
    }
    found
}

/// The formats of the sample record.
fn of_an_item(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("M-7") {
        return Ok(());
    }
    let Some(sample) = run.facts.sample.clone() else {
        run.judge("M-7", Verdict::not_applicable("no record was found to ask for"));
        return Ok(());
    };
    let query = format!("verb=ListMetadataFormats&identifier={}", encoded(&sample.identifier));
    let exchange = run.get(&query)?;
    let verdict = judge_item(&exchange, &run.facts);
    run.judge("M-7", verdict);
    Ok(())
}

fn judge_item(exchange: &Exchange, facts: &Facts) -> Verdict {
    if !exchange.errors().is_empty() {
        let came = format!("{} for a record that is listed", exchange.in_short());
        return Verdict::Broken(vec![Found::new(came).on(exchange)]);
    }
    if !exchange.succeeded() {
        return Verdict::not_applicable(format!("{}, which other checks tell", exchange.in_short()));
    }
    let own: Vec<String> = formats_in(exchange)
        .filter_map(|format| format.text_of("metadataPrefix"))
        .collect();
    let mut found = Vec::new();
    if !own.iter().any(|prefix| prefix == "oai_dc") {
        found.push(Found::new("no oai_dc, in which the record is listed").on(exchange));
    }
    // That the repository does not list oai_dc is told as that.
    let is_unknown = |prefix: &&String| *prefix != "oai_dc" && facts.format(prefix).is_none();
    let unknown = own
        .iter()
        .filter(|prefix| !facts.formats.is_empty() && is_unknown(prefix));
    found.extend(unknown.map(|prefix| {
        let came = format!("{}, which the repository does not list", Excerpt(prefix));
        Found::new(came).on(exchange)
    }));
    Verdict::of(found)
}

/// Whoever tracks deletions knows the item.
fn of_a_deleted_item(run: &mut Run<'_>) -> Result<(), Stop> {
    const TRACKED: &crate::validate::probe::Expect = &SuccessOr(&[NoMetadataFormats]);
    const UNTRACKED: &crate::validate::probe::Expect = &SuccessOr(&[NoMetadataFormats, IdDoesNotExist]);
    if !run.wants("M-11") {
        return Ok(());
    }
    let Some(deleted) = run.facts.deleted.clone() else {
        run.judge("M-11", Verdict::not_applicable("no deleted record was seen"));
        return Ok(());
    };
    let query = format!("verb=ListMetadataFormats&identifier={}", encoded(&deleted.identifier));
    let exchange = run.get(&query)?;
    let identity = run.facts.identity.as_ref();
    let expect = match identity.is_some_and(|identity| identity.deleted_record == "persistent") {
        true => TRACKED,
        false => UNTRACKED,
    };
    run.judge("M-11", expect.judge(&exchange));
    Ok(())
}
