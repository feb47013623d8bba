//! `stook harvest`: copy what other repositories have.

mod round;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use anyhow::{Result, bail};
use clap::Args;
use stook_oai::UtcDatetime;
use stook_store::Store;

use super::output::{Output, OutputFormat};
use super::session::{Place, configuration, open_store};
use super::source::{may_be_named, name_for};
use super::stream::{NoMemory, Stream};
use super::{Ending, progress, stop};
use crate::config::{Config, Source};
use crate::harvest::source::{self, KnownSource};
use crate::harvest::{self, Outside, Polite, Quirks, Wanted};
use round::{Round, Totals, show};

/// Harvest other repositories into the store
#[derive(Args)]
#[command(after_help = "\
Examples:
  stook harvest https://example.org/oai                 everything it has in Dublin Core
  stook harvest https://example.org/oai --prefix marc21 --set maps --from 2024-01-01
  stook harvest example                                 what changed at a source since the last time
  stook harvest --all                                   every source that is due (see stook source)
  stook harvest example --verify                        compare identifiers and mend the differences
  stook harvest https://example.org/oai -o - | jq .     just the data, without a store

A URL that answers becomes a source with a name, so that the next harvest knows what has changed. --prefix, --set,
--from, --until and --strict are for this harvest only; `stook source edit` keeps them.

A harvest that is interrupted, by Ctrl-C or by force, goes on where it was when it is run again.
The exit code is 1 if something is missing.")]
pub(super) struct Harvest {
    /// Base URLs, or names of sources
    #[arg(value_name = "SOURCE", required_unless_present = "all", conflicts_with = "all")]
    sources: Vec<String>,
    /// Every source that is due
    #[arg(long)]
    all: bool,
    /// The format to harvest; may be repeated  [default: oai_dc]
    #[arg(long = "prefix", value_name = "PREFIX")]
    prefixes: Vec<String>,
    /// Only this set; may be repeated
    #[arg(long = "set", value_name = "SET")]
    sets: Vec<String>,
    /// Only records changed since this date
    #[arg(long, value_name = "DATE", value_parser = date)]
    from: Option<UtcDatetime>,
    /// Only records changed up to this date
    #[arg(long, value_name = "DATE", value_parser = date)]
    until: Option<UtcDatetime>,
    /// Everything once more, not only what changed
    #[arg(long)]
    full: bool,
    /// Afterwards compare the identifiers on both sides and mend the differences
    #[arg(long)]
    verify: bool,
    /// Refuse what breaks the protocol instead of reading it all the same
    #[arg(long)]
    strict: bool,
    /// Write the records to this file instead of the store; .gz and .zst compress, - is standard output
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["all", "verify", "full"])]
    output: Option<PathBuf>,
    /// The form of that file  [default: by its name, else jsonl]
    #[arg(long, value_enum, requires = "output")]
    format: Option<OutputFormat>,
}

