//! `stook harvest`: copy what other repositories have.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use indicatif::ProgressBar;
use stook_oai::UtcDatetime;
use stook_store::Store;

use super::output::{Output, OutputFormat};
use super::session::{Place, configuration, open_store};
use super::source::{may_be_named, name_for};
use super::stream::{NoMemory, Stream};
use super::{Ending, progress, stop};
use crate::config::{Config, Source};
use crate::harvest::report::counted;
use crate::harvest::source::{self, KnownSource};
use crate::harvest::{self, BeingHarvested, Outside, Polite, Quirks, Report, Wanted};
use crate::web::landing::grouped;

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
            first_contact: false,
        };
        let contact = contact(&config);
        let bar = progress::spinner("{spinner} {msg}  {elapsed}");
        let totals = Totals::of(sources.len());
        let next = AtomicUsize::new(0);
        let findings = AtomicUsize::new(0);
        let worker = || -> Result<()> {
            while let Some(source) = sources.get(next.fetch_add(1, Relaxed)) {
                let at = sources.iter().position(|other| other.name == source.name).unwrap_or(0);
                let outside = Outside {
                    contact: &contact,
                    polite: &polite,
                    stop: &stop,
                    progress: &|report, advertised| show(&bar, &totals, at, report, advertised),
                };
                let outcome = source::harvest(&store, source, wanted.clone(), &outside);
                totals.finish(at);
                match outcome {
                    Ok(report) => {
                        bar.suspend(|| tell(source, &report));
                        if known.iter().all(|known| known.name != source.name) && !report.answered {
                            // Nobody has ever heard of it: more likely a slip of the pen than a source. One that
                            // was added with its settings is kept: it may just be down.
                            source::forget(&store, &source.name)?;
                        }
                        findings.fetch_add(usize::from(!report.is_exact()), Relaxed);
                    }
                    Err(error) if self.all && error.is::<BeingHarvested>() => {
                        bar.suspend(|| println!("{}: left alone, another harvest of it is running", source.name));
                    }
                    Err(error) if sources.len() == 1 => return Err(error),
                    Err(error) => {
                        bar.suspend(|| eprintln!("{}: {}", source.name, super::in_words(&error)));
                        findings.fetch_add(1, Relaxed);
                    }
                }
                if stop.load(Relaxed) {
                    break;
                }
            }
            Ok(())
        };
        let threads = config.harvest.sources_at_once.clamp(1, sources.len());
        let results: Vec<Result<()>> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
            running
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|_| Err(anyhow!("a harvest failed; the panic is above")))
                })
                .collect()
        });
        bar.finish_and_clear();
        results.into_iter().collect::<Result<Vec<()>>>()?;
        Ok(if findings.load(Relaxed) > 0 {
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

/// How far all sources together have come.
struct Totals(Mutex<Vec<Total>>);

#[derive(Clone, Default)]
struct Total {
    received: u64,
    advertised: Option<u64>,
    finished: bool,
}

impl Totals {
    fn of(sources: usize) -> Totals {
        Totals(Mutex::new(vec![Total::default(); sources]))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Total>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, at: usize) {
        self.lock()[at].finished = true;
    }
}

/// One line for all sources: records, of how many, what went wrong.
fn show(bar: &ProgressBar, totals: &Totals, at: usize, report: &Report, advertised: Option<u64>) {
    let mut totals = totals.lock();
    totals[at].received = report.received;
    totals[at].advertised = advertised.or(totals[at].advertised);
    let received: u64 = totals.iter().map(|total| total.received).sum();
    let of: Option<u64> = totals.iter().map(|total| total.advertised).sum();
    let seconds = bar.elapsed().as_secs_f64().max(0.1);
    let rate = received as f64 / seconds;
    let mut line = counted(received, "record");
    if let Some(of) = of.filter(|of| *of >= received) {
        let left = (of - received) as f64 / rate.max(0.1);
        line = format!(
            "{} of {}, {} left",
            grouped(received),
            counted(of, "record"),
            indicatif::HumanDuration(Duration::from_secs_f64(left))
        );
    }
    line = format!("{line}, {}/s", grouped(rate as u64));
    if totals.len() > 1 {
        let finished = totals.iter().filter(|total| total.finished).count();
        line = format!("{finished} of {} sources, {line}", totals.len());
    }
    if report.retries > 0 {
        line = format!("{line}, {} repeated", counted(report.retries, "request"));
    }
    if report.quarantined > 0 {
        line = format!("{line}, {} quarantined", grouped(report.quarantined));
    }
    if let Some(waiting) = &report.waiting {
        if bar.is_hidden() {
            eprintln!("waiting: {waiting}");
        }
        line = format!("{line}; {waiting}");
    }
    bar.set_message(line);
}

fn tell(source: &KnownSource, report: &Report) {
    print!("{}: {report}", source.name);
    if report.in_quarantine > 0 {
        println!("What could not be saved: stook quarantine --repository {}", source.name);
    }
}
