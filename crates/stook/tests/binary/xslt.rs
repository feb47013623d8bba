//! Crosswalks by stylesheets, as people use them. They need xsltproc: apt install xsltproc.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Repository, text};

const HEAD: &str = r#"<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns="http://www.loc.gov/mods/v3" exclude-result-prefixes="dc">"#;

/// A stylesheet that makes MODS of titles; one is written out as `{…}`.
fn stylesheet(title: &str) -> String {
    format!(
        "{HEAD}<xsl:template match=\"/\"><xsl:if test=\"//dc:title = 'Bad'\"><xsl:message terminate=\"yes\">it is \
         bad</xsl:message></xsl:if><mods><titleInfo><title>{title}</title></titleInfo></mods></xsl:template>\
         </xsl:stylesheet>"
    )
}

const TITLE: &str = "<xsl:value-of select=\"//dc:title\"/>";

fn with_records(titles: &[&str]) -> Repository {
    let repository = Repository::new();
    repository.write("a.jsonl", records(titles));
    repository.fine(&["import", "a.jsonl"]);
    repository
}

fn records(titles: &[&str]) -> String {
    let line = |(at, title): (usize, &&str)| format!("{{\"identifier\":\"{at}\",\"title\":\"{title}\"}}\n");
    titles.iter().enumerate().map(line).collect()
}

/// Identifier, datestamp and metadata of each live record in MODS.
fn in_mods(repository: &Repository) -> Vec<(String, String, String)> {
    let exported = repository.fine(&["export", "--prefix", "mods"]);
    let record = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        (
            text(&record["identifier"]),
            text(&record["datestamp"]),
            text(&record["metadata"]["mods"]),
        )
    };
    let mut records: Vec<_> = exported.lines().map(record).collect();
    records.sort();
    records
}

const PREVIEW: [&str; 6] = ["format", "preview", "mods", "--from", "oai_dc", "--stylesheet"];

fn preview(stylesheet: &str) -> Vec<&str> {
    PREVIEW.into_iter().chain([stylesheet]).collect()
}

#[test]
fn the_example_in_the_documentation_is_made_as_it_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/crosswalks.md");
    let documentation = fs::read_to_string(path).unwrap();
    let (_, section) = documentation.split_once("## By a stylesheet").unwrap();
    let block = |kind: &str, which: usize| {
        let after = section.split(&format!("```{kind}\n")).nth(which).unwrap();
        after.split("```").next().unwrap().to_owned()
    };
    let repository = Repository::new();
    let configured = fs::read_to_string(repository.path("stook.toml")).unwrap();
    repository.write("stook.toml", configured + &block("toml", 2));
    repository.write("label.xsl", block("xml", 1));
    repository.write("map-1.xml", block("xml", 2));
    repository.write("other.jsonl", records(&["Without call number"]));
    repository.fine(&["import", "map-1.xml", "other.jsonl"]);

    let (_, command) = section.split_once("`stook format preview ").unwrap();
    let command = command.split('`').next().unwrap();
    let mut arguments = vec!["format", "preview"];
    arguments.extend(command.split(' '));
    arguments.extend(["--identifier", "map-1", "--result-only"]);
    let shown = repository.fine(&arguments);
    let in_one_line = |xml: &str| xml.lines().map(str::trim).collect::<String>();
    let (root, rest) = shown.lines().nth(1).unwrap().split_once('>').unwrap();
    let (expected_root, expected) = in_one_line(&block("xml", 3))
        .split_once('>')
        .map(|(root, rest)| (root.to_owned(), rest.to_owned()))
        .unwrap();
    assert_eq!(rest, expected);
    assert!(root.starts_with(&expected_root), "{root}");

    arguments.truncate(arguments.len() - 3);
    arguments[1] = "add";
    let told = repository.fine(&arguments);
    assert!(told.contains("stylesheet = ") && told.contains("1 new"), "{told}");
    assert!(repository.fine(&["format", "list"]).contains("label.xsl"));
}

#[test]
fn a_changed_stylesheet_restamps_only_what_comes_out_differently() {
    let repository = with_records(&["One", "TWO", "Bad"]);
    repository.write("my.xsl", stylesheet(TITLE));
    let told = repository.ends(
        1,
        &["format", "add", "mods", "--from", "oai_dc", "--stylesheet", "my.xsl"],
    );
    assert!(told.contains("2 new") && told.contains("1 cannot be made"), "{told}");
    assert!(told.contains("oai:example.org:2: it is bad"), "{told}");
    let before = in_mods(&repository);
    assert_eq!(before.len(), 2);
    std::thread::sleep(Duration::from_millis(1_100));

    let upper = "<xsl:value-of select=\"translate(//dc:title, 'ne', 'NE')\"/>";
    repository.write("my.xsl", stylesheet(upper));
    let told = repository.ends(1, &["format", "refresh", "mods"]);
    assert!(told.contains("3 records read") && told.contains("1 changed"), "{told}");
    let after = in_mods(&repository);
    assert!(
        after[0].2.contains("<title>ONE</title>") && after[0].1 > before[0].1,
        "{after:?}"
    );
    assert_eq!(after[1], before[1], "what is the same keeps its datestamp");

    // New records are made by it too, and what it cannot make is quarantined by itself.
    repository.write("a.jsonl", records(&["One", "TWO", "Bad", "Three", "Bad"]));
    let told = repository.ends(1, &["import", "a.jsonl"]);
    assert!(
        told.contains("1 made from these") && told.contains("2 quarantined"),
        "{told}"
    );
    assert_eq!(in_mods(&repository).len(), 3);
    assert!(repository.fine(&["quarantine"]).contains("it is bad"));
}

