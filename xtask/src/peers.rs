//! Other OAI-PMH providers, given records: measured, and harvested from.
//!
//! Each holds its records in memory, the fastest store it can have, and runs
//! with two workers, as many as the machine that sets the figures has cores.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::install;
use crate::server::{Repository, Server, base_url};
use crate::workspace::{free_port, root};

/// A provider and how it is started on a port.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    command: fn(port: u16) -> Result<Command>,
}

pub(crate) const PEERS: &[Peer] = &[
    Peer {
        name: "oai-repo",
        command: |port| gunicorn(&install::OAI_REPO, "oai_repo_server:app", port),
    },
    Peer {
        name: "pyoai",
        command: |port| gunicorn(&install::PYOAI_SERVER, "pyoai_server:app", port),
    },
    Peer {
        name: "Catmandu",
        command: |port| {
            let mut command = Command::new("starman");
            command
                .args(["--preload-app", "--workers", "2", "--env", "deployment", "--listen"])
                .arg(format!("127.0.0.1:{port}"))
                .arg(scripts().join("catmandu.psgi"));
            Ok(command)
        },
    },
];

impl Peer {
    /// Starts the peer with the records in `records`, an export.
    ///
    /// # Errors
    /// When it does not start.
    pub(crate) fn start(&self, records: &Path, page_size: usize, logs: &Path) -> Result<Server> {
        self.start_on(free_port()?, records, page_size, logs)
    }

    /// As [`start`](Self::start), on that port: what was harvested there
    /// before has changed.
    ///
    /// # Errors
    /// When it does not start.
    pub(crate) fn start_on(&self, port: u16, records: &Path, page_size: usize, logs: &Path) -> Result<Server> {
        let mut command = (self.command)(port)?;
        command
            .env("PEER_RECORDS", records)
            .env("PEER_PAGE_SIZE", page_size.to_string())
            .env("PEER_BASE_URL", base_url(port));
        Server::start(self.name, &mut command, port, "/oai?verb=Identify", logs)
    }
}

fn gunicorn(environment: &install::Environment, application: &str, port: u16) -> Result<Command> {
    let mut command = Command::new(environment.program("gunicorn")?);
    command
        .args(["--preload", "--workers", "2", "--bind"])
        .arg(format!("127.0.0.1:{port}"))
        .arg("--chdir")
        .arg(scripts())
        .arg(application);
    // Compiled Python would be left in the source tree.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

fn scripts() -> std::path::PathBuf {
    root().join("xtask/peers")
}

/// Writes the first `count` records of the repository to `file`.
///
/// # Errors
/// When exporting fails or the repository has none.
pub(crate) fn export(repository: &Repository, count: u64, file: &Path) -> Result<u64> {
    let mut child = repository
        .stook()
        .args(["export", "--format", "jsonl", "--prefix", "oai_dc"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start stook export")?;
    let exported = BufReader::new(child.stdout.take().context("stook export has no output")?);
    let mut out = BufWriter::new(File::create(file).with_context(|| format!("making {}", file.display()))?);
    let mut written = 0;
    for line in exported.lines() {
        writeln!(out, "{}", line.context("reading the export")?)?;
        written += 1;
        if written == count {
            break;
        }
    }
    out.flush()?;
    // The rest is not wanted, and an export whose reader has gone complains.
    let _ = child.kill();
    let _ = child.wait();
    if written == 0 {
        bail!("stook export wrote nothing");
    }
    Ok(written)
}
