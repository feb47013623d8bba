//! Folders by whichever path, folders that move, and folders that are let go.

use std::os::unix::fs::symlink;

use super::*;

fn once<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&ONCE[..3], more].concat()
}

#[test]
fn a_folder_is_one_whichever_way_leads_to_it() {
    let repository = watched();
    put(&repository, "a.jsonl", 90, many(0..5, 1));
    repository.fine(&ONCE);
    symlink("inbox", repository.path("other")).unwrap();
    for way in ["other", "./inbox/../inbox", "inbox/."] {
        let printed = repository.fine(&once(&[way]));
        assert_eq!(printed.trim(), "0 files read", "{way}");
    }
    let both = repository.fine(&once(&["other", "inbox"]));
    assert_eq!(both.trim(), "0 files read");
    fs::remove_file(repository.path("inbox/a.jsonl")).unwrap();
    assert!(repository.fine(&ONCE).contains("1 file gone: 5 deleted"));
}

#[test]
fn a_link_to_a_drive_that_is_unplugged_leads_to_what_is_known() {
    let repository = watched();
    fs::rename(repository.path("inbox"), repository.path("drive")).unwrap();
    symlink("drive", repository.path("inbox")).unwrap();
    put(&repository, "a.jsonl", 90, many(0..5, 1));
    repository.fine(&ONCE);
    fs::rename(repository.path("drive"), repository.path("unplugged")).unwrap();
    let printed = repository.ends(1, &ONCE);
    assert!(printed.contains("check that the drive is there"), "{printed}");
    assert!(!printed.contains("not watched now"), "{printed}");
    fs::rename(repository.path("unplugged"), repository.path("drive")).unwrap();
    assert_eq!(repository.fine(&ONCE).trim(), "0 files read");
}

#[test]
fn what_a_folder_gave_that_is_not_watched_any_more_is_told_and_can_be_let_go() {
    let repository = watched();
    put(&repository, "a.jsonl", 90, many(0..100, 1));
    repository.fine(&ONCE);
    fs::rename(repository.path("inbox"), repository.path("new")).unwrap();
    let printed = repository.ends(1, &once(&["new"]));
    assert!(printed.contains("1 file read: 100 unchanged"), "{printed}");
    assert!(
        printed.contains("inbox: 100 records came from files that are not there now"),
        "{printed}"
    );
    fs::remove_file(repository.path("new/a.jsonl")).unwrap();
    let printed = repository.ends(1, &once(&["--max-deletions", "100", "new"]));
    assert!(
        printed.contains("100 records are in no watched file any more: kept"),
        "{printed}"
    );
    assert_eq!(titles(&repository).values().flatten().count(), 100);
    // As it says, but many are still many.
    let command = printed.lines().find(|line| line.contains(" --forget ")).unwrap();
    let command = command.rsplit_once("stook ").unwrap().1;
    let forget: Vec<&str> = command.split(' ').collect();
    let printed = repository.ends(1, &forget);
    assert!(
        printed.contains("100 of 100 records are in no watched file"),
        "{printed}"
    );
    assert!(
        printed.contains("stook import --watch --once --max-deletions 100 new\n"),
        "{printed}"
    );
    let printed = repository.fine(&once(&["--max-deletions", "100", "new"]));
    assert!(printed.contains("100 deleted"), "{printed}");
    assert!(repository.fine(&once(&["new"])).starts_with("0 files read\n"));
    repository.ends(2, &forget);
}

#[test]
fn what_is_let_go_stays_where_another_file_has_it() {
    let repository = watched();
    fs::create_dir(repository.path("old")).unwrap();
    let old = repository.write("old/b.csv", table(&[("1", "One"), ("2", "Two")]));
    age(&old, 90);
    put(&repository, "a.csv", 90, table(&[("1", "One")]));
    repository.fine(&once(&["old"]));
    // It is there, so somebody else may watch it.
    assert!(repository.fine(&ONCE).starts_with("1 file read"));
    let printed = repository.fine(&once(&["--forget", "old", "inbox"]));
    assert!(
        printed.contains("1 file gone: ") && printed.contains("1 deleted"),
        "{printed}"
    );
    assert_eq!(titles(&repository), expected(&[("1", "One"), ("2", "")]));
    let printed = repository.ends(2, &once(&["--forget", "inbox", "inbox"]));
    assert!(
        printed.contains("inbox is watched") && printed.contains("\nTry: "),
        "{printed}"
    );
}

#[test]
fn only_folders_are_watched() {
    let repository = watched();
    put(&repository, "a.csv", 90, table(&[("1", "One")]));
    let printed = repository.ends(2, &once(&["inbox/a.csv"]));
    assert!(
        printed.contains("inbox/a.csv is a file") && printed.contains("\nTry: the folder"),
        "{printed}"
    );
    let printed = repository.ends(2, &once(&["-"]));
    assert!(printed.contains("standard input cannot be watched"), "{printed}");
    let printed = repository.ends(2, &once(&[""]));
    assert!(printed.contains("\nTry: "), "{printed}");
}

#[test]
fn the_files_of_the_store_are_passed_over() {
    let repository = watched();
    put(&repository, "a.csv", 90, table(&[("1", "One")]));
    repository.run(&once(&["."]));
    repository.run(&once(&["."]));
    assert_eq!(titles(&repository), expected(&[("1", "One")]));
    let quarantine = repository.fine(&["quarantine"]);
    assert!(!quarantine.contains(".db"), "{quarantine}");
}
