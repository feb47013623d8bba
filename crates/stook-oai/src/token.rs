//! The position in a list ⇄ the opaque text of a resumptionToken.
//!
//! A [`ListState`] enters and text leaves, and back. The text carries the
//! whole state, so a server keeps nothing between two pages, and it carries a
//! keyed checksum, so nobody but the holder of the key can make one. A token
//! is bound to its repository and to its verb, can be used any number of
//! times until it expires, and survives a restart. It hides nothing: whoever
//! decodes it sees positions and counts. This module never reads a clock.
//!
//! ```
//! use stook_oai::token::{ListState, TokenKey};
//! use stook_oai::{Datestamp, MetadataPrefix, Verb};
//!
//! let key = TokenKey::new([7; 32]);
//! let now = Datestamp::from_unix(1_700_000_000).unwrap();
//! let expires = Datestamp::from_unix(1_700_086_400).unwrap();
//! let state = ListState::Records {
//!     verb: Verb::ListRecords,
//!     metadata_prefix: MetadataPrefix::oai_dc(),
//!     set: None,
//!     after: 100,
//!     through: 175,
//!     until: u64::MAX >> 1,
//!     cursor: 100,
//!     complete_list_size: 175,
//! };
//!
//! let token = key.issue("maps", expires, &state);
//! assert_eq!(key.read("maps", Verb::ListRecords, now, &token), Ok((state, expires)));
//! assert!(key.read("prints", Verb::ListRecords, now, &token).is_err());
//! ```

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::types::{Datestamp, ErrorCode, MetadataPrefix, OaiError, SetSpec, Verb};

/// Changes when the layout below changes, so that older tokens are refused
/// instead of misread.
const LAYOUT: u8 = 1;

/// 128 bits: far beyond guessing, and a token stays short enough for a URL.
const MAC_LENGTH: usize = 16;

const CONTEXT: &str = "stook resumptionToken";

/// What a token carries: where a list stands and what it was a list of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListState {
    /// A list of records or of their headers.
    Records {
        /// [`Verb::ListRecords`] or [`Verb::ListIdentifiers`].
        verb: Verb,
        /// The format listed.
        metadata_prefix: MetadataPrefix,
        /// The set listed, if not everything.
        set: Option<SetSpec>,
        /// The position of the last record delivered.
        after: u64,
        /// The last position that belongs to the list, frozen when the list
        /// began: what changes meanwhile moves behind it.
        through: u64,
        /// The last position that the request's own `until` allows;
        /// `u64::MAX >> 1` if it had none.
        until: u64,
        /// How many records were delivered so far.
        cursor: u64,
        /// How many records the whole list has.
        complete_list_size: u64,
    },
    /// A list of sets.
    Sets {
        /// The last set delivered.
        after: SetSpec,
        /// How many sets were delivered so far.
        cursor: u64,
        /// How many sets there are.
        complete_list_size: u64,
    },
}

impl ListState {
    /// The verb whose list this is.
    #[must_use]
    pub fn verb(&self) -> Verb {
        match self {
            Self::Records { verb, .. } => *verb,
            Self::Sets { .. } => Verb::ListSets,
        }
    }
}

/// Why a token is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It is not text of the form this program issues: mistyped, truncated,
    /// empty, or from another program or an older version.
    #[error("it was not issued here")]
    Malformed,
    /// Its checksum is wrong: edited, or issued with another key or for
    /// another repository.
    #[error("it was not issued by this repository, or was altered on the way")]
    Forged,
    /// It continues the list of another verb.
    #[error("it was issued for {issued_for}")]
    OtherVerb {
        /// The verb it belongs to.
        issued_for: Verb,
    },
    /// Its time is over.
    #[error("it expired at {at}")]
    Expired {
        /// The last second at which it was valid.
        at: Datestamp,
    },
}

impl From<TokenError> for OaiError {
    fn from(error: TokenError) -> Self {
        let message = format!("The resumptionToken is not valid: {error}. Start the list again without it.");
        Self::new(ErrorCode::BadResumptionToken, message)
    }
}

/// The secret that makes tokens and recognises them.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenKey([u8; 32]);

impl fmt::Debug for TokenKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TokenKey(…)")
    }
}

impl TokenKey {
    /// A key of 32 random bytes. Tokens stay valid as long as the key stays
    /// the same.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The token for a state, valid up to and including the second `expires`.
    #[must_use]
    pub fn issue(&self, repository: &str, expires: Datestamp, state: &ListState) -> String {
        let mut bytes = encode(expires, state);
        let mac = self.mac(repository, &bytes);
        bytes.extend_from_slice(&mac);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The state in a token, and when the token expires.
    ///
    /// # Errors
    ///
    /// When the token was not issued with this key, for this repository and
    /// verb, or has expired by `now`.
    pub fn read(
        &self,
        repository: &str,
        verb: Verb,
        now: Datestamp,
        token: &str,
    ) -> Result<(ListState, Datestamp), TokenError> {
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| TokenError::Malformed)?;
        let (body, mac) = bytes.split_last_chunk::<MAC_LENGTH>().ok_or(TokenError::Malformed)?;
        if !same_mac(mac, &self.mac(repository, body)) {
            return Err(TokenError::Forged);
        }
        let (state, expires) = decode(body).ok_or(TokenError::Malformed)?;
        if state.verb() != verb {
            return Err(TokenError::OtherVerb {
                issued_for: state.verb(),
            });
        }
        if now > expires {
            return Err(TokenError::Expired { at: expires });
        }
        Ok((state, expires))
    }

