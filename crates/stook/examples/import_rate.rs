//! How fast JSON lines become drafts on one core:
//! `cargo run --release -p stook --example import_rate [FILE.jsonl]`.
//!
//! Without a file, records of about 1.2 KB in several scripts are made up first. The pipeline before the store is
//! measured (cut, parse, clean, write), in one thread, by the time that thread had a core.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stook::import::source::{self, Source};
use stook::import::{Drafted, Drafter, Options};
use stook_oai::OaiNamespace;

const RECORDS: usize = 200_000;

fn main() {
    let bytes = match std::env::args_os().nth(1) {
        Some(path) => std::fs::read(path).expect("the file is readable"),
        None => made_up(),
    };
    let options = Arc::new(Options::new(OaiNamespace::parse("example.org").expect("a domain name")));
    let drafter = Drafter::new(options.clone());
    let source = Source {
        name: "records".into(),
        file_name: Some("records.jsonl".into()),
        named: true,
    };
    let (mut records, mut rejected, mut written) = (0, 0, 0);
    let (started, started_on_core) = (Instant::now(), time_on_core());
    let outcome = source::read(&source, &mut bytes.as_slice(), &options, &mut |raw| {
        let mut drafted = Drafted::default();
        drafter.draft(raw, &mut drafted);
        records += drafted.drafts.len();
        rejected += drafted.rejected.len();
        for draft in &drafted.drafts {
            if let stook::import::Content::Live { metadata, .. } = &draft.content {
                written += metadata.len();
            }
        }
        ControlFlow::Continue(())
    });
    let elapsed = match (started_on_core, time_on_core()) {
        (Some(before), Some(now)) => now - before,
        _ => started.elapsed(),
    };
    let seconds = elapsed.as_secs_f64();
    assert!(outcome.is_ok(), "{outcome:?}");
    println!(
        "{records} records ({rejected} rejected), {:.0} bytes of JSON and {:.0} of XML each: {:.0} records/s, {:.0} MB/s",
        bytes.len() as f64 / records as f64,
        written as f64 / records as f64,
        records as f64 / seconds,
        bytes.len() as f64 / 1e6 / seconds,
    );
}

/// How long this thread was running rather than waiting for a core; Linux tells.
fn time_on_core() -> Option<Duration> {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = schedule.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

fn made_up() -> Vec<u8> {
    let texts = [
        "Der Plan zeigt die Stadt & ihre Umgebung um 1750 mit \\\"alten\\\" Wegen und Mühlen am Fluss. ",
        "Mapa města a okolí s vyznačením starých cest, mlýnů a hranic panství z roku 1750. ",
        "План града и околине са старим путевима, воденицама и границама поседа из 1750. године. ",
        "この地図は一七五〇年頃の町と周辺の古い道や水車を示している。",
    ];
    let mut bytes = Vec::new();
    for number in 0..RECORDS {
        let text = texts[number % texts.len()];
        let abstract_text = text.repeat(720 / text.len());
        bytes.extend_from_slice(
            format!(
                "{{\"identifier\":\"map-{number:07}\",\"sets\":[\"maps:city\",\"year:{}\"],\"title\":\"Stadtplan Nr. \
                 {number}\",\"creator\":[\"Müller, Anna\",\"Петровић, Јован\"],\"subject\":[{{\"value\":\"Karten\",\
                 \"lang\":\"de\"}},\"Geschichte\"],\"description\":\"{abstract_text}\",\"publisher\":\"Stadtbibliothek\",\
                 \"date\":\"1750\",\"type\":\"Image\",\"format\":\"image/tiff\",\"language\":\"de\",\"rights\":\"CC0\",\
                 \"dc:identifier\":\"https://example.org/maps/{number}\"}}\n",
                1700 + number % 100
            )
            .as_bytes(),
        );
    }
    bytes
}
