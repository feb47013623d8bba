//! What a stylesheet may not do, found before it is ever run.
//!
//! The text of one stylesheet enters, without declarations. What it imports leaves, or the first thing it may not do,
//! with its line. A crosswalk makes one record out of another and needs nothing else, so everything that reads or
//! writes elsewhere, or could, is refused. `xsltproc` can be kept from the network and from writing, but not from
//! reading; that is why this has to be complete, and rather refuses too much. It looks for words, not for expressions:
//! nobody has to believe that it understands XPath as libxslt does.

use std::ops::Range;

use stook_metadata::Namespaces;
use stook_metadata::namespaces::XML;
use stook_metadata::scan::{Attribute, Scanner, Token, unescape};

use super::{Complaint, line_at};

const XSL: &str = "http://www.w3.org/1999/XSL/Transform";
const DEEPEST: usize = 200;

/// Elements that write files, whoever's they are.
const WRITERS: &[(&str, &[&str])] = &[
    (XSL, &["document", "result-document"]),
    ("http://exslt.org/common", &["document"]),
    ("http://icl.com/saxon", &["output"]),
    ("http://www.jclark.com/xt", &["document"]),
    ("http://xml.apache.org/xalan/redirect", &["open", "write", "close"]),
    ("org.apache.xalan.xslt.extensions.Redirect", &["open", "write", "close"]),
    ("org.apache.xalan.lib.Redirect", &["open", "write", "close"]),
];

/// Functions that make expressions out of text, in which anything could stand.
const EVALUATORS: &[(&str, &[&str])] = &[
    (
        "http://exslt.org/dynamic",
        &["evaluate", "map", "min", "max", "sum", "closure"],
    ),
    ("http://icl.com/saxon", &["evaluate", "eval", "expression"]),
    ("http://xml.apache.org/xalan", &["evaluate"]),
];

/// Beginnings of the namespaces whose attributes may be expressions as a whole. Those of other elements hold
/// expressions in braces only.
const EXPRESSIVE: &[&str] = &[
    XSL,
    "http://exslt.org/",
    "http://icl.com/saxon",
    "http://www.jclark.com/xt",
    "http://xml.apache.org/xalan",
    "http://xmlsoft.org/",
    "org.apache.xalan",
];

/// One `xsl:import` or `xsl:include`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// What it names.
    pub(super) href: String,
    /// Where that is written.
    pub(super) place: Range<usize>,
    pub(super) line: usize,
}

/// Goes through a stylesheet; see above.
pub(super) fn inspect(text: &str) -> Result<Vec<Import>, Complaint> {
    let mut inspection = Inspection {
        text,
        namespaces: Namespaces::none(),
        imports: Vec::new(),
    };
    let mut scanner = Scanner::new(text);
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut has_root = false;
    let fault = |at: usize, what: String| Complaint::new(line_at(text, at), what, "mend the stylesheet's XML");
    loop {
        let token = scanner.next_token();
        let at = scanner.token_start();
        match token
            .map_err(|found| Complaint::new(found.line, found.problem.to_string(), "mend the stylesheet's XML"))?
        {
            Some(Token::Start { name, empty }) => {
                if open.is_empty() && has_root {
                    return Err(fault(at, format!("there is a second root element <{name}>")));
                }
                if open.len() == DEEPEST {
                    return Err(fault(at, format!("elements are nested more than {DEEPEST} deep")));
                }
                let before = inspection.namespaces.len();
                inspection.element(name, scanner.attributes(), at, !has_root)?;
                has_root = true;
                match empty {
                    true => inspection.namespaces.truncate(before),
                    false => open.push((name, before)),
                }
            }
            Some(Token::End { name }) => match open.pop() {
                Some((opened, before)) if opened == name => inspection.namespaces.truncate(before),
                Some((opened, _)) => return Err(fault(at, format!("</{name}> closes <{opened}>"))),
                None => return Err(fault(at, format!("</{name}> closes nothing"))),
            },
            Some(_) => {}
            None => break,
        }
    }
    match open.last() {
        Some((name, _)) => Err(fault(text.len(), format!("it ends before <{name}> is closed"))),
        None if !has_root => Err(fault(0, "there is no XML element in it".to_owned())),
        None => Ok(inspection.imports),
    }
}

struct Inspection<'t> {
    text: &'t str,
    namespaces: Namespaces,
    imports: Vec<Import>,
}

