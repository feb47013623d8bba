//! Our own repositories: nothing is wrong with them, whatever their granularity, with sets and without, deep and hostile.

use std::time::SystemTime;

use stook::config::{GranularityName, Repository, Server};
use stook::validate::report::to_text;
use stook::validate::table::Severity;
use stook_metadata::Element;
use stook_oai::Datestamp;
use stook_store::Change;

use crate::harness::validated;
use crate::support::http::Running;
use crate::support::{Bench, deleted, described, mods, settings};

const BASE_URL: &str = "https://ferry.example.org/oai";

fn repository(granularity: GranularityName) -> Repository {
    let text = format!(
        r#"
[[repository]]
base_url = "{BASE_URL}"
repository_name = "Ferry Town Archive"
admin_emails = ["oai@ferry.example.org"]
namespace = "ferry.example.org"
"#
    );
    Repository {
        granularity,
        ..settings(&text)
    }
}

/// A record with everything that is recommended.
fn record(number: u32, sets: &[&str]) -> Change {
    let local = format!("{number:04}");
    let (title, url) = (
        format!("Map {number} of the ferry & its town"),
        format!("https://ferry.example.org/maps/{local}"),
    );
    described(
        &local,
        sets,
        &[
            (Element::Title, &title),
            (Element::Creator, "Fähr, Anna"),
            (Element::Date, "1893-05-17"),
            (Element::Type, "StillImage"),
            (Element::Language, "deu"),
            (Element::Publisher, "Ferry Town"),
            (Element::Description, "Карта, mapa, 地図."),
            (Element::Rights, "https://creativecommons.org/publicdomain/zero/1.0/"),
            (Element::Identifier, &url),
        ],
    )
}

/// Some 250 records of several days, some deleted, some in a second format; the clock shows the present.
fn serving(granularity: GranularityName, with_sets: bool) -> Running {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let provider = bench.provider(repository(granularity));
    bench.declare_format(&provider, "mods");
    let sets = |sets: &'static [&'static str]| if with_sets { sets } else { &[] };
    if with_sets {
        for (spec, name) in [("maps", "Maps"), ("maps:city", "City maps"), ("map", "Not maps")] {
            bench.define_set(&provider, spec, name, vec![]);
        }
    }
    for (day, numbers) in [("02", 0..100), ("03", 100..180), ("05", 180..250)] {
        let changes = numbers.map(|number| {
            record(
                number,
                match number % 5 {
                    0 => sets(&["maps:city"]),
                    1 => sets(&["map"]),
                    _ => sets(&["maps"]),
                },
            )
        });
        bench.apply_at(&format!("2024-03-{day}T10:30:00Z"), &provider, changes.collect());
    }
    let second = (0..30).map(|number| mods(&format!("{number:04}"), sets(&["maps"]), "A map"));
    bench.apply_at("2024-03-06T10:30:00Z", &provider, second.collect());
    let gone = [7, 8, 120].map(|number| deleted(&format!("{number:04}")));
    bench.apply_at("2024-04-01T10:30:00Z", &provider, gone.to_vec());
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let now = Datestamp::from_unix(i64::try_from(now).unwrap()).unwrap();
    bench.hand.turn_to(&now.to_string());
    Running::start(bench, vec![provider], Server::default())
}

#[test]
fn nothing_is_wrong_with_our_own_repositories() {
    for (granularity, with_sets) in [
        (GranularityName::Seconds, true),
        (GranularityName::Seconds, false),
        (GranularityName::Days, true),
        (GranularityName::Days, false),
    ] {
        let server = serving(granularity, with_sets);
        let report = validated(&format!("http://{}/oai", server.address), |options| {
            options.base_url = Some(BASE_URL.to_owned());
            options.deep = true;
            options.hostile = true;
            options.most_requests = 2_000;
        });
        let serious = report
            .findings()
            .into_iter()
            .any(|finding| finding.severity > Severity::Info);
        assert!(!serious && report.ended_early.is_none(), "{}", to_text(&report));
    }
}
