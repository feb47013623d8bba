//! MARC through the store and back, compared with what yaz reads.
//!
//! What enters is a generated file with damage in it. What is imported from it
//! and exported again must be, field by field, what `yaz-marcdump` says of the
//! sound records; text that was MARC-8 is compared in Unicode NFC, because yaz
//! leaves marks apart and we do not. And every code of MARC-8 must mean to us
//! what it means to yaz.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use stook_metadata::marc::Charset;
use stook_metadata::marc::charset::{Code, codes};
use unicode_normalization::UnicodeNormalization;

use crate::records::marc::{Fate, Generator, iso2709};
use crate::server::Repository;
use crate::workspace::{free_port, output};

const RECORDS: u64 = 5_000;

/// Codes that neither the Library of Congress nor yaz knows.
const OWN_CODES: [[u8; 3]; 6] = [
    [0x21, 0x20, 0x3D],
    [0x21, 0x20, 0x40],
    [0x7F, 0x20, 0x14],
    [0x7F, 0x20, 0x19],
    [0x7F, 0x20, 0x20],
    [0x7F, 0x21, 0x22],
];

/// # Errors
/// When a field or a code is not what yaz says.
pub(super) fn run(binary: &Path, scratch: &Path) -> Result<()> {
    let folder = scratch.join("marc");
    fs::create_dir_all(&folder)?;
    compare_codes(&folder)?;
    compare_records(binary, &folder)
}

/// Every code in a subfield of its own, between letters: a mark goes to the
/// second of them.
fn compare_codes(folder: &Path) -> Result<()> {
    let codes: Vec<Code> = codes().filter(|code| !OWN_CODES.contains(&code.code)).collect();
    let values: Vec<Vec<u8>> = codes
        .iter()
        .map(|code| [b"[", &escaped(code)[..], b"x]"].concat())
        .collect();
    let file = folder.join("codes.mrc");
    let fields: Vec<(&str, Vec<u8>)> = values
        .iter()
        .map(|value| ("999", [b"  \x1Fa", &value[..]].concat()))
        .collect();
    let records: Vec<u8> = fields
        .chunks(2_000)
        .flat_map(|fields| iso2709("nam  ", fields))
        .collect();
    fs::write(&file, records)?;
    let dumped = marcdump(&file, &["-f", "marc-8", "-t", "utf-8"])?;
    let lines: Vec<&str> = dumped
        .lines()
        .filter_map(|line| line.strip_prefix("999    $a "))
        .collect();
    if lines.len() != values.len() {
        bail!("yaz shows {} codes of {}", lines.len(), values.len());
    }
    for (value, line) in values.iter().zip(lines) {
        let ours = Charset::Marc8.decode(value).ok();
        let ours = ours.map(|text| text.nfc().collect::<String>());
        let theirs: String = line.nfc().collect();
        if ours.as_ref() != Some(&theirs) {
            bail!("{value:02X?} is {theirs:?} for yaz and {ours:?} for us");
        }
    }
    println!("marc      {} codes of MARC-8 mean what they mean to yaz", values.len());
    Ok(())
}

fn escaped(code: &Code) -> Vec<u8> {
    match (code.set, code.code) {
        (b'1', code) => [b"\x1B$1", &code[..], b"\x1B(B"].concat(),
        (b'E', [_, _, code]) => vec![code | 0x80],
        (set @ (b'g' | b'b' | b'p'), [_, _, code]) => vec![0x1B, set, code, 0x1B, b's'],
        (set, [_, _, code]) => vec![0x1B, b'(', set, code, 0x1B, b'(', b'B'],
    }
}

