//! From the bytes of one record to its fields.

use std::borrow::Cow;

use super::super::charset::Charset;
use super::super::defect::{Defect, Trouble};
use super::super::record::{Dialect, Field, Leader, Record, Subfield, Tag};
use super::super::rules;
use super::{ENTRY, FIELD_END, RECORD_END, SUBFIELD, number};

/// Begins an escape sequence.
const ESCAPE: u8 = 0x1B;

/// How to read a record.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading<'f> {
    /// The family of the record.
    pub dialect: Dialect,
    /// The encoding, where somebody knows better than the record.
    pub charset: Option<Charset<'f>>,
}

/// Reads the bytes of one record.
///
/// Tolerated are wrong lengths as long as the marks between fields tell the truth, a missing end mark, indicators that
/// are missing, and a leader that is wrong about the encoding: text that is UTF-8 is read as UTF-8. The lengths in the
/// leader are left out.
///
/// # Errors
/// The first thing that cannot be read without guessing.
pub fn read<'a>(bytes: &'a [u8], reading: Reading<'_>) -> Result<Record<'a>, Defect> {
    let leader = leader(bytes)?;
    let directory_end = bytes[Leader::LENGTH..]
        .iter()
        .position(|&byte| byte == FIELD_END)
        .ok_or(Defect::at(Leader::LENGTH, Trouble::EndlessDirectory))?;
    let directory = &bytes[Leader::LENGTH..Leader::LENGTH + directory_end];
    let base = Leader::LENGTH + directory_end + 1;
    let data = bytes[base..].strip_suffix(&[RECORD_END]).unwrap_or(&bytes[base..]);
    let filled = data.trim_ascii_end();
    let data = if filled.ends_with(&[FIELD_END]) { filled } else { data };
    let fields = locate(directory, data)?;
    let charset = match reading.charset {
        Some(charset) => charset,
        None => charset_of(&leader, &fields, data, reading.dialect)
            .map_err(|(at, trouble)| Defect::at(base + at, trouble))?,
    };
    let text = Text {
        data,
        whole: match charset {
            Charset::Utf8 => std::str::from_utf8(data).ok(),
            _ => None,
        },
        charset,
    };
    let mut record = Record {
        leader: leader.mended(reading.dialect).without_lengths(),
        fields: Vec::with_capacity(fields.len()),
    };
    for Located { tag, start, end } in fields {
        match text.field(tag, start, end) {
            Ok(field) => record.fields.push(field),
            Err((at, trouble)) => {
                let before = record.fields.iter().map(Field::tag);
                return Err(Defect::at(base + at, trouble).in_field(tag, before));
            }
        }
    }
    if reading.dialect == Dialect::Unimarc {
        tell_unicode(&mut record);
    }
    Ok(record)
}

fn leader(bytes: &[u8]) -> Result<Leader, Defect> {
    let Some(leader) = bytes.get(..Leader::LENGTH) else {
        return Err(Defect::of_record(Trouble::TooShort(bytes.len())));
    };
    // Only what ISO 2709 itself needs may be anything: that is mended.
    let mut kept = [b'0'; Leader::LENGTH];
    for position in (5..10).chain(17..20) {
        kept[position] = leader[position];
    }
    for (position, &byte) in leader.iter().enumerate() {
        if (b' '..=b'~').contains(&byte) {
            kept[position] = byte;
        }
    }
    Leader::parse(&kept).ok_or_else(|| Defect::at(0, Trouble::BadLeader(String::from_utf8_lossy(leader).into_owned())))
}

/// A field in the data: from its first byte to its mark.
struct Located {
    tag: Tag,
    start: usize,
    end: usize,
}

/// Finds the fields: by the directory where all of it agrees with the marks, and otherwise by the marks, one for each
/// entry of the directory.
fn locate(directory: &[u8], data: &[u8]) -> Result<Vec<Located>, Defect> {
    if !directory.len().is_multiple_of(ENTRY) {
        return Err(Defect::at(Leader::LENGTH, Trouble::BrokenDirectory(directory.len())));
    }
    let mut fields = Vec::with_capacity(directory.len() / ENTRY);
    let mut agrees = true;
    let mut total = 0;
    for (index, entry) in directory.chunks_exact(ENTRY).enumerate() {
        let tag = Tag::parse(&entry[..3]).ok_or_else(|| {
            let found = String::from_utf8_lossy(&entry[..3]).into_owned();
            Defect::at(Leader::LENGTH + index * ENTRY, Trouble::BadTag(found))
        })?;
        let (length, start) = (number(&entry[3..7]), number(&entry[7..]));
        let (start, end) = match (start, length) {
            (Some(start), Some(length)) if length > 0 => (start, start + length - 1),
            (start, _) => (start.unwrap_or(usize::MAX), 0),
        };
        total += end.saturating_sub(start) + 1;
        // No byte may be told twice, or a small record could become an enormous one.
        agrees = agrees && total <= data.len() + 1 && is_field(data, start, end);
        fields.push(Located { tag, start, end });
    }
    // What no entry names would be lost without a word.
    if agrees && total >= data.len() {
        return Ok(fields);
    }
    by_marks(fields, data)
}

