//! Damage to the document around the records, and to all of them alike.

use stook_oai::{Datestamp, Granularity, Verb};

use crate::answer::Answer;
use crate::fault::Fault;
use crate::splice::{edit_elements, find, replace, replace_first};

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const NAMESPACE: &str = "xmlns=\"http://www.openarchives.org/OAI/2.0/\"";
/// The declarations that made-up oai_dc carries.
const METADATA_NAMESPACES: &str = " xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
    xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
const WARNING: &str =
    "<br />\n<b>Warning</b>:  Undefined array key \"set\" in <b>/var/www/oai.php</b> on line <b>212</b><br />\n";
const OFFSET_SECONDS: i64 = 2 * 3600;

/// Every element of the protocol.
const ELEMENTS: [&str; 34] = [
    "OAI-PMH",
    "responseDate",
    "request",
    "error",
    "Identify",
    "ListMetadataFormats",
    "ListSets",
    "GetRecord",
    "ListIdentifiers",
    "ListRecords",
    "record",
    "header",
    "identifier",
    "datestamp",
    "setSpec",
    "metadata",
    "about",
    "resumptionToken",
    "set",
    "setName",
    "setDescription",
    "metadataFormat",
    "metadataPrefix",
    "schema",
    "metadataNamespace",
    "repositoryName",
    "baseURL",
    "protocolVersion",
    "adminEmail",
    "earliestDatestamp",
    "deletedRecord",
    "granularity",
    "compression",
    "description",
];

/// Ten entities, each ten times the one before it.
fn expanding_document_type() -> String {
    let mut declarations = String::from("<!ENTITY e0 \"hahahahaha\">\n");
    for level in 1..10 {
        let references = format!("&e{};", level - 1).repeat(10);
        declarations.push_str(&format!("<!ENTITY e{level} \"{references}\">\n"));
    }
    format!("<!DOCTYPE OAI-PMH [\n{declarations}]>\n")
}

/// Damages a document.
pub(crate) fn bend(fault: Fault, answer: &mut Answer) {
    let document = answer.document.as_slice();
    let bent = encoding(fault, document)
        .or_else(|| envelope(fault, document))
        .or_else(|| namespaces(fault, document))
        .or_else(|| identify(fault, document))
        .or_else(|| dates(fault, document))
        .or_else(|| content(fault, document, answer.verb));
    if let Some(bent) = bent {
        answer.document = bent;
    }
}

fn encoding(fault: Fault, document: &[u8]) -> Option<Vec<u8>> {
    let text = || String::from_utf8_lossy(document);
    Some(match fault {
        Fault::Latin1Undeclared => encode_in_bytes(&text(), latin_1),
        Fault::Windows1252Undeclared => {
            let quoted = text().replace("<dc:title>", "<dc:title>“5 €” ");
            encode_in_bytes(&quoted, windows_1252)
        }
        Fault::CharsetContradicts => encode_in_bytes(&text().replacen("UTF-8", "ISO-8859-1", 1), latin_1),
        Fault::Utf16Undeclared => {
            let marked = format!("\u{FEFF}{}", text());
            marked.encode_utf16().flat_map(u16::to_be_bytes).collect()
        }
        Fault::Utf16WithoutMark => text().encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => return None,
    })
}

/// One byte per character, references to those that have none.
fn encode_in_bytes(text: &str, byte_of: impl Fn(char) -> Option<u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for character in text.chars() {
        match byte_of(character) {
            Some(byte) => out.push(byte),
            None => out.extend_from_slice(format!("&#{};", u32::from(character)).as_bytes()),
        }
    }
    out
}

fn latin_1(character: char) -> Option<u8> {
    u8::try_from(u32::from(character)).ok()
}

/// The few characters of Windows-1252 that Latin-1 lacks and we write.
fn windows_1252(character: char) -> Option<u8> {
    match character {
        '€' => Some(0x80),
        '“' => Some(0x93),
        '”' => Some(0x94),
        _ => latin_1(character),
    }
}

