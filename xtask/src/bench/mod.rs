//! `cargo xtask bench`: measurements beside other programs, in one run on one
//! machine. What leaves is a table with ratios, as Markdown and JSON.

mod bare;
mod crosswalk;
mod harvest;
mod harvesters;
mod import;
mod load;
mod nginx;
mod pages;
mod process;
mod provider;
mod refresh;
mod report;
mod sql;
mod store;
mod wrk;

use anyhow::{Result, bail};

use crate::workspace::{cargo, run as run_command};

/// `cargo xtask bench provider …`, `… harvest …`, `… store …`, `… sql …`, `… refresh …`, `… crosswalk`.
///
/// # Errors
/// When something cannot be measured.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let Some((subject, rest)) = arguments.split_first() else {
        bail!("what shall be measured? Try: cargo xtask bench provider, harvest, store, sql, refresh or crosswalk");
    };
    let measure: Box<dyn Fn() -> Result<()>> = match subject.as_str() {
        "provider" => {
            let options = provider::Options::parse(rest)?;
            Box::new(move || provider::run(&options))
        }
        "harvest" => {
            let options = harvest::Options::parse(rest)?;
            Box::new(move || harvest::run(&options))
        }
        "store" => {
            let options = store::Options::parse(rest)?;
            Box::new(move || store::run(&options))
        }
        "sql" => {
            let options = sql::Options::parse(rest)?;
            Box::new(move || sql::run(&options))
        }
        "refresh" => {
            let options = refresh::Options::parse(rest)?;
            Box::new(move || refresh::run(&options))
        }
        "crosswalk" if rest.is_empty() => Box::new(crosswalk::run),
        // What `harvest` starts as a process of its own.
        bare::COMMAND => {
            let port = bare::port(rest)?;
            Box::new(move || bare::run(port))
        }
        _ => bail!(
            "`{subject}` is not measured. Try: cargo xtask bench provider, harvest, store, sql, refresh or crosswalk"
        ),
    };
    if cfg!(debug_assertions) {
        // What is built for debugging would use the processor that belongs to
        // what is measured.
        let mut command = cargo(["run", "--quiet", "--release", "--package", "xtask", "--", "bench"])?;
        return run_command(command.args(arguments));
    }
    measure()
}
