//! A good answer, bent by a test's own hand: for faults that are not worth a name.

use std::fmt;
use std::sync::Arc;

use crate::ask::Ask;
use crate::http::{Body, Incoming, Reply};

/// A request, as a bend sees it.
#[derive(Debug)]
pub struct Heard<'a> {
    /// Such as `GET`.
    pub method: &'a str,
    /// The query as it was sent; of a POST its form too.
    pub query: &'a str,
    headers: &'a [(String, String)],
}

impl Heard<'_> {
    /// The value of an argument; the first, if there are several.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<String> {
        Ask::read(self.query).value(name)
    }

    /// The value of a header; case does not count.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        crate::asked::header(self.headers, name)
    }

    /// Whether this verb is asked for.
    #[must_use]
    pub fn is(&self, verb: &str) -> bool {
        self.argument("verb").as_deref() == Some(verb)
    }
}

/// A reply, as a bend changes it.
#[derive(Debug, Clone)]
pub struct Given {
    /// The status.
    pub status: u16,
    /// The headers, without Content-Length.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Given {
    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Puts another text in the place of every `old`.
    pub fn replace(&mut self, old: &str, new: &str) {
        self.body = self.text().replace(old, new).into_bytes();
    }

    /// Puts another text in the place of the first `old`.
    pub fn replace_first(&mut self, old: &str, new: &str) {
        self.body = self.text().replacen(old, new, 1).into_bytes();
    }

    /// Puts another text in the place of what stands between two others, wherever they do.
    pub fn replace_between(&mut self, before: &str, behind: &str, new: &str) {
        let text = self.text();
        let (mut bent, mut rest) = (String::new(), text.as_str());
        while let Some((start, (_, end))) = rest
            .split_once(before)
            .and_then(|(start, inside)| Some((start, inside.split_once(behind)?)))
        {
            bent.extend([start, before, new, behind]);
            rest = end;
        }
        bent.push_str(rest);
        self.body = bent.into_bytes();
    }

    /// Answers with an error of the protocol instead, the envelope kept. Arguments that are called bad are not repeated.
    pub fn answer_error(&mut self, code: &str) {
        if matches!(code, "badVerb" | "badArgument") {
            self.replace_between("<request", ">", "");
        }
        let text = self.text();
        let start = text.split_once("</request>").map(|(start, _)| start.to_owned());
        let Some(start) = start.or_else(|| text.split_once("/>").map(|(start, _)| start.to_owned())) else {
            return;
        };
        let end = format!("</request><error code=\"{code}\">Bent.</error></OAI-PMH>");
        self.body = (start + &end).into_bytes();
    }

    /// Sets a header.
    pub fn set_header(&mut self, name: &str, value: &str) {
        self.remove_header(name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    /// Takes a header away.
    pub fn remove_header(&mut self, name: &str) {
        self.headers.retain(|(given, _)| !given.eq_ignore_ascii_case(name));
    }
}

type Hand = dyn Fn(&Heard<'_>, &mut Given) + Send + Sync;

/// What a test does to replies.
#[derive(Clone)]
pub(crate) struct Bend(pub(crate) Arc<Hand>);

impl fmt::Debug for Bend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Bend")
    }
}

impl Bend {
    pub(crate) fn apply(&self, incoming: &Incoming, mut reply: Reply) -> Reply {
        let heard = Heard {
            method: &incoming.method,
            query: &incoming.query,
            headers: &incoming.headers,
        };
        let mut given = Given {
            status: reply.status,
            headers: std::mem::take(&mut reply.headers),
            body: reply.body.take(),
        };
        (self.0)(&heard, &mut given);
        reply.status = given.status;
        reply.headers = given.headers;
        reply.body = Body::new(given.body);
        reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(body: &str) -> Given {
        Given {
            status: 200,
            headers: vec![("Content-Type".into(), "text/xml".into())],
            body: body.into(),
        }
    }

    #[test]
    fn texts_are_put_in_the_place_of_others() {
        let mut bent = given("<a>1</a><a>2</a>");
        bent.replace_between("<a>", "</a>", "x");
        assert_eq!(bent.text(), "<a>x</a><a>x</a>");
        bent.replace_first("x", "y");
        assert_eq!(bent.text(), "<a>y</a><a>x</a>");
    }

    #[test]
    fn an_answer_becomes_an_error() {
        let mut bent = given("<OAI-PMH><request verb=\"Identify\">http://x</request><Identify/></OAI-PMH>");
        bent.answer_error("idDoesNotExist");
        assert_eq!(
            bent.text(),
            "<OAI-PMH><request verb=\"Identify\">http://x</request><error code=\"idDoesNotExist\">Bent.</error></OAI-PMH>"
        );
        bent.answer_error("badVerb");
        assert_eq!(
            bent.text(),
            "<OAI-PMH><request>http://x</request><error code=\"badVerb\">Bent.</error></OAI-PMH>"
        );
    }
}
