//! Where the stores of a test program are: in files, or, where STOOK_TEST_STORE is `server`, on a PostgreSQL server.
//!
//! A test program that has proved its point on files proves it again on a server by running itself a second time, with
//! those of its tests that ask something of the store ([`once_more_on_a_server`]).

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test program uses its own part of this, and whatever fails here fails the test"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

use stook_store::StoreAddress;
use testserver::Server;

const VARIABLE: &str = "STOOK_TEST_STORE";

/// A configuration has a repository, even if all that is done with it is to harvest.
pub const SOME_REPOSITORY: &str = r#"
[[repository]]
base_url = "http://127.0.0.1:8080/oai"
repository_name = "Test"
admin_emails = ["a@example.org"]
namespace = "example.org"
"#;

/// Where a new store may be made: a file in this folder, or a schema of its own.
pub fn address(folder: &Path) -> StoreAddress {
    match std::env::var(VARIABLE).as_deref() {
        Err(_) => StoreAddress::File(folder.join("stook.db")),
        Ok("server") => StoreAddress::Server(Server::shared().fresh_url()),
        Ok(other) => panic!("{VARIABLE} is {other:?}. Try: server, or nothing"),
    }
}

/// Whether that is a server. There everything takes longer, so that less of it is done.
pub fn is_server() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// The same, for the program when it is run in this folder: the configuration there names it.
pub fn configured(folder: &Path) -> StoreAddress {
    let address = address(folder);
    if let StoreAddress::Server(url) = &address {
        let file = folder.join("stook.toml");
        let text = fs::read_to_string(&file).unwrap_or_else(|_| SOME_REPOSITORY.to_owned());
        let others = text.lines().filter(|line| !line.starts_with("store = "));
        let text = others.fold(format!("store = {url:?}\n"), |text, line| text + line + "\n");
        fs::write(file, text).unwrap();
    }
    address
}

/// Runs tests of this program again, with their stores on a server. A name is that of a test or of several, by the
/// beginning that they share.
pub fn once_more_on_a_server(tests: &[&str]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .env(VARIABLE, "server")
        .args(["--skip", "on_a_server"])
        .args(tests);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    for name in tests {
        let begins = format!("test {name}");
        let ran = text
            .lines()
            .any(|line| line.starts_with(&begins) && line.ends_with("... ok"));
        assert!(ran, "no test is called {name}:\n{text}");
    }
}
