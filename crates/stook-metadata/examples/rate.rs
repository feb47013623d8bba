//! How long one record takes: `cargo run --release -p stook-metadata --example rate`.

use std::hint::black_box;
use std::time::Instant;

use stook_metadata::{DublinCore, Element, Language, check, well_known};

const ROUNDS: u32 = 200_000;

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

    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(make());
    }
    println!(
        "written in {:.2} µs",
        start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS)
    );

    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(check(black_box(&xml), &well_known()[0]).is_ok());
    }
    println!(
        "checked in {:.2} µs",
        start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS)
    );
}
