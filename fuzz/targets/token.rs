//! Resumption tokens: nothing made up is accepted, everything issued is read
//! back as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stook_oai::{Datestamp, ListState, MetadataPrefix, SetSpec, TokenKey, Verb};

fuzz_target!(|input: &[u8]| {
    let key = TokenKey::new([7; 32]);
    let Some(now) = Datestamp::from_unix(1_700_000_000) else {
        return;
    };
    if let Ok(token) = std::str::from_utf8(input) {
        for verb in [Verb::ListRecords, Verb::ListIdentifiers, Verb::ListSets] {
            assert!(
                key.read("repository", verb, now, token).is_err(),
                "a forged token was read"
            );
        }
    }
    let Some(state) = state(input) else {
        return;
    };
    let token = key.issue("repository", now, &state);
    let read = key.read("repository", state.verb(), now, &token);
    assert_eq!(read.ok(), Some((state.clone(), now)));
    assert!(key.read("another", state.verb(), now, &token).is_err());
    assert!(
        TokenKey::new([8; 32])
            .read("repository", state.verb(), now, &token)
            .is_err()
    );
});

/// A list position made from the input, if its texts are legal ones.
fn state(input: &[u8]) -> Option<ListState> {
    let (numbers, texts) = input.split_at_checked(40)?;
    let mut numbers = numbers.chunks_exact(8).map(|bytes| {
        let bytes: [u8; 8] = bytes.try_into().unwrap_or_default();
        // Positions are signed 64-bit numbers in the store.
        u64::from_le_bytes(bytes) >> 1
    });
    let mut next = || numbers.next().unwrap_or_default();
    let mut texts = std::str::from_utf8(texts).ok()?.split(' ');
    let set = texts.next().and_then(|set| SetSpec::parse(set).ok());
    Some(match texts.next() {
        Some(prefix) => ListState::Records {
            verb: if next() % 2 == 0 {
                Verb::ListRecords
            } else {
                Verb::ListIdentifiers
            },
            metadata_prefix: MetadataPrefix::parse(prefix).ok()?,
            set,
            after: next(),
            through: next(),
            until: next(),
            cursor: next(),
            complete_list_size: 1,
        },
        None => ListState::Sets {
            after: set?,
            cursor: next(),
            complete_list_size: next(),
        },
    })
}
