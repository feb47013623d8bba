//! Folders that are watched: `stook import --watch`, and `stook serve` with `watch`.

mod folders;
mod running;
mod trouble;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Repository, place};

/// Datestamps have seconds: what is published after this has a later one.
const NEXT_SECOND: Duration = Duration::from_millis(1_100);

/// What `once` is about: one look, by somebody who knows only what the store remembers.
const ONCE: [&str; 4] = ["import", "--watch", "--once", "inbox"];

/// A repository with an inbox.
fn watched() -> Repository {
    let repository = Repository::new();
    fs::create_dir(repository.path("inbox")).unwrap();
    repository
}

/// Makes a file look as if it had been written so many seconds ago.
fn age(path: &Path, seconds: u64) {
    let at = SystemTime::now() - Duration::from_secs(seconds);
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_modified(at).unwrap();
}

/// A file in the inbox that nobody has touched for a while.
fn put(repository: &Repository, name: &str, seconds_ago: u64, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = repository.write(&format!("inbox/{name}"), bytes);
    age(&path, seconds_ago);
    path
}

fn table(rows: &[(&str, &str)]) -> String {
    rows.iter().fold("id,title\n".to_owned(), |mut table, (id, title)| {
        let _ = writeln!(table, "{id},{title}");
        table
    })
}

fn many(numbers: impl Iterator<Item = usize>, version: usize) -> String {
    numbers.fold(String::new(), |mut lines, n| {
        let _ = writeln!(
            lines,
            r#"{{"identifier":"r-{n}","title":"Record {n}, version {version}"}}"#
        );
        lines
    })
}

/// The title and the datestamp of each record by its local identifier; deleted ones have no title.
fn records(repository: &Repository) -> BTreeMap<String, (Option<String>, String)> {
    let exported = repository.fine(&["export"]);
    let lines = exported
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines
        .map(|record| {
            let id = record["identifier"]
                .as_str()
                .unwrap()
                .rsplit(':')
                .next()
                .unwrap()
                .to_owned();
            let title = record["metadata"]["oai_dc"].as_str().map(|xml| {
                let inside = xml.split_once("<dc:title>").unwrap().1;
                inside.split_once('<').unwrap().0.to_owned()
            });
            (id, (title, record["datestamp"].as_str().unwrap().to_owned()))
        })
        .collect()
}

/// The titles alone.
fn titles(repository: &Repository) -> BTreeMap<String, Option<String>> {
    let records = records(repository).into_iter();
    records.map(|(id, (title, _))| (id, title)).collect()
}

/// What `titles` says of these records; "" is a deleted one.
fn expected(records: &[(&str, &str)]) -> BTreeMap<String, Option<String>> {
    let records = records.iter();
    records
        .map(|(id, title)| ((*id).to_owned(), (!title.is_empty()).then(|| (*title).to_owned())))
        .collect()
}

#[test]
fn all_of_this_holds_on_a_server_too() {
    place::once_more_on_a_server(&[
        "watch::files_",
        "watch::a_record_",
        "watch::running::killed_",
        "watch::running::two_",
    ]);
}

