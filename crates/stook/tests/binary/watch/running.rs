//! Processes that watch for as long as they live, and what happens when they die.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Stdio;
use std::time::Instant;

use super::*;
use crate::running::Running;

fn start(repository: &Repository, arguments: &[&str]) -> Running {
    Running::start(repository.command(arguments))
}

const WATCH: [&str; 5] = ["import", "--watch", "--watch-seconds", "1", "inbox"];

#[test]
fn a_folder_is_watched_until_somebody_stops_it() {
    let repository = watched();
    let mut watch = start(&repository, &WATCH);
    watch.until_printed("Watching inbox");
    repository.write("inbox/a.csv", table(&[("1", "One"), ("2", "Two")]));
    watch.until_printed("1 file read: 2 new");
    repository.write("inbox/a.csv", table(&[("1", "One"), ("2", "Zwei")]));
    watch.until_printed("1 file read: 1 changed, 1 unchanged");
    fs::rename(repository.path("inbox"), repository.path("away")).unwrap();
    watch.until_printed("nothing that came from there is deleted");
    sleep(2 * NEXT_SECOND);
    fs::rename(repository.path("away"), repository.path("inbox")).unwrap();
    watch.until_printed("is back");
    fs::remove_file(repository.path("inbox/a.csv")).unwrap();
    watch.until_printed("1 file gone: 2 deleted");
    assert_eq!(watch.interrupt(), Some(0));
    // What is away is told once, however long it lasts, and nothing is said of nothing.
    let printed = watch.printed();
    assert_eq!(printed.matches("nothing that came from there").count(), 1, "{printed}");
    assert_eq!(printed.matches("read").count(), 3 + 1, "{printed}");
    assert_eq!(titles(&repository), expected(&[("1", ""), ("2", "")]));
}

#[test]
fn a_file_is_read_when_it_is_complete() {
    let repository = watched();
    let mut watch = start(&repository, &WATCH);
    watch.until_printed("Watching inbox");
    let mut file = File::create(repository.path("inbox/a.jsonl")).unwrap();
    for part in 0..20 {
        file.write_all(many(part * 10..part * 10 + 10, 1).as_bytes()).unwrap();
        // A line that is not finished.
        file.write_all(b"{\"identifier\":").unwrap();
        sleep(Duration::from_millis(200));
        file.write_all(format!("\"x-{part}\",\"title\":\"T\"}}\n").as_bytes())
            .unwrap();
    }
    drop(file);
    watch.until_printed("file read");
    watch.interrupt();
    let printed = watch.printed();
    assert!(printed.contains("1 file read: 220 new\n"), "{printed}");
    assert_eq!(printed.matches("file read").count(), 1, "{printed}");
    assert_eq!(titles(&repository).len(), 220);
}

#[test]
fn killed_at_random_moments_it_ends_as_if_it_had_not_been() {
    let fill = |repository: &Repository, version: usize| {
        for part in 0..40 {
            let from = part * 100;
            // Every version has other records, and some move to the next file.
            let numbers = (from + version * 30..from + version * 30 + 90).filter(|n| n % 7 != version);
            put(
                repository,
                &format!("{part:02}.jsonl"),
                90 - 10 * version as u64,
                many(numbers, version / 2),
            );
        }
    };
    let all = [&ONCE[..], &["--max-deletions", "100"]].concat();
    let reference = watched();
    let repository = watched();
    let mut killed = 0;
    for version in 0..3 {
        fill(&reference, version);
        let began = Instant::now();
        reference.fine(&all);
        let whole = began.elapsed();
        for attempt in 0..5 {
            // What is there now is not yet, or no longer, all of it: some of what was begun is gone with its file.
            fill(&repository, version);
            if attempt % 2 == 0 {
                put(&repository, "extra.jsonl", 95 - attempt, many(9_000..9_500, version));
            } else {
                let _ = fs::remove_file(repository.path("inbox/extra.jsonl"));
            }
            let mut child = repository.command(&all);
            let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            sleep(whole.mul_f64((attempt * 2 % 5) as f64 / 5.0));
            child.kill().unwrap();
            killed += u32::from(!child.wait().unwrap().success());
        }
        let _ = fs::remove_file(repository.path("inbox/extra.jsonl"));
        repository.fine(&all);
        repository.fine(&["check"]);
        let live = |it: &Repository| {
            let titles = titles(it).into_iter();
            titles.filter(|(_, title)| title.is_some()).collect::<BTreeMap<_, _>>()
        };
        assert!(live(&repository) == live(&reference), "version {version}");
    }
    assert!(killed > 0, "no attempt was really killed");
    assert!(repository.fine(&all).contains("0 files read\n"));
}

/// A port that nothing listens on at this moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

fn ask(port: u16, query: &str) -> String {
    let url = format!("http://127.0.0.1:{port}/oai?{query}");
    let answer = ureq::get(&url)
        .call()
        .and_then(|mut answer| answer.body_mut().read_to_string());
    answer.unwrap_or_default()
}

/// Has the server watch the inbox.
fn configure(repository: &Repository) {
    let file = repository.path("stook.toml");
    let configuration = fs::read_to_string(&file).unwrap();
    let watching = "[[repository]]\nwatch = [\"inbox\"]\nwatch_seconds = 1\n";
    fs::write(&file, configuration.replace("[[repository]]\n", watching)).unwrap();
}

