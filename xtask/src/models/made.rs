//! Records made of a content model itself: for each kind of element the smallest record it can stand in, with each child,
//! each attribute and each value it may have, and with those it may not.

use stook_metadata::model::{Child, Inside, Kind, Model, Value};

use super::Candidate;

/// With more children than this, pairs of them are left out.
const MOST_PAIRED: usize = 30;

/// Children deeper than this are not made; by then everything required has come.
const MOST_LEVELS: usize = 12;

/// Adds records that try everything the model says, and everything it could have forgotten.
pub(super) fn add(model: &Model, candidates: &mut Vec<Candidate>) {
    let mut ways: Vec<Option<Vec<&Child>>> = vec![None; model.kinds.len()];
    ways[model.root.kind] = Some(vec![&model.root]);
    let mut reached = vec![model.root.kind];
    while let Some(kind) = reached.pop() {
        for child in &model.kinds[kind].children {
            if ways[child.kind].is_none() {
                let mut way = ways[kind].clone().unwrap_or_default();
                way.push(child);
                ways[child.kind] = Some(way);
                reached.push(child.kind);
            }
        }
    }
    let maker = Maker { model };
    for (kind, way) in model.kinds.iter().zip(&ways) {
        // A kind nobody reaches is one that others are like, or a type, which comes below.
        if let Some(way) = way {
            maker.kind(kind, way, candidates);
        }
    }
    maker.types(candidates);
}

struct Maker<'m> {
    model: &'m Model,
}

