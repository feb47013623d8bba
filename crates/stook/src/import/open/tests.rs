use std::fs;
use std::io::{Cursor, Write};

use super::*;
use crate::import::testing::{gzip, identifiers, options, read_path, reasons};

fn dc(identifier: &str) -> String {
    format!(
        "<o:dc xmlns:o='http://www.openarchives.org/OAI/2.0/oai_dc/' xmlns:d='http://purl.org/dc/elements/1.1/'>\
         <d:title>{identifier}</d:title></o:dc>"
    )
}

const LINE: &str = "{\"identifier\":\"1\",\"title\":\"a\"}\n";

fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn tar_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

/// Writes a file into a new folder and reads it.
fn read_file_named(name: &str, bytes: &[u8]) -> super::super::Drafted {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    read_path(&path, &options()).unwrap()
}

#[test]
fn compression_is_recognised_by_content_and_undone_at_any_nesting() {
    let zstd = zstd::encode_all(LINE.as_bytes(), 1).unwrap();
    let twice = gzip(&zstd);
    let members = [gzip(LINE.as_bytes()), gzip(b"{\"identifier\":\"2\",\"title\":\"b\"}\n")].concat();
    for (bytes, expected) in [
        (gzip(LINE.as_bytes()), vec!["1"]),
        (zstd, vec!["1"]),
        (twice, vec!["1"]),
        (members, vec!["1", "2"]),
    ] {
        assert_eq!(identifiers(&read_file_named("records", &bytes)), expected);
    }
}

#[test]
fn archives_are_read_file_by_file() {
    let (a, b) = (dc("a"), gzip(dc("b").as_bytes()));
    let files: &[(&str, &[u8])] = &[
        ("x/a.xml", a.as_bytes()),
        ("x/b.xml.gz", &b),
        ("__MACOSX/x/._a.xml", b"junk"),
        ("x/.DS_Store", b"junk"),
        ("c.jsonl", LINE.as_bytes()),
    ];
    let (zip, tar) = (zip_of(files), tar_of(files));
    let zstd = zstd::encode_all(&tar[..], 1).unwrap();
    let nested = tar_of(&[("inner.tar.gz", &gzip(&tar))]);
    for (name, bytes) in [
        ("a.zip", zip),
        ("a.tar", tar.clone()),
        ("a.tgz", gzip(&tar)),
        ("a.tar.zst", zstd),
        ("n.tar", nested),
    ] {
        let drafted = read_file_named(name, &bytes);
        assert_eq!(identifiers(&drafted), ["a", "b", "1"], "{name}");
        assert_eq!(reasons(&drafted), Vec::<String>::new());
    }
    let drafted = read_file_named("a.zip", &zip_of(files));
    assert!(
        drafted.drafts[0].place.source.ends_with("/a.zip/x/a.xml"),
        "{:?}",
        drafted.drafts[0].place
    );
}

#[test]
fn damaged_files_say_so_and_keep_what_came_before() {
    let lines: String = (0..20_000)
        .map(|n| format!("{{\"identifier\":\"{n}\",\"title\":\"{}\"}}\n", n * 7919))
        .collect();
    let whole = gzip(lines.as_bytes());
    let drafted = read_file_named("a.jsonl.gz", &whole[..whole.len() / 2]);
    assert!(!drafted.drafts.is_empty());
    assert_eq!(drafted.broken, 1);
    assert!(
        drafted.rejected[0].reason.contains("the file is cut off"),
        "{:?}",
        drafted.rejected[0].reason
    );

    let zstd = zstd::encode_all(lines.as_bytes(), 1).unwrap();
    let drafted = read_file_named("a.jsonl.zst", &zstd[..zstd.len() / 2]);
    assert_eq!(drafted.broken, 1, "{:?}", reasons(&drafted));

    let mut damaged = whole.clone();
    for byte in &mut damaged[1000..1100] {
        *byte ^= 0x55;
    }
    assert_eq!(read_file_named("a.jsonl.gz", &damaged).broken, 1);

    let zip = zip_of(&[("a.jsonl", lines.as_bytes()), ("b.jsonl", LINE.as_bytes())]);
    let drafted = read_file_named("a.zip", &zip[..zip.len() / 2]);
    assert!(
        drafted.rejected[0]
            .reason
            .contains("the zip archive is damaged or cut off")
    );

    let tar = tar_of(&[("a.jsonl", LINE.as_bytes()), ("b.jsonl", lines.as_bytes())]);
    let drafted = read_file_named("a.tar", &tar[..tar.len() / 2]);
    assert_eq!(drafted.drafts[0].identifier.as_str(), "oai:example.org:1");
    assert!(drafted.broken >= 1, "{:?}", reasons(&drafted));
}

#[test]
fn a_damaged_file_in_a_zip_does_not_harm_its_neighbours() {
    let mut zip = zip_of(&[("a.xml", dc("a").as_bytes()), ("b.xml", dc("b").as_bytes())]);
    // Behind the local header of the first file.
    for byte in &mut zip[40..60] {
        *byte ^= 0xFF;
    }
    let drafted = read_file_named("a.zip", &zip);
    assert_eq!(identifiers(&drafted), ["b"]);
    assert_eq!(drafted.broken, 1);
}

