//! Lists in pages: the same list whatever the page size, and a look ahead that never lies.

use std::ops::ControlFlow;

use stook_store::{Position, RepositoryId, Span, Store, StoreError};

use super::super::Backend;
use super::super::fixture::*;

/// Forty records published in eight seconds, some of them again, some deleted; every third is in `a`.
fn publish(store: &Store, hand: &Hand) -> RepositoryId {
    let maps = repository(store);
    for batch in 0..8 {
        let changes = (0..5).map(|n| batch * 5 + n).map(|n| match n % 3 {
            0 => live(n, &["a:x"], "<map/>"),
            _ => live(n, &["b"], "<map/>"),
        });
        store.apply(maps, changes.collect()).unwrap();
        hand.turn(1);
    }
    store.apply(maps, (0..40).step_by(7).map(deleted).collect()).unwrap();
    let again = (0..40).step_by(4).map(|n| live(n, &["a:y", "c"], "<map>2</map>"));
    store.apply(maps, again.collect()).unwrap();
    maps
}

pub(crate) fn every_limit_gives_the_same_list<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = publish(&store, &hand);
    let mut snapshot = store.read().unwrap();
    for set_spec in [None, Some("a"), Some("a:x"), Some("a:y"), Some("b"), Some("c")] {
        let wanted = set_spec.map(set);
        let list = snapshot.list(maps, &oai_dc(), wanted.as_ref()).unwrap().unwrap();
        let (whole, more) = page(&mut snapshot, list, Span::ALL, usize::MAX);
        assert!(!more && !whole.is_empty());
        assert!(whole.is_sorted_by(|one, next| one.position < next.position));
        for limit in 1..=whole.len() + 1 {
            assert_eq!(
                in_pages(&mut snapshot, list, Span::ALL, limit),
                whole,
                "{set_spec:?} by {limit}"
            );
        }
    }
}

pub(crate) fn more_is_said_exactly_when_the_next_page_has_something<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = publish(&store, &hand);
    let mut snapshot = store.read().unwrap();
    let list = snapshot.list(maps, &oai_dc(), Some(&set("a"))).unwrap().unwrap();
    let whole = page(&mut snapshot, list, Span::ALL, usize::MAX).0;
    for (first, start) in whole.iter().enumerate() {
        let after = start.position;
        for limit in 1..=whole.len() {
            let (visited, more) = page(&mut snapshot, list, Span { after, ..Span::ALL }, limit);
            let rest = &whole[first + 1..];
            assert_eq!(visited, rest[..limit.min(rest.len())]);
            assert_eq!(more, limit < rest.len());
        }
        // A span that ends here has nothing more after it, though the list goes on.
        let through = start.position;
        let (visited, more) = page(&mut snapshot, list, Span { through, ..Span::ALL }, first + 1);
        assert_eq!((visited.len(), more), (first + 1, false));
    }
}

pub(crate) fn a_visitor_that_has_enough_ends_the_page<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = publish(&store, &hand);
    let mut snapshot = store.read().unwrap();
    let list = snapshot.list(maps, &oai_dc(), None).unwrap().unwrap();
    let whole = page(&mut snapshot, list, Span::ALL, usize::MAX).0;
    // As a page bounded in bytes does: it ends with the record that fills it.
    for room in [1, 30, 100, 400, 100_000] {
        let (mut listed, mut span) = (Vec::new(), Span::ALL);
        loop {
            let mut bytes = Vec::new();
            let before = listed.len();
            let page = snapshot
                .page(list, span, 1_000, |record| {
                    assert!(bytes.len() < room, "visited after it had enough");
                    listed.push(record.identifier.to_owned());
                    record.append_content(&mut bytes)?;
                    Ok(match bytes.len() >= room {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    })
                })
                .unwrap();
            assert_eq!(page.records, listed.len() - before);
            assert!(page.records > 0, "an empty page");
            assert_eq!(page.more, listed.len() < whole.len());
            span.after = page.last;
            if !page.more {
                break;
            }
        }
        assert!(
            listed.iter().eq(whole.iter().map(|seen| &seen.identifier)),
            "room for {room}"
        );
    }
}

pub(crate) fn a_failing_visitor_fails_the_page_and_leaves_the_snapshot_usable<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = publish(&store, &hand);
    let mut snapshot = store.read().unwrap();
    let list = snapshot.list(maps, &oai_dc(), None).unwrap().unwrap();
    let failure = snapshot.page(list, Span::ALL, 10, |_| Err(StoreError::Damaged("by the test".into())));
    assert!(matches!(failure, Err(StoreError::Damaged(reason)) if reason == "by the test"));
    assert_eq!(page(&mut snapshot, list, Span::ALL, usize::MAX).0.len(), 40);
}

