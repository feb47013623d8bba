//! Endpoints that pack when they should not, or not as they say.

use std::io::Write;

use misbehave::{Given, Heard};

use crate::harness::{Case, case, hold};

fn announcing(value: &'static str) -> impl Fn(&Heard<'_>, &mut Given) + Send + Sync + 'static {
    move |heard, given| {
        if heard.is("Identify") {
            let element = format!("</granularity><compression>{value}</compression>");
            given.replace_first("</granularity>", &element);
        }
    }
}

/// Bends answers to requests whose Accept-Encoding holds a text.
fn accepting(
    text: &'static str,
    bend: impl Fn(&mut Given) + Send + Sync + 'static,
) -> impl Fn(&Heard<'_>, &mut Given) + Send + Sync + 'static {
    move |heard, given| {
        if heard
            .header("Accept-Encoding")
            .is_some_and(|codings| codings.contains(text))
        {
            bend(given);
        }
    }
}

fn pack(given: &mut Given) {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&given.body).unwrap();
    given.body = encoder.finish().unwrap();
    given.set_header("Content-Encoding", "gzip");
}

pub fn cases() -> Vec<Case> {
    vec![
        case("C-1", |heard, given| {
            if heard.is("Identify") && heard.header("Accept-Encoding").is_none() {
                pack(given);
            }
        }),
        case(
            "C-2",
            accepting("gzip", |given| given.set_header("Content-Encoding", "gzip")),
        ),
        case(
            "C-2",
            accepting("gzip", |given| given.set_header("Content-Encoding", "br")),
        ),
        case(
            "C-2",
            accepting("gzip", |given| given.replace("Misbehaving", "Behaving")),
        ),
        case("C-3", announcing("deflate")),
        case("C-4", accepting("gzip", pack)),
        case("C-5", announcing("zip")),
        case("C-5", announcing("identity")),
        case("C-6", accepting("*;q=0", pack)),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
