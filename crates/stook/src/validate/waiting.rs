//! Findings that wait until it is known whether another check tells the same better.
//!
//! A general check (the schema of all answers) sees what a particular one (of datestamps) also sees. Which of them comes
//! first depends on the order of the families, so the general one waits for the end of the run.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::run::Found;
use super::table;

/// A finding that was seen in many answers names so many of them.
const MOST_NAMED: usize = 3;

/// What waits, and what was told meanwhile.
#[derive(Default)]
pub(crate) struct Waiting {
    /// By the check and what came; with the checks or families that tell it better.
    findings: BTreeMap<(&'static str, String), (Found, &'static [&'static str])>,
    /// The checks that found fault with an answer, by its number; 0 for those that named none.
    told: HashMap<u32, HashSet<&'static str>>,
}

impl Waiting {
    /// Takes a finding. The same thing in several answers is one finding.
    pub(crate) fn add(&mut self, id: &'static str, found: Found, others: &'static [&'static str]) {
        let key = (id, found.came.clone());
        match self.findings.get_mut(&key) {
            Some((known, _)) => known.exchanges.extend(found.exchanges),
            None => drop(self.findings.insert(key, (found, others))),
        }
    }

    /// Notes that a check found fault with answers.
    pub(crate) fn note(&mut self, id: &'static str, exchanges: &[u32]) {
        let unnamed = exchanges.is_empty().then_some(0);
        for number in exchanges.iter().copied().chain(unnamed) {
            self.told.entry(number).or_default().insert(id);
        }
    }

    /// What is still to be told, in the order of the answers; nothing of a check whose finding others have told.
    pub(crate) fn into_untold(self) -> Vec<(&'static str, Option<Found>)> {
        let told = self.told;
        let mut untold: Vec<(&'static str, Found, bool)> = self
            .findings
            .into_iter()
            .map(|((id, _), (found, others))| {
                let is_told = found.exchanges.iter().chain(&[0]).any(|number| {
                    let by = told.get(number).into_iter().flatten();
                    by.filter(|check| **check != id)
                        .any(|check| others.iter().any(|other| table::is_of(check, other)))
                });
                (id, found, is_told)
            })
            .collect();
        untold.sort_by_key(|(_, found, _)| found.exchanges.first().copied());
        untold
            .into_iter()
            .map(|(id, mut found, is_told)| {
                found.exchanges.truncate(MOST_NAMED);
                (id, (!is_told).then_some(found))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting() -> Waiting {
        let mut waiting = Waiting::default();
        for number in [7, 8, 9, 10] {
            waiting.add("X-7", Found::new("header@kind").in_answer(number), &["L", "D-1"]);
        }
        waiting
    }

    fn told(waiting: Waiting) -> Vec<(&'static str, Option<Vec<u32>>)> {
        let untold = waiting.into_untold().into_iter();
        untold
            .map(|(id, found)| (id, found.map(|found| found.exchanges)))
            .collect()
    }

    #[test]
    fn what_nobody_else_tells_is_told_once_with_some_of_its_answers() {
        let mut waiting = waiting();
        waiting.note("D-2", &[7]);
        waiting.note("L-2", &[11]);
        waiting.note("X-7", &[7]);
        assert_eq!(told(waiting), [("X-7", Some(vec![7, 8, 9]))]);
    }

    #[test]
    fn what_another_check_tells_of_one_of_the_answers_is_left_to_it() {
        for (check, exchanges) in [("L-2", &[10][..]), ("D-1", &[7]), ("L-3", &[])] {
            let mut waiting = waiting();
            waiting.note(check, exchanges);
            assert_eq!(told(waiting), [("X-7", None)], "{check}");
        }
    }
}
