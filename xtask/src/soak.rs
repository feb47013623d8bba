//! `cargo xtask soak`: tests that take long, for as long as one likes.

use anyhow::{Result, bail};

use crate::number;
use crate::workspace::{cargo, run as run_command};

/// `soak harvest [--kills N] [--records N]`, `soak histories [--histories N]`, `soak sources [--sources N]`,
/// `soak replica [--seconds N]`.
///
/// # Errors
/// When an argument is unknown, or the soak finds something.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let Some((what, rest)) = arguments.split_first() else {
        bail!("soak what? Try: cargo xtask soak harvest");
    };
    let (program, test, variables): (&str, &str, &[(&str, &str, u64)]) = match what.as_str() {
        "harvest" => (
            "harvest",
            "crash::",
            &[
                ("--kills", "STOOK_KILLS", 1_000),
                ("--records", "STOOK_RECORDS", 100_000),
                ("--seed", "STOOK_SEED", 1),
            ],
        ),
        "histories" => ("harvest", "model::", &[("--histories", "STOOK_HISTORIES", 2_000)]),
        "sources" => ("harvest", "many::", &[("--sources", "STOOK_SOURCES", 500)]),
        "replica" => ("nodes", "replica::", &[("--seconds", "STOOK_REPLICA_SECONDS", 60)]),
        other => bail!("soak does not know `{other}`. Try: harvest, histories, sources or replica"),
    };
    let mut command = cargo(["test", "--release", "--package", "stook", "--test", program])?;
    command.args(["--", "--nocapture", test]);
    for (_, variable, default) in variables {
        command.env(variable, default.to_string());
    }
    let mut rest = rest.iter();
    while let Some(argument) = rest.next() {
        let Some((_, variable, _)) = variables.iter().find(|(name, ..)| name == argument) else {
            bail!("soak {what} does not take `{argument}`. Try: cargo xtask --help");
        };
        command.env(variable, number(argument, rest.next())?.to_string());
    }
    run_command(&mut command)
}
