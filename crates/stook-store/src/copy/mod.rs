//! A whole store from one place to another, exact: every row of every table with its own numbers.
//!
//! ```text
//! begin    marks the target: nobody opens it from now on; empties the small tables
//! fill     the small tables again
//! remove   rows of the large tables that the source lacks
//! put      rows that the target lacks or has otherwise; where it has none, without asking
//! finish   the last position and the clock; takes the mark away
//! ```
//!
//! Each batch is a transaction. Nothing remembers how far a copy came: one that was broken off, whatever happened to the
//! source since, is begun again and passes over what is there. The source is read in one view and never written.

mod table;

use std::collections::{HashMap, HashSet};

use stook_oai::Datestamp;

use crate::postgres::CopyServer;
use crate::sqlite::CopyFile;
use crate::{Position, StoreAddress, StoreError};

pub(crate) use table::{Column, InFile, Kind, Row, TABLES, Table, Value, bytes_of};

/// Bytes read and written at once, more or less: what a batch takes of the memory.
const BATCH_BYTES: usize = 8 << 20;

/// How a store is copied.
#[derive(Clone, Copy, Debug)]
pub struct CopyOptions {
    /// Bring an earlier copy up to date, where without this only an empty or unfinished one is written to.
    pub again: bool,
    /// Rows written in one transaction at most.
    pub batch: usize,
}

impl Default for CopyOptions {
    fn default() -> CopyOptions {
        CopyOptions {
            again: false,
            batch: 4096,
        }
    }
}

/// What a copy came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Records read at the source.
    pub records: u64,
    /// Rows of any table that were written at the target.
    pub written: u64,
    /// Rows of any table that were removed there, because the source has them no more.
    pub removed: u64,
    /// Whether it came to its end. If not, the target cannot be opened until the same is copied again.
    pub finished: bool,
}

/// Copies a store, datestamps, identifiers, tokens' key and all. The source may be in use; the target must not be, and is
/// made if it is not there. `progress` hears the step, how much of it is done, and of about how much; `stop` is asked
/// after every batch.
///
/// # Errors
/// When there is nothing to copy, the target has another store, or one of them cannot be read or written. What was
/// written until then is passed over when the same is copied again.
pub fn copy(
    from: &StoreAddress,
    to: &StoreAddress,
    options: CopyOptions,
    mut progress: impl FnMut(&str, u64, u64),
    mut stop: impl FnMut() -> bool,
) -> Result<Copied, StoreError> {
    let mut source: Box<dyn End> = match from {
        StoreAddress::File(path) => Box::new(CopyFile::source(path)?),
        StoreAddress::Server(url) => Box::new(CopyServer::source(&url.parse()?)?),
    };
    let mut target: Box<dyn End> = match to {
        StoreAddress::File(path) => Box::new(CopyFile::target(path)?),
        StoreAddress::Server(url) => Box::new(CopyServer::target(&url.parse()?)?),
    };
    if source.identity()? == target.identity()? {
        return Err(StoreError::SamePlace(to.to_string()));
    }
    target.begin(&source.secret()?, options.again)?;
    let mut copying = Copying {
        source: &mut *source,
        target: &mut *target,
        batch: options.batch.max(1),
        copied: Copied::default(),
        progress: &mut progress,
        stop: &mut stop,
    };
    let came_to_its_end = copying.run()?;
    let mut copied = copying.copied;
    if came_to_its_end {
        let last = source.number("SELECT last_position FROM store")?;
        // Whoever harvested the target so far has been given dates too.
        let before = Position::from_sql(target.number("SELECT last_position FROM store")?).datestamp();
        // Last, because the source goes on giving out dates meanwhile.
        let given_out = source.latest()?.max(before);
        target.finish(last, given_out)?;
        copied.finished = true;
    }
    Ok(copied)
}

/// One end of a copy: a store as its rows.
pub(crate) trait End {
    /// The same for two ends that are one store, however they were named.
    fn identity(&mut self) -> Result<String, StoreError>;
    /// The one number that a query gives.
    fn number(&mut self, sql: &str) -> Result<i64, StoreError>;
    /// The key that signs resumption tokens.
    fn secret(&mut self) -> Result<Vec<u8>, StoreError>;
    /// These columns of the first rows past a key, in an order of this end's own: at most `rows` and, but for one row,
    /// `bytes`.
    fn page(
        &mut self,
        table: &Table,
        columns: &[Column],
        after: Option<&[Value]>,
        rows: usize,
        bytes: usize,
    ) -> Result<Vec<Row>, StoreError>;
    /// These columns of the rows that may have these keys. The first values of a row are its key.
    fn find(&mut self, table: &Table, columns: &[Column], keys: &[Row]) -> Result<Vec<Row>, StoreError>;
    /// The latest time given out as a response date, by now. Ends the view of the source.
    fn latest(&mut self) -> Result<Datestamp, StoreError>;

    /// Makes it the target of a copy, if [`admit`] lets it, and empties the small tables.
    fn begin(&mut self, secret: &[u8], again: bool) -> Result<(), StoreError>;
    /// Removes rows by their keys, then inserts others, all or nothing.
    fn write(&mut self, table: &Table, gone: &[Row], new: &[Row]) -> Result<(), StoreError>;
    /// Makes it a store.
    fn finish(&mut self, last_position: i64, given_out: Datestamp) -> Result<(), StoreError>;
}