#[test]
fn what_is_wrong_with_a_stylesheet_is_told_and_nothing_is_done() {
    let repository = with_records(&["One"]);
    for (what, parts) in [
        (
            format!(
                "{HEAD}\n<xsl:template match=\"/\"><a b=\"{{document('/etc/passwd')}}\"/></xsl:template></xsl:stylesheet>"
            ),
            ["line 3", "document()"],
        ),
        (
            format!("{HEAD}\n<xsl:include href=\"/etc/passwd\"/></xsl:stylesheet>"),
            ["line 3", "not relative"],
        ),
        (
            HEAD.replace("1.0", "2.0") + "</xsl:stylesheet>",
            ["2.0", "xsltproc runs 1.0"],
        ),
        (HEAD.to_owned(), ["bad.xsl", "before <xsl:stylesheet> is closed"]),
        (
            format!("{HEAD}<xsl:template match=\"]\"/></xsl:stylesheet>"),
            ["bad.xsl", "xsltproc does not accept"],
        ),
    ] {
        repository.write("bad.xsl", what);
        for command in ["preview", "add"] {
            let told = repository.ends(
                2,
                &["format", command, "mods", "--from", "oai_dc", "--stylesheet", "bad.xsl"],
            );
            assert!(
                parts.iter().all(|part| told.contains(part)) && told.contains("\nTry: "),
                "{told}"
            );
        }
    }
    let told = repository.ends(2, &preview("nosuch.xsl"));
    assert!(told.contains("nosuch.xsl"), "{told}");
    let told = repository.ends(2, &[&preview("bad.xsl")[..], &["--mapping", "my.map"]].concat());
    assert!(told.contains("--mapping"), "{told}");
    let configured = fs::read_to_string(repository.path("stook.toml")).unwrap();
    assert!(!configured.contains("bad.xsl"), "{configured}");
    // What it makes is not what it should be.
    repository.write("bad.xsl", stylesheet(TITLE).replace("mods>", "sdom>"));
    let told = repository.ends(1, &preview("bad.xsl"));
    assert!(told.contains("as mods: the root is") && told.contains("sdom"), "{told}");

    let both = "\n[[crosswalk]]\nfrom = \"oai_dc\"\nto = \"mods\"\nmapping = \"a\"\nstylesheet = \"b\"\n";
    repository.write("stook.toml", configured + both);
    let told = repository.ends(2, &["format", "list"]);
    assert!(
        told.contains("a mapping and a stylesheet") && told.contains("\nTry: "),
        "{told}"
    );
}

