//! `stook set preview` and `stook set refresh`: what rules would do, and doing it.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use stook_oai::{Identifier, SetSpec};

use crate::cli::session::Session;
use crate::cli::{Ending, progress, stop};
use crate::count::{counted, grouped, noun};
use crate::sets::SetRules;
use crate::sets::preview::{self, Sample};
use crate::sets::refresh::{self, Refreshed};

/// So many records are looked at unless told otherwise.
const SAMPLE: u64 = 1_000;

/// Show what rules would do with real records, publishing nothing
#[derive(Args)]
#[command(after_help = "\
Shows each set that the rules make with the number of records in it, and for a few records the sets they are in now and
would be in. Without --rules it is about those of the configuration, with what edits since the last refresh would change.
Examples:
  stook set preview
  stook set preview --rules my.rules -n 20
  stook set preview --rules dini --all
  stook set preview map-001 map-002")]
pub(in crate::cli) struct Preview {
    /// Only these records
    #[arg(value_name = "IDENTIFIER")]
    identifiers: Vec<String>,
    /// Rules to try instead of those of the configuration: a file, or a profile such as dini
    #[arg(long, value_name = "FILE|PROFILE")]
    rules: Vec<PathBuf>,
    /// Show so many records, those that would change first
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 5)]
    count: usize,
    /// Look at all records, instead of the first 1,000
    #[arg(long)]
    all: bool,
}

impl Preview {
    pub(super) fn run(self, session: &Session) -> Result<Ending> {
        let rules = match self.rules.is_empty() {
            true => session.set_rules()?,
            false => SetRules::read(&self.rules, &session.formats)?,
        };
        if rules.is_empty() {
            bail!(
                "there are no rules\nTry: --rules FILE, or set_rules = [\"FILE\"] in stook.toml; docs/sets.md tells how \
                 to write them"
            );
        }
        let identifiers: Vec<Identifier> = self
            .identifiers
            .iter()
            .map(|text| session.identifier(text))
            .collect::<Result<_>>()?;
        let sample = Sample {
            identifiers: &identifiers,
            most: if self.all { u64::MAX } else { SAMPLE },
            examples: self.count,
        };
        let stop = stop::on_signal("Stopping …")?;
        let bar = progress::spinner("{spinner} {msg}  {elapsed}");
        let outcome = preview::preview(
            &session.store,
            session.repository,
            &rules,
            &sample,
            &stop,
            &mut |items| {
                bar.set_message(counted(items, "record"));
            },
        );
        bar.finish_and_clear();
        Ok(show(&outcome?, &rules, identifiers.is_empty()))
    }
}

fn show(preview: &preview::Preview, rules: &SetRules, with_counts: bool) -> Ending {
    if with_counts {
        show_counts(preview, rules);
    }
    for example in &preview.examples {
        println!("{}", example.identifier);
        println!("  now    {}", listed(&example.before));
        match example.before == example.after {
            true => println!("  then   the same"),
            false => println!("  then   {}", listed(&example.after)),
        }
    }
    for (identifier, reason) in &preview.failed {
        println!("{identifier}: its sets cannot be told: {reason}");
    }
    match preview.failed.is_empty() && !preview.stopped {
        true => Ending::Fine,
        false => Ending::Findings,
    }
}

fn show_counts(preview: &preview::Preview, rules: &SetRules) {
    let what = match (preview.stopped, preview.more) {
        (true, _) => "so far; stopped before the end",
        (_, true) => "the first ones; --all looks at all",
        _ => "all there are",
    };
    println!("{} looked at ({what})", counted(preview.items, "record"));
    println!("{:>12} would be in other sets than now", grouped(preview.changing));
    if preview.items == 0 {
        let prefixes: Vec<&str> = rules.prefixes().into_iter().map(|prefix| prefix.as_str()).collect();
        println!(
            "The rules read {}, in which there are no live records.",
            prefixes.join(", ")
        );
    }
    let width = preview.sets.keys().map(|spec| spec.as_str().len()).max().unwrap_or(0);
    for (spec, (count, name)) in &preview.sets {
        let last = spec.as_str().rsplit(':').next().unwrap_or_default();
        let name = name.as_deref().unwrap_or(last);
        println!("{:<width$}  {:>9}  {name}", spec.as_str(), grouped(*count));
    }
    println!();
}

fn listed(specs: &[SetSpec]) -> String {
    match specs {
        [] => "no sets".to_owned(),
        specs => specs.iter().map(SetSpec::as_str).collect::<Vec<_>>().join(" "),
    }
}

/// Put all records into sets again, after the rules were changed
#[derive(Args)]
#[command(after_help = "\
Only records whose sets come out differently get a new datestamp and are harvested again. Sets that no rule ever made stay
as they were given. Ctrl-C stops after the step in hand; run the same command again and it finishes.")]
pub(in crate::cli) struct Refresh {}

impl Refresh {
    pub(super) fn run(self, session: &Session) -> Result<Ending> {
        let rules = session.set_rules()?;
        let stop = stop::on_signal("Stopping after the step in hand …")?;
        let bar = progress::count(0);
        bar.set_message("sets");
        let outcome = refresh::refresh(&session.store, session.repository, &rules, &stop, &mut |done, of| {
            bar.set_length(of);
            bar.set_position(done);
        });
        bar.finish_and_clear();
        let Refreshed {
            read,
            changed,
            failed,
            examples,
            stopped,
        } = outcome?;
        println!("{:>12} {} read", grouped(read), noun(read, "record"));
        println!("{:>12} put into other sets", grouped(changed));
        if failed > 0 {
            println!("{:>12} left as they are: their sets cannot be told", grouped(failed));
        }
        for (identifier, reason) in &examples {
            println!("{identifier}: {reason}");
        }
        if stopped {
            eprintln!("Stopped. Everything counted above is published. Run stook set refresh to finish.");
        }
        Ok(match failed > 0 || stopped {
            true => Ending::Findings,
            false => Ending::Fine,
        })
    }
}
