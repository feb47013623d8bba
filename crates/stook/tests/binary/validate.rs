//! `stook validate`: what people type, what they get, and how it ends.

use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use misbehave::{Endpoint, Script, World};

use super::{Repository, command, text};

const TABLE: &str = "\
id,title,creator,date,language,type,identifier,description,publisher,set
1,City of Lindenau,\"Weiß, Anna\",1893,deu,Image,https://example.org/1,A plan of the city,City Archive,maps:city
2,Northern forest,\"Novák, Jan\",1911,ces,Image,https://example.org/2,A map of the forest,City Archive,maps:forest
3,Harbour in winter,\"Quill, Ida\",1921,eng,Image,https://example.org/3,A photograph,City Archive,
";

fn published() -> Repository {
    let repository = Repository::new();
    repository.write("records.csv", TABLE);
    repository.fine(&["import", "records.csv"]);
    repository
}

/// An endpoint that says `badArgument` where it should say `badVerb`.
fn faulty() -> Endpoint {
    Endpoint::start_bent(World::of(30), Script::new(), |heard, given| {
        if heard.query == "verb=junk" {
            given.answer_error("idDoesNotExist");
        }
    })
    .unwrap()
}

#[test]
fn ones_own_repository_is_tested_before_it_is_public() {
    let repository = published();
    // Nobody answers at this base URL, and nobody but one network would be let in.
    let path = repository.path("stook.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let settings = settings.replace("base_url = \"\"", "base_url = \"https://not-yet.example.org/oai\"")
        + "\n[repository.access]\nusers = [{ name = \"a\", password = \"b\" }]\n";
    fs::write(&path, settings).unwrap();
    let output = repository.run(&["validate", "--no-evidence"]);
    let (printed, told) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{printed}{told}");
    assert!(printed.contains("https://not-yet.example.org/oai (Test)"), "{printed}");
    assert!(printed.contains("Nothing is wrong."), "{printed}");
    assert!(
        told.contains("without its access rules, hostile requests too"),
        "{told}"
    );
    assert!(!repository.path("stook-evidence").exists());
}

