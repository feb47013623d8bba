//! What rules for sets say, and which sets are theirs.

use stook_oai::{MetadataPrefix, SetSpec};

use super::{MadeSet, Names};
use crate::crosswalk::mapping::{Means, Modifier, Source};

/// Rules over the records of one format.
///
/// ```
/// use stook_metadata::{Formats, sets::SetRules};
///
/// let rules = SetRules::read(
///     "sets from oai_dc
///      type -> theses   when . like \"*thesis*\"
///      date -> year:{}  year",
///     &Formats::default(),
/// )?;
/// let record = "<oai_dc:dc xmlns:oai_dc='http://www.openarchives.org/OAI/2.0/oai_dc/'
///     xmlns='http://purl.org/dc/elements/1.1/'><type>Doctoral Thesis</type><date>2026-05-17</date></oai_dc:dc>";
/// let sets: Vec<String> =
///     rules.apply("oai:example.org:1", record)?.into_iter().map(|set| set.spec.to_string()).collect();
/// assert_eq!(sets, ["theses", "year:2026"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SetRules {
    /// The format they read.
    pub from: MetadataPrefix,
    pub(crate) rules: Vec<SetRule>,
    pub(crate) names: Names,
    pub(crate) means: Means,
    /// What was read, without comments.
    pub(crate) text: String,
}

impl SetRules {
    /// The sets that these rules alone decide about.
    pub fn owned(&self) -> impl Iterator<Item = Owned> {
        self.rules.iter().map(|rule| rule.target.owned())
    }

    /// What the rules say, without comments: equal texts make equal sets.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What a set is to be called, if the rules say so.
    #[must_use]
    pub fn name(&self, set: &MadeSet) -> Option<String> {
        self.names.of(set)
    }
}

/// One line.
#[derive(Debug, Clone)]
pub(crate) struct SetRule {
    pub(crate) source: Source,
    pub(crate) changes: Vec<Modifier>,
    pub(crate) target: Target,
    /// Whether a colon in a value separates levels, because a change has put it there.
    pub(crate) has_levels: bool,
}

impl SetRule {
    pub(crate) fn new(source: Source, changes: Vec<Modifier>, target: Target) -> SetRule {
        let has_levels = changes
            .iter()
            .any(|change| matches!(change, Modifier::Domain | Modifier::Levels(_)));
        SetRule {
            source,
            changes,
            target,
            has_levels,
        }
    }
}

/// The set of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// This one.
    Set(SetSpec),
    /// One for each value, which stands between these.
    Values { before: String, after: String },
}

impl Target {
    /// Reads `theses` or `year:{}`.
    pub(crate) fn parse(text: &str) -> Result<Target, String> {
        let is_spec = |text: &str| SetSpec::parse(text).map_err(|flaw| format!("{flaw}. Try: theses, or year:{{}}"));
        let Some((before, after)) = text.split_once("{}") else {
            return is_spec(text).map(Target::Set);
        };
        if before.is_empty() {
            // Otherwise any set at all would be the rule's.
            return Err(format!("{text:?} says nothing before the {{}}. Try: subject:{{}}"));
        }
        is_spec(&format!("{before}x{after}"))?;
        Ok(Target::Values {
            before: before.to_owned(),
            after: after.to_owned(),
        })
    }

    pub(crate) fn owned(&self) -> Owned {
        match self {
            Target::Set(spec) => Owned::Set(spec.clone()),
            Target::Values { before, .. } => Owned::Beginning(before.clone()),
        }
    }

    /// Whether this could be one of its sets, or a set above them.
    pub(crate) fn leads_to(&self, spec: &str) -> bool {
        let is_above = |below: &str| below.strip_prefix(spec).is_some_and(|rest| rest.starts_with(':'));
        match self {
            Target::Set(own) => own.as_str() == spec || is_above(own.as_str()),
            Target::Values { before, .. } => spec.starts_with(before.as_str()) || is_above(before),
        }
    }
}

/// Sets that rules alone decide about, whatever else says a record is in them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owned {
    /// One set.
    Set(SetSpec),
    /// Every set that begins like this; if that is the whole of a level, as in `year:`, the set above them, too.
    Beginning(String),
}

impl Owned {
    /// Whether this set is one of them.
    #[must_use]
    pub fn owns(&self, spec: &SetSpec) -> bool {
        match self {
            Owned::Set(own) => own == spec,
            Owned::Beginning(beginning) => {
                spec.as_str().starts_with(beginning.as_str()) || beginning.strip_suffix(':') == Some(spec.as_str())
            }
        }
    }
}

/// As rules write it: `theses`, `year:{}`.
impl std::fmt::Display for Owned {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Owned::Set(spec) => write!(out, "{spec}"),
            Owned::Beginning(beginning) => write!(out, "{beginning}{{}}"),
        }
    }
}

impl std::str::FromStr for Owned {
    type Err = String;

    fn from_str(text: &str) -> Result<Owned, String> {
        Target::parse(text).map(|target| target.owned())
    }
}
