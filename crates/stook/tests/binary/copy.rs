//! `stook copy`: what it says, and what becomes of one that is broken off.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use testserver::Server;

use super::{Repository, text};

fn filled(records: usize) -> Repository {
    let repository = Repository::new();
    let mut table = String::from("id,title,set\n");
    for n in 0..records {
        let _ = writeln!(table, "m-{n},Map number {n} of a town,maps:{}", n % 7);
    }
    repository.write("records.csv", table);
    repository.fine(&["import", "records.csv"]);
    repository
}

/// A configuration of the same repository with its store elsewhere.
fn configured(repository: &Repository, name: &str, store: &str) {
    let configuration = fs::read_to_string(repository.path("stook.toml")).unwrap();
    repository.write(name, configuration.replace("stook.db", store));
}

#[test]
fn a_store_moves_to_a_server_and_back_with_everything_in_it() {
    let repository = filled(300);
    repository.fine(&["delete", "m-7"]);
    let before = repository.fine(&["export"]);
    let url = Server::shared().fresh_url();
    let printed = repository.fine(&["copy", "stook.db", &url]);
    assert!(printed.contains("300 records in"), "{printed}");
    assert!(printed.contains("Now set `store` in stook.toml"), "{printed}");
    configured(&repository, "there.toml", &url);
    assert_eq!(repository.fine(&["-c", "there.toml", "export"]), before);
    repository.fine(&["-c", "there.toml", "check"]);
    repository.fine(&["-c", "there.toml", "delete", "m-8"]);
    repository.fine(&["copy", &url, "back.db"]);
    configured(&repository, "back.toml", "back.db");
    repository.fine(&["-c", "back.toml", "check"]);
    let after = repository.fine(&["-c", "back.toml", "export"]);
    assert_eq!(after, repository.fine(&["-c", "there.toml", "export"]));
    assert_eq!(after.matches("\"deleted\":true").count(), 2);
}

#[test]
fn a_store_in_use_is_not_written_over_and_passwords_are_not_shown() {
    let (repository, other) = (filled(3), filled(2));
    let there = other.path("stook.db");
    let there = there.to_str().unwrap();
    let printed = repository.ends(2, &["copy", "stook.db", there]);
    assert!(
        printed.contains("has a store with repositories already") && printed.contains("--again"),
        "{printed}"
    );
    let printed = repository.ends(2, &["copy", "--again", "stook.db", there]);
    assert!(printed.contains("is not a copy of this store"), "{printed}");
    assert_eq!(other.content().len(), 2);
    let printed = repository.ends(2, &["copy", "none.db", "to.db"]);
    assert!(printed.contains("there is no store at none.db"), "{printed}");
    let printed = repository.ends(2, &["copy", "stook.db", "nowhere/to.db"]);
    assert!(printed.contains("mkdir -p nowhere"), "{printed}");
    let url = Server::shared().fresh_url().replace("stook@", "stook:hush@");
    let printed = repository.fine(&["copy", "stook.db", &url]);
    assert!(!printed.contains("hush"), "{printed}");
    let printed = repository.ends(2, &["copy", "stook.db", &url]);
    assert!(printed.contains("--again") && !printed.contains("hush"), "{printed}");
    let printed = repository.fine(&["copy", "--again", "stook.db", &url]);
    assert!(printed.contains("3 records in"), "{printed}");
}

#[test]
fn a_copy_killed_at_random_moments_ends_as_if_it_had_not_been() {
    let repository = filled(15_000);
    let before = repository.fine(&["export"]);
    let began = Instant::now();
    repository.fine(&["copy", "stook.db", "whole.db"]);
    let whole = began.elapsed();
    for (to, configuration) in [(Server::shared().fresh_url(), "1.toml"), ("to.db".to_owned(), "2.toml")] {
        configured(&repository, configuration, &to);
        let mut unfinished = 0;
        for attempt in 0..5 {
            let mut copy = repository.command(&["copy", "stook.db", &to]);
            let mut child = copy.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // At moments spread over the time a copy takes, from when it has begun to write.
            let refused = || !repository.run(&["-c", configuration, "migrate"]).status.success();
            while !refused() && child.try_wait().unwrap().is_none() {}
            sleep(whole.mul_f64(f64::from(attempt) / 10.0));
            child.kill().unwrap();
            child.wait().unwrap();
            let opened = repository.run(&["-c", configuration, "migrate"]);
            if !opened.status.success() {
                let said = text(&opened.stderr);
                assert!(said.contains("was begun and not finished"), "{said}");
                assert!(said.contains("run the same `stook copy` again"), "{said}");
                unfinished += 1;
            }
        }
        assert!(unfinished > 0, "no copy was killed half way");
        repository.fine(&["copy", "--again", "stook.db", &to]);
        repository.fine(&["-c", configuration, "check"]);
        assert!(
            repository.fine(&["-c", configuration, "export"]) == before,
            "the contents differ"
        );
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_copy_says_how_to_go_on() {
    let repository = filled(40_000);
    let mut copy = repository.command(&["copy", "stook.db", "to.db"]);
    let child = copy.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    // Until it has begun to write.
    while !repository.path("to.db-wal").exists() && began.elapsed() < Duration::from_secs(20) {
        sleep(Duration::from_millis(5));
    }
    let mut kill = Command::new("kill");
    kill.args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Run the same command again to go on"), "{said}");
    let printed = repository.fine(&["copy", "stook.db", "to.db"]);
    assert!(printed.contains("40,000 records in"), "{printed}");
}

#[test]
fn looking_makes_no_store_and_what_stands_in_the_way_is_said() {
    let repository = Repository::new();
    let url = Server::shared().fresh_url();
    configured(&repository, "there.toml", &url);
    for command in ["status", "check", "export", "quarantine"] {
        let printed = repository.ends(2, &["-c", "there.toml", command]);
        assert!(
            printed.contains("there is no store at") && printed.contains("check the address and its schema="),
            "{command}: {printed}"
        );
    }
    configured(&repository, "away.toml", "postgres://stook@127.0.0.1:1/stook");
    let printed = repository.ends(2, &["-c", "away.toml", "status"]);
    assert!(
        printed.contains("127.0.0.1:1/stook") && printed.contains("can be reached from here"),
        "{printed}"
    );
    configured(&repository, "mistyped.toml", "postgres://stook@127.0.0.1/stook?shema=x");
    let printed = repository.ends(2, &["-c", "mistyped.toml", "status"]);
    assert!(
        printed.contains("shema") && printed.contains("schema=stook"),
        "{printed}"
    );
    let printed = repository.ends(2, &["backup", "postgres://joe:secret@127.0.0.1/stook"]);
    assert!(
        printed.contains("stook copy") && !printed.contains("secret"),
        "{printed}"
    );
    let printed = repository.ends(2, &["copy", "stook.db", "postgres://stook@127.0.0.1:1/stook"]);
    assert_eq!(printed.matches("Try:").count(), 1, "{printed}");
}
