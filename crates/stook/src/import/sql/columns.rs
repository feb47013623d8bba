//! What the columns of a query mean: by the definition, else by their names.

use super::database::{Described, Kind};
use super::definition::{Definition, Query};
use crate::import::fields::Field;
use crate::import::table::Column;

/// The columns of one query by the names the database has for them.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) id: String,
    pub(super) order: Option<String>,
    pub(super) changed: Option<String>,
    pub(super) changed_kind: Kind,
    /// What is read beside these.
    pub(super) selected: Vec<Selected>,
    pub(super) separator: String,
}

/// One column that is read.
#[derive(Debug)]
pub(super) struct Selected {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) column: Column,
}

/// Finds out what every column of a query means.
///
/// # Errors
/// When a column is missing, or nobody knows what it means; in words, with what to try.
pub(super) fn resolve(
    definition: &Definition,
    query: &Query,
    described: &[Described],
    ignore_unknown: bool,
) -> Result<Resolved, String> {
    if described.is_empty() {
        return Err(format!(
            "{}: it asks for nothing, so there are no columns\nTry: a query that begins with select",
            query.key
        ));
    }
    let is_records = std::ptr::eq(query, &definition.records);
    let found = |key: &str, name: &str| find(query, described, key, name);
    let id = found("id", &query.id)?;
    let order = query.order.as_deref().map(|name| found("order", name)).transpose()?;
    let named = |key: &str, name: Option<&String>| match name {
        Some(name) if is_records => found(key, name).map(Some),
        _ => Ok(None),
    };
    let changed = named("changed", definition.changed.as_ref())?;
    let deleted = named("deleted", definition.deleted.as_ref())?;
    let mut mapped = Vec::new();
    for (name, field) in &query.columns {
        mapped.push((found("columns", name)?, field));
    }
    let (mut selected, mut unknown) = (Vec::new(), Vec::new());
    for (at, Described { name, kind }) in described.iter().enumerate() {
        let own = Field::from_name(name).filter(|field| !matches!(field, Field::About | Field::RecordIdentifier));
        let serves = [Some(id), order, changed].contains(&Some(at));
        let field = match mapped.iter().find(|(column, _)| *column == at) {
            Some((_, field)) => (*field).clone(),
            None if deleted == Some(at) => Field::Deleted,
            None if id == at || Field::from_name(name) == Some(Field::RecordIdentifier) => Field::Skipped,
            None => match own {
                Some(field) => field,
                None if serves || ignore_unknown => Field::Skipped,
                None => {
                    unknown.push(name.as_str());
                    continue;
                }
            },
        };
        if field == Field::Skipped || field == Field::RecordIdentifier {
            continue;
        }
        if *kind == Kind::Bytes {
            return Err(format!(
                "{}: the column {name:?} holds bytes, not text\nTry: leave it out of the query, or convert it there, \
                 with convert_from({name}, 'UTF8') or encode({name}, 'hex')",
                query.key
            ));
        }
        let column = Column {
            name: name.clone(),
            field,
        };
        selected.push(Selected {
            name: name.clone(),
            kind: *kind,
            column,
        });
    }
    if let [first, ..] = unknown.as_slice() {
        let table = if is_records { "[columns]" } else { "[values.columns]" };
        return Err(format!(
            "{}: nobody knows what these columns mean: {}\nTry: under {table} {first} = \"title\" (or another element) \
             for each, or {first} = \"\" to skip one; --ignore-unknown skips them all",
            query.key,
            unknown.join(", ")
        ));
    }
    Ok(Resolved {
        id: described[id].name.clone(),
        order: order.map(|at| described[at].name.clone()),
        changed: changed.map(|at| described[at].name.clone()),
        changed_kind: changed.map_or(Kind::Plain, |at| described[at].kind),
        selected,
        separator: query.separator.clone(),
    })
}

/// Whole records and single elements do not go together: nobody could tell what the record is.
///
/// # Errors
/// When there are both.
pub(super) fn check_together(queries: &[Resolved]) -> Result<(), String> {
    let columns = || {
        queries
            .iter()
            .flat_map(|query| &query.selected)
            .map(|selected| &selected.column)
    };
    let whole = columns().find(|column| column.field == Field::Metadata);
    let single = columns().find(|column| matches!(column.field, Field::Statement(..) | Field::Identifier));
    match (whole, single) {
        (Some(whole), Some(single)) => Err(format!(
            "the column {:?} is a whole record, so {:?} cannot be an element beside it\n\
             Try: leave one of them out, or under [columns] {} = \"\"",
            whole.name, single.name, single.name
        )),
        _ => Ok(()),
    }
}

