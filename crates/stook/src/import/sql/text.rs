//! Texts as databases write them: time stamps, flags, arrays, and as much of a query as has to be understood.

/// A time stamp as databases write it (`2026-01-02 03:04:05.5+00`) as ISO 8601 (`2026-01-02T03:04:05.5Z`); `None` if the
/// text is anything else. What has no offset gets none: nobody said which time it is.
pub(super) fn iso_8601(text: &str) -> Option<String> {
    let (date, rest) = text.split_at_checked(10)?;
    let (time, offset) = match rest.find(['+', '-']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let time = time.strip_prefix(' ')?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_whole = fits(date, "9999-99-99")
        && fits(clock, "99:99:99")
        && !fraction.is_empty()
        && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !is_whole {
        return None;
    }
    let offset = match offset {
        "" => String::new(),
        "+00" | "+00:00" => "Z".to_owned(),
        _ if fits(&offset[1..], "99") => format!("{offset}:00"),
        _ if fits(&offset[1..], "99:99") => offset.to_owned(),
        _ => return None,
    };
    Some(format!("{date}T{time}{offset}"))
}

/// Whether every `9` of the shape is a digit and everything else is as it stands there.
fn fits(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(byte, wanted)| match wanted {
            b'9' => byte.is_ascii_digit(),
            other => byte == other,
        })
}

/// Whether a text is a date that is none: what MariaDB and MySQL write where they have nothing better.
pub(super) fn is_zero_date(text: &str) -> bool {
    text.starts_with("0000-00-00")
}

/// Whether the text begins with a date.
pub(super) fn begins_with_date(text: &str) -> bool {
    text.get(..10).is_some_and(|date| fits(date, "9999-99-99"))
}

/// A flag as databases keep it, in the words a table's column has for it. A date says that it happened; what is none of
/// this is left as it is, to be complained of.
pub(super) fn flag(text: &str) -> &str {
    let text = text.trim();
    match text.to_ascii_lowercase().as_str() {
        "t" | "\u{1}" => "yes",
        "f" | "\u{0}" => "no",
        _ if is_zero_date(text) => "no",
        _ if begins_with_date(text) => "yes",
        _ => text,
    }
}

/// The values of a PostgreSQL array, `{a,"b, c",NULL}`, flat; `None` if it is not one.
pub(super) fn array(text: &str) -> Option<Vec<String>> {
    // An array that does not begin at 1 says so: `[0:1]={a,b}`.
    let text = match text.starts_with('[') {
        true => text.split_once("={").map(|(before, _)| &text[before.len() + 1..])?,
        false => text,
    };
    let (mut values, mut value, mut quoted, mut depth) = (Vec::new(), None::<String>, false, 0_u32);
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '{' => depth += 1,
            '}' | ',' => {
                if let Some(value) = value
                    .take()
                    .filter(|value| quoted || !value.eq_ignore_ascii_case("null"))
                {
                    values.push(value);
                }
                quoted = false;
                depth = depth.checked_sub(u32::from(sign == '}'))?;
            }
            '"' => {
                quoted = true;
                let value = value.get_or_insert_default();
                loop {
                    match signs.next()? {
                        '"' => break,
                        '\\' => value.push(signs.next()?),
                        other => value.push(other),
                    }
                }
            }
            '\\' => value.get_or_insert_default().push(signs.next()?),
            other => value.get_or_insert_default().push(other),
        }
    }
    (depth == 0 && text.starts_with('{')).then_some(values)
}

/// The word a query begins with, if it is one that changes a database instead of asking it.
pub(super) fn changing_word(sql: &str) -> Option<String> {
    const WORDS: [&str; 13] = [
        "alter", "call", "create", "delete", "drop", "grant", "insert", "merge", "replace", "revoke", "set",
        "truncate", "update",
    ];
    let first = outer_words(sql).into_iter().next()?;
    WORDS.contains(&first.as_str()).then_some(first)
}

/// Whether a query ends with an `order by` of its own that does not serve a limit. Quotations, comments and what stands
/// in parentheses do not count.
pub(super) fn sorts_by_itself(sql: &str) -> bool {
    let words = outer_words(sql);
    let sorted = words.windows(2).rposition(|pair| pair[0] == "order" && pair[1] == "by");
    sorted.is_some_and(|at| {
        !words[at..]
            .iter()
            .any(|word| matches!(word.as_str(), "limit" | "fetch"))
    })
}

