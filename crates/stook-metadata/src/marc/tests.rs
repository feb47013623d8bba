use super::iso2709::{self, Cut, Reading};
use super::*;
use crate::{check, well_known};

const SCHEMA: &str = "http://www.loc.gov/standards/marcxml/schema/MARC21slim.xsd";

/// Bytes of a record with right lengths, whatever its fields are.
fn bytes(leader: &[u8], fields: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut directory, mut data) = (Vec::new(), Vec::new());
    for (tag, field) in fields {
        directory.extend_from_slice(format!("{tag}{:04}{:05}", field.len() + 1, data.len()).as_bytes());
        data.extend_from_slice(field);
        data.push(0x1E);
    }
    let base = 24 + directory.len() + 1;
    let mut record = format!("{:05}", base + data.len() + 1).into_bytes();
    record.extend_from_slice(&leader[5..12]);
    record.extend_from_slice(format!("{base:05}").as_bytes());
    record.extend_from_slice(&leader[17..]);
    record.extend(directory);
    record.push(0x1E);
    record.extend(data);
    record.push(0x1D);
    record
}

const UTF_8: &[u8; 24] = b"00000nam a2200000 a 4500";
const MARC_8: &[u8; 24] = b"00000nam  2200000 a 4500";
const UNIMARC: &[u8; 24] = b"00000nam0 2200000   450 ";

fn example() -> Vec<u8> {
    bytes(
        UTF_8,
        &[
            ("001", b"map-1 "),
            ("245", "10\u{1F}aStadtplan &\u{1F}cМария".as_bytes()),
            ("650", b" 4\x1FaKarten"),
        ],
    )
}

fn read(bytes: &[u8]) -> Result<Record<'_>, Defect> {
    iso2709::read(bytes, Reading::default())
}

fn title(bytes: &[u8]) -> String {
    let record = read(bytes).unwrap();
    record.first(Tag::parse(b"245").unwrap(), None).unwrap().to_owned()
}

fn message(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

fn unimarc(sets: &str, title: &[u8]) -> Vec<u8> {
    let general = format!("  \u{1F}a20200101d2020    m  y0frey{sets}    ba");
    bytes(
        UNIMARC,
        &[
            ("001", b"1"),
            ("100", general.as_bytes()),
            ("200", &[b"1 \x1Fa", title].concat()),
        ],
    )
}

fn read_unimarc(bytes: &[u8]) -> Result<Record<'_>, Defect> {
    let reading = Reading {
        dialect: Dialect::Unimarc,
        charset: None,
    };
    iso2709::read(bytes, reading)
}

#[test]
fn a_record_is_read_written_and_read_again() {
    let bytes = example();
    let record = read(&bytes).unwrap();
    assert_eq!(record.fields.len(), 3);
    assert_eq!(record.first(Tag::parse(b"245").unwrap(), Some(b'c')), Some("Мария"));
    let mut written = Vec::new();
    iso2709::write(&record, Dialect::Marc21, &mut written).unwrap();
    assert_eq!(written, bytes);
}

#[test]
fn a_record_becomes_marcxml_that_passes_the_check() {
    let bytes = example();
    let written = xml::write(&read(&bytes).unwrap(), Dialect::Marc21, SCHEMA).unwrap();
    assert_eq!(
        written.xml,
        "<record xmlns=\"http://www.loc.gov/MARC21/slim\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"http://www.loc.gov/MARC21/slim http://www.loc.gov/standards/marcxml/schema/MARC21slim.xsd\">\
         <leader>00000nam a2200000 a 4500</leader><controlfield tag=\"001\">map-1 </controlfield>\
         <datafield tag=\"245\" ind1=\"1\" ind2=\"0\"><subfield code=\"a\">Stadtplan &amp;</subfield>\
         <subfield code=\"c\">Мария</subfield></datafield>\
         <datafield tag=\"650\" ind1=\" \" ind2=\"4\"><subfield code=\"a\">Karten</subfield></datafield></record>"
    );
    let marc21 = well_known()
        .iter()
        .find(|format| format.prefix.as_str() == "marc21")
        .unwrap();
    assert_eq!(check(&written.xml, marc21).unwrap(), written.xml);
    assert_eq!(xml::read(&written.xml).unwrap(), read(&bytes).unwrap());
    let prefixed = written
        .xml
        .replace("<", "<marc:")
        .replace("<marc:/", "</marc:")
        .replace("xmlns=", "xmlns:marc=");
    assert_eq!(xml::read(&prefixed).unwrap(), read(&bytes).unwrap());
}

