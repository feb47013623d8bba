use std::fs;
use std::path::Path;
use std::time::SystemTime;

use stook_oai::OaiNamespace;
use stook_store::Clock;

use super::memory::{Chunks, GAVE, ORPHAN, WITHHELD, gave, note};
use super::*;

struct Bench {
    folder: tempfile::TempDir,
    store: Store,
    repository: RepositoryId,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inbox")).unwrap();
        let store = Store::create(&folder.path().join("records.db"), Clock::system()).unwrap();
        let repository = store.declare_repository("maps").unwrap();
        Bench {
            folder,
            store,
            repository,
        }
    }

    fn inbox(&self, name: &str) -> PathBuf {
        self.folder.path().join("inbox").join(name)
    }

    /// A file that was written so many seconds ago.
    fn write(&self, name: &str, seconds_ago: u64, ids: impl Iterator<Item = u32>) -> PathBuf {
        let lines: String = ids
            .map(|id| format!("{{\"identifier\":\"r-{id}\",\"title\":\"T\"}}\n"))
            .collect();
        let path = self.inbox(name);
        fs::write(&path, lines).unwrap();
        let at = SystemTime::now() - Duration::from_secs(seconds_ago);
        fs::File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(at)
            .unwrap();
        path
    }

    fn watcher(&self, max_deletions: u8) -> Watcher {
        let options = Options::new(OaiNamespace::parse("example.org").unwrap());
        let watch = Watch {
            folders: vec![self.folder.path().join("inbox")],
            max_deletions,
            ..Watch::default()
        };
        Watcher::new(&self.store, self.repository, watch, options).unwrap()
    }

    /// One look, by somebody who knows only what the store remembers.
    fn once(&self, max_deletions: u8) -> (Round, Vec<String>) {
        let mut told = Vec::new();
        let mut watcher = self.watcher(max_deletions);
        let round = watcher
            .once(&AtomicBool::new(false), &mut |it| told.push(text(it)))
            .unwrap();
        (round, told)
    }

    /// The live records.
    fn live(&self) -> Vec<u32> {
        let mut snapshot = self.store.read().unwrap();
        let oai_dc = stook_oai::MetadataPrefix::oai_dc();
        let Some(list) = snapshot.list(self.repository, &oai_dc, None).unwrap() else {
            return vec![];
        };
        let mut live = Vec::new();
        let visit = |record: &mut stook_store::StoredRecord<'_>| {
            if !record.deleted {
                live.push(record.identifier.rsplit('-').next().unwrap().parse().unwrap());
            }
            Ok(std::ops::ControlFlow::Continue(()))
        };
        snapshot.page(list, stook_store::Span::ALL, usize::MAX, visit).unwrap();
        live.sort_unstable();
        live
    }

    fn notes(&self, prefix: &str) -> Vec<(String, String)> {
        self.store.notes(self.repository, prefix).unwrap()
    }
}

fn text(told: Told) -> String {
    match told {
        Told::News(text) | Told::Trouble(text) => text,
        Told::Failed(failure) => format!("{failure:#}"),
    }
}

#[test]
fn what_a_file_gave_is_noted_in_chunks_and_in_one_generation() {
    let bench = Bench::new();
    bench.write("a.jsonl", 50, 0..100);
    bench.once(10);
    bench.write("a.jsonl", 40, 1..100);
    let (round, _) = bench.once(10);
    assert_eq!((round.unchanged, round.withdrawn), (99, 1));
    assert_eq!(bench.live(), (1..100).collect::<Vec<_>>());
    let notes = bench.notes(GAVE);
    assert!(notes.len() > 5, "{}", notes.len());
    assert!(
        notes
            .iter()
            .all(|(key, text)| key.contains("/0000000002/") && text.len() < 300)
    );
    let noted: usize = notes.iter().map(|(_, text)| text.lines().count()).sum();
    assert_eq!(noted, 99);
    assert!(bench.notes(ORPHAN).is_empty() && bench.notes("watch/lease").is_empty());
}

#[test]
fn what_a_reading_that_was_broken_off_may_have_published_goes_with_the_file() {
    let bench = Bench::new();
    let path = bench.write("a.jsonl", 50, 0..3);
    bench.once(10);
    // Another reading begins, publishes something and dies.
    bench.write("b.jsonl", 50, 7..8);
    bench.once(10);
    let mut memory = Memory::load(&bench.store, bench.repository).unwrap();
    memory.begin(&[&path]).unwrap();
    let mut chunks = Chunks::new(format!("{}0000000002/", gave(memory.files[&path].number)));
    assert!(chunks.push("oai:example.org:r-7").is_none());
    let noted: Vec<_> = chunks.take().into_iter().collect();
    bench.store.write_notes(bench.repository, &noted).unwrap();
    memory.forget(&[bench.inbox("b.jsonl")]).unwrap();
    fs::remove_file(bench.inbox("b.jsonl")).unwrap();
    bench.store.write_notes(bench.repository, &[]).unwrap();
    assert_eq!(bench.live(), [0, 1, 2, 7]);
    fs::remove_file(&path).unwrap();
    let (round, _) = bench.once(10);
    assert_eq!(round.withdrawn, 4);
    assert!(bench.live().is_empty());
    assert!(bench.notes("watch/gave").is_empty() && bench.notes("watch/file").is_empty());
}

