//! The headers of a whole list, on disk: memory does not grow with the repository.
//!
//! Entries of a fixed size lie in files by the digest of their identifiers, so that two lists are compared file by file.
//! Identifiers themselves lie beside, to be named where something is wrong.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use tempfile::TempDir;

use crate::validate::document::Header;
use crate::validate::facts::read_datestamp;
use crate::validate::pages::is_in;

/// Files that a list is spread over.
const PARTS: usize = 64;
/// Bytes of an entry.
const ENTRY_BYTES: usize = 48;
/// The longest identifier that is kept for a report.
const MOST_NAME_BYTES: usize = 4_096;

const DELETED: u32 = 1;
/// Where the bits of the first set begin.
const SETS: u32 = 8;

/// What is kept of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) digest: [u8; 16],
    /// Seconds since 1970; none where it cannot be read.
    pub(super) datestamp: Option<i64>,
    /// A digest of its sets, in whatever order they stood.
    pub(super) sets: u64,
    name: u64,
    /// The number of the request.
    pub(super) page: u32,
    flags: u32,
}

impl Entry {
    pub(super) fn is_deleted(&self) -> bool {
        self.flags & DELETED != 0
    }

    /// Whether it is in one of the sets that are looked at, and not merely below it.
    pub(super) fn is_directly_in(&self, set: usize) -> bool {
        self.flags & (1 << (SETS + 2 * set as u32)) != 0
    }

    /// Whether it is in one of the sets that are looked at, or below it.
    pub(super) fn is_in(&self, set: usize) -> bool {
        self.flags & (3 << (SETS + 2 * set as u32)) != 0
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..16].copy_from_slice(&self.digest);
        bytes[16..24].copy_from_slice(&self.datestamp.unwrap_or(i64::MIN).to_le_bytes());
        bytes[24..32].copy_from_slice(&self.sets.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.name.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.page.to_le_bytes());
        bytes[44..].copy_from_slice(&self.flags.to_le_bytes());
        out.write_all(&bytes)
    }

    fn read(bytes: &[u8; ENTRY_BYTES]) -> Entry {
        let eight = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[at..at + 8]);
            eight
        };
        let four = |at: usize| {
            let mut four = [0; 4];
            four.copy_from_slice(&bytes[at..at + 4]);
            u32::from_le_bytes(four)
        };
        let mut digest = [0; 16];
        digest.copy_from_slice(&bytes[..16]);
        Entry {
            digest,
            datestamp: Some(i64::from_le_bytes(eight(16))).filter(|datestamp| *datestamp != i64::MIN),
            sets: u64::from_le_bytes(eight(24)),
            name: u64::from_le_bytes(eight(32)),
            page: four(40),
            flags: four(44),
        }
    }
}

/// The headers of a list.
pub(super) struct Ledger {
    /// Everything lies in it, and goes with it.
    _folder: TempDir,
    parts: Vec<BufWriter<File>>,
    names: BufWriter<File>,
    /// Bytes of names so far.
    end: u64,
    pub(super) count: u64,
}

impl Ledger {
    pub(super) fn new() -> io::Result<Ledger> {
        let folder = tempfile::Builder::new().prefix("stook-validate-").tempdir()?;
        let create = |name: &str| {
            let mut options = File::options();
            let options = options.read(true).write(true).create_new(true);
            options.open(folder.path().join(name)).map(BufWriter::new)
        };
        let parts = (0..PARTS)
            .map(|part| create(&part.to_string()))
            .collect::<io::Result<_>>()?;
        let names = create("names")?;
        Ok(Ledger {
            _folder: folder,
            parts,
            names,
            end: 0,
            count: 0,
        })
    }

    /// Adds a header that came in an answer; notes whether it is in any of these sets.
    pub(super) fn add(&mut self, header: &Header, page: u32, sets: &[String]) -> io::Result<()> {
        let digest = blake3::hash(header.identifier.as_bytes());
        let digest = first_bytes(&digest);
        let mut entry = Entry {
            digest,
            datestamp: read_datestamp(&header.datestamp).map(|datestamp| datestamp.unix()),
            sets: digest_of(&header.set_specs),
            name: self.end,
            page,
            flags: if header.deleted { DELETED } else { 0 },
        };
        for (number, set) in (0_u32..).zip(sets) {
            for own in header.set_specs.iter().filter(|own| is_in(own, set)) {
                let below = u32::from(own != set);
                entry.flags |= 1 << (SETS + 2 * number + below);
            }
        }
        let part = usize::from(digest[0]) % PARTS;
        entry.write(&mut self.parts[part])?;
        let name = &header.identifier.as_bytes()[..header.identifier.len().min(MOST_NAME_BYTES)];
        self.names.write_all(&(name.len() as u32).to_le_bytes())?;
        self.names.write_all(name)?;
        self.end += 4 + name.len() as u64;
        self.count += 1;
        Ok(())
    }

    /// The entries of one file, by digest; within one identifier in their order.
    fn part(&mut self, part: usize) -> io::Result<Vec<Entry>> {
        let file = &mut self.parts[part];
        file.flush()?;
        let mut reader = BufReader::new(file.get_ref());
        reader.seek(SeekFrom::Start(0))?;
        let mut entries = Vec::new();
        let mut bytes = [0; ENTRY_BYTES];
        loop {
            match reader.read_exact(&mut bytes) {
                Ok(()) => entries.push(Entry::read(&bytes)),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(error),
            }
        }
        file.get_mut().seek(SeekFrom::End(0))?;
        entries.sort_by_key(|entry| (entry.digest, entry.name));
        Ok(entries)
    }

