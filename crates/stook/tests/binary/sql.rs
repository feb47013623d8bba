//! `stook import --sql`: a catalogue in each kind of database, published, changed and published again.

mod catalogue;
mod guide;
mod interrupted;
mod trouble;

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

use super::{Repository, place, text};
use catalogue::Catalogue;

/// Datestamps have seconds: what is published after this has a later one.
const NEXT_SECOND: Duration = Duration::from_millis(1_100);

/// The datestamps of all records, by their local identifiers.
fn datestamps(repository: &Repository) -> BTreeMap<String, String> {
    let printed = repository.fine(&["export"]);
    let records = printed
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    records
        .map(|record| {
            let of = |key: &str| record[key].as_str().unwrap().to_owned();
            (of("identifier").rsplit(':').next().unwrap().to_owned(), of("datestamp"))
        })
        .collect()
}

/// The Dublin Core of one record without its root, or "deleted".
fn record(repository: &Repository, id: &str) -> String {
    let records = repository.content();
    let identifier = format!("oai:example.org:{id}");
    let found = records
        .iter()
        .find(|record| record["identifier"] == identifier.as_str());
    let found = found.unwrap_or_else(|| panic!("there is no record {id}"));
    if found["deleted"] == true {
        return "deleted".to_owned();
    }
    let xml = found["metadata"]["oai_dc"].as_str().unwrap();
    let inside = xml.split_once('>').unwrap().1.strip_suffix("</oai_dc:dc>").unwrap();
    inside.replace("dc:", "")
}

const BOOKS: &str = "
create table @book (id int primary key, title varchar(200), lang varchar(3), changed_at timestamp NULL, withdrawn int);
insert into @book select i, concat('Book ', i, ' with 😀 and ž'), 'deu', '2026-01-01 10:00:00', 0 from @numbers(2000) n;
";

const DEFINITION: &str = "
query = 'select id, title, lang, changed_at, withdrawn from @book'
id = 'id'
changed = 'changed_at'
deleted = 'withdrawn'
[columns]
lang = 'language'
";

#[test]
fn exactly_the_records_that_changed_have_new_datestamps() {
    for catalogue in Catalogue::of_every_kind("changed") {
        let repository = Repository::new();
        catalogue.run(BOOKS);
        catalogue.define(&repository, "books.toml", DEFINITION);
        let printed = repository.fine(&["import", "--sql", "books.toml"]);
        assert!(printed.contains("2,000 new"), "{}: {printed}", catalogue.kind());
        assert_eq!(
            record(&repository, "7"),
            "<title>Book 7 with 😀 and ž</title><language>deu</language>"
        );
        let before = datestamps(&repository);
        sleep(NEXT_SECOND);
        catalogue.run(
            "update @book set title = concat(title, '!'), changed_at = '2026-01-01 10:00:00' where id in (1, 1000);
             update @book set title = concat(title, '!'), changed_at = '2026-02-02 11:00:00' where id % 100 = 3;
             update @book set changed_at = '2026-02-02 11:00:00' where id = 500;
             update @book set withdrawn = 1, changed_at = '2026-02-02 10:59:59' where id = 77;
             insert into @book values (2001, 'New', NULL, NULL, 0);",
        );
        let output = repository.run(&["import", "--sql", "books.toml"]);
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(
            said.contains("what changed since changed_at 2026-01-01 10:00:00"),
            "{said}"
        );
        let after = datestamps(&repository);
        let moved: Vec<&str> = after
            .iter()
            .filter(|(id, stamp)| before.get(*id) != Some(stamp))
            .map(|(id, _)| id.as_str())
            .collect();
        let mut wanted: Vec<String> = (0..20).map(|n| (n * 100 + 3).to_string()).collect();
        wanted.extend(["1", "1000", "77", "2001"].map(str::to_owned));
        wanted.sort();
        assert_eq!(moved, wanted, "{}", catalogue.kind());
        assert_eq!(record(&repository, "77"), "deleted");
        // Once more: what is as new as the last time is read, and nothing has changed. A row without a date always is.
        let printed = repository.fine(&["import", "--sql", "books.toml"]);
        assert!(
            printed.contains("22 records in") && printed.contains("22 unchanged"),
            "{printed}"
        );
        assert_eq!(datestamps(&repository), after);
        let printed = repository.fine(&["import", "--sql", "books.toml", "--all"]);
        assert!(printed.contains("2,001 unchanged"), "{printed}");
        assert_eq!(datestamps(&repository), after);
    }
}

