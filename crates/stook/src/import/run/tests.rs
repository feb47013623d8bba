mod sets;

use std::fs;
use std::path::Path;

use stook_oai::{MetadataPrefix, SetSpec};
use stook_store::{Clock, Span};

use super::*;
use crate::import::testing::{gzip, options};

struct Bench {
    folder: tempfile::TempDir,
    store: Store,
    repository: RepositoryId,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&folder.path().join("records.db"), Clock::system()).unwrap();
        let repository = store.declare_repository("maps").unwrap();
        Self {
            folder,
            store,
            repository,
        }
    }

    fn write(&self, name: &str, text: &str) -> Input {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        Input::Path(path)
    }

    fn import(&self, inputs: &[Input]) -> Result<Summary, ImportError> {
        self.import_with(&options(), inputs, &AtomicBool::new(false), &mut |_| ())
    }

    fn import_with(
        &self,
        options: &Options,
        inputs: &[Input],
        stop: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Summary, ImportError> {
        let mut importer = self.store.importer(self.repository).unwrap();
        let options = Arc::new(options.clone());
        run(
            &self.store,
            self.repository,
            &mut importer,
            inputs,
            &options,
            stop,
            progress,
        )
    }

    fn count(&self, prefix: &str, set: Option<&str>) -> u64 {
        let snapshot = self.store.read().unwrap();
        let prefix = MetadataPrefix::parse(prefix).unwrap();
        let set = set.map(|set| SetSpec::parse(set).unwrap());
        match snapshot.list(self.repository, &prefix, set.as_ref()).unwrap() {
            Some(list) => snapshot.count(list, Span::ALL).unwrap(),
            None => 0,
        }
    }

    /// The identifiers of a list in its order, a `-` before the deleted ones.
    fn listed(&self, prefix: &str) -> Vec<String> {
        let mut snapshot = self.store.read().unwrap();
        let prefix = MetadataPrefix::parse(prefix).unwrap();
        let Some(list) = snapshot.list(self.repository, &prefix, None).unwrap() else {
            return Vec::new();
        };
        let mut listed = Vec::new();
        let visit = |record: &mut stook_store::StoredRecord<'_>| {
            listed.push(format!(
                "{}{}",
                if record.deleted { "-" } else { "" },
                record.identifier
            ));
            Ok(ControlFlow::Continue(()))
        };
        snapshot.page(list, Span::ALL, 1_000_000, visit).unwrap();
        listed
    }

    fn quarantine(&self) -> Vec<Quarantined> {
        let mut entries = Vec::new();
        self.store
            .quarantined(self.repository, |entry| entries.push(entry))
            .unwrap();
        entries
    }
}

fn lines(numbers: impl Iterator<Item = u32>) -> String {
    numbers
        .map(|n| format!("{{\"identifier\":\"{n}\",\"sets\":[\"a:b\"],\"title\":\"Title {n}\"}}\n"))
        .collect()
}

fn counts(summary: &Summary) -> [u64; 6] {
    [
        summary.new,
        summary.changed,
        summary.unchanged,
        summary.deleted,
        summary.repeated,
        summary.quarantined,
    ]
}

#[test]
fn importing_the_same_thing_twice_changes_nothing() {
    let bench = Bench::new();
    // Many loads, so that several workers are at it.
    let input = bench.write("a.jsonl", &lines(0..20_000));
    let first = bench.import(std::slice::from_ref(&input)).unwrap();
    assert_eq!(counts(&first), [20_000, 0, 0, 0, 0, 0]);
    assert_eq!(bench.count("oai_dc", Some("a")), 20_000);
    let order = bench.listed("oai_dc");
    assert!(
        order
            .iter()
            .enumerate()
            .all(|(n, id)| *id == format!("oai:example.org:{n}"))
    );
    let second = bench.import(&[input]).unwrap();
    assert_eq!(counts(&second), [0, 0, 20_000, 0, 0, 0]);
    assert_eq!(bench.listed("oai_dc"), order);
    assert_eq!(second.is_complete(), Ok(()));
    assert_eq!(second.prefixes.len(), 1);
}

