//! The store's time: what datestamps and response dates are made from.
//!
//! Enters: the system's clock, which may jump. Leaves: two readings that keep the first promise, "nothing is missed":
//!
//! - a **writer** stamps its records with a time no earlier than any response date ever given out;
//! - a **reader** gives out a response date no later than the stamp of any write it cannot see yet.
//!
//! Both hold across threads, processes, restarts and clock steps through one small file beside the store. A writer
//! holds an exclusive lock on it from before it reads the clock until its transaction is over; the kernel releases
//! the lock if the writer dies. A reader that finds the file free takes the lock for a moment, says "now" and notes
//! that it did; a reader that finds it locked by a writer says the time at which the writer began.
//!
//! ```text
//! bytes 0..8    when the current (or last) write began
//! bytes 8..16   the latest time ever given out as a response date or taken as a stamp
//! bytes 16..24  1 if a writer holds the lock, 0 if a reader does
//! ```

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stook_oai::Datestamp;

use crate::Position;

/// How far given-out response dates may run ahead of what has reached the disk. Only a power failure together with a
/// clock that wakes up in the past could use the gap, and only for this long.
const UNSYNCED: Duration = Duration::from_secs(60);
/// How long a reader waits for another reader, which has the lock for microseconds unless somebody stopped it.
const PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_micros(50);

/// Where the time comes from; tests hand in one that jumps.
#[derive(Clone)]
pub struct Clock {
    now: Arc<dyn Fn() -> Datestamp + Send + Sync>,
    is_system: bool,
}

impl Clock {
    /// The system's clock.
    pub fn system() -> Clock {
        let clock = Clock::new(|| {
            let seconds = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs());
            i64::try_from(seconds)
                .ok()
                .and_then(Datestamp::from_unix)
                .unwrap_or_default()
        });
        Clock {
            is_system: true,
            ..clock
        }
    }

    /// A clock of one's own.
    pub fn new(now: impl Fn() -> Datestamp + Send + Sync + 'static) -> Clock {
        Clock {
            now: Arc::new(now),
            is_system: false,
        }
    }

    /// A clock that stands still.
    pub fn fixed(at: Datestamp) -> Clock {
        Clock::new(move || at)
    }

    /// The time, to the second.
    pub fn now(&self) -> Datestamp {
        (self.now)()
    }

    /// Whether it is the system's: then a server's own is as good, and the same for everybody.
    pub(crate) fn is_system(&self) -> bool {
        self.is_system
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Clock({})", self.now())
    }
}

/// What a check says where the newest datestamp is ahead of the time.
pub(crate) fn ahead(newest: Datestamp, now: Datestamp) -> Option<String> {
    (newest.unix() > now.unix() + 60).then(|| {
        format!(
            "the newest datestamp {newest} is later than the system's clock {now}: the clock was once ahead; \
             new changes are stamped {newest} until it catches up"
        )
    })
}

/// The clock file of one store.
pub(crate) struct StoreClock {
    clock: Clock,
    // Two handles, because a lock belongs to a handle: a reader's lock must conflict with our own writer's.
    reading: Mutex<Reading>,
    writing: Mutex<File>,
}

struct Reading {
    file: File,
    synced: Datestamp,
}

#[derive(Clone, Copy, Default)]
struct Times {
    writing_since: Datestamp,
    latest: Datestamp,
    writing: bool,
}

/// A write in progress. While it lives, readers say no later time than `stamp`.
pub(crate) struct Flight<'a> {
    file: MutexGuard<'a, File>,
    /// The earliest datestamp this write may use.
    pub(crate) stamp: Datestamp,
}

impl StoreClock {
    pub(crate) fn open(path: &Path, clock: Clock) -> io::Result<StoreClock> {
        let reading = Mutex::new(Reading {
            file: open(path)?,
            synced: Datestamp::default(),
        });
        Ok(StoreClock {
            clock,
            reading,
            writing: Mutex::new(open(path)?),
        })
    }

    /// The system's time, which may be behind the store's after a clock step.
    pub(crate) fn system_now(&self) -> Datestamp {
        self.clock.now()
    }