/// The words of a query outside quotations, comments and parentheses, in lower case.
fn outer_words(sql: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut depth = 0_u32;
    let mut rest = sql;
    while let Some(sign) = rest.chars().next() {
        if (sign.is_alphanumeric() || sign == '_') && depth == 0 {
            word.extend(sign.to_lowercase());
            rest = &rest[sign.len_utf8()..];
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        let length = match sign {
            '\'' | '"' | '`' => rest[1..].find(sign).map_or(rest.len(), |at| at + 2),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '(' => {
                depth += 1;
                1
            }
            ')' => {
                depth = depth.saturating_sub(1);
                1
            }
            other => other.len_utf8(),
        };
        rest = &rest[length..];
    }
    words.push(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stamps_become_iso_8601_and_nothing_else_does() {
        for (written, iso) in [
            ("2026-01-02 03:04:05", "2026-01-02T03:04:05"),
            ("2026-01-02 03:04:05+00", "2026-01-02T03:04:05Z"),
            ("2026-01-02 03:04:05.123456+00", "2026-01-02T03:04:05.123456Z"),
            ("2026-01-02 03:04:05-03", "2026-01-02T03:04:05-03:00"),
            ("2026-01-02 03:04:05+05:30", "2026-01-02T03:04:05+05:30"),
        ] {
            assert_eq!(iso_8601(written).as_deref(), Some(iso));
        }
        for other in [
            "",
            "2026",
            "2026-01-02",
            "2026-01-02T03:04:05Z",
            "about 2026-01-02 03:04:05",
            "2026-01-02 03:04",
            "2026-01-02 03:04:05 BC",
            "2026-01-02 03:04:05.",
            "2026-01-02 03:04:05+0",
            "1800-1850 20:00:00",
            "früher als 2026",
        ] {
            assert_eq!(iso_8601(other), None, "{other}");
        }
    }

    #[test]
    fn flags_are_told_in_the_words_of_tables() {
        for yes in ["t", "T", "\u{1}", "2026-01-02", "2026-01-02 03:04:05"] {
            assert_eq!(flag(yes), "yes", "{yes}");
        }
        for no in ["f", "\u{0}", "0000-00-00 00:00:00"] {
            assert_eq!(flag(no), "no", "{no}");
        }
        for same in ["1", "0", "true", "perhaps", ""] {
            assert_eq!(flag(same), same);
        }
    }

    #[test]
    fn arrays_of_postgresql_are_taken_apart() {
        let values = |text: &str| array(text).map(|values| values.join("/"));
        assert_eq!(values("{a,b}").as_deref(), Some("a/b"));
        assert_eq!(
            values(r#"{"a, b","c\"d\\e",NULL,"NULL"}"#).as_deref(),
            Some(r#"a, b/c"d\e/NULL"#)
        );
        assert_eq!(values("{{1,2},{3,4}}").as_deref(), Some("1/2/3/4"));
        assert_eq!(values("[0:1]={a,b}").as_deref(), Some("a/b"));
        assert_eq!(array("{}"), Some(vec![]));
        assert_eq!(array(r#"{""}"#), Some(vec![String::new()]));
        for wrong in ["", "a", "{a", "a}", r#"{"a}"#, "{a}}", "[0:1]"] {
            assert_eq!(array(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_order_of_the_whole_query_is_found() {
        for sorted in [
            "select a from b order by a",
            "SELECT a FROM b ORDER  BY\n a desc",
            "select a from (select 1 limit 2) b order by a",
        ] {
            assert!(sorts_by_itself(sorted), "{sorted}");
        }
        for other in [
            "select a from b",
            "select a, group_concat(c order by d) from b",
            "select row_number() over (order by a) from b",
            "select 'order by' from b -- order by c",
            "select a from b /* order by c */",
            "select a from b order by a limit 10",
            "select a from \"order by\"",
            "select 'it",
        ] {
            assert!(!sorts_by_itself(other), "{other}");
        }
    }
}
