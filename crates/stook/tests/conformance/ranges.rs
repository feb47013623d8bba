//! Checks of what from, until and set select: groups D and T.

use std::collections::BTreeSet;

use stook_oai::{Granularity, Header};

use crate::Check;
use crate::scene::{LONG_AGO, NOW, Scene, TOMORROW};
use crate::support::{datestamp, encoded, set_spec};

pub const CHECKS: &[Check] = &[
    ("D-1", datestamps_lie_between_the_earliest_and_now),
    ("D-2", one_datestamp_selects_its_records),
    ("D-3", one_datestamp_selects_its_records),
    ("D-4", a_day_selects_its_seconds),
    ("D-5", either_bound_is_inclusive),
    ("D-6", the_next_granule_excludes_a_record),
    ("D-17", the_future_adds_nothing),
    ("D-19", set_and_dates_intersect),
    ("D-21", the_days_make_up_the_list),
    ("T-1", a_set_holds_its_members_only),
    ("T-2", a_parent_holds_its_children),
    ("T-3", a_name_that_begins_alike_is_another_set),
    ("T-4", headers_name_no_ancestors),
];

const LIST: &str = "verb=ListIdentifiers&metadataPrefix=oai_dc";

fn all(scene: &Scene) -> Vec<Header> {
    scene.headers(LIST)
}

fn text(header: &Header) -> String {
    header.datestamp.to_string()
}

fn day(header: &Header) -> String {
    text(header)[..10].to_owned()
}

/// What the list holds by the same criterion.
fn chosen(scene: &Scene, wanted: impl Fn(&Header) -> bool) -> Vec<Header> {
    all(scene).into_iter().filter(|header| wanted(header)).collect()
}

fn datestamps_lie_between_the_earliest_and_now(scene: &Scene) {
    let earliest = scene.granted("verb=Identify").identify.unwrap().earliest_datestamp;
    for header in all(scene) {
        assert_eq!(header.datestamp.granularity(), scene.granularity());
        assert!(header.datestamp.first_second() >= earliest);
        assert!(header.datestamp.first_second() <= datestamp(NOW));
    }
}

fn one_datestamp_selects_its_records(scene: &Scene) {
    for header in all(scene) {
        let when = text(&header);
        let selected = scene.headers(&format!("{LIST}&from={0}&until={0}", encoded(&when)));
        assert!(selected.contains(&header));
        assert_eq!(selected, chosen(scene, |other| text(other) == when));
    }
}

fn a_day_selects_its_seconds(scene: &Scene) {
    for header in all(scene) {
        let when = day(&header);
        let selected = scene.headers(&format!("{LIST}&from={when}&until={when}"));
        assert_eq!(selected, chosen(scene, |other| day(other) == when));
        assert!(selected.contains(&header));
    }
}

fn either_bound_is_inclusive(scene: &Scene) {
    for header in all(scene) {
        let (when, exact) = (day(&header), text(&header));
        let until = scene.headers(&format!("{LIST}&until={when}"));
        assert_eq!(until, chosen(scene, |other| day(other) <= when));
        let from = scene.headers(&format!("{LIST}&from={when}"));
        assert_eq!(from, chosen(scene, |other| day(other) >= when));
        let until = scene.headers(&format!("{LIST}&until={}", encoded(&exact)));
        assert_eq!(until, chosen(scene, |other| text(other) <= exact));
        let from = scene.headers(&format!("{LIST}&from={}", encoded(&exact)));
        assert_eq!(from, chosen(scene, |other| text(other) >= exact));
    }
}

fn the_next_granule_excludes_a_record(scene: &Scene) {
    for header in all(scene) {
        let granule = if scene.days { 86_400 } else { 1 };
        let next = stook_oai::Datestamp::from_unix(header.datestamp.first_second().unix() + granule).unwrap();
        let query = format!("{LIST}&from={}", encoded(next.format(scene.granularity()).as_str()));
        let later = chosen(scene, |other| other.datestamp.first_second() >= next);
        if later.is_empty() {
            let seen = crate::support::answer::ask(&scene.provider, &query);
            assert_eq!(seen.codes, [stook_oai::ErrorCode::NoRecordsMatch]);
        } else {
            assert_eq!(scene.headers(&query), later);
        }
    }
}

fn the_future_adds_nothing(scene: &Scene) {
    assert_eq!(scene.headers(&format!("{LIST}&until={TOMORROW}")), all(scene));
    assert_eq!(
        scene.headers(&format!("{LIST}&from={LONG_AGO}&until={TOMORROW}")),
        all(scene)
    );
}

fn set_and_dates_intersect(scene: &Scene) {
    if !scene.sets {
        return;
    }
    let wanted = set_spec("a");
    let selected = scene.headers(&format!("{LIST}&set=a&from=2024-03-02&until=2024-04-10"));
    let expected = chosen(scene, |header| {
        let in_set = header.set_specs.iter().any(|spec| wanted.contains(spec));
        in_set && day(header).as_str() >= "2024-03-02" && day(header).as_str() <= "2024-04-10"
    });
    assert_eq!(selected, expected);
    assert_eq!(selected.len(), 3);
}

fn the_days_make_up_the_list(scene: &Scene) {
    let days: BTreeSet<String> = all(scene).iter().map(day).collect();
    let mut union = Vec::new();
    for day in &days {
        union.extend(scene.headers(&format!("{LIST}&from={day}&until={day}")));
    }
    assert_eq!(union, all(scene));
    assert_eq!(days.len(), 5);
    assert_eq!(
        scene.id0().datestamp.first_second().format(Granularity::Day).as_str(),
        "2024-03-01"
    );
}

fn a_set_holds_its_members_only(scene: &Scene) {
    if !scene.sets {
        return;
    }
    for (spec, size) in [("a", 8), ("a:b", 6), ("a:b:c", 5), ("ab", 1), ("d", 3)] {
        let wanted = set_spec(spec);
        for verb in ["ListIdentifiers", "ListRecords"] {
            let query = format!("verb={verb}&metadataPrefix=oai_dc&set={}", encoded(spec));
            let members = scene.headers(&query);
            assert_eq!(
                members,
                chosen(scene, |header| header.set_specs.iter().any(|own| wanted.contains(own)))
            );
            assert_eq!(members.len(), size, "{spec}");
        }
    }
}

fn a_parent_holds_its_children(scene: &Scene) {
    if !scene.sets {
        return;
    }
    let members = |spec: &str| -> BTreeSet<String> {
        scene
            .identifiers(&format!("{LIST}&set={}", encoded(spec)))
            .into_iter()
            .collect()
    };
    assert!(members("a").is_superset(&members("a:b")));
    assert!(members("a:b").is_superset(&members("a:b:c")));
}

fn a_name_that_begins_alike_is_another_set(scene: &Scene) {
    if scene.sets {
        let of_a = scene.identifiers(&format!("{LIST}&set=a"));
        let of_ab = scene.identifiers(&format!("{LIST}&set=ab"));
        assert_eq!(of_ab, ["oai:ferry.example.org:32"]);
        assert!(!of_a.contains(&of_ab[0]));
    }
}

fn headers_name_no_ancestors(scene: &Scene) {
    for header in all(scene) {
        for spec in &header.set_specs {
            assert!(
                !header
                    .set_specs
                    .iter()
                    .any(|other| other != spec && spec.contains(other)),
                "{header:?}"
            );
        }
    }
}
