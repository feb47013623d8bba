//! The crosswalks that come with the program: what they make of whole records, and what must hold for any record.
//!
//! `crosswalks/records/FORMAT/NAME.xml` becomes `crosswalks/FROM-TO/NAME.xml`, broken into lines between tags, or
//! `NAME.none` where there is nothing to make. `STOOK_UPDATE_GOLDEN=1` writes them anew. `cargo xtask schemas` validates
//! them by the official schemas.

use std::fs;
use std::path::{Path, PathBuf};

use stook_metadata::crosswalk::Mapping;
use stook_metadata::crosswalk::built_in::all;
use stook_metadata::{Format, Formats, check};
use stook_oai::MetadataPrefix;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crosswalks")
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    files.sort();
    files
}

/// Applies a crosswalk and checks what it makes as every record is checked before it is published.
fn applied(mapping: &Mapping, record: &str) -> Option<String> {
    let formats = Formats::default();
    let made = mapping.apply(record).expect("a well-formed record")?;
    if let Err(fault) = check(&made, formats.by_prefix(&mapping.to).expect("a well-known format")) {
        panic!("{} to {}: {fault}\n{made}", mapping.from, mapping.to);
    }
    Some(made)
}

#[test]
fn every_crosswalk_makes_what_was_read_and_approved() {
    let update = std::env::var_os("STOOK_UPDATE_GOLDEN").is_some();
    let mut different = Vec::new();
    for mapping in all() {
        let records = files_of(&folder().join("records").join(&mapping.from));
        assert!(!records.is_empty(), "there are no records of {}", mapping.from);
        let results = folder().join(format!("{}-{}", mapping.from, mapping.to));
        let mut expected = Vec::new();
        for record in records {
            let made = applied(mapping, &fs::read_to_string(&record).unwrap());
            let name = record.file_stem().unwrap().to_str().unwrap();
            let (file, text) = match made {
                Some(made) => (results.join(format!("{name}.xml")), made.replace("><", ">\n<") + "\n"),
                None => (results.join(format!("{name}.none")), String::new()),
            };
            if update {
                fs::create_dir_all(&results).unwrap();
                fs::write(&file, &text).unwrap();
            } else if fs::read_to_string(&file).ok().as_ref() != Some(&text) {
                different.push(format!("{}:\n{text}", file.display()));
            }
            expected.push(file);
        }
        for stray in files_of(&results) {
            match expected.contains(&stray) {
                true => {}
                false if update => fs::remove_file(stray).unwrap(),
                false => different.push(format!("{} is not made any more", stray.display())),
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

fn documentation() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/crosswalks.md"))
        .expect("docs/crosswalks.md can be read")
}

#[test]
fn every_word_and_every_crosswalk_is_documented() {
    let text = documentation();
    let error = Mapping::read("map oai_dc to mods\ntitle -> note shout", &Formats::default()).unwrap_err();
    let (_, words) = error.message.split_once("Try: ").unwrap();
    let words: Vec<&str> = words
        .split([' ', ','])
        .filter(|word| !word.is_empty() && *word != "or")
        .collect();
    assert!(words.len() > 15);
    for word in words {
        let is_told = text.contains(&format!("`{word}`")) || text.contains(&format!("`{word} "));
        assert!(is_told, "{word} is not documented");
    }
    for mapping in all() {
        let row = format!("| `{}` | `{}` |", mapping.from, mapping.to);
        assert!(text.contains(&row), "{row} is not documented");
    }
}

#[test]
fn the_format_of_ones_own_in_the_documentation_is_made_as_it_says() {
    let text = documentation();
    let (_, example) = text.split_once("## A format of your own").unwrap();
    let block = |kind: &str, which: usize| {
        let fence = format!("```{kind}\n");
        let after = example
            .split(&fence)
            .nth(which)
            .unwrap_or_else(|| panic!("no block {kind} {which}"));
        after.split("```").next().unwrap().to_owned()
    };
    let declared = block("toml", 1);
    let setting = |name: &str| {
        let line = declared.lines().find(|line| line.starts_with(name)).unwrap();
        line.split('"').nth(1).unwrap().to_owned()
    };
    let house = Format::new(
        MetadataPrefix::parse(&setting("prefix")).unwrap(),
        "House".to_owned(),
        setting("namespace"),
        setting("schema"),
        Some(setting("root")),
    );
    let formats = Formats::new(vec![house]);
    let mapping = Mapping::read(&block("text", 1), &formats).unwrap();
    let made = mapping.apply(&block("xml", 2)).unwrap().unwrap();
    check(&made, formats.by_prefix("house").unwrap()).unwrap();
    let in_one_line = |xml: &str| xml.lines().map(str::trim).collect::<String>();
    assert_eq!(made, in_one_line(&block("xml", 3)));
}

#[test]
fn the_first_example_in_the_documentation_is_understood() {
    let text = documentation();
    let example = text.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let mapping = Mapping::read(example, &Formats::default()).unwrap();
    let record = fs::read_to_string(folder().join("records/marc21/book.xml")).unwrap();
    let made = applied(&mapping, &record).unwrap();
    assert!(
        made.contains("<dc:subject>Cartography--Germany--History--18th century</dc:subject>"),
        "{made}"
    );
    assert!(
        made.contains("<dc:language>ger</dc:language><dc:type>Text</dc:type>"),
        "{made}"
    );
}
