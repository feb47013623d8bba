//! Which namespace a prefix stands for, at one place of a document.

use super::error::ReadFault;
use super::tag::Tag;

/// More than any metadata format declares; bounds the cost of a look-up.
const MAX_BINDINGS: usize = 256;

/// The namespace declarations in scope, innermost last.
///
/// All text lies in one string, so that entering and leaving the elements of
/// a record allocates nothing once the string has grown.
#[derive(Debug, Default)]
pub(super) struct Scope {
    text: String,
    bindings: Vec<Binding>,
    levels: Vec<Level>,
}

#[derive(Debug, Clone, Copy)]
struct Binding {
    prefix_start: usize,
    uri_start: usize,
    end: usize,
}

/// The state to return to when an element ends.
#[derive(Debug, Clone, Copy)]
struct Level {
    text_length: usize,
    bindings: usize,
}

impl Scope {
    /// An element begins; its declarations follow.
    pub(super) fn enter(&mut self) {
        self.levels.push(Level {
            text_length: self.text.len(),
            bindings: self.bindings.len(),
        });
    }

    /// An element ends; its declarations go.
    pub(super) fn leave(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.text.truncate(level.text_length);
            self.bindings.truncate(level.bindings);
        }
    }

    /// How many elements are open.
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Leaves elements until so many are open.
    pub(super) fn leave_to(&mut self, depth: usize) {
        while self.levels.len() > depth {
            self.leave();
        }
    }

    /// Declares what the start tag of the current element declares.
    pub(super) fn declare_all(&mut self, tag: &Tag<'_>) -> Result<(), ReadFault> {
        for attribute in &tag.attributes {
            let Some(prefix) = attribute.declared_prefix() else {
                continue;
            };
            let uri = attribute.value();
            if prefix == "xmlns" || (uri.is_empty() && !prefix.is_empty()) {
                let fault = format!("the prefix \"{prefix}\" cannot be declared so");
                return Err(ReadFault::NotWellFormed(fault));
            }
            if self.bindings.len() == MAX_BINDINGS {
                return Err(ReadFault::TooManyNamespaces { limit: MAX_BINDINGS });
            }
            self.declare(prefix, &uri);
        }
        Ok(())
    }

    /// Declares a prefix, or the default namespace (empty prefix).
    fn declare(&mut self, prefix: &str, uri: &str) {
        let prefix_start = self.text.len();
        self.text.push_str(prefix);
        let uri_start = self.text.len();
        self.text.push_str(uri);
        self.bindings.push(Binding {
            prefix_start,
            uri_start,
            end: self.text.len(),
        });
    }

    /// The declaration that gives a prefix its meaning.
    pub(super) fn find(&self, prefix: &str) -> Option<usize> {
        self.bindings.iter().rposition(|binding| self.prefix(binding) == prefix)
    }

    /// The namespace of a declaration found.
    pub(super) fn uri(&self, index: usize) -> &str {
        let binding = self.bindings[index];
        &self.text[binding.uri_start..binding.end]
    }

    /// The number of declarations outside the current element: those with a
    /// smaller index are inherited.
    pub(super) fn inherited(&self) -> usize {
        self.levels.last().map_or(0, |level| level.bindings)
    }

    /// The first `count` declarations that are not hidden by a later one of
    /// the same prefix among them: prefix and namespace.
    pub(super) fn visible(&self, count: usize) -> impl Iterator<Item = (&str, &str)> {
        let outer = self.bindings.get(..count).unwrap_or_default();
        outer.iter().enumerate().filter_map(move |(index, binding)| {
            let prefix = self.prefix(binding);
            let hidden = outer[index + 1..].iter().any(|later| self.prefix(later) == prefix);
            (!hidden).then(|| (prefix, self.uri(index)))
        })
    }

    fn prefix(&self, binding: &Binding) -> &str {
        &self.text[binding.prefix_start..binding.uri_start]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning<'a>(scope: &'a Scope, prefix: &str) -> Option<&'a str> {
        scope.find(prefix).map(|index| scope.uri(index))
    }

    #[test]
    fn inner_declarations_hide_outer_ones_until_their_element_ends() {
        let mut scope = Scope::default();
        scope.enter();
        scope.declare("", "urn:outer");
        scope.declare("a", "urn:a");
        scope.enter();
        scope.declare("", "urn:inner");
        assert_eq!(meaning(&scope, ""), Some("urn:inner"));
        assert_eq!(meaning(&scope, "a"), Some("urn:a"));
        assert_eq!(scope.inherited(), 2);
        scope.leave();
        assert_eq!(meaning(&scope, ""), Some("urn:outer"));
        scope.leave_to(0);
        assert_eq!(meaning(&scope, "a"), None);
        scope.leave();
        assert_eq!(scope.depth(), 0);
    }

    #[test]
    fn hidden_declarations_are_not_visible() {
        let mut scope = Scope::default();
        scope.enter();
        scope.declare("a", "urn:1");
        scope.declare("b", "urn:2");
        scope.enter();
        scope.declare("a", "urn:3");
        let visible: Vec<_> = scope.visible(3).collect();
        assert_eq!(visible, [("b", "urn:2"), ("a", "urn:3")]);
        assert_eq!(scope.visible(2).collect::<Vec<_>>(), [("a", "urn:1"), ("b", "urn:2")]);
    }

    #[test]
    fn declarations_are_bounded() {
        let mut scope = Scope::default();
        scope.enter();
        for _ in 0..MAX_BINDINGS {
            scope.declare("a", "b");
        }
        let tag = Tag::parse("x xmlns:c='d'").unwrap();
        assert!(matches!(
            scope.declare_all(&tag),
            Err(ReadFault::TooManyNamespaces { .. })
        ));
    }

    #[test]
    fn a_prefix_cannot_be_undeclared() {
        let mut scope = Scope::default();
        scope.enter();
        assert!(scope.declare_all(&Tag::parse("x xmlns:c=''").unwrap()).is_err());
        assert!(scope.declare_all(&Tag::parse("x xmlns:xmlns='d'").unwrap()).is_err());
        assert!(scope.declare_all(&Tag::parse("x xmlns=''").unwrap()).is_ok());
    }
}
