//! Reading where values come from, where they go, and what must hold.

use super::cursor::Cursor;
use super::{Reader, Side};
use crate::crosswalk::mapping::{NewElement, Target};
use crate::crosswalk::path::{Comparison, Condition, End, Name, Path, Step, Test};
use crate::dublin_core::{DC_NAMESPACE, Element};

impl<'t> Reader<'_, 't> {
    /// Conditions that must all hold; of which none may, if `negated`: then it can only be one.
    pub(super) fn conditions(&self, cursor: &mut Cursor<'t>, negated: bool) -> Result<Vec<Condition>, String> {
        let mut conditions = vec![self.condition(cursor)?];
        while cursor.takes_word("and") {
            conditions.push(self.condition(cursor)?);
        }
        match (&mut conditions[..], negated) {
            ([only], true) => only.negated = !only.negated,
            (_, true) => return Err("unless takes one condition. Try: when not … and not …".into()),
            _ => {}
        }
        Ok(conditions)
    }

    fn condition(&self, cursor: &mut Cursor<'t>) -> Result<Condition, String> {
        let mut negated = cursor.takes_word("not");
        let path = self.path(cursor)?;
        let comparison = if cursor.takes("!=") {
            negated = !negated;
            Some(Comparison::Is)
        } else if cursor.takes("=") {
            Some(Comparison::Is)
        } else if cursor.takes_word("like") {
            Some(Comparison::Like)
        } else {
            None
        };
        let test = match comparison {
            None => None,
            Some(comparison) => {
                let mut with = vec![cursor.string("a value in quotation marks")?];
                while cursor.takes("|") {
                    with.push(cursor.string("a value in quotation marks")?);
                }
                Some(Test { comparison, with })
            }
        };
        Ok(Condition { path, test, negated })
    }

    pub(super) fn path(&self, cursor: &mut Cursor<'t>) -> Result<Path, String> {
        cursor.skip_blanks();
        let mut path = Path::here();
        if cursor.takes(".") {
            if cursor.takes_at_once("/") {
                let (first, last) = cursor.range()?;
                path.end = End::Characters(first, last);
            }
            return Ok(path);
        }
        loop {
            if cursor.takes_at_once("@") {
                path.end = End::Attribute(self.attribute_name(cursor)?);
                return Ok(path);
            }
            if !path.steps.is_empty() && cursor.rest.starts_with(|next: char| next.is_ascii_digit()) {
                let (first, last) = cursor.range()?;
                path.end = End::Characters(first, last);
                return Ok(path);
            }
            if self.source.is_marc {
                self.marc_steps(cursor, &mut path.steps)?;
            } else {
                let name = self.name(cursor, &self.source)?;
                let conditions = self.bracketed(cursor)?;
                path.steps.push(Step::new(name, conditions));
            }
            if !cursor.takes_at_once("/") {
                return Ok(path);
            }
        }
    }

    /// `245`, `24X`, `245[2="0"]$ab`, `$a`, `leader`: the elements of MARCXML by the names people give them.
    fn marc_steps(&self, cursor: &mut Cursor<'t>, steps: &mut Vec<Step>) -> Result<(), String> {
        if !cursor.rest.starts_with('$') {
            let word = cursor.name();
            match word {
                "leader" => steps.push(self.marc_step("leader", Vec::new())),
                // In brackets: an indicator.
                "1" | "2" => return Err(format!("an indicator is written @ind{word}")),
                _ if is_tag(word) => {
                    let element = element_of(word);
                    let tag = match word.contains('X') {
                        true => is_one_of("tag", Comparison::Like, vec![word.replace('X', "?")]),
                        false => is_one_of("tag", Comparison::Is, vec![word.to_owned()]),
                    };
                    let mut conditions = vec![tag];
                    conditions.extend(self.bracketed(cursor)?);
                    steps.push(self.marc_step(element, conditions));
                }
                _ => {
                    return Err(format!(
                        "{word:?} is no field. Try: 245, 65X, 245$a, 008/35-37 or leader/6"
                    ));
                }
            }
        }
        if cursor.takes_at_once("$") {
            let codes = cursor.name();
            if codes.is_empty() && !cursor.takes_at_once("*") {
                return Err("after $ come the codes of subfields, such as 245$ab, or * for all of them".into());
            }
            let condition = is_one_of("code", Comparison::Is, codes.chars().map(String::from).collect());
            let conditions = if codes.is_empty() { Vec::new() } else { vec![condition] };
            steps.push(self.marc_step("subfield", conditions));
        }
        Ok(())
    }

    fn marc_step(&self, local: &str, conditions: Vec<Condition>) -> Step {
        let name = Name::new(&self.source.namespace, local);
        Step::new(name, conditions)
    }

    /// `[CONDITION and CONDITION]`, any number of times.
    fn bracketed(&self, cursor: &mut Cursor<'t>) -> Result<Vec<Condition>, String> {
        let mut conditions = Vec::new();
        while cursor.takes_at_once("[") {
            conditions.extend(self.conditions(cursor, false)?);
            if !cursor.takes("]") {
                return Err("] is missing".into());
            }
        }
        Ok(conditions)
    }

    pub(super) fn target(&self, cursor: &mut Cursor<'t>) -> Result<Target, String> {
        cursor.skip_blanks();
        let mut target = Target {
            elements: Vec::new(),
            attribute: None,
        };
        if cursor.takes(".") {
            return Ok(target);
        }
        loop {
            if cursor.takes_at_once("@") {
                target.attribute = Some(self.attribute_name(cursor)?);
                return Ok(target);
            }
            if self.target.is_marc {
                return self.marc_target(cursor, target);
            }
            let name = self.name(cursor, &self.target)?;
            if name.local.is_none() {
                return Err("* is no element that could be made".into());
            }
            let attributes = self.new_attributes(cursor)?;
            target.elements.push(NewElement { name, attributes });
            if !cursor.takes_at_once("/") {
                return Ok(target);
            }
        }
    }

    /// `leader`, `001`, `245[@ind1="1"]$a`, `$a`: indicators are blank unless they are said.
    fn marc_target(&self, cursor: &mut Cursor<'t>, mut target: Target) -> Result<Target, String> {
        let made = |local: &str, attributes: &[(&str, &str)]| NewElement {
            name: Name::new(&self.target.namespace, local),
            attributes: attributes
                .iter()
                .map(|(name, value)| (Name::new("", name), (*value).to_owned()))
                .collect(),
        };
        if !cursor.rest.starts_with('$') {
            let word = cursor.name();
            match word {
                "leader" => target.elements.push(made("leader", &[])),
                _ if is_tag(word) && !word.contains('X') => {
                    let blank: &[_] = if word.starts_with("00") {
                        &[]
                    } else {
                        &[("ind1", " "), ("ind2", " ")]
                    };
                    let mut field = made(element_of(word), &[&[("tag", word)], blank].concat());
                    for (name, value) in self.new_attributes(cursor)? {
                        match field.attributes.iter_mut().find(|(known, _)| *known == name) {
                            Some((_, old)) => *old = value,
                            None => field.attributes.push((name, value)),
                        }
                    }
                    target.elements.push(field);
                }
                _ => {
                    return Err(format!(
                        "{word:?} is no field to be made. Try: 245$a, 245, $a, 001 or leader"
                    ));
                }
            }
        }
        if cursor.takes_at_once("$") {
            let code = cursor.name();
            if code.chars().count() != 1 {
                return Err("one subfield is made at a time. Try: 245$a".into());
            }
            target.elements.push(made("subfield", &[("code", code)]));
        }
        if cursor.takes_at_once("/@") {
            target.attribute = Some(self.attribute_name(cursor)?);
        }
        Ok(target)
    }

    /// `[@name="value"]`, any number of times.
    fn new_attributes(&self, cursor: &mut Cursor<'t>) -> Result<Vec<(Name, String)>, String> {
        const HOW: &str = "an attribute of the new element is written [@name=\"value\"]";
        let mut attributes = Vec::new();
        while cursor.takes_at_once("[") {
            if !cursor.takes("@") {
                return Err(HOW.into());
            }
            let name = self.attribute_name(cursor)?;
            if !cursor.takes("=") {
                return Err(HOW.into());
            }
            attributes.push((name, cursor.string("a value in quotation marks")?));
            if !cursor.takes("]") {
                return Err("] is missing".into());
            }
        }
        Ok(attributes)
    }

    fn name(&self, cursor: &mut Cursor<'t>, side: &Side) -> Result<Name, String> {
        let written = cursor.name();
        let (prefix, local) = written.split_once(':').unwrap_or(("", written));
        let namespace = match prefix {
            "" => side.namespace.clone(),
            prefix => self.namespace(prefix)?,
        };
        if local.is_empty() && cursor.takes_at_once("*") {
            return Ok(Name { namespace, local: None });
        }
        if !is_xml_name(local) {
            return Err(match written {
                "" => format!("a name is missing before {:?}", cursor.rest),
                _ => format!("{written:?} is no name of an element"),
            });
        }
        // The fifteen elements are closed: another name would only never be found.
        if namespace == DC_NAMESPACE && Element::from_local_name(local).is_none() {
            let known: Vec<&str> = Element::ALL.iter().map(|element| element.as_str()).collect();
            return Err(format!(
                "{local:?} is no element of Dublin Core. Try: {}",
                known.join(", ")
            ));
        }
        Ok(Name {
            namespace,
            local: Some(local.to_owned()),
        })
    }

    pub(super) fn attribute_name(&self, cursor: &mut Cursor<'t>) -> Result<Name, String> {
        let written = cursor.name();
        let (prefix, local) = written.split_once(':').unwrap_or(("", written));
        if !is_xml_name(local) {
            return Err(format!("{written:?} is no name of an attribute"));
        }
        Ok(Name {
            namespace: match prefix {
                "" => String::new(),
                prefix => self.namespace(prefix)?,
            },
            local: Some(local.to_owned()),
        })
    }

    fn namespace(&self, prefix: &str) -> Result<String, String> {
        let found = self.namespaces.iter().find(|(known, _)| known == prefix);
        found.map(|(_, uri)| uri.clone()).ok_or_else(|| {
            format!("the prefix {prefix} is not known. Try: namespace {prefix} \"…\" below the first line")
        })
    }
}

fn is_one_of(attribute: &str, comparison: Comparison, with: Vec<String>) -> Condition {
    Condition {
        path: Path {
            steps: Vec::new(),
            end: End::Attribute(Name::new("", attribute)),
        },
        test: Some(Test { comparison, with }),
        negated: false,
    }
}

/// Three digits, of which some may be left open by X.
fn is_tag(word: &str) -> bool {
    word.len() == 3 && word.chars().all(|sign| sign.is_ascii_digit() || sign == 'X')
}

fn element_of(tag: &str) -> &'static str {
    match tag.starts_with("00") {
        true => "controlfield",
        false => "datafield",
    }
}

fn is_xml_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|next| next.is_alphanumeric() || matches!(next, '_' | '-' | '.'))
}
