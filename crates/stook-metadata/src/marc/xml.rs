//! MARCXML and MarcXchange: the same elements in two namespaces.
//!
//! What is written is valid by MARC21slim.xsd: control fields come first, then data fields, each in the order of the
//! record; `#`, which stands for a blank in print, becomes one; a field without subfields, which the schema cannot say,
//! is left out. What would not be valid is refused.

use std::fmt::Write as _;

use stook_oai::xml::push_attribute_value;

use crate::clean;
use crate::dublin_core::push_escaped;
use crate::namespaces::XSI;
use crate::scan::{Scanner, Token, unescape};

use super::defect::{Defect, Trouble};
use super::record::{Dialect, Field, Leader, Record, Subfield, Tag};
use super::{MARCXCHANGE_NAMESPACE, MARCXML_NAMESPACE, rules};

/// A record that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// One `record` element that can stand alone.
    pub xml: String,
    /// How many characters had to be dropped because XML cannot carry them.
    pub dropped: usize,
}

impl Dialect {
    /// The namespace in which a record is written.
    #[must_use]
    pub fn namespace(self) -> &'static str {
        match self {
            Dialect::Marc21 => MARCXML_NAMESPACE,
            Dialect::Unimarc => MARCXCHANGE_NAMESPACE,
        }
    }
}

/// Writes a record that names its schema.
///
/// # Errors
/// The first thing the schema does not allow.
pub fn write(record: &Record<'_>, dialect: Dialect, schema: &str) -> Result<Written, Defect> {
    let mut written = Written {
        xml: String::with_capacity(estimated_length(record)),
        dropped: 0,
    };
    let namespace = dialect.namespace();
    let _ = write!(
        written.xml,
        "<record xmlns=\"{namespace}\" xmlns:xsi=\"{XSI}\" xsi:schemaLocation=\"{namespace} "
    );
    push_attribute(&mut written.xml, schema);
    written.xml.push_str(match dialect {
        Dialect::Marc21 => "\">",
        Dialect::Unimarc => "\" format=\"UNIMARC\">",
    });
    let leader = record.leader.mended(dialect);
    rules::check_leader(&leader, dialect).map_err(Defect::of_record)?;
    let _ = write!(written.xml, "<leader>{}</leader>", leader.as_str());
    let is_control = |field: &&Field<'_>| matches!(field, Field::Control { .. });
    let controls = record.fields.iter().filter(is_control);
    for field in controls.chain(record.fields.iter().filter(|field| !is_control(field))) {
        written
            .field(field)
            .map_err(|trouble| in_record(trouble, record, field))?;
    }
    written.xml.push_str("</record>");
    Ok(written)
}

fn in_record(trouble: Trouble, record: &Record<'_>, field: &Field<'_>) -> Defect {
    let before = record.fields.iter().take_while(|one| !std::ptr::eq(*one, field));
    Defect::of_record(trouble).in_field(field.tag(), before.map(Field::tag))
}

/// Room for the record in one allocation, unless it is full of markup.
fn estimated_length(record: &Record<'_>) -> usize {
    const ROOT: usize = 400;
    const FIELD: usize = "<datafield tag=\"245\" ind1=\"1\" ind2=\"0\"></datafield>".len();
    const SUBFIELD: usize = "<subfield code=\"a\"></subfield>".len();
    let fields = record.fields.iter().map(|field| match field {
        Field::Control { value, .. } => FIELD + value.len(),
        Field::Data { subfields, .. } => {
            let subfields = subfields.iter().map(|subfield| SUBFIELD + subfield.value.len());
            FIELD + subfields.sum::<usize>()
        }
    });
    let text = fields.sum::<usize>();
    ROOT + text + text / 16
}

