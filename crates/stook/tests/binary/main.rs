//! The built program, used as people use it: by its command line.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod commands;
mod copy;
mod crash;
mod formats;
#[path = "../support/place.rs"]
mod place;
mod quality;
#[path = "../support/running.rs"]
mod running;
mod sets;
mod sources;
mod sql;
mod validate;
mod watch;
mod xslt;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder with a repository in it.
struct Repository {
    folder: TempDir,
}

impl Repository {
    fn new() -> Repository {
        let repository = Repository {
            folder: tempfile::tempdir().unwrap(),
        };
        repository.fine(&[
            "init",
            "--name",
            "Test",
            "--admin-email",
            "a@example.org",
            "--namespace",
            "example.org",
            "--yes",
        ]);
        place::configured(repository.folder.path());
        repository
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn command(&self, arguments: &[&str]) -> Command {
        command(self.folder.path(), arguments)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed; returns what it printed.
    fn fine(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs a command that must end with this code; returns what it printed to both.
    fn ends(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
        printed
    }

    /// Everything but the datestamps, in order of identifiers.
    fn content(&self) -> Vec<serde_json::Value> {
        let mut records: Vec<serde_json::Value> = self
            .fine(&["export"])
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for record in &mut records {
            record.as_object_mut().unwrap().remove("datestamp");
        }
        records.sort_by_key(|record| record["identifier"].as_str().unwrap().to_owned());
        records
    }
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stook"));
    command.current_dir(folder).args(arguments).env_remove("STOOK_CONFIG");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