    /// Begins a write: waits for any other to end, then fixes the earliest stamp.
    pub(crate) fn begin(&self) -> io::Result<Flight<'_>> {
        let file = lock(&self.writing);
        file.lock()?;
        let times = read(&file).inspect_err(|_| {
            let _ = file.unlock();
        })?;
        let stamp = self.now().max(times.latest);
        let flight = Flight { file, stamp };
        flight.note(true)?;
        Ok(flight)
    }

    /// A response date: no write that is invisible to a snapshot taken *after* this call has an earlier stamp.
    pub(crate) fn response_date(&self) -> io::Result<Datestamp> {
        let mut reading = lock(&self.reading);
        let began = Instant::now();
        loop {
            match reading.file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => {}
            }
            let times = read(&reading.file)?;
            // The beginning of the last write is always a safe answer, if an old one once that write is over.
            if times.writing || began.elapsed() > PATIENCE {
                return Ok(times.writing_since);
            }
            thread::sleep(PAUSE);
        }
        let answer = self.give_out(&reading.file);
        reading.file.unlock()?;
        let now = answer?;
        if now.unix() - reading.synced.unix() >= UNSYNCED.as_secs() as i64 {
            reading.file.sync_data()?;
            reading.synced = now;
        }
        Ok(now)
    }

    /// Says "now" under the lock. The lock is exclusive, because a reader held up between reading and writing would
    /// take back the later time another has said meanwhile.
    fn give_out(&self, file: &File) -> io::Result<Datestamp> {
        let times = read(file)?;
        let now = self.now().max(times.latest);
        if now > times.latest || times.writing {
            let (latest, writing) = (now, false);
            write(
                file,
                Times {
                    latest,
                    writing,
                    ..times
                },
            )?;
        }
        Ok(now)
    }

    /// The time, as far as a record can be stamped with it.
    fn now(&self) -> Datestamp {
        self.clock.now().min(Position::latest_datestamp())
    }
}

impl Flight<'_> {
    fn note(&self, writing: bool) -> io::Result<()> {
        let (writing_since, latest) = (self.stamp, self.stamp);
        write(
            &self.file,
            Times {
                writing_since,
                latest,
                writing,
            },
        )
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let _ = self.note(false);
        // Closing the file releases the lock too; an error here changes nothing we could mend.
        let _ = self.file.unlock();
    }
}

/// The latest time given out by the store with this clock file, which may not be there.
pub(crate) fn latest(path: &Path) -> io::Result<Datestamp> {
    match File::open(path) {
        Ok(file) => Ok(read(&file)?.latest),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Datestamp::default()),
        Err(error) => Err(error),
    }
}

/// Notes, durably, that this time was given out.
pub(crate) fn advance(path: &Path, time: Datestamp) -> io::Result<()> {
    let file = open(path)?;
    file.lock()?;
    let times = read(&file)?;
    let latest = times.latest.max(time);
    write(&file, Times { latest, ..times })?;
    file.sync_all()
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

/// A panic while the lock was held leaves nothing half done: every use reads the file anew.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new or torn file reads as "never": the store's last datestamp still bounds the stamps.
fn read(mut file: &File) -> io::Result<Times> {
    let mut bytes = [0; 24];
    file.seek(SeekFrom::Start(0))?;
    match file.read_exact(&mut bytes) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Times::default()),
        Err(error) => return Err(error),
    }
    let [writing_since, latest, writing] = [0, 8, 16].map(|at| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[at..at + 8]);
        i64::from_le_bytes(word)
    });
    Ok(Times {
        writing_since: Datestamp::from_unix(writing_since).unwrap_or_default(),
        latest: Datestamp::from_unix(latest).unwrap_or_default(),
        writing: writing != 0,
    })
}

fn write(mut file: &File, times: Times) -> io::Result<()> {
    let words = [
        times.writing_since.unix(),
        times.latest.unix(),
        i64::from(times.writing),
    ];
    let bytes: Vec<u8> = words.into_iter().flat_map(i64::to_le_bytes).collect();
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, Ordering};

    fn stepping(start: i64) -> (Clock, Arc<AtomicI64>) {
        let hand = Arc::new(AtomicI64::new(start));
        let seen = hand.clone();
        (
            Clock::new(move || Datestamp::from_unix(seen.load(Ordering::SeqCst)).unwrap()),
            hand,
        )
    }

    #[test]
    fn a_reader_says_now_when_nobody_writes_and_the_begin_when_somebody_does() {
        let folder = tempfile::tempdir().unwrap();
        let (clock, hand) = stepping(100);
        let store = StoreClock::open(&folder.path().join("clock"), clock).unwrap();
        assert_eq!(store.response_date().unwrap().unix(), 100);
        let flight = store.begin().unwrap();
        hand.store(200, Ordering::SeqCst);
        assert_eq!(store.response_date().unwrap().unix(), 100);
        drop(flight);
        assert_eq!(store.response_date().unwrap().unix(), 200);
    }

    #[test]
    fn a_stamp_is_never_earlier_than_a_response_date_given_out_before_the_clock_stepped_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clock");
        let (clock, hand) = stepping(1_000);
        assert_eq!(
            StoreClock::open(&path, clock.clone())
                .unwrap()
                .response_date()
                .unwrap()
                .unix(),
            1_000
        );
        hand.store(10, Ordering::SeqCst);
        let reopened = StoreClock::open(&path, clock).unwrap();
        assert_eq!(reopened.begin().unwrap().stamp.unix(), 1_000);
    }
}