#[test]
fn without_xsltproc_nothing_is_begun() {
    let repository = with_records(&["One"]);
    repository.write("my.xsl", stylesheet(TITLE));
    let configured = fs::read_to_string(repository.path("stook.toml")).unwrap();
    let crosswalk = "\n[[crosswalk]]\nfrom = \"oai_dc\"\nto = \"mods\"\nstylesheet = \"my.xsl\"\n";
    let without = |arguments: &[&str]| {
        let output = repository
            .command(arguments)
            .env("PATH", "/nonexistent")
            .output()
            .unwrap();
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let (code, told) = without(&["format", "add", "mods", "--from", "oai_dc", "--stylesheet", "my.xsl"]);
    assert_eq!(code, Some(2), "{told}");
    assert_eq!(fs::read_to_string(repository.path("stook.toml")).unwrap(), configured);
    repository.write("stook.toml", configured + crosswalk);
    repository.write("b.jsonl", "{\"identifier\":\"new\",\"title\":\"New\"}\n");
    for arguments in [
        &["format", "refresh", "mods"][..],
        &["import", "b.jsonl"],
        &preview("my.xsl"),
    ] {
        let (code, told) = without(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {told}");
        assert!(
            told.contains("\nTry: apt install xsltproc") && told.contains("libxslt"),
            "{told}"
        );
    }
    assert_eq!(repository.content().len(), 1, "nothing was imported");
    assert_eq!(without(&["status"]).0, Some(0), "what needs no stylesheet works");
    repository.fine(&["import", "b.jsonl"]);
    assert_eq!(in_mods(&repository).len(), 1);
    // The stylesheet is found beside the configuration, wherever the command is given.
    let configuration = repository.path("stook.toml");
    let mut elsewhere = repository.command(&["-c", configuration.to_str().unwrap(), "format", "list"]);
    let output = elsewhere.current_dir("/").output().unwrap();
    assert!(text(&output.stdout).contains("my.xsl"), "{}", text(&output.stderr));
}

/// Asked for once or twice, in the middle of a run that never ends.
#[test]
fn a_command_that_is_stopped_leaves_no_process_and_no_folder() {
    let slow = r#"<xsl:template match="/"><xsl:call-template name="s"><xsl:with-param name="n" select="60"/></xsl:call-template
        ></xsl:template><xsl:template name="s"><xsl:param name="n"/><xsl:if test="$n &gt; 0"><xsl:call-template name="s"
        ><xsl:with-param name="n" select="$n - 1"/></xsl:call-template><xsl:call-template name="s"><xsl:with-param name="n"
        select="$n - 1"/></xsl:call-template></xsl:if></xsl:template>"#;
    let repository = with_records(&["One"]);
    repository.write("slow.xsl", format!("{HEAD}{slow}</xsl:stylesheet>"));
    let configured = fs::read_to_string(repository.path("stook.toml")).unwrap();
    let crosswalk = "\n[[crosswalk]]\nfrom = \"oai_dc\"\nto = \"mods\"\nstylesheet = \"slow.xsl\"\n";
    repository.write("stook.toml", configured + crosswalk);
    repository.write("b.jsonl", "{\"identifier\":\"new\",\"title\":\"New\"}\n");
    for (arguments, signals) in [
        (&["format", "refresh", "mods"][..], 2),
        (&["import", "b.jsonl"], 1),
        (&preview("slow.xsl"), 1),
    ] {
        // A folder that nobody could take for a URI, and a name by which our processes can be told from others.
        let temporary = repository.path("with # and %20 and é");
        let programs = repository.path("programs");
        fs::create_dir_all(&temporary).unwrap();
        if !programs.exists() {
            fs::create_dir(&programs).unwrap();
            let found = text(
                &Command::new("sh")
                    .args(["-c", "command -v xsltproc"])
                    .output()
                    .unwrap()
                    .stdout,
            );
            std::os::unix::fs::symlink(found.trim(), programs.join("xsltproc")).unwrap();
        }
        let mut command = repository.command(arguments);
        command
            .env("TMPDIR", &temporary)
            .env("PATH", &programs)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let is_running = || running_from(&programs) > 0;
        wait_until("xsltproc runs", is_running);
        for _ in 0..signals {
            Command::new("kill")
                .args(["-INT", &child.id().to_string()])
                .status()
                .unwrap();
            std::thread::sleep(Duration::from_millis(300));
        }
        let started = Instant::now();
        child.wait().unwrap();
        assert!(started.elapsed() < Duration::from_secs(4), "{arguments:?}");
        wait_until("xsltproc is gone", || running_from(&programs) == 0);
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "{arguments:?}");
    }
}

/// How many processes of xsltproc were started from this folder.
fn running_from(folder: &Path) -> usize {
    let output = Command::new("ps")
        .args(["-eo", "args"])
        .output()
        .expect("ps is there: apt install procps");
    let listed = text(&output.stdout);
    let is_ours = |line: &&str| line.contains("xsltproc ") && line.contains(folder.to_str().unwrap());
    // Run over a record, not only read.
    listed
        .lines()
        .filter(is_ours)
        .filter(|line| line.contains("0.xml"))
        .count()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(20), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_record_that_takes_for_ever_is_told_and_a_command_is_not_held_up() {
    let repository = with_records(&["One", "Endless", "Three"]);
    let endless = stylesheet(TITLE).replace(
        "</xsl:stylesheet>",
        r#"<xsl:template name="s"><xsl:param name="n"/><xsl:if test="$n &gt; 0"><xsl:call-template name="s"><xsl:with-param
        name="n" select="$n - 1"/></xsl:call-template><xsl:call-template name="s"><xsl:with-param name="n" select="$n - 1"
        /></xsl:call-template></xsl:if></xsl:template></xsl:stylesheet>"#,
    );
    let call = r#"<xsl:if test="//dc:title = 'Endless'"><xsl:call-template name="s"><xsl:with-param name="n" select="60"
        /></xsl:call-template></xsl:if><mods>"#;
    repository.write("my.xsl", endless.replace("<mods>", call));
    let started = Instant::now();
    let told = repository.ends(1, &preview("my.xsl"));
    assert!(
        told.contains("cannot be made: the stylesheet takes longer than 5 s for it"),
        "{told}"
    );
    assert!(
        told.contains("<title>One</title>") && told.contains("<title>Three</title>"),
        "{told}"
    );
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
}
