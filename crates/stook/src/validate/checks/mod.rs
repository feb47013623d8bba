//! The checks, one family per file. Beside each file stands its table of texts.

mod aggregator;
mod compare;
mod compression;
mod containers;
mod datestamps;
mod deleted;
mod envelope;
mod errors;
mod flow;
mod formats;
mod gateway;
mod get_record;
mod hostile;
mod identifiers;
mod identify;
mod post;
mod quality;
mod records;
mod set_members;
mod sets;
pub(super) mod static_repository;
mod transport;

use super::exchange::Exchange;
use super::run::{Run, Stop};

/// The tables, in the order of running and of reports.
pub(super) const TABLES: &[&str] = &[
    include_str!("transport.toml"),
    include_str!("compression.toml"),
    include_str!("envelope.toml"),
    include_str!("identify.toml"),
    include_str!("containers.toml"),
    include_str!("formats.toml"),
    include_str!("sets.toml"),
    include_str!("identifiers.toml"),
    include_str!("get_record.toml"),
    include_str!("records.toml"),
    include_str!("datestamps.toml"),
    include_str!("set_members.toml"),
    include_str!("flow.toml"),
    include_str!("errors.toml"),
    include_str!("post.toml"),
    include_str!("deleted.toml"),
    include_str!("quality.toml"),
    include_str!("aggregator.toml"),
    include_str!("gateway.toml"),
    include_str!("static_repository.toml"),
    include_str!("hostile.toml"),
];

/// A part of a run.
type Part = fn(&mut Run<'_>) -> Result<(), Stop>;

/// Their code, in the same order.
pub(super) const FAMILIES: &[Part] = &[
    transport::check,
    compression::check,
    envelope::check,
    identify::check,
    containers::check,
    formats::check,
    sets::check,
    identifiers::check,
    get_record::check,
    records::check,
    datestamps::check,
    set_members::check,
    flow::check,
    errors::check,
    post::check,
    deleted::check,
    quality::check,
    aggregator::check,
    gateway::check,
    static_repository::check,
    hostile::check,
];

/// What is judged in every answer, whatever was asked.
const EVERY: &[fn(&mut Run<'_>, &Exchange)] = &[
    transport::every,
    envelope::every,
    identify::every,
    containers::every,
    records::every,
    datestamps::every,
    flow::every,
    deleted::every,
];

/// What can only be judged when everything was seen.
const LAST: &[Part] = &[identify::last, containers::last, sets::last, deleted::last];

/// Judges what was collected over the run.
pub(super) fn last(run: &mut Run<'_>) -> Result<(), Stop> {
    LAST.iter().try_for_each(|last| last(run))
}

/// Whether any check of a family is to be made.
fn wants_any(run: &Run<'_>, family: &str) -> bool {
    super::table::all().any(|check| check.id.starts_with(family) && run.options.wants(check))
}

/// Judges an answer by what holds for all of them.
pub(super) fn every_answer(run: &mut Run<'_>, exchange: &Exchange) {
    for every in EVERY {
        every(run, exchange);
    }
}

/// Judges what only the whole run can tell, also of one that ended early.
pub(super) fn at_the_end(run: &mut Run<'_>) {
    transport::at_the_end(run);
    run.judge_what_waits();
}
