//! What is judged in the metadata of each record whose format is known.

use stook_metadata::dublin_core::OAI_DC_NAMESPACE;
use stook_metadata::marc::MARCXML_NAMESPACE;
use stook_metadata::{Format, model, well_known};
use stook_oai::Excerpt;

use super::super::containers::schema_locations;
use super::super::formats::is_secure_form;
use super::{is_deleted, name_of};
use crate::validate::document::{Document, Element};
use crate::validate::exchange::Exchange;
use crate::validate::facts;
use crate::validate::run::{Found, Run, Verdict};
use crate::validate::table::Severity;

/// The metadata of one record, and the format it was asked in.
struct Metadata<'a> {
    document: &'a Document,
    record: &'a Element,
    metadata: &'a Element,
    format: &'a facts::Format,
}

/// What is wrong with one, if anything; none where there is nothing to look at.
type Check = fn(&Metadata<'_>, &Element) -> Option<Result<(), Found>>;

const CHECKS: &[(&str, Check)] = &[
    ("R-3", namespace),
    ("R-4", schema_location),
    ("R-5", stands_alone),
    ("R-6", obeys_its_schema),
    ("R-7", dublin_core),
];

/// What is said of each where there was nothing to look at.
const NOTHING: &[(&str, &str)] = &[
    ("R-3", "no metadata of a listed format was seen"),
    ("R-4", "no metadata of a listed format was seen"),
    ("R-5", "no metadata of a listed format was seen"),
    (
        "R-6",
        "no metadata was seen, beside oai_dc, that stands alone and whose schema is known here",
    ),
    ("R-7", "no metadata in oai_dc that stands alone was seen"),
];

pub(super) fn check(run: &mut Run<'_>) {
    for (id, why) in NOTHING {
        run.judge(id, Verdict::not_applicable(*why));
    }
    let known = |format: &facts::Format| {
        let mut formats = well_known().iter().filter(|known| known.namespace == format.namespace);
        format.namespace == OAI_DC_NAMESPACE || formats.any(has_rules)
    };
    let unknown = run.facts.formats.iter().filter(|format| !known(format));
    let found = unknown.map(|format| {
        let came = format!(
            "records in {} could not be validated: what they may hold is not known here",
            format.prefix
        );
        Found::new(came).with_severity(Severity::Info)
    });
    let found: Vec<Found> = found.collect();
    if !found.is_empty() {
        run.judge("R-6", Verdict::Broken(found));
    }
}

/// Whether it is known what records of a format may hold.
fn has_rules(format: &Format) -> bool {
    let has_model = |root: &stook_metadata::Root| model::of_root(&root.namespace, &root.name).is_some();
    format.namespace == MARCXML_NAMESPACE || format.roots.iter().any(has_model)
}

/// What is judged in every answer with records.
pub(super) fn every(run: &mut Run<'_>, exchange: &Exchange, document: &Document) {
    // A later page does not say which format it is of.
    let Some(prefix) = exchange.question.argument("metadataPrefix") else {
        return;
    };
    let Some(format) = run.facts.format(&prefix).cloned() else {
        return;
    };
    for (id, check) in CHECKS {
        let (mut any, mut found) = (false, Vec::new());
        for record in document.records().filter(|record| !is_deleted(record)) {
            for metadata in record.named("metadata") {
                let seen = Metadata {
                    document,
                    record,
                    metadata,
                    format: &format,
                };
                let checked = metadata.elements().next().and_then(|root| check(&seen, root));
                any |= checked.is_some();
                found.extend(checked.and_then(Result::err).map(|found| found.on(exchange)));
            }
        }
        if any {
            run.judge(id, Verdict::of(found));
        }
    }
}

impl Metadata<'_> {
    fn found(&self, came: String) -> Found {
        let line = self.document.line(self.metadata);
        Found::new(format!("{came} (record {})", name_of(self.record))).at_line(line)
    }
}

/// Whether a root may be there, by its namespace or by what is known of the format.
fn is_expected(seen: &Metadata<'_>, root: &Element) -> bool {
    let mut known = well_known()
        .iter()
        .filter(|known| known.namespace == seen.format.namespace);
    *root.namespace == *seen.format.namespace || known.any(|known| known.accepts_root(&root.namespace, root.local()))
}

