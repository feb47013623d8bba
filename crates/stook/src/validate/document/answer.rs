//! The parts of an answer, by their names in the protocol.

use stook_oai::ErrorCode;

use super::{Document, Element, OAI};

/// A header as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) identifier: String,
    pub(crate) datestamp: String,
    pub(crate) set_specs: Vec<String>,
    pub(crate) deleted: bool,
}

/// A resumptionToken as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// Empty at the end of a list.
    pub(crate) value: String,
    pub(crate) expiration_date: Option<String>,
    pub(crate) complete_list_size: Option<String>,
    pub(crate) cursor: Option<String>,
}

impl Document {
    /// The envelope, if that is what the root is.
    pub(crate) fn envelope(&self) -> Option<&Element> {
        self.root.as_ref().filter(|root| root.is(OAI, "OAI-PMH"))
    }

    pub(crate) fn response_date(&self) -> Option<String> {
        self.envelope()?.child("responseDate").map(Element::exact_text)
    }

    pub(crate) fn request(&self) -> Option<&Element> {
        self.envelope()?.child("request")
    }

    /// Codes and texts of the errors.
    pub(crate) fn errors(&self) -> Vec<(String, String)> {
        let errors = self.envelope().into_iter().flat_map(|envelope| envelope.named("error"));
        errors
            .map(|error| (error.attribute("", "code").unwrap_or_default().to_owned(), error.text()))
            .collect()
    }

    pub(crate) fn has_error(&self, code: ErrorCode) -> bool {
        self.errors().iter().any(|(found, _)| found == code.as_str())
    }

    /// The element of the verb that was answered.
    pub(crate) fn payload(&self) -> Option<&Element> {
        let mut children = self.envelope()?.elements();
        children.find(|element| &*element.namespace == OAI && stook_oai::Verb::parse(element.local()).is_some())
    }

    /// What a harvester would store: the parts of the payload as they are written, apart from its token.
    pub(crate) fn parts(&self) -> Option<Vec<&str>> {
        let parts = self.payload()?.elements();
        let stored = parts.filter(|part| part.local() != "resumptionToken");
        Some(stored.map(|part| self.written(part)).collect())
    }

    /// The records of ListRecords and GetRecord.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Element> {
        self.payload().into_iter().flat_map(|payload| payload.named("record"))
    }

    /// The header elements of any list, and of GetRecord.
    pub(crate) fn header_elements(&self) -> impl Iterator<Item = &Element> {
        let direct = self.payload().into_iter().flat_map(|payload| payload.named("header"));
        let inside = self.records().flat_map(|record| record.named("header"));
        direct.chain(inside)
    }

    /// The headers of any list, and of GetRecord.
    pub(crate) fn headers(&self) -> impl Iterator<Item = Header> {
        self.header_elements().map(Header::of)
    }

    /// The resumptionToken; the first, if there are several.
    pub(crate) fn token(&self) -> Option<Token> {
        self.payload()?.child("resumptionToken").map(Token::of)
    }
}

impl Header {
    pub(crate) fn of(element: &Element) -> Header {
        Header {
            identifier: element.text_of("identifier").unwrap_or_default(),
            datestamp: element.text_of("datestamp").unwrap_or_default(),
            set_specs: element.named("setSpec").map(Element::text).collect(),
            deleted: element.attribute("", "status") == Some("deleted"),
        }
    }
}

impl Token {
    fn of(element: &Element) -> Token {
        let attribute = |name| element.attribute("", name).map(str::to_owned);
        Token {
            // Blanks around a token are nobody's meaning.
            value: element.text(),
            expiration_date: attribute("expirationDate"),
            complete_list_size: attribute("completeListSize"),
            cursor: attribute("cursor"),
        }
    }
}
