//! What was asked and what came.

use std::fmt;
use std::time::Duration;

use percent_encoding::percent_decode_str;

use super::document::{Document, Flaw};
use crate::count::counted;

/// How something is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Method {
    Get,
    Post,
    Head,
    Put,
    Delete,
}

impl Method {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Head => "HEAD",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
        }
    }
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    pub(crate) method: Method,
    /// The query of the URL, percent-encoded.
    pub(crate) query: String,
    /// Headers beside those that every request has.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The type and the bytes of a body.
    pub(crate) body: Option<(&'static str, String)>,
    /// Whether a server may refuse it over HTTP, without an answer of the protocol.
    pub(crate) may_be_refused: bool,
}

impl Question {
    /// A GET with this query.
    pub(crate) fn get(query: impl Into<String>) -> Question {
        Question {
            method: Method::Get,
            query: query.into(),
            headers: Vec::new(),
            body: None,
            may_be_refused: false,
        }
    }

    /// A POST with these arguments as its form.
    pub(crate) fn post(form: impl Into<String>) -> Question {
        Question {
            method: Method::Post,
            body: Some(("application/x-www-form-urlencoded", form.into())),
            ..Question::get("")
        }
    }

    /// With another method.
    pub(crate) fn by(mut self, method: Method) -> Question {
        self.method = method;
        self
    }

    /// With a header more.
    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Question {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// One that a server may refuse over HTTP.
    pub(crate) fn may_be_refused(mut self) -> Question {
        self.may_be_refused = true;
        self
    }

    /// Names and values, of the query and of the form.
    pub(crate) fn arguments(&self) -> Vec<(String, String)> {
        let form = self.body.as_ref().map_or("", |(_, body)| body.as_str());
        let pairs = self.query.split('&').chain(form.split('&'));
        pairs
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decoded(name), decoded(value))
            })
            .collect()
    }

    /// The value of an argument.
    pub(crate) fn argument(&self, name: &str) -> Option<String> {
        let mut arguments = self.arguments().into_iter();
        arguments.find(|(given, _)| given == name).map(|(_, value)| value)
    }

    /// Whether it asks for Identify and nothing else.
    pub(crate) fn is_identify(&self) -> bool {
        matches!(&self.arguments()[..], [(name, value)] if name == "verb" && value == "Identify")
    }

    /// The verb, if there is one of the protocol.
    pub(crate) fn verb(&self) -> Option<stook_oai::Verb> {
        stook_oai::Verb::parse(&self.argument("verb")?)
    }
}

fn decoded(text: &str) -> String {
    let text = text.replace('+', " ");
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}

/// A step on the way to an answer: a redirect, or "come back later".
#[derive(Debug, Clone)]
pub(crate) struct Hop {
    pub(crate) status: u16,
    /// `Location` of a redirect.
    pub(crate) location: Option<String>,
    /// `Retry-After` of a 503 or 429.
    pub(crate) retry_after: Option<String>,
    /// Where it was asked.
    pub(crate) url: String,
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// As sent, in their order.
    pub(crate) headers: Vec<(String, String)>,
    /// The body, unpacked if it is packed as the headers say.
    pub(crate) body: Vec<u8>,
    /// Bytes as they travelled.
    pub(crate) received: usize,
    /// Why the body is not all there: it broke off, is too large, cannot be unpacked.
    pub(crate) incomplete: Option<String>,
    /// Until the first bytes came, and until all had.
    pub(crate) first_byte: Duration,
    pub(crate) took: Duration,
    /// The body as XML.
    pub(crate) document: Document,
}

impl Answer {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(given, _)| given.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The media type, in lower case, without parameters.
    pub(crate) fn media_type(&self) -> String {
        let content_type = self.header("Content-Type").unwrap_or_default();
        let media_type = content_type.split(';').next().unwrap_or_default();
        media_type.trim().to_ascii_lowercase()
    }

    /// Whether it is something else, and says so: a web page, JSON.
    pub(crate) fn is_of_another_kind(&self) -> bool {
        let media_type = self.media_type();
        let is_xml = media_type.is_empty() || media_type.ends_with("xml") && media_type != "application/xhtml+xml";
        !is_xml && !self.document.flaws.contains(&Flaw::Empty) && self.document.envelope().is_none()
    }
}

