//! The optional containers of Identify and ListSets, by the schemas the Open
//! Archives Initiative published for them.
//!
//! Values enter, one standing-alone element of XML leaves. Received
//! containers are not taken apart; they stay [`Description::Xml`].

use super::flaw::Flaw;
use super::{Identifier, InvalidIdentifier, OaiNamespace, text_type};
use crate::xml::{self, push_attribute, push_element, push_end, push_start};

/// What stands inside one `description` or `setDescription`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Description {
    /// The repository names its items by the oai-identifier guideline. At
    /// most one per repository; see [`Description::oai_identifier`].
    OaiIdentifier {
        /// The namespace of all its identifiers.
        namespace: OaiNamespace,
        /// An identifier of that namespace.
        sample: Identifier,
    },
    /// Other repositories worth knowing.
    Friends {
        /// Their base URLs.
        base_urls: Vec<String>,
    },
    /// How harvesters may show where records come from.
    Branding {
        /// A small picture.
        icon: Option<CollectionIcon>,
        /// Style sheets by metadata namespace.
        renderings: Vec<MetadataRendering>,
    },
    /// The policies of an archive of e-prints.
    Eprints {
        /// What the archive holds.
        content: Option<Policy>,
        /// What may be done with harvested metadata.
        metadata_policy: Policy,
        /// What may be done with the full content.
        data_policy: Policy,
        /// Who may submit what.
        submission_policy: Option<Policy>,
        /// Anything else.
        comments: Vec<String>,
    },
    /// Which rights statements apply to the metadata.
    RightsManifest {
        /// The manifest must have one statement …
        first: Rights,
        /// … and may have more.
        others: Vec<Rights>,
    },
    /// Any other container: one element that declares its namespaces and its
    /// schemaLocation.
    Xml(String),
}

/// The picture of a collection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CollectionIcon {
    /// Where the picture is.
    pub url: String,
    /// Where a click on it leads.
    pub link: Option<String>,
    /// What it shows, in words.
    pub title: Option<String>,
    /// Width in pixels.
    pub width: Option<u32>,
    /// Height in pixels.
    pub height: Option<u32>,
}

/// A style sheet for metadata of one namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataRendering {
    /// Where the style sheet is.
    pub url: String,
    /// The namespace it is for.
    pub metadata_namespace: String,
    /// What language it is written in.
    pub mime_type: MimeType,
}

/// A media type as the branding schema allows it: lower-case letters, a slash,
/// lower-case letters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MimeType(String);

text_type!(
    MimeType,
    InvalidMimeType,
    "a media type of the branding schema, such as text/xsl"
);

fn flaw_of(text: &str) -> Option<Flaw> {
    let Some((kind, subtype)) = text.split_once('/') else {
        return Some(Flaw::Missing("slash"));
    };
    for (part, start) in [(kind, 0), (subtype, kind.len() + 1)] {
        if part.is_empty() {
            return Some(Flaw::EmptyPart {
                offset: start,
                delimiter: '/',
            });
        }
        if let Some(stray) = part.bytes().position(|byte| !byte.is_ascii_lowercase()) {
            let allowed = "lower-case letters and one slash";
            return Some(super::flaw::illegal_character(text, start + stray, allowed));
        }
    }
    None
}

/// A policy: an address, a text, or both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// Where the policy can be read.
    pub url: Option<String>,
    /// The policy in words.
    pub text: Option<String>,
}

/// A rights statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rights {
    /// The address of the statement.
    Reference(String),
    /// The statement itself: one element of XML that stands alone.
    Definition(String),
}

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
const RIGHTS_APPLY_TO: &str = "http://www.openarchives.org/OAI/2.0/entity#metadata";

impl Description {
    /// Announces oai-identifiers, with a sample made from a local name.
    ///
    /// # Errors
    ///
    /// When the local name makes no identifier.
    pub fn oai_identifier(namespace: OaiNamespace, sample_local: &str) -> Result<Self, InvalidIdentifier> {
        let sample = namespace.identifier(sample_local)?;
        Ok(Self::OaiIdentifier { namespace, sample })
    }

    /// The container as one element of XML that stands alone.
    ///
    /// ```
    /// use stook_oai::Description;
    ///
    /// let friends = Description::Friends { base_urls: vec!["https://example.org/oai".into()] };
    /// assert!(friends.to_xml().contains("<baseURL>https://example.org/oai</baseURL>"));
    /// ```
    #[must_use]
    pub fn to_xml(&self) -> String {
        let mut out = Vec::new();
        self.push_to(&mut out);
        // Everything appended came from strings.
        String::from_utf8(out).unwrap_or_default()
    }

    /// Appends what [`Description::to_xml`] returns.
    pub fn push_to(&self, out: &mut Vec<u8>) {
        match self {
            Self::OaiIdentifier { namespace, sample } => {
                push_oai_identifier(out, namespace, sample);
            }
            Self::Friends { base_urls } => push_friends(out, base_urls),
            Self::Branding { icon, renderings } => push_branding(out, icon.as_ref(), renderings),
            Self::Eprints {
                content,
                metadata_policy,
                data_policy,
                submission_policy,
                comments,
            } => {
                open(
                    out,
                    "eprints",
                    "http://www.openarchives.org/OAI/1.1/eprints",
                    "http://www.openarchives.org/OAI/1.1/eprints.xsd",
                );
                out.push(b'>');
                push_policy(out, "content", content.as_ref());
                push_policy(out, "metadataPolicy", Some(metadata_policy));
                push_policy(out, "dataPolicy", Some(data_policy));
                push_policy(out, "submissionPolicy", submission_policy.as_ref());
                for comment in comments {
                    push_element(out, "comment", comment);
                }
                push_end(out, "eprints");
            }
            Self::RightsManifest { first, others } => push_rights_manifest(out, first, others),
            Self::Xml(text) => out.extend_from_slice(text.as_bytes()),
        }
    }
}

