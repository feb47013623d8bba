//! From a record to the sets it is in.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use stook_oai::SetSpec;

use super::spec::part;
use super::{Label, MAX_SETS, MadeSet, NoSets, OAI_PMH_NAMESPACE, SetRule, SetRules, Target};
use crate::clean;
use crate::crosswalk::tree::{Attribute, Element};

/// Longer labels are cut.
const MAX_LABEL: usize = 200;

impl SetRules {
    /// The sets these rules put a record in, in order and each once.
    ///
    /// # Errors
    /// When the record is not well-formed XML, or would be in too many sets.
    pub fn apply(&self, identifier: &str, record: &str) -> Result<Vec<MadeSet>, NoSets> {
        let mut root = Element::read(record)?;
        // The rules see it as they see everything else of the record.
        root.attributes.push(Attribute {
            namespace: Rc::from(OAI_PMH_NAMESPACE),
            local: "identifier",
            value: Cow::Borrowed(identifier),
        });
        let mut made = BTreeMap::new();
        for rule in &self.rules {
            self.apply_rule(rule, &root, &mut made)?;
        }
        Ok(made.into_iter().map(|(spec, label)| MadeSet { spec, label }).collect())
    }

    fn apply_rule<'m>(
        &'m self,
        rule: &'m SetRule,
        root: &'m Element<'m>,
        made: &mut BTreeMap<SetSpec, Option<Label>>,
    ) -> Result<(), NoSets> {
        for value in self.means.values(&rule.source, &rule.changes, root) {
            let Some((spec, label)) = set_of(rule, &value.text) else {
                continue;
            };
            // Of values that look alike as a set the first in order names it, whichever rule comes first.
            let known = made.entry(spec).or_insert_with(|| label.clone());
            if label < *known {
                *known = label;
            }
            if made.len() > MAX_SETS {
                return Err(NoSets::TooMany);
            }
        }
        Ok(())
    }
}

/// The set a rule makes of a value; none if nothing of it can stand in a set spec.
fn set_of(rule: &SetRule, value: &str) -> Option<(SetSpec, Option<Label>)> {
    let (before, after) = match &rule.target {
        Target::Set(spec) => return Some((spec.clone(), None)),
        Target::Values { before, after } => (before, after),
    };
    let part = part(value, rule.has_levels);
    if part.is_empty() {
        return None;
    }
    let spec = SetSpec::parse(&format!("{before}{part}{after}")).ok()?;
    if part == value || rule.has_levels {
        return Some((spec, None));
    }
    let rest_of_level = after.split(':').next().unwrap_or_default();
    let label = Label {
        text: clean::text(value).text.trim().chars().take(MAX_LABEL).collect(),
        spec: SetSpec::parse(&format!("{before}{part}{rest_of_level}")).ok()?,
        part: part.into_owned(),
    };
    Some((spec, Some(label)))
}
