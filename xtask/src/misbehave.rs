//! `cargo xtask misbehave`: the misbehaving endpoint, by hand. Reads a script
//! or faults by name, serves until it is stopped, and shows what is asked.

use std::collections::BTreeSet;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use misbehave::{Asked, Endpoint, Fast, Fault, Script, Setting, World};

use crate::number;

const HELP: &str = "\
Serves made-up records over OAI-PMH and does wrong what real repositories do
wrong: for anybody who builds harvesters.

Usage: cargo xtask misbehave [SCRIPT-FILE] [--fault 'NAME [CONDITION]...']...
                             [--records N] [--port P]
       cargo xtask misbehave --fast [--records N] [--page-size N] [--port P]
       cargo xtask misbehave --list

  cargo xtask misbehave
      A correct repository of 1,000 records, to begin with.

  cargo xtask misbehave --fault 'retry-after-seconds page 2 times 3'
      The second page of every list answers 503, three times.

  cargo xtask misbehave --fault single-use-tokens --fault 'reset-in-body every 10'
      Tokens work once, and every tenth answer breaks off.

  cargo xtask misbehave --fault 'poison-record identifier oai:misbehave.example.org:42'
      No page with that record can be had, all others can.

  cargo xtask misbehave my-script.txt --records 100000
      What the file says, one line each:
          page-size 100       # any setting of --list
          seed 7
          fault status-500 on ListRecords chance 5
          fault datestamp-milliseconds

  --records N    how many records there are (1,000)
  --port P       where to listen on 127.0.0.1 (a free port)
  --fast         no faults, as fast as can be: for benchmarks
  --page-size N  entries of a page (20; with --fast 100)
  --list         every fault, condition and setting
";

const CONDITIONS: &str = "\
Conditions, after the name of a fault; those given must all hold:
  on VERB         only this verb, such as ListRecords
  page N          only this page of a list; the first is 1
  identifier ID   only answers that hold this record, or ask for it
  request N       only the N-th of these requests
  every N         only every N-th of these requests
  chance PERCENT  only so many in a hundred, by the seed
  times N         at most so many times
";

/// What the command line asks for.
struct Options {
    script: String,
    records: u64,
    page_size: Option<u64>,
    port: u16,
    fast: bool,
}

/// Runs the command.
///
/// # Errors
/// When the command line or the script cannot be understood, or the port is
/// taken.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    match arguments {
        [flag] if matches!(flag.as_str(), "--help" | "-h") => print!("{HELP}"),
        [flag] if flag == "--list" => print_list(),
        _ => {
            let options = Options::parse(arguments)?;
            if options.fast {
                return serve_fast(&options);
            }
            serve(&options)?;
        }
    }
    Ok(())
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            script: String::new(),
            records: 1_000,
            page_size: None,
            port: 0,
            fast: false,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--fault" => {
                    let fault = rest
                        .next()
                        .context("--fault needs a name after it. Try: cargo xtask misbehave --list")?;
                    options.script.push_str(&format!("fault {fault}\n"));
                }
                "--records" => options.records = number(argument, rest.next())?,
                "--page-size" => options.page_size = Some(number(argument, rest.next())?.max(1)),
                "--port" => {
                    options.port = u16::try_from(number(argument, rest.next())?).context("--port: at most 65535")?
                }
                "--fast" => options.fast = true,
                flag if flag.starts_with('-') => {
                    bail!("misbehave does not take `{flag}`. Try: cargo xtask misbehave --help")
                }
                file => {
                    let text = fs::read_to_string(file).with_context(|| format!("reading {file}"))?;
                    // First, so that the lines of an error are those of the file.
                    options.script.insert_str(0, &format!("{text}\n"));
                }
            }
        }
        Ok(options)
    }

    fn script(&self) -> Result<Script> {
        let script: Script = self
            .script
            .parse()
            .context("the script cannot be understood. Try: cargo xtask misbehave --list")?;
        Ok(match self.page_size {
            Some(page_size) => script.page_size(page_size),
            None => script,
        })
    }
}

fn serve(options: &Options) -> Result<()> {
    let endpoint = Endpoint::start_on(options.port, World::of(options.records), options.script()?)
        .with_context(|| format!("cannot listen on port {}", options.port))?;
    let script = endpoint.script();
    println!("{} records at {}", options.records, endpoint.url());
    println!("Try: curl '{}'", question(&endpoint.url()));
    for line in script.to_string().lines() {
        println!("  {line}");
    }
    for fault in script.faults.iter().map(|(fault, _)| fault).collect::<BTreeSet<_>>() {
        println!("{fault}: {}", fault.sentence());
    }
    println!("Ctrl-C stops it. What is asked:");
    let mut shown = 0;
    loop {
        sleep(Duration::from_millis(200));
        let asked = endpoint.requests();
        for asked in &asked[shown..] {
            println!("{}", line_of(asked));
        }
        shown = asked.len();
    }
}

fn question(url: &str) -> String {
    let joint = if url.contains('?') { '&' } else { '?' };
    format!("{url}{joint}verb=ListRecords&metadataPrefix=oai_dc")
}

fn line_of(asked: &Asked) -> String {
    let status = if asked.status == 0 {
        "---".to_owned()
    } else {
        asked.status.to_string()
    };
    let faults: Vec<&str> = asked.faults.iter().map(|fault| fault.name()).collect();
    format!("{status} {} {} {}", asked.method, asked.query, faults.join(" "))
}

fn serve_fast(options: &Options) -> Result<()> {
    if !options.script.is_empty() {
        bail!("--fast has no faults: leave out the script");
    }
    let page_size = options.page_size.unwrap_or(100);
    let fast = Fast::start_on(options.port, options.records, page_size)
        .with_context(|| format!("cannot listen on port {}", options.port))?;
    println!("{} records in pages of {page_size} at {}", options.records, fast.url());
    println!("Ctrl-C stops it.");
    loop {
        sleep(Duration::from_secs(3600));
    }
}

fn print_list() {
    println!("Faults, by the kind of fault they are a form of; 0 is an attack:");
    for fault in Fault::ALL {
        println!("{:>3} {:<34} {}", fault.number(), fault.name(), fault.sentence());
    }
    println!("\n{CONDITIONS}");
    println!("Settings, one line each in a script; the number is the default:");
    for (_, name, default, what) in Setting::all() {
        println!("  {:<32} {what}", format!("{name} {default}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> Result<Options> {
        Options::parse(&arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn faults_of_the_command_line_make_a_script() {
        let options = options(&["--fault", "status-500 page 2", "--records", "5", "--page-size", "3"]).unwrap();
        assert_eq!(
            options.script().unwrap().to_string(),
            "page-size 3\nfault status-500 page 2\n"
        );
        assert_eq!(options.records, 5);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(options(&["--loud"]).is_err());
        assert!(options(&["/no/such/script"]).is_err());
        assert!(options(&["--fault", "no-such-fault"]).unwrap().script().is_err());
    }

    #[test]
    fn every_example_of_the_help_is_understood() {
        for line in HELP.lines().filter(|line| line.contains("--fault '")) {
            for fault in line.split("--fault '").skip(1).filter(|fault| !fault.contains('[')) {
                let fault = fault.split('\'').next().unwrap();
                assert!(format!("fault {fault}").parse::<Script>().is_ok(), "{fault}");
            }
        }
        let indented = HELP.lines().filter_map(|line| line.strip_prefix("          "));
        let script: Vec<&str> = indented.filter(|line| !line.starts_with(' ')).collect();
        assert_eq!(script.len(), 4);
        assert!(script.join("\n").parse::<Script>().is_ok());
    }
}