#[test]
fn all_of_this_holds_in_a_store_on_a_server_too() {
    place::once_more_on_a_server(&["sql::exactly_the_records"]);
}

#[test]
fn what_is_no_longer_there_is_deleted_by_sync_and_by_nothing_else() {
    for catalogue in Catalogue::of_every_kind("absent") {
        let repository = Repository::new();
        catalogue.run(&BOOKS.replace("2000", "50"));
        catalogue.define(&repository, "books.toml", DEFINITION);
        repository.fine(&["import", "--sql", "books.toml"]);
        catalogue
            .run("delete from @book where id = 8; update @book set changed_at = '2026-03-01 00:00:00' where id = 9");
        repository.fine(&["import", "--sql", "books.toml"]);
        assert_ne!(record(&repository, "8"), "deleted");
        let printed = repository.fine(&["import", "--sql", "books.toml", "--sync"]);
        assert!(
            printed.contains("1 deleted, because the input no longer has them"),
            "{printed}"
        );
        assert!(printed.contains("49 unchanged"), "{printed}");
        assert_eq!(record(&repository, "8"), "deleted");
        // The existing guard holds here too.
        catalogue.run("delete from @book where id > 10");
        let printed = repository.ends(2, &["import", "--sql", "books.toml", "--sync"]);
        assert!(printed.contains("nothing was deleted"), "{printed}");
    }
}

