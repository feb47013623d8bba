//! What a stream of text is: by its first characters, and where they do not tell, by the name of its file.

use stook_metadata::Element;

use super::options::{Options, Shape};
use super::table;

/// How much of a stream is looked at.
pub(super) const PEEK: usize = 64 << 10;

/// What was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detected {
    /// This can be read.
    Shape(Shape),
    /// This cannot, although it claims to be something we read; why, and what to try.
    Unknown(&'static str),
    /// This cannot, and nothing about it says that it should.
    Junk(&'static str),
}

const EMPTY: &str = "the file is empty";
const ARRAY: &str = "this is one JSON array; records are read from JSON lines, one object per line. \
    Try: jq -c '.[]' FILE | stook import -";
const UNKNOWN: &str = "this is not JSON lines, XML, MARC, or a table with a header row of known names. \
    Try: --format jsonl, csv, tsv, xml or marc";

/// Decides by the beginning of a text, which may be cut off in the middle of a character.
pub(super) fn detect(beginning: &[u8], file_name: Option<&str>, options: &Options) -> Detected {
    if let Some(shape) = options.shape {
        return Detected::Shape(shape);
    }
    let text = String::from_utf8_lossy(beginning);
    let text = text.trim_start();
    let by_name = shape_of_name(file_name);
    match text.chars().next() {
        // No records today is a state of affairs, not a mistake, for those who say what the file is.
        None if by_name == Some(Shape::JsonLines) => Detected::Shape(Shape::JsonLines),
        None => Detected::Unknown(EMPTY),
        Some('{') => Detected::Shape(Shape::JsonLines),
        Some('<') => Detected::Shape(Shape::Xml),
        Some('[') if by_name.is_none_or(|shape| shape == Shape::JsonLines) => Detected::Unknown(ARRAY),
        Some(_) => match by_name {
            Some(shape) => Detected::Shape(shape),
            None if looks_like_a_table(text, options) => Detected::Shape(Shape::Csv),
            None if claims_to_be_xml(file_name) => Detected::Unknown(UNKNOWN),
            None => Detected::Junk(UNKNOWN),
        },
    }
}

/// The shape that the extension of a file name promises.
fn shape_of_name(file_name: Option<&str>) -> Option<Shape> {
    let name = file_name?.to_ascii_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    let (_, extension) = name.rsplit_once('.')?;
    match extension {
        "jsonl" | "ndjson" | "json" => Some(Shape::JsonLines),
        "csv" => Some(Shape::Csv),
        "tsv" | "tab" => Some(Shape::Tsv),
        _ => None,
    }
}

fn claims_to_be_xml(file_name: Option<&str>) -> bool {
    file_name.is_some_and(|name| name.to_ascii_lowercase().contains(".xml"))
}

/// A table without a telling name must name at least one thing we know beside others.
fn looks_like_a_table(text: &str, options: &Options) -> bool {
    let header = text.lines().next().unwrap_or_default();
    let known = table::known_columns(header, &options.fields);
    known >= 2 || (known == 1 && Element::from_name(header.trim()).is_some())
}

#[cfg(test)]
mod tests {
    use stook_oai::OaiNamespace;

    use super::*;

    fn detected(text: &str, file_name: Option<&str>) -> Detected {
        detect(
            text.as_bytes(),
            file_name,
            &Options::new(OaiNamespace::parse("example.org").unwrap()),
        )
    }

    #[test]
    fn content_decides_before_the_name() {
        assert_eq!(
            detected("  {\"a\":1}", Some("a.csv")),
            Detected::Shape(Shape::JsonLines)
        );
        assert_eq!(detected("\n<?xml", Some("a.csv")), Detected::Shape(Shape::Xml));
        assert_eq!(detected("id;title\n1;a", None), Detected::Shape(Shape::Csv));
        assert_eq!(detected("identifier\n1", None), Detected::Shape(Shape::Csv));
    }

    #[test]
    fn the_name_decides_where_content_does_not() {
        assert_eq!(detected("Nr;Titel\n", Some("a.CSV")), Detected::Shape(Shape::Csv));
        assert_eq!(detected("Nr\tTitel\n", Some("a.tsv.gz")), Detected::Shape(Shape::Tsv));
        assert_eq!(detected("", Some("a.jsonl")), Detected::Shape(Shape::JsonLines));
    }

    #[test]
    fn a_table_of_short_names_is_a_table_without_a_telling_name() {
        for header in ["id,title,date,type,set", "id;title;date;type;set", "id\ttitle"] {
            assert_eq!(
                detected(&format!("{header}\n1,2,3,4,5\n"), None),
                Detected::Shape(Shape::Csv),
                "{header}"
            );
        }
    }

    #[test]
    fn junk_is_told_from_records() {
        assert_eq!(detected("", Some("a.xml")), Detected::Unknown(EMPTY));
        assert_eq!(detected("[{}]", Some("a.json")), Detected::Unknown(ARRAY));
        assert_eq!(detected("Read me first.\n", Some("README")), Detected::Junk(UNKNOWN));
        assert_eq!(detected("\u{0}\u{1}PNG", Some("a.png")), Detected::Junk(UNKNOWN));
        assert_eq!(detected("\u{0}\u{1}PNG", Some("a.xml.gz")), Detected::Unknown(UNKNOWN));
    }
}
