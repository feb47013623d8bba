//! Reading a mapping: lines of words, indentation for what belongs together.

mod cursor;
mod paths;
mod sets;
mod words;

use std::collections::HashMap;

use cursor::Cursor;

use super::mapping::{Becomes, Mapping, Means, Modifier, Rule, Source, Table, Which};
use super::path::Name;
use super::{KNOWN_NAMESPACES, element_namespace, is_marc};
use crate::format::{Format, Formats};

/// Rules below rules below rules: more than anybody can read.
const MAX_LEVELS: usize = 20;

const UNEVEN: &str = "the indentation fits no line above. Try: the same blanks for rules that belong together";

/// What is wrong with a mapping, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct MappingError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there, and what to try.
    pub message: String,
}

impl Mapping {
    /// Reads a mapping between two of these formats.
    ///
    /// # Errors
    /// The first thing in it that makes no sense, with its line.
    pub fn read(text: &str, formats: &Formats) -> Result<Mapping, MappingError> {
        let lines: Vec<Line<'_>> = text.lines().enumerate().filter_map(Line::read).collect();
        let Some((head, lines)) = lines.split_first() else {
            return Err(MappingError {
                line: 1,
                message: "this mapping is empty. Try: map marc21 to oai_dc".into(),
            });
        };
        let (from, to) = head.read_with(|cursor| {
            cursor.word_is(
                "map",
                "a mapping begins with its formats, such as: map marc21 to oai_dc",
            )?;
            let from = known(formats, cursor.word("the format to read")?)?;
            cursor.word_is("to", "two formats are needed, such as: map marc21 to oai_dc")?;
            Ok((from, known(formats, cursor.word("the format to write")?)?))
        })?;
        let mut reader = Reader::new(lines, from, to);
        reader.read_namespaces()?;
        let rules = reader.read_rules(0, 0)?;
        reader.check_tables()?;
        let root = &to.roots[0];
        Ok(Mapping {
            from: from.prefix.to_string(),
            to: to.prefix.to_string(),
            root: Name {
                namespace: root.namespace.to_string(),
                local: Some(root.name.to_string()),
            },
            namespaces: reader.namespaces,
            rules,
            means: Means {
                tables: reader.tables,
                drops_sorting_marks: reader.source.is_marc && !reader.target.is_marc,
            },
        })
    }
}

fn known<'f>(formats: &'f Formats, prefix: &str) -> Result<&'f Format, String> {
    formats
        .by_prefix(prefix)
        .ok_or_else(|| format!("there is no format {prefix}. Try: stook format list, or declare it under [[format]]"))
}

/// How names without a prefix are understood.
struct Side {
    namespace: String,
    is_marc: bool,
}

impl Side {
    fn of(format: &Format) -> Side {
        Side {
            namespace: element_namespace(format).to_owned(),
            is_marc: is_marc(format),
        }
    }
}

/// One line that says something.
struct Line<'t> {
    number: usize,
    indent: usize,
    text: &'t str,
}

impl<'t> Line<'t> {
    fn read((at, line): (usize, &'t str)) -> Option<Line<'t>> {
        let text = without_comment(line).trim_end();
        let trimmed = text.trim_start();
        (!trimmed.is_empty()).then(|| Line {
            number: at + 1,
            // A tab counts as four blanks, as editors show it.
            indent: text[..text.len() - trimmed.len()]
                .chars()
                .map(|blank| if blank == '\t' { 4 } else { 1 })
                .sum(),
            text: trimmed,
        })
    }

    fn fails(&self, message: String) -> MappingError {
        MappingError {
            line: self.number,
            message,
        }
    }

    /// Reads the whole line.
    fn read_with<T>(&self, read: impl FnOnce(&mut Cursor<'t>) -> Result<T, String>) -> Result<T, MappingError> {
        let mut cursor = Cursor { rest: self.text };
        let read = read(&mut cursor).and_then(|read| match cursor.rest.trim_start() {
            "" => Ok(read),
            rest => Err(format!("{rest:?} is not understood")),
        });
        read.map_err(|message| self.fails(message))
    }
}

/// Everything before a `#` that is not inside quotation marks.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (at, character) in line.char_indices() {
        match character {
            '"' => quoted = !quoted,
            // Not in the middle of a word, as in a namespace.
            '#' if !quoted && line[..at].chars().next_back().is_none_or(char::is_whitespace) => return &line[..at],
            _ => {}
        }
    }
    line
}

struct Reader<'l, 't> {
    lines: &'l [Line<'t>],
    at: usize,
    namespaces: Vec<(String, String)>,
    source: Side,
    target: Side,
    tables: HashMap<String, Table>,
    /// The tables that rules name, and in which lines.
    used: Vec<(String, usize)>,
}