impl Written {
    fn field(&mut self, field: &Field<'_>) -> Result<(), Trouble> {
        let tag = field.tag();
        if !rules::is_tag(tag) || tag.is_control() != matches!(field, Field::Control { .. }) {
            return Err(Trouble::ForbiddenTag(tag));
        }
        match field {
            Field::Control { value, .. } => {
                self.xml.push_str("<controlfield tag=\"");
                self.xml.push_str(tag.as_str());
                self.xml.push_str("\">");
                self.text(value);
                self.xml.push_str("</controlfield>");
            }
            Field::Data { subfields, .. } if subfields.is_empty() => {}
            Field::Data {
                indicators, subfields, ..
            } => {
                self.xml.push_str("<datafield tag=\"");
                self.xml.push_str(tag.as_str());
                for (index, &indicator) in indicators.iter().enumerate() {
                    self.xml.push_str(if index == 0 { "\" ind1=\"" } else { "\" ind2=\"" });
                    self.xml.push(allowed_indicator(index + 1, indicator)?);
                }
                self.xml.push_str("\">");
                for subfield in subfields {
                    self.subfield(subfield)?;
                }
                self.xml.push_str("</datafield>");
            }
        }
        Ok(())
    }

    fn subfield(&mut self, subfield: &Subfield<'_>) -> Result<(), Trouble> {
        if !rules::is_code(subfield.code) {
            return Err(Trouble::BadCode(char::from(subfield.code).to_string()));
        }
        self.xml.push_str("<subfield code=\"");
        match subfield.code {
            b'&' | b'<' | b'>' | b'"' => {
                push_attribute(&mut self.xml, char::from(subfield.code).encode_utf8(&mut [0; 4]))
            }
            code => self.xml.push(char::from(code)),
        }
        self.xml.push_str("\">");
        self.text(&subfield.value);
        self.xml.push_str("</subfield>");
        Ok(())
    }

    fn text(&mut self, value: &str) {
        let cleaned = clean::text(value);
        self.dropped += cleaned.dropped;
        push_escaped(&mut self.xml, &cleaned.text);
    }
}

fn allowed_indicator(number: usize, indicator: u8) -> Result<char, Trouble> {
    match indicator {
        b'#' => Ok(' '),
        _ if rules::is_indicator(indicator) => Ok(char::from(indicator)),
        _ => Err(Trouble::BadIndicator {
            number,
            found: char::from(indicator).to_string(),
        }),
    }
}

fn push_attribute(out: &mut String, value: &str) {
    let mut bytes = Vec::with_capacity(value.len() + 16);
    push_attribute_value(&mut bytes, value);
    out.push_str(&String::from_utf8_lossy(&bytes));
}

/// Reads the `record` element of MARCXML or MarcXchange, whatever its prefix.
///
/// # Errors
/// When it is not well-formed, or not such a record.
pub fn read(xml: &str) -> Result<Record<'static>, Defect> {
    let mut reader = Reader::new(xml);
    reader.root("record")?;
    let mut leader = None;
    let mut fields: Vec<Field<'static>> = Vec::new();
    while let Some(child) = reader.child()? {
        let text = match child.name {
            "leader" | "controlfield" => reader.text(&child)?,
            _ => String::new(),
        };
        match child.name {
            "leader" => leader = Some(parse_leader(&text)?),
            "controlfield" => {
                let tag = parse_tag(&child.attribute("tag"))?;
                fields.push(Field::Control {
                    tag,
                    value: text.into(),
                });
            }
            "datafield" => {
                let field = data_field(&mut reader, &child, "tag", ["ind1", "ind2"], "code");
                fields.push(field.map_err(|defect| {
                    match defect.field {
                        None => Defect {
                            field: Tag::parse(child.attribute("tag").as_bytes())
                                .map(|tag| (tag, 1 + fields.iter().filter(|field| field.tag() == tag).count())),
                            ..defect
                        },
                        Some(_) => defect,
                    }
                })?);
            }
            other => return Err(not_marc(format!("<{other}> has no place in a MARC record"))),
        }
    }
    Ok(Record {
        leader: leader.ok_or(Defect::of_record(Trouble::NoLeader))?,
        fields,
    })
}

/// Reads a leader as XML gives it; line ends around it are the work of a program that indents.
pub(crate) fn parse_leader(text: &str) -> Result<Leader, Defect> {
    let leader =
        Leader::parse(text.as_bytes()).or_else(|| Leader::parse(text.trim_matches(['\n', '\r', '\t']).as_bytes()));
    leader.ok_or_else(|| Defect::of_record(Trouble::BadLeader(text.to_owned())))
}

pub(crate) fn parse_tag(text: &str) -> Result<Tag, Defect> {
    Tag::parse(text.as_bytes()).ok_or_else(|| Defect::of_record(Trouble::BadTag(text.to_owned())))
}

