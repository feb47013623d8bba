//! The entries of a response, from the elements that hold them.
//!
//! Each function is called with the cursor behind the entry's start tag and
//! returns with it behind the entry's end tag.

use std::fmt::Display;

use super::Event;
use super::cursor::{Cursor, Opened};
use super::error::{ReadError, ReadFault};
use crate::types::{
    Datestamp, ErrorCode, Header, Identifier, MetadataFormat, MetadataPrefix, OaiError, Record, ResumptionToken, Set,
    SetSpec, UtcDatetime,
};

pub(super) fn response_date(cursor: &mut Cursor<'_>) -> Result<Datestamp, ReadError> {
    parsed(cursor, "responseDate", Datestamp::parse)
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

pub(super) fn error(cursor: &mut Cursor<'_>, root: &Opened<'_>) -> Result<OaiError, ReadError> {
    let Some(text) = root.tag.attribute("code") else {
        return Err(cursor.error(ReadFault::Missing {
            element: "code",
            parent: "error",
        }));
    };
    let Some(code) = ErrorCode::parse(&text) else {
        let problem = format!("{} is not an error code", crate::types::Excerpt(&text));
        return Err(cursor.error(ReadFault::Value {
            element: "error code",
            problem,
        }));
    };
    Ok(OaiError::new(code, cursor.text("error")?))
}

pub(super) fn metadata_format(cursor: &mut Cursor<'_>) -> Result<MetadataFormat, ReadError> {
    const PARENT: &str = "metadataFormat";
    let (mut prefix, mut schema, mut namespace) = (None, None, None);
    while let Some(child) = cursor.child(PARENT)? {
        match child.oai_name() {
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
            _ => return Err(cursor.unexpected(&child, PARENT)),
        }
    }
    Ok(MetadataFormat {
        prefix: required(cursor, prefix, "metadataPrefix", PARENT)?,
        schema: required(cursor, schema, "schema", PARENT)?,
        namespace: required(cursor, namespace, "metadataNamespace", PARENT)?,
    })
}

pub(super) fn set(cursor: &mut Cursor<'_>) -> Result<Set, ReadError> {
    const PARENT: &str = "set";
    let (mut spec, mut name, mut descriptions) = (None, None, Vec::new());
    while let Some(child) = cursor.child(PARENT)? {
        match child.oai_name() {
            "setSpec" => {
                let value = parsed(cursor, "setSpec", SetSpec::parse)?;
                once(cursor, &mut spec, value, "setSpec", PARENT)?;
            }
            "setName" => {
                let value = cursor.text("setName")?;
                once(cursor, &mut name, value, "setName", PARENT)?;
            }
            "setDescription" => descriptions.push(cursor.contained("setDescription")?),
            _ => return Err(cursor.unexpected(&child, PARENT)),
        }
    }
    Ok(Set {
        spec: required(cursor, spec, "setSpec", PARENT)?,
        name: required(cursor, name, "setName", PARENT)?,
        descriptions,
    })
}

pub(super) fn header(cursor: &mut Cursor<'_>, root: &Opened<'_>) -> Result<Header, ReadError> {
    const PARENT: &str = "header";
    let deleted = match root.tag.attribute("status") {
        None => false,
        Some(status) if status == "deleted" => true,
        Some(status) => {
            let problem = format!("{} is not \"deleted\"", crate::types::Excerpt(&status));
            return Err(cursor.error(ReadFault::Value {
                element: "header status",
                problem,
            }));
        }
    };
    let (mut identifier, mut datestamp, mut set_specs) = (None, None, Vec::new());
    while let Some(child) = cursor.child(PARENT)? {
        match child.oai_name() {
            "identifier" => {
                let value = parsed(cursor, "identifier", Identifier::parse)?;
                once(cursor, &mut identifier, value, "identifier", PARENT)?;
            }
            "datestamp" => {
                let value = parsed(cursor, "datestamp", UtcDatetime::parse)?;
                once(cursor, &mut datestamp, value, "datestamp", PARENT)?;
            }
            "setSpec" => set_specs.push(parsed(cursor, "setSpec", SetSpec::parse)?),
            _ => return Err(cursor.unexpected(&child, PARENT)),
        }
    }
    Ok(Header {
        identifier: required(cursor, identifier, "identifier", PARENT)?,
        datestamp: required(cursor, datestamp, "datestamp", PARENT)?,
        set_specs,
        deleted,
    })
}

pub(super) fn record(cursor: &mut Cursor<'_>) -> Result<Record, ReadError> {
    const PARENT: &str = "record";
    let (mut head, mut metadata, mut about) = (None, None, Vec::new());
    while let Some(child) = cursor.child(PARENT)? {
        match child.oai_name() {
            "header" => {
                let value = header(cursor, &child)?;
                once(cursor, &mut head, value, "header", PARENT)?;
            }
            "metadata" => {
                let value = cursor.contained("metadata")?;
                once(cursor, &mut metadata, value, "metadata", PARENT)?;
            }
            "about" => about.push(cursor.contained("about")?),
            _ => return Err(cursor.unexpected(&child, PARENT)),
        }
    }
    Ok(Record {
        header: required(cursor, head, "header", PARENT)?,
        metadata,
        about,
    })
}

/// The attributes are advice: one that cannot be read is left out, because a
/// list must not end early for its sake.
pub(super) fn resumption_token(cursor: &mut Cursor<'_>, root: &Opened<'_>) -> Result<ResumptionToken, ReadError> {
    let number = |name| root.tag.attribute(name).and_then(|text| text.trim().parse().ok());
    let expiration_date = root
        .tag
        .attribute("expirationDate")
        .and_then(|text| Datestamp::parse(text.trim()).ok());
    Ok(ResumptionToken {
        expiration_date,
        complete_list_size: number("completeListSize"),
        cursor: number("cursor"),
        value: cursor.value("resumptionToken")?,
    })
}

/// The value of the element last opened, by its grammar.
pub(super) fn parsed<T, E: Display>(
    cursor: &mut Cursor<'_>,
    element: &'static str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, ReadError> {
    let text = cursor.value(element)?;
    parse(&text).map_err(|flaw| {
        let problem = flaw.to_string();
        cursor.error(ReadFault::Value { element, problem })
    })
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
