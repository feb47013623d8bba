//! The words of the protocol as types: a value that exists obeys its grammar.
//!
//! Text enters through `parse`, typed values leave. Nothing here knows how a
//! request or a response is laid out, and nothing reads a clock.

mod admin_email;
mod datestamp;
mod description;
mod error;
mod excerpt;
mod flaw;
mod format;
mod header;
mod identifier;
mod identify;
mod metadata_prefix;
mod oai_namespace;
mod record;
mod resumption_token;
mod set;
mod set_spec;
mod uri;
mod utc_datetime;
mod verb;

pub use admin_email::admin_email_is_valid;
pub use datestamp::{Datestamp, FormattedDatestamp, Granularity};
pub use description::{CollectionIcon, Description, InvalidMimeType, MetadataRendering, MimeType, Policy, Rights};
pub use error::{ErrorCode, OaiError};
pub use excerpt::Excerpt;
pub use flaw::Flaw;
pub use format::MetadataFormat;
pub use header::{Header, OddDatestamp};
pub use identifier::{Identifier, InvalidIdentifier};
pub use identify::{DeletedRecord, Identify};
pub use metadata_prefix::{InvalidMetadataPrefix, MetadataPrefix};
pub use oai_namespace::{InvalidOaiNamespace, OaiNamespace};
pub use record::Record;
pub use resumption_token::ResumptionToken;
pub use set::Set;
pub use set_spec::{InvalidSetSpec, SetSpec};
pub use uri::any_uri_flaw;
pub use utc_datetime::{InvalidDatetime, UtcDatetime};
pub use verb::Verb;

/// What every string with a grammar offers, around its own `flaw_of`.
macro_rules! text_type {
    ($name:ident, $invalid:ident, $article_and_noun:literal) => {
        impl $name {
            #[doc = concat!("Reads ", $article_and_noun, ".")]
            ///
            /// # Errors
            ///
            /// The text, and what is wrong with it.
            pub fn parse(text: &str) -> Result<Self, $invalid> {
                match flaw_of(text) {
                    None => Ok(Self(text.to_owned())),
                    Some(flaw) => Err($invalid {
                        value: text.to_owned(),
                        flaw,
                    }),
                }
            }

            /// The text as it was written.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text, given away.
            #[must_use]
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $invalid;

            fn from_str(text: &str) -> Result<Self, $invalid> {
                Self::parse(text)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        #[doc = concat!("Text that is not ", $article_and_noun, ".")]
        #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
        #[error("{} is not {}: {flaw}", $crate::types::Excerpt(value), $article_and_noun)]
        pub struct $invalid {
            /// The text that was refused.
            pub value: String,
            /// What is wrong with it.
            pub flaw: $crate::types::Flaw,
        }
    };
}
use text_type;