#[test]
fn the_same_record_with_other_lengths_becomes_the_same_marcxml() {
    let written = |bytes: &[u8]| xml::write(&read(bytes).unwrap(), Dialect::Marc21, SCHEMA).unwrap().xml;
    let utf_8: &[(&str, &[u8])] = &[("001", b"1"), ("245", "10\u{1F}aMuséa".as_bytes())];
    let marc_8: &[(&str, &[u8])] = &[("001", b"1"), ("245", b"10\x1FaMus\xE2ea")];
    assert_eq!(written(&bytes(UTF_8, utf_8)), written(&bytes(MARC_8, marc_8)));
    let mut wrong = bytes(UTF_8, utf_8);
    wrong[..5].copy_from_slice(b"99999");
    assert_eq!(written(&wrong), written(&bytes(UTF_8, utf_8)));
}

#[test]
fn a_record_becomes_oai_marc_and_comes_back() {
    let bytes = example();
    let record = read(&bytes).unwrap();
    let marcxml = xml::write(&record, Dialect::Marc21, SCHEMA).unwrap().xml;
    let made = as_oai_marc(&marcxml).unwrap();
    assert!(made.contains("type=\"a\" level=\"m\""), "{made}");
    assert!(
        made.contains("<fixfield id=\"001\">&quot;map-1 &quot;</fixfield><varfield id=\"245\" i1=\"1\" i2=\"0\">"),
        "{made}"
    );
    assert_eq!(oai_marc::read(&made).unwrap(), record);
}

#[test]
fn what_oai_marc_cannot_carry_is_refused_or_left_out() {
    let field = |tag: &str, code: &str| {
        let subfields = format!("<subfield code=\"{code}\">a</subfield><subfield code=\"b\">c</subfield>");
        format!(
            "<record xmlns=\"{MARCXML_NAMESPACE}\"><leader>     nam a22     3u 4500</leader>\
             <controlfield tag=\"001\">\"1\"</controlfield>\
             <datafield tag=\"{tag}\" ind1=\" \" ind2=\"A\">{subfields}</datafield></record>"
        )
    };
    let message = as_oai_marc(&field("245", "a")).unwrap_err();
    assert_eq!(
        message,
        "oai_marc/varfield@i2 is \"A\"; write a digit, a small letter or a blank"
    );
    let without = as_oai_marc(&field("LKR", "a")).unwrap();
    assert!(
        without.contains("<fixfield id=\"001\">&quot;'1'&quot;</fixfield></oai_marc>"),
        "{without}"
    );
    let without = as_oai_marc(&field("245", "%").replace("ind2=\"A\"", "ind2=\"0\"")).unwrap();
    assert!(
        without.contains("i2=\"0\"><subfield label=\"b\">c</subfield></varfield>"),
        "{without}"
    );
}

/// What an import makes of a record for somebody who asks for oai_marc.
fn as_oai_marc(marcxml: &str) -> Result<String, String> {
    let mapping = crate::crosswalk::built_in::between("marc21", "oai_marc").unwrap();
    let made = mapping.apply(marcxml).unwrap().unwrap();
    let oai_marc = well_known().iter().find(|format| format.prefix.as_str() == "oai_marc");
    check(&made, oai_marc.unwrap()).map_err(|fault| fault.problem.to_string())
}

