//! Reading what is to be done with values: the words behind a target.

use super::Reader;
use super::cursor::Cursor;
use crate::crosswalk::mapping::Modifier;

impl<'t> Reader<'_, 't> {
    pub(super) fn modifiers(&self, cursor: &mut Cursor<'t>) -> Result<Vec<Modifier>, String> {
        let mut modifiers = Vec::new();
        while !cursor.rest.trim_start().is_empty() {
            let word = cursor.word("a word such as join, split, trim, table or when")?;
            modifiers.push(match word {
                "trim" => Modifier::Trim(cursor.string("the characters to trim")?),
                "split" => Modifier::Split(some(cursor.string("what separates the values")?)?),
                "join" => Modifier::Join(cursor.string("what to put between the values")?),
                "table" => Modifier::Table(cursor.word("the name of a table")?.to_owned()),
                "first" => Modifier::First,
                "rest" => Modifier::Rest,
                "last" => Modifier::Last,
                "distinct" => Modifier::Distinct,
                "as" => Modifier::As(cursor.string("a text in which {} stands for the value")?),
                "replace" => {
                    let old = some(cursor.string("what to replace")?)?;
                    Modifier::Replace(old, cursor.string("what to put in its place")?)
                }
                "chop" => Modifier::Chop,
                "without" => {
                    let mut beginnings = vec![some(cursor.string("what to take off the beginning")?)?];
                    while cursor.takes("|") {
                        beginnings.push(some(cursor.string("what to take off the beginning")?)?);
                    }
                    Modifier::Without(beginnings)
                }
                "date" => Modifier::Date,
                "year" => Modifier::Year,
                "domain" => Modifier::Domain,
                "levels" => Modifier::Levels(some(cursor.string("what separates the levels")?)?),
                "language" => Modifier::Language,
                "take" => Modifier::Take(self.path(cursor)?),
                "skip" => Modifier::Skip(self.path(cursor)?),
                "required" => Modifier::Required,
                "upper" => Modifier::Upper,
                "lower" => Modifier::Lower,
                "default" => Modifier::Default(cursor.string("what to say where there is nothing")?),
                "when" => Modifier::When(self.conditions(cursor, false)?),
                "unless" => Modifier::When(self.conditions(cursor, true)?),
                "with" => {
                    if !cursor.takes("@") {
                        return Err("after with comes an attribute, such as @xml:lang".into());
                    }
                    Modifier::With(self.attribute_name(cursor)?)
                }
                other => {
                    return Err(format!(
                        "{other:?} is not understood. Try: trim, chop, without, split, join, table, first, rest, last, distinct, as, \
                         replace, date, year, domain, levels, language, take, skip, upper, lower, default, required, when, unless \
                         or with"
                    ));
                }
            });
        }
        Ok(modifiers)
    }
}

fn some(text: String) -> Result<String, String> {
    match text.as_str() {
        "" => Err("an empty text makes no sense here".into()),
        _ => Ok(text),
    }
}