fn compare_records(binary: &Path, folder: &Path) -> Result<()> {
    let mut generator = Generator::new();
    let (mut file, mut marc8, mut utf8) = (Vec::new(), Vec::new(), Vec::new());
    let mut fates = [0; 3];
    for number in 0..RECORDS {
        let record = generator.record(number);
        file.extend(&record.bytes);
        fates[record.fate as usize] += 1;
        if record.fate == Fate::Live {
            if record.is_marc8 { &mut marc8 } else { &mut utf8 }.extend(record.sound);
        }
    }
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()))?;
        Ok::<_, anyhow::Error>(path)
    };
    let input = write("catalogue.mrc", &file)?;
    let repository = Repository::init(binary, &folder.join("repository"), free_port()?)?;
    import(&repository, &input, fates)?;
    let exported = folder.join("exported.mrc");
    output(
        repository
            .stook()
            .args(["export", "--format", "marc", "-o"])
            .arg(&exported),
    )?;

    let mut ours = by_number(&marcdump(&exported, &[])?)?;
    let count = ours.len();
    let theirs = by_number(&marcdump(
        &write("marc8.mrc", &marc8)?,
        &["-f", "marc-8", "-t", "utf-8"],
    )?)?;
    compare(&mut ours, &theirs, |line| line.nfc().collect())?;
    let compared = theirs.len();
    let theirs = by_number(&marcdump(&write("utf8.mrc", &utf8)?, &[])?)?;
    compare(&mut ours, &theirs, str::to_owned)?;
    if let Some(number) = ours.keys().next() {
        bail!("{number} came out and never went in");
    }
    println!(
        "marc      {count} records, {compared} of them from MARC-8, equal to what yaz reads; {} deletions, {} quarantined",
        fates[Fate::Deleted as usize],
        fates[Fate::Lost as usize]
    );
    Ok(())
}

/// Imports what has damage in it, and makes sure that no more and no less is
/// quarantined.
fn import(repository: &Repository, input: &Path, fates: [u64; 3]) -> Result<()> {
    let import = repository
        .stook()
        .arg("import")
        .arg(input)
        .stdin(Stdio::null())
        .output()
        .context("cannot start stook import")?;
    let said = String::from_utf8_lossy(&import.stdout);
    let counted = |what: &str| {
        let line = said.lines().find(|line| line.contains(what));
        let number = line.and_then(|line| line.split_whitespace().next());
        number
            .and_then(|number| number.replace(',', "").parse::<u64>().ok())
            .unwrap_or(0)
    };
    let found = [counted(" new"), counted(" deleted, as"), counted(" quarantined")];
    if import.status.code() != Some(1) || found != fates {
        bail!(
            "the import ended with {} and {found:?} live, deleted and quarantined records instead of {fates:?}\n{said}{}",
            import.status,
            String::from_utf8_lossy(&import.stderr)
        );
    }
    Ok(())
}

/// Runs `yaz-marcdump` in its format of a line for each field.
fn marcdump(file: &Path, encoding: &[&str]) -> Result<String> {
    let dumped = output(
        Command::new("yaz-marcdump")
            .args(encoding)
            .args(["-o", "line"])
            .arg(file),
    )?;
    String::from_utf8(dumped).context("reading what yaz-marcdump wrote")
}

/// The lines of each record by its number in field 001.
fn by_number(dumped: &str) -> Result<BTreeMap<String, Vec<String>>> {
    let mut records = BTreeMap::new();
    for record in dumped.split("\n\n").map(str::trim).filter(|record| !record.is_empty()) {
        let lines: Vec<String> = record
            .lines()
            .enumerate()
            .map(|(index, line)| comparable(index, line))
            .collect();
        let number = lines.iter().find_map(|line| line.strip_prefix("001 "));
        let number = number.with_context(|| format!("a record without 001:\n{record}"))?;
        if records.insert(number.to_owned(), lines.clone()).is_some() {
            bail!("{number} is there twice");
        }
    }
    Ok(records)
}

/// Of the leader, only what says something about the record: lengths and the
/// encoding are not the same on both sides.
fn comparable(index: usize, line: &str) -> String {
    match (index, line.get(5..9), line.get(17..20)) {
        (0, Some(kind), Some(level)) => format!("{kind}{level}"),
        _ => line.to_owned(),
    }
}

/// Takes out of `ours` what `theirs` has, and compares.
fn compare(
    ours: &mut BTreeMap<String, Vec<String>>,
    theirs: &BTreeMap<String, Vec<String>>,
    normalised: impl Fn(&str) -> String,
) -> Result<()> {
    for (number, expected) in theirs {
        let Some(found) = ours.remove(number) else {
            bail!("{number} was lost");
        };
        let normalise = |lines: &[String]| lines.iter().map(|line| normalised(line)).collect::<Vec<_>>();
        let (expected, found) = (normalise(expected), normalise(&found));
        if expected != found {
            let difference = expected.iter().zip(&found).find(|(expected, found)| expected != found);
            bail!(
                "{number} differs ({} lines for yaz, {} for us): {difference:?}",
                expected.len(),
                found.len()
            );
        }
    }
    Ok(())
}
