//! Arguments → requests and faults: the rules of the specification's §3.6 and
//! §4, one test for each.

use proptest::prelude::*;
use stook_oai::{ErrorCode, Granularity, ListRequest, MetadataPrefix, OaiError, Request, SetSpec, UtcDatetime, Verb};

fn parsed(query: &str) -> Result<Request, Vec<OaiError>> {
    Request::parse_query(query.as_bytes(), Granularity::Second)
}

/// The messages of a request that must be answered badArgument.
fn bad_arguments(query: &str) -> Vec<String> {
    let faults = parsed(query).expect_err(query);
    assert!(
        faults.iter().all(|fault| fault.code == ErrorCode::BadArgument),
        "{faults:?}"
    );
    faults.into_iter().map(|fault| fault.message).collect()
}

fn one_bad_argument(query: &str) -> String {
    let mut messages = bad_arguments(query);
    assert_eq!(messages.len(), 1, "{messages:#?}");
    messages.remove(0)
}

fn one_bad_verb(query: &str) -> String {
    let mut faults = parsed(query).expect_err(query);
    assert_eq!(faults.len(), 1, "{faults:#?}");
    let fault = faults.remove(0);
    assert_eq!(fault.code, ErrorCode::BadVerb);
    fault.message
}

#[test]
fn a_verb_missing_unknown_or_repeated_is_a_bad_verb_and_nothing_else() {
    assert!(one_bad_verb("").contains("missing"));
    assert!(one_bad_verb("set=a&colour=red").contains("missing"));
    assert!(one_bad_verb("verb=").contains("\"\""));
    assert!(one_bad_verb("verb=identify&colour=red").contains("\"identify\""));
    assert!(one_bad_verb("verb=Identify&verb=Identify").contains("2 times"));
    assert!(one_bad_verb("verb=%FF&set=%FF").contains("UTF-8"));
    assert!(one_bad_verb("Verb=Identify").contains("missing"));
}

#[test]
fn requests_without_arguments_are_understood() {
    assert_eq!(parsed("verb=Identify"), Ok(Request::Identify));
    assert_eq!(
        parsed("verb=ListMetadataFormats"),
        Ok(Request::ListMetadataFormats { identifier: None })
    );
    assert_eq!(
        parsed("verb=ListSets"),
        Ok(Request::ListSets { resumption_token: None })
    );
}

#[test]
fn the_order_of_arguments_does_not_matter() {
    let request = parsed("metadataPrefix=oai_dc&identifier=oai%3Ax.y%3A1&verb=GetRecord");
    let expected = Request::GetRecord {
        identifier: "oai:x.y:1".to_owned(),
        metadata_prefix: MetadataPrefix::oai_dc(),
    };
    assert_eq!(request, Ok(expected));
}

#[test]
fn a_selection_takes_dates_and_a_set() {
    let query = "verb=ListIdentifiers&metadataPrefix=oai_dc&from=2001-01-01&until=2001-01-01&set=a:b";
    let day = UtcDatetime::parse("2001-01-01").unwrap();
    let expected = ListRequest::Selection {
        metadata_prefix: MetadataPrefix::oai_dc(),
        from: Some(day),
        until: Some(day),
        set: Some(SetSpec::parse("a:b").unwrap()),
    };
    assert_eq!(parsed(query), Ok(Request::ListIdentifiers(expected)));
}

#[test]
fn an_unknown_argument_is_a_fault_of_every_verb() {
    for verb in Verb::ALL {
        let messages = bad_arguments(&format!("verb={verb}&colour=red"));
        let naming = messages.iter().filter(|message| message.contains("\"colour\"")).count();
        assert_eq!(naming, 1, "{messages:#?}");
    }
}

