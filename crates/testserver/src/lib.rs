//! A PostgreSQL server of one's own, for tests: a real one, in a folder and on a port of its own. It ends with the
//! process that started it, however that ends, and touches no other server of the machine. [`MariaDb`] is the same of
//! that kind.

mod mariadb;

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub use mariadb::MariaDb;

/// How long a server may take to begin to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// The name of everything in it.
const NAME: &str = "stook";
/// What the system's packages run servers as; a server never runs as root.
const SYSTEM_USER: &str = "postgres";
/// Settings of a server that is measured, beside those of one that is tested. The later of two counts.
pub const DURABLE: &[&str] = &["fsync=on", "shared_buffers=1GB", "max_wal_size=4GB"];

/// A running server.
pub struct Server {
    folder: TempDir,
    port: u16,
    process: Option<Child>,
    /// Where the server's own programs are.
    server_programs: PathBuf,
    /// Where those of its clients are.
    client_programs: PathBuf,
    /// Settings beside the usual ones: `name=value`.
    settings: Vec<String>,
}

impl Server {
    /// The server that all tests of a process share.
    ///
    /// # Panics
    /// When there is no PostgreSQL on this machine, with what to try.
    #[must_use]
    pub fn shared() -> &'static Server {
        static SHARED: OnceLock<Server> = OnceLock::new();
        #[expect(clippy::panic, reason = "a test that cannot run says why and fails")]
        SHARED.get_or_init(|| match Server::start() {
            Ok(server) => server,
            Err(error) => panic!("no PostgreSQL can be started: {error}. Try: apt-get install postgresql"),
        })
    }

    /// Starts a new, empty server.
    ///
    /// # Errors
    /// When PostgreSQL is not installed, or does not start.
    pub fn start() -> io::Result<Server> {
        Server::start_with(None, &[])
    }

    /// Starts one for measuring, which keeps what it has committed and has the memory of a real one.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_durable() -> io::Result<Server> {
        Server::start_with(None, DURABLE)
    }

    /// Starts one that can speak TLS, with this certificate and key.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_encrypted(certificate: &Path, key: &Path) -> io::Result<Server> {
        Server::start_with(Some((certificate, key)), &[])
    }

    fn start_with(tls: Option<(&Path, &Path)>, settings: &[&str]) -> io::Result<Server> {
        let (server_programs, client_programs) = (server_programs()?, client_programs()?);
        let folder = server_folder()?;
        let data = folder.path().join("data");
        let mut initdb = as_server(&server_programs.join("initdb"));
        initdb
            .arg("-D")
            .arg(&data)
            .args(["-U", NAME, "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"]);
        run(&mut initdb)?;
        let mut server = Server {
            folder,
            port: free_port()?,
            process: None,
            server_programs,
            client_programs,
            settings: settings.iter().map(|&setting| setting.to_owned()).collect(),
        };
        if let Some((certificate, key)) = tls {
            for (from, name) in [(certificate, "server.crt"), (key, "server.key")] {
                let to = server.folder.path().join("data").join(name);
                std::fs::write(&to, std::fs::read(from)?)?;
                give_to_server(&to)?;
                run(Command::new("chmod").arg("600").arg(&to))?;
            }
            server.settings.push("ssl=on".into());
        }
        server.resume()?;
        let mut createdb = Command::new(server.client_programs.join("createdb"));
        createdb.args(["-h", "127.0.0.1", "-U", NAME, "-p", &server.port.to_string(), NAME]);
        run(&mut createdb)?;
        Ok(server)
    }

    /// Starts a replica that follows this server by streaming.
    ///
    /// # Errors
    /// When it cannot be made from this one, or does not start.
    pub fn replica(&self) -> io::Result<Server> {
        let folder = server_folder()?;
        let mut backup = as_server(&self.client_programs.join("pg_basebackup"));
        backup.arg("-D").arg(folder.path().join("data"));
        backup.args(["-h", "127.0.0.1", "-U", NAME, "-p", &self.port.to_string()]);
        backup.args([
            "--write-recovery-conf",
            "--wal-method=stream",
            "--checkpoint=fast",
            "--no-sync",
        ]);
        run(&mut backup)?;
        let mut replica = Server {
            folder,
            port: free_port()?,
            process: None,
            server_programs: self.server_programs.clone(),
            client_programs: self.client_programs.clone(),
            settings: vec!["hot_standby=on".into()],
        };
        replica.resume()?;
        Ok(replica)
    }

    /// Starts it again, after [`kill`](Self::kill) or [`stop`](Self::stop).
    ///
    /// # Errors
    /// When it does not begin to answer.
    pub fn resume(&mut self) -> io::Result<()> {
        let mut command = as_server(&self.server_programs.join("postgres"));
        command
            .arg("-D")
            .arg(self.folder.path().join("data"))
            .args(["-p", &self.port.to_string()]);
        // What a crash of the machine would lose is not what tests are about.
        for setting in [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=300",
            "fsync=off",
            "shared_buffers=128MB",
            "max_wal_senders=4",
            "wal_level=replica",
        ] {
            command.args(["-c", setting]);
        }
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.process = Some(spawn(command)?);
        self.wait_until_it_answers()
    }

    fn wait_until_it_answers(&self) -> io::Result<()> {
        let began = Instant::now();
        loop {
            let mut ready = Command::new(self.client_programs.join("pg_isready"));
            ready.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
            if ready.status()?.success() {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                return Err(io::Error::new(ErrorKind::TimedOut, "it does not answer"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends it at once, as a power failure would.
    ///
    /// # Errors
    /// When it is not running.
    pub fn kill(&mut self) -> io::Result<()> {
        self.end("-SIGQUIT")
    }

    /// Ends it as an administrator would, sending everybody away.
    ///
    /// # Errors
    /// When it is not running.
    pub fn stop(&mut self) -> io::Result<()> {
        self.end("-SIGINT")
    }

    fn end(&mut self, signal: &str) -> io::Result<()> {
        // A frozen one would not hear it.
        let _ = self.thaw();
        let Some(mut process) = self.process.take() else {
            return Err(io::Error::other("it is not running"));
        };
        run(Command::new("kill").args([signal, &process.id().to_string()]))?;
        process.wait()?;
        Ok(())
    }

    /// Has it do nothing at all, while its connections stay open.
    ///
    /// # Errors
    /// When it is not running.
    pub fn freeze(&self) -> io::Result<()> {
        self.signal_all("-STOP")
    }

    /// Has it go on.
    ///
    /// # Errors
    /// When it is not running.
    pub fn thaw(&self) -> io::Result<()> {
        self.signal_all("-CONT")
    }

    /// Signals the first process, then those it has started.
    fn signal_all(&self, signal: &str) -> io::Result<()> {
        let Some(process) = self.process() else {
            return Err(io::Error::other("it is not running"));
        };
        run(Command::new("kill").args([signal, &process.to_string()]))?;
        run(Command::new("pkill").args([signal, "-P", &process.to_string()]))
    }

    /// Runs a statement as its administrator.
    ///
    /// # Errors
    /// When it fails.
    pub fn run(&self, sql: &str) -> io::Result<()> {
        let mut psql = self.client();
        psql.args(["-c", sql]);
        run(&mut psql)
    }

    /// Its command line client, as administrator of its database.
    #[must_use]
    pub fn client(&self) -> Command {
        let mut psql = Command::new(self.client_programs.join("psql"));
        let port = self.port.to_string();
        psql.args(["-q", "-h", "127.0.0.1", "-U", NAME, "-p", &port, "-d", NAME]);
        psql
    }

    /// The same on a replica, which may take a statement back that stands in the way of what it replays.
    ///
    /// # Errors
    /// When it fails again and again.
    pub fn run_on_replica(&self, sql: &str) -> io::Result<()> {
        for _ in 0..20 {
            if self.run(sql).is_ok() {
                return Ok(());
            }
        }
        self.run(sql)
    }

    /// Its address, without a schema.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://{NAME}@127.0.0.1:{}/{NAME}", self.port)
    }

    /// The address of a schema that nobody else uses.
    #[must_use]
    pub fn fresh_url(&self) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        format!("{}?schema=test_{}", self.url(), NEXT.fetch_add(1, Relaxed))
    }

    /// The number of its first process; none while it does not run.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// A folder that a server may use.
fn server_folder() -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("stook-postgres-").tempdir()?;
    give_to_server(folder.path())?;
    Ok(folder)
}

/// Where a server's programs are: in the folder that STOOK_POSTGRES names, for trying another version, or beside its
/// clients'.
fn server_programs() -> io::Result<PathBuf> {
    match std::env::var_os("STOOK_POSTGRES") {
        Some(folder) => Ok(folder.into()),
        None => client_programs(),
    }
}

/// Where PostgreSQL's programs are: Debian keeps them out of the way, a folder for each version.
fn client_programs() -> io::Result<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|version| Some((version.file_name().to_str()?.parse().ok()?, version.path().join("bin"))))
        .collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let newest_first = found.into_iter().rev().map(|(_, folder)| folder);
    let mut candidates = newest_first.chain(std::env::split_paths(&path));
    let complete = |folder: &PathBuf| {
        ["initdb", "postgres", "createdb", "pg_isready", "pg_basebackup"]
            .iter()
            .all(|name| folder.join(name).exists())
    };
    candidates
        .find(complete)
        .ok_or_else(|| io::Error::new(ErrorKind::NotFound, "PostgreSQL is not installed"))
}

