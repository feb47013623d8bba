//! Parsing one line of JSON without copying what it says.
//!
//! The text of a line enters; its values leave, borrowed from the line unless an escape had to be resolved.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use stook_metadata::{DublinCore, Element, Language};

use crate::import::fields::{Field, Fields};

/// What a line says.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    /// What the record is called.
    pub(super) identifier: Option<Cow<'a, str>>,
    /// Whether more than one value says so.
    pub(super) ambiguous: bool,
    pub(super) sets: Vec<Cow<'a, str>>,
    pub(super) deleted: bool,
    /// XML by format; none where the record is deleted in that format.
    pub(super) metadata: Vec<(Cow<'a, str>, Option<Cow<'a, str>>)>,
    /// About containers by format.
    pub(super) about: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    pub(super) dublin_core: DublinCore<'a>,
    /// Characters of Dublin Core values that had to be dropped.
    pub(super) dropped: usize,
}

/// Why a line says nothing.
#[derive(Debug)]
pub(super) enum ParseError {
    /// It is not JSON, or not of the expected form.
    Malformed(serde_json::Error),
    /// It has keys that nobody knows.
    UnknownKeys(Vec<String>),
}

impl fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => {
                // A line is parsed alone, so serde_json calls it line 1.
                let message = error.to_string();
                let message = message
                    .rsplit_once(" at line ")
                    .map_or(message.as_str(), |(message, _)| message);
                write!(formatter, "not a record in JSON: {message} (column {})", error.column())
            }
            Self::UnknownKeys(names) => write!(
                formatter,
                "unknown keys: {}. Try: --map KEY=element, --map KEY= to skip one, or --ignore-unknown",
                names.join(", ")
            ),
        }
    }
}

/// Parses one line.
pub(super) fn line<'a>(text: &'a str, fields: &Fields) -> Result<Line<'a>, ParseError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut parsed = Parsed {
        fields,
        line: Line::default(),
        own: Vec::new(),
        named: None,
        unknown: Vec::new(),
    };
    RecordSeed(&mut parsed)
        .deserialize(&mut deserializer)
        .map_err(ParseError::Malformed)?;
    deserializer.end().map_err(ParseError::Malformed)?;
    if !parsed.unknown.is_empty() {
        return Err(ParseError::UnknownKeys(parsed.unknown));
    }
    Ok(parsed.finish())
}

/// A line being parsed.
struct Parsed<'a, 'f> {
    fields: &'f Fields,
    line: Line<'a>,
    /// The values under `identifier`, whose meaning depends on whether something else names the record.
    own: Vec<Cow<'a, str>>,
    /// The value under `id` or its like.
    named: Option<Cow<'a, str>>,
    unknown: Vec<String>,
}

impl<'a> Parsed<'a, '_> {
    fn finish(mut self) -> Line<'a> {
        match self.named {
            None => {
                self.line.ambiguous = self.own.len() > 1;
                self.line.identifier = self.own.into_iter().next();
            }
            Some(named) => {
                self.line.identifier = Some(named);
                for value in self.own {
                    self.line.dropped += self.line.dublin_core.push(Element::Identifier, value, None);
                }
            }
        }
        self.line
    }

    fn statement(&mut self, element: Element, value: Cow<'a, str>, language: Option<Language<'a>>) {
        self.line.dropped += self.line.dublin_core.push(element, value, language);
    }
}

struct RecordSeed<'p, 'a, 'f>(&'p mut Parsed<'a, 'f>);