/// Why there is no answer.
#[derive(Debug, Clone)]
pub(crate) enum NoAnswer {
    /// It took too long.
    TimedOut(String),
    /// The secure connection failed.
    Insecure(String),
    /// Something between the two programs failed.
    Failed(String),
    /// More redirects than may be followed, or one that leads nowhere.
    LostOnTheWay(String),
    /// Where it leads, nobody may be asked.
    Forbidden(String),
    /// It said "come back later" too often, or too late.
    Postponed(String),
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (NoAnswer::TimedOut(text)
        | NoAnswer::Insecure(text)
        | NoAnswer::Failed(text)
        | NoAnswer::LostOnTheWay(text)
        | NoAnswer::Forbidden(text)
        | NoAnswer::Postponed(text)) = self;
        formatter.write_str(text)
    }
}

/// A question and what came of it.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// From 1, in the order of asking.
    pub(crate) number: u32,
    pub(crate) question: Question,
    /// The URL that was asked first.
    pub(crate) url: String,
    /// Redirects and delays on the way.
    pub(crate) hops: Vec<Hop>,
    pub(crate) outcome: Result<Answer, NoAnswer>,
}

impl Exchange {
    pub(crate) fn answer(&self) -> Option<&Answer> {
        self.outcome.as_ref().ok()
    }

    pub(crate) fn document(&self) -> Option<&Document> {
        self.answer().map(|answer| &answer.document)
    }

    /// The answer, if it is one of the protocol or set out to be: no web page, no HTTP error, nothing that a server may
    /// refuse.
    pub(crate) fn protocol_answer(&self) -> Option<&Answer> {
        let answer = self.answer().filter(|_| !self.question.may_be_refused)?;
        let set_out = answer.status == 200 && !answer.is_of_another_kind();
        (set_out || answer.document.envelope().is_some()).then_some(answer)
    }

    /// The errors of the protocol in it.
    pub(crate) fn errors(&self) -> Vec<(String, String)> {
        self.document().map(Document::errors).unwrap_or_default()
    }

    /// Whether it is an answer of the protocol without errors.
    pub(crate) fn succeeded(&self) -> bool {
        self.document().is_some_and(|document| document.payload().is_some())
    }

    /// What came, in a few words.
    pub(crate) fn in_short(&self) -> String {
        let answer = match &self.outcome {
            Err(nothing) => return format!("no answer: {nothing}"),
            Ok(answer) => answer,
        };
        let document = &answer.document;
        let errors = document.errors();
        if !errors.is_empty() {
            let codes: Vec<&str> = errors.iter().map(|(code, _)| code.as_str()).collect();
            return codes.join(" and ");
        }
        match document.payload() {
            Some(payload) => {
                let name = payload.local();
                let entries = payload
                    .elements()
                    .filter(|element| element.local() != "resumptionToken");
                match name {
                    "Identify" | "GetRecord" => name.to_owned(),
                    _ => format!("{name} with {}", counted(entries.count() as u64, "entry")),
                }
            }
            None if answer.status != 200 => format!("HTTP {}", answer.status),
            None => match answer.media_type().as_str() {
                "" => "something that is no answer of the protocol".to_owned(),
                media_type => format!("something else ({media_type})"),
            },
        }
    }

    /// The request as a command that anybody can repeat.
    pub(crate) fn as_curl(&self) -> String {
        let mut command = String::from("curl -i");
        match self.question.method {
            Method::Get => {}
            Method::Head => command.push_str(" --head"),
            other => command.push_str(&format!(" -X {}", other.as_str())),
        }
        for (name, value) in &self.question.headers {
            command.push_str(&format!(" -H {}", quoted(&format!("{name}: {value}"))));
        }
        if let Some((media_type, body)) = &self.question.body {
            let shown: String = body.chars().take(500).collect();
            command.push_str(&format!(
                " -H {} -d {}",
                quoted(&format!("Content-Type: {media_type}")),
                quoted(&shown)
            ));
        }
        format!("{command} {}", quoted(&self.url))
    }
}

/// For a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_from_the_query_and_the_form() {
        let mut question = Question::post("identifier=a%3Ab+c&x");
        question.query = "verb=GetRecord".into();
        let pairs = [("verb", "GetRecord"), ("identifier", "a:b c"), ("x", "")];
        assert_eq!(
            question.arguments(),
            pairs.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
        assert_eq!(question.verb(), Some(stook_oai::Verb::GetRecord));
    }

    #[test]
    fn a_command_is_safe_to_paste() {
        let exchange = Exchange {
            number: 1,
            question: Question::get("verb='x").with_header("Accept-Encoding", "gzip"),
            url: "http://example.org/oai?verb='x".into(),
            hops: Vec::new(),
            outcome: Err(NoAnswer::Failed("x".into())),
        };
        assert_eq!(
            exchange.as_curl(),
            "curl -i -H 'Accept-Encoding: gzip' 'http://example.org/oai?verb='\\''x'"
        );
    }
}
