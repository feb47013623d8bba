//! The pages for implementers: an index of the validator's checks, a page for each family and one for each check.
//!
//! All are made from the table of checks. `stook serve` answers with them under `/checks/`; `cargo xtask docs` writes them
//! as files.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::style::STYLE;
use crate::validate::table::{self, Check, Family, Severity, When};

/// What pages and reports of checks have beside the look of every page.
pub(crate) const CHECK_STYLE: &str = "
.badge { display: inline-block; padding: 0 .5em; border-radius: 4px; font: 600 .78rem/1.6 system-ui, sans-serif;
  letter-spacing: .04em; text-transform: uppercase; border: 1px solid currentColor; white-space: nowrap; }
.fatal { color: #a4141c; } .error { color: #b3261e; } .warn { color: #8a5a00; } .rec { color: #1d5c8f; } .info { color: #6b6f63; }
@media (prefers-color-scheme: dark) { .fatal { color: #ff9d96; } .error { color: #ff8f86; } .warn { color: #eebc5a; }
  .rec { color: #8cc4f0; } .info { color: #a5a799; } }
.crumbs { margin: 0 0 1.2rem; color: var(--soft); font-size: .92rem; }
.id { font: 600 1em/1.5 ui-monospace, 'DejaVu Sans Mono', monospace; white-space: nowrap; }
.finding { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .9rem 1.1rem; margin: 0 0 1rem; }
.finding h3 { margin: 0 0 .5rem; font-size: 1rem; } .finding dl { margin: 0; } .finding dt { color: var(--soft); font-size: .85rem; }
.finding dd { margin: 0 0 .55rem; overflow-wrap: anywhere; min-width: 0; } .finding pre { margin: .2rem 0 0; }
@media (min-width: 44rem) { .finding dl { display: grid; grid-template-columns: 8rem minmax(0, 1fr); }
  .finding dt { padding-top: .1rem; } }
.families { display: flex; flex-wrap: wrap; gap: .35rem 1.1rem; margin: 0; padding: 0; list-style: none; }
.verdict { font-size: 1.15rem; font-weight: 600; } details { margin: .7rem 0; } summary { cursor: pointer; }
summary:focus-visible { outline: 3px solid var(--straw); outline-offset: 2px; }
.rule { font-size: 1.1rem; } .next { display: flex; justify-content: space-between; gap: 1rem; margin-top: 2.5rem; }
";

/// How the pages link to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// As a server answers: `H-1`, and `./` for the index.
    Served,
    /// As files lie beside each other: `H-1.html`, and `index.html`.
    Files,
}

impl Links {
    fn to(self, name: &str) -> String {
        match self {
            Links::Served => name.to_owned(),
            Links::Files => format!("{name}.html"),
        }
    }

    fn to_index(self) -> &'static str {
        match self {
            Links::Served => "./",
            Links::Files => "index.html",
        }
    }
}

/// The page of this name: a check such as `H-1`, a family such as `H`, or the index, which has none.
#[must_use]
pub fn page(name: &str, links: Links) -> Option<String> {
    let markup = match name {
        "" => index(links),
        name => match table::check(name) {
            Some(check) => check_page(check, links),
            None => family_page(table::families().iter().find(|family| family.letters == name)?, links),
        },
    };
    Some(markup.into_string())
}

/// The names of all pages.
pub fn names() -> impl Iterator<Item = &'static str> {
    let families = table::families().iter();
    let all = families.flat_map(|family| {
        let checks = family.checks.iter().map(|check| check.id.as_str());
        std::iter::once(family.letters.as_str()).chain(checks)
    });
    std::iter::once("").chain(all)
}

/// A page with the look of all of them.
pub(crate) fn framed(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(CHECK_STYLE)) }
            }
            body {
                (body)
                footer { "Made by Stook " (env!("CARGO_PKG_VERSION")) ", which tests OAI-PMH repositories with "
                    code { "stook validate" } "." }
            }
        }
    }
}

/// A severity as a small label.
pub(crate) fn badge(severity: Severity) -> Markup {
    html! { span class={ "badge " (severity) } { (severity) } }
}

