//! Killed at any moment, the program loses nothing it said was done, and running it again finishes the job.

use std::fmt::Write as _;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Repository, place, text};

/// Records with every fate: live, deleted, repeated, unfit.
fn input(records: usize, version: usize) -> String {
    let mut lines = String::new();
    for n in 0..records {
        let _ = match n % 50 {
            7 => writeln!(lines, r#"{{"identifier":"r-{n}","sets":["gone"],"deleted":true}}"#),
            9 => writeln!(lines, r#"{{"identifier":"r-{n}","sets":["a::b"],"title":"T"}}"#),
            _ => writeln!(
                lines,
                r#"{{"identifier":"r-{n}","sets":["kind:{}","all"],"title":"Record {n}, version {version}","description":"{}"}}"#,
                n % 5,
                "Karte mapa карта 地図 ".repeat(n % 9)
            ),
        };
    }
    lines
}

#[test]
fn all_of_this_holds_on_a_server_too() {
    place::once_more_on_a_server(&["crash::"]);
}

#[test]
fn an_import_killed_at_random_moments_ends_as_if_it_had_not_been() {
    const RECORDS: usize = 12_000;
    let reference = Repository::new();
    let first = input(RECORDS, 1);
    reference.write("records.jsonl", &first);
    let started = Instant::now();
    reference.ends(1, &["import", "records.jsonl"]);
    let whole = started.elapsed();

    let repository = Repository::new();
    repository.write("records.jsonl", &first);
    // A server has no store before the first command that writes.
    repository.fine(&["migrate"]);
    let mut killed = 0;
    for attempt in 0..12 {
        let mut child = repository
            .command(&["import", "records.jsonl"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Moments spread over the time an import takes, never the same twice.
        sleep(whole.mul_f64(f64::from((attempt * 7) % 12) / 12.0));
        child.kill().unwrap();
        killed += u32::from(!child.wait().unwrap().success());
        repository.fine(&["check"]);
    }
    assert!(killed > 0, "no attempt was really killed");
    repository.ends(1, &["import", "records.jsonl"]);
    repository.fine(&["check"]);
    assert!(repository.content() == reference.content(), "the contents differ");
    let quarantined = |it: &Repository| it.fine(&["quarantine"]).lines().count();
    assert_eq!(quarantined(&repository), quarantined(&reference));
}

#[test]
fn a_sync_killed_half_way_is_finished_by_the_next() {
    let repository = Repository::new();
    repository.write("all.csv", table(6_000));
    repository.write("few.csv", table(3_000));
    repository.fine(&["import", "all.csv"]);
    for attempt in 0..4 {
        let arguments = ["import", "--sync", "--max-deletions", "100", "few.csv"];
        let mut child = repository
            .command(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(60 * attempt));
        child.kill().unwrap();
        child.wait().unwrap();
        repository.fine(&["check"]);
    }
    repository.fine(&["import", "--sync", "--max-deletions", "100", "few.csv"]);
    let deleted = repository
        .content()
        .iter()
        .filter(|record| record["deleted"] == true)
        .count();
    assert_eq!(deleted, 3_000);
}

fn table(rows: usize) -> String {
    let mut table = String::from("id,title\n");
    for n in 0..rows {
        let _ = writeln!(table, "m-{n},Map number {n}");
    }
    table
}

#[cfg(unix)]
#[test]
fn an_interrupted_import_says_so_and_keeps_what_it_counted() {
    use std::process::Command;
    let repository = Repository::new();
    repository.write("records.jsonl", input(60_000, 1));
    let child = repository
        .command(&["import", "records.jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    sleep(Duration::from_millis(700));
    Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("Run the same command again"),
        "{}",
        text(&output.stderr)
    );
    let printed = text(&output.stdout);
    let counted: usize = printed
        .lines()
        .filter(|line| line.ends_with(" new") || line.contains("deleted, as the input says"))
        .map(|line| {
            line.split_whitespace()
                .next()
                .unwrap()
                .replace(',', "")
                .parse::<usize>()
                .unwrap()
        })
        .sum();
    assert_eq!(repository.content().len(), counted, "{printed}");
}