impl<'de> DeserializeSeed<'de> for RecordSeed<'_, 'de, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RecordSeed<'_, 'de, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let parsed = self.0;
        while let Some(Text(key)) = map.next_key_seed(TextSeed)? {
            match parsed.fields.meaning(&key) {
                Some(Field::Statement(element, language)) => {
                    map.next_value_seed(ValuesSeed(&mut |value, own| {
                        parsed.statement(element, value, own.or_else(|| language.clone()));
                    }))?;
                }
                Some(Field::Identifier) => {
                    map.next_value_seed(ValuesSeed(&mut |value, _| parsed.own.push(value)))?;
                }
                Some(Field::RecordIdentifier) => {
                    map.next_value_seed(ValuesSeed(&mut |value, _| parsed.named = Some(value)))?;
                }
                Some(Field::Sets) => {
                    map.next_value_seed(ValuesSeed(&mut |value, _| parsed.line.sets.push(value)))?;
                }
                Some(Field::Deleted) => parsed.line.deleted = map.next_value_seed(TruthSeed)?,
                Some(Field::Metadata) => {
                    let hear = &mut |prefix, xml| parsed.line.metadata.push((prefix, xml));
                    map.next_value_seed(ByFormat { hear, several: false })?;
                }
                Some(Field::About) => {
                    let hear = &mut |prefix, xml: Option<_>| parsed.line.about.extend(xml.map(|xml| (prefix, xml)));
                    map.next_value_seed(ByFormat { hear, several: true })?;
                }
                Some(Field::Skipped) => {
                    map.next_value::<IgnoredAny>()?;
                }
                None => {
                    parsed.unknown.push(key.into_owned());
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Text, borrowed where JSON writes it without escapes.
struct Text<'a>(Cow<'a, str>);

struct TextSeed;

impl<'de> DeserializeSeed<'de> for TextSeed {
    type Value = Text<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Text<'de>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for TextSeed {
    type Value = Text<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }
}

/// Yes or no, as JSON or as people write it.
struct TruthSeed;

impl<'de> DeserializeSeed<'de> for TruthSeed {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TruthSeed {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("true or false under \"deleted\"")
    }

    fn visit_bool<E>(self, truth: bool) -> Result<bool, E> {
        Ok(truth)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<bool, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<bool, E> {
        crate::import::table::truth(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

/// What hears each value and, where it is said, its language.
type HearValue<'h, 'a> = dyn FnMut(Cow<'a, str>, Option<Language<'a>>) + 'h;

/// One value or several: text, numbers, `{"value": …, "lang": …}`, or a list of these.
struct ValuesSeed<'h, 'i, 'a>(&'h mut HearValue<'i, 'a>);

impl<'de> DeserializeSeed<'de> for ValuesSeed<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValuesSeed<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("text, a number, {\"value\": …, \"lang\": …}, or a list of these")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<(), E> {
        (self.0)(Cow::Borrowed(text), None);
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        (self.0)(Cow::Owned(text.to_owned()), None);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        (self.0)(Cow::Owned(number.to_string()), None);
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        (self.0)(Cow::Owned(number.to_string()), None);
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        (self.0)(Cow::Owned(number.to_string()), None);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(ValuesSeed(&mut *self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (mut value, mut language) = (None, None);
        while let Some(Text(key)) = map.next_key_seed(TextSeed)? {
            match &*key {
                "value" | "@value" => map.next_value_seed(ValuesSeed(&mut |text, _| value = Some(text)))?,
                "lang" | "language" | "@language" => {
                    map.next_value_seed(ValuesSeed(&mut |text, _| language = Some(text)))?;
                }
                _ => return Err(A::Error::unknown_field(&key, &["value", "lang"])),
            }
        }
        let language = language.filter(|tag| !tag.is_empty()).map(|tag| {
            let tag = if tag.contains('_') {
                Cow::Owned(tag.replace('_', "-"))
            } else {
                tag
            };
            Language::parse(tag).map_err(A::Error::custom)
        });
        if let Some(value) = value {
            (self.0)(value, language.transpose()?);
        }
        Ok(())
    }
}

/// What hears each format and its XML.
type HearXml<'h, 'a> = dyn FnMut(Cow<'a, str>, Option<Cow<'a, str>>) + 'h;

/// `{"prefix": "<xml/>"}`, where `null` says that the record is deleted in that format; about containers may be several
/// to a format, in a list.
struct ByFormat<'h, 'i, 'a> {
    hear: &'h mut HearXml<'i, 'a>,
    several: bool,
}

impl<'de> DeserializeSeed<'de> for ByFormat<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ByFormat<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object from metadataPrefix to XML")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(prefix)) = map.next_key_seed(TextSeed)? {
            if self.several {
                map.next_value_seed(ValuesSeed(&mut |xml, _| (self.hear)(prefix.clone(), Some(xml))))?;
            } else {
                let xml = map.next_value_seed(XmlSeed)?;
                (self.hear)(prefix, xml);
            }
        }
        Ok(())
    }
}

/// XML as text, or `null`.
struct XmlSeed;

impl<'de> DeserializeSeed<'de> for XmlSeed {
    type Value = Option<Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for XmlSeed {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("XML as text, or null")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}
