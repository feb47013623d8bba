//! What a source needs that the protocol does not ask for, learned once and remembered.

use serde::{Deserialize, Serialize};
use stook_oai::request::{EncodeQuirks, Request};
use stook_oai::{Granularity, MetadataPrefix};

use crate::config::GranularityName;

/// The peculiarities of one source. Kept in the store beside it, for people to see and change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// How dates are written in requests, whatever Identify says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granularity: Option<GranularityName>,
    /// `until` must not be sent.
    #[serde(skip_serializing_if = "is_false")]
    pub no_until: bool,
    /// Neither `from` nor `until` may be sent.
    #[serde(skip_serializing_if = "is_false")]
    pub no_dates: bool,
    /// Nothing is given unless dates are sent.
    #[serde(skip_serializing_if = "is_false")]
    pub needs_dates: bool,
    /// Nothing is given if `from` and `until` are on one day: `until` is sent a day later.
    #[serde(skip_serializing_if = "is_false")]
    pub whole_days: bool,
    /// `from` changes nothing: every harvest is a full one.
    #[serde(skip_serializing_if = "is_false")]
    pub ignores_from: bool,
    /// Nothing is given unless a set is named.
    #[serde(skip_serializing_if = "is_false")]
    pub needs_set: bool,
    /// Values are sent as they are, not percent-encoded.
    #[serde(skip_serializing_if = "is_false")]
    pub verbatim: bool,
    /// A resumptionToken needs the metadataPrefix beside it.
    #[serde(skip_serializing_if = "is_false")]
    pub token_with_prefix: bool,
    /// ListRecords is of no use: ListIdentifiers, then GetRecord for each.
    #[serde(skip_serializing_if = "is_false")]
    pub get_record: bool,
    /// completeListSize says something else than there is.
    #[serde(skip_serializing_if = "is_false")]
    pub wrong_list_size: bool,
    /// The encoding of its answers, whatever they declare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// A way to ask differently when a request is rejected.
pub struct Adaptation {
    /// What will be remembered, in words.
    pub sentence: &'static str,
    /// Whether it changes anything about this request.
    pub applies: fn(&Asked, &Quirks) -> bool,
    /// What to remember if it helps.
    pub learn: fn(&Asked, &mut Quirks),
}

/// What matters about a rejected request.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// It has `from` or `until`.
    pub dates: bool,
    /// It has `until`.
    pub until: bool,
    /// Its `from` and `until` are seconds of one day.
    pub one_day: bool,
    /// It has a resumptionToken.
    pub token: bool,
    /// A value in it is changed by percent-encoding that could be left out.
    pub encoded: bool,
    /// How its dates are written.
    pub granularity: Granularity,
}

/// In the order they are tried: the least loss first.
pub const ADAPTATIONS: &[Adaptation] = &[
    Adaptation {
        sentence: "the metadataPrefix is sent beside the resumptionToken",
        applies: |asked, quirks| asked.token && !quirks.token_with_prefix,
        learn: |_, quirks| quirks.token_with_prefix = true,
    },
    Adaptation {
        sentence: "values are sent without percent-encoding",
        applies: |asked, quirks| asked.encoded && !quirks.verbatim,
        learn: |_, quirks| quirks.verbatim = true,
    },
    Adaptation {
        sentence: "dates are written in the other granularity",
        applies: |asked, quirks| asked.dates && !asked.token && quirks.granularity.is_none(),
        learn: |asked, quirks| {
            quirks.granularity = Some(match asked.granularity {
                Granularity::Second => GranularityName::Days,
                Granularity::Day => GranularityName::Seconds,
            });
        },
    },
    Adaptation {
        sentence: "until is not sent",
        applies: |asked, quirks| asked.until && !asked.token && !quirks.no_until,
        learn: |_, quirks| quirks.no_until = true,
    },
    Adaptation {
        sentence: "no dates are sent",
        applies: |asked, quirks| asked.dates && !asked.token && !quirks.no_dates,
        learn: |_, quirks| quirks.no_dates = true,
    },
];

impl Quirks {
    /// The query string of a request. The prefix is that of the list a token belongs to.
    pub fn query(&self, request: &Request, prefix: Option<&MetadataPrefix>) -> String {
        request.encode_with(EncodeQuirks {
            verbatim: self.verbatim,
            metadata_prefix_beside_token: prefix.filter(|_| self.token_with_prefix),
        })
    }
}

/// Whether sending values as they are would change the request.
pub fn is_encoded(request: &Request) -> bool {
    let verbatim = EncodeQuirks {
        verbatim: true,
        ..EncodeQuirks::default()
    };
    request.encode() != request.encode_with(verbatim)
}

#[cfg(test)]
mod tests {
    use stook_oai::request::ListRequest;

    use super::*;

    fn resume(token: &str) -> Request {
        Request::ListRecords(ListRequest::Resume {
            resumption_token: token.to_owned(),
        })
    }

    #[test]
    fn the_verb_comes_first_and_values_are_encoded_once() {
        let quirks = Quirks::default();
        let token = "a b+c|d!-%2F";
        assert_eq!(
            quirks.query(&resume(token), Some(&MetadataPrefix::oai_dc())),
            "verb=ListRecords&resumptionToken=a%20b%2Bc%7Cd%21-%252F"
        );
        let request = Request::GetRecord {
            identifier: "oai:x.example:1".into(),
            metadata_prefix: MetadataPrefix::oai_dc(),
        };
        assert_eq!(quirks.query(&request, None), request.encode());
        assert!(is_encoded(&request));
        assert!(!is_encoded(&resume("abc")));
    }

    #[test]
    fn quirks_change_what_is_sent() {
        let quirks = Quirks {
            verbatim: true,
            token_with_prefix: true,
            ..Quirks::default()
        };
        assert_eq!(
            quirks.query(&resume("a:b/c|2"), Some(&MetadataPrefix::oai_dc())),
            "verb=ListRecords&resumptionToken=a:b/c|2&metadataPrefix=oai_dc"
        );
    }

    #[test]
    fn what_is_learned_is_remembered_as_little_as_there_is() {
        let text = serde_json::to_string(&Quirks {
            no_until: true,
            ..Quirks::default()
        });
        assert_eq!(text.unwrap(), r#"{"no_until":true}"#);
    }
}
