//! The definition: a small TOML file that says which database, which queries, and what their columns mean.
//!
//! Enters: the file. Leaves: a [`Definition`] in which everything is checked that can be without the database, or an
//! error that names the file, the key and the remedy. Passwords are never shown.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use stook_store::is_private;

use super::address::Address;
use super::text::{changing_word, sorts_by_itself};
use crate::config::mistake;
use crate::import::fields::Field;

/// What may be read from a database, and how.
#[derive(Debug)]
pub struct Definition {
    /// The file as it was named; messages and the quarantine name it so.
    pub path: String,
    /// Under which the store remembers how far it came.
    pub name: String,
    pub(super) address: Address,
    /// The rows that are records.
    pub(super) records: Query,
    /// Further rows of the same records.
    pub(super) values: Vec<Query>,
    /// The column that tells when a row changed.
    pub(super) changed: Option<String>,
    /// The column that tells whether a record is deleted.
    pub(super) deleted: Option<String>,
    /// How long a transaction of others may take: what it stamps early and commits late is not missed.
    pub(super) overlap: Duration,
}

/// One query of a definition.
#[derive(Debug)]
pub(super) struct Query {
    /// How messages name it.
    pub(super) key: String,
    pub(super) sql: String,
    pub(super) id: String,
    /// The column by which several rows of a record are in order.
    pub(super) order: Option<String>,
    /// Separates several values in one cell; empty for none.
    pub(super) separator: String,
    /// What columns mean, by their names as written.
    pub(super) columns: Vec<(String, Field)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Option<String>,
    database: String,
    password_file: Option<PathBuf>,
    query: String,
    id: String,
    order: Option<String>,
    changed: Option<String>,
    deleted: Option<String>,
    #[serde(default)]
    overlap_minutes: u32,
    #[serde(default)]
    separator: String,
    #[serde(default)]
    columns: BTreeMap<String, String>,
    #[serde(default)]
    values: Vec<Values>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Values {
    query: String,
    id: String,
    order: Option<String>,
    #[serde(default)]
    separator: String,
    #[serde(default)]
    columns: BTreeMap<String, String>,
}

impl Definition {
    /// Reads a definition.
    ///
    /// # Errors
    /// When it cannot be read, or says something impossible.
    pub fn load(path: &Path) -> Result<Definition> {
        let shown = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| {
            anyhow!("cannot read {shown}: {error}\nTry: name the file that describes the database and its queries")
        })?;
        Definition::parse(&text, path).with_context(|| format!("in {shown}"))
    }

    pub(super) fn parse(text: &str, path: &Path) -> Result<Definition> {
        let file: File = toml::from_str(text).map_err(|error| mistake(text, &error, "docs/databases.md"))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let password = match &file.password_file {
            Some(name) => Some(password(&folder.join(name))?),
            None => None,
        };
        let address = Address::parse(&file.database, folder, password.as_deref())?;
        let records = Query::new(
            "query",
            &file.query,
            &file.id,
            file.order,
            file.separator,
            &file.columns,
        )?;
        let several = file.values.len() > 1;
        let mut values = Vec::new();
        for (at, it) in file.values.into_iter().enumerate() {
            let key = match several {
                true => format!("values query {}", at + 1),
                false => "values query".to_owned(),
            };
            values.push(Query::new(
                &key,
                &it.query,
                &it.id,
                it.order,
                it.separator,
                &it.columns,
            )?);
        }
        let name = match file.name {
            Some(name) if name.trim().is_empty() => bail!("name is empty\nTry: leave it out; the file's name is taken"),
            Some(name) => name,
            None => path
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        };
        Ok(Definition {
            path: path.display().to_string(),
            name,
            address,
            records,
            values,
            changed: file.changed,
            deleted: file.deleted,
            overlap: Duration::from_secs(u64::from(file.overlap_minutes) * 60),
        })
    }

    /// Every query, the one of the records first.
    pub(super) fn queries(&self) -> impl Iterator<Item = &Query> {
        std::iter::once(&self.records).chain(&self.values)
    }

    /// Whether the file itself has a password in it and others have access to it.
    #[must_use]
    pub fn shows_its_password(&self) -> bool {
        self.address.has_password_in_url() && !is_private(Path::new(&self.path))
    }

    /// A digest of everything that decides what is published; another one means that everything has to be read again.
    #[must_use]
    pub fn digest(&self, also: &str) -> String {
        let mut text = format!("{}\n{also}\n{:?}\n{:?}\n", self.address, self.changed, self.deleted);
        for query in self.queries() {
            let _ = writeln!(text, "{query:?}");
        }
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }
}