#[test]
fn files_that_come_change_and_go_become_records_changes_and_deletions() {
    let repository = watched();
    put(
        &repository,
        "a.csv",
        90,
        table(&[("1", "One"), ("2", "Two"), ("3", "Three")]),
    );
    put(&repository, "b.csv", 90, table(&[("4", "Four")]));
    let printed = repository.fine(&ONCE);
    assert!(printed.contains("2 files read: 4 new"), "{printed}");
    // Whoever comes later reads nothing again.
    assert!(repository.fine(&ONCE).contains("0 files read\n"));
    let before = records(&repository);
    sleep(NEXT_SECOND);
    put(
        &repository,
        "a.csv",
        80,
        table(&[("1", "One"), ("2", "Zwei"), ("5", "Five")]),
    );
    let printed = repository.fine(&ONCE);
    assert!(
        printed.contains("1 file read: 1 new, 1 changed, 1 unchanged, 1 deleted"),
        "{printed}"
    );
    let after = records(&repository);
    assert_eq!((&before["1"], &before["4"]), (&after["1"], &after["4"]));
    assert!(before["2"].1 < after["2"].1 && before["3"].1 < after["3"].1);
    fs::remove_file(repository.path("inbox/b.csv")).unwrap();
    let printed = repository.fine(&ONCE);
    assert!(printed.contains("0 files read, 1 file gone: 1 deleted"), "{printed}");
    let all = [("1", "One"), ("2", "Zwei"), ("3", ""), ("4", ""), ("5", "Five")];
    assert_eq!(titles(&repository), expected(&all));
    // And it may come back.
    put(&repository, "b.csv", 70, table(&[("4", "Four")]));
    assert!(repository.fine(&ONCE).contains("1 file read: 1 "));
    assert_eq!(titles(&repository)["4"], Some("Four".to_owned()));
}

#[test]
fn files_with_other_names_change_nothing() {
    let repository = watched();
    put(&repository, "a.csv", 90, table(&[("1", "One"), ("2", "Two")]));
    put(&repository, "b.csv", 90, table(&[("3", "Three")]));
    repository.fine(&ONCE);
    let before = records(&repository);
    sleep(NEXT_SECOND);
    fs::create_dir(repository.path("inbox/old")).unwrap();
    fs::rename(repository.path("inbox/a.csv"), repository.path("inbox/old/z.csv")).unwrap();
    // Copied, so that it is new; and cut in two.
    fs::remove_file(repository.path("inbox/b.csv")).unwrap();
    repository.write("inbox/c.csv", table(&[("3", "Three")]));
    let printed = repository.fine(&ONCE);
    assert!(
        printed.contains("2 files gone: ") && printed.contains(" unchanged\n"),
        "{printed}"
    );
    assert!(!printed.contains("new") && !printed.contains(" changed"), "{printed}");
    assert_eq!(records(&repository), before);
}

#[test]
fn a_record_in_two_files_is_deleted_with_the_last_of_them() {
    let repository = watched();
    put(&repository, "a.csv", 90, table(&[("1", "One"), ("2", "Two")]));
    put(&repository, "b.csv", 90, table(&[("2", "Deux"), ("3", "Three")]));
    // They differ, and the first counts.
    let printed = repository.ends(1, &ONCE);
    assert!(printed.contains("1 quarantined"), "{printed}");
    assert_eq!(titles(&repository)["2"], Some("Two".to_owned()));
    fs::remove_file(repository.path("inbox/a.csv")).unwrap();
    repository.fine(&ONCE);
    assert_eq!(
        titles(&repository),
        expected(&[("1", ""), ("2", "Deux"), ("3", "Three")])
    );
    put(&repository, "b.csv", 80, table(&[("3", "Three")]));
    repository.fine(&ONCE);
    assert_eq!(titles(&repository), expected(&[("1", ""), ("2", ""), ("3", "Three")]));
}

