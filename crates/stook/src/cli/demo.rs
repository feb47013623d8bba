//! `stook demo`: a small library of sample records, served at once.

use std::fs;
use std::net::TcpListener as StdListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use stook_oai::{Set, SetSpec};

use super::session::{Session, open_store};
use super::{Ending, import, serve, set};
use crate::config::{self, Config, LogFormat};
use crate::import::{Input, Options};

const RECORDS: &str = include_str!("../demo/records.jsonl");
const SETS: &str = include_str!("../demo/sets.json");
const LISTEN: &str = "127.0.0.1:8080";

/// Serve a small repository of sample records, to look at
#[derive(Args)]
#[command(after_help = "\
Examples:
  stook demo
  stook demo --dir lindenau          keep it: a folder with stook.toml to go on from")]
pub(super) struct Demo {
    /// Where to listen; default: port 8080, or any free port if that is taken
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Keep the repository in this folder; default: a temporary one, removed at the end
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Deserialize)]
struct SampleSet {
    spec: String,
    name: String,
    description: Option<String>,
}

impl Demo {
    pub(super) fn run(self) -> Result<Ending> {
        serve::start_logging(LogFormat::Text, "warn");
        let listen = match self.listen {
            Some(listen) => listen,
            None => free_port()?,
        };
        let temporary = Temporary::unless(self.dir.as_deref())?;
        let folder = self.dir.as_deref().unwrap_or(&temporary.0);
        let config = prepare(folder, &listen)?;
        let base_url = config.repository[0].base_url.clone();
        serve::run_until_stopped(&config, |_| announce(&listen, &base_url, self.dir.as_deref()))?;
        drop(temporary);
        Ok(Ending::Fine)
    }
}

/// A folder that goes when the demo does.
struct Temporary(PathBuf);

impl Temporary {
    fn unless(kept: Option<&Path>) -> Result<Temporary> {
        if kept.is_some() {
            return Ok(Temporary(PathBuf::new()));
        }
        let folder = std::env::temp_dir().join(format!("stook-demo-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("making {}", folder.display()))?;
        Ok(Temporary(folder))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// Makes the repository, or finds it from an earlier run.
fn prepare(folder: &Path, listen: &str) -> Result<Config> {
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let path = folder.join("stook.toml");
    if !path.exists() {
        if folder.join("stook.db").exists() {
            bail!(
                "{} holds a store already\nTry: another folder with --dir",
                folder.display()
            );
        }
        fs::write(&path, config::commented("stook.db", listen, &settings()))
            .with_context(|| format!("writing {}", path.display()))?;
    }
    let config = Config::load(&path, Some(listen))?;
    let session = Session::of(&config, open_store(&config)?, None)?;
    let records = folder.join("records.jsonl");
    fs::write(&records, RECORDS).with_context(|| format!("writing {}", records.display()))?;
    let mut options = Options::new(session.namespace()?);
    options.formats = session.formats.clone();
    options.crosswalks = session.crosswalks()?;
    let mut importer = session.store.importer(session.repository)?;
    let input = [Input::from_argument(records.as_os_str())];
    import::import(
        &session,
        &mut importer,
        &input,
        &Arc::new(options),
        &AtomicBool::new(false),
    )?;
    define_sets(&session)?;
    Ok(config)
}

fn settings() -> config::Repository {
    config::Repository {
        name: "lindenau".into(),
        repository_name: "Library and Archive of the Lindenau Valley".into(),
        admin_emails: vec!["oai@lindenau.example".into()],
        namespace: "lindenau.example".into(),
        ..config::Repository::default()
    }
}

fn define_sets(session: &Session) -> Result<()> {
    let sets: Vec<SampleSet> = serde_json::from_str(SETS)?;
    for SampleSet {
        spec,
        name,
        description,
    } in sets
    {
        let descriptions = description.as_deref().map(set::as_dublin_core).into_iter().collect();
        session.store.define_set(
            session.repository,
            &Set {
                spec: SetSpec::parse(&spec)?,
                name,
                descriptions,
            },
        )?;
    }
    Ok(())
}

/// Port 8080 if it is free, else any.
fn free_port() -> Result<String> {
    if StdListener::bind(LISTEN).is_ok() {
        return Ok(LISTEN.to_owned());
    }
    let listener = StdListener::bind("127.0.0.1:0").context("looking for a free port")?;
    Ok(listener.local_addr()?.to_string())
}

fn announce(listen: &str, base_url: &str, kept: Option<&Path>) {
    println!(
        "A demo repository is served. Open in a browser:\n\n  http://{listen}/\n  http://{listen}/explore\n\nor ask it as a harvester does:\n"
    );
    let sample = "identifier=oai%3Alindenau.example%3Amap-0002";
    for query in [
        "verb=Identify".to_owned(),
        "verb=ListMetadataFormats".to_owned(),
        "verb=ListSets".to_owned(),
        "verb=ListIdentifiers&metadataPrefix=oai_dc".to_owned(),
        "verb=ListRecords&metadataPrefix=oai_dc&set=maps".to_owned(),
        format!("verb=GetRecord&metadataPrefix=oai_dc&{sample}"),
    ] {
        println!("  {base_url}?{query}");
    }
    match kept {
        Some(folder) => println!("\nIt is kept in {}. Ctrl-C stops it.", folder.display()),
        None => println!("\nCtrl-C stops it and leaves nothing behind."),
    }
}