/// The place of a column: by its exact name, else without regard to case.
fn find(query: &Query, described: &[Described], key: &str, name: &str) -> Result<usize, String> {
    let places = |same: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let found = described.iter().enumerate().filter(|(_, it)| same(&it.name));
        found.map(|(at, _)| at).collect()
    };
    let mut found = places(&|it| it == name);
    if found.is_empty() {
        found = places(&|it| it.to_lowercase() == name.to_lowercase());
    }
    match found.as_slice() {
        [at] => Ok(*at),
        [] => {
            let names: Vec<&str> = described.iter().map(|it| it.name.as_str()).collect();
            Err(format!(
                "{}: there is no column {name:?}, which {key} names\nTry: one of those the query gives: {}",
                query.key,
                names.join(", ")
            ))
        }
        _ => Err(format!(
            "{}: there are several columns {name:?}, which {key} names\nTry: give them different names in the query, \
             with `as`",
            query.key
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn definition(more: &str) -> Definition {
        let text = format!("database = \"sqlite:a.db\"\nquery = \"select\"\nid = \"id\"\n{more}");
        Definition::parse(&text, Path::new("a.toml")).unwrap()
    }

    fn resolved(more: &str, names: &[&str]) -> Result<String, String> {
        let definition = definition(more);
        let described: Vec<Described> = names
            .iter()
            .map(|name| Described {
                name: (*name).to_owned(),
                kind: if *name == "cover" { Kind::Bytes } else { Kind::Plain },
            })
            .collect();
        let resolved = resolve(&definition, &definition.records, &described, false)?;
        let columns = resolved.selected.iter();
        Ok(columns
            .map(|it| {
                format!("{}={:?}", it.name, it.column.field)
                    .replace("Statement(", "")
                    .replace(", None)", "")
            })
            .collect::<Vec<_>>()
            .join(" "))
    }

    #[test]
    fn columns_mean_what_the_definition_says_or_what_they_are_called() {
        let names = ["ID", "title", "updated", "gone", "lang", "date", "record_id"];
        let more = "changed = \"updated\"\ndeleted = \"gone\"\n[columns]\nLang = \"language\"";
        assert_eq!(
            resolved(more, &names).unwrap(),
            "title=Title gone=Deleted lang=Language date=Date"
        );
        // A column can serve twice.
        assert_eq!(resolved("changed = \"date\"", &["id", "date"]).unwrap(), "date=Date");
        assert_eq!(
            resolved("[columns]\nid = \"identifier\"", &["id"]).unwrap(),
            "id=Identifier"
        );
        assert_eq!(resolved("[columns]\ncover = \"\"", &["id", "cover"]).unwrap(), "");
    }

    #[test]
    fn what_is_missing_unknown_or_of_bytes_is_told_with_what_to_try() {
        for (more, names, wanted) in [
            (
                "",
                &["nr", "title"][..],
                "no column \"id\", which id names\nTry: one of those the query gives: nr, title",
            ),
            (
                "changed = \"at\"",
                &["id", "title"],
                "no column \"at\", which changed names",
            ),
            (
                "[columns]\ntitel = \"title\"",
                &["id", "title"],
                "no column \"titel\", which columns names",
            ),
            ("", &["id", "id", "title"], "several columns \"id\""),
            (
                "",
                &["id", "name", "born"],
                "mean: name, born\nTry: under [columns] name = \"title\"",
            ),
            ("[columns]\ncover = \"title\"", &["id", "cover"], "holds bytes"),
            ("", &[], "it asks for nothing, so there are no columns\nTry: a query"),
        ] {
            let said = resolved(more, names).unwrap_err();
            assert!(said.contains(wanted), "{more}: {said}");
        }
    }

    #[test]
    fn a_whole_record_stands_alone() {
        let definition = definition("");
        let column = |name: &str| Described {
            name: name.to_owned(),
            kind: Kind::Plain,
        };
        let both = [column("id"), column("metadata"), column("title")];
        let resolved = |described| resolve(&definition, &definition.records, described, false).unwrap();
        assert!(check_together(&[resolved(&both)]).unwrap_err().contains("title = \"\""));
        assert!(check_together(&[resolved(&both[..2])]).is_ok());
    }
}
