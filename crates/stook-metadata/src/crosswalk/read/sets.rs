//! Reading rules for sets: the lines of a mapping, with a set where a mapping has an element.

use super::cursor::Cursor;
use super::{Line, MappingError, Reader, UNEVEN, known};
use crate::clean;
use crate::crosswalk::mapping::{Means, Modifier};
use crate::format::Formats;
use crate::sets::{Names, OAI_PMH_NAMESPACE, SetRule, SetRules, Target};

const HEAD: &str = "rules for sets begin with the format they read, such as: sets from oai_dc";

impl SetRules {
    /// Reads rules over one of these formats.
    ///
    /// # Errors
    /// The first thing in them that makes no sense, with its line.
    pub fn read(text: &str, formats: &Formats) -> Result<SetRules, MappingError> {
        let lines: Vec<Line<'_>> = text.lines().enumerate().filter_map(Line::read).collect();
        let Some((head, lines)) = lines.split_first() else {
            let message = "there are no rules here. Try: sets from oai_dc".into();
            return Err(MappingError { line: 1, message });
        };
        let from = head.read_with(|cursor| {
            cursor.word_is("sets", HEAD)?;
            cursor.word_is("from", HEAD)?;
            known(formats, cursor.word("the format to read")?)
        })?;
        let mut reader = Reader::new(lines, from, from);
        let identifier = ("oai".to_owned(), OAI_PMH_NAMESPACE.to_owned());
        reader.namespaces.push(identifier);
        reader.read_namespaces()?;
        let (rules, names) = reader.read_sets()?;
        reader.check_tables()?;
        let said = std::iter::once(head).chain(lines);
        Ok(SetRules {
            from: from.prefix.clone(),
            rules,
            names,
            means: Means {
                drops_sorting_marks: reader.source.is_marc,
                tables: reader.tables,
            },
            text: said
                .map(|line| format!("{:1$}{2}\n", "", line.indent, line.text))
                .collect(),
        })
    }
}

impl<'t> Reader<'_, 't> {
    fn read_sets(&mut self) -> Result<(Vec<SetRule>, Names), MappingError> {
        let mut rules = Vec::new();
        let mut names = Names::default();
        let mut named = Vec::new();
        let mut indent = None;
        while let Some(line) = self.lines.get(self.at) {
            self.at += 1;
            if *indent.get_or_insert(line.indent) != line.indent {
                return Err(line.fails(UNEVEN.into()));
            }
            if line.text.starts_with("table ") {
                self.read_table(line)?;
            } else if line.text == "names" {
                self.read_names(line, &mut names, &mut named)?;
            } else {
                let rule = line.read_with(|cursor| self.set_rule(cursor))?;
                self.uses_tables(&rule.changes, line.number);
                rules.push(rule);
            }
        }
        if let Some((spec, line)) = named
            .iter()
            .find(|(spec, _)| !rules.iter().any(|rule| rule.target.leads_to(spec)))
        {
            let message = format!("no rule makes the set {spec}. Try: the name of a set that stands behind a ->");
            return Err(MappingError { line: *line, message });
        }
        Ok((rules, names))
    }

    /// `SOURCE -> SET CHANGES`.
    fn set_rule(&self, cursor: &mut Cursor<'t>) -> Result<SetRule, String> {
        let source = self.source(cursor)?;
        if !cursor.takes("->") {
            return Err(match cursor.takes("=>") {
                true => "rules for sets have no groups. Try: -> instead of =>".into(),
                false => format!(
                    "-> is missing before {:?}. Try: date -> year:{{}} year",
                    cursor.rest.trim_start()
                ),
            });
        }
        let target = Target::parse(cursor.word("a set, such as theses or year:{},")?)?;
        let changes = self.modifiers(cursor)?;
        for change in &changes {
            let word = match change {
                Modifier::Required => "required",
                Modifier::With(_) => "with",
                _ => continue,
            };
            return Err(format!("{word} makes no sense for a set. Try: the line without it"));
        }
        Ok(SetRule::new(source, changes, target))
    }

    /// `names`, and indented below it `SET -> NAME`.
    fn read_names(
        &mut self,
        head: &Line<'t>,
        names: &mut Names,
        named: &mut Vec<(String, usize)>,
    ) -> Result<(), MappingError> {
        let before = self.at;
        while let Some(line) = self.lines.get(self.at).filter(|line| line.indent > head.indent) {
            let (spec, name) = line.read_with(|cursor| {
                let spec = cursor.value("a set")?;
                if !cursor.takes("->") {
                    return Err("the name of a set is written SET -> NAME".into());
                }
                Ok((spec, cursor.value("its name")?))
            })?;
            let name = clean::text(&name).text.trim().to_owned();
            if name.is_empty() {
                return Err(line.fails(format!("the name of {spec} is empty")));
            }
            let is_one = names.insert(&spec, name).map_err(|message| line.fails(message))?;
            if is_one {
                named.push((spec, line.number));
            }
            self.at += 1;
        }
        match self.at == before {
            true => Err(head.fails("there are no names. Try: SET -> \"NAME\", indented below it".into())),
            false => Ok(()),
        }
    }
}
