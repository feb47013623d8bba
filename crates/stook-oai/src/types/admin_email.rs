//! The schema's rule for `adminEmail`.

/// Whether the official schema accepts `text` as an adminEmail: no white
/// space, an `@`, and behind it a dot with something on both sides
/// (`\S+@(\S+\.)+\S+`).
///
/// ```
/// assert!(stook_oai::admin_email_is_valid("oai@example.org"));
/// assert!(!stook_oai::admin_email_is_valid("oai@localhost"));
/// ```
#[must_use]
pub fn admin_email_is_valid(text: &str) -> bool {
    // `\S` of XML Schema excludes exactly these four.
    if text.contains([' ', '\t', '\n', '\r']) || !crate::xml::is_xml_text(text) {
        return false;
    }
    let Some((before, after)) = text.split_once('@') else {
        return false;
    };
    let characters: Vec<char> = after.chars().collect();
    let has_inner_dot = characters.len() > 2 && characters[1..characters.len() - 1].contains(&'.');
    !before.is_empty() && has_inner_dot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_a_dotted_host_are_valid() {
        for good in ["a@b.c", "oai-admin@library.example.org", "mailto:a@b.org"] {
            assert!(admin_email_is_valid(good), "{good}");
        }
    }

    #[test]
    fn what_the_schema_refuses_is_refused() {
        for bad in ["", "a", "a@b", "@b.c", "a@.c", "a@b.", "a b@c.d", "a@b .c", "a@b.c\n"] {
            assert!(!admin_email_is_valid(bad), "{bad:?}");
        }
    }
}
