use super::*;
use crate::import::testing::{
    Enormous, gzip, identifiers, metadata, options, read_bytes, read_path, read_stream, reasons,
};

/// Bytes of a record with right lengths.
fn record(leader: &str, fields: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut directory, mut data) = (String::new(), Vec::new());
    for (tag, field) in fields {
        directory.push_str(&format!("{tag}{:04}{:05}", field.len() + 1, data.len()));
        data.extend_from_slice(field);
        data.push(FIELD_END);
    }
    let base = 24 + directory.len() + 1;
    let length = base + data.len() + 1;
    let mut record = format!("{length:05}{leader}22{base:05} a 4500{directory}\u{1E}").into_bytes();
    record.extend(data);
    record.push(RECORD_END);
    record
}

fn titled(number: &str, title: &[u8]) -> Vec<u8> {
    record(
        "nam  ",
        &[
            ("001", number.as_bytes()),
            ("245", &[b"10\x1Fa", title].concat()),
            ("500", b"  \x1Fanote"),
        ],
    )
}

fn read(bytes: &[u8]) -> Drafted {
    read_bytes("catalogue", bytes, &options())
}

fn with(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = options();
    change(&mut options);
    options
}

#[test]
fn records_are_drafted_as_marcxml() {
    let bytes = [
        titled("a1", b"M\xE8uller"),
        b"\r\n".to_vec(),
        titled(" a2 ", "Müller".as_bytes()),
    ]
    .concat();
    let drafted = read(&bytes);
    assert_eq!(identifiers(&drafted), ["a1", "a2"]);
    assert_eq!(drafted.drafts[1].place.line, 2);
    for draft in &drafted.drafts {
        let xml = metadata(draft);
        assert!(
            xml.starts_with("<record xmlns=\"http://www.loc.gov/MARC21/slim\""),
            "{xml}"
        );
        assert!(xml.contains("<subfield code=\"a\">Müller</subfield>"), "{xml}");
    }
    let Content::Live { prefix, .. } = &drafted.drafts[0].content else {
        panic!("{drafted:?}");
    };
    assert_eq!(prefix.as_str(), "marc21");
}

#[test]
fn marc_is_recognised_by_its_leader_or_its_name() {
    let bytes = titled("1", b"x");
    assert_eq!(identifiers(&read_bytes("any.dat", &bytes, &options())), ["1"]);
    let marked = [UTF_8_MARK, &bytes].concat();
    assert_eq!(identifiers(&read_bytes("any.dat", &marked, &options())), ["1"]);
    let mut strange = bytes.clone();
    strange[10] = b'9';
    for name in ["a.mrc", "a.MARC", "a.iso", "a.iso2709", "a.mrc.gz"] {
        assert_eq!(identifiers(&read_bytes(name, &strange, &options())), ["1"], "{name}");
    }
    let told = with(|options| options.shape = Some(Shape::Marc));
    assert_eq!(identifiers(&read_bytes("a.txt", &strange, &told)), ["1"]);
    assert!(!is_marc(b"\0\0\0\0", Some("disc.iso"), &options()));
    assert!(!is_marc(b"<record/>", Some("a.mrc"), &options()));
    assert!(read_bytes("empty.mrc", b"", &options()).drafts.is_empty());
}

#[test]
fn compressed_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mrc.gz");
    std::fs::write(&path, gzip(&titled("1", b"x"))).unwrap();
    assert_eq!(identifiers(&read_path(&path, &options()).unwrap()), ["1"]);
}

#[test]
fn a_damaged_record_is_told_apart_and_does_not_stop_the_others() {
    let good = titled("a", b"x");
    let mut damaged = titled("b", b"x");
    let at = damaged.windows(3).position(|window| window == b"10\x1F").unwrap();
    damaged[at + 3] = 0xFF;
    let cut_off = &titled("c", b"x")[..60];
    let bytes = [&good[..], &damaged, cut_off, &titled("d", b"x")].concat();
    let drafted = read(&bytes);
    assert_eq!(identifiers(&drafted), ["a", "d"]);
    assert_eq!(drafted.drafts[1].place.line, 4);
    let reasons = reasons(&drafted);
    let expected = format!("2: record 2, at byte {}: field 245: the subfield code", good.len());
    assert!(reasons[0].starts_with(&expected), "{reasons:?}");
    assert_eq!(drafted.rejected[0].identifier.as_deref(), Some("oai:example.org:b"));
    assert!(
        reasons[1].starts_with(&format!("3: record 3, at byte {}: ", good.len() + damaged.len())),
        "{reasons:?}"
    );
    assert_eq!(drafted.broken, 0);
}

#[test]
fn deletions_are_told_by_the_leader() {
    let drafted = read(&record("dam a", &[("001", b"1")]));
    let Content::Deleted { prefix: Some(prefix) } = &drafted.drafts[0].content else {
        panic!("{drafted:?}");
    };
    assert_eq!(prefix.as_str(), "marc21");
}

