//! What must hold for any input: no panic, nothing published that cannot be, nothing lost without being mentioned.

use std::collections::HashSet;

use proptest::prelude::*;
use stook_metadata::{Formats, check};

use super::options::Shape;
use super::testing::{identifiers, options, read_stream};
use super::{Content, Drafted, Options};

/// Bytes made of what readers look for, so that they are led astray often.
fn input_like() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::sample::select(vec![
        &b"id,title\n"[..],
        b"identifier;title;sets\n",
        b"1,a\n",
        b"\"",
        b"\"\"",
        b",",
        b";",
        b"\t",
        b"\n",
        b"\r\n",
        b"{\"identifier\":\"1\",\"title\":\"a\"}\n",
        b"{\"identifier\":2,\"metadata\":{\"oai_dc\":",
        b"\"deleted\":true}",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"null",
        b"\\u0001",
        b"\\ud800",
        b"<?xml version='1.0'?>",
        b"<?xml version='1.0' encoding='utf-16'?>",
        b"<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'>",
        b"<record>",
        b"<header status='deleted'>",
        b"<identifier>oai:x:1</identifier>",
        b"</header>",
        b"<metadata>",
        b"</metadata>",
        b"<about>",
        b"</about>",
        b"</record>",
        b"<dc xmlns='http://www.openarchives.org/OAI/2.0/oai_dc/'>",
        b"</dc>",
        b"<x:dc xmlns:x='http://www.openarchives.org/OAI/2.0/oai_dc/'/>",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"]]>",
        b"<!DOCTYPE a>",
        b"<a",
        b">",
        b"/>",
        b"&#1;",
        b"&x;",
        b"'",
        b"\xFF\xFE",
        b"\xEF\xBB\xBF",
        b"\xC3",
        b"\0",
        b"\x1F\x8B\x08",
        b"00108nam a2200061 a 4500",
        b"001000700000",
        b"\x1E",
        b"\x1D",
        b"\x1Fa",
        b"map-1 ",
    ]);
    prop::collection::vec(pieces, 0..30).prop_map(|pieces| pieces.concat())
}

fn shapes() -> impl Strategy<Value = Option<Shape>> {
    let named = Shape::NAMES.map(|(_, shape)| Some(shape));
    prop::sample::select(named.into_iter().chain([None]).collect::<Vec<_>>())
}

/// Reads bytes in any shape; a refusal gives nothing.
fn read(mut bytes: &[u8], shape: Option<Shape>) -> Drafted {
    let options = Options {
        shape,
        max_record_bytes: 300,
        ..options()
    };
    read_stream("a.xml", &mut bytes, &options).unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn whatever_is_read_nothing_unpublishable_comes_out(bytes in input_like(), shape in shapes()) {
        let drafted = read(&bytes, shape);
        let formats = Formats::default();
        for draft in &drafted.drafts {
            if let Content::Live { prefix, metadata, .. } = &draft.content {
                let format = formats.by_prefix(prefix.as_str()).expect("a known format");
                prop_assert_eq!(check(metadata, format), Ok(metadata.clone()));
            }
        }
        for rejected in &drafted.rejected {
            prop_assert!(!rejected.reason.is_empty() && rejected.excerpt.len() <= super::draft::EXCERPT_BYTES);
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), shape in shapes()) {
        read(&bytes, shape);
    }

    #[test]
    fn every_line_of_json_is_drafted_or_rejected(lines in prop::collection::vec("[a-z{}\":,]{0,40}", 0..20)) {
        let text: String = (0..).zip(&lines)
            .map(|(n, junk)| format!("{{\"identifier\":\"{n}\",\"title\":\"a\"}}\n{junk}\n"))
            .collect();
        let drafted = read(text.as_bytes(), Some(Shape::JsonLines));
        let junk = lines.iter().filter(|line| !line.is_empty()).count();
        prop_assert_eq!(drafted.drafts.len() + drafted.rejected.len(), lines.len() + junk);
        let distinct: HashSet<_> = identifiers(&drafted).into_iter().collect();
        prop_assert_eq!(distinct.len(), drafted.drafts.len());
    }
}
