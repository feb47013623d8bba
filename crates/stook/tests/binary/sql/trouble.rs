//! What is told when a database cannot be read, or not as it is asked for.

use std::fs;
use std::path::Path;

use testserver::{MariaDb, Server};

use super::Catalogue;
use crate::{Repository, text};

/// Every complaint names the definition and says what to try, on one line each, without a password.
fn complaint(repository: &Repository, definition: &str) -> String {
    repository.write("books.toml", definition);
    let said = repository.ends(2, &["import", "--sql", "books.toml"]);
    assert!(
        said.contains("stook: books.toml: ") || said.contains("stook: in books.toml: "),
        "{said}"
    );
    assert!(said.contains("\nTry: ") && !said.contains("hush"), "{said}");
    assert!(repository.content().is_empty(), "something was published");
    said
}

fn asking(address: &str, query: &str) -> String {
    format!("database = {address:?}\nquery = \"{query}\"\nid = \"id\"\n")
}

#[test]
fn a_server_that_is_not_there_or_does_not_let_us_in() {
    let repository = Repository::new();
    let (postgres, mariadb) = (Server::shared().url(), MariaDb::shared().url());
    MariaDb::shared()
        .run("create user locked@'%' identified by 'sesame'; grant select on *.* to locked@'%'")
        .unwrap();
    let locked = mariadb.replace("stook@", "locked:hush@");
    for (address, wanted) in [
        ("mysql://joe:hush@127.0.0.1:1/books".to_owned(), "check host and port"),
        (
            "postgres://joe:hush@127.0.0.1:1/books".to_owned(),
            "check host and port",
        ),
        (
            "postgres://joe:hush@no-such-host.invalid/books".to_owned(),
            "check host and port",
        ),
        (
            "mysql://joe:hush@no-such-host.invalid/books".to_owned(),
            "check host and port",
        ),
        (
            "sqlite:none.db".to_owned(),
            "there is no such file\nTry: check the path",
        ),
        (
            "sqlite:stook.toml".to_owned(),
            "not a database\nTry: check that it is a file of SQLite",
        ),
        (postgres.replace("stook@", "nobody:hush@"), "\"nobody\" does not exist"),
        (elsewhere(&postgres), "\"none\" does not exist"),
        (locked, "Access denied for user 'locked'"),
        (elsewhere(&mariadb), "Unknown database 'none'"),
        (mariadb.clone() + "?sslmode=require", "the server cannot encrypt"),
    ] {
        let said = complaint(&repository, &asking(&address, "select 1 as id"));
        assert!(
            said.contains(wanted) && said.contains("cannot open"),
            "{address}: {said}"
        );
        assert_eq!(
            said.matches("://").count(),
            usize::from(!address.starts_with("sqlite")),
            "{said}"
        );
    }
}

/// The same server, another database.
fn elsewhere(address: &str) -> String {
    format!("{}/none", address.rsplit_once('/').unwrap().0)
}

#[test]
fn connections_are_encrypted_and_the_server_is_verified() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/harvest/fixtures");
    let (certificate, key) = (fixtures.join("localhost.pem"), fixtures.join("localhost.key"));
    let server = MariaDb::start_encrypted(&certificate, &key).unwrap();
    server.run("create user safe@'%' require ssl").unwrap();
    let address = server.url().replace("stook@127.0.0.1", "safe@localhost");
    let address = address.rsplit_once('/').unwrap().0;
    let repository = Repository::new();
    fs::copy(&certificate, repository.path("ca.pem")).unwrap();
    let query = "select 1 as id, value as title from (select variable_value as value from \
                 information_schema.session_status where variable_name = 'ssl_version') s";
    for mode in ["", "?sslmode=require", "?sslmode=verify-full&sslrootcert=ca.pem"] {
        repository.write("books.toml", asking(&format!("{address}/{mode}"), query));
        repository.fine(&["import", "--sql", "books.toml"]);
        let record = super::record(&repository, "1");
        assert!(record.starts_with("<title>TLSv1"), "{mode}: {record}");
    }
    let other = Repository::new();
    let said = complaint(&other, &asking(&format!("{address}/?sslmode=verify-full"), query));
    assert!(said.contains("cannot open"), "{said}");
    let said = complaint(&other, &asking(&format!("{address}/?sslmode=disable"), query));
    assert!(said.contains("Access denied"), "{said}");
}