fn namespace(seen: &Metadata<'_>, root: &Element) -> Option<Result<(), Found>> {
    let prefix = &seen.format.prefix;
    if seen.metadata.elements().count() > 1 {
        let came = format!(
            "metadata in {prefix} with {} elements",
            seen.metadata.elements().count()
        );
        return Some(Err(seen.found(came)));
    }
    if is_expected(seen, root) {
        return Some(Ok(()));
    }
    let namespace = Excerpt(&root.namespace);
    Some(Err(
        seen.found(format!("metadata in {prefix} of the namespace {namespace}"))
    ))
}

fn schema_location(seen: &Metadata<'_>, root: &Element) -> Option<Result<(), Found>> {
    // Something else altogether names another schema, of course.
    if !is_expected(seen, root) {
        return None;
    }
    let locations = schema_locations(root);
    let wanted = &seen.format.schema;
    let prefix = &seen.format.prefix;
    let is_pair = |pair: &[&str]| {
        let namespaces = [&*seen.format.namespace, &*root.namespace];
        matches!(pair, [namespace, schema] if namespaces.contains(namespace) && schema == wanted)
    };
    if wanted.is_empty() || locations.chunks(2).any(is_pair) {
        return Some(Ok(()));
    }
    if locations.contains(&wanted.as_str()) {
        let came = format!("metadata in {prefix} that names its schema for another namespace");
        return Some(Err(seen.found(came)));
    }
    if locations.is_empty() {
        let came = format!("metadata in {prefix} that names no schema (xsi:schemaLocation)");
        return Some(Err(seen.found(came)));
    }
    let came = format!("metadata in {prefix} that names {}", Excerpt(&locations.join(" ")));
    let found = seen.found(came);
    Some(Err(
        match locations.iter().any(|location| is_secure_form(location, wanted)) {
            true => found.with_severity(Severity::Warn),
            false => found,
        },
    ))
}

fn stands_alone(seen: &Metadata<'_>, root: &Element) -> Option<Result<(), Found>> {
    let alone = Document::read(seen.document.written(root).as_bytes()).root;
    let came = match alone {
        None => "metadata with a prefix that is declared outside it",
        Some(alone) if alone.namespace != root.namespace => "metadata whose default namespace is declared outside it",
        Some(_) => return Some(Ok(())),
    };
    Some(Err(seen.found(came.to_owned())))
}

/// What is wrong inside, as the same check says it that our own records pass; none if the root is not what it should be
/// or does not stand alone, which are told as that.
fn fault(seen: &Metadata<'_>, root: &Element) -> Option<Result<(), Found>> {
    if !is_expected(seen, root) || stands_alone(seen, root).is_some_and(|alone| alone.is_err()) {
        return None;
    }
    let format = well_known()
        .iter()
        .find(|known| known.accepts_root(&root.namespace, root.local()))
        .filter(|known| known.namespace == OAI_DC_NAMESPACE || has_rules(known))?;
    let checked = stook_metadata::check(seen.document.written(root), format);
    Some(checked.map(drop).map_err(|fault| seen.found(fault.problem.to_string())))
}

fn obeys_its_schema(seen: &Metadata<'_>, root: &Element) -> Option<Result<(), Found>> {
    match &*root.namespace {
        OAI_DC_NAMESPACE => None,
        _ => fault(seen, root),
    }
}

fn dublin_core(seen: &Metadata<'_>, root: &Element) -> Option<Result<(), Found>> {
    if &*root.namespace != OAI_DC_NAMESPACE {
        return None;
    }
    if root.local() != "dc" {
        let came = format!("metadata in oai_dc that begins with <{}>", root.name);
        return Some(Err(seen.found(came)));
    }
    let checked = fault(seen, root)?;
    let is_empty = root.elements().all(|element| element.text().is_empty());
    Some(match checked {
        Ok(()) if is_empty => {
            let found = seen.found("metadata in oai_dc that says nothing".to_owned());
            Err(found.with_severity(Severity::Warn))
        }
        other => other,
    })
}