/// A text of the table: what stands between backticks is code.
pub(crate) fn prose(text: &str) -> Markup {
    html! {
        @for (at, piece) in text.trim().split('`').enumerate() {
            @if at % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

/// A section of the specification, as a link if it is known where it stands.
pub(crate) fn section(check: &Check) -> Markup {
    html! {
        @if let Some(link) = table::link(&check.section) { a href=(link) rel="noreferrer" { (table::spelled_out(&check.section)) } }
        @else { (table::spelled_out(&check.section)) }
    }
}

fn index(links: Links) -> Markup {
    let title = "What is checked of an OAI-PMH repository";
    let body = html! {
        main {
            h1 { (title) }
            p.lead { (table::all().count()) " checks in " (table::families().len()) " families. Each has a page that says what must
                hold, why, and how to mend it." }
            pre { "stook validate https://example.org/oai" }
            nav aria-label="Families" {
                ul.families {
                    @for family in table::families() { li { a href=(format!("#{}", family.letters)) { (family.letters) " " (family.title) } } }
                }
            }
            (severities())
            @for family in table::families() {
                h2 id=(family.letters) { a href=(links.to(&family.letters)) { (family.letters) " – " (family.title) } }
                p { (prose(&family.about)) }
                (check_table(family, links))
            }
        }
    };
    framed(title, &body)
}

fn severities() -> Markup {
    html! {
        h2 { "How bad it is" }
        div.scroll { table {
            @for severity in Severity::ALL { tr { td { (badge(severity)) } td { (severity.meaning()) } } }
        } }
    }
}

fn check_table(family: &Family, links: Links) -> Markup {
    html! {
        div.scroll { table {
            @for check in &family.checks {
                tr {
                    td.id { a href=(links.to(&check.id)) { (check.id) } }
                    td { (badge(check.severity)) }
                    td { (prose(&check.holds)) }
                }
            }
        } }
    }
}

fn family_page(family: &Family, links: Links) -> Markup {
    let title = format!("{} – {}", family.letters, family.title);
    let body = html! {
        nav.crumbs { a href=(links.to_index()) { "All checks" } }
        main {
            h1 { (title) }
            p.lead { (prose(&family.about)) }
            (check_table(family, links))
            h2 { "Only these" }
            pre { "stook validate --only " (family.letters) " https://example.org/oai" }
        }
    };
    framed(&title, &body)
}

fn check_page(check: &Check, links: Links) -> Markup {
    let title = format!("{}: {}", check.id, check.holds.replace('`', ""));
    let family = table::families()
        .iter()
        .find(|family| family.checks.iter().any(|own| own.id == check.id));
    let body = html! {
        nav.crumbs {
            a href=(links.to_index()) { "All checks" }
            @if let Some(family) = family { " › " a href=(links.to(&family.letters)) { (family.letters) " – " (family.title) } }
        }
        main {
            h1 { (check.id) }
            p.rule { (prose(&check.holds)) "." }
            p { (badge(check.severity)) " " (check.severity.meaning()) ". The specification: " (section(check)) "." }
            h2 { "Why" }
            p { (prose(&check.why)) }
            h2 { "How to mend it" }
            p { (prose(&check.mend)) }
            @if !check.example.trim().is_empty() {
                h2 { "Example" }
                pre { (check.example.trim()) }
            }
            h2 { "When it is made" }
            p { (in_words(check.when)) }
            @if let Some(command) = command(check) { pre { (command) } }
        }
        (neighbours(check, links))
    };
    framed(&title, &body)
}

fn in_words(when: When) -> &'static str {
    match when {
        When::Always => "In every run.",
        When::Deep => "With --deep, which walks whole lists.",
        When::Hostile => "With --hostile, which sends what an attacker would. Only for repositories of your own.",
        When::OpenAire => "With --profile openaire.",
        When::Dini => "With --profile dini.",
        When::Static => "When the file of a static repository is tested, on disk or behind a URL.",
        When::Never => "Never by Stook: it takes more than asking. Above is said what it takes.",
    }
}

/// How to make this check alone.
fn command(check: &Check) -> Option<String> {
    let (options, subject) = match check.when {
        When::Always => ("", "https://example.org/oai"),
        When::Deep => ("--deep ", "https://example.org/oai"),
        When::Hostile => ("--hostile ", "https://example.org/oai"),
        When::OpenAire => ("--profile openaire ", "https://example.org/oai"),
        When::Dini => ("--profile dini ", "https://example.org/oai"),
        When::Static => ("", "records.xml"),
        When::Never => return None,
    };
    Some(format!("stook validate {options}--only {} {subject}", check.id))
}

/// The checks before and after it.
fn neighbours(check: &Check, links: Links) -> Markup {
    let all: Vec<&Check> = table::all().collect();
    let at = all.iter().position(|own| own.id == check.id).unwrap_or_default();
    let before = at.checked_sub(1).and_then(|before| all.get(before));
    html! {
        nav.next {
            span { @if let Some(before) = before { a href=(links.to(&before.id)) { "← " (before.id) } } }
            span { @if let Some(after) = all.get(at + 1) { a href=(links.to(&after.id)) { (after.id) " →" } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_and_family_has_a_page_and_every_link_leads_to_one() {
        let names: Vec<&str> = names().collect();
        assert_eq!(names.len(), 1 + table::families().len() + table::all().count());
        for links in [Links::Served, Links::Files] {
            for name in &names {
                let page = page(name, links).unwrap();
                for link in page.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                    let target = link.strip_suffix(".html").unwrap_or(link);
                    let is_known = link.strip_prefix('#').is_some_and(|family| names.contains(&family))
                        || link.starts_with("https://www.openarchives.org/")
                        || matches!(target, "./" | "index")
                        || names.contains(&target);
                    assert!(is_known, "{name} links to {link}");
                }
            }
        }
        assert_eq!(page("H-0", Links::Served), None);
    }

    #[test]
    fn a_page_says_everything_about_its_check() {
        let check = table::check("E-3").unwrap();
        let page = page("E-3", Links::Served).unwrap();
        for text in [
            &check.why[..20],
            &check.mend[..20],
            "badVerb&quot;&gt;",
            "a MUST of the specification",
            "#ErrorConditions",
            "In every run.",
            "stook validate --only E-3",
        ] {
            assert!(page.contains(text), "{text} is missing in {page}");
        }
        assert!(!page.contains("<script"));
    }
}