    /// The identifier of an entry.
    pub(super) fn name(&mut self, entry: &Entry) -> io::Result<String> {
        self.names.flush()?;
        let file = self.names.get_mut();
        file.seek(SeekFrom::Start(entry.name))?;
        let mut length = [0; 4];
        file.read_exact(&mut length)?;
        let mut name = vec![0; (u32::from_le_bytes(length) as usize).min(MOST_NAME_BYTES)];
        file.read_exact(&mut name)?;
        file.seek(SeekFrom::End(0))?;
        Ok(String::from_utf8_lossy(&name).into_owned())
    }

    /// Where it lies.
    #[cfg(test)]
    pub(super) fn folder(&self) -> &std::path::Path {
        self._folder.path()
    }
}

/// An identifier in two lists, or in one of them.
pub(super) enum Pair {
    Both(Entry, Entry),
    Left(Entry),
    Right(Entry),
}

/// Goes through two lists side by side. Of one identifier the first entry counts.
pub(super) fn join(left: &mut Ledger, right: &mut Ledger, visit: &mut dyn FnMut(Pair)) -> io::Result<()> {
    for part in 0..PARTS {
        let (mut one, mut other) = (left.part(part)?, right.part(part)?);
        one.dedup_by_key(|entry| entry.digest);
        other.dedup_by_key(|entry| entry.digest);
        let (mut one, mut other) = (one.into_iter().peekable(), other.into_iter().peekable());
        loop {
            let pair = match (one.peek(), other.peek()) {
                (None, None) => break,
                (Some(a), Some(b)) if a.digest == b.digest => {
                    one.next().zip(other.next()).map(|(a, b)| Pair::Both(a, b))
                }
                (Some(a), Some(b)) if a.digest > b.digest => other.next().map(Pair::Right),
                (Some(_), _) => one.next().map(Pair::Left),
                (None, Some(_)) => other.next().map(Pair::Right),
            };
            if let Some(pair) = pair {
                visit(pair);
            }
        }
    }
    Ok(())
}

/// Goes through entries whose identifier came before: the one before, and it.
pub(super) fn repeated(ledger: &mut Ledger, visit: &mut dyn FnMut(Entry, Entry)) -> io::Result<()> {
    for part in 0..PARTS {
        let entries = ledger.part(part)?;
        for pair in entries.windows(2).filter(|pair| pair[0].digest == pair[1].digest) {
            visit(pair[0], pair[1]);
        }
    }
    Ok(())
}

fn first_bytes(digest: &blake3::Hash) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.as_bytes()[..16]);
    bytes
}

/// Of sets, in whatever order they stand.
fn digest_of(set_specs: &[String]) -> u64 {
    let mut sorted: Vec<&str> = set_specs.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let digest = blake3::hash(sorted.join(" ").as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest.as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(number: u32, datestamp: &str, sets: &[&str]) -> Header {
        Header {
            identifier: format!("oai:example.org:{number}"),
            datestamp: datestamp.to_owned(),
            set_specs: sets.iter().map(|set| (*set).to_owned()).collect(),
            deleted: number % 2 == 1,
        }
    }

    fn ledger(headers: impl IntoIterator<Item = Header>) -> Ledger {
        let mut ledger = Ledger::new().unwrap();
        for (page, header) in (0..).zip(headers) {
            ledger
                .add(&header, page, &["maps".to_owned(), "theses".to_owned()])
                .unwrap();
        }
        ledger
    }

    #[test]
    fn two_lists_are_joined_by_identifier_whatever_their_order() {
        let date = "2024-01-01T00:00:00Z";
        let mut left = ledger((0..1_000).map(|number| header(number, date, &[])));
        let mut right = ledger((10..1_010).rev().map(|number| header(number, date, &[])));
        let (mut both, mut only) = (0, Vec::new());
        join(&mut left, &mut right, &mut |pair| match pair {
            Pair::Both(a, b) => {
                assert_eq!((a.digest, a.datestamp, a.sets), (b.digest, b.datestamp, b.sets));
                both += 1;
            }
            Pair::Left(entry) => only.push((true, entry)),
            Pair::Right(entry) => only.push((false, entry)),
        })
        .unwrap();
        assert_eq!((both, only.len()), (990, 20));
        for (is_left, entry) in only {
            let name = if is_left { left.name(&entry) } else { right.name(&entry) }.unwrap();
            let number: u32 = name.rsplit(':').next().unwrap().parse().unwrap();
            assert_eq!(number < 10, is_left, "{name}");
        }
    }

    #[test]
    fn an_entry_knows_its_sets_and_its_date() {
        let mut ledger = ledger([
            header(1, "2024-01-01", &["maps:city", "theses"]),
            header(1, "junk", &["maps"]),
        ]);
        let mut met = Vec::new();
        repeated(&mut ledger, &mut |first, second| met.push((first, second))).unwrap();
        let [(first, second)] = met[..] else { panic!("{met:?}") };
        assert!(first.is_in(0) && !first.is_directly_in(0) && first.is_directly_in(1) && first.is_deleted());
        assert!(second.is_directly_in(0) && !second.is_in(1));
        assert_eq!((first.datestamp, second.datestamp), (Some(1_704_067_200), None));
        assert_eq!((first.page, second.page), (0, 1));
    }

    #[test]
    fn nothing_is_left_behind() {
        let ledger = ledger([header(1, "2024-01-01", &[])]);
        let folder = ledger.folder().to_owned();
        assert!(folder.exists());
        drop(ledger);
        assert!(!folder.exists());
    }
}