impl Maker<'_> {
    fn kind(&self, kind: &Kind, way: &[&Child], candidates: &mut Vec<Candidate>) {
        let place: Vec<&str> = way.iter().map(|child| &*child.name.shown).collect();
        let place = place.join("/");
        let attributes = self.attributes(kind, "");
        let mut push = |what: String, attributes: &str, inside: &str| {
            let xml = self.record(way, attributes, inside);
            candidates.push(Candidate {
                what: format!("{place} {what}"),
                xml,
            });
        };
        let inside = self.inside(kind, 0);
        push("alone".to_owned(), &attributes, &inside);
        push("with text".to_owned(), &attributes, &format!("x{inside}"));
        self.children(kind, &attributes, &mut push);
        for rule in &kind.attributes {
            let name = &rule.name.shown;
            push(format!("without @{name}"), &self.attributes(kind, name), &inside);
            for value in tried(&rule.value) {
                let all = format!("{} {name}=\"{value}\"", self.attributes(kind, name));
                push(format!("@{name} {value:?}"), &all, &inside);
            }
        }
        let known = |name: &str| kind.attributes.iter().any(|rule| rule.name.shown == name);
        for name in self.attribute_names().into_iter().filter(|name| !known(name)) {
            push(format!("with @{name}"), &format!("{attributes} {name}=\"en\""), &inside);
        }
        if let Inside::Text(value) = &kind.inside {
            for value in tried(value) {
                push(format!("text {value:?}"), &attributes, &value);
            }
        }
    }

    fn children(&self, kind: &Kind, attributes: &str, push: &mut impl FnMut(String, &str, &str)) {
        let all: Vec<&Child> = kind.children.iter().collect();
        for (at, child) in all.iter().enumerate() {
            let name = &child.name.shown;
            let required = |skip: Option<usize>, twice: Option<usize>| -> String {
                let children = all.iter().enumerate().filter(|(index, _)| Some(*index) != skip);
                children
                    .flat_map(|(index, child)| {
                        let more = u32::from(Some(index) == twice);
                        (0..child.least + more).map(|_| self.element(child, 0))
                    })
                    .collect()
            };
            push(format!("without {name}"), attributes, &required(Some(at), None));
            push(format!("and {name}"), attributes, &required(None, Some(at)));
            let twice = required(None, Some(at)) + &self.element(child, 0);
            push(format!("and {name} behind"), attributes, &twice);
        }
        if all.len() <= MOST_PAIRED {
            for one in &all {
                for other in &all {
                    let pair = self.element(one, 0) + &self.element(other, 0);
                    push(
                        format!("only {}, {}", one.name.shown, other.name.shown),
                        attributes,
                        &pair,
                    );
                }
            }
        }
        let inside = self.inside(kind, 0);
        for child in self.elements() {
            if all.iter().all(|known| known.name != child.name) {
                let name = &child.name.shown;
                push(
                    format!("with {name}"),
                    attributes,
                    &format!("{inside}{}", self.element(child, 0)),
                );
            }
        }
    }

    /// What `xsi:type` may say, with each value that is then right or wrong.
    fn types(&self, candidates: &mut Vec<Candidate>) {
        let Some(child) = self.model.kinds[self.model.root.kind].children.first() else {
            return;
        };
        let way = [&self.model.root, child];
        for (name, kind) in &self.model.types {
            let kind = &self.model.kinds[*kind];
            let says = format!(" xsi:type=\"{}\"", name.shown);
            let Inside::Text(value) = &kind.inside else {
                continue;
            };
            for value in tried(value) {
                let what = format!("{} as {} {value:?}", child.name.shown, name.shown);
                candidates.push(Candidate {
                    what,
                    xml: self.record(&way, &says, &value),
                });
            }
            let what = format!("{} as {} with xml:lang", child.name.shown, name.shown);
            let xml = self.record(&way, &format!("{says} xml:lang=\"de\""), &self.inside(kind, 0));
            candidates.push(Candidate { what, xml });
        }
    }

    /// A record with everything required on the way to an element.
    fn record(&self, way: &[&Child], attributes: &str, inside: &str) -> String {
        let Some((last, before)) = way.split_last() else {
            return String::new();
        };
        let mut xml = format!(
            "<{0}{1}{attributes}>{inside}</{0}>",
            last.name.shown,
            self.declared(before.is_empty())
        );
        let mut below = *last;
        for (level, child) in before.iter().enumerate().rev() {
            let kind = &self.model.kinds[child.kind];
            let around: String = kind
                .children
                .iter()
                .map(|sibling| match sibling.name == below.name {
                    true => {
                        xml.clone()
                            + &self
                                .element(sibling, 0)
                                .repeat(sibling.least.saturating_sub(1) as usize)
                    }
                    false => self.element(sibling, 0).repeat(sibling.least as usize),
                })
                .collect();
            let name = &child.name.shown;
            xml = format!(
                "<{name}{}{}>{around}</{name}>",
                self.declared(level == 0),
                self.attributes(kind, "")
            );
            below = *child;
        }
        xml
    }

    fn declared(&self, is_root: bool) -> String {
        if !is_root {
            return String::new();
        }
        let own = format!(
            " xmlns=\"{}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"",
            self.model.root.name.namespace
        );
        let others = self
            .model
            .prefixes
            .iter()
            .map(|(prefix, uri)| format!(" xmlns:{prefix}=\"{uri}\""));
        own + &others.collect::<String>()
    }

    /// The attributes a kind must have, but for one.
    fn attributes(&self, kind: &Kind, without: &str) -> String {
        let required = kind
            .attributes
            .iter()
            .filter(|rule| rule.required && rule.name.shown != without);
        required
            .map(|rule| format!(" {}=\"{}\"", rule.name.shown, right(&rule.value)))
            .collect()
    }

    /// The smallest element there can be.
    fn element(&self, child: &Child, level: usize) -> String {
        let kind = &self.model.kinds[child.kind];
        format!(
            "<{0}{1}>{2}</{0}>",
            child.name.shown,
            self.attributes(kind, ""),
            self.inside(kind, level)
        )
    }

    /// The least that must stand inside a kind.
    fn inside(&self, kind: &Kind, level: usize) -> String {
        if level > MOST_LEVELS {
            return String::new();
        }
        if let Inside::Text(value) = &kind.inside {
            return right(value);
        }
        let required: String = kind
            .children
            .iter()
            .map(|child| self.element(child, level + 1).repeat(child.least as usize))
            .collect();
        match kind.children.first() {
            Some(first) if kind.some && required.is_empty() => self.element(first, level + 1),
            _ => required,
        }
    }

    fn elements(&self) -> Vec<&Child> {
        let mut all: Vec<&Child> = self.model.kinds.iter().flat_map(|kind| &kind.children).collect();
        all.sort_by(|one, other| one.name.shown.cmp(&other.name.shown));
        all.dedup_by(|one, other| one.name == other.name);
        all
    }

    fn attribute_names(&self) -> Vec<&str> {
        let rules = self.model.kinds.iter().flat_map(|kind| &kind.attributes);
        let mut names: Vec<&str> = rules.map(|rule| &*rule.name.shown).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// A value that is right, as XML writes it.
fn right(value: &Value) -> String {
    match value {
        Value::Form(form) => escaped(form.examples.0),
        Value::OneOf { values, .. } => values.first().map(|value| escaped(value)).unwrap_or_default(),
    }
}

/// Values to try, right and wrong, as XML writes them.
fn tried(value: &Value) -> Vec<String> {
    const ODD: [&str; 16] = [
        "",
        " ",
        "x y",
        "0",
        "12",
        "-1",
        "2024",
        " 2024 ",
        "2024-02-30",
        "2024-05-31",
        "2024-05-31T09:30:00Z",
        "en",
        "en-US",
        "a",
        "180",
        "\"\"",
    ];
    let mut tried: Vec<String> = ODD.iter().map(|value| escaped(value)).collect();
    match value {
        Value::Form(form) => tried.extend([escaped(form.examples.0), escaped(form.examples.1)]),
        Value::OneOf { values, .. } => {
            tried.extend(values.iter().map(|value| escaped(value)));
            tried.extend(values.iter().take(1).map(|value| format!(" {} ", escaped(value))));
        }
    }
    tried.dedup();
    tried
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
