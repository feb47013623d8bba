//! What a page shows, as its URL says it: everything, so that pages can be kept and passed on.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use stook_oai::xml;

/// The arguments of the protocol beside the verb, in the order of forms and requests.
const ARGUMENTS: [&str; 6] = [
    "identifier",
    "metadataPrefix",
    "from",
    "until",
    "set",
    "resumptionToken",
];

/// What may stand in a query as it is.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The repository a page is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// One of this server, by its name.
    Own(String),
    /// Another one, by its base URL.
    Other(String),
}

/// Which view of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Show {
    #[default]
    Parsed,
    Xml,
    Http,
    /// The body alone, as text.
    Raw,
    /// No answer yet: the form, to be filled in.
    Form,
}

impl Show {
    const ALL: [Show; 5] = [Show::Parsed, Show::Xml, Show::Http, Show::Raw, Show::Form];

    fn as_str(self) -> &'static str {
        match self {
            Show::Parsed => "parsed",
            Show::Xml => "xml",
            Show::Http => "http",
            Show::Raw => "raw",
            Show::Form => "form",
        }
    }
}

/// What a page shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct State {
    pub(super) place: Option<Place>,
    /// Any word: what a repository says to a wrong one is worth exploring, too.
    pub(super) verb: Option<String>,
    arguments: Vec<(&'static str, String)>,
    /// The format of a list whose later pages are shown: a request with a token does not tell it.
    of: Option<String>,
    pub(super) show: Show,
}

