//! Content models: what a record of a format may hold, written as tables that people can read.
//!
//! A [`Model`] is read once from a text of this folder (`read`), one for each format. A [`Checker`] walks beside the
//! scanner of a record and says where the record leaves its model, as a [`Breach`] in a cataloguer's words. A model says
//! what the official schema says, no more: a record that the schema takes is never refused. `cargo xtask schemas`
//! compares both.

mod breach;
mod check;
mod document;
pub mod form;
mod hint;
mod read;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

pub use breach::{Breach, Wrong};
pub use check::{Checker, Seen};
pub use document::first_breach;
pub use form::Form;

/// What records of one format may hold.
#[derive(Debug)]
pub struct Model {
    /// How people name the format.
    pub name: String,
    /// Names as elements and attributes of other namespaces are shown: prefix and namespace.
    pub prefixes: Vec<(String, String)>,
    /// The root of a record.
    pub root: Child,
    /// All kinds of element there are.
    pub kinds: Vec<Kind>,
    /// What `xsi:type` may name, and the kind an element becomes by it.
    pub types: Vec<(Name, usize)>,
}

/// An element or attribute: a local name in a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// Empty for none.
    pub namespace: String,
    /// The local name.
    pub local: String,
    /// How messages show it: with a prefix unless it is of the format's own namespace.
    pub shown: String,
}

impl Name {
    /// Whether this is the name of an element or attribute. Local names differ sooner than namespaces.
    #[must_use]
    pub fn is(&self, namespace: &str, local: &str) -> bool {
        self.local == local && self.namespace == namespace
    }
}

/// One kind of element: its attributes and what stands inside.
#[derive(Debug, Clone)]
pub struct Kind {
    /// How the model names it.
    pub name: String,
    /// The attributes it may have.
    pub attributes: Vec<Attribute>,
    /// Whether it may have any others too.
    pub any_attribute: bool,
    /// What stands inside.
    pub inside: Inside,
    /// The elements that stand inside, in their order if there is one.
    pub children: Vec<Child>,
    /// Whether they stand in the order of the list.
    pub in_order: bool,
    /// Whether there must be one of them, whichever it is.
    pub some: bool,
}

/// What stands inside an element.
#[derive(Debug, Clone)]
pub enum Inside {
    /// Only the elements listed.
    Elements,
    /// The elements listed, and text between them.
    Mixed,
    /// Only text of that form.
    Text(Arc<Value>),
    /// Whatever one likes.
    Anything,
    /// Whatever one likes, but a record of a format that has a model is held to it.
    Records,
}

/// An element inside another.
#[derive(Debug, Clone)]
pub struct Child {
    /// Its name.
    pub name: Name,
    /// How often it must be there.
    pub least: u32,
    /// How often it may be there; `u32::MAX` for any number.
    pub most: u32,
    /// Which of the model's kinds it is.
    pub kind: usize,
}

/// An attribute of an element.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Its name.
    pub name: Name,
    /// Whether it must be there.
    pub required: bool,
    /// What it may be.
    pub value: Arc<Value>,
}

/// What a text or an attribute may be.
#[derive(Debug)]
pub enum Value {
    /// Of a form.
    Form(&'static Form),
    /// One of a list.
    OneOf {
        /// The list.
        values: Vec<String>,
        /// Whether white space around it means nothing.
        trimmed: bool,
    },
}

const TEXTS: &[&str] = &[
    include_str!("datacite.model"),
    include_str!("etdms.model"),
    include_str!("mods.model"),
    include_str!("oai_datacite.model"),
    include_str!("oai_marc.model"),
    include_str!("qdc.model"),
    include_str!("rfc1807.model"),
];

/// What the guidelines put into descriptions and about containers.
const CONTAINER_TEXTS: &[&str] = &[
    include_str!("containers/branding.model"),
    include_str!("containers/eprints.model"),
    include_str!("containers/friends.model"),
    include_str!("containers/gateway.model"),
    include_str!("containers/oai_identifier.model"),
    include_str!("containers/provenance.model"),
    include_str!("containers/rights.model"),
    include_str!("containers/rights_manifest.model"),
];

/// The models of records there are.
#[must_use]
pub fn all() -> &'static [Model] {
    static ALL: LazyLock<Vec<Model>> = LazyLock::new(|| read_all(TEXTS));
    &ALL
}

/// The model of whole answers of the protocol, which are no records: none of [`all`].
#[must_use]
pub fn of_answers() -> &'static Model {
    static ANSWERS: LazyLock<Model> =
        LazyLock::new(|| Model::read(include_str!("oai_pmh.model")).expect("every model is tested"));
    &ANSWERS
}

/// The models of what stands in descriptions and about containers.
#[must_use]
pub fn containers() -> &'static [Model] {
    static ALL: LazyLock<Vec<Model>> = LazyLock::new(|| read_all(CONTAINER_TEXTS));
    &ALL
}

fn read_all(texts: &[&str]) -> Vec<Model> {
    let read = |text: &&str| Model::read(text).expect("every model is tested");
    texts.iter().map(read).collect()
}

/// The model of records or containers with this root.
#[must_use]
pub fn of_root(namespace: &str, local: &str) -> Option<&'static Model> {
    let mut models = all().iter().chain(containers());
    models.find(|model| model.root.name.is(namespace, local))
}