#[test]
fn a_record_in_two_files_stays_as_the_first_has_it_whichever_changes() {
    let repository = watched();
    let first = put(&repository, "z1.csv", 90, table(&[("1", "First"), ("2", "Two")]));
    repository.fine(&ONCE);
    let before = records(&repository);
    sleep(NEXT_SECOND);
    let second = put(
        &repository,
        "a2.csv",
        90,
        table(&[("1", "Second"), ("2", "Two"), ("3", "Three")]),
    );
    let printed = repository.ends(1, &ONCE);
    assert!(printed.contains("1 file read: 1 new, 1 quarantined"), "{printed}");
    let quarantine = repository.fine(&["quarantine"]);
    assert!(
        quarantine.contains("a2.csv:2: ") && quarantine.contains("z1.csv had the same record earlier"),
        "{quarantine}"
    );
    // Touched, alone or together, they stay as they were.
    for (round, paths) in [vec![&second], vec![&first], vec![&first, &second]]
        .into_iter()
        .enumerate()
    {
        paths.iter().for_each(|path| age(path, 80 - round as u64));
        repository.run(&ONCE);
        let now = records(&repository);
        assert_eq!((&now["1"], &now["2"]), (&before["1"], &before["2"]), "{round}");
    }
    // The first may change it; and when it has it no more, the second is heard.
    put(&repository, "z1.csv", 70, table(&[("1", "Erster"), ("2", "Two")]));
    repository.fine(&ONCE);
    assert_eq!(titles(&repository)["1"], Some("Erster".to_owned()));
    put(&repository, "z1.csv", 60, table(&[("2", "Two")]));
    age(&second, 60);
    repository.fine(&ONCE);
    assert_eq!(
        titles(&repository),
        expected(&[("1", "Second"), ("2", "Two"), ("3", "Three")])
    );
}

#[test]
fn a_record_in_two_formats_may_come_from_two_files() {
    let repository = watched();
    let mods = |title: &str| {
        format!(
            "<mods xmlns=\"http://www.loc.gov/mods/v3\" version=\"3.8\"><titleInfo><title>{title}</title></titleInfo></mods>"
        )
    };
    put(&repository, "a.csv", 90, table(&[("x", "One")]));
    repository.fine(&ONCE);
    put(&repository, "x.xml", 90, mods("Eins"));
    repository.fine(&ONCE);
    put(&repository, "x.xml", 80, mods("Zwei"));
    assert!(repository.fine(&ONCE).contains("1 changed"));
    let exported = repository.fine(&["export"]);
    assert!(
        exported.contains("Zwei") && exported.contains("<dc:title>One"),
        "{exported}"
    );
    // Another file with the same is another matter, and so is what would be made of it.
    fs::create_dir(repository.path("inbox/more")).unwrap();
    put(&repository, "more/x.xml", 70, mods("Drei"));
    repository.ends(1, &ONCE);
    assert!(!repository.fine(&["export"]).contains("Drei"));
}

#[test]
fn a_record_that_moves_from_one_file_to_another_stays() {
    let repository = watched();
    put(&repository, "a.csv", 90, table(&[("1", "One"), ("2", "Two")]));
    put(&repository, "b.csv", 90, table(&[("3", "Three")]));
    repository.fine(&ONCE);
    let before = records(&repository);
    sleep(NEXT_SECOND);
    put(&repository, "a.csv", 80, table(&[("1", "One")]));
    put(&repository, "b.csv", 80, table(&[("2", "Two"), ("3", "Three")]));
    let printed = repository.fine(&ONCE);
    assert!(printed.contains("2 files read: 3 unchanged\n"), "{printed}");
    assert_eq!(records(&repository), before);
}

#[test]
fn archives_are_watched_as_what_they_hold() {
    let repository = watched();
    let gzip = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let tar = |members: &[(&str, String)]| {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, text) in members {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, name, text.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    };
    put(&repository, "a.csv.gz", 90, gzip(&table(&[("1", "One"), ("2", "Two")])));
    let members = [
        ("x/b.csv", table(&[("3", "Three"), ("4", "Four")])),
        ("x/c.csv", table(&[("5", "Five")])),
    ];
    put(&repository, "x.tar", 90, tar(&members));
    assert!(repository.fine(&ONCE).contains("2 files read: 5 new"));
    put(&repository, "a.csv.gz", 80, gzip(&table(&[("2", "Two")])));
    put(
        &repository,
        "x.tar",
        80,
        tar(&[("x/b.csv", table(&[("3", "Three"), ("5", "Five")]))]),
    );
    assert!(repository.fine(&ONCE).contains("2 files read: 3 unchanged, 2 deleted"));
    let all = [("1", ""), ("2", "Two"), ("3", "Three"), ("4", ""), ("5", "Five")];
    assert_eq!(titles(&repository), expected(&all));
}

