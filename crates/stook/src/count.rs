//! Numbers as people read them.

/// Thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun, which is given as for one: `1 record`, `1,200 records`, `2 entries`.
pub(crate) fn counted(number: u64, one: &str) -> String {
    format!("{} {}", grouped(number), noun(number, one))
}

/// The noun for a number, where something stands between the two.
pub(crate) fn noun(number: u64, one: &str) -> String {
    match (number, one.strip_suffix('y')) {
        (1, _) => one.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{one}s"),
    }
}

/// `is` or `are`, `was` or `were`: whichever fits the number.
pub(crate) fn verb<'v>(number: u64, one: &'v str, many: &'v str) -> &'v str {
    if number == 1 { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one_and_many_are_many() {
        assert_eq!(counted(1, "record"), "1 record");
        assert_eq!(counted(0, "record"), "0 records");
        assert_eq!(counted(1_234_567, "row"), "1,234,567 rows");
        assert_eq!([counted(1, "entry"), counted(2, "entry")], ["1 entry", "2 entries"]);
    }
}
