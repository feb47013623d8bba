//! What all pages of the explorer share: head, the way back, footer; and the small pieces that pages are made of.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use url::Url;

use super::state::{Place, State};
use super::words::{W, with};
use crate::validate::table;
use crate::web::style::{EXPLORER, STYLE};

/// Where something goes that is told later. Nothing that comes from elsewhere can look like it: that is escaped.
const HERE: &str = "<!--here-->";
/// Of one value in words.
const MOST_CHARS: usize = 4_000;

/// A page.
pub(super) struct Page {
    pub(super) title: String,
    pub(super) state: State,
    /// The name of the repository, once it is known.
    pub(super) name: Option<String>,
    pub(super) body: Markup,
}

impl Page {
    /// The whole page.
    pub(super) fn write(&self) -> String {
        let is_remote = matches!(self.state.place, Some(Place::Other(_)));
        html! {
            (DOCTYPE)
            html lang=(W.lang) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    // What other repositories hold is not for search engines to find here.
                    @if is_remote { meta name="robots" content="noindex, nofollow"; }
                    title { (short(&self.title)) }
                    style { (PreEscaped(STYLE)) (PreEscaped(EXPLORER)) }
                }
                body.explorer {
                    a.skip href="#main" { (W.skip) }
                    header { (self.crumbs()) }
                    main id="main" tabindex="-1" { (self.body) }
                    footer { (with(W.footer, &[env!("CARGO_PKG_VERSION")])) }
                }
            }
        }
        .into_string()
    }

    /// The page in two: what stands before and behind what is told later.
    pub(super) fn around(mut self, before: &Markup) -> (String, String) {
        self.body = html! { (before) (PreEscaped(HERE)) };
        let whole = self.write();
        match whole.split_once(HERE) {
            Some((start, end)) => (start.to_owned(), end.to_owned()),
            None => (whole, String::new()),
        }
    }

    /// The way here.
    fn crumbs(&self) -> Markup {
        let here = |yes: bool| yes.then_some("page");
        let place = self.state.place.clone();
        let has_verb = self.state.verb.is_some();
        html! {
            nav.crumbs aria-label=(W.you_are_here) {
                ol {
                    li { a href="." { (W.home) } }
                    li { a href="explore" aria-current=[here(place.is_none())] { (W.title) } }
                    @if let Some(place) = place {
                        @let name = self.name.clone().filter(|name| !name.is_empty());
                        @let name = name.unwrap_or_else(|| place.field().1.to_owned());
                        li { a href=(State::at(place).href()) aria-current=[here(!has_verb)] { (short(&name)) } }
                    }
                    @if let Some(verb) = &self.state.verb {
                        li { a href=(self.state.href()) aria-current="page" { (short(verb)) } }
                    }
                }
            }
        }
    }
}

/// A link within the explorer.
pub(super) fn link(state: &State, text: &str) -> Markup {
    html! { a href=(state.href()) { (short(text)) } }
}

/// A web address as a link that tells nobody where it was found; anything else as text.
pub(super) fn outward(text: &str) -> Markup {
    let url = Url::parse(text).ok().filter(|_| !text.contains(char::is_whitespace));
    match url.filter(|url| matches!(url.scheme(), "http" | "https")) {
        Some(url) => html! { a href=(url) rel="noreferrer nofollow noopener" { (cut(text)) } },
        None => cut(text),
    }
}

/// A text of any length, cut where nobody reads on.
pub(super) fn cut(text: &str) -> Markup {
    match text.char_indices().nth(MOST_CHARS) {
        None => html! { (text) },
        Some((end, _)) => {
            let all = text.chars().count().to_string();
            html! { (text[..end]) span.soft { (with(W.cut_text, &[&all])) } }
        }
    }
}

/// A name that must not take the whole page.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A link to what is said of a check, if there is such a check.
pub(super) fn check_link(id: &str) -> Markup {
    html! {
        @if let Some(check) = table::check(id) {
            p.more { a href={ "checks/" (check.id) } { (with(W.check_link, &[&check.id])) } }
        }
    }
}

/// Bytes for people.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_become_links() {
        for bad in [
            "javascript:alert(1)",
            "data:text/html,x",
            "JAVASCRIPT:alert(1)",
            "java\tscript:alert(1)",
            "urn:x",
            "http://a b",
            "//example.org",
        ] {
            assert!(!outward(bad).into_string().contains("<a"), "{bad}");
        }
        let good = outward("https://example.org/\"onmouseover=\"x").into_string();
        assert!(
            good.contains("rel=\"noreferrer nofollow noopener\"") && !good.contains("\"x"),
            "{good}"
        );
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        let text = "ä".repeat(MOST_CHARS + 1);
        assert!(cut(&text).into_string().contains("4001 characters"));
        assert_eq!(cut("short").into_string(), "short");
        assert_eq!(short(&"x".repeat(500)).chars().count(), 121);
    }
}
