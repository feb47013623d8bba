//! every answer beside the official schema.

use stook_metadata::model::{self, Breach, Wrong};

use crate::validate::document::Document;
use crate::validate::exchange::Exchange;
use crate::validate::run::{Found, Run, Verdict};

/// Who tells better what is wrong with an element: the families and checks that look at it.
const OTHERS: &[(&[&str], &[&str])] = &[
    (&["OAI-PMH", "responseDate"], &["X-8", "X-14"]),
    (&["request"], &["X", "E", "D", "T", "L", "G", "P"]),
    (&["error"], &["X", "E"]),
    (&["compression"], &["C", "I"]),
    (&["description"], &["I", "K"]),
    (
        &[
            "Identify",
            "repositoryName",
            "baseURL",
            "protocolVersion",
            "adminEmail",
            "earliestDatestamp",
            "deletedRecord",
            "granularity",
        ],
        &["I", "X-14"],
    ),
    (
        &[
            "ListMetadataFormats",
            "metadataFormat",
            "metadataPrefix",
            "schema",
            "metadataNamespace",
        ],
        &["M", "X-14"],
    ),
    (
        &["ListSets", "set", "setName", "setDescription"],
        &["S", "F", "K", "X-14"],
    ),
];

/// Records, headers and tokens: most families look at them.
const OF_RECORDS: &[&str] = &["S", "L", "G", "R", "D", "T", "F", "Z", "K", "AG", "X-14"];

/// Holds an answer to the schema. What another check finds in the same answer is left to it.
pub(super) fn judge(run: &mut Run<'_>, exchange: &Exchange, document: &Document) {
    match model::first_breach(&document.text, model::of_answers()) {
        None => run.judge("X-7", Verdict::Holds),
        Some((offset, breach)) => {
            let found = Found::new(breach.to_string())
                .on(exchange)
                .at_line(document.line_at(offset));
            run.judge_later("X-7", found, others(&breach));
        }
    }
}

fn others(breach: &Breach) -> &'static [&'static str] {
    let element = match &breach.wrong {
        Wrong::Missing(names) => names.first().map_or("", String::as_str),
        Wrong::TooFew { element, .. } => element.as_str(),
        _ => {
            let place = breach.place.split('@').next().unwrap_or_default();
            place.rsplit('/').next().unwrap_or_default()
        }
    };
    let row = OTHERS.iter().find(|(elements, _)| elements.contains(&element));
    row.map_or(OF_RECORDS, |(_, others)| others)
}