#[test]
fn marks_follow_their_letters_and_are_composed() {
    let cases: [(&[u8], &str); 12] = [
        (b"M\xE8uller", "Müller"),
        (b"\xE5\xE4a", "ā\u{303}"),
        (b"\xE3\xE2e", "ế"),
        (b"\xEBi\xECa\xFAn\xFBg", "i\u{361}an\u{360}g"),
        (b"\xA1odz\xB1", "Łodzł"),
        (b"CO\x1Bb2\x1Bs and m\x1Bp3\x1Bs, \x1Bgc\x1Bs", "CO₂ and m³, γ"),
        (b"\x1B(NkNIGA\x1B(B, \x1B)N\xEB\xCE\xC9\xC7\xC1\x1B)E", "Книга, Книга"),
        (b"\x1B(2yel\x1B(B", "\u{5E9}\u{5D5}\u{5DC}"),
        (b"\x1B$1!0!\x1B(B.", "一."),
        (b"\x1B$)1\xA1\xB0\xA1 x", "一 x"),
        (b"\x1B(S!\x41\x1B(B", "\u{1FBA}"),
        (b"A&B &#x4E2D; &#x1F;", "A&B 中 &#x1F;"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(Charset::Marc8.decode(bytes).as_deref(), Ok(expected), "{bytes:X?}");
    }
    for undecodable in [
        &b"a\xFF"[..],
        b"\x1BX",
        b"\x1B",
        b"\x1B$1!0",
        b"\x1B(",
        b"\xA0",
        b"\x9F",
    ] {
        assert!(Charset::Marc8.decode(undecodable).is_err(), "{undecodable:X?}");
    }
}

#[test]
fn iso_5426_has_marks_of_its_own() {
    let cases: [(&[u8], &str); 5] = [
        (b"\xC2ecole fran\xD0caise", "école française"),
        (b"\xE8\xF8\xE1\xF1\xFB", "ŁłÆæß"),
        (b"\xDDt\xDEs", "t\u{361}s"),
        (b"\xDDn\xDFg", "n\u{360}g"),
        (b"\xC8\xC5u", "ǖ"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(Charset::Iso5426.decode(bytes).as_deref(), Ok(expected), "{bytes:X?}");
    }
    assert_eq!(Charset::Iso5426.decode(b"a\x1B(N"), Err(1));
}

#[test]
fn a_leader_that_lies_about_the_encoding_is_found_out() {
    let utf_8 = "10\u{1F}aČeská mapa".as_bytes();
    let marc_8 = b"10\x1Fa\xE9Cesk\xE2a mapa";
    for (leader, field) in [(UTF_8, utf_8), (MARC_8, utf_8), (UTF_8, marc_8), (MARC_8, marc_8)] {
        let bytes = bytes(leader, &[("245", field)]);
        assert_eq!(title(&bytes), "Česká mapa");
        assert_eq!(read(&bytes).unwrap().leader.at(9), b'a');
    }
    // Escape sequences are MARC-8 even where every byte is ASCII.
    let escaped = b"10\x1Fa\x1B(NkNIGA\x1B(B";
    for leader in [UTF_8, MARC_8] {
        assert_eq!(title(&bytes(leader, &[("245", escaped)])), "Книга");
    }
    // UTF-8 with one broken byte is not MARC-8.
    let damaged = [utf_8, b" \xE9."].concat();
    let complaint = message(&bytes(UTF_8, &[("245", &damaged)]));
    assert!(complaint.contains("the byte E9 means nothing in UTF-8"), "{complaint}");
}

#[test]
fn the_person_decides_about_the_encoding() {
    let windows = |bytes: &[u8]| Some(bytes.iter().map(|&byte| char::from(byte)).collect());
    let reading = Reading {
        dialect: Dialect::Unimarc,
        charset: Some(Charset::Other(&windows)),
    };
    let record = unimarc("89  ", b"caf\xE9");
    assert_eq!(
        iso2709::read(&record, reading)
            .unwrap()
            .first(Tag::parse(b"200").unwrap(), None),
        Some("café")
    );
}

#[test]
fn unimarc_tells_its_sets_in_field_100() {
    let text = |bytes: &[u8]| {
        let record = read_unimarc(bytes).map_err(|defect| defect.to_string())?;
        Ok::<_, String>(record.first(Tag::parse(b"200").unwrap(), None).unwrap().to_owned())
    };
    assert_eq!(text(&unimarc("0103", b"\xC2ecole")).as_deref(), Ok("école"));
    assert_eq!(text(&unimarc("50  ", "école".as_bytes())).as_deref(), Ok("école"));
    assert_eq!(text(&unimarc("0103", "école".as_bytes())).as_deref(), Ok("école"));
    assert_eq!(text(&unimarc("0102", b"ecole")).as_deref(), Ok("ecole"));
    let complaint = text(&unimarc("0102", b"\xC2ecole")).unwrap_err();
    assert!(
        complaint.contains("\"0102\"") && complaint.contains("--encoding"),
        "{complaint}"
    );
    let bare = bytes(UNIMARC, &[("200", b"1 \x1Fa\xC2ecole")]);
    assert!(read_unimarc(&bare).unwrap_err().to_string().contains("--encoding"));
    // What is Unicode now says so.
    let bytes = unimarc("0103", b"\xC2ecole");
    let record = read_unimarc(&bytes).unwrap();
    assert_eq!(
        &record.first(Tag::parse(b"100").unwrap(), None).unwrap()[26..30],
        "50  "
    );
    let written = xml::write(&record, Dialect::Unimarc, "urn:x").unwrap().xml;
    assert!(written.contains("info:lc/xmlns/marcxchange-v2") && written.contains("format=\"UNIMARC\""));
    assert_eq!(xml::read(&written).unwrap(), record);
}

#[test]
fn wrong_lengths_are_tolerated_where_the_marks_tell() {
    let right = example();
    for (at, digits) in [
        (27, "0001"),
        (27, "9999"),
        (27, "    "),
        (43, "99999"),
        (12, "00000"),
        (0, "99999"),
    ] {
        let mut wrong = right.clone();
        wrong[at..at + digits.len()].copy_from_slice(digits.as_bytes());
        assert_eq!(read(&wrong).unwrap().fields, read(&right).unwrap().fields, "{at}");
    }
    let mut cut_off = right.clone();
    cut_off.truncate(right.len() - 2);
    assert_eq!(read(&cut_off).unwrap().fields, read(&right).unwrap().fields);
}

#[test]
fn the_directory_may_be_in_another_order_than_the_fields() {
    let mut record = example();
    let (first, second) = (record[24..36].to_vec(), record[36..48].to_vec());
    record[24..36].copy_from_slice(&second);
    record[36..48].copy_from_slice(&first);
    let tags: Vec<_> = read(&record)
        .unwrap()
        .fields
        .iter()
        .map(|field| field.tag().to_string())
        .collect();
    assert_eq!(tags, ["245", "001", "650"]);
    assert_eq!(title(&record), "Stadtplan &");
}

#[test]
fn a_field_longer_than_its_digits_is_read() {
    let long = [b"10\x1Fa", vec![b'x'; 120_000].as_slice()].concat();
    let mut record = bytes(UTF_8, &[("245", b"10\x1Fa?"), ("500", b"  \x1Faend")]);
    let start = record.iter().position(|&byte| byte == 0x1E).unwrap() + 1;
    record.splice(start..start + 5, long);
    assert_eq!(title(&record).len(), 120_000);
    assert_eq!(iso2709::next(&record, true), Cut::Record(record.len()));
    let read = read(&record).unwrap();
    let complaint = iso2709::write(&read, Dialect::Marc21, &mut Vec::new())
        .unwrap_err()
        .to_string();
    assert_eq!(
        complaint,
        "field 245: the field would have 120005 bytes; ISO 2709 cannot hold more than 9,999 in a field"
    );
}

#[test]
fn a_record_too_long_for_the_format_is_refused() {
    let field = |value: String| Field::Data {
        tag: Tag::parse(b"500").unwrap(),
        indicators: *b"  ",
        subfields: vec![Subfield {
            code: b'a',
            value: value.into(),
        }],
    };
    let record = Record {
        leader: Leader::blank(Dialect::Marc21),
        fields: vec![field("x".repeat(9_000)); 12],
    };
    let mut out = b"before".to_vec();
    let complaint = iso2709::write(&record, Dialect::Marc21, &mut out)
        .unwrap_err()
        .to_string();
    assert!(complaint.contains("cannot hold more than 99,999"), "{complaint}");
    assert_eq!(out, b"before");
}

#[test]
fn defects_are_told_in_a_cataloguers_words() {
    let of = |fields: &[(&str, &[u8])]| message(&bytes(UTF_8, fields));
    assert_eq!(
        of(&[("245", b"10\x1Fax"), ("245", b"1\xC3\xA9\x1Fax")]),
        "field 245, second occurrence: indicator 2 is \"é\"; allowed is a digit, a small letter or a blank (byte 56 of the \
         record)"
    );
    assert!(of(&[("2 5", b"10\x1Fax")]).starts_with("\"2 5\" is not a tag"));
    assert!(of(&[("245", b"10abc\x1Fax")]).starts_with("field 245: \"abc\" stands before the first subfield"));
    assert!(of(&[("245", b"10\x1F\xC3\xA9x")]).starts_with("field 245: the subfield code \"é\" is not"));
    assert!(message(b"00012nam").contains("fewer than the 24"));
    assert!(message(b"00024nam a2200000 a 4500").contains("no end mark"));
    let mut missing = example();
    missing.splice(24..36, []);
    assert!(
        message(&missing).contains("the directory names 2 fields, but the record has 3"),
        "{}",
        message(&missing)
    );
    missing.remove(24);
    assert!(message(&missing).contains("not a multiple of 12"));
}

#[test]
fn what_the_schema_forbids_is_mended_or_refused() {
    let xml =
        |bytes: &[u8]| xml::write(&read(bytes).unwrap(), Dialect::Marc21, SCHEMA).map_err(|defect| defect.to_string());
    let good = xml(&bytes(
        b"xxxxxna# a33abcde#a 45x0",
        &[("245", b"#\0\x1Fax"), ("FMT", b"BK"), ("500", b"  ")],
    ))
    .unwrap();
    let marc21 = well_known()
        .iter()
        .find(|format| format.prefix.as_str() == "marc21")
        .unwrap();
    assert!(
        xml(&bytes(b"00000n*m a2200000 a 4500", &[]))
            .unwrap_err()
            .starts_with("position 06 of the leader is '*'")
    );
    assert!(
        good.xml.contains("ind1=\" \" ind2=\" \"") && good.xml.contains("tag=\"FMT\""),
        "{}",
        good.xml
    );
    assert!(!good.xml.contains("tag=\"500\""));
    assert_eq!(check(&good.xml, marc21).as_deref(), Ok(&*good.xml));
    for (field, complaint) in [
        (("9aB", &b"  \x1Fax"[..]), "the tag 9aB is not allowed"),
        (("245", b"X0\x1Fax"), "field 245: indicator 1 is \"X\""),
        (("245", b"10\x1F|x"), "field 245: the subfield code \"|\""),
        (("000", b"x"), "the tag 000 is not allowed"),
    ] {
        let refused = xml(&bytes(UTF_8, &[field])).unwrap_err();
        assert!(refused.contains(complaint), "{refused}");
    }
    let dropped = xml(&bytes(UTF_8, &[("001", b"a\x01b")])).unwrap();
    assert_eq!(dropped.dropped, 1);
}

/// The pieces of a stream, as long as the whole is there.
fn pieces(mut stream: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    while !stream.is_empty() {
        match iso2709::next(stream, true) {
            Cut::Between(count) => stream = &stream[count..],
            Cut::Record(length) => {
                pieces.push(stream[..length].to_vec());
                stream = &stream[length..];
            }
            Cut::Unfinished => panic!("nothing comes after the end"),
        }
    }
    pieces
}

#[test]
fn a_stream_is_cut_at_its_records_whatever_is_wrong_with_one() {
    let good = example();
    let with = |bad: &[u8]| [&good, bad, &good].concat();
    let ends = |bad: &[u8]| {
        let pieces = pieces(&with(bad));
        assert_eq!((pieces.first(), pieces.last()), (Some(&good), Some(&good)), "{bad:?}");
        pieces.len()
    };
    assert_eq!(ends(b""), 2);
    assert_eq!(ends(b"\r\n \n\0\x1A"), 2);
    for length in ["00050", "99999", "abcde", "00000", "     "] {
        let mut wrong = good.clone();
        wrong[..5].copy_from_slice(length.as_bytes());
        assert_eq!(ends(&wrong), 3, "{length}");
    }
    // Cut off in the middle, without its end mark, junk, a leader that is gone.
    assert_eq!(ends(&good[..good.len() - 1]), 3);
    assert_eq!(ends(&good[..70]), 3);
    assert_eq!(ends(&[&good[..70], &good[..80], &good[..90]].concat()), 5);
    assert_eq!(ends(&good[..24]), 3);
    assert_eq!(ends(b"exported by somebody"), 3);
    assert_eq!(ends(&good[24..]), 3);
    // An end mark inside a value: one piece, because the leader is right.
    let stray = bytes(UTF_8, &[("001", b"a\x1Db"), ("245", b"10\x1Fax")]);
    assert_eq!(ends(&stray), 3);
    assert!(message(&stray).starts_with("field 001: the text has a separator"));
    let pieces = pieces(&[&good[..], &good[..good.len() - 1]].concat());
    assert_eq!(pieces.len(), 2);
}

#[test]
fn how_bytes_arrive_does_not_matter() {
    let good = example();
    let stray = bytes(UTF_8, &[("001", b"a\x1Db"), ("245", b"10\x1Fax")]);
    let stream = [&good[..], b"\r\n", &stray, b"\n", &good[..60], &good, b"     ", &good].concat();
    let mut slowly = Vec::new();
    let (mut start, mut end) = (0, 0);
    while start < stream.len() {
        match iso2709::next(&stream[start..end], end == stream.len()) {
            Cut::Between(count) => start += count,
            Cut::Record(length) => {
                slowly.push(stream[start..start + length].to_vec());
                start += length;
            }
            Cut::Unfinished => end += 1,
        }
    }
    assert_eq!(slowly, pieces(&stream));
}

#[test]
fn deletions_and_identifiers_are_found() {
    let bytes = bytes(
        b"00000dam a2200000 a 4500",
        &[("001", b" x "), ("035", b"  \x1Fzold\x1Fa(X)1")],
    );
    let record = read(&bytes).unwrap();
    assert!(record.is_deleted());
    assert_eq!(record.first(Tag::parse(b"035").unwrap(), Some(b'a')), Some("(X)1"));
    assert_eq!(record.first(Tag::parse(b"016").unwrap(), None), None);
}
