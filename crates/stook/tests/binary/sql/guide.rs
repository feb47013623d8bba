//! The guide to databases works as it is written: its example is run from its own text.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::record;
use crate::Repository;

/// The fenced blocks of the guide, each with the word behind its fence.
fn blocks() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/databases.md");
    let text = fs::read_to_string(path).unwrap();
    let mut blocks = Vec::new();
    let mut parts = text.split("```");
    parts.next();
    while let (Some(block), Some(_)) = (parts.next(), parts.next()) {
        let (word, body) = block.split_once('\n').unwrap();
        blocks.push((word.to_owned(), body.to_owned()));
    }
    blocks
}

fn block(word: &str, at: usize) -> String {
    let mut found = blocks().into_iter().filter(|(found, _)| found == word);
    found
        .nth(at)
        .unwrap_or_else(|| panic!("the guide has no block {word} {at}"))
        .1
}

#[test]
fn the_example_of_the_guide_works() {
    let repository = Repository::new();
    let library = Connection::open(repository.path("library.db")).unwrap();
    library.execute_batch(&block("sql", 0)).unwrap();
    repository.write("catalogue.toml", block("toml", 0));
    let printed = repository.fine(&["import", "--sql", "catalogue.toml"]);
    assert!(printed.contains("3 new"), "{printed}");
    let promised = block("xml", 0);
    let promised: String = promised.lines().map(str::trim).collect();
    assert_eq!(record(&repository, "book-1"), promised.replace("dc:", ""));
    assert_eq!(
        record(&repository, "book-3"),
        "<title>Kunst der Fuge</title><language>deu</language>"
    );
    // What the guide does next: one book is changed and one is withdrawn.
    library.execute_batch(&block("sql", 1)).unwrap();
    let printed = repository.fine(&["import", "--sql", "catalogue.toml"]);
    assert!(
        printed.contains("1 changed") && printed.contains("1 deleted"),
        "{printed}"
    );
    assert_eq!(record(&repository, "book-2"), "deleted");
}

#[test]
fn every_definition_of_the_guide_can_be_read() {
    let repository = Repository::new();
    let definitions: Vec<String> = blocks()
        .into_iter()
        .filter(|(word, _)| word == "toml")
        .map(|it| it.1)
        .collect();
    assert!(definitions.len() > 1);
    repository.write("catalogue.password", "hush");
    for definition in definitions {
        // Whatever is wrong is that there is no such database, or no such table.
        repository.write("given.toml", &definition);
        let printed = repository.run(&["import", "--sql", "given.toml"]);
        let said = String::from_utf8_lossy(&printed.stderr).into_owned();
        assert!(
            said.contains("cannot open") || said.contains("the database says"),
            "{definition}\n{said}"
        );
    }
}
