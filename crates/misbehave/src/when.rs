//! Which requests a fault hits.

use std::fmt;

use stook_oai::Verb;

use crate::dice::Dice;

/// Which requests a fault hits: those that meet every condition given.
///
/// `page` and `identifier` look at the answer, so that a page is hit however it
/// was asked for. `request`, `every` and `times` count the requests that meet
/// the conditions before them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct When {
    /// Only this verb.
    pub verb: Option<Verb>,
    /// Only this page of a list; the first is 1.
    pub page: Option<u64>,
    /// Only answers that hold this identifier, or ask for it.
    pub identifier: Option<String>,
    /// Only the n-th of these requests; the first is 1.
    pub request: Option<u64>,
    /// Only every m-th of these requests.
    pub every: Option<u64>,
    /// Only so many in a hundred, by the seed of the script.
    pub chance: Option<u64>,
    /// At most so many times.
    pub times: Option<u64>,
}

impl When {
    /// Every request.
    #[must_use]
    pub fn always() -> Self {
        Self::default()
    }

    /// Only this verb.
    #[must_use]
    pub fn on(self, verb: Verb) -> Self {
        Self {
            verb: Some(verb),
            ..self
        }
    }

    /// Only this page of a list; the first is 1.
    #[must_use]
    pub fn page(self, page: u64) -> Self {
        Self {
            page: Some(page),
            ..self
        }
    }

    /// Only answers that hold this identifier, or ask for it.
    #[must_use]
    pub fn identifier(self, identifier: &str) -> Self {
        Self {
            identifier: Some(identifier.to_owned()),
            ..self
        }
    }

    /// Only the n-th of these requests; the first is 1.
    #[must_use]
    pub fn request(self, request: u64) -> Self {
        Self {
            request: Some(request),
            ..self
        }
    }

    /// Only every m-th of these requests.
    #[must_use]
    pub fn every(self, every: u64) -> Self {
        Self {
            every: Some(every),
            ..self
        }
    }

    /// Only so many in a hundred, by the seed of the script.
    #[must_use]
    pub fn chance(self, percent: u64) -> Self {
        Self {
            chance: Some(percent),
            ..self
        }
    }

    /// At most so many times.
    #[must_use]
    pub fn times(self, times: u64) -> Self {
        Self {
            times: Some(times),
            ..self
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = [
            ("page", self.page),
            ("request", self.request),
            ("every", self.every),
            ("chance", self.chance),
            ("times", self.times),
        ];
        if let Some(verb) = self.verb {
            write!(formatter, " on {verb}")?;
        }
        for (word, number) in numbers {
            if let Some(number) = number {
                write!(formatter, " {word} {number}")?;
            }
        }
        match &self.identifier {
            Some(identifier) => write!(formatter, " identifier {identifier}"),
            None => Ok(()),
        }
    }
}

/// What is known of a request when a fault is considered.
pub(crate) struct Occasion<'a> {
    pub(crate) verb: Option<Verb>,
    pub(crate) page: Option<u64>,
    /// The identifiers asked for or listed; none while they are not yet known.
    pub(crate) identifiers: Option<&'a [String]>,
}

/// How often a fault was considered and how often it hit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    seen: u64,
    hits: u64,
}

impl Tally {
    /// Whether the fault hits this request; counts it.
    pub(crate) fn hits(&mut self, when: &When, occasion: &Occasion<'_>, dice: &mut Dice) -> bool {
        if !meets(when, occasion) {
            return false;
        }
        self.seen += 1;
        let hit = when.request.is_none_or(|request| request == self.seen)
            && when.every.is_none_or(|every| self.seen.is_multiple_of(every))
            && when.chance.is_none_or(|percent| dice.below(100) < percent)
            && when.times.is_none_or(|times| self.hits < times);
        self.hits += u64::from(hit);
        hit
    }
}

fn meets(when: &When, occasion: &Occasion<'_>) -> bool {
    let holds = |identifier: &String| occasion.identifiers.is_none_or(|held| held.contains(identifier));
    when.verb.is_none_or(|verb| occasion.verb == Some(verb))
        && when.page.is_none_or(|page| occasion.page == Some(page))
        && when.identifier.as_ref().is_none_or(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(when: &When, pages: &[u64]) -> Vec<bool> {
        let mut tally = Tally::default();
        let mut dice = Dice::new(1);
        let occasion = |page| Occasion {
            verb: Some(Verb::ListRecords),
            page: Some(page),
            identifiers: None,
        };
        pages
            .iter()
            .map(|page| tally.hits(when, &occasion(*page), &mut dice))
            .collect()
    }

    #[test]
    fn conditions_hold_together() {
        assert_eq!(hits(&When::always().page(2), &[1, 2, 3]), [false, true, false]);
        assert_eq!(hits(&When::always().page(2).times(1), &[1, 2, 2]), [false, true, false]);
        assert_eq!(
            hits(&When::always().every(2), &[1, 1, 1, 1]),
            [false, true, false, true]
        );
        assert_eq!(
            hits(&When::always().page(1).request(2), &[1, 2, 1]),
            [false, false, true]
        );
        assert_eq!(hits(&When::always().on(Verb::Identify), &[1]), [false]);
    }

    #[test]
    fn chance_is_the_same_every_time() {
        let pages = [1; 200];
        let once = hits(&When::always().chance(30), &pages);
        assert_eq!(once, hits(&When::always().chance(30), &pages));
        let share = once.iter().filter(|hit| **hit).count();
        assert!((35..85).contains(&share), "{share}");
    }
}
