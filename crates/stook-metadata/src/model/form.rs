//! Forms of values that no list can give: numbers, dates, names, languages. One table.
//!
//! Each takes what the type of XML Schema takes that the formats use for it, as libxml2 does where the two differ.

use stook_oai::OaiNamespace;

/// A form of values, how models name it and how people say it.
#[derive(Debug)]
pub struct Form {
    /// The word in models.
    pub name: &'static str,
    /// What to write, behind "write"; empty where nothing can be wrong.
    pub told: &'static str,
    /// Values of this form and not of it, which the tests hold it to.
    pub examples: (&'static str, &'static str),
    /// Whether a value has it.
    pub fits: fn(&str) -> bool,
}

/// All forms. The first is that of values nobody asks anything of.
pub const FORMS: &[Form] = &[
    Form {
        name: "any",
        told: "",
        examples: ("", ""),
        fits: |_| true,
    },
    Form {
        name: "filled",
        told: "something",
        examples: ("x", ""),
        fits: |value| !value.is_empty(),
    },
    Form {
        name: "language",
        told: "a language tag such as de or sr-Cyrl",
        examples: ("sr-Cyrl", "German (Germany)"),
        fits: is_language,
    },
    Form {
        name: "language_or_none",
        told: "a language tag such as de or sr-Cyrl",
        examples: ("", "de_DE"),
        fits: |value| value.is_empty() || is_language(value),
    },
    Form {
        name: ID,
        told: "a name that begins with a letter, without blanks and colons, and only once in the record",
        examples: ("a1", "1a"),
        fits: is_name,
    },
    Form {
        name: "name",
        told: "a name that begins with a letter, without blanks and colons",
        examples: ("a1", "a:1"),
        fits: is_name,
    },
    Form {
        name: "integer",
        told: "a whole number such as 12",
        examples: ("-12", "12th"),
        fits: is_integer,
    },
    Form {
        name: "positive_integer",
        told: "a whole number above 0 such as 12",
        examples: ("12", "0"),
        fits: |value| {
            is_integer(value) && !trim(value).starts_with('-') && value.contains(|sign| ('1'..='9').contains(&sign))
        },
    },
    Form {
        name: "non_negative_integer",
        told: "a whole number such as 0 or 12",
        examples: ("0", "-1"),
        fits: |value| {
            is_integer(value) && (!trim(value).starts_with('-') || trim(value).trim_matches(['-', '0']).is_empty())
        },
    },
    Form {
        name: "longitude",
        told: "degrees from -180 to 180 such as 19.85",
        examples: ("-180.0", "181"),
        fits: |value| degrees(value).is_some_and(|degrees| degrees.abs() <= 180.0),
    },
    Form {
        name: "latitude",
        told: "degrees from -90 to 90 such as 45.25",
        examples: ("9e1", "45° N"),
        fits: |value| degrees(value).is_some_and(|degrees| degrees.abs() <= 90.0),
    },
    Form {
        name: "year",
        told: "a year of four digits such as 2024",
        examples: (" 2024 ", "[2024]"),
        // The digits of any script, as in the schema.
        fits: |value| trim(value).chars().count() == 4 && trim(value).chars().all(char::is_numeric),
    },
    Form {
        name: "date",
        told: "a date such as 2024, 2024-05 or 2024-05-31",
        examples: ("2024-05", "May 2024"),
        fits: |value| matches!(value.len(), 4 | 7 | 10) && has_shape(value, &b"####-##-##"[..value.len()]),
    },
    Form {
        name: "w3cdtf",
        told: "a date such as 2024, 2024-05, 2024-05-31 or 2024-05-31T09:30:00Z",
        examples: ("2024-02-29T24:00:00+02:00", "2023-02-29"),
        fits: |value| is_w3cdtf(trim(value)),
    },
    Form {
        name: "date_time",
        told: "a day and a time such as 2024-05-31T09:30:00Z",
        examples: ("2024-05-31T09:30:00Z", "2024-05-31"),
        fits: |value| value.contains('T') && is_w3cdtf(trim(value)),
    },
    Form {
        name: "utc_datetime",
        told: "a day such as 2024-05-31, or a time such as 2024-05-31T09:30:00Z",
        examples: ("2024-05-31", "2024-05-31T09:30:00+02:00"),
        fits: |value| match trim(value) {
            value if value.contains('T') => value.ends_with('Z') && is_w3cdtf(value),
            value => value.len() >= 10 && is_w3cdtf(value),
        },
    },
    Form {
        name: "metadata_prefix",
        told: "letters, digits and - _ . ! ~ * ' ( ) only",
        examples: ("oai_dc", "oai dc"),
        fits: is_unreserved,
    },
    Form {
        name: "set_spec",
        told: "parts with a colon between, of letters, digits and - _ . ! ~ * ' ( ) only",
        examples: ("a:b", "a::b"),
        fits: |value| value.split(':').all(is_unreserved),
    },
    Form {
        name: "email",
        told: "an address such as admin@example.org",
        examples: ("admin@example.org", "admin@localhost"),
        fits: is_email,
    },
    Form {
        name: "quoted",
        told: "quotation marks around it, and none inside",
        examples: ("\n\"a b \" ", "a"),
        fits: |value| {
            let inside = trim(value).strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            inside.is_some_and(|inside| !inside.contains('"'))
        },
    },
    Form {
        name: "marc_tag",
        told: "a number of one to three digits such as 245",
        examples: ("1", "LDR"),
        fits: |value| (1..=3).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit()),
    },
    Form {
        name: "marc_indicator",
        told: "a digit, a small letter or a blank",
        examples: ("", "A"),
        fits: |value| {
            value.len() <= 1
                && value
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b' ' | b'\t' | b'\r' | b'\n'))
        },
    },
    Form {
        name: "marc_code",
        told: "a digit or a small letter",
        examples: ("a", "A"),
        fits: |value| matches!(value.as_bytes(), [b'0'..=b'9' | b'a'..=b'z']),
    },
    Form {
        name: "day_or_second",
        told: "a date such as 2024-05-31 or 2024-05-31T09:30:00Z",
        examples: ("2024-05-31T09:30:00Z", "2024-05"),
        // A day has three parts, a month has two.
        fits: |value| is_w3cdtf(trim(value)) && trim(value).trim_start_matches('-').split('-').count() > 2,
    },
    Form {
        name: "oai_namespace",
        told: "a domain name such as example.org",
        examples: ("example.org", "example"),
        fits: |value| OaiNamespace::parse(value).is_ok(),
    },
    Form {
        name: "oai_identifier",
        told: "an identifier such as oai:example.org:map-1",
        examples: ("oai:example.org:a/1%3C", "oai:example.org:"),
        fits: is_oai_identifier,
    },
    Form {
        name: "email",
        told: "an address such as oai@example.org",
        examples: ("oai@example.org", "oai@localhost"),
        fits: stook_oai::admin_email_is_valid,
    },
    Form {
        name: "stylesheet_type",
        told: "a media type in small letters such as text/css",
        examples: ("text/css", "text/x-css"),
        fits: |value| {
            let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
            value
                .split_once('/')
                .is_some_and(|(first, second)| is_word(first) && is_word(second))
        },
    },
];

