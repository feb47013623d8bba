//! `cargo xtask fuzz`: runs the targets in fuzz/targets under libFuzzer.
//!
//! No nightly toolchain and no cargo-fuzz: the compiler's own coverage pass,
//! asked for by flags that a stable one knows, is all that libFuzzer needs.
//! What is found is kept in the cache folder, so that later runs start there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::install;
use crate::number;
use crate::workspace::{cache, cargo, output, root, run as run_command, target_dir};

/// What makes the compiler count the edges that an input reaches.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

const SHORT_SECONDS: u64 = 10;

/// `cargo xtask fuzz TARGET|all [--seconds N]`.
///
/// # Errors
/// When a target fails or there is no such target.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let known = targets()?;
    let mut chosen = Vec::new();
    let mut seconds = 60;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--seconds" => seconds = number(argument, rest.next())?,
            "all" => chosen.clone_from(&known),
            name if known.iter().any(|target| target == name) => chosen.push(name.to_owned()),
            other => bail!("there is no target `{other}`. Try: {}", known.join(", ")),
        }
    }
    if chosen.is_empty() {
        bail!("which target? Try: all, {}", known.join(", "));
    }
    fuzz(&chosen, seconds)
}

/// A few seconds of every target, for `cargo xtask test`.
///
/// # Errors
/// When a target fails.
pub(crate) fn short() -> Result<()> {
    fuzz(&targets()?, SHORT_SECONDS)
}

/// The targets are the files in fuzz/targets.
fn targets() -> Result<Vec<String>> {
    let folder = root().join("fuzz/targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

fn fuzz(targets: &[String], seconds: u64) -> Result<()> {
    install::for_fuzz()?;
    let programs = build()?;
    for target in targets {
        fuzz_target(&programs, target, seconds)?;
    }
    Ok(())
}

fn build() -> Result<PathBuf> {
    let host = host()?;
    let folder = target_dir()?.join("fuzz");
    // With `--target`, the flags leave build scripts and macros alone.
    let mut command = cargo([
        "build",
        "--quiet",
        "--release",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target",
    ])?;
    run_command(
        command
            .arg(&host)
            .env("RUSTFLAGS", COVERAGE)
            .env("CARGO_TARGET_DIR", &folder),
    )?;
    Ok(folder.join(host).join("release"))
}

fn fuzz_target(programs: &Path, target: &str, seconds: u64) -> Result<()> {
    let seeds = root().join("fuzz/seeds").join(target);
    let corpus = cache()?.join("fuzz").join(target);
    let findings = cache()?.join("fuzz/findings");
    for folder in [&corpus, &findings] {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    let mut command = Command::new(programs.join(target));
    command.args([
        &format!("-max_total_time={seconds}"),
        &format!("-artifact_prefix={}/{target}-", findings.display()),
        "-max_len=16384",
        "-timeout=10",
        "-rss_limit_mb=2048",
        "-verbosity=0",
        "-print_final_stats=1",
    ]);
    let dictionary = root().join(format!("fuzz/{target}.dict"));
    if dictionary.is_file() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    let output = command
        .arg(&corpus)
        .arg(&seeds)
        .output()
        .with_context(|| format!("cannot start {target}"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let lines: Vec<&str> = log.lines().collect();
        let end = lines[lines.len().saturating_sub(40)..].join("\n");
        bail!("{target} failed; the input is in {}\n{end}", findings.display());
    }
    let runs = log
        .lines()
        .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    println!(
        "{target}: {} inputs in {seconds} s, none failed",
        runs.unwrap_or("?").trim()
    );
    Ok(())
}

fn host() -> Result<String> {
    let version = String::from_utf8(output(Command::new("rustc").arg("-vV"))?).context("reading rustc -vV")?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}
