//! What rules make of records, and what is said about rules that make no sense.

use proptest::prelude::*;

use super::{MAX_SETS, MadeSet, NoSets, Owned, SetRules, built_in};
use crate::format::Formats;
use stook_oai::SetSpec;

fn rules(text: &str) -> SetRules {
    SetRules::read(&format!("sets from oai_dc\n{text}"), &Formats::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn record(values: &[(&str, &str)]) -> String {
    let inside: String = values
        .iter()
        .map(|(element, text)| format!("<dc:{element}>{text}</dc:{element}>"))
        .collect();
    format!(
        "<oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\">{inside}</oai_dc:dc>"
    )
}

fn specs(made: &[MadeSet]) -> Vec<&str> {
    made.iter().map(|set| set.spec.as_str()).collect()
}

fn sets(text: &str, values: &[(&str, &str)]) -> String {
    let made = rules(text).apply("oai:example.org:photo-1", &record(values)).unwrap();
    specs(&made).join(" ")
}

#[test]
fn a_condition_makes_a_set() {
    let theses = "type -> theses when . like \"*thesis*\"";
    assert_eq!(sets(theses, &[("type", "Doctoral Thesis")]), "theses");
    assert_eq!(sets(theses, &[("type", "Article")]), "");
    // Over several fields of the record.
    let german = ". -> german-theses when type like \"*thesis*\" and language = \"ger\" | \"deu\"";
    assert_eq!(
        sets(german, &[("type", "Thesis"), ("language", "deu")]),
        "german-theses"
    );
    assert_eq!(sets(german, &[("type", "Thesis"), ("language", "eng")]), "");
    assert_eq!(sets("\"x\" -> everything", &[]), "everything");
}

#[test]
fn the_identifier_of_the_record_can_be_asked() {
    let photos = "@oai:identifier -> photos when . like \"oai:example.org:photo-*\"";
    assert_eq!(sets(photos, &[("title", "x")]), "photos");
    assert_eq!(
        sets(
            ". -> x when @oai:identifier like \"*photo*\" and title",
            &[("title", "x")]
        ),
        "x"
    );
    assert_eq!(
        sets("@oai:identifier -> from:{} split \":\" rest first", &[]),
        "from:example.org"
    );
    let marc = SetRules::read(
        "sets from marc21\n@oai:identifier -> a when . like \"*1\"\n008/35-37 -> lang:{}",
        &Formats::default(),
    );
    let xml = "<record xmlns='http://www.loc.gov/MARC21/slim'><controlfield tag='008'>240115s2024    gw a          000 0 ger d</controlfield></record>";
    assert_eq!(specs(&marc.unwrap().apply("oai:x:1", xml).unwrap()), ["a", "lang:ger"]);
}

#[test]
fn values_make_hierarchies() {
    assert_eq!(
        sets(
            "date -> year:{} year",
            &[("date", "2026-05-17"), ("date", "c1999"), ("date", "n.d.")]
        ),
        "year:1999 year:2026"
    );
    let domain = "identifier -> domain:{} when . like \"http*\" domain";
    let urls = [("identifier", "http://www.webarchiv.cz/x"), ("identifier", "ISBN 3")];
    assert_eq!(sets(domain, &urls), "domain:cz:webarchiv:www");
    assert_eq!(
        sets(
            "subject -> topic:{} levels \"/\"",
            &[("subject", "Physics/Optics: lasers")]
        ),
        "topic:Physics:Optics-lasers"
    );
    // A colon of the record makes no level.
    assert_eq!(
        sets("subject -> topic:{}", &[("subject", "a:b"), ("subject", "物理")]),
        "topic:a-b"
    );
    let table = "language -> lang:{}-x table languages\ntable languages\n    de -> ger\n    * -> *";
    assert_eq!(
        sets(table, &[("language", "de"), ("language", "ger"), ("language", "ces")]),
        "lang:ces-x lang:ger-x"
    );
    assert_eq!(sets("language -> lang:{} default \"unknown\"", &[]), "lang:unknown");
}

#[test]
fn too_many_sets_are_none() {
    let words: Vec<String> = (0..=MAX_SETS).map(|number| number.to_string()).collect();
    let text = words.join(" ");
    let rules = rules("description -> word:{} split \" \"");
    let made = rules.apply("oai:x:1", &record(&[("description", &text)]));
    assert_eq!(made, Err(NoSets::TooMany));
    let text = words[1..].join(" ");
    assert_eq!(
        rules
            .apply("oai:x:1", &record(&[("description", &text)]))
            .unwrap()
            .len(),
        MAX_SETS
    );
    assert!(matches!(rules.apply("oai:x:1", "<a>"), Err(NoSets::Fault(_))));
}

#[test]
fn sets_have_the_names_that_rules_give() {
    let rules = rules(
        "type -> theses\ndate -> year:{} year\nsubject -> topic:{}\nnames\n    theses -> \"Doctoral theses\"\n    \
         year:* -> \"Published in {}\"\n    year -> Years",
    );
    let values = [("type", "a"), ("date", "2026"), ("subject", "Österreich &amp; Tirol")];
    let made = rules.apply("oai:x:1", &record(&values)).unwrap();
    let names: Vec<Option<String>> = made.iter().map(|set| rules.name(set)).collect();
    let expected = ["Doctoral theses", "Österreich & Tirol", "Published in 2026"];
    assert_eq!(names, expected.map(|name| Some(name.to_owned())));
    let named = |spec: &str| {
        let spec = SetSpec::parse(spec).unwrap();
        rules.name(&MadeSet { spec, label: None })
    };
    assert_eq!(named("year").as_deref(), Some("Years"));
    assert_eq!(named("topic:x"), None);
}

#[test]
fn a_value_names_the_level_at_which_it_stands() {
    let named = |names: &str| {
        let rules = rules(&format!("subject -> t:{{}}-s:x:y{names}"));
        let made = rules.apply("oai:x:1", &record(&[("subject", "Österreich")])).unwrap();
        let names = made[0].lineage().map(|set| (set.spec.to_string(), rules.name(&set)));
        names
            .filter_map(|(spec, name)| Some(format!("{spec}={}", name?)))
            .collect::<Vec<_>>()
    };
    assert_eq!(named(""), ["t:Osterreich-s=Österreich"]);
    assert_eq!(
        named("\nnames\n    t:*-s:x -> \"X of {}\"\n    t:* -> \"All of {}\""),
        [
            "t:Osterreich-s=All of Österreich",
            "t:Osterreich-s:x=X of Österreich",
            "t:Osterreich-s:x:y=All of Osterreich-s:x:y"
        ]
    );
}

#[test]
fn rules_own_what_they_can_make() {
    let rules = rules("type -> a:b\ndate -> year:{}\nlanguage -> lang-{}");
    let owned: Vec<Owned> = rules.owned().collect();
    let told: Vec<String> = owned.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["a:b", "year:{}", "lang-{}"]);
    for owned in &owned {
        assert_eq!(owned.to_string().parse::<Owned>().as_ref(), Ok(owned));
    }
    for (spec, is_owned) in [
        ("a:b", true),
        ("a", false),
        ("a:b:c", false),
        ("year", true),
        ("year:2026", true),
        ("years", false),
        ("lang-de", true),
        ("lang", false),
    ] {
        let spec = SetSpec::parse(spec).unwrap();
        assert_eq!(owned.iter().any(|owned| owned.owns(&spec)), is_owned, "{spec}");
    }
}

#[test]
fn what_makes_no_sense_is_told_with_its_line() {
    for (text, line, told) in [
        ("", 1, "no rules"),
        ("map oai_dc to mods", 1, "sets from oai_dc"),
        ("sets of oai_dc", 1, "sets from oai_dc"),
        ("sets from nosuch", 1, "no format nosuch"),
        ("sets from oai_dc\n\ntype theses", 3, "-> is missing"),
        ("sets from oai_dc\ntype -> ", 2, "a set, such as"),
        ("sets from oai_dc\ntype -> a b", 2, "\"b\" is not understood"),
        ("sets from oai_dc\ntype -> a/b", 2, "Try:"),
        ("sets from oai_dc\ntype -> {}", 2, "before the {}"),
        ("sets from oai_dc\ntype -> a:{}:{}", 2, "Try:"),
        ("sets from oai_dc\ntype -> a:", 2, "Try:"),
        ("sets from oai_dc\ntype => a", 2, "no groups"),
        ("sets from oai_dc\ncopy type", 2, "is no element of Dublin Core"),
        ("sets from oai_dc\ntype -> a required", 2, "required makes no sense"),
        ("sets from oai_dc\ntype -> a with @xml:lang", 2, "with makes no sense"),
        ("sets from oai_dc\ntype -> a table t", 2, "no table t"),
        ("sets from oai_dc\ntype -> a:{} levels \"\"", 2, "empty"),
        ("sets from oai_dc\ntype -> a\n  date -> b", 3, "indentation"),
        ("sets from oai_dc\ntype -> a\nnames", 3, "no names"),
        (
            "sets from oai_dc\ntype -> a\nnames\n  b -> B",
            4,
            "no rule makes the set b",
        ),
        ("sets from oai_dc\ntype -> a\nnames\n  a -> A\n  a -> B", 5, "already"),
        ("sets from oai_dc\ntype -> a\nnames\n  a -> \" \"", 4, "empty"),
        (
            "sets from oai_dc\ntype -> a\nnames\n  a:*:* -> A",
            4,
            "more than one star",
        ),
        ("sets from oai_dc\ntype -> a\nnames\n  a A", 4, "SET -> NAME"),
        ("sets from oai_dc\ntype -> a when foo:b", 2, "prefix foo"),
    ] {
        let error = SetRules::read(text, &Formats::default()).unwrap_err();
        assert_eq!(error.line, line, "{text:?}: {error}");
        assert!(error.message.contains(told), "{text:?}: {error}");
    }
}

#[test]
fn comments_do_not_count() {
    assert_eq!(rules("type -> a").text(), rules("\n# about\ntype -> a   # here").text());
    assert_ne!(rules("type -> a").text(), rules("type -> b").text());
}

fn dini(values: &[(&str, &str)]) -> String {
    let made = built_in::named("dini")
        .unwrap()
        .apply("oai:x:1", &record(values))
        .unwrap();
    specs(&made).join(" ")
}

#[test]
fn dini_finds_classes_of_the_dewey_decimal_classification() {
    for (subject, expected) in [
        ("ddc:330", "ddc:330"),
        ("DDC: 330", "ddc:330"),
        ("info:eu-repo/classification/ddc/330", "ddc:330"),
        ("http://dewey.info/class/004/", "ddc:004"),
        ("ddc:333.7", "ddc:333.7"),
        ("ddc:333.79", "ddc:333.7"),
        ("ddc:333.5", "ddc:330"),
        ("ddc:341.5", "ddc:340"),
        ("ddc:355.4", "ddc:355"),
        ("ddc:741.58", "ddc:741.5"),
        ("ddc:120", "ddc:100"),
        ("ddc:006.3", "ddc:000"),
        ("330 Economics", "ddc:330"),
        ("330 Wirtschaft", "ddc:330"),
        ("943 Geschichte Deutschlands", "ddc:943"),
        ("500 Jahre Reformation", ""),
        ("100 years war", ""),
        ("330", ""),
        ("ddc:3301", ""),
        ("ddc:abc", ""),
        ("Economics", ""),
    ] {
        assert_eq!(dini(&[("subject", subject)]), expected, "{subject}");
    }
    assert_eq!(
        dini(&[("subject", "dnb:33"), ("subject", "dnb:3"), ("subject", "dnb:x1")]),
        "dnb:33"
    );
}

#[test]
fn dini_finds_types_states_and_open_access() {
    for (element, value, expected) in [
        ("type", "doc-type:doctoralThesis", "doc-type:doctoralThesis"),
        (
            "type",
            "info:eu-repo/semantics/doctoralThesis",
            "doc-type:doctoralThesis",
        ),
        ("type", "info:eu-repo/semantics/bookPart", "doc-type:bookPart"),
        ("type", "Text", "doc-type:Text"),
        ("type", "doctoral thesis", "doc-type:doctoralThesis"),
        (
            "type",
            "doc-type:CarthographicMaterial",
            "doc-type:CartographicMaterial",
        ),
        (
            "type",
            "info:eu-repo/semantics/periodicalPart",
            "doc-type:PeriodicalPart",
        ),
        ("type", "something else", ""),
        ("type", "pub-type:dissertation", "pub-type:dissertation"),
        (
            "type",
            "info:eu-repo/semantics/acceptedVersion",
            "status-type:acceptedVersion",
        ),
        ("type", "status-type:draft", "status-type:draft"),
        ("rights", "info:eu-repo/semantics/openAccess", "open_access"),
        ("rights", "info:eu-repo/semantics/closedAccess", ""),
        (
            "relation",
            "info:eu-repo/grantAgreement/EC/FP7/123",
            "ec_fundedresources openaire",
        ),
        ("relation", "info:eu-repo/grantAgreement/NSF/1", ""),
    ] {
        assert_eq!(dini(&[(element, value)]), expected, "{value}");
    }
}

#[test]
fn every_set_that_dini_lists_has_a_name() {
    let rules = built_in::named("dini").unwrap();
    for (values, name) in [
        ([("subject", "ddc:333.72")], "Natural resources, energy and environment"),
        ([("type", "doc-type:Other")], "Other"),
        (
            [("rights", "info:eu-repo/semantics/openAccess")],
            "Open Access Documents",
        ),
    ] {
        let made = rules.apply("oai:x:1", &record(&values)).unwrap();
        assert_eq!(rules.name(&made[0]).as_deref(), Some(name));
    }
}

const RULES: [&str; 7] = [
    "type -> theses when . like \"*thesis*\"",
    "date -> year:{} year",
    "subject -> topic:{}",
    "subject -> topic:{} lower",
    "subject, type -> all:{} split \" \"",
    "identifier -> domain:{} domain",
    ". -> described when subject and date",
];

proptest! {
    #[test]
    fn the_order_of_rules_makes_no_difference(
        order in Just((0..RULES.len()).collect::<Vec<_>>()).prop_shuffle(),
        values in proptest::collection::vec(
            (proptest::sample::select(vec!["type", "date", "subject", "identifier"]), "[a-zA-ZÄé :/.0-9]{0,20}|A thesis|2026|http://a\\.b/"),
            0..8,
        ),
    ) {
        let values: Vec<(&str, &str)> = values.iter().map(|(element, text)| (*element, text.as_str())).collect();
        let xml = record(&values);
        let apply = |order: &mut dyn Iterator<Item = usize>| {
            let text: Vec<&str> = order.map(|at| RULES[at]).collect();
            rules(&text.join("\n")).apply("oai:x:1", &xml).unwrap()
        };
        prop_assert_eq!(apply(&mut order.iter().copied()), apply(&mut (0..RULES.len())));
    }
}