/// The form whose values must differ within a record.
pub const ID: &str = "id";

/// Without the white space of XML around it.
pub(super) fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t', '\r', '\n'])
}

fn is_language(value: &str) -> bool {
    let mut parts = trim(value).split('-');
    let is_part =
        |part: &str, is_right: fn(&u8) -> bool| (1..=8).contains(&part.len()) && part.as_bytes().iter().all(is_right);
    parts
        .next()
        .is_some_and(|first| is_part(first, u8::is_ascii_alphabetic))
        && parts.all(|part| is_part(part, u8::is_ascii_alphanumeric))
}

fn is_oai_identifier(value: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'();/?:@&=+$,%".contains(&byte);
    let parts = value.strip_prefix("oai:").and_then(|rest| rest.split_once(':'));
    parts.is_some_and(|(namespace, local)| {
        OaiNamespace::parse(namespace).is_ok() && !local.is_empty() && local.bytes().all(is_allowed)
    })
}

/// A name without a colon, as identifiers inside a document are.
fn is_name(value: &str) -> bool {
    crate::scan::is_unprefixed_name(trim(value))
}

fn is_integer(value: &str) -> bool {
    let digits = trim(value).trim_start_matches(['+', '-']);
    let signs = trim(value).len() - digits.len();
    signs <= 1 && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The characters that a URI takes everywhere (RFC 2396, §2.3).
fn is_unreserved(value: &str) -> bool {
    let is_one = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte);
    !value.is_empty() && value.bytes().all(is_one)
}

/// Something, an at sign, and a dot between two other things; no blanks.
fn is_email(value: &str) -> bool {
    // Every at sign may be the one; behind the first that has something before it, the most is left.
    let host = value
        .char_indices()
        .find(|(at, sign)| *at > 0 && *sign == '@')
        .map_or("", |(at, _)| &value[at + 1..]);
    let has_dot = host
        .char_indices()
        .any(|(at, sign)| sign == '.' && at > 0 && at + 1 < host.len());
    has_dot && !value.contains([' ', '\t', '\r', '\n'])
}

/// In the precision of the schema's numbers, so that 180.000001 is 180 here as there.
fn degrees(value: &str) -> Option<f32> {
    let value = trim(value);
    let is_number = value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
    value.parse().ok().filter(|_| is_number)
}

/// Whether each byte is that of the shape, or a digit where that has a `#`.
fn has_shape(value: &str, shape: &[u8]) -> bool {
    value.len() == shape.len()
        && value.bytes().zip(shape).all(|(byte, &wanted)| match wanted {
            b'#' => byte.is_ascii_digit(),
            _ => byte == wanted,
        })
}

