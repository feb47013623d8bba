//! `cargo xtask`: what maintainers run. Reads the command line, calls one
//! module per command, turns failures into a message and an exit code.

mod bench;
mod docs;
mod fuzz;
mod http;
mod install;
mod interop;
mod misbehave;
mod models;
mod peers;
mod postgres;
mod records;
mod schemas;
mod server;
mod soak;
mod test;
mod workspace;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const HELP: &str = "\
What maintainers of Stook run.

Usage: cargo xtask COMMAND

  test [--only STEP]... [--list]
      Everything that must hold before a change lands: formatting, lints,
      unit, property and crash tests, documentation, validation of answers
      against the OAI-PMH schema, harvests by real clients and of real servers,
      a short fuzz run. Installs what is missing and says so.

  install [--bench]
      Only the installing: xmllint, PostgreSQL, nginx, HTTP::OAI, the Python
      and npm harvesters, the servers pyoai, oai-repo and Catmandu; with
      --bench also wrk and the harvesters that are only measured.

  docs [FOLDER]
      Writes a page for each check of the validator, one for each family and an
      index, to FOLDER (the build folder's checks/, if none is named).

  schemas [FILE]...
      Validates saved answers against the OAI-PMH schema; without files, the
      golden answers of the tests. STOOK_SCHEMAS may name a folder with a
      driver `all.xsd` and a `catalog.xml`: then those are used too, the golden
      results of the crosswalks are validated by them, and the content models
      of the formats are compared with them.

  schemas models [FOLDER]
      Only the comparison. FOLDER may hold further records, in folders named by
      the prefix of their format.

  interop [CLIENT|SERVER|marc|validate]...
      Harvests the demo and a repository of 10,000 records, in a file and in
      PostgreSQL, with real clients (sickle, scythe, pyoai, http-oai, oai-pmh)
      and compares what they end with to what the store holds. Harvests real servers (stook, pyoai-server,
      oai-repo, catmandu) with `stook harvest`, wholly, one set, and again
      after changes, and compares with what they were given. Imports and
      exports MARC and compares it with what yaz reads. Validates the servers
      and compares with what is known to be wrong with them.

  bench provider [--records N] [--quick] [--keep DIR]
      Measures the provider beside nginx, pyoai, oai-repo and Catmandu, and
      writes bench-results/provider.md and .json. N is 1,000,000 by default;
      --quick takes 50,000 and shorter loads. --keep leaves the repository in
      DIR, where the next run finds it and need not import again.

  bench harvest [--records N] [--quick]
      Measures `stook harvest` beside a bare download and parsing, the crate
      oai-pmh, Sickle, oaipmh-scythe, oai-harvest and, where it is on the PATH,
      metha, at one fast endpoint; and with a single answer of 1 GB. Writes
      bench-results/harvest.md and .json. N is 1,000,000 by default; --quick
      takes 50,000.

  bench store [--records N] [--quick]
      Measures both kinds of store, the file and PostgreSQL, side by side:
      loading, pages, counts, updates, size and memory. Writes
      bench-results/store.md and .json. N is 1,000,000 by default; --quick
      takes 50,000.

  bench sql [--records N]
      Publishes a catalogue from PostgreSQL and from MariaDB, changes a part of
      it and publishes that, beside a plain select of the same rows. Writes
      bench-results/sql.md and .json. N is 100,000 by default.

  bench refresh [--records N]
      Edits a crosswalk over N records (1,000,000 by default) while a harvester is
      in the middle of their list: preview, refresh, and who gets what. Writes
      bench-results/refresh.md and .json.

  bench crosswalk
      Measures crosswalks from a rich record of MARC beside only reading it.

  fuzz TARGET|all [--seconds N]
      Fuzzes with libFuzzer for N seconds (default 60). Targets: request,
      token, import, response_read.

  postgres [VERSION]...
      Runs the tests of the store on servers of other versions, by default the
      first that is promised and the last there is.

  soak harvest [--kills N] [--records N] [--seed N]
      Kills a harvest of a changing source at N random moments (default 1,000
      of 100,000 records) and compares what the store ends with.

  soak histories [--histories N]
      Random interleavings of changes at a source and harvests (default 2,000
      at each granularity).

  soak sources [--sources N]
      Harvests N small sources (default 500), a fifth of them misbehaving.

  soak replica [--seconds N]
      Harvests from a PostgreSQL replica for N seconds (default 60) while
      1,000 records change each second, and compares.

  misbehave [SCRIPT-FILE] [--fault NAME]... [--records N] [--port P] [--list]
      Serves a repository that does wrong what real ones do wrong; for tests
      of harvesters by hand. `misbehave --help` shows how.

  records [--count N] [--first N] [--marc]
      Writes made-up records as JSON lines to standard output; with --marc as
      MARC in ISO 2709, in UTF-8 and MARC-8, one in a hundred damaged.

Environment:
  STOOK_CACHE       where clients, peers and schemas are kept (~/.cache/stook)
  STOOK_TARGET_DIR  where builds are kept when CARGO_TARGET_DIR is not set
                    (STOOK_CACHE/target), so that clones share them
  STOOK_SCHEMAS     a folder of official schemas, see `schemas`
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let Some((command, rest)) = arguments.split_first() else {
        print!("{HELP}");
        return Ok(());
    };
    match command.as_str() {
        "test" => test::run(rest),
        "install" => install_command(rest),
        "docs" => docs::run(rest),
        "schemas" => schemas::run(rest),
        "interop" => interop::run(rest),
        "bench" => bench::run(rest),
        "fuzz" => fuzz::run(rest),
        "postgres" => postgres::run(rest),
        "soak" => soak::run(rest),
        "misbehave" => misbehave::run(rest),
        "records" => write_records(rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("there is no command `{other}`. Try: cargo xtask --help"),
    }
}

fn install_command(arguments: &[String]) -> Result<()> {
    match arguments {
        [] => install::for_tests(),
        [flag] if flag == "--bench" => {
            install::for_tests()?;
            install::for_bench()
        }
        _ => bail!("install takes --bench or nothing"),
    }
}

fn write_records(arguments: &[String]) -> Result<()> {
    let mut count = 1_000;
    let mut first = 0;
    let mut marc = false;
    let mut rest = arguments.iter();
    while let Some(flag) = rest.next() {
        match flag.as_str() {
            "--count" => count = number(flag, rest.next())?,
            "--first" => first = number(flag, rest.next())?,
            "--marc" => marc = true,
            other => bail!("records does not take `{other}`"),
        }
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match marc {
        true => records::marc::write(&mut out, first, first + count),
        false => records::write(&mut out, first, first + count),
    }
    .context("writing records")?;
    out.flush().context("writing records")
}

/// Reads the number after a flag; `1_000_000` and `1,000,000` are numbers too.
fn number(flag: &str, value: Option<&String>) -> Result<u64> {
    let value = value.with_context(|| format!("{flag} needs a number after it"))?;
    let digits: String = value.chars().filter(|c| !matches!(c, '_' | ',')).collect();
    digits.parse().with_context(|| format!("{flag} {value}: not a number"))
}
