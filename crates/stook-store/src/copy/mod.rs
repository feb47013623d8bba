//! A whole store from one place to another, exact: every row of every table with its own numbers.
//!
//! ```text
//! begin     marks the target: nobody opens it from now on; empties the small tables
//! fill      tables that are empty
//! compare   walks through both ends of the others side by side; removes, fetches and writes what differs
//! finish    the last position and the clock; takes the mark away
//! ```
//!
//! Each batch is a transaction. Nothing remembers how far a copy came: one that was broken off, whatever happened to the
//! source since, is begun again and passes over what is there. The source is read in one view and never written.

mod table;

use std::cmp::Ordering;
use std::collections::VecDeque;

use stook_oai::Datestamp;

use crate::postgres::CopyServer;
use crate::sqlite::CopyFile;
use crate::{Position, StoreAddress, StoreError};

pub(crate) use table::{Column, InFile, Kind, Row, TABLES, Table, Value, bytes_of};

/// Bytes read and written at once, more or less: what a batch takes of the memory.
pub(crate) const BATCH_BYTES: usize = 8 << 20;

/// How a store is copied.
#[derive(Clone, Copy, Debug)]
pub struct CopyOptions {
    /// Bring an earlier copy up to date, where without this only an empty or unfinished one is written to.
    pub again: bool,
    /// Even where the target has later records than the source, which are lost then.
    pub discard_later: bool,
    /// Rows written in one transaction at most.
    pub batch: usize,
}

