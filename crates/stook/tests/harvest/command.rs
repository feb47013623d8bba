//! `stook harvest` as it is typed: what stays, what does not, and what it says.

use std::path::Path;
use std::process::{Command, Output};

use misbehave::{Endpoint, Fault, Script, When, World};
use stook_oai::Verb;
use stook_store::{Clock, Store};
use tempfile::TempDir;

use crate::support::{Bench, NOW, difference, held};

fn stook(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stook"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap()
}

fn ends(code: i32, folder: &Path, arguments: &[&str]) -> String {
    let output = stook(folder, arguments);
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    text
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn endpoint(records: u64, script: Script) -> Endpoint {
    Endpoint::start(World::of(records).at(NOW), script.page_size(7)).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let store = Store::open(&folder.join("stook.db"), Clock::system()).unwrap();
    let sources = store.noted("source").unwrap();
    sources.into_iter().map(|(name, _)| name).collect()
}

#[test]
fn what_is_chosen_for_one_harvest_is_not_chosen_for_the_next() {
    let (folder, endpoint) = (folder(), endpoint(30, Script::new()));
    let folder = folder.path();
    ends(0, folder, &["harvest", &endpoint.url(), "--set", "maps"]);
    ends(0, folder, &["harvest", &endpoint.url()]);
    let store = Store::open(&folder.join("stook.db"), Clock::system()).unwrap();
    let expected = endpoint.world().expected("oai_dc");
    assert_eq!(difference(&held(&store, &names(folder)[0]), &expected), "");
}

#[test]
fn an_address_where_nobody_answers_is_not_kept() {
    let (folder, endpoint) = (
        folder(),
        endpoint(3, Script::new().fault(Fault::HtmlLogin, When::always())),
    );
    let folder = folder.path();
    let text = ends(1, folder, &["harvest", &endpoint.url()]);
    assert!(text.contains("?verb=Identify"), "{text}");
    assert_eq!(names(folder), Vec::<String>::new());
    let wrong = format!("{}?verb=Identify", endpoint.url());
    let text = ends(2, folder, &["harvest", &wrong]);
    assert!(text.contains(&format!("Try: {}", endpoint.url())), "{text}");
    let text = ends(2, folder, &["harvest", "example.org/oai"]);
    assert!(text.contains("https://example.org/oai"), "{text}");
}

#[test]
fn a_set_that_never_was_is_a_mistake() {
    let (folder, endpoint) = (folder(), endpoint(30, Script::new()));
    let text = ends(1, folder.path(), &["harvest", &endpoint.url(), "--set", "nosuch"]);
    assert!(text.contains("no set nosuch") && text.contains("maps"), "{text}");
}

#[test]
fn dates_the_wrong_way_round_are_a_mistake() {
    let folder = folder();
    let arguments = [
        "harvest",
        "http://127.0.0.1:9/oai",
        "--from",
        "2024-05-01",
        "--until",
        "2024-01-01",
    ];
    assert!(ends(2, folder.path(), &arguments).contains("later than --until"));
}

#[test]
fn a_file_holds_each_record_once_however_often_it_came() {
    for fault in [Fault::Duplicates, Fault::ShortList] {
        let (folder, endpoint) = (folder(), endpoint(40, Script::new().fault(fault, When::always())));
        ends(0, folder.path(), &["harvest", &endpoint.url(), "-o", "records.jsonl"]);
        let text = std::fs::read_to_string(folder.path().join("records.jsonl")).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 40, "{fault:?}");
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), 40, "{fault:?}");
    }
}

#[test]
fn a_file_is_replaced_only_by_a_complete_one() {
    let lists = When::always().on(Verb::ListRecords).page(3);
    let (folder, endpoint) = (folder(), endpoint(40, Script::new().fault(Fault::HtmlLogin, lists)));
    let file = folder.path().join("records.xml");
    std::fs::write(&file, "precious").unwrap();
    let text = ends(1, folder.path(), &["harvest", &endpoint.url(), "-o", "records.xml"]);
    assert!(text.contains("records.xml.partial"), "{text}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    let partial = std::fs::read_to_string(folder.path().join("records.xml.partial")).unwrap();
    assert!(
        partial.ends_with("</OAI-PMH>\n") || partial.ends_with("</OAI-PMH>"),
        "{partial}"
    );
    endpoint.set_script(Script::new().page_size(7));
    ends(0, folder.path(), &["harvest", &endpoint.url(), "-o", "records.xml"]);
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("<?xml"));
}

#[test]
fn what_was_harvested_without_a_configuration_is_looked_at_without_one() {
    let (folder, endpoint) = (folder(), endpoint(30, Script::new()));
    let folder = folder.path();
    assert!(ends(2, folder, &["status"]).contains("stook init"));
    ends(0, folder, &["harvest", &endpoint.url()]);
    let name = names(folder)[0].clone();
    assert!(ends(0, folder, &["status"]).contains("30"));
    assert!(ends(0, folder, &["status", "-r", &name]).contains("oai_dc"));
    assert!(ends(0, folder, &["check"]).contains("sound"));
    assert!(ends(2, folder, &["quarantine"]).contains(&name));
}

#[test]
fn verifying_a_set_touches_nothing_outside_it() {
    let mut bench = Bench::new(World::of(40).at(NOW), Script::new().page_size(7));
    bench.harvest();
    let before = bench.held();
    bench.settings.sets = vec!["maps".into()];
    let report = bench.verify();
    assert!(report.complete, "{report}");
    assert_eq!(difference(&bench.held(), &before), "", "{report}");
    assert_eq!(report.found("deleted-unannounced"), 0, "{report}");
}

#[test]
fn what_is_in_quarantine_is_missing_until_it_can_be_had() {
    let script = || Script::new().page_size(7);
    let bench = Bench::new(
        World::of(40).at(NOW),
        script().fault(Fault::PoisonRecord, When::always()),
    );
    let first = bench.harvest();
    assert!(first.in_quarantine > 0 && !first.is_exact(), "{first}");
    let second = bench.harvest();
    assert!(!second.is_exact(), "{second}");
    assert_eq!(second.in_quarantine, first.in_quarantine, "{second}");
    bench.endpoint.set_script(script());
    let third = bench.harvest();
    assert!(third.is_exact(), "{third}");
    assert_eq!(difference(&bench.held(), &bench.expected()), "", "{third}");
}