impl<'l, 't> Reader<'l, 't> {
    fn new(lines: &'l [Line<'t>], from: &Format, to: &Format) -> Reader<'l, 't> {
        Reader {
            lines,
            at: 0,
            namespaces: KNOWN_NAMESPACES
                .iter()
                .map(|(prefix, uri)| ((*prefix).to_owned(), (*uri).to_owned()))
                .collect(),
            source: Side::of(from),
            target: Side::of(to),
            tables: HashMap::new(),
            used: Vec::new(),
        }
    }

    /// Every table that a rule names must be there.
    fn check_tables(&self) -> Result<(), MappingError> {
        let Some((name, line)) = self.used.iter().find(|(name, _)| !self.tables.contains_key(name)) else {
            return Ok(());
        };
        let message =
            format!("there is no table {name}. Try: a line \"table {name}\" with its values indented below it");
        Err(MappingError { line: *line, message })
    }

    /// Remembers which tables the changes of a line name.
    fn uses_tables(&mut self, changes: &[Modifier], line: usize) {
        let named = changes.iter().filter_map(|change| match change {
            Modifier::Table(name) => Some((name.clone(), line)),
            _ => None,
        });
        self.used.extend(named);
    }

    /// `namespace PREFIX "URI"`, before the rules that use it.
    fn read_namespaces(&mut self) -> Result<(), MappingError> {
        while let Some(line) = self
            .lines
            .get(self.at)
            .filter(|line| line.text.starts_with("namespace "))
        {
            let (prefix, uri) = line.read_with(|cursor| {
                cursor.word_is("namespace", "")?;
                let prefix = cursor.word("a prefix")?.to_owned();
                Ok((prefix, cursor.string("its namespace in quotation marks")?))
            })?;
            self.namespaces.retain(|(known, _)| *known != prefix);
            self.namespaces.push((prefix, uri));
            self.at += 1;
        }
        Ok(())
    }

    /// Rules that are indented at least so far, and all alike.
    fn read_rules(&mut self, least: usize, level: usize) -> Result<Vec<Rule>, MappingError> {
        let mut rules = Vec::new();
        let mut indent = None;
        while let Some(line) = self.lines.get(self.at).filter(|line| line.indent >= least) {
            if *indent.get_or_insert(line.indent) != line.indent {
                return Err(line.fails(UNEVEN.into()));
            }
            self.at += 1;
            if line.text.starts_with("table ") {
                self.read_table(line)?;
                continue;
            }
            if level == MAX_LEVELS {
                return Err(line.fails(format!("rules are indented more than {MAX_LEVELS} levels deep")));
            }
            let mut rule = line.read_with(|cursor| self.rule(cursor))?;
            let below = self.lines.get(self.at).is_some_and(|next| next.indent > line.indent);
            match &mut rule {
                Rule::Group { rules, .. } if below => *rules = self.read_rules(line.indent + 1, level + 1)?,
                Rule::Group { .. } => {
                    let message = "nothing is indented below this line. Try: rules with more blanks before them, or ->";
                    return Err(line.fails(message.into()));
                }
                Rule::Value { changes, .. } if !below => self.uses_tables(changes, line.number),
                _ if below => {
                    let message =
                        "this line is indented although the one above makes no group. Try: => instead of -> above";
                    return Err(self.lines[self.at].fails(message.into()));
                }
                _ => {}
            }
            rules.push(rule);
        }
        Ok(rules)
    }

    /// `table NAME`, and indented below it `VALUE -> VALUE`.
    fn read_table(&mut self, head: &Line<'t>) -> Result<(), MappingError> {
        let name = head.read_with(|cursor| {
            cursor.word_is("table", "")?;
            Ok(cursor.word("the name of the table")?.to_owned())
        })?;
        let mut table = Table::default();
        while let Some(line) = self.lines.get(self.at).filter(|line| line.indent > head.indent) {
            let (value, becomes) = line.read_with(|cursor| {
                let value = cursor.value("a value")?;
                if !cursor.takes("->") {
                    return Err("a row of a table is VALUE -> VALUE".into());
                }
                Ok((value, cursor.value("what becomes of it")?))
            })?;
            let becomes = match becomes.as_str() {
                "*" => Becomes::Kept,
                _ => Becomes::Replaced(becomes),
            };
            match value.as_str() {
                "*" => table.other = Some(becomes),
                _ if value.contains('*') => table.patterns.push((value, becomes)),
                _ => drop(table.rows.insert(value, becomes)),
            }
            self.at += 1;
        }
        if table.rows.is_empty() && table.patterns.is_empty() && table.other.is_none() {
            return Err(head.fails(format!(
                "the table {name} is empty. Try: VALUE -> VALUE, indented below it"
            )));
        }
        self.tables.insert(name, table);
        Ok(())
    }

    /// Where values come from: a text that is always the same, or paths.
    fn source(&self, cursor: &mut Cursor<'t>) -> Result<Source, String> {
        if let Some(constant) = cursor.string_if_any()? {
            return Ok(Source::Constant(constant));
        }
        let mut paths = vec![self.path(cursor)?];
        while cursor.takes(",") {
            paths.push(self.path(cursor)?);
        }
        Ok(Source::Paths(paths))
    }

    fn rule(&self, cursor: &mut Cursor<'t>) -> Result<Rule, String> {
        if cursor.takes_word("copy") {
            let source = self.path(cursor)?;
            return Ok(Rule::Copy { source });
        }
        let source = self.source(cursor)?;
        if cursor.takes("->") {
            let target = self.target(cursor)?;
            let mut changes = self.modifiers(cursor)?;
            let all = changes.len();
            changes.retain(|change| !matches!(change, Modifier::Required));
            return Ok(Rule::Value {
                source,
                target,
                required: changes.len() < all,
                changes,
            });
        }
        let Source::Paths(sources) = source else {
            return Err("after a constant comes -> and where it goes".into());
        };
        if !cursor.takes("=>") {
            return Err(format!(
                "-> or => is missing before {:?}. Try: title -> dc:title",
                cursor.rest.trim_start()
            ));
        }
        let target = self.target(cursor)?;
        let (mut conditions, mut which, mut required) = (Vec::new(), Which::All, false);
        for change in self.modifiers(cursor)? {
            match change {
                Modifier::When(more) => conditions.extend(more),
                Modifier::First => which = Which::First,
                Modifier::Rest => which = Which::Rest,
                Modifier::Required => required = true,
                _ => {
                    let message = "a group takes only when, unless, first, rest and required. Try: the rest at the rules below it";
                    return Err(message.into());
                }
            }
        }
        Ok(Rule::Group {
            sources,
            target,
            conditions,
            which,
            required,
            rules: Vec::new(),
        })
    }
}