impl State {
    /// Reads a query. What it does not know it leaves out; fields that were left empty are not there.
    pub(super) fn parse(query: &[u8]) -> State {
        let mut state = State::default();
        let query = String::from_utf8_lossy(query);
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decoded(value);
            let value = value.trim();
            if value.is_empty() {
                continue;
            }
            match name {
                "repository" => state.place = Some(Place::Own(value.to_owned())),
                "url" => state.place = Some(Place::Other(value.to_owned())),
                "verb" => state.verb = Some(value.to_owned()),
                "of" => state.of = Some(value.to_owned()),
                "show" => {
                    let known = Show::ALL.into_iter().find(|show| show.as_str() == value);
                    state.show = known.unwrap_or_default();
                }
                _ => {
                    if let Some(known) = ARGUMENTS.into_iter().find(|known| *known == name) {
                        state.arguments.push((known, of_field(known, value)));
                    }
                }
            }
        }
        state
    }

    /// The start of a repository.
    pub(super) fn at(place: Place) -> State {
        State {
            place: Some(place),
            ..State::default()
        }
    }

    /// The same repository, asked something else.
    pub(super) fn asking(&self, verb: &str, arguments: &[(&'static str, &str)]) -> State {
        State {
            place: self.place.clone(),
            verb: Some(verb.to_owned()),
            arguments: arguments
                .iter()
                .map(|(name, value)| (*name, (*value).to_owned()))
                .collect(),
            ..State::default()
        }
    }

    /// With another view.
    pub(super) fn showing(&self, show: Show) -> State {
        State { show, ..self.clone() }
    }

    /// The next page of the list.
    pub(super) fn following(&self, token: &str) -> State {
        State {
            of: self.list_prefix().map(str::to_owned),
            show: self.show,
            ..self.asking(self.verb.as_deref().unwrap_or_default(), &[("resumptionToken", token)])
        }
    }

    /// The value of an argument.
    pub(super) fn argument(&self, name: &str) -> Option<&str> {
        let mut arguments = self.arguments.iter();
        let found = arguments.find(|(given, _)| *given == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The format of the list that is shown.
    pub(super) fn list_prefix(&self) -> Option<&str> {
        self.argument("metadataPrefix").or(self.of.as_deref())
    }

    /// The query of the protocol.
    pub(super) fn query(&self) -> String {
        let verb = self.verb.iter().map(|verb| ("verb", verb));
        let arguments = self.arguments.iter().map(|(name, value)| (*name, value));
        let pairs = verb
            .chain(arguments)
            .map(|(name, value)| format!("{name}={}", escaped(value)));
        pairs.collect::<Vec<_>>().join("&")
    }

    /// The URL of the page, from pages beside it.
    pub(super) fn href(&self) -> String {
        let mut pairs: Vec<String> = self.place.iter().map(Place::pair).collect();
        let query = self.query();
        if !query.is_empty() {
            pairs.push(query);
        }
        pairs.extend(self.of.iter().map(|of| format!("of={}", escaped(of))));
        if self.show != Show::default() {
            pairs.push(format!("show={}", self.show.as_str()));
        }
        match pairs.is_empty() {
            true => "explore".to_owned(),
            false => format!("explore?{}", pairs.join("&")),
        }
    }
}

impl Place {
    /// Name and value of the field that says it.
    pub(super) fn field(&self) -> (&'static str, &str) {
        match self {
            Place::Own(name) => ("repository", name),
            Place::Other(url) => ("url", url),
        }
    }

    fn pair(&self) -> String {
        let (name, value) = self.field();
        format!("{name}={}", escaped(value))
    }
}

/// The value of a date as the protocol writes it: browsers leave out the zone, and seconds that are zero.
fn of_field(name: &str, value: &str) -> String {
    let is_moment = |text: &str| {
        let pattern = "0000-00-00T00:00:00";
        text.len() <= pattern.len()
            && text.chars().zip(pattern.chars()).all(|(sign, wanted)| {
                if wanted == '0' {
                    sign.is_ascii_digit()
                } else {
                    sign == wanted
                }
            })
    };
    match (name, value.len()) {
        ("from" | "until", 16) if is_moment(value) => format!("{value}:00Z"),
        ("from" | "until", 19) if is_moment(value) => format!("{value}Z"),
        _ => value.to_owned(),
    }
}

/// A value as a query carries it.
fn escaped(value: &str) -> String {
    utf8_percent_encode(value, ESCAPED).to_string()
}

/// A value of a query, without what no page can show.
fn decoded(value: &str) -> String {
    let value = value.replace('+', " ");
    let text = percent_decode_str(&value).decode_utf8_lossy();
    text.chars().filter(|sign| xml::is_xml_char(*sign)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_its_url() {
        let query = "url=https%3A%2F%2Fexample.org%2Foai&verb=ListRecords&metadataPrefix=oai_dc&set=a%3Ab&show=xml";
        let state = State::parse(query.as_bytes());
        assert_eq!(state.place, Some(Place::Other("https://example.org/oai".into())));
        assert_eq!(state.query(), "verb=ListRecords&metadataPrefix=oai_dc&set=a%3Ab");
        assert_eq!(state.href(), format!("explore?{query}"));
        assert_eq!(State::parse(b"").href(), "explore");
    }

    #[test]
    fn the_format_of_a_list_is_remembered_on_its_later_pages() {
        let first = State::parse(b"repository=main&verb=ListRecords&metadataPrefix=mods");
        let next = first.following("a b&c");
        assert_eq!(next.query(), "verb=ListRecords&resumptionToken=a%20b%26c");
        let read = State::parse(next.href().strip_prefix("explore?").unwrap().as_bytes());
        assert_eq!(read, next);
        assert_eq!(read.following("d").list_prefix(), Some("mods"));
    }

    #[test]
    fn empty_fields_are_not_sent_and_dates_get_their_zone() {
        let state = State::parse(b"repository=main&verb=ListRecords&set=&from=2024-03-01T08%3A00&until=2024-03-01");
        assert_eq!(
            state.query(),
            "verb=ListRecords&from=2024-03-01T08%3A00%3A00Z&until=2024-03-01"
        );
    }

    #[test]
    fn what_no_page_can_show_is_left_out() {
        let state = State::parse(b"repository=a%00%1b%FFb");
        assert_eq!(state.place, Some(Place::Own("a\u{FFFD}b".into())));
    }
}
