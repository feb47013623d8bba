//! Reading a model: lines of words, indentation for what belongs to a kind.
//!
//! ```text
//! model NAME                   how people name the format
//! namespace URI                that of names without a prefix
//! prefix WORD URI              a prefix for names of another namespace
//! root ELEMENT                 the root of a record; its kind has the same name
//! value NAME = A, B, C         what a text or attribute may be; after a comma the list goes on in the next line.
//! value NAME trimmed = A, B    the same with white space around it
//! attributes NAME              attributes that several kinds have, indented below
//! type NAME… KIND              what xsi:type may name, and the kind an element becomes by it
//! kind NAME                    a kind of element; indented below:
//!     as KIND                  all that this kind, further up, has
//!     with ATTRIBUTES…         these attributes
//!     @name, @name!, @*        an attribute, one that must be there, any others; a value may follow
//!     text, text VALUE         only text
//!     mixed                    text between the elements
//!     nothing                  neither text nor elements
//!     anything                 whatever one likes
//!     records                  whatever one likes, records of a known format in their order
//!     in order                 the elements stand in the order of the lines
//!     some                     at least one element, whichever it is
//!     NAME… OCCURS KIND        elements, how often (1, ?, *, +, 4+), of which kind (of their own name if none is said)
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use super::form::FORMS;
use super::{Attribute, Child, Inside, Kind, Model, Name, Value};
use crate::namespaces::XML;

/// The first thing in a model that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ModelError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

/// A word that is still to become the number of a kind, and the line it stands in.
struct Wanted {
    kind: String,
    line: usize,
}

#[derive(Default)]
struct Reader {
    name: String,
    prefixes: Vec<(String, String)>,
    namespace: String,
    root: Option<String>,
    values: HashMap<String, Arc<Value>>,
    groups: HashMap<String, Vec<Attribute>>,
    kinds: Vec<Kind>,
    types: Vec<(Name, Wanted)>,
    /// The kinds of all children, in their order.
    wanted: Vec<Vec<Wanted>>,
    within: Within,
}

/// What indented lines belong to.
#[derive(Default)]
enum Within {
    #[default]
    Nothing,
    Kind,
    Group(String),
}

impl Model {
    /// Reads a model.
    ///
    /// # Errors
    /// The first line that makes no sense.
    pub fn read(text: &str) -> Result<Self, ModelError> {
        let mut reader = Reader::default();
        for form in FORMS {
            reader.values.insert(form.name.to_owned(), Arc::new(Value::Form(form)));
        }
        let mut begun: Option<(usize, String)> = None;
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_end();
            if line.is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let (number, line) = match begun.take() {
                Some((number, before)) => (number, format!("{before} {}", line.trim())),
                None => (index + 1, line.to_owned()),
            };
            if line.ends_with(',') {
                begun = Some((number, line));
                continue;
            }
            reader
                .line(&line, number)
                .map_err(|message| ModelError { line: number, message })?;
        }
        reader.finish().map_err(|(line, message)| ModelError { line, message })
    }
}