fn push_oai_identifier(out: &mut Vec<u8>, namespace: &OaiNamespace, sample: &Identifier) {
    open(
        out,
        "oai-identifier",
        "http://www.openarchives.org/OAI/2.0/oai-identifier",
        "http://www.openarchives.org/OAI/2.0/oai-identifier.xsd",
    );
    out.push(b'>');
    push_element(out, "scheme", "oai");
    push_element(out, "repositoryIdentifier", namespace.as_str());
    push_element(out, "delimiter", ":");
    push_element(out, "sampleIdentifier", sample.as_str());
    push_end(out, "oai-identifier");
}

fn push_friends(out: &mut Vec<u8>, base_urls: &[String]) {
    open(
        out,
        "friends",
        "http://www.openarchives.org/OAI/2.0/friends/",
        "http://www.openarchives.org/OAI/2.0/friends.xsd",
    );
    out.push(b'>');
    for base_url in base_urls {
        push_element(out, "baseURL", base_url);
    }
    push_end(out, "friends");
}

fn push_branding(out: &mut Vec<u8>, icon: Option<&CollectionIcon>, renderings: &[MetadataRendering]) {
    open(
        out,
        "branding",
        "http://www.openarchives.org/OAI/2.0/branding/",
        "http://www.openarchives.org/OAI/2.0/branding.xsd",
    );
    out.push(b'>');
    if let Some(icon) = icon {
        out.extend_from_slice(b"<collectionIcon>");
        push_element(out, "url", &icon.url);
        push_optional_element(out, "link", icon.link.as_deref());
        push_optional_element(out, "title", icon.title.as_deref());
        push_optional_element(out, "width", icon.width.map(|pixels| pixels.to_string()).as_deref());
        push_optional_element(out, "height", icon.height.map(|pixels| pixels.to_string()).as_deref());
        push_end(out, "collectionIcon");
    }
    for rendering in renderings {
        out.extend_from_slice(b"<metadataRendering");
        push_attribute(out, "metadataNamespace", &rendering.metadata_namespace);
        push_attribute(out, "mimeType", rendering.mime_type.as_str());
        out.push(b'>');
        xml::push_text(out, &rendering.url);
        push_end(out, "metadataRendering");
    }
    push_end(out, "branding");
}

fn push_rights_manifest(out: &mut Vec<u8>, first: &Rights, others: &[Rights]) {
    open(
        out,
        "rightsManifest",
        "http://www.openarchives.org/OAI/2.0/rights/",
        "http://www.openarchives.org/OAI/2.0/rightsManifest.xsd",
    );
    push_attribute(out, "appliesTo", RIGHTS_APPLY_TO);
    out.push(b'>');
    for rights in std::iter::once(first).chain(others) {
        out.extend_from_slice(b"<rights>");
        match rights {
            Rights::Reference(address) => {
                out.extend_from_slice(b"<rightsReference");
                push_attribute(out, "ref", address);
                out.extend_from_slice(b"/>");
            }
            Rights::Definition(statement) => {
                out.extend_from_slice(b"<rightsDefinition>");
                out.extend_from_slice(statement.as_bytes());
                push_end(out, "rightsDefinition");
            }
        }
        push_end(out, "rights");
    }
    push_end(out, "rightsManifest");
}

fn push_policy(out: &mut Vec<u8>, name: &str, policy: Option<&Policy>) {
    let Some(policy) = policy else { return };
    push_start(out, name);
    push_optional_element(out, "URL", policy.url.as_deref());
    push_optional_element(out, "text", policy.text.as_deref());
    push_end(out, name);
}

/// Opens a root element up to, and without, the `>` of its start tag.
fn open(out: &mut Vec<u8>, name: &str, namespace: &str, schema: &str) {
    out.push(b'<');
    out.extend_from_slice(name.as_bytes());
    push_attribute(out, "xmlns", namespace);
    push_attribute(out, "xmlns:xsi", XSI);
    push_attribute(out, "xsi:schemaLocation", &format!("{namespace} {schema}"));
}

fn push_optional_element(out: &mut Vec<u8>, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        push_element(out, name, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_two_words_of_lower_case_letters() {
        assert!(MimeType::parse("text/xsl").is_ok());
        for bad in [
            "",
            "text",
            "text/",
            "/xsl",
            "Text/xsl",
            "text/x-dsssl",
            "a/b/c",
            "text/xsl;q=1",
        ] {
            assert!(MimeType::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_sample_identifier_is_escaped() {
        let namespace = OaiNamespace::parse("example.org").unwrap();
        let description = Description::oai_identifier(namespace.clone(), "a b").unwrap();
        assert!(
            description
                .to_xml()
                .contains("<sampleIdentifier>oai:example.org:a%20b</sampleIdentifier>")
        );
        assert!(Description::oai_identifier(namespace, "").is_err());
    }
}