#[test]
fn passwords_come_from_where_people_keep_them() {
    let mariadb = MariaDb::shared();
    mariadb
        .run("create user keeper@'%' identified by 'hush'; grant select on *.* to keeper@'%'")
        .unwrap();
    let address = mariadb.url().replace("stook@", "keeper@");
    let repository = Repository::new();
    let query = asking(&address, "select 1 as id, 'One' as title");
    repository.write("password", "hush\n");
    repository.write("file.toml", format!("password_file = \"password\"\n{query}"));
    repository.fine(&["import", "--sql", "file.toml"]);
    repository.write("plain.toml", &query);
    let output = repository
        .command(&["import", "--sql", "plain.toml"])
        .env("MYSQL_PWD", "hush")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    repository.ends(2, &["import", "--sql", "plain.toml"]);
    let path = repository.write("url.toml", query.replace("keeper@", "keeper:hush@"));
    let output = repository.run(&["import", "--sql", "url.toml"]);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert!(said.contains("chmod 600 url.toml") && !said.contains("hush"), "{said}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let said = text(&repository.run(&["import", "--sql", "url.toml"]).stderr);
        assert!(said.contains("chmod 600 url.toml"), "{said}");
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        let output = repository.run(&["import", "--sql", "url.toml"]);
        assert_eq!(text(&output.stderr), "");
    }
    repository.write("none.toml", format!("password_file = \"none\"\n{query}"));
    let said = repository.ends(2, &["import", "--sql", "none.toml"]);
    assert!(said.contains("password_file: cannot read"), "{said}");
}

#[test]
fn a_query_that_the_database_does_not_understand() {
    for catalogue in Catalogue::of_every_kind("trouble") {
        let repository = Repository::new();
        catalogue.run("create table @book (id int, title varchar(20)); insert into @book values (1, 'One')");
        for (definition, wanted) in [
            ("query = 'select id from @none'\nid = 'id'", "none"),
            ("query = 'select id frm @book'\nid = 'id'", "syntax"),
            (
                "query = 'select id, title from @book; drop table @book'\nid = 'id'",
                "query: the database says",
            ),
            (
                "query = 'select * from @book'\nid = 'nr'",
                "one of those the query gives: id, title",
            ),
            (
                "query = 'select * from @book'\nid = 'id'\nchanged = 'at'",
                "\"at\", which changed names",
            ),
            (
                "query = 'select id, title as name from @book'\nid = 'id'",
                "name = \"title\"",
            ),
            (
                "query = 'select * from @book'\nid = 'id'\n[[values]]\nquery = 'select 1 as x'\nid = 'book'",
                "values query: there is no column \"book\"",
            ),
            (
                "query = 'delete from @book'\nid = 'id'",
                "Try: a query that begins with select",
            ),
        ] {
            catalogue.define(&repository, "given.toml", definition);
            let definition = fs::read_to_string(repository.path("given.toml")).unwrap();
            let said = complaint(&repository, &definition);
            assert!(said.contains(wanted), "{}: {definition}: {said}", catalogue.kind());
        }
        catalogue.define(
            &repository,
            "books.toml",
            "query = 'select * from @book -- all'\nid = 'id'",
        );
        let printed = repository.fine(&["import", "--sql", "books.toml"]);
        assert!(printed.contains("1 new"), "{}: {printed}", catalogue.kind());
    }
}

#[test]
fn values_that_are_not_text_or_too_large_are_quarantined() {
    for catalogue in Catalogue::of_every_kind("large") {
        let repository = Repository::new();
        let (text, bytes) = match catalogue.kind() {
            "mariadb" => ("longtext", "longblob"),
            "postgres" => ("text", "text"),
            _ => ("text", "blob"),
        };
        catalogue.run(&format!(
            "create table @book (id varchar(20), title {text}, description {bytes});
             insert into @book values ('fine', 'Fine', 'text'), ('', 'Nameless', NULL), ('empty', NULL, NULL);
             insert into @book select 'huge', title, NULL from (select '{}' as title) t;",
            "Ž".repeat(20_000)
        ));
        // Ten times twice as large: PostgreSQL takes no longer a command.
        for _ in 0..6 {
            catalogue.run("update @book set title = concat(title, title) where id = 'huge'");
        }
        if catalogue.kind() != "postgres" {
            catalogue.run("insert into @book values ('bytes', 'Bytes', x'ff00fe')");
        }
        catalogue.define(&repository, "books.toml", "query = 'select * from @book'\nid = 'id'");
        repository.ends(1, &["import", "--sql", "books.toml", "--max-record-megabytes", "1"]);
        let told = repository.fine(&["quarantine"]);
        assert!(
            told.contains("oai:example.org:huge: the record is larger than the limit"),
            "{told}"
        );
        assert!(told.contains("the row has no id"), "{told}");
        assert!(told.contains("oai:example.org:empty: the row says nothing"), "{told}");
        if catalogue.kind() != "postgres" {
            assert!(
                told.contains("the value of the column \"description\" is not text"),
                "{told}"
            );
        }
        assert_eq!(repository.content().len(), 1);
        repository.ends(1, &["import", "--sql", "books.toml"]);
        let huge = super::record(&repository, "huge");
        assert_eq!(huge.chars().filter(|sign| *sign == 'Ž').count(), 20_000 * 64);
    }
}
