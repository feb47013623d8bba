//! Where things are, and how other programs are run.

use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The root of the source tree.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Where clients, peers and schemas are kept between runs.
///
/// # Errors
/// When neither STOOK_CACHE nor HOME is set.
pub(crate) fn cache() -> Result<PathBuf> {
    if let Some(cache) = std::env::var_os("STOOK_CACHE").filter(|cache| !cache.is_empty()) {
        return Ok(cache.into());
    }
    let home = std::env::var_os("HOME").context("HOME is not set. Try: STOOK_CACHE=/some/folder cargo xtask …")?;
    Ok(Path::new(&home).join(".cache/stook"))
}

/// Where builds go: outside the tree, so that clones share them.
///
/// # Errors
/// As [`cache`].
pub(crate) fn target_dir() -> Result<PathBuf> {
    let named = ["CARGO_TARGET_DIR", "STOOK_TARGET_DIR"]
        .into_iter()
        .filter_map(std::env::var_os)
        .find(|folder| !folder.is_empty());
    match named {
        // Cargo reads a relative folder from where it was started; child
        // processes are started elsewhere.
        Some(folder) => std::path::absolute(folder).context("finding the build folder"),
        None => Ok(cache()?.join("target")),
    }
}

/// A cargo command of this tree, with the shared build folder.
///
/// # Errors
/// As [`cache`].
pub(crate) fn cargo<const N: usize>(arguments: [&str; N]) -> Result<Command> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command
        .args(arguments)
        .current_dir(root())
        .env("CARGO_TARGET_DIR", target_dir()?);
    Ok(command)
}

/// Builds `stook` as it is shipped and says where it is.
///
/// # Errors
/// When the build fails.
pub(crate) fn release_binary() -> Result<PathBuf> {
    run(&mut cargo(["build", "--release", "--package", "stook"])?)?;
    Ok(target_dir()?.join("release/stook"))
}

/// Runs a command, showing what it writes.
///
/// # Errors
/// When it cannot be started or does not succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", shown(command));
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs a command and returns its standard output.
///
/// # Errors
/// When it cannot be started or does not succeed; with what it complained of.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stdout);
        let said: Vec<&str> = said.lines().collect();
        let said = said[said.len().saturating_sub(10)..].join("\n");
        let complaint = String::from_utf8_lossy(&output.stderr);
        let complaint = complaint.trim_end();
        bail!("{} ended with {}\n{said}\n{complaint}", shown(command), output.status);
    }
    Ok(output.stdout)
}

/// Whether a command can be started and succeeds; its output is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The command line as one would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let mut line = name.to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

/// A port on loopback that nothing listens on at this moment.
///
/// # Errors
/// When loopback has no port left.
pub(crate) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("finding a free port")?;
    Ok(listener.local_addr().context("finding a free port")?.port())
}

/// A folder of this run that is removed when the run ends.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// # Errors
    /// When the folder cannot be made.
    pub(crate) fn new(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("stook-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder left behind in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
