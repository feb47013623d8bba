//! The entries of a response, from the elements that hold them.
//!
//! Each function is called with the cursor behind the entry's start tag and
//! returns with it behind the entry's end tag.

use std::fmt::Display;

use super::Event;
use super::cursor::{Cursor, Opened};
use super::error::{ReadError, ReadFault};
use crate::response::repair::{Tolerance, lenient_datetime};
use crate::types::{
    Datestamp, ErrorCode, Excerpt, Header, Identifier, InvalidIdentifier, MetadataFormat, MetadataPrefix, OaiError,
    OddDatestamp, Record, ResumptionToken, Set, SetSpec, UtcDatetime,
};

pub(super) fn response_date(cursor: &mut Cursor<'_>) -> Result<Option<Datestamp>, ReadError> {
    let text = cursor.value("responseDate")?;
    let flaw = match Datestamp::parse(&text) {
        Ok(date) => return Ok(Some(date)),
        Err(flaw) => flaw,
    };
    let closest = lenient_datetime(&text);
    let tolerance = match closest {
        Some(_) => Tolerance::OddResponseDate,
        None => Tolerance::MissingResponseDate,
    };
    if cursor.tolerates(tolerance) {
        return Ok(closest.map(UtcDatetime::first_second));
    }
    Err(value_fault(cursor, "responseDate", flaw))
}

pub(super) fn request(cursor: &mut Cursor<'_>, root: &Opened<'_>) -> Result<Event, ReadError> {
    let arguments = root
        .tag
        .attributes
        .iter()
        .filter(|attribute| !attribute.name.contains(':') && attribute.name != "xmlns")
        .map(|attribute| (attribute.name.to_owned(), attribute.value().into_owned()))
        .collect();
    Ok(Event::Request {
        base_url: cursor.value("request")?,
        arguments,
    })
}

pub(super) fn error(cursor: &mut Cursor<'_>, root: &Opened<'_>) -> Result<Event, ReadError> {
    let text = root.tag.attribute("code");
    let code = text.as_deref().and_then(ErrorCode::parse);
    if let Some(code) = code {
        return Ok(Event::Error(OaiError::new(code, cursor.text("error")?)));
    }
    if cursor.tolerates(Tolerance::UnknownErrorCode) {
        let text = text.as_deref().unwrap_or_default().trim();
        let message = cursor.text("error")?;
        let folded = ErrorCode::ALL
            .into_iter()
            .find(|code| code.as_str().eq_ignore_ascii_case(text));
        return Ok(match folded {
            Some(code) => Event::Error(OaiError::new(code, message)),
            None => Event::UnknownError {
                code: text.to_owned(),
                message,
            },
        });
    }
    let Some(text) = text else {
        return Err(cursor.error(ReadFault::Missing {
            element: "code",
            parent: "error",
        }));
    };
    let problem = format!("{} is not an error code", Excerpt(&text));
    Err(value_fault(cursor, "error code", problem))
}

pub(super) fn metadata_format(cursor: &mut Cursor<'_>) -> Result<MetadataFormat, ReadError> {
    const PARENT: &str = "metadataFormat";
    let (mut prefix, mut schema, mut namespace) = (None, None, None);
    while let Some(child) = cursor.child(PARENT)? {
        match cursor.name_of(&child) {
            "metadataPrefix" => {
                let value = parsed(cursor, "metadataPrefix", MetadataPrefix::parse)?;
                once(cursor, &mut prefix, value, "metadataPrefix", PARENT)?;
            }
            "schema" => {
                let value = cursor.value("schema")?;
                once(cursor, &mut schema, value, "schema", PARENT)?;
            }
            "metadataNamespace" => {
                let value = cursor.value("metadataNamespace")?;
                once(cursor, &mut namespace, value, "metadataNamespace", PARENT)?;
            }
            _ => cursor.pass_over(&child, PARENT)?,
        }
    }
    if prefix.is_some() && (schema.is_none() || namespace.is_none()) && cursor.tolerates(Tolerance::IncompleteFormat) {
        schema.get_or_insert_default();
        namespace.get_or_insert_default();
    }
    Ok(MetadataFormat {
        prefix: required(cursor, prefix, "metadataPrefix", PARENT)?,
        schema: required(cursor, schema, "schema", PARENT)?,
        namespace: required(cursor, namespace, "metadataNamespace", PARENT)?,
    })
}

