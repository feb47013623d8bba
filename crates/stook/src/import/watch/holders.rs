//! Which records files have that were read earlier: where two files differ about a record, the first of them counts,
//! whichever of them changes.
//!
//! Files are numbered in the order in which they were first read. What is asked for is seldom there, so it is looked for
//! in what is noted anyway; only who asks often gets an index, in a temporary file.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::Result;
use rusqlite::Connection;
use stook_oai::MetadataPrefix;

use super::memory::{GAVE, Memory};
use crate::import::run::Claim;

/// Loads that are looked up without an index. To make it takes about as long.
const WITHOUT_INDEX: u32 = if cfg!(test) { 1 } else { 6 };

/// A record that a file is about to publish.
pub(super) struct Wanted {
    pub(super) identifier: String,
    pub(super) prefix: MetadataPrefix,
    /// The number of the file.
    pub(super) by: u64,
}

/// Looks for who had a record first.
#[derive(Default)]
pub(super) struct Holders {
    /// Files of this import, by number. It notices itself what comes twice.
    pub(super) own: HashSet<u64>,
    asked: u32,
    index: Option<Connection>,
}

impl Holders {
    /// Records that a file has which was read earlier, and is there still.
    pub(super) fn claims(&mut self, memory: &Memory, wanted: Vec<Wanted>) -> Result<Vec<Claim>> {
        let mut others: HashMap<u64, &Path> = HashMap::new();
        let latest = wanted.iter().map(|record| record.by).max().unwrap_or(0);
        for (path, file) in &memory.files {
            if file.number < latest && !self.own.contains(&file.number) {
                others.insert(file.number, path);
            }
        }
        if others.is_empty() {
            return Ok(vec![]);
        }
        self.asked += 1;
        if self.asked > WITHOUT_INDEX && self.index.is_none() {
            self.index = Some(index(memory)?);
        }
        let (wanted, found) = match &self.index {
            Some(index) => {
                let found = look_up(index, &wanted)?;
                (wanted, found)
            }
            None => {
                let wanted = there_already(memory, wanted)?;
                let found = look_through(memory, &wanted)?;
                (wanted, found)
            }
        };
        let mut on_disk = HashMap::new();
        let mut claims = Vec::new();
        for (record, numbers) in wanted.into_iter().zip(found) {
            let mut holders = numbers.into_iter().filter(|number| *number < record.by);
            let holder = holders.find_map(|number| {
                let path = others.get(&number)?;
                // What is not there cannot say anything.
                on_disk.entry(number).or_insert_with(|| path.exists()).then_some(path)
            });
            claims.extend(holder.map(|path| Claim {
                identifier: record.identifier,
                prefix: record.prefix,
                holder: path.display().to_string(),
            }));
        }
        Ok(claims)
    }
}

/// Nobody can have had what is new to the store. That is soon found out, and most files that come are new.
fn there_already(memory: &Memory, wanted: Vec<Wanted>) -> Result<Vec<Wanted>> {
    let there = memory.store.look_up(|snapshot| {
        let mut there = Vec::with_capacity(wanted.len());
        for Wanted { identifier, prefix, .. } in &wanted {
            let known = snapshot.known(memory.repository, prefix, identifier)?;
            there.push(known.is_some());
        }
        Ok(there)
    })?;
    let kept = wanted.into_iter().zip(there).filter(|(_, is_there)| *is_there);
    Ok(kept.map(|(record, _)| record).collect())
}

/// The numbers of the files that have each of these, in order.
fn look_through(memory: &Memory, wanted: &[Wanted]) -> Result<Vec<Vec<u64>>> {
    if wanted.is_empty() {
        return Ok(vec![]);
    }
    let mut places: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for (at, record) in wanted.iter().enumerate() {
        let key = (record.prefix.as_str(), record.identifier.as_str());
        places.entry(key).or_default().push(at);
    }
    let mut found = vec![Vec::new(); wanted.len()];
    memory.each(GAVE, &mut |key, text| {
        let Some((number, prefix)) = of_chunk(key) else {
            return Ok(());
        };
        for identifier in text.lines() {
            for at in places.get(&(prefix, identifier)).into_iter().flatten() {
                found[*at].push(number);
            }
        }
        Ok(())
    })?;
    Ok(found)
}

fn index(memory: &Memory) -> Result<Connection> {
    let index = Connection::open("")?;
    index.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384;
         CREATE TABLE held (identifier TEXT, prefix TEXT, number INTEGER, PRIMARY KEY (identifier, prefix, number))
             STRICT, WITHOUT ROWID;
         BEGIN;",
    )?;
    memory.each(GAVE, &mut |key, text| {
        let Some((number, prefix)) = of_chunk(key) else {
            return Ok(());
        };
        let mut add = index.prepare_cached("INSERT OR IGNORE INTO held VALUES (?1, ?2, ?3)")?;
        for identifier in text.lines() {
            add.execute((identifier, prefix, i64::try_from(number)?))?;
        }
        Ok(())
    })?;
    Ok(index)
}

fn look_up(index: &Connection, wanted: &[Wanted]) -> Result<Vec<Vec<u64>>> {
    let mut find =
        index.prepare_cached("SELECT number FROM held WHERE identifier = ?1 AND prefix = ?2 ORDER BY number")?;
    let of = |record: &Wanted| {
        let numbers = find.query_map((&record.identifier, record.prefix.as_str()), |row| row.get::<_, i64>(0))?;
        numbers.map(|number| Ok(number?.unsigned_abs())).collect()
    };
    wanted.iter().map(of).collect()
}

/// The file and the format that a chunk is about; none where only identifiers are known.
fn of_chunk(key: &str) -> Option<(u64, &str)> {
    let mut parts = key.strip_prefix(GAVE)?.split('/');
    let (number, _, prefix, _) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    Some((number.parse().ok()?, prefix)).filter(|(_, prefix)| !prefix.is_empty())
}