#[test]
fn changes_deletions_and_repetitions_are_counted() {
    let bench = Bench::new();
    bench.import(&[bench.write("a.jsonl", &lines(0..4))]).unwrap();
    let text = concat!(
        "{\"identifier\":\"0\",\"sets\":[\"a:b\"],\"title\":\"Title 0\"}\n",
        "{\"identifier\":\"1\",\"title\":\"Other\"}\n",
        "{\"identifier\":\"2\",\"deleted\":true}\n",
        "{\"identifier\":\"9\",\"title\":\"New\"}\n",
        "{\"identifier\":\"9\",\"title\":\"New\"}\n",
        "{\"identifier\":\"9\",\"title\":\"Newer\"}\n",
    );
    let summary = bench.import(&[bench.write("b.jsonl", text)]).unwrap();
    assert_eq!(counts(&summary), [1, 1, 1, 1, 1, 1]);
    let entry = &bench.quarantine()[0];
    assert_eq!(
        (entry.line, entry.identifier.as_deref()),
        (6, Some("oai:example.org:9"))
    );
    assert!(entry.reason.contains("the first is kept"));
}

#[test]
fn rejections_go_to_the_quarantine_and_leave_it_when_the_source_is_mended() {
    let bench = Bench::new();
    let bad = bench.write(
        "a.jsonl",
        "{\"identifier\":\"1\",\"title\":\"a\"}\n{\"identifier\":\"2\"\n",
    );
    let summary = bench.import(&[bad]).unwrap();
    assert_eq!((summary.new, summary.quarantined, summary.unidentified), (1, 1, 1));
    assert_eq!(summary.is_complete(), Err(crate::import::Incomplete::Unidentified(1)));
    let entry = &bench.quarantine()[0];
    assert!(
        entry.source.ends_with("a.jsonl") && entry.line == 2 && !entry.excerpt.is_empty(),
        "{entry:?}"
    );
    bench
        .import(&[bench.write("b.jsonl", "{\"identifier\":\"3\"}\n")])
        .unwrap();
    assert_eq!(bench.quarantine().len(), 2);

    let mended = bench.write(
        "a.jsonl",
        "{\"identifier\":\"1\",\"title\":\"a\"}\n{\"identifier\":\"2\",\"title\":\"b\"}\n",
    );
    bench.import(&[mended]).unwrap();
    let left = bench.quarantine();
    assert_eq!(left.len(), 1);
    assert!(left[0].source.ends_with("b.jsonl"));
}

#[test]
fn formats_are_declared_when_their_first_record_comes() {
    let bench = Bench::new();
    let text = "{\"identifier\":\"1\",\"title\":\"a\",\"metadata\":{\"mods\":\"<mods xmlns='http://www.loc.gov/mods/v3'><note/></mods>\"}}\n";
    let input = bench.write("a.jsonl", text);
    let summary = bench.import(std::slice::from_ref(&input)).unwrap();
    assert_eq!(summary.new, 2);
    assert_eq!((bench.count("oai_dc", None), bench.count("mods", None)), (1, 1));

    // The whole item is deleted in all its formats, and only once.
    let deletion = bench.write("b.jsonl", "{\"identifier\":\"1\",\"deleted\":true}\n");
    assert_eq!(bench.import(std::slice::from_ref(&deletion)).unwrap().deleted, 2);
    assert_eq!(bench.listed("mods"), ["-oai:example.org:1"]);
    assert_eq!(counts(&bench.import(&[deletion]).unwrap()), [0, 0, 2, 0, 0, 0]);
}

#[test]
fn a_deletion_of_an_unknown_item_is_kept_as_a_deletion() {
    let bench = Bench::new();
    let input = bench.write("a.jsonl", "{\"identifier\":\"1\",\"sets\":[\"a\"],\"deleted\":true}\n");
    bench.import(std::slice::from_ref(&input)).unwrap();
    assert_eq!(bench.listed("oai_dc"), ["-oai:example.org:1"]);
    let again = bench.import(&[input]).unwrap();
    assert_eq!(again.unchanged, 1);
}

#[test]
fn a_refusal_comes_before_anything_is_imported() {
    let bench = Bench::new();
    let good = bench.write("a.jsonl", &lines(0..3));
    let bad = bench.write("b.csv", "id,Titel\n1,a\n");
    let error = bench.import(&[good, bad]).unwrap_err();
    assert!(
        matches!(error, ImportError::Refused(Refusal::UnknownNames { .. })),
        "{error}"
    );
    assert_eq!(bench.count("oai_dc", None), 0);
}

