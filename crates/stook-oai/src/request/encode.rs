//! A request → its arguments, and the query string that carries them.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Argument, ListRequest, Request};
use crate::types::MetadataPrefix;

/// Everything but the unreserved characters of RFC 3986: more than §3.1.1.3
/// of the specification demands, so no proxy or form parser finds a character
/// to interpret.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// What HTTP cannot carry in a query, or would take for its end or for the
/// next argument.
const VERBATIM: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'&').add(b'<').add(b'>');

/// What some repositories want otherwise than the protocol has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EncodeQuirks<'a> {
    /// Values are sent as they are, because the repository does not decode
    /// them. Only what HTTP cannot carry is still escaped.
    pub verbatim: bool,
    /// Sent beside a resumptionToken, which should be the only argument.
    pub metadata_prefix_beside_token: Option<&'a MetadataPrefix>,
}

impl Request {
    /// The arguments by name, `verb` first; none that was not given.
    ///
    /// These are the attributes of the response's `request` element.
    #[must_use]
    pub fn arguments(&self) -> Vec<(&'static str, Cow<'_, str>)> {
        let mut arguments = vec![("verb", Cow::Borrowed(self.verb().as_str()))];
        match self {
            Self::Identify => {}
            Self::ListMetadataFormats { identifier } => {
                if let Some(identifier) = identifier {
                    arguments.push((Argument::Identifier.as_str(), identifier.into()));
                }
            }
            Self::ListSets { resumption_token } => {
                if let Some(token) = resumption_token {
                    arguments.push((Argument::ResumptionToken.as_str(), token.into()));
                }
            }
            Self::GetRecord {
                identifier,
                metadata_prefix,
            } => {
                arguments.push((Argument::Identifier.as_str(), identifier.into()));
                arguments.push((Argument::MetadataPrefix.as_str(), metadata_prefix.as_str().into()));
            }
            Self::ListIdentifiers(list) | Self::ListRecords(list) => list.push_arguments(&mut arguments),
        }
        arguments
    }

    /// The query string of the request, to follow the `?` of a base URL or to
    /// be the body of a form.
    ///
    /// ```
    /// use stook_oai::MetadataPrefix;
    /// use stook_oai::request::Request;
    ///
    /// let request = Request::GetRecord {
    ///     identifier: "oai:example.org:a/b c".to_owned(),
    ///     metadata_prefix: MetadataPrefix::oai_dc(),
    /// };
    /// assert_eq!(
    ///     request.encode(),
    ///     "verb=GetRecord&identifier=oai%3Aexample.org%3Aa%2Fb%20c&metadataPrefix=oai_dc"
    /// );
    /// ```
    #[must_use]
    pub fn encode(&self) -> String {
        self.encode_with(EncodeQuirks::default())
    }

    /// The query string as one particular repository wants it.
    ///
    /// ```
    /// use stook_oai::request::{EncodeQuirks, ListRequest, Request};
    /// use stook_oai::MetadataPrefix;
    ///
    /// let request =
    ///     Request::ListRecords(ListRequest::Resume { resumption_token: "a:b|2".to_owned() });
    /// let prefix = MetadataPrefix::oai_dc();
    /// let quirks = EncodeQuirks { verbatim: true, metadata_prefix_beside_token: Some(&prefix) };
    /// assert_eq!(
    ///     request.encode_with(quirks),
    ///     "verb=ListRecords&resumptionToken=a:b|2&metadataPrefix=oai_dc"
    /// );
    /// ```
    #[must_use]
    pub fn encode_with(&self, quirks: EncodeQuirks<'_>) -> String {
        let mut arguments = self.arguments();
        let lists_records = matches!(self, Self::ListIdentifiers(_) | Self::ListRecords(_));
        if let Some(prefix) = quirks.metadata_prefix_beside_token
            && lists_records
            && arguments
                .iter()
                .any(|(name, _)| *name == Argument::ResumptionToken.as_str())
        {
            arguments.push((Argument::MetadataPrefix.as_str(), prefix.as_str().into()));
        }
        let escaped = if quirks.verbatim { VERBATIM } else { ESCAPED };
        let mut query = String::new();
        for (name, value) in arguments {
            if !query.is_empty() {
                query.push('&');
            }
            query.push_str(name);
            query.push('=');
            query.extend(utf8_percent_encode(&value, escaped));
        }
        query
    }
}

