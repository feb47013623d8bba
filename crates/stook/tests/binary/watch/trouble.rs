//! What goes wrong with watched folders: nothing is lost by it, and it is told.

use super::*;

#[test]
fn a_folder_that_is_away_loses_nothing() {
    let repository = watched();
    put(&repository, "a.csv", 90, table(&[("1", "One")]));
    repository.fine(&ONCE);
    let before = records(&repository);
    fs::rename(repository.path("inbox"), repository.path("elsewhere")).unwrap();
    let printed = repository.ends(1, &ONCE);
    assert!(printed.contains("nothing that came from there is deleted"), "{printed}");
    assert!(printed.contains("\nTry: check that the drive is there"), "{printed}");
    assert_eq!(records(&repository), before);
    fs::rename(repository.path("elsewhere"), repository.path("inbox")).unwrap();
    assert!(repository.fine(&ONCE).contains("0 files read\n"));
    assert_eq!(records(&repository), before);
}

#[test]
fn a_folder_inside_that_cannot_be_followed_loses_nothing() {
    let repository = watched();
    fs::create_dir(repository.path("drive")).unwrap();
    let path = repository.write("drive/a.csv", table(&[("1", "One")]));
    age(&path, 90);
    put(&repository, "b.csv", 90, table(&[("2", "Two")]));
    std::os::unix::fs::symlink(repository.path("drive"), repository.path("inbox/drive")).unwrap();
    repository.fine(&ONCE);
    fs::rename(repository.path("drive"), repository.path("unplugged")).unwrap();
    fs::remove_file(repository.path("inbox/b.csv")).unwrap();
    let printed = repository.ends(1, &ONCE);
    assert!(printed.contains("inbox/drive: cannot be read"), "{printed}");
    assert_eq!(titles(&repository), expected(&[("1", "One"), ("2", "")]));
    // The link itself is gone: so are the files.
    fs::remove_file(repository.path("inbox/drive")).unwrap();
    repository.fine(&ONCE);
    assert_eq!(titles(&repository), expected(&[("1", ""), ("2", "")]));
}

#[test]
fn many_records_are_not_deleted_without_being_told() {
    let repository = watched();
    put(&repository, "a.jsonl", 90, many(0..50, 1));
    put(&repository, "b.jsonl", 90, many(50..100, 1));
    repository.fine(&ONCE);
    put(&repository, "a.jsonl", 80, many(0..20, 2));
    let printed = repository.ends(1, &ONCE);
    assert!(
        printed.contains("30 of 100 records are in no watched file any more, 30%"),
        "{printed}"
    );
    assert!(
        printed.contains("\nTry: ") && printed.contains("--max-deletions 30"),
        "{printed}"
    );
    // What is new and changed is published all the same.
    assert!(printed.contains("20 changed"), "{printed}");
    assert!(titles(&repository).values().all(Option::is_some));
    assert!(repository.ends(1, &ONCE).contains("30 of 100 records"));
    let told = [&ONCE[..], &["--max-deletions", "30"]].concat();
    let printed = repository.fine(&told);
    assert!(printed.contains("0 files read: 30 deleted"), "{printed}");
    assert_eq!(titles(&repository).values().flatten().count(), 70);
    assert!(repository.fine(&ONCE).contains("0 files read\n"));
}