#[test]
fn arguments_of_other_verbs_are_unknown() {
    for query in [
        "verb=Identify&identifier=x",
        "verb=ListMetadataFormats&metadataPrefix=oai_dc",
        "verb=ListMetadataFormats&resumptionToken=x",
        "verb=ListSets&metadataPrefix=oai_dc",
        "verb=GetRecord&identifier=x&metadataPrefix=y&set=z",
        "verb=GetRecord&identifier=x&metadataPrefix=y&from=2001-01-01",
        "verb=GetRecord&identifier=x&metadataPrefix=y&resumptionToken=z",
        "verb=ListRecords&metadataPrefix=y&identifier=x",
    ] {
        assert!(one_bad_argument(query).contains("has no argument"), "{query}");
    }
}

#[test]
fn argument_names_are_case_sensitive() {
    let messages = bad_arguments("verb=GetRecord&Identifier=x&metadataPrefix=oai_dc");
    assert_eq!(messages.len(), 2, "{messages:#?}");
}

#[test]
fn required_arguments_must_be_given() {
    assert_eq!(bad_arguments("verb=GetRecord").len(), 2);
    assert!(one_bad_argument("verb=GetRecord&identifier=x").contains("metadataPrefix"));
    assert!(one_bad_argument("verb=GetRecord&metadataPrefix=x").contains("identifier"));
    for verb in ["ListRecords", "ListIdentifiers"] {
        let message = one_bad_argument(&format!("verb={verb}"));
        assert!(message.contains("metadataPrefix") && message.contains("resumptionToken"));
    }
}

#[test]
fn a_repeated_argument_is_one_fault_even_if_the_values_agree() {
    for query in [
        "verb=ListMetadataFormats&identifier=x&identifier=x",
        "verb=ListSets&resumptionToken=x&resumptionToken=x",
        "verb=ListRecords&metadataPrefix=a&metadataPrefix=a&metadataPrefix=a",
        "verb=ListRecords&metadataPrefix=a&set=b&set=c",
    ] {
        assert!(one_bad_argument(query).contains("more than once"), "{query}");
    }
}

#[test]
fn a_token_wants_no_company() {
    for query in [
        "verb=ListRecords&resumptionToken=x&metadataPrefix=oai_dc",
        "verb=ListIdentifiers&resumptionToken=x&until=2001-01-01&set=a",
    ] {
        assert!(one_bad_argument(query).contains("only argument"), "{query}");
    }
    assert!(one_bad_argument("verb=ListSets&resumptionToken=x&set=a").contains("no argument"));
}

#[test]
fn an_empty_token_is_left_to_the_repository() {
    assert_eq!(
        parsed("verb=ListRecords&resumptionToken="),
        Ok(Request::ListRecords(ListRequest::Resume {
            resumption_token: String::new()
        }))
    );
    assert_eq!(
        parsed("verb=ListSets&resumptionToken="),
        Ok(Request::ListSets {
            resumption_token: Some(String::new())
        })
    );
}

#[test]
fn an_identifier_may_be_any_text_that_can_be_repeated() {
    for text in ["really_wrong_id", "", "a%22b", "%C3%A9+%3C"] {
        assert!(parsed(&format!("verb=GetRecord&identifier={text}&metadataPrefix=a")).is_ok());
    }
    let message = one_bad_argument("verb=ListMetadataFormats&identifier=a%00b");
    assert!(message.contains("U+0000"), "{message}");
    for text in ["50%25", "%5B", ":a", "a%23b%23c"] {
        let message = one_bad_argument(&format!("verb=ListMetadataFormats&identifier={text}"));
        assert!(message.contains("identifier"), "{message}");
    }
}

#[test]
fn values_that_break_their_grammar_are_faults() {
    for (argument, value) in [
        ("metadataPrefix", ""),
        ("metadataPrefix", "bad/prefix"),
        ("set", ""),
        ("set", "a::b"),
        ("set", "a+b"),
        ("set", ":a"),
        ("from", ""),
        ("from", "2001"),
        ("from", "2001-02-30"),
        ("until", "junk"),
        ("until", "2001-01-01T25:00:00Z"),
        ("until", "2001-01-01T00:00:00.0Z"),
    ] {
        let prefix = if argument == "metadataPrefix" {
            ""
        } else {
            "&metadataPrefix=a"
        };
        let query = format!("verb=ListRecords{prefix}&{argument}={value}");
        assert!(one_bad_argument(&query).contains(argument), "{query}");
    }
    assert!(one_bad_argument("verb=GetRecord&identifier=a&metadataPrefix=a+b").contains("\"a b\""));
}