#[test]
fn a_reading_that_was_broken_off_is_done_again_even_if_the_file_is_what_it_was() {
    let bench = Bench::new();
    let path = bench.write("a.jsonl", 50, 0..3);
    bench.once(10);
    let mut memory = Memory::load(&bench.store, bench.repository).unwrap();
    memory.begin(&[&path]).unwrap();
    let (round, _) = bench.once(10);
    assert_eq!((round.read, round.unchanged), (1, 3));
}

#[test]
fn many_are_withheld_and_a_few_more_are_deleted_all_the_same() {
    let bench = Bench::new();
    bench.write("a.jsonl", 50, 0..60);
    bench.write("b.jsonl", 50, 100..200);
    bench.once(10);
    fs::remove_file(bench.inbox("a.jsonl")).unwrap();
    let (round, told) = bench.once(10);
    assert!(round.has_trouble && round.withdrawn == 0);
    assert!(
        told[0].contains("60 of 160 records") && told[0].contains("--max-deletions 38"),
        "{told:?}"
    );
    assert_eq!(bench.live().len(), 160);
    // Some more, which are few; and some of those withheld are in a file again.
    bench.write("b.jsonl", 40, 105..200);
    bench.write("c.jsonl", 40, 0..30);
    let (round, told) = bench.once(10);
    assert_eq!(round.withdrawn, 5, "{told:?}");
    assert!(told[0].contains("30 of "), "{told:?}");
    assert_eq!(bench.live().len(), 155);
    let (round, _) = bench.once(100);
    assert_eq!((round.read, round.withdrawn), (0, 30));
    assert_eq!(bench.live().len(), 125);
    assert!(bench.notes(WITHHELD).is_empty());
}

#[test]
fn somebody_else_at_work_is_waited_for() {
    let bench = Bench::new();
    bench.write("a.jsonl", 50, 0..3);
    let mut watcher = bench.watcher(10);
    let lease = Lease::take_named(&bench.store, bench.repository, LEASE, LASTS);
    let lease = lease.unwrap().unwrap_or_else(|_| panic!("nobody has it"));
    let mut told = Vec::new();
    watcher.walker.looking = Looking::Once;
    for _ in 0..2 {
        let round = watcher
            .round(&AtomicBool::new(false), &mut |it| told.push(text(it)))
            .unwrap();
        assert!(round.is_left && round.is_quiet());
    }
    assert_eq!(told.len(), 1, "{told:?}");
    drop(lease);
    assert_eq!(bench.once(10).0.new, 3);
    // What the other did is noticed.
    let round = watcher.round(&AtomicBool::new(false), &mut |_| ()).unwrap();
    assert_eq!(round.read, 0);
}

#[test]
fn a_file_has_to_be_the_same_twice_and_missing_twice() {
    let bench = Bench::new();
    let mut watcher = bench.watcher(100);
    let mut round = || watcher.round(&AtomicBool::new(false), &mut |_| ()).unwrap();
    bench.write("a.jsonl", 50, 0..3);
    assert_eq!((round().read, round().read, round().read), (0, 1, 0));
    // It changes between two looks.
    bench.write("a.jsonl", 40, 0..2);
    assert_eq!(round().read, 0);
    bench.write("a.jsonl", 30, 0..1);
    assert_eq!(round().read, 0);
    assert_eq!(round().read, 1);
    assert_eq!(bench.live(), [0]);
    // It is young.
    bench.write("a.jsonl", 0, 0..2);
    assert_eq!((round().read, round().read), (0, 0));
    // It has another name, which is seen a look later.
    fs::rename(bench.inbox("a.jsonl"), bench.folder.path().join("a.jsonl")).unwrap();
    assert_eq!(round().gone, 0);
    fs::rename(bench.folder.path().join("a.jsonl"), bench.inbox("b.jsonl")).unwrap();
    let at = SystemTime::now() - Duration::from_secs(9);
    fs::File::options()
        .append(true)
        .open(bench.inbox("b.jsonl"))
        .unwrap()
        .set_modified(at)
        .unwrap();
    let second = round();
    assert_eq!((second.gone, second.unsettled), (0, 1));
    let third = round();
    assert_eq!((third.gone, third.read, third.withdrawn), (1, 1, 0));
}

