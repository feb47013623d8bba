//! Namespace declarations in force around a piece of XML.
//!
//! Whoever cuts a record out of a larger document collects the declarations it
//! met on the way down, and hands them to the check with the cut-out piece.

/// The namespace of `xml:lang` and its like, bound without declaration.
pub const XML: &str = "http://www.w3.org/XML/1998/namespace";
/// The namespace of `xsi:schemaLocation`.
pub const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// The namespace of declarations themselves; nothing may be bound to it.
pub(crate) const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

/// Prefixes and what they stand for; the innermost declaration counts. The
/// empty prefix is the default namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Namespaces {
    declarations: Vec<(Box<str>, Box<str>)>,
}

impl Namespaces {
    /// No declarations.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            declarations: Vec::new(),
        }
    }

    /// Adds a declaration inside those that are there.
    pub fn declare(&mut self, prefix: &str, uri: &str) {
        self.declarations.push((prefix.into(), uri.into()));
    }

    /// How many declarations there are; see [`Self::truncate`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.declarations.len()
    }

    /// Whether there is no declaration.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.declarations.is_empty()
    }

    /// Forgets all but the first declarations: the way out of an element.
    pub fn truncate(&mut self, len: usize) {
        self.declarations.truncate(len);
    }

    /// What a prefix stands for, `None` if nobody declared it. The empty
    /// prefix stands for no namespace, `""`, unless declared.
    #[must_use]
    pub fn resolve(&self, prefix: &str) -> Option<&str> {
        let declared = self.declarations.iter().rev().find(|(known, _)| **known == *prefix);
        match (declared, prefix) {
            (Some((_, uri)), _) => Some(uri),
            (None, "xml") => Some(XML),
            (None, "") => Some(""),
            (None, _) => None,
        }
    }

    /// The declarations that count, innermost first: no prefix twice.
    pub(crate) fn in_force(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = &self.declarations;
        all.iter().enumerate().rev().filter_map(move |(index, (prefix, uri))| {
            let hidden = all[index + 1..].iter().any(|(inner, _)| inner == prefix);
            (!hidden).then_some((&**prefix, &**uri))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_declaration_counts() {
        let mut namespaces = Namespaces::none();
        namespaces.declare("", "urn:outer");
        namespaces.declare("a", "urn:a");
        namespaces.declare("", "urn:inner");
        assert_eq!(namespaces.resolve(""), Some("urn:inner"));
        let in_force: Vec<_> = namespaces.in_force().collect();
        assert_eq!(in_force, [("", "urn:inner"), ("a", "urn:a")]);
        namespaces.truncate(2);
        assert_eq!(namespaces.resolve(""), Some("urn:outer"));
    }

    #[test]
    fn xml_is_bound_and_other_prefixes_are_not() {
        assert_eq!(Namespaces::none().resolve("xml"), Some(XML));
        assert_eq!(Namespaces::none().resolve(""), Some(""));
        assert_eq!(Namespaces::none().resolve("dc"), None);
    }
}
