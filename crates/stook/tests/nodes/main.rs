//! Several processes of the built program on one database: servers behind one address, harvesters that share their
//! work, and what each does while the database is away.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod outage;
#[path = "../support/place.rs"]
mod place;
mod proxy;
mod replica;
#[path = "../support/running.rs"]
mod running;
mod serving;
mod sharing;
#[allow(dead_code, reason = "these tests use a part of it")]
#[path = "../harvest/support.rs"]
mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use running::{PATIENCE, Running};

/// What an export says of each record, beside its datestamp.
type Content = BTreeMap<String, (bool, Vec<String>, String)>;

/// A folder to run the program in.
struct Site {
    folder: TempDir,
}

impl Site {
    /// With this configuration, or none.
    fn new(configuration: &str) -> Site {
        let site = Site {
            folder: tempfile::tempdir().unwrap(),
        };
        if !configuration.is_empty() {
            site.write("stook.toml", configuration);
        }
        site
    }

    /// With a repository in a database, reached at this port.
    fn with_repository(database: &str, port: u16, page_size: usize) -> Site {
        Site::new(&format!(
            "store = \"{database}\"
             [server]
             client_requests_per_second = 0
             client_concurrent_requests = 0
             [[repository]]
             base_url = \"{}\"
             repository_name = \"Nodes\"
             admin_emails = [\"a@example.org\"]
             namespace = \"example.org\"
             page_size = {page_size}\n",
            base_url(port)
        ))
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stook"));
        command
            .current_dir(self.path())
            .args(arguments)
            .env_remove("STOOK_CONFIG")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command that must succeed; returns what it printed.
    fn fine(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let printed = text(&output.stdout);
        assert!(
            output.status.success(),
            "{arguments:?}: {}\n{printed}{}",
            output.status,
            text(&output.stderr)
        );
        printed
    }

    /// Starts a command; what it prints is kept.
    fn start(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(arguments))
    }

    /// Starts `stook serve` and waits until it answers.
    fn serve(&self, port: u16) -> Running {
        let running = self.start(&["serve", "--listen", &format!("127.0.0.1:{port}")]);
        wait_until_it_answers(&format!("http://127.0.0.1:{port}/healthz"));
        running
    }

    /// What `stook export` with these arguments says.
    fn content(&self, arguments: &[&str]) -> Content {
        let exported = self.fine(&[&["export"], arguments].concat());
        let records = exported
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut content = Content::new();
        for record in records {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let mut sets: Vec<String> = record["sets"].as_array().into_iter().flatten().map(text).collect();
            sets.sort();
            let deleted = record["deleted"] == true;
            let said = (deleted, sets, text(&record["metadata"]["oai_dc"]));
            let before = content.insert(text(&record["identifier"]), said);
            assert!(before.is_none(), "a record is there twice: {record}");
        }
        content
    }
}

/// An answer, as far as it came.
struct Answer {
    status: u16,
    retry_after: Option<String>,
    /// None: it broke off.
    body: Option<String>,
}

fn ask(url: &str) -> Result<Answer, ureq::Error> {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(PATIENCE))
        .build();
    let mut response = ureq::Agent::new_with_config(config).get(url).call()?;
    let retry_after = response.headers().get("retry-after");
    Ok(Answer {
        status: response.status().as_u16(),
        retry_after: retry_after.map(|value| value.to_str().unwrap().to_owned()),
        body: response.body_mut().read_to_string().ok(),
    })
}

fn wait_until_it_answers(url: &str) {
    let began = Instant::now();
    while !ask(url).is_ok_and(|answer| answer.status == 200) {
        assert!(began.elapsed() < PATIENCE, "{url} is not answered");
        sleep(Duration::from_millis(50));
    }
}

fn base_url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/oai")
}

/// A port that nothing listens on at this moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Records as JSON lines. Every version of a record differs, and some versions are deletions.
fn lines(numbers: impl Iterator<Item = usize>, version: usize) -> String {
    let mut lines = String::new();
    for n in numbers {
        let set = format!("kind:{}", n % 5);
        let _ = match (n + version) % 23 {
            7 => writeln!(lines, r#"{{"identifier":"r-{n}","sets":["{set}"],"deleted":true}}"#),
            _ => writeln!(
                lines,
                r#"{{"identifier":"r-{n}","sets":["{set}"],"title":"Record {n}, version {version}","description":"{}"}}"#,
                "Karte mapa карта 地図 ".repeat(20)
            ),
        };
    }
    lines
}
