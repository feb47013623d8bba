//! Where a database is: `postgres://…`, `mysql://…` (MariaDB too), `sqlite:FILE`.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use percent_encoding::percent_decode_str;
use stook_store::PostgresAddress;
use url::Url;

/// The address of a database, with the password that opens it. Neither `Debug` nor `Display` shows that.
pub(super) struct Address {
    pub(super) at: At,
    has_password_in_url: bool,
}

pub(super) enum At {
    Postgres(Box<PostgresAddress>),
    Mysql(MysqlAddress),
    Sqlite(PathBuf),
}

/// A MariaDB or MySQL server.
pub(super) struct MysqlAddress {
    pub(super) host: String,
    pub(super) port: u16,
    /// A local socket in the place of host and port.
    pub(super) socket: Option<String>,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) name: Option<String>,
    pub(super) encryption: Encryption,
    /// The file of the authorities that sign the server's certificate; none means those everybody knows.
    pub(super) root_certificates: Option<PathBuf>,
}

/// How a connection is encrypted, by the names PostgreSQL's `sslmode` has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    Disable,
    /// If the server can.
    Prefer,
    Require,
    /// And the server is who it says.
    VerifyFull,
}

impl Address {
    /// Reads an address. Paths are relative to `folder`; `password` comes from elsewhere and counts before the
    /// environment's.
    pub(super) fn parse(text: &str, folder: &Path, password: Option<&str>) -> Result<Address> {
        let has_password_in_url = Url::parse(text).is_ok_and(|url| url.password().is_some());
        if has_password_in_url && password.is_some() {
            bail!("database has a password, and password_file too\nTry: keep only password_file");
        }
        let at = if PostgresAddress::is_meant_by(text) {
            At::Postgres(Box::new(postgres(text, password)?))
        } else if text.starts_with("mysql:") || text.starts_with("mariadb:") {
            At::Mysql(MysqlAddress::parse(text, folder, password)?)
        } else if let Some(path) = text.strip_prefix("sqlite:") {
            At::Sqlite(folder.join(path.strip_prefix("//").unwrap_or(path)))
        } else {
            bail!(
                "database: {:?} is not the address of a database\n\
                 Try: postgres://user@host/name, mysql://user@host/name or sqlite:file.db",
                crate::config::without_passwords(text)
            );
        };
        Ok(Address {
            at,
            has_password_in_url,
        })
    }

    pub(super) fn has_password_in_url(&self) -> bool {
        self.has_password_in_url
    }
}

fn postgres(text: &str, password: Option<&str>) -> Result<PostgresAddress> {
    let query = text.split_once('?').map_or("", |(_, query)| query);
    if query.split('&').any(|parameter| parameter.starts_with("schema=")) {
        bail!("database: schema= is not for queries\nTry: name the schema in the query: select … from schema.table");
    }
    let address: PostgresAddress = text.parse().map_err(|error| {
        anyhow!("database: {error}\nTry: postgres://user@host/name, perhaps with :port behind the host")
    })?;
    Ok(match password {
        Some(password) => address.with_password(password),
        None => address,
    })
}