impl ListRequest {
    fn push_arguments<'a>(&'a self, arguments: &mut Vec<(&'static str, Cow<'a, str>)>) {
        match self {
            Self::Selection {
                metadata_prefix,
                from,
                until,
                set,
            } => {
                arguments.push((Argument::MetadataPrefix.as_str(), metadata_prefix.as_str().into()));
                if let Some(from) = from {
                    arguments.push((Argument::From.as_str(), from.to_string().into()));
                }
                if let Some(until) = until {
                    arguments.push((Argument::Until.as_str(), until.to_string().into()));
                }
                if let Some(set) = set {
                    arguments.push((Argument::Set.as_str(), set.as_str().into()));
                }
            }
            Self::Resume { resumption_token } => {
                arguments.push((Argument::ResumptionToken.as_str(), resumption_token.into()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_the_specification_names_is_encoded() {
        let request = Request::ListSets {
            resumption_token: Some("/?#=&:; %+".to_owned()),
        };
        assert_eq!(
            request.encode(),
            "verb=ListSets&resumptionToken=%2F%3F%23%3D%26%3A%3B%20%25%2B"
        );
    }

    #[test]
    fn an_escaped_identifier_is_escaped_again() {
        let request = Request::ListMetadataFormats {
            identifier: Some("oai:a.b:ab%3Ccd".to_owned()),
        };
        assert!(request.encode().ends_with("identifier=oai%3Aa.b%3Aab%253Ccd"));
    }

    #[test]
    fn arguments_that_were_not_given_are_not_sent() {
        assert_eq!(Request::Identify.encode(), "verb=Identify");
        let request = Request::ListMetadataFormats { identifier: None };
        assert_eq!(request.encode(), "verb=ListMetadataFormats");
    }

    #[test]
    fn a_resumed_list_sends_its_token_and_nothing_else() {
        let request = Request::ListRecords(ListRequest::Resume {
            resumption_token: "x|y".to_owned(),
        });
        assert_eq!(request.encode(), "verb=ListRecords&resumptionToken=x%7Cy");
    }

    #[test]
    fn verbatim_values_keep_all_that_http_can_carry() {
        let quirks = EncodeQuirks {
            verbatim: true,
            ..EncodeQuirks::default()
        };
        let request = Request::ListSets {
            resumption_token: Some("-a+b!c|d%20/e:f=g é#&\n".to_owned()),
        };
        assert_eq!(
            request.encode_with(quirks),
            "verb=ListSets&resumptionToken=-a+b!c|d%20/e:f=g%20%C3%A9%23%26%0A"
        );
    }

    #[test]
    fn a_prefix_is_sent_only_beside_the_token_of_a_list_of_records() {
        let prefix = MetadataPrefix::oai_dc();
        let quirks = EncodeQuirks {
            metadata_prefix_beside_token: Some(&prefix),
            ..EncodeQuirks::default()
        };
        let token = || "x".to_owned();
        let list = ListRequest::Resume {
            resumption_token: token(),
        };
        let identifiers = Request::ListIdentifiers(list);
        let expected = "verb=ListIdentifiers&resumptionToken=x&metadataPrefix=oai_dc";
        assert_eq!(identifiers.encode_with(quirks), expected);
        let sets = Request::ListSets {
            resumption_token: Some(token()),
        };
        assert_eq!(sets.encode_with(quirks), sets.encode());
        assert_eq!(Request::Identify.encode_with(quirks), "verb=Identify");
        let selection = Request::ListRecords(ListRequest::Selection {
            metadata_prefix: prefix.clone(),
            from: None,
            until: None,
            set: None,
        });
        assert_eq!(selection.encode_with(quirks), selection.encode());
    }
}
