//! libpq's file of passwords: `PGPASSFILE`, or `.pgpass` in the home folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{StoreError, is_private};

/// The password for a host, port, database and user, in this order.
pub(super) fn find(wanted: &[&str; 4]) -> Result<Option<String>, StoreError> {
    let named = std::env::var_os("PGPASSFILE").map(PathBuf::from);
    let usual = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".pgpass"));
    let Some(path) = named.or_else(usual) else {
        return Ok(None);
    };
    let Ok(text) = fs::read_to_string(&path) else {
        return Ok(None);
    };
    let found = text.lines().find_map(|line| password_of(line, wanted));
    if found.is_some() && !is_private(&path) {
        let path = path.display();
        return Err(StoreError::Address(format!(
            "the password is in {path}, to which others have access, so it is not used (chmod 600 {path} mends that)"
        )));
    }
    Ok(found)
}

/// The password of a line that fits. A star fits everything.
fn password_of(line: &str, wanted: &[&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut rest = line;
    for wanted in wanted {
        let (field, after) = field(rest)?;
        if field != "*" && field != **wanted {
            return None;
        }
        rest = after;
    }
    Some(unescaped(rest))
}

/// A field, and what stands after its colon.
fn field(text: &str) -> Option<(String, &str)> {
    let mut escaped = false;
    let end = text.find(|character| {
        let ends = character == ':' && !escaped;
        escaped = character == '\\' && !escaped;
        ends
    })?;
    Some((unescaped(&text[..end]), &text[end + 1..]))
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => out.extend(characters.next()),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let wanted = &["db.example.org", "5432", "maps", "joe"];
        for (line, password) in [
            ("db.example.org:5432:maps:joe:secret", Some("secret")),
            ("*:*:*:joe:a\\:b\\\\c", Some("a:b\\c")),
            ("*:5432:*:*:with:colon", Some("with:colon")),
            ("db.example.org:5433:maps:joe:secret", None),
            ("# *:*:*:*:secret", None),
            ("*:*:*", None),
            ("", None),
        ] {
            assert_eq!(password_of(line, wanted).as_deref(), password, "{line}");
        }
        assert_eq!(
            password_of("a\\:b:*:*:*:x", &["a:b", "1", "2", "3"]).as_deref(),
            Some("x")
        );
    }
}
