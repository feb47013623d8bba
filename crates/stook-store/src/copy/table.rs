//! The tables of a store, the same for every back end: what a copy has to copy.

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Value {
    fn bytes(&self) -> usize {
        size_of::<Value>()
            + match self {
                Value::Null | Value::Int(_) => 0,
                Value::Text(text) => text.len(),
                Value::Bytes(bytes) => bytes.len(),
            }
    }
}

/// The values of some columns.
pub(crate) type Row = Vec<Value>;

/// What a row takes of the memory.
pub(crate) fn bytes_of(row: &[Value]) -> usize {
    row.iter().map(Value::bytes).sum()
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Text,
    Bytes,
    /// A number in a file, a boolean on a server.
    Flag,
}

/// A column: its name and what it holds.
pub(crate) type Column = (&'static str, Kind);

/// Where a file has the repository of a row. On a server it is always a column, and first in the key of a large table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InFile {
    /// As a server has it.
    Same,
    /// In a column that is not in the key.
    Beside,
    /// Nowhere: that of the row's format.
    ByFormat,
    /// Nowhere: that of the row's list.
    ByList,
}

/// A table.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// What people call its rows.
    pub(super) title: &'static str,
    /// Those of the key first.
    pub(crate) columns: &'static [Column],
    pub(super) key: usize,
    pub(crate) in_file: InFile,
    /// Small, and therefore written anew by every copy. These are the tables where rows may take a name that another
    /// row has had.
    pub(crate) small: bool,
}

impl Table {
    pub(crate) fn key(&self) -> &'static [Column] {
        &self.columns[..self.key]
    }

    /// Of a row or of the columns: the key without the repository, where a file has it without. In its order, and not in
    /// that of a server's key, the rows of both can be walked through side by side.
    pub(crate) fn walk_key<'a, T>(&self, row: &'a [T]) -> &'a [T] {
        &row[usize::from(self.in_file != InFile::Same)..self.key]
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(column, _)| *column == name)
    }

    /// A query for about how many rows there are: those of the largest tables are not counted one by one.
    pub(super) fn count(&self) -> String {
        let live = "SELECT CAST(coalesce(sum(live), 0) AS bigint) FROM tally";
        match self.name {
            "record" | "ident" => format!("{live} WHERE list IN (SELECT id FROM list WHERE set_spec = '')"),
            "member" => live.to_owned(),
            name => format!("SELECT count(*) FROM {name}"),
        }
    }
}

/// Every table but `store` and `clock`, parents before children.
pub(crate) const TABLES: &[Table] = {
    use Kind::{Bytes, Flag, Int, Text};
    &[
        Table {
            name: "repository",
            title: "repositories",
            columns: &[("id", Int), ("name", Text), ("created", Int), ("earliest", Int)],
            key: 1,
            in_file: InFile::Same,
            small: true,
        },
        Table {
            name: "dictionary",
            title: "dictionaries",
            columns: &[("id", Int), ("bytes", Bytes)],
            key: 1,
            in_file: InFile::Same,
            small: true,
        },
        Table {
            name: "format",
            title: "formats",
            columns: &[
                ("id", Int),
                ("repository", Int),
                ("prefix", Text),
                ("schema", Text),
                ("namespace", Text),
                ("deleted", Int),
                ("dictionary", Int),
            ],
            key: 1,
            in_file: InFile::Same,
            small: true,
        },
        Table {
            name: "segment",
            title: "segments",
            columns: &[("id", Int), ("first", Int), ("changes", Int), ("stale", Int)],
            key: 1,
            in_file: InFile::Same,
            small: true,
        },
        Table {
            name: "list",
            title: "lists",
            columns: &[("repository", Int), ("id", Int), ("format", Int), ("set_spec", Text)],
            key: 2,
            in_file: InFile::ByFormat,
            small: true,
        },
        Table {
            name: "set_",
            title: "sets",
            columns: &[
                ("repository", Int),
                ("spec", Text),
                ("name", Text),
                ("descriptions", Text),
            ],
            key: 2,
            in_file: InFile::Same,
            small: false,
        },
        Table {
            name: "record",
            title: "records",
            columns: &[
                ("repository", Int),
                ("position", Int),
                ("format", Int),
                ("deleted", Flag),
                ("dictionary", Int),
                ("volatile", Int),
                ("identifier", Text),
                ("set_specs", Text),
                ("body", Bytes),
            ],
            key: 2,
            in_file: InFile::ByFormat,
            small: false,
        },
        Table {
            name: "ident",
            title: "identifiers",
            columns: &[
                ("repository", Int),
                ("format", Int),
                ("identifier", Text),
                ("position", Int),
                ("origin", Int),
                ("digest", Bytes),
                ("derived", Flag),
            ],
            key: 3,
            in_file: InFile::ByFormat,
            small: false,
        },
        Table {
            name: "member",
            title: "members of lists",
            columns: &[("repository", Int), ("segment", Int), ("list", Int), ("position", Int)],
            key: 4,
            in_file: InFile::ByList,
            small: false,
        },
        Table {
            name: "tally",
            title: "counts",
            columns: &[("repository", Int), ("list", Int), ("segment", Int), ("live", Int)],
            key: 3,
            in_file: InFile::ByList,
            small: false,
        },
        Table {
            name: "note",
            title: "notes",
            columns: &[("repository", Int), ("key", Text), ("text", Text)],
            key: 2,
            in_file: InFile::Same,
            small: false,
        },
        Table {
            name: "quarantine",
            title: "quarantined entries",
            columns: &[
                ("repository", Int),
                ("id", Int),
                ("source", Text),
                ("line", Int),
                ("identifier", Text),
                ("reason", Text),
                ("excerpt", Bytes),
                ("at", Int),
            ],
            key: 2,
            in_file: InFile::Beside,
            small: false,
        },
    ]
};