#[test]
fn a_value_that_cannot_be_decoded_is_not_also_missing() {
    assert!(one_bad_argument("verb=ListRecords&metadataPrefix=%ZZ").contains('%'));
    assert!(one_bad_argument("verb=ListSets&resumptionToken=%FF").contains("UTF-8"));
}

#[test]
fn from_must_not_be_later_than_until() {
    let query = "verb=ListRecords&metadataPrefix=a&from=2000-01-01&until=1999-01-01";
    assert!(one_bad_argument(query).contains("later"));
    let query = "verb=ListRecords&metadataPrefix=a&from=2000-01-01T00:00:01Z&until=2000-01-01T00:00:00Z";
    assert!(one_bad_argument(query).contains("later"));
}

#[test]
fn from_and_until_must_have_one_granularity() {
    let query = "verb=ListRecords&metadataPrefix=a&from=2001-01-01&until=2002-01-01T00:00:00Z";
    assert!(one_bad_argument(query).contains("same granularity"));
}

#[test]
fn seconds_are_too_fine_for_a_repository_of_days() {
    let query = b"verb=ListRecords&metadataPrefix=a&from=2001-01-01T00:00:00Z&until=2002-01-01T00:00:00Z";
    let faults = Request::parse_query(query, Granularity::Day).unwrap_err();
    assert_eq!(faults.len(), 2, "{faults:#?}");
    assert!(faults.iter().all(|fault| fault.message.contains("finer")));
    assert!(Request::parse_query(query, Granularity::Second).is_ok());
}

#[test]
fn days_suit_every_repository() {
    let query = b"verb=ListRecords&metadataPrefix=a&from=2001-01-01";
    for granularity in [Granularity::Day, Granularity::Second] {
        assert!(Request::parse_query(query, granularity).is_ok());
    }
}

#[test]
fn all_faults_are_collected() {
    let query = "verb=ListRecords&from=x&until=y&set=a::b&colour=red&size=%ZZ&set=c";
    let messages = bad_arguments(query);
    assert_eq!(messages.len(), 7, "{messages:#?}");
}

#[test]
fn faults_beyond_twenty_are_counted() {
    let query = format!("verb=Identify{}", "&x=1".repeat(50));
    let messages = bad_arguments(&query);
    assert_eq!(messages.len(), 21);
    assert!(messages[20].contains("30 more"), "{}", messages[20]);
}

#[test]
fn messages_quote_at_most_a_hundred_characters() {
    let query = format!("verb=ListRecords&metadataPrefix={}", "%3C".repeat(10_000));
    assert!(one_bad_argument(&query).len() < 300);
    let query = format!("verb=Identify&{}=1", "x".repeat(10_000));
    assert!(one_bad_argument(&query).len() < 300);
}

proptest! {
    #[test]
    fn any_query_is_answered_without_panic(query: Vec<u8>) {
        if let Err(faults) = Request::parse_query(&query, Granularity::Day) {
            prop_assert!(!faults.is_empty());
        }
    }

    #[test]
    fn any_query_of_known_names_is_answered_with_text_xml_can_carry(
        pairs in proptest::collection::vec(
            ("verb|identifier|metadataPrefix|from|until|set|resumptionToken|x",
             "ListRecords|oai_dc|2001-01-01|[ -~]{0,8}|%[0-9A-F]{2}|\\PC{0,4}"),
            0..8,
        ),
    ) {
        let query: String =
            pairs.iter().map(|(name, value)| format!("&{name}={value}")).collect();
        if let Err(faults) = parsed(&query) {
            for fault in faults {
                prop_assert!(fault.code.hides_arguments());
                prop_assert!(stook_oai::xml::is_xml_text(&fault.message));
            }
        }
    }
}
