//! Web pages where an answer should be: what they say, and what that means.

use std::io::Read;

use super::fetch::Trouble;

/// So much of a web page is looked at to see what it says.
const HTML_BYTES: u64 = 64 * 1024;
/// For those who may have the wrong address.
pub(super) const LOOK_YOURSELF: &str = "Try: the base URL with ?verb=Identify in a browser";
/// So many words of a web page tell what it is.
const WORDS: usize = 15;

/// By the first bytes: neither an XML declaration nor an envelope, but a web page.
pub(super) fn looks_like_html(head: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&head[..head.len().min(512)]).to_ascii_lowercase();
    let start = start.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    start.starts_with("<!doctype html") || start.starts_with("<html")
}

pub(super) fn text_or(head: &[u8], title: String) -> String {
    let text = text_of_html(head);
    if text.is_empty() { title } else { text }
}

/// What a web page says, without its markup, in a line.
pub(super) fn text_of_html(body: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = body.take(HTML_BYTES).read_to_end(&mut bytes);
    let html = without_programs(&String::from_utf8_lossy(&bytes));
    let mut text = String::new();
    let mut inside_tag = false;
    for character in html.chars() {
        match character {
            '<' => inside_tag = true,
            '>' => {
                inside_tag = false;
                text.push(' ');
            }
            _ if !inside_tag => text.push(character),
            _ => {}
        }
    }
    let words: Vec<&str> = text.split_whitespace().take(WORDS).collect();
    words.join(" ")
}

/// A web page without its styles and scripts.
fn without_programs(html: &str) -> String {
    let mut text = html.to_owned();
    for name in ["style", "script"] {
        let (start, end) = (format!("<{name}"), format!("</{name}>"));
        while let Some(from) = text.to_ascii_lowercase().find(&start) {
            let behind = text[from..].to_ascii_lowercase().find(&end);
            let to = behind.map_or(text.len(), |behind| from + behind + end.len());
            text.replace_range(from..to, " ");
        }
    }
    text
}

/// What a web page instead of an answer means, by what it says.
pub(super) fn meaning_of(text: String) -> Trouble {
    let lower = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| lower.contains(words));
    if says(&TOO_MUCH) {
        return Trouble::TooLarge(text);
    }
    let reason = format!("a web page instead of an answer: {text}. {LOOK_YOURSELF}");
    if says(&FOR_A_PERSON) {
        Trouble::Refused(reason)
    } else {
        Trouble::WebPage(reason)
    }
}

/// Words of pages that complain about the size of the request.
const TOO_MUCH: [&str; 5] = ["too many", "too large", "too much", "limit exceeded", "result set"];
/// Words of pages that want a person in front of them.
const FOR_A_PERSON: [&str; 8] = [
    "sign in",
    "log in",
    "login",
    "password",
    "captcha",
    "javascript",
    "just a moment",
    "not a robot",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_web_page_says_something() {
        let html =
            "<!DOCTYPE html><html><head><title>Error</title></head><body><p>Too many\n records</p></body></html>";
        let text = text_of_html(html.as_bytes());
        assert_eq!(text, "Error Too many records");
        assert!(matches!(meaning_of(text), Trouble::TooLarge(_)));
        assert!(matches!(meaning_of("Please log in".into()), Trouble::Refused(_)));
        assert!(matches!(meaning_of("ORA-01555".into()), Trouble::WebPage(_)));
    }
}
