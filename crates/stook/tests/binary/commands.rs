//! What each command does and says, for good input and bad.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

use super::{Repository, command, text};

const TABLE: &str = "\
id,title,creator,date,set
map-001,City of Lindenau,\"Weiß, Anna|Novák, Jan\",1893,maps:city
map-002,Northern forest,,1911,maps:forest
";

#[test]
fn a_spreadsheet_is_published_and_stays_as_it_is_when_imported_again() {
    let repository = Repository::new();
    repository.write("records.csv", TABLE);
    assert!(repository.fine(&["import", "records.csv"]).contains("2 new"));
    let before = repository.fine(&["export"]);
    assert!(
        before.contains("<dc:creator>Weiß, Anna</dc:creator><dc:creator>Novák, Jan</dc:creator>"),
        "{before}"
    );
    std::thread::sleep(Duration::from_millis(1100));
    assert!(repository.fine(&["import", "records.csv"]).contains("2 unchanged"));
    assert_eq!(repository.fine(&["export"]), before);
}

#[test]
fn what_is_exported_can_be_imported_elsewhere_in_either_form() {
    let repository = Repository::new();
    repository.write("records.csv", TABLE);
    repository.fine(&["import", "records.csv"]);
    repository.fine(&["delete", "map-002"]);
    for (format, name) in [("jsonl", "out.jsonl.gz"), ("xml", "out.xml.zst")] {
        repository.fine(&["export", "--format", format, "-o", name]);
        let other = Repository::new();
        other.fine(&["import", repository.path(name).to_str().unwrap()]);
        assert_eq!(other.content(), repository.content(), "{format}");
    }
}

#[test]
fn marc_comes_out_as_it_went_in_and_damage_is_named() {
    let repository = Repository::new();
    let record = |number: &str| {
        let data = format!("{number}\u{1E}10\u{1F}aMüller\u{1E}\u{1D}");
        let length = 24 + 24 + 1 + data.len();
        format!("{length:05}nam a2200049 a 45000010002000002450012{:05}\u{1E}{data}", 2)
    };
    let damaged = record("2").replacen("245", "2 5", 1);
    repository.write("a.mrc", [record("1"), damaged, record("3")].concat());
    let report = repository.ends(1, &["import", "a.mrc"]);
    assert!(report.contains("2 new") && report.contains("1 quarantined"), "{report}");
    let reason = repository.fine(&["quarantine"]);
    assert!(
        reason.contains("record 2, at byte 64: \"2 5\" is not a tag"),
        "{reason}"
    );
    repository.fine(&["export", "--format", "marc", "-o", "b.mrc"]);
    let exported = std::fs::read_to_string(repository.path("b.mrc")).unwrap();
    assert_eq!(exported, [record("1"), record("3")].concat());
    let refused = repository.ends(2, &["export", "--format", "marc", "--prefix", "oai_dc"]);
    assert!(refused.contains("Try: --prefix marc21"), "{refused}");
}

#[test]
fn what_cannot_be_published_is_quarantined_with_its_place_and_leaves_when_it_is_mended() {
    let repository = Repository::new();
    repository.write("records.csv", "id,title,set\na,Good,x\n,Nameless,x\nb,Bad set,x::y\n");
    let printed = repository.ends(1, &["import", "records.csv"]);
    assert!(
        printed.contains("1 new") && printed.contains("2 quarantined"),
        "{printed}"
    );
    let quarantine = repository.fine(&["quarantine"]);
    assert!(
        quarantine.contains("records.csv:3:") && quarantine.contains("records.csv:4:"),
        "{quarantine}"
    );
    repository.write("records.csv", "id,title,set\na,Good,x\nb,Good set,x:y\n");
    repository.fine(&["import", "records.csv"]);
    assert!(repository.fine(&["quarantine"]).contains("Nothing is quarantined"));
}

#[test]
fn a_place_is_told_once_and_junk_is_not_called_cut_off() {
    let repository = Repository::new();
    std::fs::create_dir(repository.path("in")).unwrap();
    repository.write("in/junk.xml", "neither XML nor a table");
    let printed = repository.ends(1, &["import", "in"]);
    assert!(
        printed.contains("1 file could not be read, or not to the end"),
        "{printed}"
    );
    assert_eq!(repository.fine(&["quarantine", "--clear"]), "Cleared 1 entry.\n");
    let bad = "<mods xmlns=\"http://www.loc.gov/mods/v3\">";
    repository.write("a.xml", format!("\n\n{bad}<tilte/></mods>"));
    repository.write("b.xml", format!("{bad}\n<tilte/></mods>"));
    repository.ends(1, &["import", "a.xml", "b.xml"]);
    let told = repository.fine(&["quarantine"]);
    assert!(told.contains("a.xml:3: ") && !told.contains("(line 3)"), "{told}");
    assert!(told.contains("b.xml:1: ") && told.contains("(line 2)"), "{told}");
}

