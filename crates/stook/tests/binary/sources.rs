//! `stook source`: what is added, shown, changed, taken elsewhere and removed.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use super::{Repository, command, text};

/// A repository of three records that answers until it is dropped.
struct Served {
    _repository: Repository,
    server: Child,
    url: String,
}

impl Served {
    fn new() -> Served {
        let repository = Repository::new();
        repository.write("records.csv", "id,title\na,One\nb,Two\nc,Three\n");
        repository.fine(&["import", "records.csv"]);
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let listen = free.local_addr().unwrap().to_string();
        drop(free);
        let mut server = repository.command(&["serve", "--listen", &listen]);
        let server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let answers = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            TcpStream::connect(&listen).is_ok()
        });
        assert!(answers, "nothing listens on {listen}");
        Served {
            _repository: repository,
            server,
            url: format!("http://{listen}/oai"),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn secrets_are_neither_shown_nor_exported_and_asked_for_after_an_import() {
    let repository = Repository::new();
    repository.fine(&[
        "source",
        "add",
        "m1",
        "https://example.org/oai",
        "user=me",
        "password=pw1",
        "headers=X-Key: pw2",
        "proxy=http://u:pw3@proxy.example.org:3128",
    ]);
    repository.fine(&["source", "add", "m2", "https://example.org/oai", "token=pw4"]);
    let shown = repository.fine(&["source", "show", "m1"]);
    assert!(
        !shown.contains("pw") && shown.contains("http://u:(secret)@proxy.example.org:3128"),
        "{shown}"
    );
    let exported = repository.fine(&["source", "export"]);
    assert!(!exported.contains("pw") && !exported.contains("(secret)"), "{exported}");
    let other = Repository::new();
    other.write("sources.json", &exported);
    let printed = other.fine(&["source", "import", "sources.json"]);
    for expected in [
        "2 sources added.",
        "stook source edit m1 password=… 'proxy=http://u:…@proxy.example.org:3128' 'headers=X-Key: …'",
        "stook source edit m2 token=…",
    ] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
    let shown = other.fine(&["source", "show", "m1"]);
    assert!(shown.contains("user = \"me\"") && !shown.contains("headers"), "{shown}");
}

#[test]
fn an_import_skips_names_that_are_taken_and_says_so() {
    let repository = Repository::new();
    repository.fine(&["source", "add", "maps", "https://example.org/oai"]);
    repository.write(
        "sources.json",
        r#"[{"name": "maps", "settings": {"url": "https://a.example/"}},
            {"name": "main", "settings": {"url": "https://a.example/"}},
            {"name": "twin", "settings": {"url": "https://example.org/oai", "every_hours": 12, "sets": ["a"]},
             "quirks": {"no_until": true}}]"#,
    );
    let printed = repository.fine(&["source", "import", "sources.json"]);
    assert!(printed.contains("Skipped maps: there is a source"), "{printed}");
    assert!(printed.contains("Skipped main: "), "{printed}");
    assert!(printed.contains("1 source added, 2 skipped."), "{printed}");
    let shown = repository.fine(&["source", "show", "twin"]);
    assert!(
        shown.contains("every_hours = 12") && shown.contains("quirk.no_until = true"),
        "{shown}"
    );
    repository.write(
        "urls.txt",
        "# ours\nhttps://example.org/oai\nhttp://127.0.0.1:9/\nhttp://127.0.0.1:9/\n",
    );
    let printed = repository.fine(&["source", "import", "urls.txt"]);
    assert!(
        printed.contains("Skipped line 2: https://example.org/oai is the source maps already."),
        "{printed}"
    );
    assert!(
        printed.contains("Skipped line 4: http://127.0.0.1:9/ is the source 127-0-0-1-9 already."),
        "{printed}"
    );
    assert!(printed.contains("1 source added, 2 skipped."), "{printed}");
    for (text, expected) in [
        (
            r#"[{"name": "x", "settings": {"nonsense": 1}}]"#,
            "no setting \"nonsense\"",
        ),
        (
            r#"[{"name": "x", "settings": {"url": "https://a.example/", "every_hours": "abc"}}]"#,
            "every_hours=\"abc\" is not a whole number",
        ),
        ("https://new.example/oai\nexample.org\n", "line 2: "),
    ] {
        repository.write("wrong", text);
        let printed = repository.ends(2, &["source", "import", "wrong"]);
        assert!(printed.contains(expected) && printed.contains("Try: "), "{printed}");
    }
    let listed = repository.fine(&["source", "list"]);
    assert!(!listed.contains("new.example"), "a file with a mistake adds nothing");
    let columns: Vec<usize> = listed.lines().map(|line| line.find("http").unwrap()).collect();
    assert!(columns.iter().all(|column| *column == columns[0]), "{listed}");
    let columns: Vec<usize> = listed.lines().map(|line| line.find("never").unwrap()).collect();
    assert!(columns.iter().all(|column| *column == columns[0]), "{listed}");
}