#[test]
fn two_servers_read_a_file_once_and_one_is_enough() {
    let repository = watched();
    configure(&repository);
    let serve = || {
        start(
            &repository,
            &["serve", "--listen", &format!("127.0.0.1:{}", free_port())],
        )
    };
    let mut servers = [serve(), serve()];
    for (at, name) in ["a.jsonl", "b.jsonl", "c.jsonl"].into_iter().enumerate() {
        for server in &servers {
            server.until_printed("watching");
        }
        repository.write(&format!("inbox/{name}"), many(at * 100..at * 100 + 100, 1));
        servers[0].until("the records", |_| titles(&repository).len() == (at + 1) * 100);
        sleep(2 * NEXT_SECOND);
    }
    let printed = servers.each_ref().map(Running::printed).concat();
    assert_eq!(printed.matches("1 file read: 100 new").count(), 3, "{printed}");
    assert_eq!(printed.matches("read: ").count(), 3, "{printed}");
    servers[0].kill();
    repository.write("inbox/d.jsonl", many(300..400, 1));
    servers[1].until("the records", |_| titles(&repository).len() == 400);
    assert_eq!(servers[1].interrupt(), Some(0));
}

#[test]
fn a_server_publishes_what_comes_and_goes_in_its_folders() {
    let repository = watched();
    configure(&repository);
    let port = free_port();
    let mut server = start(&repository, &["serve", "--listen", &format!("127.0.0.1:{port}")]);
    server.until_printed("watching");
    repository.write("inbox/a.csv", table(&[("map-1", "City of Lindenau")]));
    let get = "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:example.org:map-1";
    server.until("the record", |_| ask(port, get).contains("City of Lindenau"));
    fs::remove_file(repository.path("inbox/a.csv")).unwrap();
    server.until("its deletion", |_| ask(port, get).contains("status=\"deleted\""));
    assert_eq!(server.interrupt(), Some(0), "{}", server.printed());
    let printed = server.printed();
    assert!(
        printed.contains("1 file read: 1 new") && printed.contains("1 file gone: 1 deleted"),
        "{printed}"
    );
}

#[test]
fn a_server_and_a_person_may_watch_the_same_folder() {
    let repository = watched();
    let mut watch = start(&repository, &WATCH);
    watch.until_printed("Watching inbox");
    put(&repository, "a.jsonl", 90, many(0..100, 1));
    watch.until_printed("1 file read: 100 new");
    fs::remove_file(repository.path("inbox/a.jsonl")).unwrap();
    watch.until_printed("100 of 100 records are in no watched file any more");
    // As the message says.
    let printed = repository.fine(&[&ONCE[..], &["--max-deletions", "100"]].concat());
    assert!(printed.contains("100 deleted"), "{printed}");
    put(&repository, "b.jsonl", 90, many(0..3, 1));
    watch.until_printed("1 file read: 3 ");
    watch.interrupt();
    assert_eq!(titles(&repository).values().flatten().count(), 3);
}

#[test]
fn what_a_server_cannot_import_is_told_at_every_start_with_a_command() {
    let repository = watched();
    configure(&repository);
    put(&repository, "a.csv", 90, "id,title,Alte Signatur\n1,One,abc\n");
    for _ in 0..2 {
        let listen = format!("127.0.0.1:{}", free_port());
        let mut server = start(&repository, &["serve", "--listen", &listen]);
        server.until_printed(
            "unknown columns: Alte Signatur. Try: stook import --watch --once --map 'Alte Signatur=title' ",
        );
        assert_eq!(server.interrupt(), Some(0));
    }
    let quarantine = repository.fine(&["quarantine"]);
    assert_eq!(quarantine.matches("unknown columns").count(), 1, "{quarantine}");
    // By the path that the server has of it.
    let inbox = repository.path("inbox");
    assert!(
        quarantine.contains(&*format!("=title' {}", inbox.display())) || quarantine.contains("=title' inbox"),
        "{quarantine}"
    );
    repository.fine(&[&ONCE[..], &["--map", "Alte Signatur="]].concat());
    assert_eq!(titles(&repository), expected(&[("1", "One")]));
    assert!(repository.fine(&["quarantine"]).contains("Nothing is quarantined"));
}

#[test]
fn a_look_that_was_stopped_says_so() {
    let repository = watched();
    // Large ones, so that few of them make a transaction.
    let (all, long) = (20_000, "long ".repeat(150));
    let lines: String = (0..all)
        .map(|n| format!("{{\"identifier\":\"r-{n}\",\"title\":\"{long}\"}}\n"))
        .collect();
    put(&repository, "a.jsonl", 90, lines);
    let mut look = start(&repository, &ONCE);
    let count = || {
        let status: serde_json::Value = serde_json::from_str(&repository.fine(&["status", "--json"])).unwrap();
        status["repositories"][0]["formats"][0]["records"].as_u64().unwrap_or(0)
    };
    look.until("the first records", |_| count() > 0);
    assert_eq!(look.interrupt(), Some(1), "{}", look.printed());
    let printed = look.printed();
    assert!(
        printed.contains("Stopped. Everything counted above is published."),
        "{printed}"
    );
    assert!(count() < all, "it was not stopped in time");
    repository.fine(&ONCE);
    assert_eq!(count(), all);
}

#[test]
fn mistakes_are_told_before_anybody_is_answered() {
    let repository = watched();
    configure(&repository);
    let file = repository.path("stook.toml");
    let right = fs::read_to_string(&file).unwrap();
    for (wrong, told) in [
        ("watch = [\"stook.toml\"]", "is a file"),
        ("watch = [\"\"]", "watch has an empty name"),
        ("set_rules = [\"nowhere.txt\"]\nwatch = [\"inbox\"]", "nowhere.txt"),
    ] {
        fs::write(&file, right.replace("watch = [\"inbox\"]", wrong)).unwrap();
        let printed = repository.ends(2, &["serve", "--listen", &format!("127.0.0.1:{}", free_port())]);
        assert!(printed.contains(told) && printed.contains("Try: "), "{printed}");
        assert!(!printed.contains("listening"), "{printed}");
    }
}
