//! The content of MARCXML: a leader, control fields, data fields with subfields,
//! each with what MARC21slim.xsd allows in it.
//!
//! Attributes beyond those of MARC are left alone: `xml:space`, which an older
//! version of the schema had, harms nobody.

use std::cell::RefCell;

use crate::fault::{Problem, short};
use crate::marc::rules::{check_leader, is_code, is_indicator, is_tag};
use crate::marc::xml::parse_leader;
use crate::marc::{Defect, Dialect, MARCXML_NAMESPACE, Tag, Trouble};
use crate::scan::{is_space, unescape};

use super::content::Node;

/// What was seen of a record so far. The walk lends its nodes while it asks,
/// so this changes behind a shared reference.
#[derive(Default)]
pub(super) struct Marc(RefCell<Seen>);

#[derive(Default)]
struct Seen {
    part: Part,
    leader: String,
    tags: Vec<Tag>,
    /// Subfields of the field that is open.
    subfields: usize,
}

/// How far a record is: the parts follow each other in this order.
#[derive(Default, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Part {
    #[default]
    Beginning,
    Leader,
    Control,
    Data,
}

impl Marc {
    /// An element inside the root.
    pub(super) fn element(&self, node: &Node<'_, '_>) -> Result<(), Problem> {
        let mut seen = self.0.borrow_mut();
        if node.namespace != MARCXML_NAMESPACE {
            return Err(misplaced(node));
        }
        match (node.depth, node.local) {
            (1, "leader") if seen.part == Part::Beginning => seen.part = Part::Leader,
            (1, "controlfield" | "datafield") if seen.part == Part::Beginning => {
                return Err(Problem::Marc(Defect::of_record(Trouble::NoLeader)));
            }
            (1, "controlfield") if seen.part <= Part::Control => {
                seen.part = Part::Control;
                seen.field(node, true)?;
            }
            (1, "datafield") => {
                seen.part = Part::Data;
                seen.field(node, false)?;
                for (number, name) in [(1, "ind1"), (2, "ind2")] {
                    let found = attribute(node, name);
                    if !matches!(found.as_bytes(), [byte] if is_indicator(*byte)) {
                        return Err(seen.defect(Trouble::BadIndicator { number, found }));
                    }
                }
            }
            (2, "subfield") if seen.part == Part::Data => {
                seen.subfields += 1;
                let code = attribute(node, "code");
                if !matches!(code.as_bytes(), [byte] if is_code(*byte)) {
                    return Err(seen.defect(Trouble::BadCode(short(&code))));
                }
            }
            _ => return Err(misplaced(node)),
        }
        Ok(())
    }

    /// Text inside `depth` elements.
    pub(super) fn text(&self, raw: &str, depth: usize) -> Result<(), Problem> {
        let mut seen = self.0.borrow_mut();
        match (depth, seen.part) {
            (2, Part::Leader) => seen.leader.push_str(&unescape(raw)),
            (1, _) | (2, Part::Data) if !raw.bytes().all(is_space) => {
                return Err(Problem::Marc(Defect::of_record(Trouble::NotMarcXml(
                    "text stands between the fields or subfields".to_owned(),
                ))));
            }
            _ => {}
        }
        Ok(())
    }

    /// The end of the element that stood inside `depth` others.
    pub(super) fn end(&self, depth: usize) -> Result<(), Problem> {
        let seen = self.0.borrow();
        match (depth, seen.part) {
            (0, Part::Beginning) => Err(Problem::Marc(Defect::of_record(Trouble::NoLeader))),
            (1, Part::Leader) => {
                // By the schema white space around a leader is part of it.
                let leader = parse_leader(&seen.leader).map_err(Problem::Marc)?;
                if leader.as_str() != seen.leader {
                    let trouble = Trouble::BadLeader(seen.leader.clone());
                    return Err(Problem::Marc(Defect::of_record(trouble)));
                }
                check_leader(&leader, Dialect::Marc21).map_err(|trouble| Problem::Marc(Defect::of_record(trouble)))
            }
            (1, Part::Data) if seen.subfields == 0 => Err(seen.defect(Trouble::NotMarcXml(
                "there is no subfield; a data field has at least one".to_owned(),
            ))),
            _ => Ok(()),
        }
    }
}

impl Seen {
    /// Begins a field.
    fn field(&mut self, node: &Node<'_, '_>, is_control: bool) -> Result<(), Problem> {
        let written = attribute(node, "tag");
        let Some(tag) = Tag::parse(written.as_bytes()) else {
            return Err(Problem::Marc(Defect::of_record(Trouble::BadTag(short(&written)))));
        };
        self.tags.push(tag);
        self.subfields = 0;
        if !is_tag(tag) {
            return Err(self.defect(Trouble::ForbiddenTag(tag)));
        }
        if tag.is_control() != is_control {
            let reason = format!(
                "tags 001 to 009 belong on <controlfield>, others on <datafield>, not on <{}>",
                node.name
            );
            return Err(self.defect(Trouble::NotMarcXml(reason)));
        }
        Ok(())
    }

    /// Trouble in the field that is open.
    fn defect(&self, trouble: Trouble) -> Problem {
        let defect = Defect::of_record(trouble);
        Problem::Marc(match self.tags.split_last() {
            Some((&tag, before)) => defect.in_field(tag, before.iter().copied()),
            None => defect,
        })
    }
}

fn attribute(node: &Node<'_, '_>, name: &str) -> String {
    let found = node.attributes.iter().find(|attribute| attribute.name == name);
    found
        .map(|attribute| unescape(attribute.value).into_owned())
        .unwrap_or_default()
}

fn misplaced(node: &Node<'_, '_>) -> Problem {
    let reason = format!(
        "<{}> may not stand here: a record has a leader, then control fields, then data fields with subfields",
        short(node.name)
    );
    Problem::Marc(Defect::of_record(Trouble::NotMarcXml(reason)))
}
