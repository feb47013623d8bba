//! What somebody may have meant: the nearest name, the right place, the list. Asked only when something is wrong.

use stook_oai::Excerpt;

use super::breach::Wrong;
use super::check::Seen;
use super::{Kind, Model};

/// So many names are read; of more the first ones are enough to know what is meant.
const MOST_LISTED: usize = 12;

/// Longer words are compared with nothing: the time that takes is the product of both lengths.
const LONGEST: usize = 40;

/// Names as a list for reading.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let more = if names.len() > MOST_LISTED { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(MOST_LISTED)].join(", "))
}

/// "use one of …", and the one that was probably meant first.
pub(super) fn one_of<'a>(found: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let only: Vec<&str> = known.clone().take(2).collect();
    if let [only] = only[..] {
        return format!("use {only} or leave it out");
    }
    match nearest(found, known.clone()) {
        Some(meant) => format!("did you mean {meant}? Use one of {}", listed(known)),
        None => format!("use one of {}", listed(known)),
    }
}

/// What is wrong with an element that none of the children of `parent` is.
pub(super) fn unknown_element(model: &Model, parent: &Kind, named: &str, seen: &Seen<'_, '_>) -> Wrong {
    let format = model.name.clone();
    let children = || parent.children.iter().map(|child| &*child.name.shown);
    if children().next().is_none() {
        return Wrong::NotEmpty;
    }
    let by_local = parent.children.iter().find(|child| child.name.local == seen.local);
    if let Some(child) = by_local {
        let expected = child.name.namespace.clone();
        let found = match seen.namespace {
            "" => "no namespace".to_owned(),
            namespace => format!("the namespace {}", Excerpt(namespace)),
        };
        return Wrong::WrongNamespace {
            format,
            found,
            expected,
        };
    }
    let parents = parents_of(model, seen);
    if !parents.is_empty() {
        let parents = listed(parents.into_iter());
        return Wrong::Misplaced { format, parents };
    }
    let locals = parent.children.iter().map(|child| &*child.name.local);
    if let Some(meant) = nearest(seen.local, locals) {
        let remedy = format!("did you mean {meant}?");
        return Wrong::UnknownElement { format, remedy };
    }
    let remedy = format!("{named} has {}", listed(children()));
    Wrong::UnknownElement { format, remedy }
}

/// What is wrong with an attribute that is none of this kind's.
pub(super) fn unknown_attribute(model: &Model, kind: &Kind, namespace: &str, local: &str) -> Wrong {
    let names = || kind.attributes.iter().map(|rule| &*rule.name.shown);
    let locals = kind.attributes.iter().map(|rule| &*rule.name.local);
    let same = kind.attributes.iter().find(|rule| rule.name.local == local);
    let remedy = match (same, nearest(local, locals)) {
        (Some(rule), _) if rule.name.namespace.is_empty() => format!("write {local}, without a prefix"),
        (Some(rule), _) => format!(
            "write {}, a name of the namespace {}",
            rule.name.shown, rule.name.namespace
        ),
        (None, Some(meant)) => format!("did you mean {meant}?"),
        (None, None) if names().next().is_none() => "it has none".to_owned(),
        (None, None) if namespace.is_empty() || model.root.name.namespace == namespace => {
            format!("it has {}", listed(names()))
        }
        (None, None) => "leave it out".to_owned(),
    };
    Wrong::UnknownAttribute { remedy }
}

/// The elements that have this one inside.
fn parents_of<'m>(model: &'m Model, seen: &Seen<'_, '_>) -> Vec<&'m str> {
    let holds = |kind: &Kind| {
        kind.children
            .iter()
            .any(|child| child.name.is(seen.namespace, seen.local))
    };
    let elements = model.kinds.iter().flat_map(|kind| &kind.children).chain([&model.root]);
    let mut parents: Vec<&str> = elements
        .filter(|element| model.kinds.get(element.kind).is_some_and(holds))
        .map(|element| &*element.name.shown)
        .collect();
    parents.sort_unstable();
    parents.dedup();
    parents
}

/// The word that is nearest to the one found, if one is near enough to have been meant.
fn nearest<'a>(found: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let found: Vec<char> = plain(found);
    if found.is_empty() || found.len() > LONGEST {
        return None;
    }
    // In a short word one slip makes another word of it.
    let most = if found.len() > 5 { 2 } else { 1 };
    known
        .map(|word| (distance(&found, &plain(word)), word))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// A word without what people write differently: capital letters, blanks, hyphens.
fn plain(word: &str) -> Vec<char> {
    let signs = word
        .chars()
        .filter(|sign| !sign.is_whitespace() && !matches!(sign, '-' | '_'));
    signs.flat_map(char::to_lowercase).take(LONGEST + 1).collect()
}

/// How many letters have to be changed, added, dropped or swapped with their neighbour.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, against) in other.iter().enumerate() {
            let changed = last[column] + usize::from(letter != against);
            let mut least = changed.min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && one[row - 1] == *against && *letter == other[column - 1] {
                least = least.min(before_last[column - 1] + 1);
            }
            current.push(least);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_seen_and_other_words_are_not() {
        let known = ["title", "subTitle", "partName", "nonSort"];
        for (found, meant) in [
            ("tilte", Some("title")),
            ("Title", Some("title")),
            ("subtitle", Some("subTitle")),
            ("sub-title", Some("subTitle")),
            ("name", None),
            ("", None),
        ] {
            assert_eq!(nearest(found, known.into_iter()), meant, "{found}");
        }
        assert_eq!(nearest(&"t".repeat(1_000_000), known.into_iter()), None);
    }

    #[test]
    fn distances_count_slips() {
        let letters = |word: &str| word.chars().collect::<Vec<_>>();
        for (one, other, expected) in [
            ("", "", 0),
            ("a", "", 1),
            ("ab", "ba", 1),
            ("abc", "xbc", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(&letters(one), &letters(other)), expected, "{one} {other}");
        }
    }
}
