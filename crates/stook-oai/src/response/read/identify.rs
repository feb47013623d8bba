//! The answer to Identify, from its element.

use super::cursor::{Cursor, Opened};
use super::entries::{once, parsed, required};
use super::error::{ReadError, ReadFault};
use crate::types::{DeletedRecord, Description, Excerpt, Granularity, Identify, UtcDatetime};

const PARENT: &str = "Identify";

pub(super) fn identify(cursor: &mut Cursor<'_>) -> Result<Identify, ReadError> {
    let mut parts = Parts::default();
    while let Some(child) = cursor.child(PARENT)? {
        parts.take(cursor, &child)?;
    }
    parts.finish(cursor)
}

/// The only version there is; a repository that speaks another is not read.
struct Version2;

/// What has been read so far, in whatever order it came.
#[derive(Default)]
struct Parts {
    repository_name: Option<String>,
    base_url: Option<String>,
    protocol_version: Option<Version2>,
    admin_emails: Vec<String>,
    earliest_datestamp: Option<UtcDatetime>,
    deleted_record: Option<DeletedRecord>,
    granularity: Option<Granularity>,
    compressions: Vec<String>,
    descriptions: Vec<Description>,
}

impl Parts {
    fn take(&mut self, cursor: &mut Cursor<'_>, child: &Opened<'_>) -> Result<(), ReadError> {
        match child.oai_name() {
            "repositoryName" => {
                let value = cursor.text("repositoryName")?;
                once(cursor, &mut self.repository_name, value, "repositoryName", PARENT)
            }
            "baseURL" => {
                let value = cursor.value("baseURL")?;
                once(cursor, &mut self.base_url, value, "baseURL", PARENT)
            }
            "protocolVersion" => {
                let version = literal(cursor, "protocolVersion", |text| (text == "2.0").then_some(Version2))?;
                once(cursor, &mut self.protocol_version, version, "protocolVersion", PARENT)
            }
            "adminEmail" => {
                self.admin_emails.push(cursor.value("adminEmail")?);
                Ok(())
            }
            "earliestDatestamp" => {
                let value = parsed(cursor, "earliestDatestamp", UtcDatetime::parse)?;
                once(cursor, &mut self.earliest_datestamp, value, "earliestDatestamp", PARENT)
            }
            "deletedRecord" => {
                let value = literal(cursor, "deletedRecord", DeletedRecord::parse)?;
                once(cursor, &mut self.deleted_record, value, "deletedRecord", PARENT)
            }
            "granularity" => {
                let value = literal(cursor, "granularity", Granularity::parse)?;
                once(cursor, &mut self.granularity, value, "granularity", PARENT)
            }
            "compression" => {
                self.compressions.push(cursor.value("compression")?);
                Ok(())
            }
            "description" => {
                self.descriptions
                    .push(Description::Xml(cursor.contained("description")?));
                Ok(())
            }
            _ => Err(cursor.unexpected(child, PARENT)),
        }
    }

    fn finish(self, cursor: &Cursor<'_>) -> Result<Identify, ReadError> {
        required(cursor, self.protocol_version, "protocolVersion", PARENT)?;
        required(cursor, self.admin_emails.first(), "adminEmail", PARENT)?;
        let earliest = required(cursor, self.earliest_datestamp, "earliestDatestamp", PARENT)?;
        Ok(Identify {
            repository_name: required(cursor, self.repository_name, "repositoryName", PARENT)?,
            base_url: required(cursor, self.base_url, "baseURL", PARENT)?,
            admin_emails: self.admin_emails,
            earliest_datestamp: earliest.first_second(),
            deleted_record: required(cursor, self.deleted_record, "deletedRecord", PARENT)?,
            granularity: required(cursor, self.granularity, "granularity", PARENT)?,
            compressions: self.compressions,
            descriptions: self.descriptions,
        })
    }
}

/// A value that is one of a few literals.
fn literal<T>(
    cursor: &mut Cursor<'_>,
    element: &'static str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, ReadError> {
    let text = cursor.value(element)?;
    parse(&text).ok_or_else(|| {
        let problem = format!("{} is not one of its values", Excerpt(&text));
        cursor.error(ReadFault::Value { element, problem })
    })
}
