//! A MariaDB server of one's own, for tests of reading from it.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{NAME, PATIENCE, as_user, free_port, give_to, run, spawn};

/// What the system's packages run it as.
const SYSTEM_USER: &str = "mysql";
/// What has to be there: the server, what makes its first tables, and a client.
const PROGRAMS: [&str; 3] = ["mariadbd", "mariadb-install-db", "mariadb"];

/// A running MariaDB server.
pub struct MariaDb {
    folder: TempDir,
    port: u16,
    process: Option<Child>,
    programs: [PathBuf; 3],
    /// Settings beside the usual ones: `--name=value`.
    settings: Vec<String>,
}

impl MariaDb {
    /// The server that all tests of a process share.
    ///
    /// # Panics
    /// When there is no MariaDB on this machine, with what to try.
    #[must_use]
    pub fn shared() -> &'static MariaDb {
        static SHARED: OnceLock<MariaDb> = OnceLock::new();
        #[expect(clippy::panic, reason = "a test that cannot run says why and fails")]
        SHARED.get_or_init(|| match MariaDb::start() {
            Ok(server) => server,
            Err(error) => panic!("no MariaDB can be started: {error}. Try: apt-get install mariadb-server"),
        })
    }

    /// Starts a new server with an empty database.
    ///
    /// # Errors
    /// When MariaDB is not installed, or does not start.
    pub fn start() -> io::Result<MariaDb> {
        MariaDb::start_with(None)
    }

    /// Starts one that can speak TLS, with this certificate and key.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_encrypted(certificate: &Path, key: &Path) -> io::Result<MariaDb> {
        MariaDb::start_with(Some((certificate, key)))
    }

    fn start_with(tls: Option<(&Path, &Path)>) -> io::Result<MariaDb> {
        let programs = [find(PROGRAMS[0])?, find(PROGRAMS[1])?, find(PROGRAMS[2])?];
        let folder = tempfile::Builder::new().prefix("stook-mariadb-").tempdir()?;
        give_to(SYSTEM_USER, folder.path())?;
        let mut install = as_user(SYSTEM_USER, "KILL", &programs[1]);
        install.arg("--no-defaults");
        install.arg(format!("--datadir={}", folder.path().join("data").display()));
        install.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
        run(&mut install)?;
        let mut server = MariaDb {
            folder,
            port: free_port()?,
            process: None,
            programs,
            settings: Vec::new(),
        };
        if let Some((certificate, key)) = tls {
            for (from, option) in [(certificate, "ssl-cert"), (key, "ssl-key")] {
                let to = server.folder.path().join(option);
                std::fs::write(&to, std::fs::read(from)?)?;
                give_to(SYSTEM_USER, &to)?;
                server.settings.push(format!("--{option}={}", to.display()));
            }
        }
        server.resume()?;
        server.run_in(
            "mysql",
            &format!(
                "CREATE DATABASE {NAME} CHARACTER SET utf8mb4; CREATE USER {NAME}@'%'; GRANT ALL ON *.* TO {NAME}@'%'"
            ),
        )?;
        Ok(server)
    }

    /// Starts it again, after [`kill`](Self::kill).
    ///
    /// # Errors
    /// When it does not begin to answer.
    pub fn resume(&mut self) -> io::Result<()> {
        // It does not shut down in a hurry if it is only asked to.
        let mut command = as_user(SYSTEM_USER, "KILL", &self.programs[0]);
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        command.arg("--no-defaults");
        for (option, value) in [
            ("--datadir", path("data")),
            ("--socket", path("socket")),
            ("--pid-file", path("pid")),
            ("--log-error", path("log")),
            ("--port", self.port.to_string()),
            ("--bind-address", "127.0.0.1".to_owned()),
            // Wherever the machine is.
            ("--default-time-zone", "+00:00".to_owned()),
            // What a crash of the machine would lose is not what tests are about.
            ("--innodb-flush-log-at-trx-commit", "0".to_owned()),
            ("--innodb-buffer-pool-size", "128M".to_owned()),
        ] {
            command.arg(format!("{option}={value}"));
        }
        command.args(&self.settings);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.process = Some(spawn(command)?);
        let began = Instant::now();
        while self.run_in("mysql", "SELECT 1").is_err() {
            if began.elapsed() > PATIENCE {
                return Err(io::Error::new(ErrorKind::TimedOut, "it does not answer"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Ends it at once, as a power failure would.
    ///
    /// # Errors
    /// When it is not running.
    pub fn kill(&mut self) -> io::Result<()> {
        let Some(mut process) = self.process.take() else {
            return Err(io::Error::other("it is not running"));
        };
        process.kill()?;
        process.wait()?;
        Ok(())
    }

    /// Runs statements in its database.
    ///
    /// # Errors
    /// When one fails.
    pub fn run(&self, sql: &str) -> io::Result<()> {
        self.run_in(NAME, sql)
    }

    fn run_in(&self, database: &str, sql: &str) -> io::Result<()> {
        let mut client = self.client(database);
        client
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut client = client.spawn()?;
        let written = match client.stdin.take() {
            Some(mut input) => input.write_all(sql.as_bytes()),
            None => Ok(()),
        };
        let output = client.wait_with_output()?;
        if output.status.success() {
            return written;
        }
        Err(io::Error::other(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        ))
    }

    /// Its command line client, as administrator of a database.
    #[must_use]
    pub fn client(&self, database: &str) -> Command {
        let mut client = Command::new(&self.programs[2]);
        let socket = self.folder.path().join("socket");
        client
            .arg("--no-defaults")
            .arg(format!("--socket={}", socket.display()));
        client.args(["--user=root", "--default-character-set=utf8mb4", "--database", database]);
        client
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("mysql://{NAME}@127.0.0.1:{}/{NAME}", self.port)
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// Where a program is; Debian keeps servers where only root's PATH looks.
fn find(name: &str) -> io::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    let mut found = folders.map(|folder| folder.join(name)).filter(|path| path.exists());
    found
        .next()
        .ok_or_else(|| io::Error::new(ErrorKind::NotFound, format!("{name} is not installed")))
}