/// Whether a mark stands at `end` and before `start`, and none between.
fn is_field(data: &[u8], start: usize, end: usize) -> bool {
    let begins = start == 0 || data.get(start - 1) == Some(&FIELD_END);
    // The last field may have lost its mark.
    let ends = data.get(end).map_or(end == data.len(), |&byte| byte == FIELD_END);
    begins && ends && data.get(start..end).is_some_and(|field| !field.contains(&FIELD_END))
}

/// Gives each entry the field at its start where all starts are right, and otherwise the fields in their order. Entries
/// that point at the field of another one are damage: a wrong tag on a field would be worse than a rejected record.
fn by_marks(mut fields: Vec<Located>, data: &[u8]) -> Result<Vec<Located>, Defect> {
    let whole = data.strip_suffix(&[FIELD_END]).unwrap_or(data);
    let mut spans = Vec::with_capacity(fields.len());
    let mut start = 0;
    if !data.is_empty() {
        for field in whole.split(|&byte| byte == FIELD_END) {
            spans.push((start, start + field.len()));
            start += field.len() + 1;
        }
    }
    if spans.len() != fields.len() {
        return Err(Defect::of_record(Trouble::FieldCount {
            named: fields.len(),
            found: spans.len(),
        }));
    }
    let pointed: Vec<Option<usize>> = fields
        .iter()
        .map(|field| spans.binary_search_by_key(&field.start, |&(start, _)| start).ok())
        .collect();
    let mut used = vec![false; spans.len()];
    for span in pointed.iter().flatten() {
        used[*span] = true;
    }
    let all_right = used.iter().all(|used| *used);
    for (index, field) in fields.iter_mut().enumerate() {
        let span = match pointed[index] {
            Some(span) if all_right || span == index => span,
            None => index,
            Some(_) => {
                let at = Leader::LENGTH + index * ENTRY;
                return Err(Defect::at(at, Trouble::WrongDirectory(field.tag)));
            }
        };
        (field.start, field.end) = spans[span];
    }
    Ok(fields)
}

/// The encoding of the fields. A record whose bytes are UTF-8 is UTF-8, whatever it says: that this happens by chance in
/// another encoding is as good as impossible.
fn charset_of(
    leader: &Leader,
    fields: &[Located],
    data: &[u8],
    dialect: Dialect,
) -> Result<Charset<'static>, (usize, Trouble)> {
    let error = match std::str::from_utf8(data) {
        Ok(_) if !data.is_ascii() => return Ok(Charset::Utf8),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    let has_escapes = error.is_none() && data.contains(&ESCAPE);
    match dialect {
        Dialect::Marc21 => match error {
            // A record marked as UTF-8 that is nearly so is damaged; one that is not at all has the wrong mark.
            Some(error) if leader.at(Leader::CODING) == b'a' && has_sequences(data) => Err((
                error.valid_up_to(),
                Trouble::Undecodable {
                    byte: data.get(error.valid_up_to()).copied().unwrap_or_default(),
                    encoding: "UTF-8",
                },
            )),
            Some(_) => Ok(Charset::Marc8),
            // ASCII is UTF-8; only escape sequences make another thing of it, and no UTF-8 has those.
            None if leader.at(Leader::CODING) == b'a' && !has_escapes => Ok(Charset::Utf8),
            None => Ok(Charset::Marc8),
        },
        Dialect::Unimarc if error.is_none() && !has_escapes => Ok(Charset::Utf8),
        Dialect::Unimarc => unimarc_charset(fields, data).map_err(|trouble| (0, trouble)),
    }
}

/// Whether there is any character of several bytes that is UTF-8.
fn has_sequences(data: &[u8]) -> bool {
    data.utf8_chunks().any(|chunk| !chunk.valid().is_ascii())
}

/// What positions 26 to 29 of field 100, subfield a, say.
fn unimarc_charset(fields: &[Located], data: &[u8]) -> Result<Charset<'static>, Trouble> {
    let general = fields.iter().find(|field| field.tag.as_bytes() == b"100");
    let sets = general.and_then(|field| {
        let bytes = data.get(field.start..field.end)?;
        let code = bytes.windows(2).position(|pair| pair == [SUBFIELD, b'a'])?;
        bytes.get(code + 2 + 26..code + 2 + 30)
    });
    match sets {
        Some(b"50  ") => Ok(Charset::Utf8),
        Some([b'0', b'1', b'0', b'3'] | [b'0', b'1', b' ', b' '] | [b' ', b' ', b' ', b' ']) => Ok(Charset::Iso5426),
        Some(sets) => Err(Trouble::UnknownCharacterSets(
            String::from_utf8_lossy(sets).into_owned(),
        )),
        None => Err(Trouble::NoCharacterSets),
    }
}

