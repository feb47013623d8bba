//! `stook status`: what is in the store.

use anyhow::Result;
use clap::Args;
use stook_store::{ReplicaState, Span, Store};

use super::Ending;
use super::session::{Place, Session, existing_configuration, existing_store};
use crate::count::{counted, grouped};
use crate::harvest::source::{self, KnownSource};

/// Show what the store holds
#[derive(Args)]
pub(super) struct Status {
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let config = existing_configuration(place, None)?;
        let store = existing_store(&config)?;
        let (mut repositories, mut sources) = (Vec::new(), Vec::new());
        let described = |name: &str| describe(&Session::of(&config, store.clone(), Some(name))?);
        match &place.repository {
            Some(name) => repositories.push(described(name)?),
            None => {
                for settings in &config.repository {
                    repositories.push(described(&settings.name)?);
                }
                sources = describe_sources(&store)?;
            }
        }
        let (bytes, replicas) = (store.bytes()?, store.replicas());
        if self.json {
            let all = serde_json::json!({
                "store": config.store.to_string(), "bytes": bytes, "repositories": repositories, "sources": sources,
                "replicas": replicas.iter().map(describe_replica).collect::<Vec<_>>(),
            });
            println!("{all:#}");
            return Ok(Ending::Fine);
        }
        println!("Store       {} ({})", config.store, counted(bytes, "byte"));
        for replica in &replicas {
            match &replica.seconds_behind {
                Ok(seconds) => println!("Replica     {} ({seconds} s behind)", replica.place),
                Err(error) => println!("Replica     {} ({error})", replica.place),
            }
        }
        for repository in &repositories {
            print(repository);
        }
        for source in &sources {
            let text = |name: &str| source[name].as_str().unwrap_or_default();
            println!("\nSource      {} ({})", text("name"), text("url"));
            println!("Records     {}", grouped(source["records"].as_u64().unwrap_or(0)));
            println!("Harvested   {}", text("state"));
        }
        Ok(Ending::Fine)
    }
}

fn describe_sources(store: &Store) -> Result<Vec<serde_json::Value>> {
    let describe = |source: KnownSource| {
        Ok(serde_json::json!({
            "name": source.name,
            "url": source.settings.url,
            "records": super::source::count(store, &source)?,
            "state": super::source::state(&source),
        }))
    };
    source::all(store)?.into_iter().map(describe).collect()
}

fn describe_replica(replica: &ReplicaState) -> serde_json::Value {
    serde_json::json!({
        "place": replica.place,
        "seconds_behind": replica.seconds_behind.as_ref().ok(),
        "error": replica.seconds_behind.as_ref().err().map(ToString::to_string),
    })
}

fn describe(session: &Session) -> Result<serde_json::Value> {
    let (store, repository): (&Store, _) = (&session.store, session.repository);
    let snapshot = store.read()?;
    let mut formats = Vec::new();
    for format in snapshot.formats(repository)? {
        let list = snapshot.list(repository, &format.prefix, None)?;
        let records = list.map_or(Ok(0), |list| snapshot.count(list, Span::ALL))?;
        let deleted = snapshot.deleted(repository, &format.prefix)?;
        formats.push(serde_json::json!({
            "prefix": format.prefix.as_str(), "records": records - deleted.min(records), "deleted": deleted,
        }));
    }
    Ok(serde_json::json!({
        "name": session.settings.name,
        "repository_name": session.settings.repository_name,
        "base_url": session.settings.base_url,
        "earliest_datestamp": snapshot.facts(repository)?.earliest_datestamp.to_string(),
        "formats": formats,
        "sets": snapshot.set_count(repository)?,
        "quarantined": store.quarantine_count(repository)?,
    }))
}

fn print(repository: &serde_json::Value) {
    let text = |name: &str| repository[name].as_str().unwrap_or_default();
    let number = |value: &serde_json::Value| grouped(value.as_u64().unwrap_or(0));
    println!("\nRepository  {} ({})", text("repository_name"), text("name"));
    println!("Base URL    {}", text("base_url"));
    println!("Since       {}", text("earliest_datestamp"));
    for format in repository["formats"].as_array().into_iter().flatten() {
        let prefix = format["prefix"].as_str().unwrap_or_default();
        println!(
            "{prefix:<11} {}, {} deleted",
            counted(format["records"].as_u64().unwrap_or(0), "record"),
            number(&format["deleted"])
        );
    }
    println!("Sets        {}", number(&repository["sets"]));
    if repository["quarantined"].as_u64() != Some(0) {
        println!(
            "Quarantine  {} (see: stook quarantine)",
            number(&repository["quarantined"])
        );
    }
}