/// Nothing if the set is tolerated without being of use.
pub(super) fn set(cursor: &mut Cursor<'_>) -> Result<Option<Set>, ReadError> {
    const PARENT: &str = "set";
    let (mut spec, mut name, mut descriptions) = (None, None, Vec::new());
    while let Some(child) = cursor.child(PARENT)? {
        match cursor.name_of(&child) {
            "setSpec" => {
                let value = set_spec(cursor)?;
                once(cursor, &mut spec, value, "setSpec", PARENT)?;
            }
            "setName" => {
                let value = cursor.text("setName")?;
                once(cursor, &mut name, value, "setName", PARENT)?;
            }
            "setDescription" => cursor.all_contained("setDescription", &mut descriptions)?,
            _ => cursor.pass_over(&child, PARENT)?,
        }
    }
    let Some(spec) = required(cursor, spec, "setSpec", PARENT)? else {
        return Ok(None);
    };
    if name.is_none() && cursor.tolerates(Tolerance::MissingSetName) {
        name = Some(spec.as_str().to_owned());
    }
    Ok(Some(Set {
        spec,
        name: required(cursor, name, "setName", PARENT)?,
        descriptions,
    }))
}

pub(super) fn header(cursor: &mut Cursor<'_>, root: &Opened<'_>) -> Result<Header, ReadError> {
    const PARENT: &str = "header";
    let deleted = is_deleted(cursor, root)?;
    let (mut id, mut date, mut set_specs) = (None, None, Vec::new());
    while let Some(child) = cursor.child(PARENT)? {
        match cursor.name_of(&child) {
            "identifier" => {
                let value = identifier(cursor)?;
                once(cursor, &mut id, value, "identifier", PARENT)?;
            }
            "datestamp" => {
                let value = datestamp(cursor)?;
                once(cursor, &mut date, value, "datestamp", PARENT)?;
            }
            "setSpec" => set_specs.extend(set_spec(cursor)?),
            _ => cursor.pass_over(&child, PARENT)?,
        }
    }
    let identifier = required(cursor, id, "identifier", PARENT)?;
    if date.is_none() && cursor.tolerates(Tolerance::MissingDatestamp) {
        date = Some((NO_DATE, Some(OddDatestamp::Missing)));
    }
    let (datestamp, odd_datestamp) = required(cursor, date, "datestamp", PARENT)?;
    Ok(Header {
        identifier,
        datestamp,
        odd_datestamp,
        set_specs,
        deleted,
    })
}

fn is_deleted(cursor: &mut Cursor<'_>, root: &Opened<'_>) -> Result<bool, ReadError> {
    let Some(status) = root.tag.attribute("status") else {
        return Ok(false);
    };
    if status == "deleted" {
        return Ok(true);
    }
    let deleted = status.trim().eq_ignore_ascii_case("deleted");
    let tolerance = if deleted {
        Tolerance::StatusCase
    } else {
        Tolerance::UnknownStatus
    };
    if cursor.tolerates(tolerance) {
        return Ok(deleted);
    }
    let problem = format!("{} is not \"deleted\"", Excerpt(&status));
    Err(value_fault(cursor, "header status", problem))
}

fn identifier(cursor: &mut Cursor<'_>) -> Result<Identifier, ReadError> {
    let text = cursor.value("identifier")?;
    let invalid: InvalidIdentifier = match Identifier::parse(&text) {
        Ok(identifier) => return Ok(identifier),
        Err(invalid) => invalid,
    };
    match Identifier::as_received(&text) {
        Ok(identifier) if cursor.tolerates(Tolerance::OddIdentifier) => Ok(identifier),
        _ => Err(value_fault(cursor, "identifier", invalid)),
    }
}

/// What stands for a datestamp that nobody knows.
const NO_DATE: UtcDatetime = UtcDatetime::first_day_of_1970();

fn datestamp(cursor: &mut Cursor<'_>) -> Result<(UtcDatetime, Option<OddDatestamp>), ReadError> {
    let text = cursor.value("datestamp")?;
    let flaw = match UtcDatetime::parse(&text) {
        Ok(datestamp) => return Ok((datestamp, None)),
        Err(flaw) => flaw,
    };
    let (tolerance, datestamp, odd) = match lenient_datetime(&text) {
        Some(closest) => (Tolerance::OddDatestamp, closest, OddDatestamp::Normalised(text)),
        None if text.is_empty() => (Tolerance::MissingDatestamp, NO_DATE, OddDatestamp::Missing),
        None => (Tolerance::UnreadableDatestamp, NO_DATE, OddDatestamp::Unreadable(text)),
    };
    if cursor.tolerates(tolerance) {
        return Ok((datestamp, Some(odd)));
    }
    Err(value_fault(cursor, "datestamp", flaw))
}

