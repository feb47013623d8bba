//! XML that is handed on: what `metadata`, `about` and the descriptions hold.

use super::super::error::{ReadError, ReadFault};
use super::super::tag::split_prefix;
use super::{Cursor, Opened};
use crate::response::repair::Tolerance;
use crate::xml;

/// Prefixes that records use without declaring them, and what everybody means
/// by them.
const WELL_KNOWN: [(&str, &str); 7] = [
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("marc", "http://www.loc.gov/MARC21/slim"),
    ("mods", "http://www.loc.gov/mods/v3"),
    ("oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc/"),
    ("xlink", "http://www.w3.org/1999/xlink"),
    ("xsi", "http://www.w3.org/2001/XMLSchema-instance"),
];

impl Cursor<'_> {
    /// The one element inside the container last opened, as XML that stands
    /// alone: the bytes received, with the namespace declarations it inherits
    /// and uses added to its start tag.
    ///
    /// A prefix counts as used if it occurs before a colon anywhere in the
    /// element, because values such as `xsi:type="dcterms:URI"` use it too.
    pub(in super::super) fn contained(&mut self, container: &'static str) -> Result<String, ReadError> {
        match self.contained_or_none(container)? {
            Some(element) => Ok(element),
            None => Err(self.error(ReadFault::Missing {
                element: "element",
                parent: container,
            })),
        }
    }

    /// The same, or nothing if the container is empty.
    pub(in super::super) fn contained_or_none(&mut self, container: &'static str) -> Result<Option<String>, ReadError> {
        let Some(root) = self.child(container)? else {
            return Ok(None);
        };
        let alone = self.hand_on(&root)?;
        match self.child(container)? {
            None => Ok(Some(alone)),
            Some(_) => Err(self.error(ReadFault::Repeated {
                element: "element",
                parent: container,
            })),
        }
    }

    /// What an optional container holds. A lenient reader also takes several
    /// elements, or none.
    pub(in super::super) fn all_contained(
        &mut self,
        container: &'static str,
        into: &mut Vec<String>,
    ) -> Result<(), ReadError> {
        if !self.is_lenient() {
            into.push(self.contained(container)?);
            return Ok(());
        }
        let before = into.len();
        while let Some(root) = self.child(container)? {
            let alone = self.hand_on(&root)?;
            into.push(alone);
        }
        if into.len() != before + 1 {
            self.tolerates(Tolerance::UnexpectedElement);
        }
        Ok(())
    }

    /// The element just opened, as XML that stands alone.
    fn hand_on(&mut self, root: &Opened<'_>) -> Result<String, ReadError> {
        self.foreign = self.scope.inherited();
        self.handing_on = true;
        self.needs_default = false;
        self.assumed.clear();
        if self.is_lenient() {
            // When it was opened, nobody knew that it would be handed on.
            self.check_attributes(&root.tag)?;
            if let Some((prefix, _)) = split_prefix(root.tag.name)
                && self.scope.find(prefix).is_none()
            {
                self.check_undeclared(prefix)?;
            }
        }
        self.note_default(root.tag.name);
        let end = self.skip()?;
        let element = &self.text[root.offset..end];
        let alone = self.stand_alone(root, element);
        self.foreign = 0;
        self.handing_on = false;
        Ok(alone)
    }

    fn stand_alone(&self, root: &Opened<'_>, element: &str) -> String {
        let mut declarations = Vec::new();
        for (prefix, uri) in self.scope.visible(self.foreign) {
            let used = if prefix.is_empty() {
                self.needs_default
            } else {
                !root.tag.declares(prefix) && mentions(element, prefix)
            };
            if used {
                let colon = if prefix.is_empty() { "" } else { ":" };
                xml::push_attribute(&mut declarations, &format!("xmlns{colon}{prefix}"), uri);
            }
        }
        for (prefix, uri) in &self.assumed {
            xml::push_attribute(&mut declarations, &format!("xmlns:{prefix}"), uri);
        }
        let name_end = 1 + root.tag.name.len();
        let mut alone = String::with_capacity(element.len() + declarations.len());
        alone.push_str(&element[..name_end]);
        alone.push_str(&String::from_utf8_lossy(&declarations));
        alone.push_str(&element[name_end..]);
        alone
    }

    /// Whether a prefix that nobody declared may be understood all the same.
    pub(super) fn assumes(&mut self, prefix: &str) -> bool {
        if !self.handing_on {
            // The envelope is known by its names alone.
            return self.is_lenient();
        }
        let Some(known) = WELL_KNOWN.iter().find(|(known, _)| *known == prefix) else {
            return false;
        };
        if self.assumed.contains(known) {
            return true;
        }
        let tolerated = self.tolerates(Tolerance::UndeclaredPrefix);
        if tolerated {
            self.assumed.push(*known);
        }
        tolerated
    }
}

/// Whether `prefix:` occurs in `element`.
fn mentions(element: &str, prefix: &str) -> bool {
    memchr::memmem::find_iter(element.as_bytes(), prefix)
        .any(|at| element.as_bytes().get(at + prefix.len()) == Some(&b':'))
}
