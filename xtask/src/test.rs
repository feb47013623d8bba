//! `cargo xtask test`: everything that must hold before a change lands.
//!
//! A table of steps, run in order, each with a heading and its time. A step
//! that fails does not hide the ones after it; the summary names it again and
//! the exit code tells. No step is skipped unless `--only` said so.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::workspace::{cargo, run as run_command};
use crate::{fuzz, install, interop, schemas};

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn() -> Result<()>,
}

const STEPS: &[Step] = &[
    Step {
        name: "install",
        what: "install what the machine lacks",
        run: install::for_tests,
    },
    Step {
        name: "format",
        what: "the code is formatted",
        run: || run_command(&mut cargo(["fmt", "--all", "--check"])?),
    },
    Step {
        name: "lint",
        what: "no warnings, of the compiler or of clippy",
        run: || {
            run_command(&mut cargo([
                "clippy",
                "--quiet",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ])?)
        },
    },
    Step {
        name: "unit",
        what: "unit, golden, property and crash tests",
        // All that fails, not only the first: a run takes long.
        run: || run_command(&mut cargo(["test", "--quiet", "--workspace", "--no-fail-fast"])?),
    },
    Step {
        name: "doc",
        what: "the documentation builds without warnings",
        run: || run_command(cargo(["doc", "--quiet", "--workspace", "--no-deps"])?.env("RUSTDOCFLAGS", "-D warnings")),
    },
    Step {
        name: "schemas",
        what: "golden answers are valid by the OAI-PMH schema",
        run: schemas::golden,
    },
    Step {
        name: "interop",
        what: "real harvesters end with what the store holds, ours with what real servers hold, MARC with what yaz reads",
        run: || interop::run(&[]),
    },
    Step {
        name: "fuzz",
        what: "a short fuzz run of every target",
        run: fuzz::short,
    },
];

/// `cargo xtask test [--only STEP]… [--list]`.
///
/// # Errors
/// When a step fails.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut only = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match (argument.as_str(), rest.as_slice().first()) {
            ("--list", _) => {
                for step in STEPS {
                    println!("{:<8} {}", step.name, step.what);
                }
                return Ok(());
            }
            ("--only", Some(name)) if STEPS.iter().any(|step| step.name == name) => {
                only.push(name.as_str());
                rest.next();
            }
            ("--only", _) => bail!("--only needs the name of a step. Try: cargo xtask test --list"),
            (other, _) => bail!("test does not take `{other}`. Try: cargo xtask --help"),
        }
    }
    run_steps(&only)
}

fn run_steps(only: &[&str]) -> Result<()> {
    let started = Instant::now();
    let mut outcomes: Vec<(&Step, Duration, Result<()>)> = Vec::new();
    for step in STEPS.iter().filter(|step| only.is_empty() || only.contains(&step.name)) {
        println!("\n== {}: {}", step.name, step.what);
        let step_started = Instant::now();
        let outcome = (step.run)();
        if let Err(error) = &outcome {
            println!("{} failed: {error:#}", step.name);
        }
        outcomes.push((step, step_started.elapsed(), outcome));
    }
    println!("\n== summary");
    for (step, time, outcome) in &outcomes {
        let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!(
            "{verdict:<7}{:>7.1} s  {:<8} {}",
            time.as_secs_f64(),
            step.name,
            step.what
        );
    }
    println!("       {:>7.1} s", started.elapsed().as_secs_f64());
    let failed: Vec<&str> = outcomes
        .iter()
        .filter(|(_, _, outcome)| outcome.is_err())
        .map(|(step, _, _)| step.name)
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    bail!(
        "failed: {}. Try: cargo xtask test --only {}",
        failed.join(", "),
        failed[0]
    )
}
