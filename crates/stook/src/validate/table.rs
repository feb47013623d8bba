//! The table of checks: what must hold, how bad it is if not, what the specification says, why, and how to mend it.
//!
//! One text per family beside its code (`checks/*.toml`). The validator, its reports and the pages for implementers are
//! all made from it.

use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::checks;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// A recommendation is not followed.
    Rec,
    /// A SHOULD is broken, or harvesters are known to stumble.
    Warn,
    /// A MUST is broken.
    Error,
    /// Testing cannot go on.
    Fatal,
}

impl Severity {
    /// All of them, the worst first.
    pub const ALL: [Severity; 5] = [
        Severity::Fatal,
        Severity::Error,
        Severity::Warn,
        Severity::Rec,
        Severity::Info,
    ];

    /// As reports show it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Rec => "rec",
            Severity::Warn => "warn",
            Severity::Error => "error",
            Severity::Fatal => "fatal",
        }
    }

    /// What it means.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Severity::Info => "worth knowing",
            Severity::Rec => "a recommendation is not followed",
            Severity::Warn => "a SHOULD is broken, or harvesters are known to stumble over it",
            Severity::Error => "a MUST of the specification is broken",
            Severity::Fatal => "testing cannot go on",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// When a check is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// In every run.
    #[default]
    Always,
    /// With `--deep`, which walks whole lists.
    Deep,
    /// With `--hostile`, which sends what an attacker would.
    Hostile,
    /// With `--profile openaire`.
    OpenAire,
    /// With `--profile dini`.
    Dini,
    /// Of a static repository, in a file or behind a URL.
    Static,
    /// Never: it takes more than asking. The page says what.
    Never,
}

impl When {
    /// What must be given on the command line for it.
    pub(super) fn option(self) -> Option<&'static str> {
        match self {
            When::Deep => Some("--deep"),
            When::Hostile => Some("--hostile"),
            When::OpenAire => Some("--profile openaire"),
            When::Dini => Some("--profile dini"),
            When::Always | When::Static | When::Never => None,
        }
    }
}

/// One check.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Such as `H-1`.
    pub id: String,
    /// How bad it is if it does not hold. Some findings are milder; the page says which.
    pub severity: Severity,
    /// What must hold, in one sentence.
    pub holds: String,
    /// Where the specification says so.
    pub section: String,
    /// Why it matters.
    pub why: String,
    /// How to mend it.
    pub mend: String,
    /// What is right, or wrong, as text.
    #[serde(default)]
    pub example: String,
    /// When it is made.
    #[serde(default)]
    pub when: When,
}

/// Checks that belong together.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// What stands before the dash in the names of its checks.
    pub letters: String,
    /// Its name.
    pub title: String,
    /// What it is about, in a sentence or two.
    pub about: String,
    /// Its checks, in their order.
    #[serde(rename = "check", default)]
    pub checks: Vec<Check>,
}

/// All families, in the order of running.
pub fn families() -> &'static [Family] {
    static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
        let read = |text: &&str| toml::from_str(text).expect("every table of checks is tested");
        checks::TABLES.iter().map(read).collect()
    });
    &FAMILIES
}

/// All checks, in the order of running.
pub fn all() -> impl Iterator<Item = &'static Check> {
    families().iter().flat_map(|family| &family.checks)
}

/// The check of this name.
#[must_use]
pub fn check(id: &str) -> Option<&'static Check> {
    all().find(|check| check.id == id)
}

/// Whether a name means a check: its own, or that of its family.
pub(super) fn is_of(id: &str, name: &str) -> bool {
    let family = id.split('-').next().unwrap_or_default();
    id.eq_ignore_ascii_case(name) || family.eq_ignore_ascii_case(name)
}

/// Where a section of the specification or of its guidelines is to be read.
#[must_use]
pub fn link(section: &str) -> Option<String> {
    const SITE: &str = "https://www.openarchives.org/OAI/2.0";
    let first = section.split([' ', ',']).next().unwrap_or_default();
    if first.starts_with(|sign: char| sign.is_ascii_digit()) {
        let anchor = ANCHORS.iter().find(|(number, _)| *number == first);
        let anchor = anchor.map_or(String::new(), |(_, name)| format!("#{name}"));
        return Some(format!(
            "https://www.openarchives.org/OAI/openarchivesprotocol.html{anchor}"
        ));
    }
    let (_, document) = DOCUMENTS.iter().find(|(name, _)| *name == first)?;
    Some(format!("{SITE}/{document}"))
}