#[test]
fn the_records_of_a_removed_source_are_taken_over_or_erased() {
    let served = Served::new();
    let repository = Repository::new();
    repository.fine(&["source", "add", "m2", &served.url]);
    repository.fine(&["harvest", "m2"]);
    let printed = repository.fine(&["source", "remove", "m2"]);
    assert!(
        printed.contains("Still in the store: 3 records") && printed.contains("--erase"),
        "{printed}"
    );
    assert!(
        repository
            .ends(2, &["source", "remove", "m2"])
            .contains("Try: stook source remove m2 --erase")
    );
    let printed = repository.fine(&["source", "add", "m2", &served.url]);
    assert!(
        printed.contains("Already there") && printed.contains(": 3 records."),
        "{printed}"
    );
    let shown = repository.fine(&["source", "show", "m2"]);
    assert!(!shown.contains("complete up to"), "{shown}");
    assert!(repository.fine(&["harvest", "m2"]).contains("3 unchanged"));

    let printed = repository.fine(&["source", "remove", "m2", "--erase"]);
    assert!(printed.contains("Erased: 3 records."), "{printed}");
    assert!(repository.fine(&["source", "list"]).contains("There are no sources"));
    repository.fine(&["source", "add", "m2", &served.url]);
    let printed = repository.fine(&["harvest", "m2"]);
    assert!(printed.contains("3 changed"), "{printed}");
    // A name that was made of an address is found again by it.
    repository.fine(&["source", "remove", "m2"]);
    for expected in ["3 new", "3 unchanged"] {
        let printed = repository.fine(&["harvest", &served.url]);
        assert!(printed.contains(expected), "{printed}");
        let name = printed.split(':').next().unwrap();
        repository.fine(&["source", "remove", name]);
    }
    // What is ours is nobody's to take.
    for name in ["main", "m 2"] {
        repository.ends(2, &["source", "add", name, &served.url]);
    }
    repository.ends(2, &["source", "remove", "main", "--erase"]);
}

#[test]
fn another_address_is_asked_for_everything_and_the_records_stay() {
    let (served, other) = (Served::new(), Served::new());
    let repository = Repository::new();
    repository.fine(&["source", "add", "m", &served.url, "quirk.no_until=true"]);
    repository.fine(&["harvest", "m"]);
    assert!(repository.fine(&["source", "show", "m"]).contains("complete up to"));
    let printed = repository.fine(&[
        "source",
        "edit",
        "m",
        &format!("url={}", other.url),
        "quirk.whole_days=true",
    ]);
    assert!(
        printed.contains("for everything") && printed.contains("Kept: 3 records."),
        "{printed}"
    );
    let shown = repository.fine(&["source", "show", "m"]);
    assert!(
        !shown.contains("complete up to") && !shown.contains("no_until"),
        "{shown}"
    );
    assert!(
        shown.contains("quirk.whole_days = true") && shown.contains("3 records in the store"),
        "{shown}"
    );
    repository.fine(&["harvest", "m"]);
    // A change of anything else leaves the ledger alone.
    repository.fine(&["source", "edit", "m", "every_hours=1"]);
    assert!(repository.fine(&["source", "show", "m"]).contains("complete up to"));
}

#[test]
fn a_source_that_was_added_stays_if_it_does_not_answer() {
    let repository = Repository::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/oai", free.local_addr().unwrap());
    drop(free);
    repository.fine(&["source", "add", "m", &url, "retries=0", "password=secret"]);
    repository.ends(1, &["harvest", "m"]);
    assert!(repository.fine(&["source", "show", "m"]).contains("password"));
}

#[test]
fn two_new_addresses_of_one_host_are_two_sources() {
    let served = Served::new();
    let repository = Repository::new();
    repository.fine(&["harvest", &served.url, &format!("{}#again", served.url)]);
    let listed = repository.fine(&["source", "list"]);
    assert_eq!(listed.matches("3 records").count(), 2, "{listed}");
}

#[test]
fn looking_at_sources_makes_no_store() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["source", "list"][..],
        &["source", "show", "m"],
        &["source", "export"],
        &["source", "edit", "m", "strict=true"],
        &["source", "remove", "m"],
        &["source", "add", "m", "https://example.org/", "strict=maybe"],
    ] {
        let output = command(folder.path(), arguments).output().unwrap();
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {printed}");
        assert!(printed.contains("no store") || arguments.len() > 4, "{printed}");
        assert!(printed.contains("Try: "), "{printed}");
        assert!(!folder.path().join("stook.db").exists(), "{arguments:?}");
    }
}

#[test]
fn the_settings_and_quirks_are_explained() {
    let printed = Repository::new().fine(&["source", "settings"]);
    for expected in ["every_hours = 24", "quirk.no_until = true", "set=", "a,b"] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
}