#[test]
fn the_identifier_is_field_001_or_the_one_told() {
    let bytes = record(
        "nam a",
        &[("003", b"X"), ("035", b"  \x1Fzno\x1Fa(X) 7"), ("245", b"10\x1Fax")],
    );
    let drafted = read(&bytes);
    let reasons = reasons(&drafted);
    assert!(
        reasons[0].contains("there is no field 001") && reasons[0].contains("--id '035$a'"),
        "{reasons:?}"
    );
    let told = with(|options| options.marc.identifier = FieldName::parse("035$a"));
    assert_eq!(identifiers(&read_bytes("a.mrc", &bytes, &told)), ["(X)%207"]);
    let xml = "<record xmlns='http://www.loc.gov/MARC21/slim'><leader>00000nam a2200000   4500</leader>\
        <controlfield tag='001'>1</controlfield><datafield tag='035' ind1=' ' ind2=' '>\
        <subfield code='a'> 7 </subfield></datafield></record>";
    assert_eq!(identifiers(&read_bytes("a.xml", xml.as_bytes(), &told)), ["7"]);
    for wrong in ["", "35", "035$", "035$ab", "0 5", "035$ä", "foo", "foo$a"] {
        assert_eq!(FieldName::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn encodings_can_be_told() {
    // "é" in Latin-1 and "e" with a caron in MARC-8 are the same bytes but for the order.
    let bytes = titled("1", b"caf\xE9 x");
    let text = |options: &Options| {
        let drafted = read_bytes("a.mrc", &bytes, options);
        let xml = drafted.drafts.first().map(metadata).unwrap_or_default().to_owned();
        xml.split("<subfield code=\"a\">")
            .nth(1)
            .unwrap_or(&xml)
            .split('<')
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(text(&options()), "caf \u{30C}x");
    let told = with(|options| options.encoding = Some(encoding_rs::WINDOWS_1252));
    assert_eq!(text(&told), "café x");
    let told = with(|options| options.encoding = Some(encoding_rs::UTF_8));
    assert_eq!(text(&told), "");
    let told = with(|options| options.marc.charset = MarcCharset::from_name("ISO-5426"));
    assert_eq!(text(&told), "cafØ x");
    assert_eq!(MarcCharset::from_name("MARC-8"), Some(MarcCharset::Marc8));
}

#[test]
fn unimarc_becomes_marcxchange() {
    let general = "  \u{1F}a20200101d2020    m  y0frey0103    ba";
    let bytes = record(
        "nam0 ",
        &[("001", b"1"), ("100", general.as_bytes()), ("200", b"1 \x1Fa\xC2ecole")],
    );
    let told = with(|options| options.marc.dialect = Dialect::Unimarc);
    let drafted = read_bytes("a.mrc", &bytes, &told);
    let Content::Live { prefix, metadata, .. } = &drafted.drafts[0].content else {
        panic!("{drafted:?}");
    };
    assert_eq!(prefix.as_str(), "unimarc");
    assert!(
        metadata.contains("école") && metadata.contains("info:lc/xmlns/marcxchange-v2"),
        "{metadata}"
    );
}

#[test]
fn a_prefix_that_fits_can_be_told() {
    let told = |prefix: &str| with(|options| options.prefix = stook_oai::MetadataPrefix::parse(prefix).ok());
    for (prefix, expected) in [("marcxml", "marcxml"), ("mods", "marc21")] {
        let drafted = read_bytes("a.mrc", &titled("1", b"x"), &told(prefix));
        let Content::Live { prefix, .. } = &drafted.drafts[0].content else {
            panic!("{drafted:?}");
        };
        assert_eq!(prefix.as_str(), expected);
    }
}

#[test]
fn a_record_that_never_ends_is_passed_over() {
    let small = with(|options| {
        options.max_record_bytes = 1 << 20;
        options.shape = Some(Shape::Marc);
    });
    let good: &'static [u8] = titled("2", b"x").leak();
    let mut stream = Enormous {
        before: b"00100nam a2200061 a 4500",
        byte: b'x',
        times: 20 << 20,
        after: [b"\x1D", good].concat().leak(),
    };
    let drafted = read_stream("a.mrc", &mut stream, &small).unwrap();
    assert_eq!(identifiers(&drafted), ["2"]);
    assert_eq!(drafted.drafts[0].place.line, 2);
    assert!(
        reasons(&drafted)[0].contains("longer than 1048576 bytes"),
        "{:?}",
        reasons(&drafted)
    );
}

#[test]
fn many_records_are_cut_in_stretches() {
    let bytes: Vec<u8> = (1..5_000)
        .flat_map(|number| titled(&number.to_string(), b"x"))
        .collect();
    let drafted = read(&bytes);
    assert_eq!(drafted.drafts.len(), 4_999);
    assert!(drafted.rejected.is_empty());
    assert_eq!(drafted.drafts[4_998].place.line, 4_999);
}