/// Makes field 100 tell what is true now: that the text is Unicode.
fn tell_unicode(record: &mut Record<'_>) {
    let is_ascii = |field: &Field<'_>| match field {
        Field::Control { value, .. } => value.is_ascii(),
        Field::Data { subfields, .. } => subfields.iter().all(|subfield| subfield.value.is_ascii()),
    };
    if record.fields.iter().all(is_ascii) {
        return;
    }
    let general = record.fields.iter_mut().find_map(|field| match field {
        Field::Data { tag, subfields, .. } if tag.as_bytes() == b"100" => {
            subfields.iter_mut().find(|subfield| subfield.code == b'a')
        }
        _ => None,
    });
    if let Some(general) = general
        && general.value.is_ascii()
        && general.value.len() >= 30
        && general.value[26..30] != *"50  "
    {
        general.value.to_mut().replace_range(26..30, "50  ");
    }
}

/// The data of a record and what its bytes mean.
struct Text<'a, 'f> {
    data: &'a [u8],
    /// All of it, if it is UTF-8: then values need not be looked at one by one.
    whole: Option<&'a str>,
    charset: Charset<'f>,
}

impl<'a> Text<'a, '_> {
    fn field(&self, tag: Tag, start: usize, end: usize) -> Result<Field<'a>, (usize, Trouble)> {
        if tag.is_control() {
            let value = self.value(start, end)?;
            return Ok(Field::Control { tag, value });
        }
        let bytes = &self.data[start..end];
        let Some(first) = bytes.iter().position(|&byte| byte == SUBFIELD) else {
            return self.without_subfields(tag, start, end);
        };
        let indicators = self.indicators(start, start + first)?;
        let mut subfields = Vec::with_capacity(bytes.iter().filter(|&&byte| byte == SUBFIELD).count());
        let mut at = start + first + 1;
        for subfield in bytes[first + 1..].split(|&byte| byte == SUBFIELD) {
            // A mark with nothing behind it says nothing.
            if let Some((&code, value)) = subfield.split_first() {
                if !code.is_ascii_graphic() && code != b' ' {
                    let shown = self.charset.decode(subfield).unwrap_or(Cow::Borrowed("\u{FFFD}"));
                    return Err((at, Trouble::BadCode(shown.chars().take(1).collect())));
                }
                let value = self.value(at + 1, at + 1 + value.len())?;
                subfields.push(Subfield { code, value });
            }
            at += subfield.len() + 1;
        }
        Ok(Field::Data {
            tag,
            indicators,
            subfields,
        })
    }

    /// Some systems write fields of their own without indicators and subfields; their text becomes subfield a.
    fn without_subfields(&self, tag: Tag, start: usize, end: usize) -> Result<Field<'a>, (usize, Trouble)> {
        let mut indicators = *b"  ";
        let mut subfields = Vec::new();
        match self.data[start..end] {
            // Only indicators: an empty field.
            [first, second]
                if rules::is_indicator(first)
                    && rules::is_indicator(second)
                    && tag.as_bytes().iter().all(u8::is_ascii_digit) =>
            {
                indicators = [first, second];
            }
            ref text if text.trim_ascii().is_empty() => {}
            _ => subfields.push(Subfield {
                code: b'a',
                value: self.value(start, end)?,
            }),
        }
        Ok(Field::Data {
            tag,
            indicators,
            subfields,
        })
    }

    /// Two indicators; what is missing is blank, and blanks too many are nothing.
    fn indicators(&self, start: usize, end: usize) -> Result<[u8; 2], (usize, Trouble)> {
        let mut indicators = *b"  ";
        let bytes = &self.data[start..end];
        for (index, &byte) in bytes.iter().take(2).enumerate() {
            indicators[index] = match byte {
                b' '..=b'~' => byte,
                // What is not a sign stands for none.
                0..b' ' => b' ',
                _ => {
                    let shown = self
                        .charset
                        .decode(&bytes[index..])
                        .unwrap_or(Cow::Borrowed("\u{FFFD}"));
                    return Err((
                        start + index,
                        Trouble::BadIndicator {
                            number: index + 1,
                            found: shown.chars().take(1).collect(),
                        },
                    ));
                }
            };
        }
        match bytes.get(2..) {
            Some(more) if !more.trim_ascii().is_empty() => {
                let shown = String::from_utf8_lossy(more).into_owned();
                Err((start + 2, Trouble::TextBeforeSubfields(shown)))
            }
            _ => Ok(indicators),
        }
    }

    fn value(&self, start: usize, end: usize) -> Result<Cow<'a, str>, (usize, Trouble)> {
        // A subfield's mark in a control field, or a record's mark anywhere, is damage that nobody can undo.
        let bytes = &self.data[start..end];
        if let Some(at) = bytes.iter().position(|byte| matches!(*byte, RECORD_END | SUBFIELD)) {
            return Err((start + at, Trouble::Separator(bytes[at])));
        }
        if let Some(text) = self.whole.and_then(|whole| whole.get(start..end)) {
            return Ok(Cow::Borrowed(text));
        }
        self.charset.decode(bytes).map_err(|at| {
            let trouble = Trouble::Undecodable {
                byte: bytes.get(at).copied().unwrap_or_default(),
                encoding: self.charset.name(),
            };
            (start + at, trouble)
        })
    }
}
