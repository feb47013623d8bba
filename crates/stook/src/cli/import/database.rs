//! The part of `stook import` that is about databases: what is read, and remembering how far it came.

use std::sync::Arc;

use anyhow::Result;

use super::{Import, Session};
use crate::import::sql::{Definition, Extent, Plan, Reading};
use crate::import::{Input, Options};

impl Import {
    /// What is read from the databases that were named.
    pub(super) fn readings(&self, session: &Session, options: &Options) -> Result<Vec<Arc<Reading>>> {
        let extent = match self.preview {
            Some(number) => Extent::First(number),
            // What merely did not change must not be taken for gone.
            None if self.all || self.sync => Extent::All,
            None => Extent::Changed,
        };
        let mut readings = Vec::new();
        for path in &self.sql {
            let definition = Definition::load(path)?;
            let shown = path.display();
            if definition.shows_its_password() {
                eprintln!(
                    "{shown} has a password in it, and others on this machine have access to it\nTry: chmod 600 {shown}"
                );
            }
            let (store, repository) = (&session.store, session.repository);
            let (reading, plan) = Reading::plan(definition, extent, options, self.ignore_unknown, store, repository)?;
            match plan {
                Plan::Everything => {}
                Plan::Anew => eprintln!("{shown}: the definition is not the one of the last time; everything is read"),
                Plan::Since(since) => eprintln!("{shown}: what changed since {since}"),
            }
            readings.push(Arc::new(reading));
        }
        Ok(readings)
    }
}

/// Remembers how far the readings came, once everything is published, and says what somebody should look at.
pub(super) fn remember(readings: &[Arc<Reading>], session: &Session) -> Result<()> {
    for reading in readings {
        for told in reading.remember(&session.store, session.repository)? {
            eprintln!("{}: {told}", reading.path());
        }
    }
    Ok(())
}

/// Rows read so far; none if there is no database.
pub(super) fn rows(inputs: &[Input]) -> Option<u64> {
    let rows = inputs.iter().filter_map(|input| match input {
        Input::Sql(reading) => Some(reading.rows()),
        _ => None,
    });
    rows.reduce(|one, other| one + other)
}