#[test]
fn what_cannot_be_unpacked_says_what_to_try() {
    let zip = zip_of(&[("a.jsonl", LINE.as_bytes())]);
    let drafted = read_file_named("a.tar", &tar_of(&[("a.zip", &zip), ("b.jsonl", LINE.as_bytes())]));
    assert_eq!(identifiers(&drafted), ["1"]);
    assert!(drafted.rejected[0].reason.contains("Try: save it as a file"));

    let drafted = read_file_named("a.xz", b"\xFD7zXZ\0\0\0");
    assert!(drafted.rejected[0].reason.starts_with("xz compression is not read"));

    let mut bytes = LINE.as_bytes().to_vec();
    for _ in 0..6 {
        bytes = gzip(&bytes);
    }
    assert!(
        read_file_named("a.gz", &bytes).rejected[0]
            .reason
            .contains("nested too deeply")
    );
}

#[test]
fn a_folder_is_read_in_order_and_its_junk_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::create_dir_all(path.join("sub/.git")).unwrap();
    fs::write(path.join("b.xml"), dc("b")).unwrap();
    fs::write(path.join("a.xml"), dc("a")).unwrap();
    fs::write(path.join("sub/c.jsonl.gz"), gzip(LINE.as_bytes())).unwrap();
    fs::write(path.join("sub/.git/d.xml"), dc("d")).unwrap();
    fs::write(path.join(".hidden"), "junk").unwrap();
    fs::write(path.join("photo.jpg"), [0xFF, 0xD8, 0xFF, 0xE0, 0, 0]).unwrap();
    fs::write(path.join("README.txt"), "Read me.\n").unwrap();
    fs::write(path.join("empty.xml"), "").unwrap();
    fs::write(path.join("report.csv"), "Jahr;Summe\n2020;5\n").unwrap();
    let drafted = read_path(path, &options()).unwrap();
    assert_eq!(identifiers(&drafted), ["a", "b", "1"]);
    let names = |entries: &[Rejected]| -> Vec<String> {
        let names = entries.iter().map(|one| one.place.source.rsplit('/').next().unwrap());
        names.map(str::to_owned).collect()
    };
    // What never was a record is told from what should have been one.
    assert_eq!(names(&drafted.junk), ["README.txt", "photo.jpg"]);
    assert_eq!(names(&drafted.rejected), ["empty.xml", "report.csv"]);
    assert_eq!(total_bytes(&[Input::Path(path.to_owned())]).unwrap(), {
        let files = [
            "b.xml",
            "a.xml",
            "sub/c.jsonl.gz",
            "photo.jpg",
            "README.txt",
            "empty.xml",
            "report.csv",
        ];
        files
            .iter()
            .map(|file| path.join(file).metadata().unwrap().len())
            .sum::<u64>()
    });
}

#[cfg(unix)]
#[test]
fn links_are_followed_but_not_in_circles() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("linked.xml"), dc("linked")).unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("sub/a.xml"), dc("a")).unwrap();
    symlink(folder.path(), folder.path().join("sub/round")).unwrap();
    symlink("..", folder.path().join("sub/up")).unwrap();
    symlink(other.path(), folder.path().join("zlink")).unwrap();
    symlink("nowhere", folder.path().join("dangling")).unwrap();
    symlink("self", folder.path().join("self")).unwrap();
    let drafted = read_path(folder.path(), &options()).unwrap();
    assert_eq!(identifiers(&drafted), ["a", "linked"]);
    assert_eq!(drafted.rejected.len(), 2);
}

#[test]
fn what_was_named_must_be_there_and_be_something() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.csv");
    let refusal = read_path(&missing, &options()).unwrap_err();
    assert!(matches!(refusal, Refusal::CannotOpen { .. }));
    assert!(refusal.to_string().contains("missing.csv") && refusal.to_string().contains("Try:"));

    let junk = folder.path().join("junk");
    fs::write(&junk, "nothing anybody knows\n").unwrap();
    assert!(matches!(
        read_path(&junk, &options()).unwrap_err(),
        Refusal::NotRecognised { .. }
    ));

    let workbook = folder.path().join("records.XLSX");
    fs::write(&workbook, "PK").unwrap();
    let refusal = read_path(&workbook, &options()).unwrap_err().to_string();
    assert!(refusal.contains("CSV"), "{refusal}");
}

#[test]
fn mistakes_are_found_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), LINE).unwrap();
    fs::write(folder.path().join("b.csv.gz"), gzip(b"id,title,Signatur\n1,a,b\n")).unwrap();
    let inputs = [Input::Path(folder.path().to_owned())];
    let refusal = look_ahead(&inputs, &options()).unwrap_err();
    assert!(matches!(refusal, Refusal::UnknownNames { .. }), "{refusal}");
    assert!(look_ahead(&[Input::Path(folder.path().join("a.jsonl")), Input::Stdin], &options()).is_ok());
}

#[test]
fn progress_counts_bytes_as_they_lie_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl.gz");
    fs::write(&path, gzip(LINE.repeat(10_000).as_bytes())).unwrap();
    let inputs = [Input::from_argument(path.as_os_str())];
    let bytes = Arc::new(AtomicU64::new(0));
    read(&inputs, &options(), &bytes, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(
        bytes.load(std::sync::atomic::Ordering::Relaxed),
        total_bytes(&inputs).unwrap()
    );
    assert_eq!(total_bytes(&[Input::from_argument(OsStr::new("-"))]), None);
}
