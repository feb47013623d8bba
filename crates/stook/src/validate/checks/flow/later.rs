//! What was asked for on the first page holds on the later ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use stook_oai::Granularity;

use crate::validate::document::Element;
use crate::validate::exchange::Exchange;
use crate::validate::facts::read_datestamp;
use crate::validate::gather::next_page;
use crate::validate::pages::{headers_of, outside, shows};
use crate::validate::probe::encoded;
use crate::validate::run::{Found, Run, Stop, Verdict};

pub(super) fn check(run: &mut Run<'_>, whole: &[Arc<Exchange>]) -> Result<(), Stop> {
    if !run.wants("F-23") {
        return Ok(());
    }
    let verdicts = [of_a_set(run)?, of_dates(run, whole)?, of_a_format(run)?];
    let nothing = verdicts.iter().all(Option::is_none);
    for verdict in verdicts.into_iter().flatten() {
        run.judge("F-23", verdict);
    }
    if nothing {
        run.judge("F-23", Verdict::not_applicable("no list of a selection is split"));
    }
    Ok(())
}

/// The first two pages of a list.
type TwoPages = (Arc<Exchange>, Arc<Exchange>);

/// The first two pages of a list, if there are two.
fn two_pages(run: &mut Run<'_>, verb: &str, selection: &str) -> Result<Option<TwoPages>, Stop> {
    let first = run.get(&format!("verb={verb}&{selection}"))?;
    let Some(next) = next_page(verb, &first) else {
        return Ok(None);
    };
    let second = run.get(&next)?;
    Ok(second.succeeded().then_some((first, second)))
}

fn broken(second: &Exchange, came: String) -> Verdict {
    Verdict::Broken(vec![Found::new(came).on(second)])
}

/// Records outside a set on its second page.
fn of_a_set(run: &mut Run<'_>) -> Result<Option<Verdict>, Stop> {
    let Some(set) = run.facts.set_spec.clone() else {
        return Ok(None);
    };
    let selection = format!("metadataPrefix=oai_dc&set={}", encoded(&set));
    let Some((first, second)) = two_pages(run, "ListIdentifiers", &selection)? else {
        return Ok(None);
    };
    // Where not even the first page shows the set, that is told elsewhere.
    if !headers_of(&first).all(|header| shows(&header, &set)) {
        return Ok(None);
    }
    let stranger = headers_of(&second).find(|header| !shows(header, &set));
    Ok(Some(stranger.map_or(Verdict::Holds, |header| {
        broken(&second, format!("{} on page 2 is not in set {set}", header.identifier))
    })))
}

/// Records outside a range of dates on its second page. The range is that of the pages behind the first.
fn of_dates(run: &mut Run<'_>, whole: &[Arc<Exchange>]) -> Result<Option<Verdict>, Stop> {
    let granularity = run.facts.granularity();
    let later = whole.iter().skip(1).flat_map(|page| headers_of(page));
    let datestamps: BTreeSet<_> = later.filter_map(|header| read_datestamp(&header.datestamp)).collect();
    let (Some(from), Some(until)) = (datestamps.first().copied(), datestamps.last().copied()) else {
        return Ok(None);
    };
    let written = |datestamp: stook_oai::Datestamp| encoded(datestamp.format(granularity).as_str());
    let selection = format!("metadataPrefix=oai_dc&from={}&until={}", written(from), written(until));
    let Some((first, second)) = two_pages(run, "ListIdentifiers", &selection)? else {
        return Ok(None);
    };
    let last = match granularity {
        Granularity::Day => until.end_of_day(),
        Granularity::Second => until,
    };
    if !outside(&first, Some(from), Some(last)).is_empty() {
        return Ok(None);
    }
    let stranger = outside(&second, Some(from), Some(last)).into_iter().next();
    Ok(Some(stranger.map_or(Verdict::Holds, |header| {
        broken(
            &second,
            format!("{} on page 2 is of {}", header.identifier, header.datestamp),
        )
    })))
}

/// Records of another format on the second page.
fn of_a_format(run: &mut Run<'_>) -> Result<Option<Verdict>, Stop> {
    let Some(prefix) = run.facts.second_prefix.clone() else {
        return Ok(None);
    };
    let selection = format!("metadataPrefix={}", encoded(&prefix));
    let Some((first, second)) = two_pages(run, "ListRecords", &selection)? else {
        return Ok(None);
    };
    let (known, later) = (namespaces(&first), namespaces(&second));
    Ok(Some(later.difference(&known).next().map_or(
        Verdict::Holds,
        |namespace| {
            broken(
                &second,
                format!("metadata in {namespace:?} on page 2 of a list of {prefix}"),
            )
        },
    )))
}

/// The namespaces of the metadata of a page.
fn namespaces(page: &Exchange) -> BTreeSet<String> {
    let records = page.document().into_iter().flat_map(|document| document.records());
    let roots = records.filter_map(|record| record.child("metadata")?.elements().next());
    roots.map(|root: &Element| root.namespace.to_string()).collect()
}
