//! The crosswalks that come with the program, one file for each pair: `FROM-TO.map`.

use std::sync::LazyLock;

use super::Mapping;
use crate::format::Formats;

/// By the formats' prefixes, from and to.
const TEXTS: &[&str] = &[
    include_str!("datacite-oai_datacite.map"),
    include_str!("datacite-oai_dc.map"),
    include_str!("etdms-oai_dc.map"),
    include_str!("marc21-mods.map"),
    include_str!("marc21-oai_dc.map"),
    include_str!("marc21-oai_marc.map"),
    include_str!("mods-marc21.map"),
    include_str!("mods-oai_dc.map"),
    include_str!("oai_datacite-datacite.map"),
    include_str!("oai_dc-datacite.map"),
    include_str!("oai_dc-etdms.map"),
    include_str!("oai_dc-marc21.map"),
    include_str!("oai_dc-mods.map"),
    include_str!("oai_dc-qdc.map"),
    include_str!("oai_dc-rfc1807.map"),
    include_str!("oai_marc-marc21.map"),
    include_str!("qdc-oai_dc.map"),
    include_str!("rfc1807-oai_dc.map"),
    include_str!("unimarc-oai_dc.map"),
];

/// All of them.
pub fn all() -> &'static [Mapping] {
    static ALL: LazyLock<Vec<Mapping>> = LazyLock::new(|| {
        let formats = Formats::default();
        let read = |text: &&str| Mapping::read(text, &formats).expect("every mapping is tested");
        TEXTS.iter().map(read).collect()
    });
    &ALL
}

/// The one from a format to another.
#[must_use]
pub fn between(from: &str, to: &str) -> Option<&'static Mapping> {
    all().iter().find(|mapping| mapping.from == from && mapping.to == to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mapping_is_read_and_stands_in_the_file_of_its_name() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/crosswalk/built_in");
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "map") {
                let text = std::fs::read_to_string(&path).unwrap();
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                let mapping =
                    Mapping::read(&text, &Formats::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(format!("{}-{}", mapping.from, mapping.to), name);
                assert!(text.starts_with("# "), "{name} says by which table it maps");
                files.push(name);
            }
        }
        files.sort();
        let registered: Vec<String> = all().iter().map(|it| format!("{}-{}", it.from, it.to)).collect();
        assert_eq!(registered, files);
        assert!(between("marc21", "oai_dc").is_some() && between("oai_dc", "tei").is_none());
    }
}
