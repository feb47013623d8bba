//! What is wrong with a TOML file, in words for people who do not write TOML every day: the line, what is expected, what to
//! write instead. Passwords in it are never shown.

use std::ops::Range;

use anyhow::{Error, anyhow};

use super::without_passwords;

/// The parser's complaint in plain words. `page` is where every setting of the file is described.
pub(crate) fn mistake(text: &str, error: &toml::de::Error, page: &str) -> Error {
    let message = error.message();
    let span = error.span().filter(|span| text.get(span.clone()).is_some());
    let place = span.as_ref().map(|span| place(text, span)).unwrap_or_default();
    if let Some(name) = message.strip_prefix("missing field ") {
        // Of the file itself no line is at fault.
        let is_in_table = span
            .as_ref()
            .is_some_and(|span| line(text, span).trim().starts_with('['));
        let place = if is_in_table { place.as_str() } else { "" };
        let name = name.trim_matches('`');
        return anyhow!("{place}{name} is missing\nTry: {page} shows what has to be there");
    }
    let told = format!("{place}{}", in_words(message));
    let remedy = span.and_then(|span| instead(text, &span, message));
    let remedy = remedy.unwrap_or_else(|| format!("{page} shows what may stand here"));
    anyhow!("{}\nTry: {}", without_passwords(&told), without_passwords(&remedy))
}

/// `line 7, set_rules = "dini": `
fn place(text: &str, span: &Range<usize>) -> String {
    let number = text[..span.start].matches('\n').count() + 1;
    match line(text, span).trim() {
        "" => format!("line {number}: "),
        line => format!("line {number}, {line}: "),
    }
}

/// The line in which it begins.
fn line<'t>(text: &'t str, span: &Range<usize>) -> &'t str {
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    text[start..].lines().next().unwrap_or_default()
}

/// Types by the names people have for them.
fn in_words(message: &str) -> String {
    let Some((found, expected)) = message
        .strip_prefix("invalid type: ")
        .and_then(|types| types.split_once(", expected "))
    else {
        return message.to_owned();
    };
    let kind = match found.split([' ', ',']).next().unwrap_or_default() {
        "string" => "a text",
        "integer" => "a number",
        "floating" => "a number with a point",
        "boolean" => "true or false",
        "sequence" => "a list",
        "map" => "a table",
        _ => found,
    };
    let wanted = match expected {
        "a sequence" => "a list",
        "a string" | "a borrowed string" | "path string" => "a text",
        "a boolean" => "true or false",
        "a map" => "a table",
        "i64" | "u64" | "u32" | "u16" | "u8" | "usize" | "i32" => "a whole number",
        other => other.strip_prefix("struct ").map_or(other, |_| "a table"),
    };
    format!("this is {kind}, and has to be {wanted}")
}

/// The same setting, with the value as it has to be, where that can be told.
fn instead(text: &str, span: &Range<usize>, message: &str) -> Option<String> {
    let (_, expected) = message.strip_prefix("invalid type: ")?.split_once(", expected ")?;
    let value = text[span.clone()].trim();
    let (name, _) = line(text, span).split_once('=')?;
    if value.is_empty() || value.contains('\n') {
        return None;
    }
    let name = name.trim();
    let is_text = value.starts_with(['"', '\'']);
    match expected {
        "a sequence" if !value.starts_with(['[', '{']) => Some(format!("{name} = [{value}]")),
        "a string" | "a borrowed string" | "path string" if !value.starts_with(['[', '{', '"', '\'']) => {
            Some(format!("{name} = \"{value}\""))
        }
        "a boolean" if is_text => Some(format!("{name} = true, or {name} = false")),
        _ if is_text && value.trim_matches(['"', '\'']).parse::<i64>().is_ok() => {
            Some(format!("{name} = {}", value.trim_matches(['"', '\''])))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn said(text: &str) -> String {
        let error = toml::from_str::<Config>(text).unwrap_err();
        mistake(text, &error, "docs/configuration.md").to_string()
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_told_with_the_right_one() {
        for (line, wanted) in [
            (
                "set_rules = \"dini\"",
                "line 2, set_rules = \"dini\": this is a text, and has to be a list\nTry: set_rules = [\"dini\"]",
            ),
            (
                "name = 7",
                "line 2, name = 7: this is a number, and has to be a text\nTry: name = \"7\"",
            ),
        ] {
            assert_eq!(said(&format!("[[repository]]\n{line}\n")), wanted);
        }
        let number = said("[server]\nmax_connections = \"4\"\n");
        assert!(
            number.contains("this is a text") && number.ends_with("max_connections = 4"),
            "{number}"
        );
    }

    #[test]
    fn anything_else_names_its_line_and_the_page() {
        for (text, wanted) in [
            ("[server]\ncolour = 1\n", "unknown field `colour`"),
            ("[server\n", "line 1, [server: "),
        ] {
            let said = said(text);
            assert!(
                said.contains(wanted) && said.contains("\nTry: docs/configuration.md"),
                "{said}"
            );
        }
        let secret = said("read_urls = \"postgres://joe:hush@db/x\"\n");
        assert!(!secret.contains("hush") && secret.contains("joe:…@db"), "{secret}");
    }
}