#[test]
fn a_stop_commits_what_is_in_hand_and_running_again_finishes() {
    let bench = Bench::new();
    let input = bench.write("a.jsonl", &lines(0..20_000));
    let stop = AtomicBool::new(false);
    let mut progress = |progress: Progress| {
        if progress.records > 0 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let stopped = bench
        .import_with(&options(), std::slice::from_ref(&input), &stop, &mut progress)
        .unwrap();
    assert!(
        stopped.stopped && stopped.new > 0 && stopped.new < 20_000,
        "{stopped:?}"
    );
    assert_eq!(stopped.is_complete(), Err(crate::import::Incomplete::Stopped));
    assert_eq!(bench.count("oai_dc", None), stopped.new);
    let rest = bench.import(&[input]).unwrap();
    assert_eq!(rest.new + stopped.new, 20_000);
    assert_eq!(rest.unchanged, stopped.new);
}

#[test]
fn progress_ends_at_the_size_of_the_input() {
    let bench = Bench::new();
    let path = bench.folder.path().join("a.jsonl.gz");
    fs::write(&path, gzip(lines(0..5_000).as_bytes())).unwrap();
    let inputs = [Input::Path(path)];
    let mut last = Progress::default();
    let summary = bench
        .import_with(&options(), &inputs, &AtomicBool::new(false), &mut |now| last = now)
        .unwrap();
    assert_eq!(
        last,
        Progress {
            bytes: open::total_bytes(&inputs).unwrap(),
            records: 5_000
        }
    );
    assert_eq!(summary.bytes, last.bytes);
}

#[test]
fn a_broken_file_does_not_stop_the_others_and_forbids_conclusions() {
    let bench = Bench::new();
    let xml = |id: &str| {
        format!(
            "<o:dc xmlns:o='http://www.openarchives.org/OAI/2.0/oai_dc/' \
             xmlns:d='http://purl.org/dc/elements/1.1/'><d:title>{id}</d:title></o:dc>"
        )
    };
    let folder = bench.folder.path().join("xml");
    fs::create_dir(&folder).unwrap();
    for id in ["a", "c"] {
        fs::write(folder.join(format!("{id}.xml")), xml(id)).unwrap();
    }
    fs::write(folder.join("README"), "Maps.\n").unwrap();
    let summary = bench.import(&[Input::Path(folder.clone())]).unwrap();
    assert_eq!((summary.new, summary.quarantined, summary.broken_sources), (2, 1, 0));
    assert_eq!(summary.is_complete(), Ok(()));
    fs::remove_file(folder.join("README")).unwrap();

    fs::write(folder.join("b.xml"), &xml("b")[..100]).unwrap();
    let summary = bench.import(&[Input::Path(folder)]).unwrap();
    assert_eq!(
        (summary.unchanged, summary.quarantined, summary.broken_sources),
        (2, 1, 1)
    );
    assert_eq!(summary.is_complete(), Err(crate::import::Incomplete::BrokenSources(1)));
}

#[test]
fn rejected_records_that_are_known_do_not_count_as_vanished() {
    let bench = Bench::new();
    bench.import(&[bench.write("a.jsonl", &lines(0..3))]).unwrap();
    let text =
        "{\"identifier\":\"0\",\"sets\":[\"a/b\"],\"title\":\"bad set\"}\n{\"identifier\":\"1\",\"title\":\"x\"}\n";
    let input = bench.write("a.jsonl", text);
    let mut importer = bench.store.importer(bench.repository).unwrap();
    let stop = AtomicBool::new(false);
    let options = Arc::new(options());
    let summary = run(
        &bench.store,
        bench.repository,
        &mut importer,
        &[input],
        &options,
        &stop,
        &mut |_| (),
    )
    .unwrap();
    assert_eq!(summary.is_complete(), Ok(()));
    let prefixes: Vec<_> = summary.prefixes.into_iter().collect();
    assert_eq!(importer.vanished(&prefixes, &[]).unwrap().records, 1);
}

#[test]
fn a_path_that_is_not_there_is_refused() {
    let bench = Bench::new();
    let error = bench
        .import(&[Input::Path(Path::new("/no/such/file.csv").to_owned())])
        .unwrap_err();
    assert!(
        error.to_string().starts_with("cannot open /no/such/file.csv"),
        "{error}"
    );
}
