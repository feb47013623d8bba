//! A whole document beside a model: where it first leaves it.

use super::{Breach, Checker, Model, Seen};
use crate::Namespaces;
use crate::fragment::{declared_prefix, split};
use crate::scan::{Scanner, Token, unescape};

/// The first thing in a document that a model does not allow, and the byte it begins at. What is not XML, or has another
/// root than the model, is for others to judge.
#[must_use]
pub fn first_breach(xml: &str, model: &'static Model) -> Option<(usize, Breach)> {
    let mut walk = Walk {
        checker: Checker::of(model),
        namespaces: Namespaces::none(),
        open: Vec::new(),
    };
    let mut scanner = Scanner::new(xml);
    while let Ok(Some(token)) = scanner.next_token() {
        if let Err(breach) = walk.step(&token, &scanner) {
            return Some((scanner.token_start(), breach));
        }
    }
    None
}

struct Walk {
    checker: Checker,
    namespaces: Namespaces,
    /// How many declarations were in force before each open element.
    open: Vec<usize>,
}

impl Walk {
    fn step(&mut self, token: &Token<'_>, scanner: &Scanner<'_>) -> Result<(), Breach> {
        match *token {
            Token::Start { name, empty } => {
                self.start(name, scanner)?;
                if empty { self.end() } else { Ok(()) }
            }
            Token::End { .. } => self.end(),
            Token::Text(raw) | Token::Section(raw) => self.checker.text(raw),
            Token::Comment | Token::Instruction | Token::Declaration => Ok(()),
        }
    }

    fn start(&mut self, name: &str, scanner: &Scanner<'_>) -> Result<(), Breach> {
        self.open.push(self.namespaces.len());
        for attribute in scanner.attributes() {
            if let Some(prefix) = declared_prefix(attribute.name) {
                self.namespaces.declare(prefix, &unescape(attribute.value));
            }
        }
        let (prefix, local) = split(name);
        let namespaces = &self.namespaces;
        self.checker.start(&Seen {
            name,
            namespace: namespaces.resolve(prefix).unwrap_or_default(),
            local,
            attributes: scanner.attributes(),
            resolve: &|prefix| namespaces.resolve(prefix),
        })
    }

    fn end(&mut self) -> Result<(), Breach> {
        if let Some(before) = self.open.pop() {
            self.namespaces.truncate(before);
        }
        self.checker.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::of_answers;
    use super::*;

    const ANSWER: &str = "<?xml version='1.0'?><o:OAI-PMH xmlns:o='http://www.openarchives.org/OAI/2.0/'>\
        <o:responseDate>2024-05-31T09:30:00Z</o:responseDate>\
        <o:request verb='ListRecords' metadataPrefix='oai_dc' set='a:b' from='2024-05-31'>http://example.org/oai</o:request>\
        <o:ListRecords><o:record><o:header><o:identifier>oai:example.org:1</o:identifier>\
        <o:datestamp>2024-05-31</o:datestamp><o:setSpec>a:b</o:setSpec></o:header>\
        <o:metadata><x xmlns='urn:x'><y>text</y></x></o:metadata><o:about/></o:record>\
        <o:record><o:header status='deleted'><o:identifier>oai:example.org:2</o:identifier>\
        <o:datestamp>2024-05-31T09:30:00Z</o:datestamp></o:header></o:record>\
        <o:resumptionToken cursor='0' completeListSize='2'/></o:ListRecords></o:OAI-PMH>";

    fn told(from: &str, to: &str) -> String {
        assert!(ANSWER.contains(from), "{from}");
        let changed = ANSWER.replacen(from, to, 1);
        let (offset, breach) = first_breach(&changed, of_answers()).expect("this is wrong");
        assert!(offset < changed.len());
        breach.to_string()
    }

    #[test]
    fn a_good_answer_is_taken_whatever_its_prefix() {
        assert_eq!(first_breach(ANSWER, of_answers()), None);
        let unprefixed = ANSWER.replace("xmlns:o=", "xmlns=").replace("o:", "");
        assert_eq!(first_breach(&unprefixed, of_answers()), None);
        assert_eq!(first_breach("<html><body/></html>", of_answers()), None);
    }

    #[test]
    fn what_the_schema_refuses_is_told_with_its_place() {
        for (from, to, expected) in [
            (
                "status='deleted'",
                "status='Deleted'",
                "OAI-PMH/ListRecords/record/header@status is",
            ),
            ("set='a:b'", "submit='a'", "OAI-PMH/request@submit is not an attribute"),
            ("from='2024-05-31'", "from='yesterday'", "OAI-PMH/request@from is"),
            ("<o:setSpec>a:b", "<o:setSpec>a b", "record/header/setSpec is"),
            (
                "<o:about/>",
                "<o:nonsense/>",
                "record/nonsense is not an element of OAI-PMH",
            ),
            ("cursor='0'", "cursor='-1'", "resumptionToken@cursor is"),
            ("<o:metadata>", "text<o:metadata>", "record has text between"),
            (
                "<o:identifier>oai:example.org:1</o:identifier>",
                "",
                "header: identifier is missing",
            ),
        ] {
            let breach = told(from, to);
            assert!(breach.contains(expected), "{breach}");
        }
    }
}
