//! A real nginx in front of several nodes, in a folder and on a port of its own.

use std::process::Command;

use tempfile::TempDir;

use crate::{Running, wait_until_it_answers};

pub(crate) struct Proxy {
    _process: Running,
    folder: TempDir,
}

impl Proxy {
    /// Starts it; nodes take turns, and a request that a node does not answer goes to the next.
    pub(crate) fn start(port: u16, nodes: &[u16]) -> Proxy {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display().to_string();
        let nodes: Vec<String> = nodes.iter().map(|node| format!("server 127.0.0.1:{node};")).collect();
        let temporary: Vec<String> = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|kind| format!("{kind}_temp_path {at}/{kind};"))
            .collect();
        let configuration = format!(
            "daemon off; master_process off; pid {at}/pid; error_log {at}/error.log;
             events {{ worker_connections 512; }}
             http {{
                 {}
                 log_format nodes '$upstream_addr $status';
                 access_log {at}/access.log nodes;
                 upstream nodes {{ {} }}
                 server {{
                     listen 127.0.0.1:{port};
                     location / {{
                         proxy_pass http://nodes;
                         proxy_next_upstream error timeout;
                     }}
                 }}
             }}",
            temporary.join("\n"),
            nodes.join(" ")
        );
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, configuration).unwrap();
        // Debian keeps it where only root's PATH looks.
        let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new("nginx");
        command
            .env("PATH", path)
            .args(["-p", &at, "-e", &format!("{at}/error.log"), "-c"])
            .arg(file);
        let process = Running::try_start(command)
            .unwrap_or_else(|error| panic!("nginx cannot be started: {error}. Try: apt-get install nginx"));
        wait_until_it_answers(&format!("http://127.0.0.1:{port}/healthz"));
        Proxy {
            _process: process,
            folder,
        }
    }

    /// The answers so far: which node, or nodes, and the status.
    pub(crate) fn answers(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.folder.path().join("access.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }
}
