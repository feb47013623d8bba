//! Is the store what it should be? Reads everything, changes nothing.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::Sqlite;
use crate::body::{Decompressor, Digest, Volatile, digest, digest_deleted};
use crate::change::sets_with_ancestors;
use crate::clock::ahead;
use crate::{Position, StoreError};

/// Problems of one kind that are worth listing.
const MOST_OF_A_KIND: usize = 20;

/// Rules that hold in every store, each as a query for what breaks it: (what is wrong, the query). The query gives one
/// text per fault.
const RULES: &[(&str, &str)] = &[
    (
        "a record is not in the index of identifiers",
        "SELECT record.identifier FROM record LEFT JOIN ident USING (format, identifier)
         WHERE ident.position IS NOT record.position",
    ),
    (
        "an identifier leads to no record",
        "SELECT ident.identifier FROM ident LEFT JOIN record USING (position) WHERE record.position IS NULL",
    ),
    (
        "a count differs from its list",
        "SELECT format.prefix || ' ' || list.set_spec FROM (
             SELECT list, segment, sum(n) AS n FROM (
                 SELECT member.list, member.segment, 1 AS n FROM member JOIN record USING (position)
                 UNION ALL SELECT list, segment, -live FROM tally)
             GROUP BY list, segment HAVING sum(n) <> 0) AS off
         JOIN list ON list.id = off.list JOIN format ON format.id = list.format",
    ),
    (
        "a format's records are not all in its list",
        "SELECT prefix FROM format WHERE (SELECT count(*) FROM record WHERE record.format = format.id) <>
             (SELECT coalesce(sum(live), 0) FROM tally JOIN list ON list.id = tally.list
              WHERE list.format = format.id AND list.set_spec = '')",
    ),
    (
        "a format's count of deleted records is wrong",
        "SELECT prefix FROM format WHERE deleted <>
             (SELECT count(*) FROM record WHERE record.format = format.id AND record.deleted)",
    ),
    (
        "a list member lies outside its segment",
        "SELECT member.position FROM member JOIN record USING (position) WHERE member.segment <>
             (SELECT id FROM segment WHERE first <= member.position ORDER BY first DESC LIMIT 1)",
    ),
    (
        "a record lies past the last position",
        "SELECT identifier FROM record WHERE position > (SELECT last_position FROM store)",
    ),
];

impl Sqlite {
    /// Checks everything; returns what is wrong, in words. `progress` hears the step and how much of it is done.
    pub(crate) fn check(&self, progress: &mut dyn FnMut(&str, u64, u64)) -> Result<Vec<String>, StoreError> {
        let reader = self.reader()?;
        let connection = &reader.connection;
        // One view for all rules: they compare tables with each other, and writers go on meanwhile.
        connection.execute_batch("BEGIN")?;
        let mut problems = Vec::new();
        progress("reading the file", 0, 0);
        for fault in texts(connection, "PRAGMA integrity_check(20)")? {
            if fault != "ok" {
                problems.push(format!("the file is damaged: {fault}"));
            }
        }
        if !problems.is_empty() {
            return Ok(problems);
        }
        for (at, (fault, query)) in RULES.iter().enumerate() {
            progress("comparing the indexes", at as u64, RULES.len() as u64);
            problems.extend(
                texts(connection, query)?
                    .into_iter()
                    .map(|place| format!("{fault}: {place}")),
            );
        }
        self.check_bodies(connection, &mut problems, progress)?;
        let (newest, now) = (super::last_position(connection)?.datestamp(), self.clock.system_now());
        problems.extend(ahead(newest, now));
        Ok(problems)
    }

    fn check_bodies(
        &self,
        connection: &Connection,
        problems: &mut Vec<String>,
        progress: &mut dyn FnMut(&str, u64, u64),
    ) -> Result<(), StoreError> {
        let total: i64 = connection.query_row("SELECT count(*) FROM record", [], |row| row.get(0))?;
        let mut select = connection.prepare(
            "SELECT record.position, record.identifier, set_specs, deleted, dictionary, body, digest, format, volatile
             FROM record JOIN ident USING (format, identifier)",
        )?;
        let mut in_sets = BTreeMap::new();
        let mut rows = select.query([])?;
        let (mut decompressor, mut fragment, mut found) = (Decompressor::new(), Vec::new(), 0);
        let mut done = 0;
        while let Some(row) = rows.next()? {
            done += 1;
            if done % 10_000 == 0 {
                progress("reading every record", done, u64::try_from(total).unwrap_or(0));
            }
            let identifier: String = row.get(1)?;
            let (set_specs, deleted): (String, bool) = (row.get(2)?, row.get(3)?);
            for set_spec in sets_with_ancestors(&set_specs) {
                *in_sets.entry((row.get(7)?, set_spec.to_owned())).or_insert(0) += 1;
            }
            let dictionary = row
                .get::<_, Option<i64>>(4)?
                .map(|id| self.dictionary_over(id, connection))
                .transpose()?;
            fragment.clear();
            let body = row.get_ref(5)?.as_blob_or_null().map_err(rusqlite::Error::from)?;
            let unpacked = match body {
                Some(body) => decompressor.append(body, dictionary.as_deref(), &mut fragment).is_ok(),
                None => deleted,
            };
            let expected: Digest = row.get(6)?;
            let actual = if deleted {
                digest_deleted(&set_specs)
            } else {
                digest(
                    &set_specs,
                    &fragment,
                    row.get::<_, Option<i64>>(8)?.map(Volatile::from_sql),
                )
            };
            if (!unpacked || expected != actual) && found < MOST_OF_A_KIND {
                found += 1;
                let at = Position::from_sql(row.get(0)?).datestamp();
                problems.push(format!("the content of {identifier} (published {at}) is damaged"));
            }
        }
        check_sets(connection, in_sets, problems)
    }
}

/// Compares how many records say they are in each set (format, set → records) with the counts of the lists.
fn check_sets(
    connection: &Connection,
    mut in_sets: BTreeMap<(i64, String), i64>,
    problems: &mut Vec<String>,
) -> Result<(), StoreError> {
    let mut select = connection.prepare(
        "SELECT format, set_spec, sum(live) FROM tally JOIN list ON list.id = tally.list
         WHERE set_spec <> '' GROUP BY list.id",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        *in_sets.entry((row.get(0)?, row.get(1)?)).or_insert(0) -= row.get::<_, i64>(2)?;
    }
    let wrong = in_sets.into_iter().filter(|(_, difference)| *difference != 0);
    problems.extend(
        wrong
            .take(MOST_OF_A_KIND)
            .map(|((_, set_spec), _)| format!("a set's records are not those that say they are in it: {set_spec}")),
    );
    Ok(())
}

/// The first column of the first rows, as text.
fn texts(connection: &Connection, query: &str) -> Result<Vec<String>, StoreError> {
    let mut select = connection.prepare(query)?;
    let mut rows = select.query([])?;
    let mut texts = Vec::new();
    while let Some(row) = rows.next()? {
        if texts.len() == MOST_OF_A_KIND {
            break;
        }
        texts.push(match row.get_ref(0)? {
            rusqlite::types::ValueRef::Integer(number) => number.to_string(),
            value => value.as_str().map_or_else(|_| "?".to_owned(), str::to_owned),
        });
    }
    Ok(texts)
}