impl MysqlAddress {
    fn parse(text: &str, folder: &Path, password: Option<&str>) -> Result<MysqlAddress> {
        let wrong = |what: &dyn fmt::Display| {
            anyhow!("database: {what}\nTry: mysql://user@host/name, perhaps with :port behind the host")
        };
        let url = Url::parse(text).map_err(|error| wrong(&error))?;
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let told = |text: &str| Some(decoded(text)).filter(|text| !text.is_empty());
        let password = password.map(str::to_owned);
        let password = password.or_else(|| url.password().and_then(told));
        let host = url.host_str().filter(|host| !host.is_empty()).unwrap_or("localhost");
        let mut address = MysqlAddress {
            // Brackets are how a URL writes an address of IPv6.
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(3306),
            socket: None,
            user: told(url.username()).or_else(|| std::env::var("USER").ok()),
            password: password.or_else(|| std::env::var("MYSQL_PWD").ok().filter(|it| !it.is_empty())),
            name: told(url.path().trim_start_matches('/')),
            encryption: Encryption::Prefer,
            root_certificates: None,
        };
        for (key, value) in url.query_pairs() {
            match &*key {
                "socket" => address.socket = Some(value.into_owned()),
                "sslrootcert" => address.root_certificates = Some(folder.join(&*value)),
                "sslmode" => {
                    address.encryption = match &*value {
                        "disable" => Encryption::Disable,
                        "prefer" => Encryption::Prefer,
                        "require" => Encryption::Require,
                        "verify-full" => Encryption::VerifyFull,
                        other => {
                            let known = "disable, prefer, require or verify-full";
                            return Err(wrong(&format!("sslmode={other} is not one of {known}")));
                        }
                    }
                }
                other => {
                    return Err(wrong(&format!(
                        "{other}= is not known; socket, sslmode and sslrootcert are"
                    )));
                }
            }
        }
        Ok(address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            At::Postgres(address) => write!(formatter, "{address}"),
            At::Mysql(it) => {
                let (user, name) = (
                    it.user.as_deref().unwrap_or_default(),
                    it.name.as_deref().unwrap_or_default(),
                );
                match &it.socket {
                    Some(socket) => write!(formatter, "mysql://{user}@{}/{name}?socket={socket}", it.host),
                    None => write!(formatter, "mysql://{user}@{}:{}/{name}", it.host, it.port),
                }
            }
            At::Sqlite(path) => write!(formatter, "sqlite:{}", path.display()),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mysql(text: &str) -> MysqlAddress {
        match Address::parse(text, Path::new("folder"), None).unwrap().at {
            At::Mysql(address) => address,
            _ => panic!("{text} is another kind of database"),
        }
    }

    #[test]
    fn the_parts_of_an_address_are_found() {
        let it = mysql("mysql://joe%40home:a%2Fb@db.example.org:3307/books?sslmode=verify-full&sslrootcert=ca.pem");
        assert_eq!((it.host.as_str(), it.port), ("db.example.org", 3307));
        assert_eq!(it.user.as_deref(), Some("joe@home"));
        assert_eq!(it.password.as_deref(), Some("a/b"));
        assert_eq!(it.name.as_deref(), Some("books"));
        assert_eq!(it.encryption, Encryption::VerifyFull);
        assert_eq!(it.root_certificates, Some(PathBuf::from("folder/ca.pem")));
        let it = mysql("mariadb://joe@localhost/books?socket=/run/mysqld/mysqld.sock");
        assert_eq!((it.port, it.socket.as_deref()), (3306, Some("/run/mysqld/mysqld.sock")));
        assert_eq!(it.encryption, Encryption::Prefer);
        assert_eq!(mysql("mysql://joe@[::1]/books").host, "::1");
    }

    #[test]
    fn a_file_is_relative_to_the_definition() {
        for (text, path) in [
            ("sqlite:books.db", "sqlite:folder/books.db"),
            ("sqlite:/data/books.db", "sqlite:/data/books.db"),
            ("sqlite:///data/books.db", "sqlite:/data/books.db"),
        ] {
            let address = Address::parse(text, Path::new("folder"), None).unwrap();
            assert_eq!(address.to_string(), path);
        }
    }

    #[test]
    fn mistakes_are_told() {
        for (text, wanted) in [
            ("books.db", "sqlite:file.db"),
            ("mysql://joe@db/books?ssl=1", "ssl= is not known"),
            ("mysql://joe@db/books?sslmode=on", "verify-full"),
            ("mysql://joe@db:port/books", "mysql://user@host/name"),
            ("postgres://joe@db/books?schema=x", "schema.table"),
            ("postgres://joe@db:port/books", "postgres://user@host/name"),
        ] {
            let said = Address::parse(text, Path::new(""), None).unwrap_err().to_string();
            assert!(said.contains(wanted) && said.contains("\nTry: "), "{text}: {said}");
        }
        let twice = Address::parse("mysql://joe:hush@db/books", Path::new(""), Some("other"));
        assert!(twice.unwrap_err().to_string().contains("password_file"));
    }
}
