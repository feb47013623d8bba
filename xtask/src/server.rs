//! Servers that a test or measurement runs: started on loopback, waited for,
//! stopped when they go out of scope, whatever happens in between.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::http::Client;
use crate::workspace::{output, succeeds};

/// A running server.
pub(crate) struct Server {
    name: String,
    child: Child,
    pub(crate) port: u16,
}

impl Server {
    /// Starts a server and waits until `ready`, a path, is answered with 200.
    ///
    /// What it writes goes to `NAME.log` in `logs`.
    ///
    /// # Errors
    /// When it ends at once or does not answer in time; with the end of its log.
    pub(crate) fn start(name: &str, command: &mut Command, port: u16, ready: &str, logs: &Path) -> Result<Self> {
        let log = logs.join(format!("{name}.log"));
        let out = File::create(&log).with_context(|| format!("making {}", log.display()))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let mut server = Self {
            name: name.to_owned(),
            child,
            port,
        };
        server.wait_until_ready(ready, &log)?;
        Ok(server)
    }

    fn wait_until_ready(&mut self, ready: &str, log: &Path) -> Result<()> {
        // Loading records takes a peer a while.
        let deadline = Instant::now() + Duration::from_secs(180);
        loop {
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended with {status} at its start\n{}", self.name, tail(log));
            }
            if answers(self.port, ready) {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("{} does not answer {ready}\n{}", self.name, tail(log));
            }
            sleep(Duration::from_millis(50));
        }
    }

    /// The most memory that the server's first process had, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        peak_memory_of(self.child.id())
    }

    /// The processor time that the server and its workers took so far.
    pub(crate) fn processor_time(&self) -> Duration {
        processor_time_of(self.child.id())
    }
}

/// Linux counts processor time for programs in hundredths of a second.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// The processor time of a process and of those it started that still run.
pub(crate) fn processor_time_of(process: u32) -> Duration {
    let family = family_of(process);
    family.values().map(|ticks| TICK * *ticks).sum()
}

/// The memory that a process and those it started take together, in bytes:
/// what several share counts once.
pub(crate) fn memory_of(process: u32) -> u64 {
    let kilobytes = |number: &u32| {
        let rollup = fs::read_to_string(format!("/proc/{number}/smaps_rollup")).unwrap_or_default();
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
        let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.unwrap_or(0)
    };
    family_of(process).keys().map(kilobytes).sum::<u64>() * 1024
}

/// A process and those it started that still run, with their processor time
/// in ticks.
fn family_of(process: u32) -> BTreeMap<u32, u32> {
    let mut parents = BTreeMap::new();
    let mut ticks = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The name of the program, in parentheses, may hold spaces.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |at: usize| fields.get(at).and_then(|field| field.parse::<u32>().ok()).unwrap_or(0);
        parents.insert(number, field(1));
        ticks.insert(number, field(11) + field(12));
    }
    let is_ours = |mut number: u32| {
        while number != process && number > 1 {
            number = parents.get(&number).copied().unwrap_or(0);
        }
        number == process
    };
    ticks.retain(|number, _| is_ours(*number));
    ticks
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGTERM first: it lets a server that has workers take them along.
        succeeds(Command::new("kill").arg(self.child.id().to_string()));
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The most memory that a process had resident, in bytes; zero when it has
/// ended.
pub(crate) fn peak_memory_of(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|kilobytes| kilobytes.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn answers(port: u16, path: &str) -> bool {
    Client::connect(port).is_ok_and(|mut client| client.fetch(path, "").is_ok_and(|answer| answer.status == 200))
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// A repository made by the release binary in a folder of its own.
pub(crate) struct Repository {
    pub(crate) binary: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) port: u16,
}

impl Repository {
    /// Runs `stook init` in `folder`.
    ///
    /// # Errors
    /// When that fails.
    pub(crate) fn init(binary: &Path, folder: &Path, port: u16) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        output(
            Command::new(binary)
                .args(["init", "--yes", "--dir"])
                .arg(folder)
                .args(["--name", "Stook under test", "--admin-email", "admin@example.org"])
                .args(["--namespace", "example.org", "--base-url"])
                .arg(base_url(port)),
        )?;
        Ok(Self {
            binary: binary.to_owned(),
            folder: folder.to_owned(),
            port,
        })
    }

    /// A repository that another run made, now on another port.
    ///
    /// # Errors
    /// When its configuration cannot be changed.
    pub(crate) fn reopen(binary: &Path, folder: &Path, port: u16) -> Result<Self> {
        let repository = Self {
            binary: binary.to_owned(),
            folder: folder.to_owned(),
            port,
        };
        let base_url = format!("{:?}", base_url(port));
        repository.configure("[[repository]]", "base_url", &base_url)?;
        Ok(repository)
    }

    /// Keeps its records in this database instead of the file beside its
    /// configuration.
    ///
    /// # Errors
    /// When its configuration cannot be changed.
    pub(crate) fn keep_in(&self, database: &str) -> Result<()> {
        let path = self.config();
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let others = text.lines().filter(|line| !line.starts_with("store = "));
        let text = others.fold(format!("store = {database:?}\n"), |text, line| text + line + "\n");
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    }

    /// `stook -c CONFIG …`, to which arguments can be added.
    pub(crate) fn stook(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg("-c").arg(self.config());
        command
    }

    /// Starts `stook serve`.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub(crate) fn serve(&self) -> Result<Server> {
        let listen = format!("127.0.0.1:{}", self.port);
        let mut command = self.stook();
        command.args(["serve", "--listen", &listen]);
        Server::start("stook", &mut command, self.port, "/healthz", &self.folder)
    }

    /// Sets a key of a table (`[server]`, `[[repository]]`) in stook.toml.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub(crate) fn configure(&self, table: &str, key: &str, value: &str) -> Result<()> {
        let path = self.config();
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        fs::write(&path, with_setting(&text, table, key, value)).with_context(|| format!("writing {}", path.display()))
    }

    fn config(&self) -> PathBuf {
        self.folder.join("stook.toml")
    }
}

/// Where a repository under test is reached.
pub(crate) fn base_url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/oai")
}

/// The configuration with one line added under its table and any older line
/// of that key in that table gone.
fn with_setting(text: &str, table: &str, key: &str, value: &str) -> String {
    let setting = format!("{key} = {value}");
    let mut lines = Vec::new();
    let mut inside = false;
    let mut written = false;
    for line in text.lines() {
        let is_header = line.starts_with('[');
        inside = if is_header { line.trim() == table } else { inside };
        if inside && !is_header && line.split('=').next().unwrap_or_default().trim() == key {
            continue;
        }
        lines.push(line);
        if inside && is_header && !written {
            lines.push(&setting);
            written = true;
        }
    }
    if !written {
        lines.extend([table, &setting]);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_replaces_the_line_of_its_table_only() {
        let text = "size = 0\n[server]\nsize = 1 # one\n[[repository]]\nsize = 2\n";
        assert_eq!(
            with_setting(text, "[[repository]]", "size", "3"),
            "size = 0\n[server]\nsize = 1 # one\n[[repository]]\nsize = 3\n"
        );
        assert_eq!(with_setting("", "[server]", "size", "3"), "[server]\nsize = 3\n");
    }
}
