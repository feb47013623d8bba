//! A query as it was sent: the order of its arguments and their encoding
//! matter to servers that are picky about them.

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use stook_oai::Verb;

/// Names and values, not decoded, in the order they came in.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pairs: Vec<(String, String)>,
}

impl Ask {
    pub(crate) fn read(query: &str) -> Self {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let split = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), value.to_owned())
        };
        Self {
            pairs: pairs.map(split).collect(),
        }
    }

    pub(crate) fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.pairs.iter().any(|(given, _)| given == name)
    }

    /// The decoded value of the first argument of that name.
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        let (_, raw) = self.pairs.iter().find(|(given, _)| given == name)?;
        let spaced = raw.replace('+', " ");
        Some(percent_decode_str(&spaced).decode_utf8_lossy().into_owned())
    }

    pub(crate) fn verb(&self) -> Option<Verb> {
        Verb::parse(&self.value("verb")?)
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.pairs.retain(|(given, _)| given != name);
    }

    pub(crate) fn replace(&mut self, name: &str, value: &str) {
        let encoded = utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
        for (given, raw) in &mut self.pairs {
            if given == name {
                raw.clone_from(&encoded);
            }
        }
    }

    /// The query that carries what is left.
    pub(crate) fn query(&self) -> String {
        let pairs: Vec<String> = self
            .pairs
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join("&")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_once_and_sent_on_as_they_came() {
        let mut ask = Ask::read("set=a%3Ab+c&verb=ListSets&x");
        assert_eq!(ask.value("set").as_deref(), Some("a:b c"));
        assert_eq!(ask.verb(), Some(Verb::ListSets));
        assert_eq!(ask.query(), "set=a%3Ab+c&verb=ListSets&x=");
        ask.replace("set", "a:b");
        ask.remove("x");
        assert_eq!(ask.query(), "set=a%3Ab&verb=ListSets");
    }
}