#[test]
fn a_mass_deletion_is_refused_until_it_is_allowed() {
    let repository = Repository::new();
    let rows = |from: usize| (from..40).map(|n| format!("m-{n},Map {n}\n")).collect::<String>();
    repository.write("all.csv", format!("id,title\n{}", rows(0)));
    repository.write("few.csv", format!("id,title\n{}", rows(20)));
    repository.write("none.csv", "id,title\n");
    repository.fine(&["import", "all.csv"]);
    let printed = repository.ends(2, &["import", "--sync", "few.csv"]);
    assert!(
        printed.contains("20 of 40") && printed.contains("--max-deletions 50"),
        "{printed}"
    );
    repository.ends(2, &["import", "--sync", "--max-deletions", "100", "none.csv"]);
    assert!(!repository.fine(&["export"]).contains("\"deleted\":true"));
    repository.fine(&["import", "--sync", "--max-deletions", "50", "few.csv"]);
    assert_eq!(repository.fine(&["export"]).matches("\"deleted\":true").count(), 20);
    repository.fine(&["import", "--sync", "all.csv"]);
    assert!(
        !repository.fine(&["export"]).contains("\"deleted\":true"),
        "records came back"
    );
}

#[test]
fn records_are_deleted_and_restored_by_either_name() {
    let repository = Repository::new();
    repository.write("records.csv", TABLE);
    repository.fine(&["import", "records.csv"]);
    let live = repository.content();
    repository.fine(&["delete", "map-001", "oai:example.org:map-002"]);
    assert!(
        repository
            .content()
            .iter()
            .all(|record| record["deleted"] == true && record["sets"][0] != "")
    );
    repository.fine(&["restore", "oai:example.org:map-001", "map-002"]);
    assert_eq!(repository.content(), live);
    assert!(
        repository
            .ends(1, &["delete", "nobody"])
            .contains("no record oai:example.org:nobody")
    );
    repository.fine(&["delete", "--erase", "map-001"]);
    assert!(
        repository
            .ends(1, &["restore", "map-001"])
            .contains("no content to restore")
    );
}

#[test]
fn sets_are_named_described_and_removed() {
    let repository = Repository::new();
    repository.write("records.csv", TABLE);
    repository.fine(&["import", "records.csv"]);
    repository.fine(&[
        "set",
        "define",
        "photos:old",
        "--name",
        "Old photographs",
        "--description",
        "Before 1900",
    ]);
    repository.fine(&["set", "name", "maps", "Maps & plans"]);
    let list = repository.fine(&["set", "list"]);
    assert!(
        list.contains("Maps & plans") && list.contains("photos:old") && list.contains("photos "),
        "{list}"
    );
    repository.fine(&["set", "remove", "photos"]);
    assert!(
        repository
            .ends(2, &["set", "remove", "maps"])
            .contains("still has 2 records")
    );
    assert!(
        repository
            .ends(2, &["set", "name", "nix", "Nothing"])
            .contains("stook set define nix")
    );
    assert!(
        repository
            .ends(2, &["set", "define", "a::b"])
            .contains("is not a setSpec")
    );
}

#[test]
fn a_backup_is_a_store_of_its_own() {
    let repository = Repository::new();
    repository.write("records.csv", TABLE);
    repository.fine(&["import", "records.csv"]);
    repository.fine(&["source", "add", "elsewhere", "https://oai.example.org/oai"]);
    let status = repository.fine(&["status"]);
    assert!(
        status.contains("Source      elsewhere") && status.contains("never harvested"),
        "{status}"
    );
    repository.fine(&["backup", "copy.db"]);
    assert!(repository.ends(2, &["backup", "copy.db"]).contains("already a file"));
    assert!(repository.ends(2, &["backup", "away/copy.db"]).contains("mkdir"));
    repository.fine(&["delete", "map-001", "map-002"]);
    let configuration = std::fs::read_to_string(repository.path("stook.toml")).unwrap();
    repository.write("copy.toml", configuration.replace("stook.db", "copy.db"));
    repository.fine(&["-c", "copy.toml", "check"]);
    assert!(
        repository
            .fine(&["-c", "copy.toml", "status"])
            .contains("2 records, 0 deleted")
    );
}