/// A program that runs as a server may, and is told when we die.
fn as_server(program: &Path) -> Command {
    as_user(SYSTEM_USER, "QUIT", program)
}

fn as_user(user: &str, signal: &str, program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", signal]);
    if is_root() {
        command.args(["--reuid", user, "--regid", user, "--clear-groups"]);
    }
    command.arg("--").arg(program);
    command
}

/// Starts a server from a thread that lives as long as the process does: the server is told when it dies.
fn spawn(mut command: Command) -> io::Result<Child> {
    let (started, child) = channel();
    std::thread::spawn(move || {
        let _ = started.send(command.spawn());
        loop {
            std::thread::park();
        }
    });
    child.recv().map_err(io::Error::other)?
}

fn give_to_server(folder: &Path) -> io::Result<()> {
    give_to(SYSTEM_USER, folder)
}

fn give_to(user: &str, folder: &Path) -> io::Result<()> {
    match is_root() {
        true => run(Command::new("chown").arg(format!("{user}:{user}")).arg(folder)),
        false => Ok(()),
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata) == 0)
}

fn run(command: &mut Command) -> io::Result<()> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(io::Error::other(format!(
        "{:?} failed: {}",
        command.get_program(),
        said.trim()
    )))
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Whether something listens there.
#[must_use]
pub fn is_listening(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}
