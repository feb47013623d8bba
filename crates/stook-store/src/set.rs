//! How a set is kept in columns.

use stook_oai::{Set, SetSpec};

use crate::StoreError;

/// Between the descriptions of a set: a character that XML cannot contain.
const DESCRIPTION_SEPARATOR: &str = "\u{1e}";

/// The descriptions of a set in one column.
pub(crate) fn descriptions_of(set: &Set) -> String {
    set.descriptions.join(DESCRIPTION_SEPARATOR)
}

/// A set from its columns.
pub(crate) fn set_from(spec: &str, name: Option<String>, descriptions: Option<&str>) -> Result<Set, StoreError> {
    let spec = SetSpec::parse(spec).map_err(|_| StoreError::Damaged(format!("set {spec:?}")))?;
    // A set nobody has named is called by the last element of its path.
    let name = name.unwrap_or_else(|| spec.as_str().rsplit(':').next().unwrap_or_default().to_owned());
    let descriptions = descriptions.filter(|text| !text.is_empty());
    Ok(Set {
        spec,
        name,
        descriptions: descriptions.map_or_else(Vec::new, |text| {
            text.split(DESCRIPTION_SEPARATOR).map(str::to_owned).collect()
        }),
    })
}