/// A year, a month, a day or a time, as the types gYear, gYearMonth, date and dateTime have them.
fn is_w3cdtf(value: &str) -> bool {
    let (date, time) = match value.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (value, None),
    };
    let (sign, unsigned) = match date.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", date),
    };
    match time {
        Some(time) => is_time(without_zone(time)) && day_of(sign, unsigned) == Some(true),
        None => day_of(sign, without_zone(unsigned)).is_some(),
    }
}

/// Without a time zone at its end. What looks like one in `2024-05` is a month, because a zone has minutes.
fn without_zone(value: &str) -> &str {
    if let Some(rest) = value.strip_suffix('Z') {
        return rest;
    }
    let Some((rest, zone)) = value.len().checked_sub(6).and_then(|at| value.split_at_checked(at)) else {
        return value;
    };
    let Some(hours) = zone.strip_prefix(['+', '-']) else {
        return value;
    };
    let is_zone = has_shape(hours, b"##:##") && hours <= "14:00" && hours.get(3..) < Some("60");
    if is_zone { rest } else { value }
}

/// Whether a date has a day; `None` if it is no date.
fn day_of(sign: &str, date: &str) -> Option<bool> {
    let digits = date.bytes().take_while(u8::is_ascii_digit).count();
    let (year, rest) = date.split_at(digits);
    if digits < 4 || (digits > 4 && year.starts_with('0')) {
        return None;
    }
    let part = |text: &str| text.parse::<u8>().ok();
    match rest.as_bytes() {
        [] => Some(false),
        _ if has_shape(rest, b"-##") => (1..=12).contains(&part(&rest[1..])?).then_some(false),
        _ if has_shape(rest, b"-##-##") => {
            let (month, day) = (part(&rest[1..3])?, part(&rest[4..])?);
            // Years before Christ and after 9999 are counted in more than one way; a day more harms nobody.
            let ending: u16 = year[digits - 4..].parse().ok()?;
            let is_fourth = ending.is_multiple_of(4) && (!ending.is_multiple_of(100) || ending.is_multiple_of(400));
            let is_leap = is_fourth || !sign.is_empty() || digits > 4;
            let days = match month {
                2 if is_leap => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                1..=12 => 31,
                _ => return None,
            };
            (1..=days).contains(&day).then_some(true)
        }
        _ => None,
    }
}

/// Hours, minutes and seconds, which may have a fraction.
fn is_time(time: &str) -> bool {
    let (whole, fraction) = match time.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (time, None),
    };
    let is_fraction =
        fraction.is_none_or(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    let in_range = whole == "24:00:00" || (whole < "24" && whole.get(3..5) < Some("60") && whole.get(6..) < Some("60"));
    has_shape(whole, b"##:##:##") && is_fraction && in_range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_takes_its_example_and_not_the_other() {
        for form in FORMS {
            assert!((form.fits)(form.examples.0), "{}", form.name);
            assert!(form.told.is_empty() || !(form.fits)(form.examples.1), "{}", form.name);
        }
    }

    #[test]
    fn no_value_makes_a_form_panic() {
        let odd = [
            "",
            " ",
            "-",
            "é",
            "T",
            "éé:éé",
            "2024-éé",
            "+",
            "2024-05-31T",
            "2024Té0:00",
            "\"",
            "😀😀",
            "-0001-02-29",
        ];
        for form in FORMS {
            for value in odd {
                let _ = (form.fits)(value);
            }
        }
    }

    #[test]
    fn dates_are_those_of_xml_schema() {
        let w3cdtf = FORMS.iter().find(|form| form.name == "w3cdtf").unwrap();
        let right = "2024 2024Z -2024 12024 2024-05 2024-05+02:00 2024-05-31 2024-05-31Z 2000-02-29 2024-05-31T00:00:00 \
            2024-05-31T23:59:59.25-05:00 2024-05-31T24:00:00Z";
        for value in right.split(' ') {
            assert!((w3cdtf.fits)(value), "{value}");
        }
        let wrong = "24 02024 2024-5 2024-13 2024-00 2024-04-31 1900-02-29 2024-05-31T 2024-05T10:00:00 2024-05-31T10:00 \
            2024-05-31T25:00:00 2024-05-31T10:60:00 2024-05-31T10:00:00. 2024-05-31T10:00:00+15:00";
        for value in wrong.split_ascii_whitespace() {
            assert!(!(w3cdtf.fits)(value), "{value}");
        }
    }

    #[test]
    fn numbers_are_those_of_xml_schema() {
        let form = |name: &str| FORMS.iter().find(|form| form.name == name).unwrap().fits;
        for (name, value, fits) in [
            ("integer", "+1", true),
            ("integer", "--1", false),
            ("integer", "", false),
            ("positive_integer", " +010 ", true),
            ("positive_integer", "-1", false),
            ("positive_integer", "00", false),
            ("longitude", "180.000001", true),
            ("longitude", "180.1", false),
            ("longitude", "inf", false),
            ("latitude", ".5", true),
            ("latitude", "1.", true),
            ("latitude", "NaN", false),
        ] {
            assert_eq!(form(name)(value), fits, "{name} {value}");
        }
    }
}