/// Where it stands, in words.
#[must_use]
pub fn spelled_out(section: &str) -> String {
    let part = |part: &str| match part.split_once(' ').unwrap_or((part, "")) {
        ("GR", number) => format!("guidelines for repositories {number}"),
        ("GH", number) => format!("guidelines for harvesters {number}"),
        ("GA", number) => format!("guidelines for aggregators {number}"),
        ("SR", number) => format!("specification of static repositories {number}"),
        ("XSD", _) => "the schema OAI-PMH.xsd".to_owned(),
        _ if part.starts_with(|first: char| first.is_ascii_digit()) => format!("section {part}"),
        _ => part.to_owned(),
    };
    let parts: Vec<String> = section.split(", ").map(part).collect();
    parts.join("; ").replace(" ;", ";").trim_end().to_owned()
}

/// The documents that sections are of, by the first word of their names.
const DOCUMENTS: [(&str, &str); 14] = [
    ("GR", "guidelines-repository.htm"),
    ("GH", "guidelines-harvester.htm"),
    ("GA", "guidelines-aggregator.htm"),
    ("SR", "guidelines-static-repository.htm"),
    ("GUIDELINES", "guidelines.htm"),
    ("XSD", "OAI-PMH.xsd"),
    ("oai-identifier", "guidelines-oai-identifier.htm"),
    ("provenance", "guidelines-provenance.htm"),
    ("rights", "guidelines-rights.htm"),
    ("friends", "guidelines-friends.htm"),
    ("branding", "guidelines-branding.htm"),
    ("eprints", "guidelines-eprints.htm"),
    ("gateway", "guidelines-gateway.htm"),
    ("static-repository", "guidelines-static-repository.htm"),
];

/// How the specification names its sections in links; of others its beginning is shown.
const ANCHORS: [(&str, &str); 13] = [
    ("2.4", "UniqueIdentifier"),
    ("2.5", "Record"),
    ("2.5.1", "DeletedRecords"),
    ("2.6", "Set"),
    ("3.2", "XMLResponse"),
    ("3.5", "FlowControl"),
    ("3.6", "ErrorConditions"),
    ("4.1", "GetRecord"),
    ("4.2", "Identify"),
    ("4.3", "ListIdentifiers"),
    ("4.4", "ListMetadataFormats"),
    ("4.5", "ListRecords"),
    ("4.6", "ListSets"),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_check_is_complete_and_has_a_name_of_its_own() {
        let mut names = HashSet::new();
        for family in families() {
            assert!(
                !family.title.is_empty() && !family.about.is_empty(),
                "{}",
                family.letters
            );
            for check in &family.checks {
                let id = &check.id;
                assert!(
                    id.starts_with(&format!("{}-", family.letters)),
                    "{id} in family {}",
                    family.letters
                );
                assert!(names.insert(id), "{id} stands there twice");
                for (name, text) in [
                    ("holds", &check.holds),
                    ("section", &check.section),
                    ("why", &check.why),
                    ("mend", &check.mend),
                ] {
                    assert!(!text.trim().is_empty(), "{id} has no {name}");
                }
            }
        }
    }

    #[test]
    fn sections_are_spelled_out() {
        assert_eq!(spelled_out("3.6, GR 8"), "section 3.6; guidelines for repositories 8");
        assert_eq!(spelled_out("GH"), "guidelines for harvesters");
        assert_eq!(spelled_out("HTTP"), "HTTP");
    }

    #[test]
    fn sections_lead_to_the_specification() {
        assert!(
            link("3.6")
                .unwrap()
                .ends_with("openarchivesprotocol.html#ErrorConditions")
        );
        assert!(link("3.1.1, HTTP").unwrap().ends_with("openarchivesprotocol.html"));
        assert!(link("GR 5.3").unwrap().ends_with("guidelines-repository.htm"));
        assert_eq!(link("HTTP"), None);
    }
}