#[test]
fn what_is_wrong_ends_with_1_and_leaves_evidence_and_reports() {
    let endpoint = faulty();
    let folder = tempfile::tempdir().unwrap();
    let url = endpoint.url();
    let reports = ["r.txt", "r.json", "r.html", "r.xml"].map(|name| format!("--report={name}"));
    let mut arguments = vec!["validate", "--only", "E-3", &url];
    arguments.extend(reports.iter().map(String::as_str));
    let output = command(folder.path(), &arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    assert!(
        printed.contains("came   idDoesNotExist instead of badVerb"),
        "{printed}"
    );
    assert!(!printed.contains('\u{1b}'), "colours are for terminals: {printed:?}");
    assert_eq!(fs::read_to_string(folder.path().join("r.txt")).unwrap(), printed);
    for (name, beginning) in [("r.json", "{"), ("r.html", "<!DOCTYPE html>"), ("r.xml", "<?xml ")] {
        let report = fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(report.starts_with(beginning) && report.contains("E-3"), "{name}");
        assert!(!folder.path().join(format!("{name}.partial")).exists());
    }
    let see = printed
        .lines()
        .find_map(|line| line.trim().strip_prefix("see    "))
        .unwrap();
    let evidence = fs::read_to_string(folder.path().join(see)).unwrap();
    assert!(
        evidence.starts_with("GET http://127.0.0.1") && evidence.contains("idDoesNotExist"),
        "{evidence}"
    );

    // The next run, with nothing wrong, says what was mended.
    let good = Endpoint::start(World::of(30), Script::new()).unwrap();
    let good_url = good.url();
    let again = ["validate", "--only=E-3", "--earlier=r.json", &good_url];
    let output = command(folder.path(), &again).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(
        text(&output.stdout).contains("mended E-3; newly broken nothing"),
        "{}",
        text(&output.stdout)
    );
    assert!(
        text(&output.stderr).contains("the earlier report is about"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn what_cannot_be_tested_ends_with_2() {
    let repository = Repository::new();
    repository.write("other.xml", "<a/>");
    repository.write("broken.json", "{");
    for (arguments, said) in [
        (&["validate", "http://127.0.0.1:9/oai"][..], "Connection refused"),
        (
            &["validate", "http://127.0.0.1:9/oai"],
            "?verb=Identify behind it in a browser",
        ),
        (&["validate", "other.xml"], "It could not be tested."),
        (
            &["validate", "example.org/oai"],
            "Try: the base URL with its beginning, such as https://example.org/oai",
        ),
        (
            &["validate", "--only", "Y-1", "http://127.0.0.1:9/oai"],
            "there is no check or family \"Y-1\"",
        ),
        // What tests nothing is not clean.
        (
            &["validate", "--only", "U", "http://127.0.0.1:9/oai"],
            "U-1 is only made with --hostile",
        ),
        (
            &["validate", "--only", "GW-1", "http://127.0.0.1:9/oai"],
            "takes more than asking",
        ),
        (
            &["validate", "--only", "X", "--skip", "X", "http://127.0.0.1:9/oai"],
            "both asked for and left out",
        ),
        (
            &["validate", "--report", "r.doc", "http://127.0.0.1:9/oai"],
            "Try: .txt, .json, .html or .xml",
        ),
        (
            &["validate", "--report", "no/r.xml", "http://127.0.0.1:9/oai"],
            "there is no folder",
        ),
        (
            &["validate", "--earlier", "broken.json", "http://127.0.0.1:9/oai"],
            "is no report of stook validate",
        ),
        (
            &["validate", "--contact", "me", "http://127.0.0.1:9/oai"],
            "is no mail address",
        ),
        (
            &["validate", "--user", "me", "http://127.0.0.1:9/oai"],
            "STOOK_PASSWORD",
        ),
        (
            &["validate", "-r", "main", "http://127.0.0.1:9/oai"],
            "Try: one of the two",
        ),
    ] {
        let printed = repository.ends(2, arguments);
        assert!(printed.contains(said), "{arguments:?}: {printed}");
    }
}

#[test]
fn credentials_reach_the_repository_and_nothing_else() {
    let endpoint = Endpoint::start_bent(World::of(30), Script::new(), |heard, given| {
        // me:secret
        let is_known =
            heard.header("Authorization") == Some("Basic bWU6c2VjcmV0") && heard.header("X-Key") == Some("12");
        if !is_known {
            given.status = 401;
            given.body = b"Who are you?".to_vec();
        } else if heard.query == "verb=junk" {
            given.answer_error("idDoesNotExist");
        }
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let url = endpoint.url();
    let arguments = [
        "validate",
        "--only=E-3",
        "--user=me",
        "--header=X-Key: 12",
        "--report=r.json",
        &url,
    ];
    let output = command(folder.path(), &arguments)
        .env("STOOK_PASSWORD", "secret")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    let mut all = text(&output.stdout) + &text(&output.stderr);
    all += &fs::read_to_string(folder.path().join("r.json")).unwrap();
    for entry in walk(&folder.path().join("stook-evidence")) {
        all += &fs::read_to_string(entry).unwrap();
    }
    assert!(
        all.contains("idDoesNotExist") && !all.contains("bWU6c2VjcmV0") && !all.contains("secret"),
        "{all}"
    );
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] })
        .collect()
}

#[test]
fn a_run_that_is_stopped_tells_what_it_found() {
    let endpoint = Endpoint::start_bent(World::of(30), Script::new(), |heard, given| {
        if heard.query.is_empty() {
            given.answer_error("idDoesNotExist");
        } else if heard.query == "junk" {
            // Long enough for somebody to lose patience.
            std::thread::sleep(Duration::from_secs(3));
        }
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let url = endpoint.url();
    let mut running = command(folder.path(), &["validate", "--only=E", "--no-evidence", &url])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while !endpoint.requests().iter().any(|asked| asked.query == "junk") {
        assert!(Instant::now() < deadline, "it never came so far");
        std::thread::sleep(Duration::from_millis(50));
    }
    let interrupted = std::process::Command::new("kill")
        .args(["-INT", &running.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupted.success());
    let mut printed = String::new();
    running.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(1), "{printed}");
    assert!(
        printed.contains("E-1") && printed.contains("The run ended early: it was stopped."),
        "{printed}"
    );
}

#[test]
fn limits_and_manners_are_kept() {
    let endpoint = Endpoint::start(World::of(30), Script::new()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let url = endpoint.url();
    let arguments = [
        "validate",
        "--max-requests=4",
        "--pause-milliseconds=150",
        "--contact=a@example.org",
        &url,
    ];
    let began = Instant::now();
    let output = command(folder.path(), &arguments).output().unwrap();
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(
        printed.contains("4 requests were sent, which is the limit"),
        "{printed}"
    );
    assert_eq!(endpoint.requests().len(), 4);
    assert!(began.elapsed() >= Duration::from_millis(450), "{:?}", began.elapsed());
    let from = endpoint.requests()[0].header("From").map(str::to_owned);
    assert_eq!(from.as_deref(), Some("a@example.org"));
}

#[test]
fn pages_of_all_checks_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let output = command(folder.path(), &["docs", "pages"]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let index = fs::read_to_string(folder.path().join("pages/index.html")).unwrap();
    assert!(index.contains("href=\"E-3.html\""), "{index}");
    assert!(folder.path().join("pages/E-3.html").is_file() && folder.path().join("pages/Q.html").is_file());
}
