//! The check every record passes before it is published.
//!
//! The XML of one record enters. It leaves as exactly one element that can
//! stand alone in any response: well-formed, with its namespaces declared
//! inside, with the root its format demands and an `xsi:schemaLocation` that
//! names the format's schema. Whatever is not the root's business leaves byte
//! for byte as it came. What does not obey leaves as a [`Fault`].
//!
//! Outside the root, an XML declaration, comments and processing instructions
//! are dropped; a document type declaration is a fault, so that no entity is
//! ever expanded.

mod content;
mod marc;
mod root;
mod walk;

use crate::fault::Fault;
use crate::format::Format;
use crate::namespaces::Namespaces;

use content::Content;
use walk::Walk;

pub use walk::{MAX_DEPTH, MAX_NAMESPACES};
pub(crate) use walk::{declared_prefix, split};

/// Checks a record that stands alone.
///
/// # Errors
///
/// The first fault: not well-formed, another root, for `oai_dc` anything
/// beside the fifteen elements, for MARCXML what its schema forbids in
/// leaders, tags, indicators and subfields, and for formats that have a
/// [model](crate::model) what that does not allow. Of such, which leave the
/// rest of the record readable, up to ten come together.
///
/// ```
/// use stook_metadata::{check, well_known};
///
/// let oai_dc = &well_known()[0];
/// let checked = check(
///     r#"<?xml version="1.0"?>
/// <dc xmlns="http://www.openarchives.org/OAI/2.0/oai_dc/"
///     xmlns:d="http://purl.org/dc/elements/1.1/"><d:title>Stadtplan</d:title></dc>"#,
///     oai_dc,
/// )?;
/// assert!(checked.starts_with("<dc xmlns="));
/// assert!(checked.contains("xsi:schemaLocation="));
///
/// let fault = check("<html/>", oai_dc).unwrap_err();
/// assert!(fault.to_string().starts_with("the root is"));
/// # Ok::<(), stook_metadata::Fault>(())
/// ```
pub fn check(xml: &str, format: &Format) -> Result<String, Fault> {
    check_within(xml, format, &Namespaces::none())
}

/// Checks a record that was cut out of a larger document, where `around` was
/// declared. Declarations it needs are added to its root.
///
/// # Errors
///
/// As [`check`].
pub fn check_within(xml: &str, format: &Format, around: &Namespaces) -> Result<String, Fault> {
    let walked = Walk::new(xml, around, Content::of(format)).finish()?;
    Ok(root::stand_alone(xml, &walked, around, Some(format)))
}

/// Checks an about container: any element in a namespace of its own.
///
/// # Errors
///
/// Not well-formed, or a root without namespace or in that of the protocol.
pub fn check_about(xml: &str, around: &Namespaces) -> Result<String, Fault> {
    let walked = Walk::new(xml, around, Content::About).finish()?;
    Ok(root::stand_alone(xml, &walked, around, None))
}

/// Holds what stands in a description or an about container to its [model](crate::model::containers), if it has one.
///
/// ```
/// use stook_metadata::{Namespaces, check_container};
///
/// let friends = "<friends xmlns='http://www.openarchives.org/OAI/2.0/friends/'><url/></friends>";
/// let fault = check_container(friends, &Namespaces::none()).unwrap_err();
/// assert!(fault.to_string().starts_with("friends/url is not an element of friends"));
/// ```
///
/// # Errors
///
/// Not well-formed, or not what the model says.
pub fn check_container(xml: &str, around: &Namespaces) -> Result<(), Fault> {
    let walk = Walk::new(xml, around, Content::Container(std::cell::RefCell::default()));
    walk.finish().map(drop)
}

#[cfg(test)]
mod tests;
