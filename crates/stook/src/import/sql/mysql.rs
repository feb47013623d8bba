//! Reading from MariaDB and MySQL.
//!
//! Queries go by the text protocol, in which every value comes as the server writes it.

use std::time::Duration;

use mysql::consts::ColumnType;
use mysql::prelude::Queryable;
use mysql::{Column, Conn, DriverError, Error, OptsBuilder, SslOpts, Value};

use super::address::{Encryption, MysqlAddress};
use super::database::{Described, Ended, Fault, Hear, Kind, Why};

/// How long a server may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// A connection that says nothing for so long is asked whether it is still there.
const KEEPALIVE_MILLISECONDS: u32 = 60_000;

/// Four bytes to a character if it needs them; time stamps that do not change with daylight saving; no value of
/// `group_concat` cut off without a word, as it is at 1 KB; one moment for all queries.
const SESSION: [&str; 5] = [
    "SET NAMES utf8mb4",
    "SET SESSION time_zone = '+00:00', SESSION net_write_timeout = 600",
    "SET SESSION group_concat_max_len = 16777216",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
];

pub(super) struct MysqlReader {
    connection: Conn,
}

impl MysqlReader {
    pub(super) fn open(address: &MysqlAddress) -> Result<MysqlReader, Fault> {
        let mut connection = connect(address).map_err(|error| match error {
            Error::MySqlError(error) => Fault::new(Why::Denied, error.message),
            other => fault(other),
        })?;
        for statement in SESSION {
            connection.query_drop(statement).map_err(fault)?;
        }
        Ok(MysqlReader { connection })
    }

    pub(super) fn describe(&mut self, sql: &str) -> Result<Vec<Described>, Fault> {
        let statement = self.connection.prep(sql).map_err(fault)?;
        let columns = statement.columns();
        let described = columns
            .iter()
            .map(|column| Described {
                name: column.name_str().into_owned(),
                kind: kind(column),
            })
            .collect();
        self.connection.close(statement).map_err(fault)?;
        Ok(described)
    }

    pub(super) fn each_row(&mut self, sql: &str, hear: &mut Hear<'_>) -> Result<(), Ended> {
        let ended = |error| Ended::Fault(fault(error));
        let rows = self.connection.query_iter(sql).map_err(ended)?;
        for row in rows {
            let row = row.map_err(ended)?;
            let values: Vec<Option<&[u8]>> = (0..row.len())
                .map(|at| match row.as_ref(at) {
                    Some(Value::Bytes(bytes)) => Some(bytes.as_slice()),
                    // By this protocol there is nothing else.
                    _ => None,
                })
                .collect();
            hear(&values)?;
        }
        Ok(())
    }
}

fn connect(address: &MysqlAddress) -> Result<Conn, Error> {
    let is_encrypted = address.encryption != Encryption::Disable && address.socket.is_none();
    if !is_encrypted {
        return Conn::new(options(address));
    }
    // Whoever installed one before us chose.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let is_verified = address.encryption == Encryption::VerifyFull;
    let certificates = address.root_certificates.clone().filter(|_| is_verified);
    let encrypted = SslOpts::default()
        .with_root_cert_path(certificates)
        .with_danger_accept_invalid_certs(!is_verified)
        .with_danger_skip_domain_validation(!is_verified);
    match Conn::new(options(address).ssl_opts(encrypted)) {
        Err(Error::DriverError(DriverError::TlsNotSupported)) if address.encryption == Encryption::Prefer => {
            Conn::new(options(address))
        }
        other => other,
    }
}

fn options(address: &MysqlAddress) -> OptsBuilder {
    OptsBuilder::new()
        .ip_or_hostname(Some(&address.host))
        .tcp_port(address.port)
        .socket(address.socket.as_ref())
        // Where we were told to connect, and nowhere else.
        .prefer_socket(false)
        .user(address.user.as_ref())
        .pass(address.password.as_ref())
        .db_name(address.name.as_ref())
        .tcp_connect_timeout(Some(PATIENCE))
        .tcp_keepalive_time_ms(Some(KEEPALIVE_MILLISECONDS))
}

fn kind(column: &Column) -> Kind {
    match column.column_type() {
        ColumnType::MYSQL_TYPE_BIT => Kind::Bits,
        ColumnType::MYSQL_TYPE_FLOAT => Kind::Inexact,
        it if it.is_numeric_type() => Kind::Number,
        _ => Kind::Plain,
    }
}

/// The server's own words.
fn fault(error: Error) -> Fault {
    match error {
        // 1053: it is being shut down; 1927: somebody ended the connection.
        Error::MySqlError(error) if matches!(error.code, 1053 | 1927) => Fault::new(Why::Away, error.message),
        Error::MySqlError(error) => Fault::new(Why::Refused, error.message),
        Error::DriverError(DriverError::TlsNotSupported) => {
            Fault::new(Why::Denied, "the server cannot encrypt, and sslmode demands it")
        }
        Error::TlsError(error) => Fault::new(Why::Denied, error),
        Error::DriverError(error) => Fault::new(Why::Away, error),
        Error::IoError(error) => Fault::new(Why::Away, error),
        other => Fault::new(Why::Away, other),
    }
}