fn envelope(fault: Fault, document: &[u8]) -> Option<Vec<u8>> {
    let before = |text: &str| [text.as_bytes(), document].concat();
    let after = |text: &str| [document, text.as_bytes()].concat();
    let with_doctype = |doctype: &str| {
        let prologue = format!("{DECLARATION}{doctype}");
        replace_first(document, DECLARATION.as_bytes(), prologue.as_bytes())
    };
    Some(match fault {
        Fault::DeclarationMissing => replace_first(document, DECLARATION.as_bytes(), b""),
        Fault::SpaceBeforeDeclaration => before("\n\n  "),
        Fault::DeclarationInRecord => {
            let nested = format!("<metadata>{}", DECLARATION.trim_end());
            replace(document, b"<metadata>", nested.as_bytes())
        }
        Fault::NoticeBeforeRoot => before(WARNING),
        Fault::NoticeAfterRoot => after(WARNING),
        Fault::HtmlAfterRoot => after("<hr></div></body>\n</html>\n"),
        Fault::TwoDocuments => [document, document].concat(),
        Fault::DoctypeOnly => with_doctype("<!DOCTYPE OAI-PMH>\n"),
        Fault::EntityExpansion => replace(
            &with_doctype(&expanding_document_type()),
            b"<dc:title>",
            b"<dc:title>&e9;",
        ),
        Fault::ExternalEntity => {
            let bent = with_doctype("<!DOCTYPE OAI-PMH [<!ENTITY file SYSTEM \"file:///etc/passwd\">]>\n");
            replace(&bent, b"<dc:title>", b"<dc:title>&file;")
        }
        _ => return None,
    })
}

