//! Counts: the size of a list without walking it, exact for any span.

use stook_oai::SetSpec;
use stook_store::{Position, RepositoryId, Span, Store};

use super::super::Backend;
use super::super::fixture::*;

pub(crate) fn every_span_counts_as_many_records_as_it_visits<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    for round in 0..6 {
        hand.turn(round % 2);
        let number = |n: usize| (n * 5 + usize::try_from(round).unwrap() * 3) % 20;
        let changes = (0..7)
            .map(number)
            .map(|n| live(n, &["a:x"][..n % 2], &format!("<map>{round}</map>")));
        store.apply(maps, changes.collect()).unwrap();
    }
    let mut snapshot = store.read().unwrap();
    for set_spec in [None, Some(set("a"))] {
        let list = snapshot.list(maps, &oai_dc(), set_spec.as_ref()).unwrap().unwrap();
        let whole = page(&mut snapshot, list, Span::ALL, usize::MAX).0;
        let mut ends = vec![Position::START, Position::END, snapshot.last()];
        ends.extend(whole.iter().flat_map(|seen| [seen.position.before(), seen.position]));
        for &after in &ends {
            for &through in &ends {
                let inside = |seen: &&Seen| seen.position > after && seen.position <= through;
                let expected = whole.iter().filter(inside).count();
                let counted = snapshot.count(list, Span { after, through }).unwrap();
                assert_eq!(counted, expected as u64, "{after:?} to {through:?}");
            }
        }
    }
}

/// The sets of a record of the large repository: every record in one of three large sets, few in a rare one, some in
/// none but the large one.
fn sets_of(number: usize, version: usize) -> Vec<&'static str> {
    let mut sets = vec![["big:a", "big:b", "big:c"][(number + version) % 3]];
    if number.is_multiple_of(997) {
        sets.push("rare");
    }
    if number.is_multiple_of(7) {
        sets.push("odd:seven");
    }
    sets
}

fn versions(numbers: impl Iterator<Item = usize>, version: usize) -> Vec<stook_store::Change> {
    numbers
        .map(|n| live(n, &sets_of(n, version), &format!("<m>{version}</m>")))
        .collect()
}

/// Compares counts and pages of many spans with the list itself.
fn compare_spans(store: &Store, maps: RepositoryId, set_spec: Option<&SetSpec>, dice: &mut Dice) {
    let mut snapshot = store.read().unwrap();
    let list = snapshot.list(maps, &oai_dc(), set_spec).unwrap().unwrap();
    let mut whole = Vec::new();
    let page = snapshot
        .page(list, Span::ALL, usize::MAX, |record| {
            whole.push(record.position);
            Ok(std::ops::ControlFlow::Continue(()))
        })
        .unwrap();
    assert!(!page.more && whole.is_sorted_by(|one, next| one < next));
    assert_eq!(snapshot.count(list, Span::ALL).unwrap(), whole.len() as u64);
    for _ in 0..24 {
        let mut ends = [dice.below(whole.len() + 1), dice.below(whole.len() + 1)];
        ends.sort_unstable();
        let position = |at: usize| at.checked_sub(1).map_or(Position::START, |at| whole[at]);
        let span = Span {
            after: position(ends[0]),
            through: position(ends[1]),
        };
        let open = Span {
            through: Position::END,
            ..span
        };
        assert_eq!(snapshot.count(list, span).unwrap(), (ends[1] - ends[0]) as u64);
        assert_eq!(snapshot.count(list, open).unwrap(), (whole.len() - ends[0]) as u64);
        let visited = in_pages(
            &mut snapshot,
            list,
            Span {
                after: span.after,
                through: position((ends[0] + 40).min(ends[1])),
            },
            7,
        );
        let expected = &whole[ends[0]..(ends[0] + 40).min(ends[1]).max(ends[0])];
        assert!(visited.iter().map(|seen| seen.position).eq(expected.iter().copied()));
    }
}

pub(crate) fn a_large_list_keeps_its_counts_while_it_grows_changes_and_goes_stale<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let mut backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let mut dice = Dice::new(7);
    let numbers = 60_000;
    for batch in 0..numbers / 5_000 {
        hand.turn(1);
        let batch = versions(batch * 5_000..(batch + 1) * 5_000, 0);
        store.apply(maps, batch).unwrap();
    }
    let specs = [
        None,
        Some(set("big")),
        Some(set("big:b")),
        Some(set("rare")),
        Some(set("odd:seven")),
    ];
    let compare = |store: &Store, dice: &mut Dice| {
        for spec in &specs {
            compare_spans(store, maps, spec.as_ref(), dice);
        }
    };
    compare(&store, &mut dice);
    // Neighbours change first, so that whole stretches of the list go stale; then records everywhere.
    for round in 1..=9 {
        hand.turn(1);
        let changes = match round {
            1..=6 => versions((round - 1) * 5_000..round * 5_000, round),
            _ => versions((0..5_000).map(|n| (n * 11 + round) % numbers), round),
        };
        store.apply(maps, changes).unwrap();
        if round % 3 == 0 {
            compare(&store, &mut dice);
        }
    }
    store.apply(maps, (0..5_000).map(|n| deleted(n * 3)).collect()).unwrap();
    drop(store);
    backend.reopen();
    compare(&backend.store(), &mut dice);
    let snapshot = backend.store().read().unwrap();
    assert_eq!(snapshot.deleted(maps, &oai_dc()).unwrap(), 5_000);
    let list = snapshot.list(maps, &oai_dc(), None).unwrap().unwrap();
    assert_eq!(snapshot.count(list, Span::ALL).unwrap(), numbers as u64);
    assert_eq!(faults(&backend.store()), [] as [&str; 0]);
}
