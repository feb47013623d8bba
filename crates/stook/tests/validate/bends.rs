//! Ways to bend lists that several families need.

use std::collections::HashMap;
use std::sync::Mutex;

use misbehave::{Given, Heard};

/// Whether this list is asked for, from its first page.
pub(crate) fn is_first(heard: &Heard<'_>, verb: &str) -> bool {
    heard.is(verb) && heard.argument("resumptionToken").is_none()
}

/// Whether a later page of this list is asked for.
pub(crate) fn is_later(heard: &Heard<'_>, verb: &str) -> bool {
    heard.is(verb) && heard.argument("resumptionToken").is_some()
}

/// Whether ListIdentifiers is asked for oai_dc between these dates, in all sets.
pub(crate) fn is_between(heard: &Heard<'_>, from: Option<&str>, until: Option<&str>) -> bool {
    heard.is("ListIdentifiers")
        && heard.argument("metadataPrefix").as_deref() == Some("oai_dc")
        && heard.argument("from").as_deref() == from
        && heard.argument("until").as_deref() == until
        && heard.argument("set").is_none()
}

/// A header of a made-up record.
pub(crate) fn header(number: u32, datestamp: &str, set: &str) -> String {
    format!(
        "<header><identifier>oai:misbehave.example.org:{number}</identifier>\
         <datestamp>{datestamp}</datestamp><setSpec>{set}</setSpec></header>\n"
    )
}

/// Puts headers at the beginning of a list of headers; makes one, where there is an error.
pub(crate) fn put_first(given: &mut Given, headers: &str) {
    let text = given.text();
    if text.contains("<ListIdentifiers>\n") {
        given.replace_first("<ListIdentifiers>\n", &format!("<ListIdentifiers>\n{headers}"));
    } else if let Some((start, _)) = text.split_once("</request>") {
        let list = format!("</request>\n<ListIdentifiers>\n{headers}</ListIdentifiers>\n</OAI-PMH>\n");
        given.body = (start.to_owned() + &list).into_bytes();
    }
}

/// Takes every attribute of this name away.
pub(crate) fn without_attribute(given: &mut Given, name: &str) {
    given.replace_between(&format!(" {name}=\""), "\"", "");
    given.replace(&format!(" {name}=\"\""), "");
}

/// The token of a page and the element it stands in.
pub(crate) fn token(given: &Given) -> Option<(String, String)> {
    let text = given.text();
    let start = text.find("<resumptionToken")?;
    let element = &text[start..];
    let element = &element[..element.find("</resumptionToken>")? + "</resumptionToken>".len()];
    let value = element.split_once('>')?.1.split_once('<')?.0;
    Some((value.to_owned(), element.to_owned()))
}

/// Whether a page is the last of a list that is split.
pub(crate) fn is_last(given: &Given) -> bool {
    token(given).is_some_and(|(value, _)| value.is_empty())
}

/// Takes the entries of a page away.
pub(crate) fn without_entries(given: &mut Given, verb: &str) {
    let text = given.text();
    let Some((start, rest)) = text.split_once(&format!("<{verb}>\n")) else {
        return;
    };
    let end = rest
        .find("<resumptionToken")
        .or_else(|| rest.find(&format!("</{verb}>")));
    let end = end.map_or("", |at| &rest[at..]);
    given.body = format!("{start}<{verb}>\n{end}").into_bytes();
}

/// Remembers of which list a token is: the query of its first page.
#[derive(Default)]
pub(crate) struct Lists(Mutex<HashMap<String, String>>);

impl Lists {
    /// The query of the first page of the list that is asked for.
    pub(crate) fn query(&self, heard: &Heard<'_>, given: &Given) -> String {
        let mut known = self.0.lock().unwrap();
        let query = match heard.argument("resumptionToken") {
            None => heard.query.to_owned(),
            Some(own) => known.get(&own).cloned().unwrap_or_default(),
        };
        known.extend(token(given).map(|(value, _)| (value, query.clone())));
        query
    }
}
