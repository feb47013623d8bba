//! The answer to Identify, from its element.

use super::cursor::{Cursor, Opened};
use super::entries::{once, required, value_fault};
use super::error::{ReadError, ReadFault};
use crate::response::repair::{Tolerance, lenient_datetime, lenient_granularity};
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
    fn take<'a>(&mut self, cursor: &mut Cursor<'a>, child: &Opened<'a>) -> Result<(), ReadError> {
        match cursor.name_of(child) {
            "repositoryName" => {
                let value = cursor.text("repositoryName")?;
                once(cursor, &mut self.repository_name, value, "repositoryName", PARENT)
            }
            "baseURL" => {
                let value = cursor.value("baseURL")?;
                once(cursor, &mut self.base_url, value, "baseURL", PARENT)
            }
            "protocolVersion" => {
                let version = literal(
                    cursor,
                    "protocolVersion",
                    |text| (text == "2.0").then_some(Version2),
                    |text| {
                        text.starts_with('2')
                            .then_some((Version2, Tolerance::IncompleteIdentify))
                    },
                )?;
                once(cursor, &mut self.protocol_version, version, "protocolVersion", PARENT)
            }
            "adminEmail" => {
                self.admin_emails.push(cursor.value("adminEmail")?);
                Ok(())
            }
            "earliestDatestamp" => {
                let value = earliest_datestamp(cursor)?;
                once(cursor, &mut self.earliest_datestamp, value, "earliestDatestamp", PARENT)
            }
            "deletedRecord" => {
                // Who does not say what is promised promises nothing.
                let folded = |text: &str| DeletedRecord::parse(&text.to_ascii_lowercase());
                let value = literal(cursor, "deletedRecord", DeletedRecord::parse, |text| {
                    let value = folded(text).unwrap_or(DeletedRecord::Transient);
                    Some((value, Tolerance::IncompleteIdentify))
                })?;
                once(cursor, &mut self.deleted_record, value, "deletedRecord", PARENT)
            }
            "granularity" => {
                let value = literal(cursor, "granularity", Granularity::parse, |text| {
                    Some(match lenient_granularity(text) {
                        Some(value) => (value, Tolerance::OddGranularity),
                        None => (Granularity::Day, Tolerance::MissingGranularity),
                    })
                })?;
                once(cursor, &mut self.granularity, value, "granularity", PARENT)
            }
            "compression" => {
                self.compressions.push(cursor.value("compression")?);
                Ok(())
            }
            "description" => {
                let mut contained = Vec::new();
                cursor.all_contained("description", &mut contained)?;
                self.descriptions.extend(contained.into_iter().map(Description::Xml));
                Ok(())
            }
            _ => cursor.pass_over(child, PARENT),
        }
    }

    fn finish(mut self, cursor: &mut Cursor<'_>) -> Result<Identify, ReadError> {
        if cursor.is_lenient() {
            self.complete(cursor);
        } else {
            required(cursor, self.admin_emails.first(), "adminEmail", PARENT)?;
        }
        required(cursor, self.protocol_version, "protocolVersion", PARENT)?;
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

    /// Fills in what is missing and can be done without.
    fn complete(&mut self, cursor: &mut Cursor<'_>) {
        if self.admin_emails.is_empty() {
            cursor.tolerates(Tolerance::IncompleteIdentify);
        }
        // A harvester knows both better than by hearsay.
        complete(
            cursor,
            &mut self.repository_name,
            String::new(),
            Tolerance::IncompleteIdentify,
        );
        complete(cursor, &mut self.base_url, String::new(), Tolerance::IncompleteIdentify);
        complete(
            cursor,
            &mut self.protocol_version,
            Version2,
            Tolerance::IncompleteIdentify,
        );
        let transient = DeletedRecord::Transient;
        complete(
            cursor,
            &mut self.deleted_record,
            transient,
            Tolerance::IncompleteIdentify,
        );
        let first = UtcDatetime::first_day_of_1970();
        complete(
            cursor,
            &mut self.earliest_datestamp,
            first,
            Tolerance::OddEarliestDatestamp,
        );
        // Every repository must understand days.
        complete(
            cursor,
            &mut self.granularity,
            Granularity::Day,
            Tolerance::MissingGranularity,
        );
    }
}

fn complete<T>(cursor: &mut Cursor<'_>, slot: &mut Option<T>, value: T, tolerance: Tolerance) {
    if slot.is_none() && cursor.tolerates(tolerance) {
        *slot = Some(value);
    }
}

fn earliest_datestamp(cursor: &mut Cursor<'_>) -> Result<UtcDatetime, ReadError> {
    let text = cursor.value("earliestDatestamp")?;
    match UtcDatetime::parse(&text) {
        Ok(datestamp) => Ok(datestamp),
        Err(_) if cursor.tolerates(Tolerance::OddEarliestDatestamp) => {
            Ok(lenient_datetime(&text).unwrap_or(UtcDatetime::first_day_of_1970()))
        }
        Err(flaw) => Err(value_fault(cursor, "earliestDatestamp", flaw)),
    }
}

/// A value that is one of a few literals, or, if that is tolerated, something
/// that can be taken for one.
fn literal<T>(
    cursor: &mut Cursor<'_>,
    element: &'static str,
    parse: impl FnOnce(&str) -> Option<T>,
    lenient: impl FnOnce(&str) -> Option<(T, Tolerance)>,
) -> Result<T, ReadError> {
    let text = cursor.value(element)?;
    if let Some(value) = parse(&text) {
        return Ok(value);
    }
    match lenient(&text) {
        Some((value, tolerance)) if cursor.tolerates(tolerance) => Ok(value),
        _ => {
            let problem = format!("{} is not one of its values", Excerpt(&text));
            Err(cursor.error(ReadFault::Value { element, problem }))
        }
    }
}
