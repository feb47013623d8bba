//! Broken off in the middle: by Ctrl-C, by force, by a server that dies.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use testserver::{MariaDb, Server};

use super::Catalogue;
use crate::{Repository, text};

const MANY: &str = "
create table @book (id int primary key, title varchar(200), description text, at int);
insert into @book select i, concat('Book ', i), concat('About ', i, ' and much else, said at some length'), i
    from @numbers(30000) n;
";
const DEFINITION: &str = "query = 'select * from @book'\nid = 'id'\nchanged = 'at'\n";

#[test]
fn an_import_killed_at_random_moments_ends_as_if_it_had_not_been() {
    let catalogue = Catalogue::sqlite();
    catalogue.run(MANY);
    let reference = Repository::new();
    catalogue.define(&reference, "books.toml", DEFINITION);
    let began = Instant::now();
    reference.fine(&["import", "--sql", "books.toml"]);
    let whole = began.elapsed();
    let repository = Repository::new();
    catalogue.define(&repository, "books.toml", DEFINITION);
    let mut killed = 0;
    for attempt in 0..6 {
        let mut import = repository.command(&["import", "--sql", "books.toml"]);
        let mut child = import.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(whole.mul_f64(f64::from(attempt * 5 % 6) / 6.0));
        child.kill().unwrap();
        killed += u32::from(!child.wait().unwrap().success());
    }
    assert!(killed > 0, "no attempt was really killed");
    repository.fine(&["import", "--sql", "books.toml"]);
    repository.fine(&["check"]);
    assert!(repository.content() == reference.content(), "the contents differ");
}

#[cfg(unix)]
#[test]
fn an_interrupted_import_says_so_and_the_next_one_finishes() {
    let catalogue = Catalogue::sqlite();
    catalogue.run(&MANY.replace("30000", "90000"));
    let repository = Repository::new();
    catalogue.define(&repository, "books.toml", DEFINITION);
    let mut import = repository.command(&["import", "--sql", "books.toml"]);
    let child = import.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Until something is published.
    let began = Instant::now();
    let published = || {
        let status: serde_json::Value = serde_json::from_str(&repository.fine(&["status", "--json"])).unwrap();
        status["repositories"][0]["formats"][0]["records"].as_u64() > Some(0)
    };
    while !published() && began.elapsed() < Duration::from_secs(30) {}
    let mut kill = Command::new("kill");
    kill.args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Run the same command again to finish"), "{said}");
    let there = repository.content().len();
    assert!(there > 0 && there < 90_000, "{there}");
    // It remembers no mark: everything is read.
    let printed = repository.fine(&["import", "--sql", "books.toml"]);
    assert!(printed.contains("90,000 records in"), "{printed}");
    assert_eq!(repository.content().len(), 90_000);
}

/// Rows that come one by one, so that there is time to do something meanwhile.
fn slow(repository: &Repository, address: &str, wait: &str) {
    let query = format!("select id, title, {wait} as pause from book");
    repository.write(
        "books.toml",
        format!("database = {address:?}\nquery = \"{query}\"\nid = \"id\"\n[columns]\npause = \"source\"\n"),
    );
}

const FEW: &str = "create table book (id int primary key, title varchar(200)); insert into book values ";

fn rows(number: u32) -> String {
    let rows: Vec<String> = (0..number).map(|n| format!("({n}, 'Book {n}')")).collect();
    format!("{FEW}{}", rows.join(", "))
}

#[test]
fn a_server_that_dies_leaves_everything_as_it_was() {
    let mut postgres = Server::start().unwrap();
    postgres.run(&rows(2_000)).unwrap();
    dies(&postgres.url(), "concat(pg_sleep(0.01), 'x')", || {
        postgres.kill().unwrap()
    });
    postgres.resume().unwrap();
    let mut mariadb = MariaDb::start().unwrap();
    mariadb.run(&rows(2_000)).unwrap();
    dies(&mariadb.url(), "sleep(0.01)", || mariadb.kill().unwrap());
    mariadb.resume().unwrap();
    // And after that all is well again.
    let repository = Repository::new();
    for (address, wait) in [(postgres.url(), "'x'"), (mariadb.url(), "'x'")] {
        slow(&repository, &address, wait);
        let printed = repository.fine(&["import", "--sql", "books.toml"]);
        assert!(printed.contains("2,000 records in"), "{printed}");
    }
}

fn dies(address: &str, wait: &str, kill: impl FnOnce()) {
    let repository = Repository::new();
    slow(&repository, address, wait);
    let mut import = repository.command(&["import", "--sql", "books.toml"]);
    let child = import.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    sleep(Duration::from_secs(2));
    kill();
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("broke after") && said.contains("the same command again"),
        "{said}"
    );
    assert!(repository.content().is_empty());
}