impl Reader {
    fn line(&mut self, line: &str, number: usize) -> Result<(), String> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if line.starts_with(' ') {
            return match &self.within {
                Within::Kind => self.kind_line(&words, number),
                Within::Group(name) => {
                    let (name, attribute) = (name.clone(), self.attribute(&words)?);
                    self.groups.entry(name).or_default().push(attribute);
                    Ok(())
                }
                Within::Nothing => Err("this line is indented, but belongs to nothing".to_owned()),
            };
        }
        self.within = Within::Nothing;
        match words[..] {
            ["model", _, ..] => self.name = words[1..].join(" "),
            ["namespace", uri] => uri.clone_into(&mut self.namespace),
            ["prefix", prefix, uri] => self.prefixes.push((prefix.to_owned(), uri.to_owned())),
            ["root", element] => self.root = Some(element.to_owned()),
            ["value", name, ..] => {
                let (head, list) = line.split_once('=').ok_or("a value is a list behind =")?;
                let values = list.split(',').map(|value| value.trim().to_owned()).collect();
                let trimmed = head.trim_end().ends_with(" trimmed");
                self.values
                    .insert(name.to_owned(), Arc::new(Value::OneOf { values, trimmed }));
            }
            ["attributes", name] => {
                self.groups.insert(name.to_owned(), Vec::new());
                self.within = Within::Group(name.to_owned());
            }
            ["type", ref names @ .., kind] if !names.is_empty() => {
                for name in names {
                    let wanted = Wanted {
                        kind: kind.to_owned(),
                        line: number,
                    };
                    self.types.push((self.name(name)?, wanted));
                }
            }
            ["kind", name] => {
                self.kinds.push(Kind {
                    name: name.to_owned(),
                    attributes: Vec::new(),
                    any_attribute: false,
                    inside: Inside::Elements,
                    children: Vec::new(),
                    in_order: false,
                    some: false,
                });
                self.wanted.push(Vec::new());
                self.within = Within::Kind;
            }
            _ => return Err(format!("{} begins no line", words[0])),
        }
        Ok(())
    }

    /// A line below the kind that was read last.
    fn kind_line(&mut self, words: &[&str], number: usize) -> Result<(), String> {
        if let Some(at) = words.iter().position(|word| occurs(word).is_some()) {
            return self.children(words, at, number);
        }
        let attribute = match words[0] {
            "@*" => None,
            word if word.starts_with('@') => Some(self.attribute(words)?),
            _ => None,
        };
        let text = match words {
            ["text"] => Some(self.value("any")?),
            ["text", value] => Some(self.value(value)?),
            _ => None,
        };
        let earlier = match words {
            ["as", name] => Some(self.kind(name)?),
            _ => None,
        };
        let groups: Vec<Attribute> = match words {
            ["with", names @ ..] => {
                let group = |name: &&str| self.groups.get(*name).ok_or(format!("there are no attributes {name}"));
                let groups: Vec<_> = names.iter().map(group).collect::<Result<_, _>>()?;
                groups.into_iter().flatten().cloned().collect()
            }
            _ => Vec::new(),
        };
        let (Some(kind), Some(wanted)) = (self.kinds.last_mut(), self.wanted.last_mut()) else {
            return Err("there is no kind yet".to_owned());
        };
        match words {
            ["with", ..] => kind.attributes.extend(groups),
            ["as", _] => {
                if let Some((earlier, of_earlier)) = earlier {
                    let name = std::mem::take(&mut kind.name);
                    *kind = Kind { name, ..earlier };
                    *wanted = of_earlier;
                }
            }
            ["@*"] => kind.any_attribute = true,
            ["mixed"] => kind.inside = Inside::Mixed,
            ["nothing"] => kind.inside = Inside::Elements,
            ["anything"] => kind.inside = Inside::Anything,
            ["records"] => kind.inside = Inside::Records,
            ["in", "order"] => kind.in_order = true,
            ["some"] => kind.some = true,
            _ => match (attribute, text) {
                (Some(attribute), _) => kind.attributes.push(attribute),
                (_, Some(value)) => kind.inside = Inside::Text(value),
                _ => return Err(format!("{} begins no line of a kind", words[0])),
            },
        }
        Ok(())
    }

    /// Elements inside the kind that was read last.
    fn children(&mut self, words: &[&str], at: usize, number: usize) -> Result<(), String> {
        let (least, most) = occurs(words[at]).unwrap_or_default();
        if at == 0 || words.len() > at + 2 {
            return Err("elements are written: NAME… OCCURS KIND".to_owned());
        }
        for word in &words[..at] {
            let name = self.name(word)?;
            let kind = words.get(at + 1).copied().unwrap_or(&name.local).to_owned();
            let (Some(of), Some(wanted)) = (self.kinds.last_mut(), self.wanted.last_mut()) else {
                return Err("there is no kind yet".to_owned());
            };
            of.children.push(Child {
                name,
                least,
                most,
                kind: 0,
            });
            wanted.push(Wanted { kind, line: number });
        }
        Ok(())
    }

    /// `@name`, `@name!`, and perhaps a value.
    fn attribute(&self, words: &[&str]) -> Result<Attribute, String> {
        let (written, value) = match words {
            [written] => (written, "any"),
            [written, value] => (written, *value),
            _ => return Err("an attribute is written: @name VALUE".to_owned()),
        };
        let name = written.strip_prefix('@').ok_or("attributes begin with @")?;
        let (name, required) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
        // An attribute without a prefix is in no namespace.
        let name = match name.contains(':') {
            true => self.name(name)?,
            false => Name {
                namespace: String::new(),
                local: name.to_owned(),
                shown: name.to_owned(),
            },
        };
        Ok(Attribute {
            name,
            required,
            value: self.value(value)?,
        })
    }

    fn value(&self, name: &str) -> Result<Arc<Value>, String> {
        self.values
            .get(name)
            .cloned()
            .ok_or(format!("there is no value {name}"))
    }

    fn name(&self, written: &str) -> Result<Name, String> {
        let (namespace, local) = match written.split_once(':') {
            None => (&*self.namespace, written),
            Some(("xml", local)) => (XML, local),
            Some((prefix, local)) => {
                let known = self.prefixes.iter().find(|(known, _)| known == prefix);
                (&*known.ok_or(format!("there is no prefix {prefix}"))?.1, local)
            }
        };
        Ok(Name {
            namespace: namespace.to_owned(),
            local: local.to_owned(),
            shown: written.to_owned(),
        })
    }

    /// A kind that was read, and the kinds of its children.
    fn kind(&self, name: &str) -> Result<(Kind, Vec<Wanted>), String> {
        let at = self.kinds.iter().position(|kind| kind.name == name);
        let at = at.ok_or(format!("there is no kind {name} further up"))?;
        let copy = |wanted: &Wanted| Wanted {
            kind: wanted.kind.clone(),
            line: wanted.line,
        };
        Ok((self.kinds[at].clone(), self.wanted[at].iter().map(copy).collect()))
    }

    /// Puts the numbers of kinds where their names were.
    fn finish(mut self) -> Result<Model, (usize, String)> {
        let names: Vec<String> = self.kinds.iter().map(|kind| kind.name.clone()).collect();
        let number = |wanted: &Wanted| {
            let at = names.iter().position(|name| *name == wanted.kind);
            at.ok_or((wanted.line, format!("there is no kind {}", wanted.kind)))
        };
        for (kind, wanted) in self.kinds.iter_mut().zip(&self.wanted) {
            for (child, wanted) in kind.children.iter_mut().zip(wanted) {
                child.kind = number(wanted)?;
            }
        }
        let root = self.root.take().ok_or((1, "there is no root".to_owned()))?;
        let kind = number(&Wanted {
            kind: root.clone(),
            line: 1,
        })?;
        let name = self.name(&root).map_err(|message| (1, message))?;
        let mut types = Vec::new();
        for (name, wanted) in self.types {
            types.push((name, number(&wanted)?));
        }
        Ok(Model {
            name: self.name,
            prefixes: self.prefixes,
            root: Child {
                name,
                least: 1,
                most: 1,
                kind,
            },
            kinds: self.kinds,
            types,
        })
    }
}

/// How often an element must and may be there.
fn occurs(word: &str) -> Option<(u32, u32)> {
    match word {
        "1" => Some((1, 1)),
        "?" => Some((0, 1)),
        "*" => Some((0, u32::MAX)),
        "+" => Some((1, u32::MAX)),
        _ => Some((word.strip_suffix('+')?.parse().ok()?, u32::MAX)),
    }
}

#[cfg(test)]
mod tests;