    fn mac(&self, repository: &str, body: &[u8]) -> [u8; MAC_LENGTH] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(CONTEXT.as_bytes());
        // The length keeps "ab" + "c" apart from "a" + "bc".
        hasher.update(&repository.len().to_le_bytes());
        hasher.update(repository.as_bytes());
        hasher.update(body);
        let mut mac = [0; MAC_LENGTH];
        hasher.finalize_xof().fill(&mut mac);
        mac
    }
}

/// Compares in constant time, which the hash type does for 32 bytes.
fn same_mac(left: &[u8; MAC_LENGTH], right: &[u8; MAC_LENGTH]) -> bool {
    let widen = |mac: &[u8; MAC_LENGTH]| {
        let mut wide = [0; 32];
        wide[..MAC_LENGTH].copy_from_slice(mac);
        blake3::Hash::from_bytes(wide)
    };
    widen(left) == widen(right)
}

// The layout: LAYOUT, expiry, verb, then the fields in the order of the enum.
// Numbers are LEB128; text is its length and its bytes.

fn encode(expires: Datestamp, state: &ListState) -> Vec<u8> {
    let mut out = vec![LAYOUT];
    push_number(&mut out, expires.unix().abs_diff(Datestamp::MIN.unix()));
    out.push(verb_byte(state.verb()));
    match state {
        ListState::Records {
            verb: _,
            metadata_prefix,
            set,
            after,
            through,
            until,
            cursor,
            complete_list_size,
        } => {
            push_text(&mut out, metadata_prefix.as_str());
            // No setSpec is empty, so empty can mean "none".
            push_text(&mut out, set.as_ref().map_or("", SetSpec::as_str));
            for number in [after, through, until, cursor, complete_list_size] {
                push_number(&mut out, *number);
            }
        }
        ListState::Sets {
            after,
            cursor,
            complete_list_size,
        } => {
            push_text(&mut out, after.as_str());
            push_number(&mut out, *cursor);
            push_number(&mut out, *complete_list_size);
        }
    }
    out
}

fn decode(body: &[u8]) -> Option<(ListState, Datestamp)> {
    let mut rest = body.strip_prefix(&[LAYOUT])?;
    let expires = Datestamp::MIN.unix().checked_add_unsigned(take_number(&mut rest)?)?;
    let (&verb, after_verb) = rest.split_first()?;
    rest = after_verb;
    let state = match Verb::ALL.into_iter().find(|known| verb_byte(*known) == verb)? {
        verb @ (Verb::ListRecords | Verb::ListIdentifiers) => ListState::Records {
            verb,
            metadata_prefix: MetadataPrefix::parse(take_text(&mut rest)?).ok()?,
            set: match take_text(&mut rest)? {
                "" => None,
                text => Some(SetSpec::parse(text).ok()?),
            },
            after: take_number(&mut rest)?,
            through: take_number(&mut rest)?,
            until: take_number(&mut rest)?,
            cursor: take_number(&mut rest)?,
            complete_list_size: take_number(&mut rest)?,
        },
        Verb::ListSets => ListState::Sets {
            after: SetSpec::parse(take_text(&mut rest)?).ok()?,
            cursor: take_number(&mut rest)?,
            complete_list_size: take_number(&mut rest)?,
        },
        Verb::Identify | Verb::ListMetadataFormats | Verb::GetRecord => return None,
    };
    if !rest.is_empty() {
        return None;
    }
    Some((state, Datestamp::from_unix(expires)?))
}

fn verb_byte(verb: Verb) -> u8 {
    match verb {
        Verb::Identify => b'I',
        Verb::ListMetadataFormats => b'F',
        Verb::ListSets => b'S',
        Verb::GetRecord => b'G',
        Verb::ListIdentifiers => b'H',
        Verb::ListRecords => b'R',
    }
}

fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        let bits = u64::from(byte & 0x7F);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    push_number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn take_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let length = usize::try_from(take_number(rest)?).ok()?;
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // Behind a valid checksum, which only the holder of the key can make,
        // the layout must still be read without panic.
        #[test]
        fn any_body_is_decoded_without_panic(body: Vec<u8>) {
            let _ = decode(&body);
            let _ = decode(&[&[LAYOUT][..], &body].concat());
        }

        #[test]
        fn any_number_survives(number: u64) {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            let mut rest = &bytes[..];
            prop_assert_eq!(take_number(&mut rest), Some(number));
            prop_assert!(rest.is_empty());
        }
    }

    #[test]
    fn a_number_of_too_many_bits_is_refused() {
        for bytes in [
            &[0xFF; 11][..],
            &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02],
            &[0x80],
        ] {
            assert_eq!(take_number(&mut &bytes[..]), None);
        }
    }
}
