//! Resumption tokens: what is accepted again, and what never is.

#![expect(clippy::unwrap_used, reason = "a test that cannot build its values has failed")]

use proptest::prelude::*;
use stook_oai::{Datestamp, ErrorCode, ListState, MetadataPrefix, OaiError, SetSpec, TokenError, TokenKey, Verb};

fn key() -> TokenKey {
    TokenKey::new([42; 32])
}

fn at(seconds: i64) -> Datestamp {
    Datestamp::from_unix(seconds).unwrap()
}

fn records(verb: Verb) -> ListState {
    ListState::Records {
        verb,
        metadata_prefix: MetadataPrefix::oai_dc(),
        set: Some(SetSpec::parse("maps:city").unwrap()),
        after: 1 << 60,
        through: u64::MAX,
        until: u64::MAX >> 1,
        cursor: 500,
        complete_list_size: 1_234_567,
    }
}

fn sets() -> ListState {
    ListState::Sets {
        after: SetSpec::parse("maps").unwrap(),
        cursor: 1,
        complete_list_size: 2,
    }
}

#[test]
fn a_token_gives_back_its_state_as_often_as_asked() {
    for state in [records(Verb::ListRecords), records(Verb::ListIdentifiers), sets()] {
        let token = key().issue("maps", at(100), &state);
        for now in [at(0), at(99), at(100)] {
            let read = key().read("maps", state.verb(), now, &token);
            assert_eq!(read, Ok((state.clone(), at(100))));
        }
    }
}

#[test]
fn a_token_needs_no_escaping_in_a_url_beyond_its_alphabet() {
    let token = key().issue("maps", at(100), &records(Verb::ListRecords));
    assert!(
        token
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    );
    assert!(token.len() < 120, "{} bytes", token.len());
}

#[test]
fn token_of_another_repository_is_refused() {
    let token = key().issue("maps", at(100), &sets());
    let read = key().read("prints", Verb::ListSets, at(0), &token);
    assert_eq!(read, Err(TokenError::Forged));
}

#[test]
fn token_of_another_key_is_refused() {
    let token = TokenKey::new([43; 32]).issue("maps", at(100), &sets());
    let read = key().read("maps", Verb::ListSets, at(0), &token);
    assert_eq!(read, Err(TokenError::Forged));
}

#[test]
fn token_of_another_verb_is_refused() {
    let token = key().issue("maps", at(100), &records(Verb::ListRecords));
    for verb in [Verb::ListIdentifiers, Verb::ListSets] {
        let read = key().read("maps", verb, at(0), &token);
        assert_eq!(
            read,
            Err(TokenError::OtherVerb {
                issued_for: Verb::ListRecords
            })
        );
    }
}

#[test]
fn expired_token_is_refused() {
    let token = key().issue("maps", at(100), &sets());
    let read = key().read("maps", Verb::ListSets, at(101), &token);
    assert_eq!(read, Err(TokenError::Expired { at: at(100) }));
}

#[test]
fn every_single_altered_character_is_noticed() {
    let token = key().issue("maps", at(100), &records(Verb::ListRecords));
    for place in 0..token.len() {
        let mut altered = token.clone().into_bytes();
        altered[place] = if altered[place] == b'A' { b'B' } else { b'A' };
        let altered = String::from_utf8(altered).unwrap();
        assert!(
            key().read("maps", Verb::ListRecords, at(0), &altered).is_err(),
            "{place}"
        );
    }
}

#[test]
fn truncated_and_lengthened_tokens_are_refused() {
    let token = key().issue("maps", at(100), &records(Verb::ListRecords));
    for length in 0..token.len() {
        assert!(key().read("maps", Verb::ListRecords, at(0), &token[..length]).is_err());
    }
    for tail in ["A", "AAAA", "=", " "] {
        let longer = format!("{token}{tail}");
        assert!(key().read("maps", Verb::ListRecords, at(0), &longer).is_err());
    }
}

#[test]
fn a_state_of_a_verb_without_lists_is_never_read_back() {
    let token = key().issue("maps", at(100), &records(Verb::Identify));
    assert!(key().read("maps", Verb::Identify, at(0), &token).is_err());
}

#[test]
fn the_key_does_not_show_itself() {
    assert!(!format!("{:?}", key()).contains("42"));
}

#[test]
fn a_refused_token_is_a_bad_resumption_token() {
    let error = OaiError::from(TokenError::Expired { at: at(0) });
    assert_eq!(error.code, ErrorCode::BadResumptionToken);
    assert!(error.message.contains("1970-01-01T00:00:00Z"));
}

proptest! {
    #[test]
    fn any_state_survives(
        set in proptest::option::of("[a-z0-9]{1,9}(:[a-z0-9]{1,9}){0,3}"),
        numbers: [u64; 5],
        expires in Datestamp::MIN.unix()..=Datestamp::MAX.unix(),
    ) {
        let [after, through, until, cursor, complete_list_size] = numbers;
        let state = ListState::Records {
            verb: Verb::ListIdentifiers,
            metadata_prefix: MetadataPrefix::oai_dc(),
            set: set.map(|text| SetSpec::parse(&text).unwrap()),
            after, through, until, cursor, complete_list_size,
        };
        let token = key().issue("r", at(expires), &state);
        let read = key().read("r", Verb::ListIdentifiers, Datestamp::MIN, &token);
        prop_assert_eq!(read, Ok((state, at(expires))));
    }

    #[test]
    fn any_text_is_refused_without_panic(text in ".*") {
        prop_assert!(key().read("r", Verb::ListRecords, at(0), &text).is_err());
    }
}
