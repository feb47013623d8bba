//! Responses: whatever arrives is read as events or refused, alike however the
//! bytes come in; a record that was read stands alone, so that in another
//! envelope it reads the same. A lenient reader reads what a strict one does
//! alike, and hands on nothing that a strict one would not take.
#![no_main]

use std::io::{BufRead, BufReader};

use libfuzzer_sys::fuzz_target;
use stook_oai::Record;
use stook_oai::response::{EncodingHint, Event, ReadLimits, RecordsReader, ResponseReader};

fuzz_target!(|response: &[u8]| {
    let events = read(ResponseReader::new(response));
    assert_eq!(
        events,
        read(ResponseReader::new(BufReader::with_capacity(3, response))),
        "how bytes arrive must not matter"
    );
    let lenient = |limits| ResponseReader::lenient(response, limits, EncodingHint::default());
    let mended = read(lenient(ReadLimits::default()));
    if events.iter().all(Result::is_ok) {
        assert_eq!(events, mended, "what needs no mending is not mended");
    }
    for event in events.iter().chain(&mended).flatten() {
        if let Event::Record(record) = event {
            reads_the_same_elsewhere(record);
        }
    }
    let mut records = RecordsReader::new(response);
    for _ in 0..response.len() {
        match records.next() {
            Ok(None) => break,
            Err(error) if !error.can_continue() => break,
            _ => {}
        }
    }
});

/// All events, and the texts of the errors between them.
fn read(mut reader: ResponseReader<impl BufRead>) -> Vec<Result<Event, String>> {
    let mut events = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(event)) => events.push(Ok(event)),
            Ok(None) => return events,
            Err(error) => {
                let end = !error.can_continue();
                events.push(Err(error.to_string()));
                if end {
                    return events;
                }
            }
        }
    }
}

fn reads_the_same_elsewhere(record: &Record) {
    let Some(metadata) = &record.metadata else {
        return;
    };
    let response = format!(
        "<envelope:OAI-PMH xmlns:envelope='http://www.openarchives.org/OAI/2.0/'>\
         <envelope:responseDate>2026-01-31T12:00:00Z</envelope:responseDate>\
         <envelope:request>http://example.org/</envelope:request><envelope:ListRecords><envelope:record>\
         <envelope:header><envelope:identifier>urn:x</envelope:identifier>\
         <envelope:datestamp>2026-01-30</envelope:datestamp></envelope:header>\
         <envelope:metadata>{metadata}</envelope:metadata>\
         </envelope:record></envelope:ListRecords></envelope:OAI-PMH>"
    );
    let again = read(ResponseReader::new(response.as_bytes()));
    let Some(Ok(Event::Record(again))) = again.get(2) else {
        panic!("{again:?} of {response}");
    };
    assert_eq!(again.metadata.as_ref(), Some(metadata));
}