impl Default for CopyOptions {
    fn default() -> CopyOptions {
        CopyOptions {
            again: false,
            discard_later: false,
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
    let (secret, last) = (source.secret()?, "SELECT last_position FROM store");
    let is_later = target.secret()? == secret && target.number(last)? > source.number(last)?;
    if is_later && !options.discard_later {
        return Err(StoreError::LaterThere(to.to_string()));
    }
    target.begin(&secret, options.again)?;
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
    /// The first rows past a key, in an order of this end's own: at most so many and, but for one of them, no more than
    /// [`BATCH_BYTES`].
    fn page(&mut self, table: &Table, after: Option<&[Value]>, rows: usize) -> Result<Vec<Row>, StoreError>;
    /// The rows that have these keys, with which they begin.
    fn find(&mut self, table: &Table, keys: &[Row]) -> Result<Vec<Row>, StoreError>;
    /// The next rows of a walk through a table in the order of [`Table::walk_key`], past the last one or from the
    /// beginning; the last ones are none. In the place of bytes they have their SHA-256.
    fn walk(&mut self, table: &Table, after: Option<&Row>, rows: usize) -> Result<Vec<Row>, StoreError>;
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

/// How many repositories have anything in them: one that somebody only looked for is no reason to refuse.
pub(crate) const USED: &str = "SELECT count(*) FROM repository WHERE earliest IS NOT NULL
    OR id IN (SELECT repository FROM note) OR id IN (SELECT repository FROM set_)
    OR id IN (SELECT repository FROM quarantine)";

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
        for table in TABLES {
            let any = format!(
                "SELECT count(*) FROM (SELECT 1 FROM {} LIMIT 1) AS some_row",
                table.name
            );
            let to_its_end = match self.target.number(&any)? {
                0 => self.fill(table)?,
                _ => self.compare(table)?,
            };
            if !to_its_end {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Copies a table into an empty one.
    fn fill(&mut self, table: &Table) -> Result<bool, StoreError> {
        let of = self.source.number(&table.count())?;
        let (mut after, mut done, mut limit) = (None::<Row>, 0, self.batch);
        loop {
            let rows = self.source.page(table, after.as_deref(), limit)?;
            let Some(last) = rows.last() else {
                return Ok(true);
            };
            after = Some(last[..table.key].to_vec());
            limit = self.limit_after(&rows);
            self.target.write(table, &[], &rows)?;
            done += rows.len() as u64;
            self.copied.written += rows.len() as u64;
            if self.tell(table, "", done, of) {
                return Ok(false);
            }
        }
    }

    /// Makes a table that has rows the same as the source's.
    fn compare(&mut self, table: &Table) -> Result<bool, StoreError> {
        let of = self.source.number(&table.count())?;
        let (mut here, mut there) = (Walk::default(), Walk::default());
        let (mut gone, mut wanted, mut passed) = (Vec::new(), Vec::new(), 0);
        loop {
            let ours = here.first(self.source, table, self.batch)?;
            let theirs = there.first(self.target, table, self.batch)?;
            let order = match (ours, theirs) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(ours), Some(theirs)) => table.walk_key(ours).cmp(table.walk_key(theirs)),
            };
            let ours = if order.is_le() { here.next() } else { None };
            let theirs = if order.is_ge() { there.next() } else { None };
            if ours != theirs {
                gone.extend(theirs.map(|row| row[..table.key].to_vec()));
                wanted.extend(ours.map(|row| row[..table.key].to_vec()));
            }
            passed += 1;
            if passed % self.batch == 0 {
                self.mend(table, &mut gone, &mut wanted)?;
                if self.tell(table, "comparing ", here.passed, of) {
                    return Ok(false);
                }
            }
        }
        self.mend(table, &mut gone, &mut wanted)?;
        Ok(!self.tell(table, "comparing ", here.passed, of))
    }

    /// Removes rows, and fetches others in their places.
    fn mend(&mut self, table: &Table, gone: &mut Vec<Row>, wanted: &mut Vec<Row>) -> Result<(), StoreError> {
        // Few at first: nothing is known of their size.
        let (mut keys, mut limit) = (wanted.as_slice(), self.batch.min(64));
        while !keys.is_empty() || !gone.is_empty() {
            let (now, later) = keys.split_at(limit.min(keys.len()));
            let rows = self.source.find(table, now)?;
            self.target.write(table, gone, &rows)?;
            self.copied.removed += gone.len() as u64;
            self.copied.written += rows.len() as u64;
            gone.clear();
            keys = later;
            limit = self.limit_after(&rows);
        }
        wanted.clear();
        Ok(())
    }

    /// How many rows to ask for next: a server sends what it is asked for, wanted or not. A power of two, because every
    /// number is a statement of its own.
    fn limit_after(&self, rows: &[Row]) -> usize {
        let bytes: usize = rows.iter().map(|row| bytes_of(row)).sum();
        let fitting = BATCH_BYTES / (bytes / rows.len().max(1)).max(1) + 1;
        match fitting >= self.batch {
            true => self.batch,
            false => 1 << fitting.ilog2(),
        }
    }

    /// Says how far it is; whether to stop there.
    fn tell(&mut self, table: &Table, what: &str, done: u64, of: i64) -> bool {
        if table.name == "record" {
            self.copied.records = done;
        }
        let step = format!("{what}{}", table.title);
        (self.progress)(&step, done, u64::try_from(of).unwrap_or(0).max(done));
        (self.stop)()
    }
}

/// A walk through a table at one end.
#[derive(Default)]
struct Walk {
    ahead: VecDeque<Row>,
    /// The last row that was read.
    last: Option<Row>,
    passed: u64,
    ended: bool,
}

impl Walk {
    /// The row it has come to.
    fn first(&mut self, end: &mut dyn End, table: &Table, rows: usize) -> Result<Option<&Row>, StoreError> {
        if self.ahead.is_empty() && !self.ended {
            self.ahead = end.walk(table, self.last.as_ref(), rows)?.into();
            self.ended = self.ahead.is_empty();
            self.last = self.ahead.back().cloned();
        }
        Ok(self.ahead.front())
    }

    /// Goes on past it.
    fn next(&mut self) -> Option<Row> {
        self.passed += 1;
        self.ahead.pop_front()
    }
}
