//! `stook set`: names and descriptions of sets, and the rules by which records come into them.

mod rules;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use stook_metadata::{DublinCore, Element};
use stook_oai::{Set, SetSpec};
use stook_store::Span;

use super::Ending;
use super::session::{Place, Session};
use crate::provider::standing_alone;

/// List, name and describe sets, and put records into them by rules
#[derive(Subcommand)]
#[command(after_help = "\
Sets come into being when records are imported into them, or by rules over what records say (docs/sets.md):
set_rules = [\"dini\", \"my.rules\"] in the [[repository]] of stook.toml.
Examples:
  stook set list
  stook set define maps:city --name \"City maps\" --description \"Maps of towns since 1700.\"
  stook set name maps \"Maps\"
  stook set describe maps --file maps-description.xml
  stook set preview --rules my.rules     what rules would do; publishes nothing
  stook set refresh                      after the rules were changed")]
pub(super) enum SetCommand {
    /// Show all sets, their names and how many records they have
    List,
    /// Define a set, with a name and a description
    Define {
        /// Colon-separated path, such as maps:city
        set_spec: String,
        /// Its name for people; default: the last part of the path
        #[arg(long)]
        name: Option<String>,
        /// What it holds, in a sentence
        #[arg(long)]
        description: Option<String>,
    },
    /// Name a set
    Name {
        /// The set
        set_spec: String,
        /// Its name for people
        name: String,
    },
    /// Describe a set
    Describe {
        /// The set
        set_spec: String,
        /// What it holds, in a sentence
        #[arg(required_unless_present = "file")]
        description: Option<String>,
        /// An XML file whose root element is the description, as it is
        #[arg(long, value_name = "FILE", conflicts_with = "description")]
        file: Option<PathBuf>,
    },
    Preview(rules::Preview),
    Refresh(rules::Refresh),
    /// Remove a set and its subsets, when no record is in them
    Remove {
        /// The set
        set_spec: String,
    },
}

impl SetCommand {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let session = Session::look(place)?;
        match self {
            SetCommand::Preview(command) => return command.run(&session),
            SetCommand::Refresh(command) => return command.run(&session),
            SetCommand::List => list(&session)?,
            SetCommand::Define {
                set_spec,
                name,
                description,
            } => {
                let description = description.as_deref().map(as_dublin_core);
                change(&session, &set_spec, true, name, description)?;
            }
            SetCommand::Name { set_spec, name } => change(&session, &set_spec, false, Some(name), None)?,
            SetCommand::Describe {
                set_spec,
                description,
                file,
            } => {
                let description = match (description, file) {
                    (_, Some(file)) => {
                        let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
                        standing_alone(&text).with_context(|| format!("in {}", file.display()))?
                    }
                    (description, None) => as_dublin_core(&description.unwrap_or_default()),
                };
                change(&session, &set_spec, false, None, Some(description))?;
            }
            SetCommand::Remove { set_spec } => {
                let spec = SetSpec::parse(&set_spec)?;
                if !session.store.remove_set(session.repository, &spec)? {
                    bail!("there is no set {spec}\nTry: stook set list");
                }
                println!("Removed {spec}.");
            }
        }
        Ok(Ending::Fine)
    }
}

/// A plain text as section 2.6 of the specification recommends to give it: oai_dc with dc:description.
pub(super) fn as_dublin_core(description: &str) -> String {
    let mut dublin_core = DublinCore::default();
    dublin_core.push(Element::Description, description, None);
    dublin_core.write()
}

/// Changes what is given and keeps the rest.
fn change(
    session: &Session,
    set_spec: &str,
    may_be_new: bool,
    name: Option<String>,
    description: Option<String>,
) -> Result<()> {
    let spec = SetSpec::parse(set_spec)?;
    let known = session.store.read()?.set(session.repository, &spec)?;
    if known.is_none() && !may_be_new {
        bail!("there is no set {spec}\nTry: stook set define {spec}");
    }
    let last = spec.as_str().rsplit(':').next().unwrap_or_default().to_owned();
    let mut set = known.unwrap_or(Set {
        spec: spec.clone(),
        name: last,
        descriptions: vec![],
    });
    if let Some(name) = name {
        set.name = stook_metadata::clean::text(&name).text.trim().to_owned();
    }
    if let Some(description) = description {
        set.descriptions = vec![description];
    }
    if set.name.is_empty() {
        bail!("the name of set {spec} is empty");
    }
    session.store.define_set(session.repository, &set)?;
    println!("{spec}  {}", set.name);
    Ok(())
}

fn list(session: &Session) -> Result<()> {
    let rules = session.set_rules()?;
    let snapshot = session.store.read()?;
    let prefixes: Vec<_> = snapshot
        .formats(session.repository)?
        .into_iter()
        .map(|format| format.prefix)
        .collect();
    let sets = snapshot.sets(session.repository, None, usize::MAX)?;
    let width = sets.iter().map(|set| set.spec.as_str().len()).max().unwrap_or(0);
    for set in &sets {
        // An item counts once, however many formats it has: the largest list tells.
        let mut records = 0;
        for prefix in &prefixes {
            if let Some(list) = snapshot.list(session.repository, prefix, Some(&set.spec))? {
                records = snapshot.count(list, Span::ALL)?.max(records);
            }
        }
        let by_rule = if rules.owns(&set.spec) { "  (by rule)" } else { "" };
        println!("{:<width$}  {records:>9}  {}{by_rule}", set.spec.as_str(), set.name);
    }
    if sets.is_empty() {
        println!("There are no sets. Records bring theirs along; `stook set define` makes one by hand.");
    }
    Ok(())
}