impl Harvest {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let config = configuration(place)?;
        if let (Some(from), Some(until)) = (self.from, self.until)
            && from.first_second() > until.last_second()
        {
            bail!("--from {from} is later than --until {until}\nTry: the earlier date first");
        }
        if let Some(output) = &self.output {
            return self.stream(&config, output);
        }
        let store = open_store(&config)?;
        let known = source::all(&store)?;
        let sources = if self.all { due(&store)? } else { self.named(&store)? };
        if sources.is_empty() {
            println!("No source is due. Try: stook source list");
            return Ok(Ending::Fine);
        }
        let stop = stop::on_signal("Stopping after the page in hand …")?;
        let polite = Polite::new(config.harvest.requests_per_host);
        let wanted = Wanted {
            from: self.from,
            until: self.until,
            full: self.full,
            verify: self.verify,
            unless_harvested: self.all,
            first_contact: false,
        };
        let round = Round {
            store: &store,
            contact: &contact(&config),
            polite: &polite,
            stop: &stop,
            bar: progress::spinner("{spinner} {msg}  {elapsed}"),
            totals: Totals::of(sources.len()),
            findings: AtomicUsize::new(0),
            threads: config.harvest.sources_at_once,
            sources,
            known,
            wanted,
            shared: self.all,
        };
        let outcome = round.run();
        round.bar.finish_and_clear();
        outcome?;
        Ok(if round.findings.load(Relaxed) > 0 {
            Ending::Findings
        } else {
            Ending::Fine
        })
    }

    /// Harvests without a store.
    fn stream(&self, config: &Config, output: &Path) -> Result<Ending> {
        let [url] = self.sources.as_slice() else {
            bail!("-o writes one source\nTry: one URL");
        };
        let mut settings = Source {
            url: url.clone(),
            strict: self.strict,
            sets: self.sets.clone(),
            ..Source::default()
        };
        if !self.prefixes.is_empty() {
            settings.prefixes.clone_from(&self.prefixes);
        }
        source::check(&settings)?;
        let path = (output.as_os_str() != "-").then_some(output);
        let format = self.format.unwrap_or_else(|| OutputFormat::of_name(output));
        let mut sink = Stream::new(Output::open(path)?, format, url);
        let stop = stop::on_signal("Stopping after the page in hand …")?;
        let bar = progress::spinner("{spinner} {msg}  {elapsed}");
        let totals = Totals::of(1);
        let outside = Outside {
            contact: &contact(config),
            polite: &Polite::new(config.harvest.requests_per_host),
            stop: &stop,
            progress: &|report, advertised| show(&bar, &totals, 0, report, advertised),
        };
        let wanted = Wanted {
            from: self.from,
            until: self.until,
            first_contact: true,
            ..Wanted::default()
        };
        let mut memory = NoMemory;
        let mut harvest =
            harvest::Harvest::new(&settings, Quirks::default(), wanted, &outside, &mut sink, &mut memory)?;
        harvest.run()?;
        let report = harvest.report;
        bar.finish_and_clear();
        eprint!("{report}");
        if report.complete {
            sink.finish()?;
        } else if let Some(partial) = sink.break_off()? {
            eprintln!("What came is in {}.", partial.display());
        }
        Ok(if report.is_exact() {
            Ending::Fine
        } else {
            Ending::Findings
        })
    }

    /// The sources named on the command line; a URL that is new becomes one.
    fn named(&self, store: &Store) -> Result<Vec<KnownSource>> {
        let known = source::all(store)?;
        let mut sources = Vec::new();
        for text in &self.sources {
            let found = known
                .iter()
                .find(|source| source.name == *text || source.settings.url == *text);
            let mut source = match found {
                Some(source) => source.clone(),
                None if text.contains("://") => KnownSource {
                    name: name_for(text, |name| may_be_named(store, name, text))?,
                    settings: Source {
                        url: text.clone(),
                        ..Source::default()
                    },
                    quirks: Quirks::default(),
                    report: None,
                },
                None if Path::new(text).components().count() > 1 || text.contains('.') => {
                    bail!("{text:?} is neither a source nor a URL\nTry: https://{text}, or stook source list");
                }
                None => source::named(store, text)?,
            };
            source::check(&source.settings)?;
            if found.is_none() {
                source::keep(store, &source.name, &source.settings, &source.quirks)?;
            }
            if !self.prefixes.is_empty() {
                source.settings.prefixes.clone_from(&self.prefixes);
            }
            if !self.sets.is_empty() {
                source.settings.sets.clone_from(&self.sets);
            }
            source.settings.strict |= self.strict;
            source::check(&source.settings)?;
            sources.push(source);
        }
        Ok(sources)
    }
}

fn contact(config: &Config) -> String {
    if !config.harvest.contact.is_empty() {
        return config.harvest.contact.clone();
    }
    let emails = config.repository.iter().flat_map(|repository| &repository.admin_emails);
    emails.into_iter().next().cloned().unwrap_or_default()
}

/// The sources whose time has come.
fn due(store: &Store) -> Result<Vec<KnownSource>> {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let mut sources = source::all(store)?;
    sources.retain(|source| {
        let every = i64::from(source.settings.every_hours) * 3_600;
        let finished = source
            .report
            .as_ref()
            .filter(|report| report.complete)
            .and_then(|report| report.ended);
        every > 0 && finished.is_none_or(|ended| ended + every <= now)
    });
    Ok(sources)
}

fn date(text: &str) -> Result<UtcDatetime, String> {
    UtcDatetime::parse(text).map_err(|_| "write it as 2024-01-31 or 2024-01-31T23:59:59Z".to_owned())
}