pub(super) fn not_marc(reason: impl Into<String>) -> Defect {
    Defect::of_record(Trouble::NotMarcXml(reason.into()))
}

/// Reads a data field whose start tag was read; the attributes have other names in oai_marc.
pub(super) fn data_field(
    reader: &mut Reader<'_>,
    child: &Child<'_>,
    tag: &str,
    indicators: [&str; 2],
    code: &str,
) -> Result<Field<'static>, Defect> {
    let mut field_indicators = *b"  ";
    for (index, name) in indicators.into_iter().enumerate() {
        let value = child.attribute(name);
        field_indicators[index] = match value.as_bytes() {
            [] => b' ',
            [byte] => *byte,
            _ => {
                return Err(Defect::of_record(Trouble::BadIndicator {
                    number: index + 1,
                    found: value,
                }));
            }
        };
    }
    let digits = child.attribute(tag);
    let tag = parse_tag(&if digits.len() < 3 {
        format!("{digits:0>3}")
    } else {
        digits
    })?;
    let mut subfields = Vec::new();
    if !child.empty {
        while let Some(subfield) = reader.child()? {
            if subfield.name != "subfield" {
                return Err(not_marc(format!("<{}> stands inside a field", subfield.name)));
            }
            let text = reader.text(&subfield)?;
            let label = subfield.attribute(code);
            let &[byte] = label.as_bytes() else {
                return Err(Defect::of_record(Trouble::BadCode(label)));
            };
            subfields.push(Subfield {
                code: byte,
                value: text.into(),
            });
        }
    }
    Ok(Field::Data {
        tag,
        indicators: field_indicators,
        subfields,
    })
}

/// A start tag that was read.
pub(super) struct Child<'a> {
    /// Its name without prefix.
    pub(super) name: &'a str,
    pub(super) empty: bool,
    attributes: Vec<(&'a str, String)>,
}

impl Child<'_> {
    /// The value of an attribute, empty if there is none.
    pub(super) fn attribute(&self, name: &str) -> String {
        let found = self.attributes.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    }
}

/// Goes through the elements of a record.
pub(super) struct Reader<'a> {
    scanner: Scanner<'a>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(xml: &'a str) -> Self {
        Self {
            scanner: Scanner::new(xml),
        }
    }

    /// Reads the start tag of the root.
    pub(super) fn root(&mut self, name: &str) -> Result<Child<'a>, Defect> {
        match self.child()? {
            Some(root) if root.name == name => Ok(root),
            Some(root) => Err(not_marc(format!("the root is <{}>, not <{name}>", root.name))),
            None => Err(not_marc("there is no XML element")),
        }
    }

    /// The next child of the element that is open, `None` at its end; text between children is passed over.
    pub(super) fn child(&mut self) -> Result<Option<Child<'a>>, Defect> {
        loop {
            match self.token()? {
                Some(Token::Start { name, empty }) => {
                    let attributes = self.scanner.attributes().iter();
                    return Ok(Some(Child {
                        name: local(name),
                        empty,
                        attributes: attributes
                            .map(|attribute| (attribute.name, unescape(attribute.value).into_owned()))
                            .collect(),
                    }));
                }
                Some(Token::End { .. }) | None => return Ok(None),
                Some(_) => {}
            }
        }
    }

    /// The text of the child that was read last, and its end tag.
    pub(super) fn text(&mut self, child: &Child<'_>) -> Result<String, Defect> {
        let mut text = String::new();
        if child.empty {
            return Ok(text);
        }
        loop {
            match self.token()? {
                Some(Token::Text(raw)) => text.push_str(&unescape(raw)),
                Some(Token::Section(raw)) => text.push_str(raw),
                Some(Token::End { .. }) => return Ok(text),
                Some(Token::Start { name, .. }) => {
                    return Err(not_marc(format!("<{}> stands inside <{}>", local(name), child.name)));
                }
                Some(_) => {}
                None => return Err(not_marc("the XML ends too early")),
            }
        }
    }

    fn token(&mut self) -> Result<Option<Token<'a>>, Defect> {
        self.scanner.next_token().map_err(|fault| not_marc(fault.to_string()))
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}
