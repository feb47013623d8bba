//! Records of MARC on their way out: from the XML they are kept in to ISO 2709.

use anyhow::{Result, bail};
use stook_metadata::marc::{
    Defect, Dialect, MARCXCHANGE_1_NAMESPACE, MARCXCHANGE_NAMESPACE, MARCXML_NAMESPACE, OAI_MARC_NAMESPACE, iso2709,
    oai_marc, xml,
};
use stook_oai::MetadataFormat;

/// Which XML a format keeps MARC in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MarcFormat {
    Marc21,
    MarcXchange,
    OaiMarc,
}

impl MarcFormat {
    /// # Errors
    /// When records of this format are not MARC.
    pub(super) fn of(format: &MetadataFormat) -> Result<Self> {
        Ok(match format.namespace.as_str() {
            MARCXML_NAMESPACE => Self::Marc21,
            MARCXCHANGE_1_NAMESPACE | MARCXCHANGE_NAMESPACE => Self::MarcXchange,
            OAI_MARC_NAMESPACE => Self::OaiMarc,
            _ => bail!(
                "records of the format {} are not MARC and cannot be written as ISO 2709\nTry: --prefix marc21, or \
                 --format jsonl",
                format.prefix
            ),
        })
    }

    /// Appends a record.
    pub(super) fn append(self, metadata: &str, out: &mut Vec<u8>) -> Result<(), Defect> {
        let (record, dialect) = match self {
            Self::Marc21 => (xml::read(metadata)?, Dialect::Marc21),
            Self::MarcXchange => (xml::read(metadata)?, Dialect::Unimarc),
            Self::OaiMarc => (oai_marc::read(metadata)?, Dialect::Marc21),
        };
        iso2709::write(&record, dialect, out)
    }
}
