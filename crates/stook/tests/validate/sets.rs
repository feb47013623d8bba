//! Repositories whose sets are not what they say.

use misbehave::{Given, Heard, Item, Script, World};
use stook::validate::Profile;
use stook::validate::table::Severity;

use crate::harness::{Case, case, hold, is_serious, world};

/// Another text in ListSets.
fn listed(old: &'static str, new: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        if heard.is("ListSets") {
            given.replace(old, new);
        }
    }
}

fn refuses(query: &'static str, wrong: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        if heard.query.starts_with(query) {
            given.answer_error(wrong);
        }
    }
}

/// A description of the set of photographs.
fn described(text: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        if heard.is("ListSets") {
            let name = "<setName>Photographs</setName>";
            given.replace(name, &format!("{name}<setDescription>{text}</setDescription>"));
        }
    }
}

/// Without sets.
fn flat() -> World {
    let mut world = world();
    world.sets.clear();
    for identifier in world.identifiers() {
        if let Some(item) = world.item(&identifier).cloned() {
            world.put(Item {
                set_specs: Vec::new(),
                ..item
            });
        }
    }
    world
}

/// With one set more, and a record in it.
fn with_set(spec: &str, name: &str, list: bool) -> World {
    let mut world = world();
    if list {
        world.sets.push((spec.to_owned(), name.to_owned()));
    }
    let identifier = "oai:misbehave.example.org:11";
    if let Some(item) = world.item(identifier).cloned() {
        world.put(Item {
            set_specs: vec![spec.to_owned()],
            ..item
        });
    }
    world
}

pub(crate) fn cases() -> Vec<Case> {
    let two_pages = || Script::new().page_size(4);
    vec![
        case("S-1", refuses("verb=ListSets", "idDoesNotExist")).also(&["S-8", "S-9", "E-8", "X-15", "F-16", "F-24"]),
        case("S-2", listed("<setSpec>photographs<", "<setSpec>photo graphs<")).also(&["S-11", "X-7"]),
        case("S-3", listed("<setSpec>theses:law<", "<setSpec>maps:city<")),
        case("S-4", listed("<setName>Photographs</setName>", "<setName/>")).with_severity(Severity::Warn),
        case("S-4", listed("<setName>Photographs</setName>", ""))
            .with_severity(Severity::Error)
            .also(&["X-7"]),
        case("S-5", |_, _| {})
            .in_world(|| with_set("letters:war", "Letters from the war", true))
            .with_severity(Severity::Rec),
        case("S-6", described("Old photographs")).also(&["X-7"]),
        case("S-6", described("<about>Old photographs</about>")).also(&["X-7"]),
        case(
            "S-6",
            described(
                "<oai_dc:dc xmlns:oai_dc='http://www.openarchives.org/OAI/2.0/oai_dc/' \
                 xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' \
                 xsi:schemaLocation='http://www.openarchives.org/OAI/2.0/oai_dc/ \
                 http://www.openarchives.org/OAI/2.0/oai_dc.xsd'><text xmlns='urn:x'>Old</text></oai_dc:dc>",
            ),
        )
        .also(&["X-7"]),
        case(
            "S-7",
            refuses("verb=ListSets&resumptionToken=sets", "badResumptionToken"),
        )
        .by(two_pages())
        .also(&["F-3"]),
        case("S-7", |heard, given| {
            if heard.is("ListSets") && heard.argument("resumptionToken").is_some_and(|token| token == "sets-4") {
                let sets = [
                    ("maps", "Maps"),
                    ("maps:city", "City maps"),
                    ("maps:sea", "Sea charts"),
                    ("theses", "Theses"),
                ];
                let list: String = sets
                    .iter()
                    .map(|(spec, name)| format!("<set><setSpec>{spec}</setSpec><setName>{name}</setName></set>"))
                    .collect();
                given.replace_between(
                    "<ListSets>",
                    "</ListSets>",
                    &format!("{list}<resumptionToken>sets-4</resumptionToken>"),
                );
            }
        })
        .by(two_pages())
        .also(&["F-3", "F-5", "F-6", "F-7"]),
        case("S-8", refuses("verb=ListSets&metadataPrefix", "noSetHierarchy")),
        case("S-9", refuses("verb=ListSets&resumptionToken=junk", "badArgument")).also(&["F-16", "X-12"]),
        case("S-10", |heard, given| {
            if heard.is("ListRecords") && heard.argument("set").is_some() && heard.argument("resumptionToken").is_none()
            {
                given.answer_error("noRecordsMatch");
            }
        })
        .in_world(flat)
        .also(&["T-5", "T-7"]),
        case("S-11", |_, _| {}).in_world(|| with_set("letters", "", false)),
        case("S-12", |_, _| {})
            .with(|options| options.profiles.push(Profile::Openaire))
            .with_severity(Severity::Rec)
            .also(&["Q-1", "Q-10", "Q-11", "Q-12", "Q-13"]),
        case("S-12", |_, _| {})
            .in_world(|| with_set("OpenAIRE", "OpenAIRE", true))
            .with(|options| options.profiles.push(Profile::Openaire))
            .also(&["Q-1", "Q-10", "Q-11", "Q-12", "Q-13"]),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}

#[test]
fn a_repository_without_sets_has_nothing_wrong_with_it() {
    use misbehave::Endpoint;
    use stook::validate::report::to_text;

    let endpoint = Endpoint::start(flat(), Script::new()).unwrap();
    let report = crate::harness::validated(&endpoint.url(), |_| {});
    let serious = report.findings().into_iter().any(is_serious);
    assert!(!serious, "{}", to_text(&report));
}