fn namespaces(fault: Fault, document: &[u8]) -> Option<Vec<u8>> {
    let moved_to = |element: &str| {
        let bare = replace(document, METADATA_NAMESPACES.as_bytes(), b"");
        let start = format!("<{element}");
        let declared = format!("<{element}{METADATA_NAMESPACES}");
        replace(&bare, start.as_bytes(), declared.as_bytes())
    };
    let namespace = |text: &str| replace_first(document, NAMESPACE.as_bytes(), text.as_bytes());
    Some(match fault {
        Fault::NamespacesOnRecord => moved_to("record"),
        Fault::NamespacesOnRoot => {
            let moved = moved_to("OAI-PMH");
            // The root has declared xsi all along.
            replace_first(&moved, b" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"", b"")
        }
        Fault::WrongNamespace => namespace("xmlns=\"http://www.openarchives.org/OAI/1.1/OAI_ListRecords\""),
        Fault::MissingNamespace => namespace("xmlns=\"\""),
        Fault::PrefixedEnvelope => prefixed(&namespace("xmlns:oai=\"http://www.openarchives.org/OAI/2.0/\"")),
        Fault::SchemaLocationSpace => {
            let spaced = replace(document, b"schemaLocation=\"", b"schemaLocation=\"\n\t\t  ");
            replace(
                &spaced,
                b" http://www.openarchives.org/OAI/2.0/o",
                b"\n\t\t\r\n  http://www.openarchives.org/OAI/2.0/o",
            )
        }
        _ => return None,
    })
}

fn prefixed(document: &[u8]) -> Vec<u8> {
    let mut bent = document.to_vec();
    for element in ELEMENTS {
        for (open, close) in [("<", ">"), ("<", " "), ("</", ">")] {
            let from = format!("{open}{element}{close}");
            let to = format!("{open}oai:{element}{close}");
            bent = replace(&bent, from.as_bytes(), to.as_bytes());
        }
    }
    bent
}

fn identify(fault: Fault, document: &[u8]) -> Option<Vec<u8>> {
    let granularity = |edit: &dyn Fn(&str) -> Option<String>| edit_elements(document, "granularity", edit);
    let earliest = |edit: &dyn Fn(&str) -> Option<String>| edit_elements(document, "earliestDatestamp", edit);
    Some(match fault {
        Fault::GranularityMissing => granularity(&|_| None),
        Fault::GranularityLowerCase => granularity(&|text| Some(text.to_lowercase())),
        Fault::GranularityOdd => granularity(&|_| Some("YYYY-MM-DDThh:mm:ss.sssZ".to_owned())),
        Fault::EarliestMissing => earliest(&|_| None),
        Fault::EarliestOtherGranularity => earliest(&|text| Some(other_granularity(text))),
        Fault::EarliestTooLate => earliest(&|text| response_date(document).map(|now| now[..text.len()].to_owned())),
        Fault::EarliestImpossible => earliest(&|_| Some("0000-00-00T00:00:00Z".to_owned())),
        _ => return None,
    })
}

fn other_granularity(text: &str) -> String {
    match text.split_once('T') {
        Some((day, _)) => day.to_owned(),
        None => format!("{text}T00:00:00Z"),
    }
}

fn response_date(document: &[u8]) -> Option<String> {
    let start = find(document, b"<responseDate>")? + b"<responseDate>".len();
    let text = document.get(start..start + 20)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

fn dates(fault: Fault, document: &[u8]) -> Option<Vec<u8>> {
    let edit = |name: &str, edit: &dyn Fn(&str) -> Option<String>| Some(edit_elements(document, name, edit));
    match fault {
        Fault::DatestampMilliseconds => edit("datestamp", &|text| Some(with_milliseconds(text))),
        Fault::DatestampOffset => edit("datestamp", &|text| Some(with_offset(text))),
        Fault::DatestampEmpty => edit("datestamp", &|_| Some(String::new())),
        Fault::ResponseDateMilliseconds => edit("responseDate", &|text| Some(with_milliseconds(text))),
        Fault::ResponseDateOffset => edit("responseDate", &|text| Some(with_offset(text))),
        Fault::ResponseDateMissing => edit("responseDate", &|_| None),
        _ => None,
    }
}

fn with_milliseconds(text: &str) -> String {
    match text.strip_suffix('Z') {
        Some(second) => format!("{second}.123Z"),
        None => format!("{text}T00:00:00.000Z"),
    }
}

/// The same moment as people two hours east of Greenwich write it.
fn with_offset(text: &str) -> String {
    let local = Datestamp::parse(text)
        .ok()
        .and_then(|utc| Datestamp::from_unix(utc.unix() + OFFSET_SECONDS));
    match local {
        Some(local) => local.format(Granularity::Second).as_str().replace('Z', "+02:00"),
        None => format!("{text}+02:00"),
    }
}

fn content(fault: Fault, document: &[u8], verb: Option<Verb>) -> Option<Vec<u8>> {
    Some(match fault {
        Fault::SetSpecMissing if verb != Some(Verb::ListSets) => edit_elements(document, "setSpec", |_| None),
        Fault::DeletedCapitalised => replace(document, b"status=\"deleted\"", b"status=\"Deleted\""),
        Fault::CannotDisseminate => replace(
            document,
            b"code=\"noRecordsMatch\"",
            b"code=\"cannotDisseminateFormat\"",
        ),
        Fault::ErrorWithoutCode => without_codes(document),
        Fault::BlankToken => replace(document, b"\"></resumptionToken>", b"\">\n  </resumptionToken>"),
        Fault::EmptyList => empty_list(document, verb?)?,
        _ => return None,
    })
}

fn without_codes(document: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = document;
    while let Some(at) = find(rest, b"<error code=\"") {
        let value = at + b"<error code=\"".len();
        out.extend_from_slice(&rest[..value]);
        rest = &rest[value..];
        rest = &rest[find(rest, b"\"").unwrap_or(0)..];
    }
    out.extend_from_slice(rest);
    out
}

fn empty_list(document: &[u8], verb: Verb) -> Option<Vec<u8>> {
    let start = find(document, b"<error code=\"noRecordsMatch\"")?;
    let end = start + find(&document[start..], b"</error>")? + b"</error>".len();
    let element = format!("<{verb}></{verb}>");
    Some([&document[..start], element.as_bytes(), &document[end..]].concat())
}
