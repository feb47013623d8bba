//! Reading a mapping: lines of words, indentation for what belongs together.

use std::collections::HashMap;

use super::mapping::{Mapping, Modifier, NewElement, Other, Rule, Source, Table, Target};
use super::path::{Comparison, Condition, End, Name, Path, Step, Test};
use super::{KNOWN_NAMESPACES, element_namespace, is_marc};
use crate::format::{Format, Formats};

/// Rules below rules below rules: more than anybody can read.
const MAX_LEVELS: usize = 20;

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
        let mut reader = Reader {
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
        };
        reader.read_namespaces()?;
        let rules = reader.read_rules(0, 0)?;
        if let Some((name, line)) = reader.used.iter().find(|(name, _)| !reader.tables.contains_key(name)) {
            let message =
                format!("there is no table {name}. Try: a line \"table {name}\" with its values indented below it");
            return Err(MappingError { line: *line, message });
        }
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
            tables: reader.tables,
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
                let message = "the indentation fits no line above. Try: the same blanks for rules that belong together";
                return Err(line.fails(message.into()));
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
                Rule::Value { changes, .. } if !below => {
                    let named = changes.iter().filter_map(|change| match change {
                        Modifier::Table(name) => Some((name.clone(), line.number)),
                        _ => None,
                    });
                    self.used.extend(named);
                }
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
            match (value.as_str(), becomes.as_str()) {
                ("*", "*") => table.other = Some(Other::Kept),
                ("*", _) => table.other = Some(Other::Replaced(becomes)),
                _ => drop(table.rows.insert(value, becomes)),
            }
            self.at += 1;
        }
        if table.rows.is_empty() && table.other.is_none() {
            return Err(head.fails(format!(
                "the table {name} is empty. Try: VALUE -> VALUE, indented below it"
            )));
        }
        self.tables.insert(name, table);
        Ok(())
    }

    fn rule(&self, cursor: &mut Cursor<'t>) -> Result<Rule, String> {
        if cursor.takes_word("copy") {
            let source = self.path(cursor)?;
            return Ok(Rule::Copy { source });
        }
        let source = match cursor.string_if_any()? {
            Some(constant) => Source::Constant(constant),
            None => {
                let mut paths = vec![self.path(cursor)?];
                while cursor.takes(",") {
                    paths.push(self.path(cursor)?);
                }
                Source::Paths(paths)
            }
        };
        if cursor.takes("->") {
            let target = self.target(cursor)?;
            let changes = self.modifiers(cursor)?;
            return Ok(Rule::Value {
                source,
                target,
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
        let (mut conditions, mut only_first) = (Vec::new(), false);
        for change in self.modifiers(cursor)? {
            match change {
                Modifier::When(more) => conditions.extend(more),
                Modifier::First => only_first = true,
                _ => {
                    return Err(
                        "a group takes only when, unless and first. Try: the rest at the rules below it".into(),
                    );
                }
            }
        }
        Ok(Rule::Group {
            sources,
            target,
            conditions,
            only_first,
            rules: Vec::new(),
        })
    }

    fn modifiers(&self, cursor: &mut Cursor<'t>) -> Result<Vec<Modifier>, String> {
        let mut modifiers = Vec::new();
        while !cursor.rest.trim_start().is_empty() {
            let word = cursor.word("a word such as join, split, trim, table or when")?;
            modifiers.push(match word {
                "trim" => Modifier::Trim(cursor.string("the characters to trim")?),
                "split" => Modifier::Split(some(cursor.string("what separates the values")?)?),
                "join" => Modifier::Join(cursor.string("what to put between the values")?),
                "table" => Modifier::Table(cursor.word("the name of a table")?.to_owned()),
                "first" => Modifier::First,
                "last" => Modifier::Last,
                "distinct" => Modifier::Distinct,
                "as" => Modifier::As(cursor.string("a text in which {} stands for the value")?),
                "replace" => {
                    let old = some(cursor.string("what to replace")?)?;
                    Modifier::Replace(old, cursor.string("what to put in its place")?)
                }
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
                        "{other:?} is not understood. Try: trim, split, join, table, first, last, distinct, as, replace, \
                         upper, lower, default, when, unless or with"
                    ));
                }
            });
        }
        Ok(modifiers)
    }

    /// Conditions that must all hold; of which none may, if `negated`: then it can only be one.
    fn conditions(&self, cursor: &mut Cursor<'t>, negated: bool) -> Result<Vec<Condition>, String> {
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

    fn path(&self, cursor: &mut Cursor<'t>) -> Result<Path, String> {
        cursor.skip_blanks();
        let mut path = Path::here();
        if cursor.takes(".") {
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
                path.steps.push(Step { name, conditions });
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
            let is_tag = word.len() == 3 && word.chars().all(|sign| sign.is_ascii_digit() || sign == 'X');
            match word {
                "leader" => steps.push(self.marc_step("leader", Vec::new())),
                // In brackets: an indicator.
                "1" | "2" => return Err(format!("an indicator is written @ind{word}")),
                _ if is_tag => {
                    let element = if word.starts_with("00") {
                        "controlfield"
                    } else {
                        "datafield"
                    };
                    let tag = match word.contains('X') {
                        true => is_one_of("tag", Comparison::Like, vec![word.replace('X', "?")]),
                        false => is_one_of("tag", Comparison::Is, vec![word.to_owned()]),
                    };
                    let mut step = self.marc_step(element, vec![tag]);
                    step.conditions.extend(self.bracketed(cursor)?);
                    steps.push(step);
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
        let name = Name {
            namespace: self.source.namespace.clone(),
            local: Some(local.to_owned()),
        };
        Step { name, conditions }
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

    fn target(&self, cursor: &mut Cursor<'t>) -> Result<Target, String> {
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
            let name = self.name(cursor, &self.target)?;
            if name.local.is_none() {
                return Err("* is no element that could be made".into());
            }
            let mut attributes = Vec::new();
            while cursor.takes_at_once("[") {
                if !cursor.takes("@") {
                    return Err("an attribute of the new element is written [@name=\"value\"]".into());
                }
                let name = self.attribute_name(cursor)?;
                if !cursor.takes("=") {
                    return Err("an attribute of the new element is written [@name=\"value\"]".into());
                }
                attributes.push((name, cursor.string("a value in quotation marks")?));
                if !cursor.takes("]") {
                    return Err("] is missing".into());
                }
            }
            target.elements.push(NewElement { name, attributes });
            if !cursor.takes_at_once("/") {
                return Ok(target);
            }
        }
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
        Ok(Name {
            namespace,
            local: Some(local.to_owned()),
        })
    }

    fn attribute_name(&self, cursor: &mut Cursor<'t>) -> Result<Name, String> {
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
    let name = Name {
        namespace: String::new(),
        local: Some(attribute.to_owned()),
    };
    Condition {
        path: Path {
            steps: Vec::new(),
            end: End::Attribute(name),
        },
        test: Some(Test { comparison, with }),
        negated: false,
    }
}

fn is_xml_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|next| next.is_alphanumeric() || matches!(next, '_' | '-' | '.'))
}

fn some(text: String) -> Result<String, String> {
    match text.as_str() {
        "" => Err("an empty text makes no sense here".into()),
        _ => Ok(text),
    }
}

/// What is left of a line.
struct Cursor<'t> {
    rest: &'t str,
}

impl<'t> Cursor<'t> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Takes these signs, blanks before them too.
    fn takes(&mut self, signs: &str) -> bool {
        match self.rest.trim_start().strip_prefix(signs) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes these signs if they come at once.
    fn takes_at_once(&mut self, signs: &str) -> bool {
        match self.rest.strip_prefix(signs) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes a word that has an end.
    fn takes_word(&mut self, word: &str) -> bool {
        match self.rest.trim_start().strip_prefix(word) {
            Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn word_is(&mut self, word: &str, otherwise: &str) -> Result<(), String> {
        match self.takes_word(word) {
            true => Ok(()),
            false => Err(otherwise.to_owned()),
        }
    }

    /// Everything up to a blank.
    fn word(&mut self, what: &str) -> Result<&'t str, String> {
        self.skip_blanks();
        let end = self.rest.find(char::is_whitespace).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "" => Err(format!("{what} is missing")),
            word => Ok(word),
        }
    }

    /// What can belong to a name, which may be nothing.
    fn name(&mut self) -> &'t str {
        let belongs = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.' | ':');
        let mut end = self.rest.find(|sign| !belongs(sign)).unwrap_or(self.rest.len());
        // The minus of an arrow is none of a name.
        if self.rest[end..].starts_with('>') && self.rest[..end].ends_with('-') {
            end -= 1;
        }
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    /// `"text"`; two quotation marks inside stand for one.
    fn string(&mut self, what: &str) -> Result<String, String> {
        self.string_if_any()?
            .ok_or_else(|| format!("{what} is missing, in quotation marks"))
    }

    fn string_if_any(&mut self) -> Result<Option<String>, String> {
        if !self.takes("\"") {
            return Ok(None);
        }
        let mut text = String::new();
        loop {
            let Some((before, after)) = self.rest.split_once('"') else {
                return Err("a quotation mark is not closed".into());
            };
            text.push_str(before);
            self.rest = after;
            if !self.takes_at_once("\"") {
                return Ok(Some(text));
            }
            text.push('"');
        }
    }

    /// A text in quotation marks, or a word.
    fn value(&mut self, what: &str) -> Result<String, String> {
        match self.string_if_any()? {
            Some(text) => Ok(text),
            None => Ok(self.word(what)?.to_owned()),
        }
    }

    /// `35-37` or `6`.
    fn range(&mut self) -> Result<(usize, usize), String> {
        let written = self.name();
        let (first, last) = written.split_once('-').unwrap_or((written, written));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok((first, last)),
            _ => Err(format!("{written:?} is no range of characters, such as 35-37")),
        }
    }
}
