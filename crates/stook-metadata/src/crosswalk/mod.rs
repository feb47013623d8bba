//! From one format to another, by tables that people can read.
//!
//! A [`Mapping`] is read from text once (`read`) and applied to any number of records: the record becomes a
//! [`tree`], [`path`]s find values in it, `apply` puts them where the rules say, `write` makes XML of it. Mappings of
//! one's own and those that come with the program ([`built_in`]) are written in the same words.

mod apply;
pub mod built_in;
mod key;
pub(crate) mod mapping;
pub mod path;
mod read;
#[cfg(test)]
mod tests;
mod texts;
pub mod tree;
pub(crate) mod values;
mod write;

pub use mapping::Mapping;
pub use read::MappingError;

use crate::dublin_core::{DC_NAMESPACE, OAI_DC_NAMESPACE};
use crate::format::Format;
use crate::marc::{MARCXCHANGE_1_NAMESPACE, MARCXCHANGE_NAMESPACE, MARCXML_NAMESPACE, OAI_MARC_NAMESPACE};
use crate::namespaces::{XML, XSI};

const DCTERMS: &str = "http://purl.org/dc/terms/";
const QUALIFIED_DC: &str = "http://dspace.org/qualifieddc/";
const MODS: &str = "http://www.loc.gov/mods/v3";
const DATACITE: &str = "http://datacite.org/schema/kernel-4";
const OAI_DATACITE: &str = "http://schema.datacite.org/oai/oai-1.1/";
const ETDMS: &str = "http://www.ndltd.org/standards/metadata/etdms/1.0/";
const ETDMS_1_1: &str = "http://www.ndltd.org/standards/metadata/etdms/1.1/";
const RFC1807: &str = "http://info.internet.isi.edu:80/in-notes/rfc/files/rfc1807.txt";

/// Prefixes that every mapping may use without declaring them.
const KNOWN_NAMESPACES: &[(&str, &str)] = &[
    ("xml", XML),
    ("xsi", XSI),
    ("oai_dc", OAI_DC_NAMESPACE),
    ("dc", DC_NAMESPACE),
    ("dcterms", DCTERMS),
    ("qdc", QUALIFIED_DC),
    ("mods", MODS),
    ("marc", MARCXML_NAMESPACE),
    ("datacite", DATACITE),
    ("oai_datacite", OAI_DATACITE),
    ("etdms", ETDMS),
    ("rfc1807", RFC1807),
    ("oai_marc", OAI_MARC_NAMESPACE),
    ("xlink", "http://www.w3.org/1999/xlink"),
];

/// Namespaces whose records are written without prefixes, as is usual for them.
const UNPREFIXED: &[&str] = &[
    MODS,
    MARCXML_NAMESPACE,
    DATACITE,
    OAI_DATACITE,
    ETDMS,
    ETDMS_1_1,
    RFC1807,
    OAI_MARC_NAMESPACE,
    MARCXCHANGE_1_NAMESPACE,
    MARCXCHANGE_NAMESPACE,
];

/// The namespace of names without a prefix.
fn element_namespace(format: &Format) -> &str {
    match &*format.namespace {
        OAI_DC_NAMESPACE => DC_NAMESPACE,
        namespace => namespace,
    }
}

fn is_marc(format: &Format) -> bool {
    is_marc_namespace(&format.namespace)
}

fn is_marc_namespace(namespace: &str) -> bool {
    matches!(
        namespace,
        MARCXML_NAMESPACE | MARCXCHANGE_1_NAMESPACE | MARCXCHANGE_NAMESPACE
    )
}