pub(crate) fn a_list_continues_past_records_that_moved_away_and_ends_where_it_was_frozen<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = publish(&store, &hand);
    let mut snapshot = store.read().unwrap();
    let list = snapshot.list(maps, &oai_dc(), None).unwrap().unwrap();
    let through = snapshot.last();
    let response_date = snapshot.response_date().unix();
    let whole = page(&mut snapshot, list, Span::ALL, usize::MAX).0;
    let (first, _) = page(&mut snapshot, list, Span::ALL, 10);
    drop(snapshot);
    // The last record of the first page, one of the second and a new one are published.
    hand.turn(1);
    let (seen, unseen) = (first[9].number(), whole[12].number());
    let changes = [seen, unseen, 500].map(|n| live(n, &[], "<map>3</map>"));
    store.apply(maps, changes.to_vec()).unwrap();

    let mut snapshot = store.read().unwrap();
    let after = first[9].position;
    let rest = in_pages(&mut snapshot, list, Span { after, through }, 7);
    let expected: Vec<Seen> = whole[10..]
        .iter()
        .filter(|seen| seen.number() != unseen)
        .cloned()
        .collect();
    assert_eq!(rest, expected);
    let from = Position::first_of(datestamp(response_date)).before();
    let next = page(
        &mut snapshot,
        list,
        Span {
            after: from,
            ..Span::ALL
        },
        usize::MAX,
    )
    .0;
    for number in [seen, unseen, 500] {
        assert!(
            next.iter().any(|record| record.number() == number),
            "{number} was missed"
        );
    }
}

pub(crate) fn a_snapshot_does_not_change_under_its_reader<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = publish(&store, &hand);
    let mut snapshot = store.read().unwrap();
    let list = snapshot.list(maps, &oai_dc(), None).unwrap().unwrap();
    let whole = page(&mut snapshot, list, Span::ALL, usize::MAX).0;
    let (last, response_date) = (snapshot.last(), snapshot.response_date());
    hand.turn(1);
    let another = backend.another(hand.clock());
    store
        .apply(maps, (0..20).map(|n| live(n, &["z"], "<map>4</map>")).collect())
        .unwrap();
    another.apply(maps, (20..60).map(deleted).collect()).unwrap();
    assert_eq!(page(&mut snapshot, list, Span::ALL, usize::MAX).0, whole);
    assert_eq!(snapshot.count(list, Span::ALL).unwrap(), 40);
    assert_eq!(snapshot.list(maps, &oai_dc(), Some(&set("z"))).unwrap(), None);
    assert_eq!((snapshot.last(), snapshot.response_date()), (last, response_date));
    assert_eq!(all(&store, maps).len(), 60);
}

pub(crate) fn an_empty_or_inverted_span_holds_nothing<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = publish(&store, &hand);
    let mut snapshot = store.read().unwrap();
    let list = snapshot.list(maps, &oai_dc(), None).unwrap().unwrap();
    let last = snapshot.last();
    let spans = [
        (last, Position::END),
        (Position::END, Position::END),
        (Position::END, Position::START),
        (last, last.before()),
        (Position::START, Position::START),
        (Position::START, Position::last_of(datestamp(NEW_YEAR - 1))),
        (Position::first_of(datestamp(NEW_YEAR + 100)).before(), Position::END),
    ];
    for (after, through) in spans {
        let span = Span { after, through };
        assert_eq!(page(&mut snapshot, list, span, 10), (vec![], false), "{span:?}");
        assert_eq!(snapshot.count(list, span).unwrap(), 0, "{span:?}");
    }
}

pub(crate) fn a_panicking_visitor_leaves_the_store_usable<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = publish(&store, &hand);
    for _ in 0..3 {
        let mut snapshot = store.read().unwrap();
        let list = snapshot.list(maps, &oai_dc(), None).unwrap().unwrap();
        let visit = std::panic::AssertUnwindSafe(|| {
            let _ = snapshot.page(list, Span::ALL, 10, |_| {
                std::panic::resume_unwind(Box::new("by the test"))
            });
        });
        assert!(std::panic::catch_unwind(visit).is_err());
    }
    store.apply(maps, vec![live(100, &[], "<map/>")]).unwrap();
    assert_eq!(all(&store, maps).len(), 41);
}
