//! The queries as they are asked: those of the definition, each as a table of its own, and around it what limits and
//! sorts it, in the words of each kind of database.
//!
//! The definition's query stands inside, so that it may be any query. Its last line may be a comment, so a line ends
//! behind it.

use serde::{Deserialize, Serialize};

use super::columns::{Resolved, Selected};
use super::database::Kind;

/// A kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Postgres,
    Mysql,
    Sqlite,
}

/// How far a reading came: the highest value of `changed` there was, as the database itself wrote and compared it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Mark {
    pub(super) value: String,
    /// Whether it is written without quotation marks: not every database compares a text with a number as a number.
    pub(super) is_number: bool,
}

/// Which records are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    /// Those of which a row is as new as this, or does not say how new it is.
    Since(Mark),
    /// So many, in the order of their ids.
    First(u64),
}

/// One query and its columns.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) sql: &'a str,
    pub(super) columns: &'a Resolved,
}

impl Dialect {
    /// The rows of the records.
    pub(super) fn records(self, records: Asked<'_>, wanted: &Wanted) -> String {
        let id = self.column("q", &records.columns.id);
        // The same column on both sides: whatever takes two ids for one takes all of their rows.
        let condition = self.ids(records, wanted, false).map(|ids| format!("{id} IN ({ids})"));
        self.rows(records, condition)
    }

    /// The rows of further values of the same records.
    pub(super) fn values(self, values: Asked<'_>, records: Asked<'_>, wanted: &Wanted) -> String {
        let id = self.as_text(&self.column("q", &values.columns.id));
        let condition = self.ids(records, wanted, true).map(|ids| format!("{id} IN ({ids})"));
        self.rows(values, condition)
    }

    /// The highest value of `changed` among what is wanted; for SQLite also the kinds of values there are.
    pub(super) fn highest(self, records: Asked<'_>, changed: &str, wanted: &Wanted) -> String {
        let column = self.column("q", changed);
        let highest = match self {
            Self::Postgres => format!("max({column})::text"),
            Self::Mysql => format!("max({column})"),
            Self::Sqlite => {
                let kind = format!("CASE typeof({column}) WHEN 'real' THEN 'integer' ELSE typeof({column}) END");
                format!("max({column}), min({kind}), max({kind})")
            }
        };
        let condition = match wanted {
            Wanted::Since(mark) => format!("{column} >= {}", self.literal(mark)),
            _ => format!("{column} IS NOT NULL"),
        };
        format!("SELECT {highest} FROM (\n{}\n) q WHERE {condition}", records.sql)
    }

    fn rows(self, asked: Asked<'_>, condition: Option<String>) -> String {
        let columns = asked.columns;
        let order = columns.order.as_deref();
        let mut list = vec![self.value(&columns.id, Kind::Plain)];
        list.extend(order.map(|order| self.value(order, Kind::Plain)));
        list.extend(
            columns
                .selected
                .iter()
                .map(|Selected { name, kind, .. }| self.value(name, *kind)),
        );
        let mut sql = format!("SELECT {} FROM (\n{}\n) q", list.join(", "), asked.sql);
        if let Some(condition) = condition {
            sql += &format!(" WHERE {condition}");
        }
        if let Some(order) = order {
            sql += &format!(" ORDER BY {}", self.column("q", order));
        }
        sql
    }

    /// A query for the ids of the records that are wanted; none if all are.
    fn ids(self, records: Asked<'_>, wanted: &Wanted, as_text: bool) -> Option<String> {
        let id = self.column("c", &records.columns.id);
        let cast = |id: &str| if as_text { self.as_text(id) } else { id.to_owned() };
        let from = format!("FROM (\n{}\n) c", records.sql);
        match wanted {
            Wanted::All => None,
            Wanted::Since(mark) => {
                let changed = self.column("c", records.columns.changed.as_deref()?);
                let literal = self.literal(mark);
                let id = cast(&id);
                Some(format!(
                    "SELECT {id} {from} WHERE {changed} >= {literal} OR {changed} IS NULL"
                ))
            }
            Wanted::First(number) => {
                let first =
                    format!("SELECT DISTINCT {id} AS i {from} WHERE {id} IS NOT NULL ORDER BY 1 LIMIT {number}");
                Some(format!("SELECT {} FROM ({first}) d", cast("d.i")))
            }
        }
    }