/// Nothing if the setSpec is to be left out.
fn set_spec(cursor: &mut Cursor<'_>) -> Result<Option<SetSpec>, ReadError> {
    let text = cursor.value("setSpec")?;
    match SetSpec::parse(&text) {
        Ok(spec) => Ok(Some(spec)),
        Err(_) if cursor.tolerates(Tolerance::BadSetSpec) => Ok(None),
        Err(invalid) => Err(value_fault(cursor, "setSpec", invalid)),
    }
}

/// A lenient reader hands on only what can be kept, so it asks for the
/// metadata of a record that is not deleted; a strict one leaves that to
/// whoever validates.
pub(super) fn record(cursor: &mut Cursor<'_>) -> Result<Record, ReadError> {
    const PARENT: &str = "record";
    let (mut head, mut metadata, mut about) = (None, None, Vec::new());
    while let Some(child) = cursor.child(PARENT)? {
        match cursor.name_of(&child) {
            "header" => {
                let value = header(cursor, &child)?;
                once(cursor, &mut head, value, "header", PARENT)?;
            }
            "metadata" if cursor.is_lenient() => {
                let value = cursor.contained_or_none("metadata")?;
                once(cursor, &mut metadata, value, "metadata", PARENT)?;
            }
            "metadata" => {
                let value = Some(cursor.contained("metadata")?);
                once(cursor, &mut metadata, value, "metadata", PARENT)?;
            }
            "about" => cursor.all_contained("about", &mut about)?,
            _ => cursor.pass_over(&child, PARENT)?,
        }
    }
    let header: Header = required(cursor, head, "header", PARENT)?;
    match &metadata {
        Some(None) if header.deleted => {
            cursor.tolerates(Tolerance::EmptyMetadata);
        }
        Some(None) => {
            return Err(cursor.error(ReadFault::Missing {
                element: "element",
                parent: "metadata",
            }));
        }
        None if !header.deleted && cursor.is_lenient() => {
            return Err(cursor.error(ReadFault::Missing {
                element: "metadata",
                parent: PARENT,
            }));
        }
        _ => {}
    }
    Ok(Record {
        header,
        metadata: metadata.flatten(),
        about,
    })
}

/// The attributes are advice: one that cannot be read is left out, because a
/// list must not end early for its sake.
pub(super) fn resumption_token(cursor: &mut Cursor<'_>, root: &Opened<'_>) -> Result<ResumptionToken, ReadError> {
    let number = |text: &str| text.parse().ok();
    let date = |text: &str| Datestamp::parse(text).ok();
    Ok(ResumptionToken {
        expiration_date: advice(cursor, root, "expirationDate", date),
        complete_list_size: advice(cursor, root, "completeListSize", number),
        cursor: advice(cursor, root, "cursor", number),
        value: cursor.value("resumptionToken")?,
    })
}

fn advice<T>(
    cursor: &mut Cursor<'_>,
    root: &Opened<'_>,
    name: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Option<T> {
    let text = root.tag.attribute(name)?;
    let value = parse(text.trim());
    if value.is_none() {
        cursor.tolerates(Tolerance::BadTokenAttribute);
    }
    value
}

/// The value of the element last opened, by its grammar.
pub(super) fn parsed<T, E: Display>(
    cursor: &mut Cursor<'_>,
    element: &'static str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, ReadError> {
    let text = cursor.value(element)?;
    parse(&text).map_err(|flaw| value_fault(cursor, element, flaw))
}

pub(super) fn value_fault(cursor: &Cursor<'_>, element: &'static str, problem: impl Display) -> ReadError {
    let problem = problem.to_string();
    cursor.error(ReadFault::Value { element, problem })
}

/// Fills a slot that may be filled once.
pub(super) fn once<T>(
    cursor: &Cursor<'_>,
    slot: &mut Option<T>,
    value: T,
    element: &'static str,
    parent: &'static str,
) -> Result<(), ReadError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(cursor.error(ReadFault::Repeated { element, parent })),
    }
}

/// What must have been filled.
pub(super) fn required<T>(
    cursor: &Cursor<'_>,
    slot: Option<T>,
    element: &'static str,
    parent: &'static str,
) -> Result<T, ReadError> {
    slot.ok_or_else(|| cursor.error(ReadFault::Missing { element, parent }))
}