#[test]
fn a_note_that_makes_no_sense_is_named() {
    let bench = Bench::new();
    let broken = note("watch/file/0000000001".into(), "nonsense".into());
    bench.store.write_notes(bench.repository, &[broken]).unwrap();
    let loaded = Memory::load(&bench.store, bench.repository);
    let failure = loaded.err().map(|failure| format!("{failure:#}")).unwrap_or_default();
    assert!(failure.contains("watch/file/0000000001"), "{failure}");
}

#[test]
fn unfinished_files_are_passed_over() {
    let bench = Bench::new();
    for name in [
        ".a.jsonl",
        "a.jsonl~",
        "a.jsonl.tmp",
        "a.jsonl.part",
        "~$a.jsonl",
        "#a.jsonl#",
        "a.PARTIAL",
    ] {
        bench.write(name, 50, 0..1);
    }
    assert_eq!(bench.once(10).0.read, 0);
    bench.write("#a.jsonl", 50, 0..1);
    assert_eq!(bench.once(10).0.read, 1);
}

#[test]
fn only_what_is_under_a_folder_belongs_to_it() {
    let bench = Bench::new();
    bench.write("a.jsonl", 50, 0..1);
    bench.once(10);
    let watcher = bench.watcher(10);
    assert!(watcher.knows(&bench.folder.path().join("inbox")));
    assert!(!watcher.knows(&bench.folder.path().join("inb")));
    assert!(!watcher.knows(Path::new("/elsewhere")));
}

#[test]
fn a_file_that_is_written_for_long_is_waited_for() {
    let bench = Bench::new();
    bench.write("a.jsonl", 50, 0..5);
    bench.once(10);
    let mut watcher = bench.watcher(100);
    fs::remove_file(bench.inbox("a.jsonl")).unwrap();
    for part in 1..30 {
        bench.write("b.jsonl", 0, 100..100 + part);
        let round = watcher.round(&AtomicBool::new(false), &mut |_| ()).unwrap();
        assert_eq!((round.gone, round.read, round.unsettled), (0, 0, 1), "{part}");
    }
    // But not for ever: it may be a log.
    watcher.walker.patience = Duration::ZERO;
    bench.write("b.jsonl", 0, 100..200);
    let round = watcher.round(&AtomicBool::new(false), &mut |_| ()).unwrap();
    assert_eq!((round.gone, round.withdrawn), (1, 5));
}

#[test]
fn what_a_file_loses_is_judged_when_the_others_are_complete() {
    let bench = Bench::new();
    bench.write("a.jsonl", 50, 0..9);
    bench.once(10);
    let mut watcher = bench.watcher(100);
    let mut round = || watcher.round(&AtomicBool::new(false), &mut |_| ()).unwrap();
    round();
    // Half of it moves to a file that is being copied.
    bench.write("a.jsonl", 40, 0..5);
    round();
    bench.write("b.jsonl", 0, 5..7);
    let second = round();
    assert_eq!((second.read, second.withdrawn), (1, 0));
    bench.write("b.jsonl", 30, 5..9);
    assert_eq!(round().withdrawn, 0);
    let last = round();
    assert_eq!((last.read, last.unchanged, last.withdrawn), (1, 4, 0));
    assert_eq!(bench.live().len(), 9);
    assert!(bench.notes(ORPHAN).is_empty());
}

#[test]
fn what_was_withheld_is_judged_after_the_files_of_this_look() {
    let bench = Bench::new();
    bench.write("a.jsonl", 50, 0..30);
    bench.once(10);
    fs::remove_file(bench.inbox("a.jsonl")).unwrap();
    assert!(bench.once(10).0.has_trouble);
    bench.write("b.jsonl", 0, 0..30);
    let (round, told) = bench.once(100);
    assert_eq!((round.read, round.unchanged, round.withdrawn), (1, 30, 0), "{told:?}");
    assert!(told.is_empty() && !round.has_trouble, "{told:?}");
    assert!(bench.notes(WITHHELD).is_empty());
}

#[test]
fn the_first_file_that_has_a_record_counts_however_many_there_are() {
    let bench = Bench::new();
    bench.write("z.jsonl", 50, 0..2_000);
    bench.once(10);
    // In many loads, so that an index is made.
    let lines = |ids: std::ops::Range<u32>| -> String {
        let pad = "x".repeat(500);
        ids.map(|id| format!("{{\"identifier\":\"r-{id}\",\"title\":\"Other {pad}\"}}\n"))
            .collect()
    };
    let path = bench.inbox("a.jsonl");
    fs::write(&path, lines(1_000..3_000)).unwrap();
    let at = SystemTime::now() - Duration::from_secs(9);
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(at).unwrap();
    let (round, _) = bench.once(10);
    assert_eq!((round.new, round.changed, round.quarantined), (1_000, 0, 1_000));
    // What the first has no more, the second has.
    bench.write("z.jsonl", 40, 0..1_500);
    let (round, _) = bench.once(10);
    assert_eq!((round.withdrawn, round.changed, round.quarantined), (0, 500, 500));
}