#[test]
fn mistakes_are_told_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let printed = command(folder.path(), &["status"]).output().unwrap();
    assert_eq!(printed.status.code(), Some(2));
    assert!(text(&printed.stderr).contains("Try: stook init"));
    let repository = Repository::new();
    for (arguments, expected) in [
        (&["init", "--yes"][..], "already a configuration"),
        (&["import", "nowhere.csv"], "nowhere.csv"),
        (&["--repository", "other", "status"], "one of main"),
        (&["export", "--prefix", "mods"], "stook import first"),
        (&["export", "--from", "yesterday"], "yesterday"),
        (&["import", "--encoding", "klingon", "x.csv"], "windows-1252"),
        (&["import", "--id", "foo", "x.mrc"], "this names no field of MARC"),
    ] {
        let printed = repository.ends(2, arguments);
        assert!(printed.contains(expected), "{arguments:?}: {printed}");
    }
    for (option, value, reason) in [
        ("--name", " ", "it is empty"),
        ("--admin-email", "nobody", "it is not an e-mail address"),
        ("--namespace", "no domain", "no domain"),
        ("--base-url", "ftp://x", "it does not begin with http://"),
    ] {
        let complete = [
            "init",
            "--yes",
            "--dir",
            "new",
            "--name",
            "N",
            "--admin-email",
            "a@b.org",
            "--namespace",
            "b.org",
        ];
        let at = complete.iter().position(|argument| *argument == option);
        let mut arguments = complete.to_vec();
        match at {
            Some(at) => arguments[at + 1] = value,
            None => arguments.extend([option, value]),
        }
        let printed = repository.ends(2, &arguments);
        assert!(
            printed.contains("will not do: ") && printed.contains(reason),
            "{printed}"
        );
    }
    let configuration = std::fs::read_to_string(repository.path("stook.toml")).unwrap();
    repository.write("stook.toml", format!("{configuration}\n[nonsense]\n"));
    assert!(repository.ends(2, &["status"]).contains("nonsense"));
    repository.write("stook.toml", configuration);
    repository.write(
        "stook.db",
        "this is no database at all, just some text that is long enough to be looked at",
    );
    assert!(repository.ends(2, &["status"]).contains("is not a Stook store"));
}

#[test]
fn a_taken_port_is_told() {
    let repository = Repository::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let printed = repository.ends(2, &["serve", "--listen", &taken.local_addr().unwrap().to_string()]);
    assert!(printed.contains("Try: stop the other program"), "{printed}");
}

#[test]
fn completions_and_manual_pages_are_made() {
    let repository = Repository::new();
    assert!(repository.fine(&["completions", "bash"]).contains("_stook"));
    assert!(repository.fine(&["man"]).contains(".TH stook"));
    repository.fine(&["man", "--dir", "man"]);
    assert!(repository.path("man/stook-import.1").exists());
}

#[cfg(unix)]
#[test]
fn two_servers_and_an_import_share_one_store_and_stop_when_asked() {
    use std::process::Command;
    let repository = Repository::new();
    repository.write("records.csv", TABLE);
    let ports: Vec<String> = (0..2)
        .map(|_| {
            TcpListener::bind("127.0.0.1:0")
                .unwrap()
                .local_addr()
                .unwrap()
                .to_string()
        })
        .collect();
    let mut servers: Vec<_> = ports
        .iter()
        .map(|listen| {
            repository
                .command(&["serve", "--listen", listen])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    ports.iter().for_each(|port| wait_for(port));
    repository.fine(&["import", "records.csv"]);
    for port in &ports {
        let answer = fetch(port, "/oai?verb=ListRecords&metadataPrefix=oai_dc");
        assert_eq!(answer.matches("<record>").count(), 2, "{answer}");
    }
    for server in &mut servers {
        Command::new("kill")
            .args(["-TERM", &server.id().to_string()])
            .status()
            .unwrap();
        assert!(server.wait().unwrap().success());
    }
}

fn wait_for(address: &str) {
    for _ in 0..100 {
        if TcpStream::connect(address).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("nothing listens on {address}");
}

fn fetch(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
