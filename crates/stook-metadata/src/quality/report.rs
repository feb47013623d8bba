//! What was found in many records: counts, examples, and what could be done.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::fixes::Fixes;
use super::statements::Statements;
use super::{Code, Finding, Look, RECOMMENDATIONS};
use crate::dublin_core::Element;

/// The longest value that is kept as an example, in characters.
const MAX_EXAMPLE: usize = 200;

/// A report about the records it is shown, one after the other. It grows with what is offered, not with the records.
#[derive(Debug, Clone)]
pub struct Report {
    /// Records that were looked at.
    pub records: u64,
    /// Of these, those that could say something better. Hints do not count.
    pub improvable: u64,
    /// Of these, those that are made of records in other formats, so that there is nothing to be rewritten.
    pub made: u64,
    /// What can be put right mechanically.
    pub fixes: Fixes,
    tallies: [Tally; RECOMMENDATIONS.len()],
    most_examples: usize,
    only: Option<Code>,
}

/// What was found about one recommendation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// In so many records.
    pub records: u64,
    /// In so many values.
    pub values: u64,
    /// Some of them, each with another value.
    pub examples: Vec<Example>,
}

/// A value in a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The item.
    pub identifier: String,
    /// The element.
    pub element: Element,
    /// The value, or its beginning; none where one is missing.
    pub value: Option<String>,
}

impl Report {
    /// An empty report that will keep so many examples of each finding, or look for one kind only.
    #[must_use]
    pub fn new(most_examples: usize, only: Option<Code>) -> Report {
        Report {
            records: 0,
            improvable: 0,
            made: 0,
            fixes: Fixes::default(),
            tallies: Default::default(),
            most_examples,
            only,
        }
    }

    /// Looks at an `oai_dc` record.
    pub fn look_at(&mut self, identifier: &str, record: &str) {
        let looked = self.look(identifier, record);
        for (element, value) in &looked.all {
            self.fixes.note(*element, value, looked.needs_type, self.only);
        }
    }

    /// Looks at an `oai_dc` record that is made of another format. What is given is not in Dublin Core, so no mapping of
    /// that could put it right.
    pub fn look_at_made(&mut self, identifier: &str, record: &str) {
        let before = self.improvable;
        self.look(identifier, record);
        self.made += self.improvable - before;
    }

    fn look<'r>(&mut self, identifier: &str, record: &'r str) -> Looked<'r> {
        let mut met = [false; RECOMMENDATIONS.len()];
        let (tallies, most, only) = (&mut self.tallies, self.most_examples, self.only);
        let mut found = |finding: Finding<'_>| {
            if only.is_none_or(|only| only == finding.code) {
                let tally = &mut tallies[finding.code as usize];
                tally.records += u64::from(!std::mem::replace(&mut met[finding.code as usize], true));
                tally.add(identifier, finding, most);
            }
            ControlFlow::Continue(())
        };
        let mut look = Look::default();
        let statements: Vec<(Element, Cow<'_, str>)> = Statements::of(record).collect();
        for (element, value) in &statements {
            let _ = look.at(*element, value, &mut found);
        }
        let _ = look.end(&mut found);
        self.records += 1;
        let counts = |known: &&super::Recommendation| met[known.code as usize] && !known.is_hint;
        self.improvable += u64::from(RECOMMENDATIONS.iter().any(|known| counts(&known)));
        Looked {
            needs_type: met[Code::TypeWord as usize],
            all: statements,
        }
    }

    /// What was found, in the order of the recommendations.
    pub fn tallies(&self) -> impl Iterator<Item = (Code, &Tally)> {
        let all = RECOMMENDATIONS.iter().zip(&self.tallies);
        all.filter(|(_, tally)| tally.values > 0)
            .map(|(known, tally)| (known.code, tally))
    }
}

/// A record that was looked at.
struct Looked<'r> {
    all: Vec<(Element, Cow<'r, str>)>,
    needs_type: bool,
}

impl Tally {
    fn add(&mut self, identifier: &str, finding: Finding<'_>, most: usize) {
        self.values += 1;
        let value = finding.value.map(beginning);
        let is_known = |example: &Example| example.value == value && value.is_some();
        if self.examples.len() < most && !self.examples.iter().any(is_known) {
            self.examples.push(Example {
                identifier: identifier.to_owned(),
                element: finding.element,
                value,
            });
        }
    }
}

fn beginning(value: &str) -> String {
    match value.char_indices().nth(MAX_EXAMPLE) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}
