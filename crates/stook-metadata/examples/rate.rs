//! How long one record takes, in time on a core: `cargo run --release -p stook-metadata --example rate`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use stook_metadata::crosswalk::tree;
use stook_metadata::quality::could_be_better;
use stook_metadata::{DublinCore, Element, Formats, Language, check, well_known};

const ROUNDS: u32 = 50_000;

fn main() {
    let abstract_text = "Die Karte zeigt die Stadt & ihre Umgebung um 1750; мапа приказује град \
        и околину. "
        .repeat(6);
    let make = || {
        let mut record = DublinCore::default();
        record.push(Element::Title, "Stadtplan von Novi Sad", Language::parse("de").ok());
        record.push(Element::Creator, "Müller, Anna", None);
        record.push(Element::Creator, "Петровић, Јован", None);
        record.push(Element::Subject, "Karten", Language::parse("de").ok());
        record.push(Element::Subject, "Geschichte <18. Jahrhundert>", None);
        record.push(Element::Description, abstract_text.as_str(), None);
        record.push(Element::Date, "1750", None);
        record.push(Element::Type, "Image", None);
        record.push(Element::Identifier, "https://example.org/maps/1750-novi-sad", None);
        record.push(Element::Rights, "CC0", None);
        record.write()
    };
    let xml = make();
    println!("a record of {} bytes", xml.len());

    time("written", || {
        black_box(make());
    });
    time("checked", || {
        black_box(check(black_box(&xml), &well_known()[0]).is_ok());
    });
    // Nothing is amiss in it, so all of it is looked at.
    time("looked at", || {
        black_box(could_be_better(black_box(&xml)));
    });

    // Formats with a content model, beside only reading the record.
    let formats = Formats::default();
    for (prefix, xml) in [
        ("mods", include_str!("../tests/crosswalks/records/mods/book.xml")),
        (
            "datacite",
            include_str!("../tests/crosswalks/records/datacite/dataset.xml"),
        ),
        ("qdc", include_str!("../tests/crosswalks/records/qdc/thesis.xml")),
        ("marc21", include_str!("../tests/crosswalks/records/marc21/book.xml")),
    ] {
        let Some(format) = formats.by_prefix(prefix) else {
            continue;
        };
        println!(
            "a record of {prefix}, {} bytes, valid: {}",
            xml.len(),
            check(xml, format).is_ok()
        );
        time("read", || {
            black_box(tree::Element::read(black_box(xml)).is_ok());
        });
        time("checked", || {
            black_box(check(black_box(xml), format).is_ok());
        });
    }
}

fn time(what: &str, mut work: impl FnMut()) {
    let (started, started_on_core) = (Instant::now(), time_on_core());
    for _ in 0..ROUNDS {
        work();
    }
    let elapsed = match (started_on_core, time_on_core()) {
        (Some(before), Some(now)) => now - before,
        _ => started.elapsed(),
    };
    println!("{what} in {:.2} µs", elapsed.as_secs_f64() * 1e6 / f64::from(ROUNDS));
}

/// How long this thread was running rather than waiting for a core; Linux tells.
fn time_on_core() -> Option<Duration> {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = schedule.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