#[test]
fn what_cannot_be_read_is_not_taken_for_gone() {
    let repository = watched();
    let line = |id: &str, more: &str| format!("{{\"identifier\":\"{id}\"{more}}}\n");
    let fine = |id: &str| line(id, r#","title":"T""#);
    put(
        &repository,
        "a.jsonl",
        90,
        fine("1") + &fine("2") + &fine("3") + &fine("4"),
    );
    repository.fine(&ONCE);
    // A record of which the identifier is known stays; the others can be judged.
    put(
        &repository,
        "a.jsonl",
        80,
        fine("1") + &line("2", r#","title":"T","sets":["a::b"]"#) + &fine("3"),
    );
    let printed = repository.ends(1, &ONCE);
    assert!(printed.contains("2 unchanged, 1 deleted, 1 quarantined"), "{printed}");
    assert_eq!(
        titles(&repository),
        expected(&[("1", "T"), ("2", "T"), ("3", "T"), ("4", "")])
    );
    // A line could be any record, so nothing is gone.
    put(&repository, "a.jsonl", 70, fine("1") + "{ what is this\n");
    let printed = repository.ends(1, &ONCE);
    assert!(
        printed.contains("2 records that it had before are kept\nTry: "),
        "{printed}"
    );
    assert_eq!(titles(&repository).values().flatten().count(), 3);
    // Cut to nothing.
    put(&repository, "a.jsonl", 60, "");
    fs::rename(repository.path("inbox/a.jsonl"), repository.path("inbox/a.csv")).unwrap();
    put(&repository, "a.csv", 60, "");
    repository.ends(1, &ONCE);
    // The file is another one now: what the other gave is gone with it, of what it held itself nothing is known.
    assert_eq!(titles(&repository).values().flatten().count(), 0);
    put(&repository, "a.csv", 50, table(&[("1", "T"), ("2", "T")]));
    repository.fine(&ONCE);
    put(&repository, "a.csv", 40, "");
    let printed = repository.ends(1, &ONCE);
    assert!(printed.contains("2 records that it had before are kept"), "{printed}");
    assert_eq!(titles(&repository).values().flatten().count(), 2);
    // Its quarantine goes with it.
    fs::remove_file(repository.path("inbox/a.csv")).unwrap();
    repository.fine(&ONCE);
    assert!(!repository.fine(&["quarantine"]).contains("inbox/"));
    assert_eq!(titles(&repository).values().flatten().count(), 0);
}

#[test]
fn a_file_that_may_not_be_read_is_told_and_read_later() {
    use std::os::unix::fs::PermissionsExt;
    let repository = watched();
    let path = put(&repository, "a.csv", 90, table(&[("1", "One")]));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever may read everything can still be kept from a link to nowhere.
    if fs::File::open(&path).is_ok() {
        let target = repository.path("away.csv");
        fs::rename(&path, &target).unwrap();
        std::os::unix::fs::symlink(repository.path("nowhere.csv"), &path).unwrap();
        assert!(repository.ends(1, &ONCE).contains("a.csv: cannot be read"));
        fs::rename(&target, repository.path("nowhere.csv")).unwrap();
    } else {
        assert!(repository.ends(1, &ONCE).contains("a.csv: cannot be opened"));
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(repository.fine(&ONCE).contains("1 file read: 1 new"));
}

#[test]
fn mistakes_of_the_command_line_are_told() {
    let repository = watched();
    let printed = repository.ends(2, &["import", "--watch", "--once", "nowhere"]);
    assert!(
        printed.contains("there is no folder nowhere") && printed.contains("\nTry: mkdir"),
        "{printed}"
    );
    for wrong in [
        &["import", "--once", "inbox"][..],
        &["import", "--watch", "--sync", "inbox"],
        &["import", "--watch", "--preview", "2", "inbox"],
        &["import", "--max-deletions", "5", "inbox"],
        &["import", "--watch", "--watch-seconds", "0", "inbox"],
        &["import", "--watch"],
    ] {
        repository.ends(2, wrong);
    }
}

#[test]
fn a_folder_inside_that_was_removed_takes_its_files_with_it() {
    let repository = watched();
    fs::create_dir(repository.path("inbox/few")).unwrap();
    fs::create_dir(repository.path("inbox/many")).unwrap();
    put(&repository, "few/a.jsonl", 90, many(0..8, 1));
    put(&repository, "many/b.jsonl", 90, many(100..150, 1));
    repository.fine(&ONCE);
    fs::remove_dir_all(repository.path("inbox/few")).unwrap();
    assert!(repository.fine(&ONCE).contains("1 file gone: 8 deleted"));
    // If it was the drive and not a person, the number gives it away.
    fs::remove_dir_all(repository.path("inbox/many")).unwrap();
    let printed = repository.ends(1, &ONCE);
    assert!(printed.contains("50 of 50 records"), "{printed}");
    assert_eq!(titles(&repository).values().flatten().count(), 50);
}
