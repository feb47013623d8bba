//! Metadata formats: prefix, namespace, schema and root element of each.
//!
//! One table of those that repositories around the world serve; a repository
//! adds its own. Nothing here looks at a record.

use std::borrow::Cow;
use std::sync::LazyLock;

use stook_oai::{MetadataFormat, MetadataPrefix};

use crate::dublin_core::{OAI_DC_NAMESPACE, OAI_DC_SCHEMA};

/// A metadata format as a repository can offer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// How requests name it.
    pub prefix: MetadataPrefix,
    /// How people name it.
    pub name: Cow<'static, str>,
    /// The namespace ListMetadataFormats announces.
    pub namespace: Cow<'static, str>,
    /// The schema ListMetadataFormats announces and every record points to.
    pub schema: Cow<'static, str>,
    /// The elements a record may have as its root; at least one.
    pub roots: Vec<Root>,
}

/// An element that can be the root of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its namespace, usually but not always that of the format.
    pub namespace: Cow<'static, str>,
    /// Its local name; empty for any element of the namespace.
    pub name: Cow<'static, str>,
}

impl Format {
    /// A format of one's own. Without `root`, any element of the namespace may
    /// be the root of a record.
    #[must_use]
    pub fn new(prefix: MetadataPrefix, name: String, namespace: String, schema: String, root: Option<String>) -> Self {
        let root = Root {
            namespace: namespace.clone().into(),
            name: root.unwrap_or_default().into(),
        };
        Self {
            prefix,
            name: name.into(),
            namespace: namespace.into(),
            schema: schema.into(),
            roots: vec![root],
        }
    }

    /// Whether a record may have this element as its root.
    #[must_use]
    pub fn accepts_root(&self, namespace: &str, name: &str) -> bool {
        self.roots
            .iter()
            .any(|root| root.namespace == namespace && (root.name.is_empty() || root.name == name))
    }

    /// The format as ListMetadataFormats tells of it.
    #[must_use]
    pub fn metadata_format(&self) -> MetadataFormat {
        MetadataFormat {
            prefix: self.prefix.clone(),
            schema: self.schema.clone().into_owned(),
            namespace: self.namespace.clone().into_owned(),
        }
    }
}

/// The formats a repository knows: its own first, then the well-known ones.
#[derive(Debug, Clone)]
pub struct Formats {
    formats: Vec<Format>,
}

impl Formats {
    /// The well-known formats behind `own`, which win where both fit.
    #[must_use]
    pub fn new(own: Vec<Format>) -> Self {
        let mut formats = own;
        for format in well_known() {
            if !formats.iter().any(|known| known.prefix == format.prefix) {
                formats.push(format.clone());
            }
        }
        Self { formats }
    }

    /// The format that requests name so.
    #[must_use]
    pub fn by_prefix(&self, prefix: &str) -> Option<&Format> {
        self.formats.iter().find(|format| format.prefix.as_str() == prefix)
    }

    /// The first format whose records may have this root.
    #[must_use]
    pub fn by_root(&self, namespace: &str, name: &str) -> Option<&Format> {
        self.formats.iter().find(|format| format.accepts_root(namespace, name))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Format> {
        self.formats.iter()
    }
}

impl Default for Formats {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

/// The formats that are known without configuration; `oai_dc` is the first.
#[must_use]
pub fn well_known() -> &'static [Format] {
    static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(|| ROWS.iter().map(Row::read).collect());
    &FORMATS
}

/// A row of the table: prefix, name, namespace, schema, roots.
///
/// A root is a local name of the format's namespace, or `{namespace}name`.
/// Several are separated by a space.
struct Row(&'static str, &'static str, &'static str, &'static str, &'static str);

impl Row {
    fn read(&self) -> Format {
        let &Self(prefix, name, namespace, schema, roots) = self;
        let root = |text: &'static str| match text.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            Some((namespace, name)) => Root {
                namespace: namespace.into(),
                name: name.into(),
            },
            None => Root {
                namespace: namespace.into(),
                name: text.into(),
            },
        };
        Format {
            prefix: MetadataPrefix::parse(prefix).expect("every prefix of the table is tested"),
            name: name.into(),
            namespace: namespace.into(),
            schema: schema.into(),
            roots: roots.split(' ').map(root).collect(),
        }
    }
}

