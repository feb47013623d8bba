//! A metadata format, as ListMetadataFormats shows it.

use super::MetadataPrefix;

/// One entry of ListMetadataFormats.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MetadataFormat {
    /// The name by which requests select the format.
    pub prefix: MetadataPrefix,
    /// The address of its XML Schema.
    pub schema: String,
    /// Its XML namespace.
    pub namespace: String,
}