#[test]
fn options_of_the_import_hold_for_watched_files_too() {
    let repository = watched();
    put(&repository, "a.csv", 90, "id;Titel\n1;Eins\n");
    // A file that cannot be read as it is holds up no other.
    put(&repository, "b.csv", 90, table(&[("2", "Two")]));
    let printed = repository.ends(1, &ONCE);
    assert!(
        printed.contains("unknown columns: Titel") && printed.contains("\nTry: --map"),
        "{printed}"
    );
    assert!(printed.contains("1 file read: 1 new"), "{printed}");
    // It stays to be seen, with a command that whoever sees it can type.
    let quarantine = repository.fine(&["quarantine"]);
    assert!(
        quarantine.contains("a.csv: unknown columns: Titel. Try: stook import --watch --once --map Titel=title inbox"),
        "{quarantine}"
    );
    assert_eq!(quarantine.lines().count(), 1, "{quarantine}");
    // It is told again by whoever comes, until somebody says what the columns are.
    assert!(repository.ends(1, &ONCE).contains("unknown columns"));
    let mapped = [&ONCE[..], &["--map", "Titel=title"]].concat();
    assert!(repository.fine(&mapped).contains("1 file read: 1 new"));
    assert!(repository.fine(&["quarantine"]).contains("Nothing is quarantined"));
    assert_eq!(titles(&repository), expected(&[("1", "Eins"), ("2", "Two")]));
}

#[test]
fn a_file_that_was_not_read_well_is_read_again_with_other_options() {
    let repository = watched();
    put(&repository, "latin.csv", 90, b"id,title\nl1,Stra\xdfe\nl2,ok\n");
    put(&repository, "note.txt", 90, "Please leave this alone");
    put(&repository, "b.csv", 90, table(&[("2", "Two")]));
    repository.ends(1, &ONCE);
    // With the same it would be the same.
    assert_eq!(repository.fine(&ONCE).trim(), "0 files read");
    let latin = [&ONCE[..], &["--encoding", "windows-1252"]].concat();
    let printed = repository.ends(1, &latin);
    assert!(
        printed.contains("2 files read: 1 new, 1 unchanged, 1 quarantined"),
        "{printed}"
    );
    assert_eq!(
        titles(&repository),
        expected(&[("2", "Two"), ("l1", "Straße"), ("l2", "ok")])
    );
    assert!(!repository.fine(&["quarantine"]).contains("latin.csv"));
    // Nor does somebody without options undo what was done with some.
    for _ in 0..2 {
        assert_eq!(repository.fine(&ONCE).trim(), "0 files read");
        assert_eq!(repository.fine(&latin).trim(), "0 files read");
    }
}

#[test]
fn records_in_other_formats_go_with_theirs() {
    let repository = watched();
    let mods = |title: &str| {
        format!(
            "<mods xmlns=\"http://www.loc.gov/mods/v3\" version=\"3.8\"><titleInfo><title>{title}</title></titleInfo></mods>"
        )
    };
    put(&repository, "m-1.xml", 90, mods("One"));
    put(&repository, "m-2.xml", 90, mods("Two"));
    repository.fine(&ONCE);
    fs::remove_file(repository.path("inbox/m-1.xml")).unwrap();
    assert!(repository.fine(&ONCE).contains("1 file gone: 1 deleted"));
    // A line for each format.
    let content = repository.content();
    let of = |id: &str| {
        let lines = content
            .iter()
            .filter(|line| line["identifier"] == format!("oai:example.org:{id}").as_str());
        lines.map(|line| line["deleted"] == true).collect::<Vec<_>>()
    };
    assert_eq!(
        (of("m-1"), of("m-2")),
        (vec![true, true], vec![false, false]),
        "{content:?}"
    );
}