#[test]
fn several_rows_make_one_record() {
    for catalogue in Catalogue::of_every_kind("rows") {
        let repository = Repository::new();
        catalogue.run(
            "create table @book (nr varchar(20), title varchar(100), subject varchar(100), at int);
             insert into @book values ('b', 'Second', 'x', 1), ('a', 'First', 'zoo', 1), ('b', 'Second', NULL, 1),
                 ('a', 'First', 'animals', 2), ('B', 'Third', 'y', 1), ('b', 'Second', 'w', 1);
             create table @author (book varchar(30), name varchar(100), place int);
             insert into @author values ('a', 'Zuse', 1), ('b', 'Only', 1), ('a', 'Abel', 3), ('a', 'Noether', 2),
                 ('a', 'Zuse', 4), ('nowhere', 'Nobody', 1);",
        );
        let values = "[[values]]\nquery = 'select book, name, place from @author'\nid = 'book'\norder = 'place'\n\
                      [values.columns]\nname = 'creator'\n";
        let definition = format!("query = 'select * from @book'\nid = 'NR'\nchanged = 'at'\n{values}");
        catalogue.define(&repository, "books.toml", &definition);
        let output = repository.run(&["import", "--sql", "books.toml"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let said = text(&output.stderr);
        assert!(
            said.contains("1 row of the values query belongs to no record, and was left out"),
            "{said}"
        );
        let a = "<title>First</title><subject>animals</subject><subject>zoo</subject>";
        let first = "<creator>Zuse</creator><creator>Noether</creator><creator>Abel</creator>";
        let of = |id: &str| record(&repository, id);
        assert!(of("a").contains(first), "{}", of("a"));
        for part in a.split_inclusive("</subject>") {
            assert!(of("a").contains(part), "{}", of("a"));
        }
        assert!(
            of("b").contains("<subject>w</subject><subject>x</subject>"),
            "{}",
            of("b")
        );
        assert!(of("B").contains("<title>Third</title>"), "{}", of("B"));
        // Of a record of which one row changed, all rows are read, and their values.
        catalogue.run("update @book set title = 'First!', at = 3 where nr = 'a' and subject = 'zoo'");
        let printed = repository.fine(&["import", "--sql", "books.toml"]);
        assert!(printed.contains("1 changed"), "{printed}");
        let changed = of("a");
        assert!(
            changed.contains("<title>First</title><title>First!</title>"),
            "{changed}"
        );
        assert!(
            changed.contains("<subject>animals</subject><subject>zoo</subject>"),
            "{changed}"
        );
        assert!(changed.contains(first), "{changed}");
    }
}

#[test]
fn values_of_every_type_become_text() {
    for catalogue in Catalogue::of_every_kind("types") {
        let repository = Repository::new();
        let (bytes, more) = match catalogue.kind() {
            "postgres" => ("bytea", ", array['one, two','three'] as subject"),
            _ => ("blob", ""),
        };
        catalogue.run(&format!(
            "create table @book (id int, title text, date timestamp NULL, rights decimal(10,2), language varchar(9),
                 cover {bytes}, gone date);
             insert into @book values (1, 'A|B', '2026-01-02 03:04:05', 12.50, NULL, NULL, NULL),
                 (2, '', NULL, 3, 'eng', NULL, NULL), (3, 'gone', NULL, 3, 'eng', NULL, '2026-01-01');"
        ));
        let query = format!("select id, title, date, rights, language, gone{more} from @book");
        catalogue.define(
            &repository,
            "books.toml",
            &format!("query = \"{query}\"\nid = 'id'\ndeleted = 'gone'\n"),
        );
        repository.fine(&["import", "--sql", "books.toml"]);
        let one = record(&repository, "1");
        assert!(one.contains("<title>A|B</title>"), "{one}");
        assert!(one.contains("<date>2026-01-02T03:04:05</date>"), "{one}");
        assert!(one.contains("<rights>12.5"), "{one}");
        assert!(!one.contains("language"), "{one}");
        if catalogue.kind() == "postgres" {
            assert!(
                one.contains("<subject>one, two</subject><subject>three</subject>"),
                "{one}"
            );
            let bytes = "query = 'select id, cover as description from @book'\nid = 'id'\n";
            catalogue.define(&repository, "bytes.toml", bytes);
            let said = repository.ends(2, &["import", "--sql", "bytes.toml"]);
            assert!(
                said.contains("holds bytes, not text") && said.contains("encode("),
                "{said}"
            );
        }
        assert!(!record(&repository, "2").contains("<title"));
        assert_eq!(record(&repository, "3"), "deleted");
    }
}

#[test]
fn a_definition_that_changed_starts_over() {
    let catalogue = Catalogue::sqlite();
    let repository = Repository::new();
    catalogue.run(&BOOKS.replace("2000", "20"));
    catalogue.define(&repository, "books.toml", DEFINITION);
    repository.fine(&["import", "--sql", "books.toml"]);
    catalogue.run("update @book set changed_at = '2026-05-01 00:00:00' where id = 1");
    repository.fine(&["import", "--sql", "books.toml"]);
    let printed = repository.fine(&["import", "--sql", "books.toml"]);
    assert!(printed.contains("1 record in"), "{printed}");
    catalogue.define(&repository, "books.toml", &DEFINITION.replace("'language'", "'source'"));
    let output = repository.run(&["import", "--sql", "books.toml"]);
    assert!(
        text(&output.stderr).contains("everything is read"),
        "{}",
        text(&output.stderr)
    );
    assert!(text(&output.stdout).contains("20 changed"), "{}", text(&output.stdout));
    // By an overlap, what was stamped early and committed late is read as well: at first, everything.
    catalogue.define(&repository, "late.toml", &format!("overlap_minutes = 60\n{DEFINITION}"));
    for _ in 0..2 {
        let printed = repository.fine(&["import", "--sql", "late.toml"]);
        assert!(printed.contains("20 records in"), "{printed}");
    }
    // A stamp of the future would hide every change to come.
    catalogue.run("update @book set changed_at = '2999-01-01 00:00:00' where id = 2");
    for _ in 0..2 {
        let output = repository.run(&["import", "--sql", "books.toml", "--all"]);
        assert!(
            text(&output.stderr).contains("in the future"),
            "{}",
            text(&output.stderr)
        );
    }
    let printed = repository.fine(&["import", "--sql", "books.toml"]);
    assert!(printed.contains("20 records in"), "{printed}");
}

#[test]
fn what_is_quarantined_stays_there_until_it_comes_again() {
    let catalogue = Catalogue::sqlite();
    let repository = Repository::new();
    catalogue.run(
        "create table @book (id text, title text, kind text, at text);
         insert into @book values ('1', 'One', 'a::b', '2026-01-01'), ('2', 'Two', 'c', '2026-01-02'),
             (NULL, 'Nameless', 'c', '2026-01-01'), ('3', 'Three', 'd::', '2026-01-02');",
    );
    let definition = "query = 'select * from @book'\nid = 'id'\nchanged = 'at'\n[columns]\nkind = 'set'\n";
    catalogue.define(&repository, "books.toml", definition);
    repository.ends(1, &["import", "--sql", "books.toml"]);
    let entries = || {
        let printed = repository.fine(&["quarantine"]);
        assert!(printed.lines().all(|line| line.starts_with("books.toml:")), "{printed}");
        printed.lines().count()
    };
    assert_eq!(entries(), 3);
    // It comes again, because it is as new as the newest.
    repository.ends(1, &["import", "--sql", "books.toml"]);
    assert_eq!(entries(), 3);
    catalogue.run("update @book set kind = 'd', at = '2026-01-03' where id = '3'");
    repository.fine(&["import", "--sql", "books.toml"]);
    assert_eq!(entries(), 2);
    catalogue.run("delete from @book where id is null; update @book set kind = 'a' where id = '1'");
    repository.fine(&["import", "--sql", "books.toml", "--all"]);
    assert_eq!(repository.fine(&["quarantine"]), "Nothing is quarantined.\n");
}

#[test]
fn a_preview_shows_records_and_publishes_nothing() {
    for catalogue in Catalogue::of_every_kind("preview") {
        let repository = Repository::new();
        catalogue.run(&BOOKS.replace("2000", "50"));
        catalogue.define(&repository, "books.toml", DEFINITION);
        let printed = repository.fine(&["import", "--sql", "books.toml", "--preview", "2"]);
        assert_eq!(printed.matches("oai:example.org:").count(), 2, "{printed}");
        assert!(printed.contains("oai:example.org:2  oai_dc\n"), "{printed}");
        assert!(
            printed.contains("    <dc:title>Book 1 with 😀 and ž</dc:title>\n"),
            "{printed}"
        );
        assert!(repository.content().is_empty());
        let printed = repository.fine(&["import", "--sql", "books.toml"]);
        assert!(printed.contains("50 new"), "{printed}");
    }
    let repository = Repository::new();
    repository.write("a.csv", "id,title\n1,One\n2,Two\n");
    let printed = repository.fine(&["import", "a.csv", "--preview", "1"]);
    assert!(
        printed.contains("<dc:title>One</dc:title>") && !printed.contains("Two"),
        "{printed}"
    );
}

#[test]
fn a_column_can_hold_whole_records_of_xml() {
    let catalogue = Catalogue::sqlite();
    let repository = Repository::new();
    let dc = "<oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
              xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>Whole</dc:title></oai_dc:dc>";
    catalogue.run(&format!(
        "create table @record (nr text, metadata text, kind text);
         insert into @record values ('1', '{dc}', 'maps'), ('2', '<broken', 'maps'), ('3', '<dc/>', NULL);"
    ));
    catalogue.define(
        &repository,
        "xml.toml",
        "query = 'select * from @record'\nid = 'nr'\n[columns]\nkind = 'set'\n",
    );
    repository.ends(1, &["import", "--sql", "xml.toml"]);
    assert_eq!(record(&repository, "1"), "<title>Whole</title>");
    assert_eq!(repository.content()[0]["sets"][0], "maps");
    assert_eq!(repository.fine(&["quarantine"]).lines().count(), 2);
}
