//! What stands where in the file of a static repository, by its schema. What the schema forbids for reasons of its own
//! (sets, deletions, tokens …) is left to another check, which can say why.

use stook_metadata::{Namespaces, Root, check_within, well_known};

use crate::validate::document::{Element, OAI};

const ANY: usize = usize::MAX;

/// An element, and the elements in it in their order: how often at least, and at most.
struct Rule {
    element: &'static str,
    children: &'static [(&'static str, usize, usize)],
}

const RULES: &[Rule] = &[
    Rule {
        element: "Repository",
        children: &[
            ("Identify", 1, 1),
            ("ListMetadataFormats", 1, 1),
            ("ListRecords", 1, ANY),
        ],
    },
    Rule {
        element: "Identify",
        children: &[
            ("repositoryName", 1, 1),
            ("baseURL", 1, 1),
            ("protocolVersion", 1, 1),
            ("adminEmail", 1, ANY),
            ("earliestDatestamp", 1, 1),
            ("deletedRecord", 1, 1),
            ("granularity", 1, 1),
            ("compression", 0, ANY),
            ("description", 0, ANY),
        ],
    },
    Rule {
        element: "ListMetadataFormats",
        children: &[("metadataFormat", 1, ANY)],
    },
    Rule {
        element: "metadataFormat",
        children: &[("metadataPrefix", 1, 1), ("schema", 1, 1), ("metadataNamespace", 1, 1)],
    },
    Rule {
        element: "ListRecords",
        children: &[("record", 1, ANY), ("resumptionToken", 0, ANY)],
    },
    Rule {
        element: "record",
        children: &[("header", 1, 1), ("metadata", 0, 1), ("about", 0, ANY)],
    },
    Rule {
        element: "header",
        children: &[("identifier", 1, 1), ("datestamp", 1, 1), ("setSpec", 0, ANY)],
    },
];

/// A text, whether it will do, and what would.
type Value = (&'static str, fn(&str) -> bool, &'static str);

const VALUES: &[Value] = &[
    ("protocolVersion", |text| text == "2.0", "2.0"),
    ("adminEmail", is_mail, "a mail address"),
    ("metadataPrefix", is_prefix, "a prefix such as oai_dc"),
    ("repositoryName", |text| !text.is_empty(), "a name"),
    ("identifier", |text| !text.is_empty(), "an identifier"),
    ("schema", |text| !text.is_empty(), "the URL of a schema"),
    ("metadataNamespace", |text| !text.is_empty(), "a namespace"),
];

/// The elements of the protocol directly in an element, whose own namespace may be that of the file.
pub(super) fn children<'a>(element: &'a Element, local: &'a str) -> impl Iterator<Item = &'a Element> {
    element.elements().filter(move |child| child.is(OAI, local))
}

/// The root elements of the metadata in a list.
pub(super) fn metadata(list: &Element) -> impl Iterator<Item = &Element> {
    let containers = children(list, "record").flat_map(|record| children(record, "metadata"));
    containers.flat_map(Element::elements)
}

/// Holds an element and all in it to the rules.
pub(super) fn hold(element: &Element, tell: &mut dyn FnMut(String, &Element)) {
    match element.local() {
        "metadata" | "about" | "description" => return one_inside(element, tell),
        "ListRecords" if element.attribute("", "metadataPrefix").is_none() => {
            tell("ListRecords without the attribute metadataPrefix".into(), element);
        }
        _ => {}
    }
    let Some(rule) = RULES.iter().find(|rule| rule.element == element.local()) else {
        return value(element, tell);
    };
    // Only the root's own children are in the namespace of the file.
    let namespace = match rule.element {
        "Repository" => super::STATIC,
        _ => OAI,
    };
    let mut reached = 0;
    for child in element.elements() {
        let place = rule.children.iter().position(|(name, ..)| child.is(namespace, name));
        match place {
            None => tell(
                format!("{} in {}, where it may not stand", child.name, element.local()),
                child,
            ),
            Some(at) if at < reached => tell(format!("{} out of order in {}", child.local(), element.local()), child),
            Some(at) => {
                reached = at;
                hold(child, tell);
            }
        }
    }
    for (name, least, most) in rule.children {
        let count = element.elements().filter(|child| child.is(namespace, name)).count();
        if count < *least {
            tell(format!("{} without {name}", element.local()), element);
        } else if count > *most {
            tell(format!("{} with {count} times {name}", element.local()), element);
        }
    }
}

fn value(element: &Element, tell: &mut dyn FnMut(String, &Element)) {
    let rule = VALUES.iter().find(|(name, ..)| *name == element.local());
    if let Some((name, _, wanted)) = rule.filter(|(_, fits, _)| !fits(&element.text())) {
        tell(
            format!("the {name} {:?}, which is not {wanted}", element.text()),
            element,
        );
    }
}

/// A container holds one element, which is valid by its own format if that is known.
fn one_inside(container: &Element, tell: &mut dyn FnMut(String, &Element)) {
    let mut inside = container.elements();
    let (Some(root), None) = (inside.next(), inside.next()) else {
        let count = container.elements().count();
        return tell(
            format!("{} with {count} elements in it instead of one", container.local()),
            container,
        );
    };
    if &*root.namespace == OAI || root.namespace.is_empty() {
        tell(
            format!("{} in {}, without a namespace of its own", root.name, container.local()),
            root,
        );
    }
}

/// Holds the metadata of a record, as it is written, to the format that its root is of.
pub(super) fn hold_metadata(root: &Element, written: &str) -> Result<(), String> {
    let is_root = |own: &Root| own.namespace == *root.namespace && (own.name.is_empty() || own.name == root.local());
    let Some(format) = well_known().iter().find(|format| format.roots.iter().any(is_root)) else {
        return Ok(());
    };
    // Prefixes may be declared anywhere above.
    let mut around = Namespaces::none();
    let mut declare = |prefix: &str, namespace: &str| {
        if around.resolve(prefix).is_none_or(str::is_empty) {
            around.declare(prefix, namespace);
        }
    };
    root.walk(&mut |element| {
        declare(
            element.name.split_once(':').map_or("", |(prefix, _)| prefix),
            &element.namespace,
        );
        for attribute in &element.attributes {
            if let Some((prefix, _)) = attribute.name.split_once(':') {
                declare(prefix, &attribute.namespace);
            }
        }
    });
    let checked = check_within(written, format, &around);
    checked.map(drop).map_err(|fault| fault.to_string())
}

fn is_mail(text: &str) -> bool {
    let domain = text.split_once('@').filter(|(name, _)| !name.is_empty());
    domain.is_some_and(|(_, domain)| domain.contains('.')) && !text.contains(char::is_whitespace)
}

fn is_prefix(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte))
}
