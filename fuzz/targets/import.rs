//! Files to import: whatever they hold becomes drafts, rejections or a refusal,
//! alike however the bytes come in; and what becomes a draft can be published,
//! so that no record ever breaks a page.
#![no_main]

use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use stook::import::source::{self, Source};
use stook::import::{Content, Draft, Drafted, Drafter, Options};
use stook_oai::response::{Echo, Event, HeaderRef, ResponseReader, ResponseWriter, content_fragment};
use stook_oai::{Datestamp, Granularity, OaiNamespace};

fuzz_target!(|file: &[u8]| {
    let Ok(namespace) = OaiNamespace::parse("example.org") else {
        return;
    };
    let options = Options::new(namespace);
    for name in [None, Some("table.csv"), Some("catalogue.mrc")] {
        let drafts = draft(name, &mut &*file, &options);
        let slowly = draft(name, &mut OneByOne(file), &options);
        assert_eq!(drafts, slowly, "how bytes arrive must not matter");
        for draft in &drafts {
            can_be_published(draft);
        }
    }
});

/// What a file gives, as far as it can be published.
fn draft(name: Option<&str>, file: &mut dyn Read, options: &Options) -> Vec<Draft> {
    let source = Source {
        name: "file".into(),
        file_name: name.map(Into::into),
        named: true,
    };
    let drafter = Drafter::new(Arc::new(options.clone()));
    let mut drafted = Drafted::default();
    // A refusal keeps what was drafted before it; a person decides then.
    let _ = source::read(&source, file, options, &mut |raw| {
        drafter.draft(raw, &mut drafted);
        ControlFlow::Continue(())
    });
    drafted.drafts
}

fn can_be_published(draft: &Draft) {
    let Content::Live { metadata, about, .. } = &draft.content else {
        return;
    };
    let sets: Vec<&str> = draft.set_specs.iter().map(|set| set.as_str()).collect();
    let header = HeaderRef {
        identifier: draft.identifier.as_str(),
        datestamp: Datestamp::UNIX_EPOCH,
        set_specs: &sets.join(" "),
        deleted: false,
    };
    let writer = ResponseWriter::new(Vec::new(), Datestamp::UNIX_EPOCH, "http://example.org/oai", &Echo::None);
    let mut page = writer.list_records(Granularity::Second);
    page.record(&header, |out| out.extend_from_slice(&content_fragment(metadata, about)));
    let page = page.finish(None);
    let mut reader = ResponseReader::new(&page[..]);
    let mut read = None;
    while let Some(event) = reader.next().unwrap_or_else(|error| panic!("{error}: {draft:?}")) {
        if let Event::Record(record) = event {
            read = Some(record);
        }
    }
    let Some(read) = read else {
        panic!("no record came back of {draft:?}");
    };
    assert_eq!(read.header.identifier, draft.identifier);
    assert_eq!(read.header.set_specs, draft.set_specs);
    assert_eq!(read.metadata.as_ref(), Some(metadata));
}

/// A stream that gives one byte at a time.
struct OneByOne<'a>(&'a [u8]);

impl Read for OneByOne<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let wanted = buffer.len().min(1);
        self.0.read(&mut buffer[..wanted])
    }
}
