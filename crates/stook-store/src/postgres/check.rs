//! Is the store what it should be? Reads everything, changes nothing.

use std::collections::BTreeMap;

use super::connection::Connection;
use super::{Postgres, last_position};
use crate::body::{Decompressor, Volatile, digest, digest_deleted};
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
        "SELECT record.identifier FROM record LEFT JOIN ident USING (repository, format, identifier)
         WHERE ident.position IS DISTINCT FROM record.position LIMIT 20",
    ),
    (
        "an identifier leads to no record",
        "SELECT ident.identifier FROM ident LEFT JOIN record USING (repository, position)
         WHERE record.position IS NULL LIMIT 20",
    ),
    (
        "a count differs from its list",
        "SELECT format.prefix || ' ' || list.set_spec FROM (
             SELECT repository, list, segment FROM (
                 SELECT repository, list, segment, 1 AS n FROM member JOIN record USING (repository, position)
                 UNION ALL SELECT repository, list, segment, -live FROM tally) AS both_sides
             GROUP BY repository, list, segment HAVING sum(n) <> 0) AS off
         JOIN list ON list.repository = off.repository AND list.id = off.list
         JOIN format ON format.id = list.format LIMIT 20",
    ),
    (
        "a format's records are not all in its list",
        "SELECT prefix FROM format WHERE (
                 SELECT count(*) FROM record WHERE record.repository = format.repository AND record.format = format.id)
             <> (SELECT coalesce(sum(live), 0) FROM tally
                 JOIN list ON list.repository = tally.repository AND list.id = tally.list
                 WHERE tally.repository = format.repository AND list.format = format.id AND list.set_spec = '')
         LIMIT 20",
    ),
    (
        "a format's count of deleted records is wrong",
        "SELECT prefix FROM format WHERE deleted <> (
             SELECT count(*) FROM record
             WHERE record.repository = format.repository AND record.format = format.id AND record.deleted) LIMIT 20",
    ),
    (
        "a list member lies outside its segment",
        "SELECT member.position::text FROM member JOIN record USING (repository, position) WHERE member.segment <>
             (SELECT id FROM segment WHERE first <= member.position ORDER BY first DESC LIMIT 1) LIMIT 20",
    ),
    (
        "a record lies past the last position",
        "SELECT identifier FROM record WHERE position > (SELECT last_position FROM store) LIMIT 20",
    ),
];

impl Postgres {
    /// Checks everything; returns what is wrong, in words. `progress` hears the step and how much of it is done.
    pub(crate) fn check(&self, progress: &mut dyn FnMut(&str, u64, u64)) -> Result<Vec<String>, StoreError> {
        let mut connection = self.pool.take()?;
        connection.set_limit(None);
        // One view for all rules: they compare tables with each other, and writers go on meanwhile. Nothing is known
        // about the values of these queries, so they may be planned as the server likes.
        connection.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        let checked = self.check_view(&mut connection, progress);
        connection.batch("ROLLBACK")?;
        checked
    }

    fn check_view(
        &self,
        connection: &mut Connection,
        progress: &mut dyn FnMut(&str, u64, u64),
    ) -> Result<Vec<String>, StoreError> {
        let mut problems = Vec::new();
        for (at, (fault, query)) in RULES.iter().enumerate() {
            progress("comparing the indexes", at as u64, RULES.len() as u64);
            for row in connection.all(query, &[])? {
                let place: &str = row.try_get(0)?;
                problems.push(format!("{fault}: {place}"));
            }
        }
        self.check_bodies(connection, &mut problems, progress)?;
        let (newest, now) = (
            last_position(connection)?.datestamp(),
            self.clock.system_now(connection)?,
        );
        problems.extend(ahead(newest, now));
        Ok(problems)
    }

    fn check_bodies(
        &self,
        connection: &mut Connection,
        problems: &mut Vec<String>,
        progress: &mut dyn FnMut(&str, u64, u64),
    ) -> Result<(), StoreError> {
        let total: i64 = connection.one("SELECT count(*) FROM record", &[])?.try_get(0)?;
        for row in connection.all("SELECT id FROM dictionary", &[])? {
            self.dictionary_over(row.try_get(0)?, connection)?;
        }
        let mut in_sets: BTreeMap<(i64, String), i64> = BTreeMap::new();
        let (mut decompressor, mut fragment, mut found, mut done) = (Decompressor::new(), Vec::new(), 0, 0);
        connection.each(
            "SELECT record.position, record.identifier, set_specs, deleted, dictionary, body, digest, record.format,
                 volatile
             FROM record JOIN ident USING (repository, format, identifier)",
            &[],
            &mut |row| {
                done += 1;
                if done % 10_000 == 0 {
                    progress("reading every record", done, u64::try_from(total).unwrap_or(0));
                }
                let (identifier, set_specs): (&str, &str) = (row.try_get(1)?, row.try_get(2)?);
                let deleted: bool = row.try_get(3)?;
                for set_spec in sets_with_ancestors(set_specs) {
                    *in_sets.entry((row.try_get(7)?, set_spec.to_owned())).or_insert(0) += 1;
                }
                let dictionary: Option<i64> = row.try_get(4)?;
                // They have all been loaded.
                let dictionary = dictionary
                    .map(|id| {
                        self.dictionaries
                            .by_id(id, || Err(StoreError::Damaged(format!("dictionary {id}"))))
                    })
                    .transpose()?;
                fragment.clear();
                let body: Option<&[u8]> = row.try_get(5)?;
                let unpacked = match body {
                    Some(body) => decompressor.append(body, dictionary.as_deref(), &mut fragment).is_ok(),
                    None => deleted,
                };
                let expected: &[u8] = row.try_get(6)?;
                let volatile: Option<i64> = row.try_get(8)?;
                let actual = if deleted {
                    digest_deleted(set_specs)
                } else {
                    digest(set_specs, &fragment, volatile.map(Volatile::from_sql))
                };
                if (!unpacked || expected != actual) && found < MOST_OF_A_KIND {
                    found += 1;
                    let at = Position::from_sql(row.try_get(0)?).datestamp();
                    problems.push(format!("the content of {identifier} (published {at}) is damaged"));
                }
                Ok(())
            },
        )?;
        check_sets(connection, in_sets, problems)
    }
}

/// Compares how many records say they are in each set (format, set → records) with the counts of the lists.
fn check_sets(
    connection: &mut Connection,
    mut in_sets: BTreeMap<(i64, String), i64>,
    problems: &mut Vec<String>,
) -> Result<(), StoreError> {
    let rows = connection.all(
        "SELECT list.format, set_spec, sum(live)::int8 FROM tally
         JOIN list ON list.repository = tally.repository AND list.id = tally.list
         WHERE set_spec <> '' GROUP BY list.format, set_spec",
        &[],
    )?;
    for row in rows {
        let live: i64 = row.try_get(2)?;
        *in_sets.entry((row.try_get(0)?, row.try_get(1)?)).or_insert(0) -= live;
    }
    let wrong = in_sets.into_iter().filter(|(_, difference)| *difference != 0);
    problems.extend(
        wrong
            .take(MOST_OF_A_KIND)
            .map(|((_, set_spec), _)| format!("a set's records are not those that say they are in it: {set_spec}")),
    );
    Ok(())
}
