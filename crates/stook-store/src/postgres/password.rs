//! The password file of libpq, `~/.pgpass`: lines of `host:port:database:user:password`, where `*` is anything.

use std::path::PathBuf;

use postgres::Config;
use postgres::config::Host;

/// The password that the file has for this connection. A file that others may read is passed over, as libpq does.
pub(super) fn from_file(config: &Config) -> Option<String> {
    let named = std::env::var_os("PGPASSFILE").filter(|path| !path.is_empty());
    let path = match named {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".pgpass"),
    };
    if is_open_to_others(&path) {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.as_str(),
        // libpq calls every socket so.
        _ => "localhost",
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let database = config.get_dbname().unwrap_or_default();
    look_up(&text, [host, &port, database, config.get_user().unwrap_or_default()])
}

fn look_up(text: &str, wanted: [&str; 4]) -> Option<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(fields).find_map(|fields| {
        let [host, port, database, user, password] = <[String; 5]>::try_from(fields).ok()?;
        let found = [host, port, database, user];
        let fits = found
            .iter()
            .zip(wanted)
            .all(|(found, wanted)| found == "*" || found == wanted);
        fits.then_some(password)
    })
}

/// The fields of a line; a backslash takes the meaning from what follows.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        let sign = match sign {
            ':' => {
                fields.push(String::new());
                continue;
            }
            '\\' => signs.next().unwrap_or('\\'),
            other => other,
        };
        if let Some(field) = fields.last_mut() {
            field.push(sign);
        }
    }
    fields
}

#[cfg(unix)]
fn is_open_to_others(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &std::path::Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let text = "# a comment:*:*:*:no\ndb:5433:*:joe:other\ndb:*:books:joe:a\\:b\\\\c\n*:*:*:*:any\n";
        let found = |host, user| look_up(text, [host, "5432", "books", user]);
        assert_eq!(found("db", "joe").as_deref(), Some("a:b\\c"));
        assert_eq!(found("db", "jim").as_deref(), Some("any"));
        assert_eq!(look_up("db:5432:books", ["db", "5432", "books", "joe"]), None);
        assert_eq!(look_up("", ["db", "5432", "books", "joe"]), None);
    }
}