impl Query {
    fn new(
        key: &str,
        sql: &str,
        id: &str,
        order: Option<String>,
        separator: String,
        columns: &BTreeMap<String, String>,
    ) -> Result<Query> {
        let sql = sql
            .trim_end_matches(|sign: char| sign.is_whitespace() || sign == ';')
            .trim_start();
        if sql.is_empty() {
            bail!("{key} is empty\nTry: query = \"select id, title from book\"");
        }
        if let Some(word) = changing_word(sql) {
            bail!("{key}: it begins with {word:?}; records are only read\nTry: a query that begins with select");
        }
        if sorts_by_itself(sql) {
            bail!(
                "{key}: its \"order by\" would be lost, because the query is asked in parts\n\
                 Try: leave it out, and name the column that gives the order: order = \"position\""
            );
        }
        let mut meanings = Vec::new();
        for (column, target) in columns {
            let field = match target.trim() {
                "" => Field::Skipped,
                target => Field::from_name(target)
                    .filter(|field| *field != Field::About)
                    .ok_or_else(|| {
                        anyhow!(
                            "{key}: {target:?} is not known, in columns: {column} = {target:?}\n\
                         Try: one of the fifteen Dublin Core elements, perhaps with a language (title@de), or set, \
                         deleted, metadata (a whole record as XML), or \"\" to skip the column"
                        )
                    })?,
            };
            meanings.push((column.clone(), field));
        }
        Ok(Query {
            key: key.to_owned(),
            sql: sql.to_owned(),
            id: id.to_owned(),
            order,
            separator,
            columns: meanings,
        })
    }
}

/// The first line of a file.
fn password(path: &Path) -> Result<String> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        anyhow!("password_file: cannot read {shown}: {error}\nTry: a file with the password in its first line")
    })?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Definition> {
        Definition::parse(text, Path::new("folder/catalogue.toml"))
    }

    fn said(text: &str) -> String {
        format!("{:#}", parse(text).unwrap_err())
    }

    #[test]
    fn a_definition_is_read() {
        let definition = parse(
            r#"
            database = "sqlite:catalogue.db"
            query = "select id, name from book; "
            id = "id"
            overlap_minutes = 30
            [columns]
            name = "title@de"
            [[values]]
            query = "select book, name from author"
            id = "book"
            order = "position"
            [values.columns]
            name = "creator"
            "#,
        )
        .unwrap();
        assert_eq!(definition.name, "catalogue.toml");
        assert_eq!(definition.address.to_string(), "sqlite:folder/catalogue.db");
        assert_eq!(definition.records.sql, "select id, name from book");
        assert_eq!(definition.records.separator, "");
        assert_eq!(definition.overlap, Duration::from_secs(1800));
        assert_eq!(definition.values[0].columns[0].0, "name");
        assert_eq!(definition.values[0].order.as_deref(), Some("position"));
    }

    #[test]
    fn mistakes_name_the_key_and_what_to_try() {
        let base = "database = \"sqlite:a.db\"\nid = \"id\"\n";
        for (text, wanted) in [
            (format!("{base}query = \" ; \""), "query is empty"),
            (format!("{base}query = \"select 1\"\ncolour = 1"), "colour"),
            (
                format!("{}query = \"select 1\"", base.replace("\"id\"", "7")),
                "id = 7: this is a number, and has to be a text\nTry: id = \"7\"",
            ),
            (
                format!("{base}query = \"select id from a order by id\""),
                "order = \"position\"",
            ),
            (
                format!("{base}query = \"select 1\"\n[columns]\nx = \"titel\""),
                "\"titel\" is not known",
            ),
            (
                "query = \"a\"\nid = \"id\"".to_owned(),
                "database is missing\nTry: docs/databases.md",
            ),
            (
                format!("{base}query = \"select 1\"\n[[values]]\nid = \"id\""),
                "line 4, [[values]]: query is missing",
            ),
            (
                format!("{base}query = \"-- old ones\\nDELETE from book\""),
                "query: it begins with \"delete\"; records are only read\nTry: a query that begins with select",
            ),
            (
                "database = \"oracle:x\"\nquery = \"a\"\nid = \"id\"".to_owned(),
                "postgres://",
            ),
        ] {
            let said = said(&text);
            assert!(said.contains(wanted) && said.contains("Try:"), "{text}: {said}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        for text in [
            "database = \"mysql://joe:hush@db/books\"\nquery = 1\nid = \"id\"",
            "database = \"mysql://joe:hush@db:port/books\"\nquery = \"a\"\nid = \"id\"",
            "database = \"postgres://joe:hush@db:port/books\"\nquery = \"a\"\nid = \"id\"",
            "database = \"mysql://joe:hush@db/books\nid = \"id\"",
        ] {
            assert!(!said(text).contains("hush"), "{}", said(text));
        }
        let fine = parse("database = \"mysql://joe:hush@db/books\"\nquery = \"a\"\nid = \"id\"").unwrap();
        assert!(!format!("{fine:?}").contains("hush"));
    }

    #[test]
    fn the_digest_tells_what_matters_from_what_does_not() {
        let text = "database = \"mysql://joe:hush@db/books\"\nquery = \"a\"\nid = \"id\"\n";
        let one = parse(text).unwrap().digest("");
        assert_eq!(one, parse(&text.replace("hush", "other")).unwrap().digest(""));
        assert_ne!(one, parse(&text.replace("\"a\"", "\"b\"")).unwrap().digest(""));
        assert_ne!(one, parse(&format!("{text}separator = \";\"")).unwrap().digest(""));
        assert_ne!(one, parse(text).unwrap().digest("example.org"));
    }
}