impl Inspection<'_> {
    fn element(&mut self, name: &str, attributes: &[Attribute<'_>], at: usize, is_root: bool) -> Result<(), Complaint> {
        for attribute in attributes {
            match attribute.name.split_once(':') {
                Some(("xmlns", prefix)) => self.namespaces.declare(prefix, &unescape(attribute.value)),
                None if attribute.name == "xmlns" => self.namespaces.declare("", &unescape(attribute.value)),
                _ => {}
            }
        }
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let Some(namespace) = self.namespaces.resolve(prefix).map(str::to_owned) else {
            return Err(self.complaint(
                at,
                format!("the prefix of <{name}> is not declared"),
                "declare it with xmlns:…",
            ));
        };
        if is_root {
            self.root(name, &namespace, attributes, at)?;
        }
        if is_among(WRITERS, &namespace, local) {
            return Err(self.complaint(
                at,
                format!("<{name}> writes a file; a crosswalk may only write its result"),
                "a stylesheet without it",
            ));
        }
        let is_expressive = EXPRESSIVE.iter().any(|known| namespace.starts_with(known));
        let is_declaration = |name: &str| name == "xmlns" || name.starts_with("xmlns:");
        for attribute in attributes.iter().filter(|attribute| !is_declaration(attribute.name)) {
            let value = unescape(attribute.value);
            if attribute.name == "xml:base" || self.attribute_is(attribute, XML, "base") {
                return Err(self.complaint(
                    attribute.offset,
                    "xml:base says where to read from".to_owned(),
                    "take it out",
                ));
            }
            if is_expressive || value.contains('{') {
                self.expression(&value, attribute.offset)?;
            }
        }
        if namespace == XSL && matches!(local, "import" | "include") {
            self.import(name, attributes, at)?;
        }
        Ok(())
    }

    /// The root is a stylesheet, or the result itself, of a version that can be run.
    fn root(&self, name: &str, namespace: &str, attributes: &[Attribute<'_>], at: usize) -> Result<(), Complaint> {
        let is_stylesheet = namespace == XSL && matches!(name.rsplit(':').next(), Some("stylesheet" | "transform"));
        let version = attributes.iter().find(|attribute| match is_stylesheet {
            true => attribute.name == "version",
            false => self.attribute_is(attribute, XSL, "version"),
        });
        let Some(version) = version else {
            return Err(match is_stylesheet {
                true => self.complaint(
                    at,
                    "it does not say its version".to_owned(),
                    "version=\"1.0\" in its root",
                ),
                false => self.complaint(
                    at,
                    format!("it is not an XSLT stylesheet: its root is <{name}>"),
                    &format!("<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"{XSL}\">"),
                ),
            });
        };
        match version.value.trim().parse::<f64>() {
            Ok(number) if (1.0..2.0).contains(&number) => Ok(()),
            _ => Err(self.complaint(
                version.offset,
                format!("it is of XSLT version {}; xsltproc runs 1.0", version.value),
                "the stylesheet's edition for XSLT 1.0, if there is one, or a mapping",
            )),
        }
    }

    fn attribute_is(&self, attribute: &Attribute<'_>, namespace: &str, local: &str) -> bool {
        attribute
            .name
            .split_once(':')
            .is_some_and(|(prefix, written)| written == local && self.namespaces.resolve(prefix) == Some(namespace))
    }

    fn import(&mut self, name: &str, attributes: &[Attribute<'_>], at: usize) -> Result<(), Complaint> {
        let Some(href) = attributes.iter().find(|attribute| attribute.name == "href") else {
            return Err(self.complaint(at, format!("<{name}> does not say what"), "href=\"FILE\""));
        };
        self.imports.push(Import {
            href: unescape(href.value).into_owned(),
            place: href.value_offset..href.value_offset + href.value.len(),
            line: line_at(self.text, at),
        });
        Ok(())
    }

    /// Whether an expression, or text with expressions in it, reads elsewhere or could.
    fn expression(&self, value: &str, at: usize) -> Result<(), Complaint> {
        // Whatever stands before the word: libxslt reads `5 moddocument(…)` as `5 mod document(…)`.
        for (found, word) in value.match_indices("document") {
            if let Some(arguments) = arguments(&value[found + word.len()..])
                && !is_itself(arguments)
            {
                return Err(self.complaint(
                    at,
                    "document() reads another file; a crosswalk may only read its record".to_owned(),
                    "put what it reads into the stylesheet, where document('') finds it",
                ));
            }
        }
        for (namespace, functions) in EVALUATORS {
            for function in *functions {
                for (found, word) in value.match_indices(function) {
                    let is_called = arguments(&value[found + word.len()..]).is_some();
                    if is_called && self.is_of(&value[..found], namespace) {
                        return Err(self.complaint(
                            at,
                            format!("{function}() makes an expression out of text, which cannot be inspected"),
                            "write the expression itself",
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a text ends with a prefix of this namespace and its colon; words may stand right before it, as above.
    fn is_of(&self, before: &str, namespace: &str) -> bool {
        let Some(before) = before.strip_suffix(':') else {
            return false;
        };
        let ends = before.char_indices().map(|(at, _)| &before[at..]);
        ends.rev()
            .take_while(|prefix| {
                prefix
                    .chars()
                    .all(|sign| sign.is_alphanumeric() || "_-.".contains(sign) || !sign.is_ascii())
            })
            .any(|prefix| self.namespaces.resolve(prefix) == Some(namespace))
    }

    fn complaint(&self, at: usize, what: String, remedy: &str) -> Complaint {
        Complaint::new(line_at(self.text, at), what, remedy)
    }
}

/// What follows the parenthesis, if one follows the name of a function.
fn arguments(after: &str) -> Option<&str> {
    after.trim_start_matches([' ', '\t', '\r', '\n']).strip_prefix('(')
}

/// The stylesheet itself, `document('')`, and nothing relative to anything: the copy that is run holds nothing more
/// than what was inspected.
fn is_itself(arguments: &str) -> bool {
    let arguments = arguments.trim_start();
    let after = arguments.strip_prefix("''").or_else(|| arguments.strip_prefix("\"\""));
    after.is_some_and(|after| after.trim_start().starts_with(')'))
}

fn is_among(table: &[(&str, &[&str])], namespace: &str, local: &str) -> bool {
    table
        .iter()
        .any(|(known, names)| *known == namespace && names.contains(&local))
}

#[cfg(test)]
mod tests;