/// What is where a copy shall go.
pub(crate) struct Found {
    pub(crate) unfinished: bool,
    pub(crate) repositories: i64,
    pub(crate) secret: Vec<u8>,
}

/// Whether what is there may be written over.
pub(crate) fn admit(found: &Found, secret: &[u8], again: bool, place: &str) -> Result<(), StoreError> {
    let is_copy = found.secret == secret;
    match (found.unfinished, found.repositories > 0) {
        (false, false) => Ok(()),
        (false, true) if !again => Err(StoreError::Occupied(place.to_owned())),
        _ if is_copy => Ok(()),
        _ => Err(StoreError::NotACopy(place.to_owned())),
    }
}

/// Tells this copy from any other into the same place.
pub(crate) fn new_run() -> Result<String, StoreError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Database(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A copy under way.
struct Copying<'a> {
    source: &'a mut dyn End,
    target: &'a mut dyn End,
    batch: usize,
    copied: Copied,
    progress: &'a mut dyn FnMut(&str, u64, u64),
    stop: &'a mut dyn FnMut() -> bool,
}

impl Copying<'_> {
    /// Copies all tables; `false` if it was stopped.
    fn run(&mut self) -> Result<bool, StoreError> {
        let (small, large): (Vec<&Table>, Vec<&Table>) = TABLES.iter().partition(|table| table.small);
        for table in small {
            if !self.put(table)? {
                return Ok(false);
            }
        }
        for table in large.iter().rev() {
            if !self.remove(table)? {
                return Ok(false);
            }
        }
        for table in large {
            if !self.put(table)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes what the source lacks.
    fn remove(&mut self, table: &Table) -> Result<bool, StoreError> {
        let of = self.target.number(&table.count())?;
        let step = format!("comparing {}", table.title);
        let (mut after, mut done) = (None, 0);
        loop {
            let after_key = after.as_deref();
            let mut keys = self
                .target
                .page(table, table.key(), after_key, self.batch, BATCH_BYTES)?;
            let Some(last) = keys.last().cloned() else {
                return Ok(true);
            };
            done += keys.len() as u64;
            let found = self.source.find(table, table.key(), &keys)?;
            let found: HashSet<&[Value]> = found.iter().map(Vec::as_slice).collect();
            keys.retain(|key| !found.contains(key.as_slice()));
            if !keys.is_empty() {
                self.target.write(table, &keys, &[])?;
                self.copied.removed += keys.len() as u64;
            }
            if self.tell(&step, done, of) {
                return Ok(false);
            }
            after = Some(last);
        }
    }

    /// Writes what the target lacks or has otherwise.
    fn put(&mut self, table: &Table) -> Result<bool, StoreError> {
        let of = self.source.number(&table.count())?;
        let untrodden = self.target.page(table, table.key(), None, 1, 1)?.is_empty();
        let (mut after, mut done) = (None::<Row>, 0);
        let mut limit = self.batch;
        loop {
            let after_key = after.as_deref();
            let rows = self.source.page(table, table.columns, after_key, limit, BATCH_BYTES)?;
            let Some(last) = rows.last() else {
                return Ok(true);
            };
            after = Some(last[..table.key].to_vec());
            done += rows.len() as u64;
            limit = self.limit_after(&rows);
            if table.name == "record" {
                self.copied.records = done;
            }
            let (gone, new) = if untrodden {
                (Vec::new(), rows)
            } else {
                differences(table, &self.target.find(table, table.columns, &rows)?, rows)
            };
            if !new.is_empty() {
                self.target.write(table, &gone, &new)?;
                self.copied.written += new.len() as u64;
            }
            if self.tell(table.title, done, of) {
                return Ok(false);
            }
        }
    }

    /// How many rows to ask for next: a server sends what it is asked for, wanted or not. A power of two, because every
    /// number is a statement of its own.
    fn limit_after(&self, rows: &[Row]) -> usize {
        let bytes: usize = rows.iter().map(|row| bytes_of(row)).sum();
        let fitting = BATCH_BYTES / (bytes / rows.len()).max(1) + 1;
        match fitting >= self.batch {
            true => self.batch,
            false => 1 << fitting.ilog2(),
        }
    }

    /// Says how far it is; whether to stop there.
    fn tell(&mut self, step: &str, done: u64, of: i64) -> bool {
        (self.progress)(step, done, u64::try_from(of).unwrap_or(0).max(done));
        (self.stop)()
    }
}

/// Which rows to remove, by their keys, and which to write, so that what was found becomes `rows`.
fn differences(table: &Table, found: &[Row], rows: Vec<Row>) -> (Vec<Row>, Vec<Row>) {
    let found: HashMap<&[Value], &Row> = found.iter().map(|row| (&row[..table.key], row)).collect();
    let (mut gone, mut new) = (Vec::new(), Vec::new());
    for row in rows {
        match found.get(&row[..table.key]) {
            Some(same) if **same == row => {}
            Some(_) => {
                gone.push(row[..table.key].to_vec());
                new.push(row);
            }
            None => new.push(row),
        }
    }
    (gone, new)
}