const CERIF_ROOTS: &str = "Publication Product Patent Person OrgUnit Project Funding Equipment Event Service";
const MARC: &str = crate::marc::MARCXML_NAMESPACE;
const MARC_SCHEMA: &str = "http://www.loc.gov/standards/marcxml/schema/MARC21slim.xsd";
const DIDL: &str = "urn:mpeg:mpeg21:2002:02-DIDL-NS";
const DIDL_SCHEMA: &str = "http://standards.iso.org/ittf/PubliclyAvailableStandards/MPEG-21_schema_files/did/didl.xsd";
const JATS: &str = "https://jats.nlm.nih.gov/ns/archiving/1.3/";
const JATS_SCHEMA: &str = "https://jats.nlm.nih.gov/archiving/1.3/xsd/JATS-archivearticle1-3.xsd";

/// Where prefixes share a root, the first row is the one a bare record gets;
/// for MARC that is `marc21`, as the protocol's MARCXML guideline recommends.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row("oai_dc", "Dublin Core", OAI_DC_NAMESPACE, OAI_DC_SCHEMA, "dc"),
    Row("qdc", "Qualified Dublin Core", "http://purl.org/dc/terms/", "http://dublincore.org/schemas/xmls/qdc/2006/01/06/dcterms.xsd", "{http://dspace.org/qualifieddc/}qualifieddc"),
    Row("marc21", "MARC 21", MARC, MARC_SCHEMA, "record"),
    Row("marcxml", "MARC 21 (prefix marcxml)", MARC, MARC_SCHEMA, "record"),
    Row("marc", "MARC 21 (prefix marc)", MARC, MARC_SCHEMA, "record"),
    Row("oai_marc", "OAI MARC", "http://www.openarchives.org/OAI/1.1/oai_marc", "http://www.openarchives.org/OAI/1.1/oai_marc.xsd", "oai_marc"),
    Row("unimarc", "UNIMARC in MarcXchange 2", "info:lc/xmlns/marcxchange-v2", "http://www.loc.gov/standards/iso25577/marcxchange-2-0.xsd", "record"),
    Row("marcxchange", "MarcXchange 1", "info:lc/xmlns/marcxchange-v1", "http://www.loc.gov/standards/iso25577/marcxchange-1-1.xsd", "record"),
    Row("mods", "MODS 3", "http://www.loc.gov/mods/v3", "http://www.loc.gov/standards/mods/v3/mods-3-8.xsd", "mods"),
    Row("mets", "METS 1", "http://www.loc.gov/METS/", "http://www.loc.gov/standards/mets/mets.xsd", "mets"),
    Row("premis", "PREMIS 3", "http://www.loc.gov/premis/v3", "http://www.loc.gov/standards/premis/premis.xsd", "premis"),
    Row("didl", "MPEG-21 DIDL", DIDL, DIDL_SCHEMA, "DIDL"),
    Row("nl_didl", "MPEG-21 DIDL (Dutch profile)", DIDL, DIDL_SCHEMA, "DIDL"),
    Row("etdms", "ETD-MS 1.0", "http://www.ndltd.org/standards/metadata/etdms/1.0/", "http://www.ndltd.org/standards/metadata/etdms/1.0/etdms.xsd", "thesis"),
    Row("oai_etdms", "ETD-MS 1.1", "http://www.ndltd.org/standards/metadata/etdms/1.1/", "http://www.ndltd.org/standards/metadata/etdms/1-1/etdms.xsd", "thesis"),
    Row("uketd_dc", "UK ETD", "http://naca.central.cranfield.ac.uk/ethos-oai/2.0/", "http://naca.central.cranfield.ac.uk/ethos-oai/2.0/uketd_dc.xsd", "uketddc"),
    Row("xMetaDissPlus", "XMetaDissPlus", "http://www.d-nb.de/standards/xmetadissplus/", "http://files.dnb.de/standards/xmetadissplus/xmetadissplus.xsd", "xMetaDiss"),
    Row("oai_xmetadiss", "XMetaDiss", "http://www.d-nb.de/standards/xMetaDiss/", "http://www.d-nb.de/standards/xmetadiss/xmetadiss.xsd", "xMetaDiss"),
    Row("epicur", "EPICUR", "urn:nbn:de:1111-2004033116", "http://www.persistent-identifier.de/xepicur/version1.0/xepicur.xsd", "epicur"),
    Row("rfc1807", "RFC 1807", "http://info.internet.isi.edu:80/in-notes/rfc/files/rfc1807.txt", "http://www.openarchives.org/OAI/1.1/rfc1807.xsd", "rfc1807"),
    Row("oai_lom", "IEEE LOM", "http://ltsc.ieee.org/xsd/LOM", "http://ltsc.ieee.org/xsd/lomv1.0/lom.xsd", "lom"),
    Row("ims", "IMS Learning Resource Metadata 1.2", "http://www.imsglobal.org/xsd/imsmd_v1p2", "http://www.imsglobal.org/xsd/imsmd_v1p2p4.xsd", "lom"),
    Row("datacite", "DataCite 4", "http://datacite.org/schema/kernel-4", "http://schema.datacite.org/meta/kernel-4/metadata.xsd", "resource"),
    Row("oai_datacite", "OAI DataCite 1.1", "http://schema.datacite.org/oai/oai-1.1/", "http://schema.datacite.org/oai/oai-1.1/oai.xsd", "oai_datacite"),
    Row("oai_openaire", "OpenAIRE Literature 4", "http://namespace.openaire.eu/schema/oaire/", "https://www.openaire.eu/schema/repo-lit/4.0/openaire.xsd", "resource"),
    Row("oai_cerif_openaire", "OpenAIRE CERIF 1.1", "https://www.openaire.eu/cerif-profile/1.1/", "https://www.openaire.eu/schema/cris/1.1.1/openaire-cerif-profile.xsd", CERIF_ROOTS),
    Row("oai_cerif_openaire_1.2", "OpenAIRE CERIF 1.2", "https://www.openaire.eu/cerif-profile/1.2/", "https://www.openaire.eu/schema/cris/1.2/openaire-cerif-profile.xsd", CERIF_ROOTS),
    Row("rioxx", "RIOXX 3", "http://www.rioxx.net/schema/v3.0/rioxx/", "http://www.rioxx.net/schema/v3.0/rioxx/rioxx.xsd", "rioxx"),
    Row("rioxx2", "RIOXX 2", "http://www.rioxx.net/schema/v2.0/rioxx/", "http://www.rioxx.net/schema/v2.0/rioxx/rioxx.xsd", "rioxx"),
    Row("junii2", "JUNII2", "http://irdb.nii.ac.jp/oai", "http://irdb.nii.ac.jp/oai/junii2-3-1.xsd", "junii2"),
    Row("jpcoar_2.0", "JPCOAR 2.0", "https://github.com/JPCOAR/schema/blob/master/2.0/", "https://raw.githubusercontent.com/JPCOAR/schema/master/2.0/jpcoar_scm.xsd", "jpcoar"),
    Row("ese", "Europeana Semantic Elements", "http://www.europeana.eu/schemas/ese/", "http://www.europeana.eu/schemas/ese/ESE-V3.4.xsd", "record"),
    Row("edm", "Europeana Data Model", "http://www.europeana.eu/schemas/edm/", "http://www.europeana.eu/schemas/edm/EDM.xsd", "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}RDF"),
    Row("rdf", "RDF", "http://www.openarchives.org/OAI/2.0/rdf/", "http://www.openarchives.org/OAI/2.0/rdf.xsd", "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}RDF"),
    Row("lido", "LIDO 1.0", "http://www.lido-schema.org", "http://www.lido-schema.org/schema/v1.0/lido-v1.0.xsd", "lido"),
    Row("ead", "EAD 2002", "urn:isbn:1-931666-22-9", "http://www.loc.gov/ead/ead.xsd", "ead"),
    Row("ead3", "EAD3", "http://ead3.archivists.org/schema/", "https://www.loc.gov/ead/ead3.xsd", "ead"),
    Row("dif", "GCMD DIF 9", "http://gcmd.gsfc.nasa.gov/Aboutus/xml/dif/", "http://gcmd.gsfc.nasa.gov/Aboutus/xml/dif/dif_v9.7.xsd", "DIF"),
    Row("iso19139", "ISO 19139", "http://www.isotc211.org/2005/gmd", "http://www.isotc211.org/2005/gmd/gmd.xsd", "MD_Metadata"),
    Row("iso19115-3", "ISO 19115-3", "http://standards.iso.org/iso/19115/-3/mdb/2.0", "http://standards.iso.org/iso/19115/-3/mdb/2.0/mdb.xsd", "MD_Metadata"),
    Row("dim", "DSpace Intermediate Metadata", "http://www.dspace.org/xmlns/dspace/dim", "http://www.dspace.org/schema/dim.xsd", "dim"),
    Row("xoai", "XOAI", "http://www.lyncode.com/xoai", "http://www.lyncode.com/schemas/xoai.xsd", "metadata"),
    Row("ore", "OAI-ORE in Atom", "http://www.w3.org/2005/Atom", "http://tweety.lanl.gov/public/schemas/2008-06/atom-tron.sch", "entry"),
    Row("jats", "JATS Archiving 1.3", JATS, JATS_SCHEMA, "article"),
    Row("pmc", "JATS full text", JATS, JATS_SCHEMA, "article"),
    Row("pmc_fm", "JATS front matter", JATS, JATS_SCHEMA, "article"),
    Row("nlm", "NLM Journal Publishing 2.3", "http://dtd.nlm.nih.gov/publishing/2.3", "http://dtd.nlm.nih.gov/publishing/2.3/xsd/journalpublishing.xsd", "article"),
    Row("oai_doaj", "DOAJ article", "http://doaj.org/features/oai_doaj/1.0/", "https://doaj.org/static/doaj/doajArticles.xsd", "doajArticle"),
    Row("cmdi", "CMDI 1.2", "http://www.clarin.eu/cmd/1", "https://infra.clarin.eu/CMDI/1.x/xsd/cmd-envelop.xsd", "CMD"),
    Row("olac", "OLAC 1.1", "http://www.language-archives.org/OLAC/1.1/", "http://www.language-archives.org/OLAC/1.1/olac.xsd", "olac"),
    Row("oai_ddi25", "DDI Codebook 2.5", "ddi:codebook:2_5", "http://www.ddialliance.org/Specification/DDI-Codebook/2.5/XMLSchema/codebook.xsd", "codeBook"),
    Row("ddi32", "DDI Lifecycle 3.2", "ddi:instance:3_2", "http://www.ddialliance.org/Specification/DDI-Lifecycle/3.2/XMLSchema/instance.xsd", "DDIInstance"),
    Row("eml", "EML 2.1.1", "eml://ecoinformatics.org/eml-2.1.1", "http://rs.gbif.org/schema/eml-gbif-profile/1.1/eml.xsd", "eml"),
    Row("arXiv", "arXiv", "http://arxiv.org/OAI/arXiv/", "http://arxiv.org/OAI/arXiv.xsd", "arXiv"),
    Row("arXivRaw", "arXiv with versions", "http://arxiv.org/OAI/arXivRaw/", "http://arxiv.org/OAI/arXivRaw.xsd", "arXivRaw"),
    Row("tei", "TEI P5", "http://www.tei-c.org/ns/1.0", "https://api.archives-ouvertes.fr/documents/aofr.xsd", "TEI"),
    Row("ivo_vor", "VOResource", "http://www.ivoa.net/xml/RegistryInterface/v1.0", "http://www.ivoa.net/xml/RegistryInterface/v1.0", "Resource"),
    Row("srw_dc", "SRU Dublin Core", "info:srw/schema/1/dc-schema", "http://www.loc.gov/standards/sru/resources/dc-schema.xsd", "dc"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_complete_and_unique() {
        for (index, format) in well_known().iter().enumerate() {
            let prefix = &format.prefix;
            assert!(format.namespace.contains(':'), "{prefix}");
            assert!(format.schema.starts_with("http"), "{prefix}");
            assert!(!format.name.is_empty() && !format.roots.is_empty(), "{prefix}");
            for root in &format.roots {
                assert!(root.namespace.contains(':') && !root.name.is_empty(), "{prefix}");
            }
            assert!(
                well_known()[index + 1..].iter().all(|other| other.prefix != *prefix),
                "{prefix}"
            );
        }
    }

    #[test]
    fn oai_dc_is_first_and_official() {
        let oai_dc = &well_known()[0];
        assert_eq!(oai_dc.prefix, MetadataPrefix::oai_dc());
        assert_eq!(oai_dc.namespace, "http://www.openarchives.org/OAI/2.0/oai_dc/");
        assert_eq!(oai_dc.schema, "http://www.openarchives.org/OAI/2.0/oai_dc.xsd");
    }

    #[test]
    fn a_bare_marc_record_is_marc21() {
        let formats = Formats::default();
        let format = formats.by_root("http://www.loc.gov/MARC21/slim", "record").unwrap();
        assert_eq!(format.prefix.as_str(), "marc21");
        assert!(
            formats
                .by_root("http://www.loc.gov/MARC21/slim", "collection")
                .is_none()
        );
    }

    #[test]
    fn formats_of_ones_own_win() {
        let own = Format::new(
            MetadataPrefix::parse("mods").unwrap(),
            "Our MODS".to_owned(),
            "http://www.loc.gov/mods/v3".to_owned(),
            "https://example.org/mods.xsd".to_owned(),
            None,
        );
        let formats = Formats::new(vec![own]);
        assert_eq!(formats.by_prefix("mods").unwrap().name, "Our MODS");
        let any_root = formats.by_root("http://www.loc.gov/mods/v3", "modsCollection").unwrap();
        assert_eq!(any_root.name, "Our MODS");
        assert_eq!(formats.iter().count(), well_known().len());
    }
}
