//! A catalogue in a database of any kind, for a test of its own.

use std::path::PathBuf;

use rusqlite::Connection;
use tempfile::TempDir;
use testserver::{MariaDb, Server};

use crate::Repository;

/// Tables of one test. In its SQL `@book` is a table of its own, and `@numbers(5) n` has a column i from 1 to 5.
pub(crate) struct Catalogue {
    at: At,
    /// Before the names of its tables: tests share servers.
    prefix: String,
}

enum At {
    Sqlite(TempDir),
    Postgres,
    MariaDb,
}

impl Catalogue {
    pub(crate) fn of_every_kind(test: &str) -> [Catalogue; 3] {
        // Run again with its store on a server, a test has servers of its own.
        let prefix = format!("{test}_");
        [Catalogue::sqlite().at, At::Postgres, At::MariaDb].map(|at| Catalogue {
            at,
            prefix: prefix.clone(),
        })
    }

    pub(crate) fn sqlite() -> Catalogue {
        Catalogue {
            at: At::Sqlite(tempfile::tempdir().unwrap()),
            prefix: String::new(),
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self.at {
            At::Sqlite(_) => "sqlite",
            At::Postgres => "postgres",
            At::MariaDb => "mariadb",
        }
    }

    pub(crate) fn run(&self, sql: &str) {
        let sql = self.own(sql);
        match &self.at {
            At::Sqlite(_) => Connection::open(self.file()).unwrap().execute_batch(&sql).unwrap(),
            At::Postgres => Server::shared().run(&sql).unwrap(),
            At::MariaDb => MariaDb::shared().run(&sql).unwrap(),
        }
    }

    /// Writes a definition for this catalogue, of which only the address is missing.
    pub(crate) fn define(&self, repository: &Repository, name: &str, definition: &str) {
        let address = match &self.at {
            At::Sqlite(_) => format!("sqlite:{}", self.file().display()),
            At::Postgres => Server::shared().url(),
            At::MariaDb => MariaDb::shared().url(),
        };
        repository.write(name, format!("database = {address:?}\n{}", self.own(definition)));
    }

    fn file(&self) -> PathBuf {
        match &self.at {
            At::Sqlite(folder) => folder.path().join("catalogue.db"),
            _ => PathBuf::new(),
        }
    }

    fn own(&self, sql: &str) -> String {
        let (before, after) = match self.at {
            At::Sqlite(_) => (
                "(with recursive n(i) as (values (1) union all select i + 1 from n where i < ",
                ") select i from n)",
            ),
            At::Postgres => ("(select i from generate_series(1, ", ") as s(i))"),
            At::MariaDb => ("(select seq as i from seq_1_to_", ")"),
        };
        let mut text = String::new();
        let mut rest = sql;
        while let Some((head, tail)) = rest.split_once("@numbers(") {
            let (number, tail) = tail.split_once(')').unwrap();
            text.extend([head, before, number, after]);
            rest = tail;
        }
        (text + rest).replace('@', &self.prefix)
    }
}