    /// A value as text. The servers' own form of every type is text, but PostgreSQL has to be told.
    fn value(self, name: &str, kind: Kind) -> String {
        let column = self.column("q", name);
        match (self, kind) {
            (Self::Postgres, _) => format!("{column}::text"),
            (Self::Mysql, Kind::Bits) => format!("CAST({column} AS UNSIGNED)"),
            _ => column,
        }
    }

    /// An expression as text that is compared byte by byte, so that ids of different types and collations meet.
    fn as_text(self, expression: &str) -> String {
        match self {
            Self::Postgres => format!("{expression}::text"),
            Self::Mysql => format!("CONVERT({expression} USING utf8mb4) COLLATE utf8mb4_bin"),
            Self::Sqlite => format!("CAST({expression} AS TEXT)"),
        }
    }

    fn column(self, table: &str, name: &str) -> String {
        match self {
            Self::Mysql => format!("{table}.`{}`", name.replace('`', "``")),
            _ => format!("{table}.\"{}\"", name.replace('"', "\"\"")),
        }
    }

    fn literal(self, mark: &Mark) -> String {
        match self {
            // A text takes the type of what it is compared with.
            Self::Postgres => format!("'{}'", mark.value.replace('\'', "''")),
            _ if mark.is_number => mark.value.clone(),
            _ => format!("'{}'", mark.value.replace('\'', "''")),
        }
    }
}

impl Mark {
    /// A mark that can be written into a query again.
    pub(super) fn new(value: &str, is_number: bool) -> Option<Mark> {
        let digits = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        let fits = match is_number {
            true => value.bytes().all(digits),
            // What an escape means depends on the server's settings.
            false => !value.contains(['\\', '\0']),
        };
        (fits && !value.is_empty()).then(|| Mark {
            value: value.to_owned(),
            is_number,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::fields::Field;
    use crate::import::table::Column;

    fn resolved(order: Option<&str>) -> Resolved {
        let selected = Selected {
            name: "na\"me".to_owned(),
            kind: Kind::Plain,
            column: Column {
                name: "na\"me".to_owned(),
                field: Field::Sets,
            },
        };
        Resolved {
            id: "id".to_owned(),
            order: order.map(str::to_owned),
            changed: Some("at".to_owned()),
            changed_kind: Kind::Plain,
            selected: vec![selected],
            separator: String::new(),
        }
    }

    #[test]
    fn each_database_is_asked_in_its_own_words() {
        let (records, values) = (resolved(None), resolved(Some("n")));
        let records = Asked {
            sql: "select 1 -- one",
            columns: &records,
        };
        let values = Asked {
            sql: "select 2",
            columns: &values,
        };
        let since = Wanted::Since(Mark::new("it's", false).unwrap());
        assert_eq!(
            Dialect::Postgres.records(records, &Wanted::All),
            "SELECT q.\"id\"::text, q.\"na\"\"me\"::text FROM (\nselect 1 -- one\n) q"
        );
        assert_eq!(
            Dialect::Mysql.records(records, &since),
            "SELECT q.`id`, q.`na\"me` FROM (\nselect 1 -- one\n) q WHERE q.`id` IN (SELECT c.`id` FROM (\nselect 1 -- \
             one\n) c WHERE c.`at` >= 'it''s' OR c.`at` IS NULL)"
        );
        assert_eq!(
            Dialect::Sqlite.values(values, records, &Wanted::First(3)),
            "SELECT q.\"id\", q.\"n\", q.\"na\"\"me\" FROM (\nselect 2\n) q WHERE CAST(q.\"id\" AS TEXT) IN (SELECT \
             CAST(d.i AS TEXT) FROM (SELECT DISTINCT c.\"id\" AS i FROM (\nselect 1 -- one\n) c WHERE c.\"id\" IS NOT \
             NULL ORDER BY 1 LIMIT 3) d) ORDER BY q.\"n\""
        );
        let number = Wanted::Since(Mark::new("12", true).unwrap());
        assert!(Dialect::Sqlite.records(records, &number).contains(">= 12 OR"));
        assert!(
            Dialect::Postgres
                .highest(records, "at", &number)
                .ends_with("WHERE q.\"at\" >= '12'")
        );
    }

    #[test]
    fn a_mark_that_cannot_be_written_again_is_none() {
        assert!(Mark::new("1; drop table book", true).is_none());
        assert!(Mark::new("a\\", false).is_none());
        assert!(Mark::new("", false).is_none());
        assert!(Mark::new("-1.5e3", true).is_some());
    }
}
