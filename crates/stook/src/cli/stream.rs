//! A harvest without a store: records go straight to a file or to standard output.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use stook_metadata::{Format, Formats};
use stook_oai::request::{ListRequest, Request};
use stook_oai::response::{Echo, HeaderRef, RecordsWriter, ResponseWriter, content_fragment};
use stook_oai::{Datestamp, Granularity, MetadataFormat, MetadataPrefix, Set};
use stook_store::{Known, Outcome};

use super::marc::MarcFormat;
use super::output::{Line, Output, OutputFormat};
use crate::harvest::ledger::Ledger;
use crate::harvest::{Delivery, Harvested, Memory, Sink};

/// XML is written in pieces of about this size.
const PIECE: usize = 1 << 20;

/// Writes what is harvested.
pub(super) struct Stream {
    out: Output,
    format: OutputFormat,
    base_url: String,
    xml: Option<(RecordsWriter, Granularity)>,
    outcomes: Vec<Outcome>,
    /// What was written: some 30 bytes for a record.
    written: HashSet<(u64, u64)>,
}

impl Stream {
    pub(super) fn new(out: Output, format: OutputFormat, base_url: &str) -> Stream {
        Stream {
            out,
            format,
            base_url: base_url.to_owned(),
            xml: None,
            outcomes: Vec::new(),
            written: HashSet::new(),
        }
    }

    /// Ends the document and gives the file its name.
    pub(super) fn finish(mut self) -> Result<()> {
        self.end_document()?;
        self.out.finish()
    }

    /// Ends the document where it is; the unfinished file, if it is one.
    pub(super) fn break_off(mut self) -> Result<Option<PathBuf>> {
        self.end_document()?;
        self.out.break_off()
    }

    fn end_document(&mut self) -> Result<()> {
        if let Some((writer, _)) = self.xml.take() {
            self.out.write_all(&writer.finish(None))?;
        }
        Ok(())
    }

    /// Whether the very same record has been written before, as when a list had to be begun anew.
    fn is_repetition(&mut self, record: &Harvested, prefix: &MetadataPrefix) -> bool {
        let hash = |seed: u64| {
            let mut hasher = DefaultHasher::new();
            (
                seed,
                prefix.as_str(),
                record.identifier.as_str(),
                &record.datestamp_text,
            )
                .hash(&mut hasher);
            (&record.metadata, &record.about).hash(&mut hasher);
            record.set_specs.iter().for_each(|set| set.as_str().hash(&mut hasher));
            hasher.finish()
        };
        !self.written.insert((hash(0), hash(1)))
    }

    fn write_line(&mut self, record: &Harvested, prefix: &MetadataPrefix) -> Result<()> {
        let about: Vec<&str> = record.about.iter().map(String::as_str).collect();
        let line = Line {
            identifier: record.identifier.as_str(),
            datestamp: record.datestamp_text.clone(),
            sets: record.set_specs.iter().map(|set| set.as_str()).collect(),
            deleted: record.metadata.is_none(),
            metadata: [(prefix.as_str(), record.metadata.as_deref())].into(),
            about: (!about.is_empty()).then(|| [(prefix.as_str(), about)].into()),
        };
        serde_json::to_writer(&mut self.out, &line)?;
        self.out.write_all(b"\n")?;
        Ok(())
    }

    fn write_xml(&mut self, record: &Harvested, prefix: &MetadataPrefix, harvest_date: &str) -> Result<()> {
        let (writer, _) = self.xml.get_or_insert_with(|| {
            let granularity = if record.datestamp_text.len() == 10 {
                Granularity::Day
            } else {
                Granularity::Second
            };
            let request = Request::ListRecords(ListRequest::Selection {
                metadata_prefix: prefix.clone(),
                from: None,
                until: None,
                set: None,
            });
            let date = Datestamp::parse(harvest_date).unwrap_or_default();
            let writer = ResponseWriter::new(Vec::new(), date, &self.base_url, &Echo::Arguments(&request));
            (writer.list_records(granularity), granularity)
        });
        let set_specs: Vec<&str> = record.set_specs.iter().map(|set| set.as_str()).collect();
        let set_specs = set_specs.join(" ");
        let header = HeaderRef {
            identifier: record.identifier.as_str(),
            datestamp: record.datestamp.unwrap_or_default(),
            set_specs: &set_specs,
            deleted: record.metadata.is_none(),
        };
        let metadata = record.metadata.as_deref().unwrap_or_default();
        writer.record(&header, |out| out.extend(content_fragment(metadata, &record.about)));
        if writer.len() > PIECE {
            let piece = writer.take();
            self.out.write_all(&piece)?;
        }
        Ok(())
    }
}

impl Stream {
    /// Deleted records have nothing to write; what ISO 2709 cannot hold is left out and named.
    fn write_marc(&mut self, record: &Harvested, prefix: &MetadataPrefix) -> Result<()> {
        let Some(metadata) = &record.metadata else {
            return Ok(());
        };
        let known = Formats::default();
        let format = known.by_prefix(prefix.as_str()).map(Format::metadata_format);
        let format = format.map_or(Ok(MarcFormat::Marc21), |format| MarcFormat::of(&format))?;
        let mut bytes = Vec::new();
        if let Err(defect) = format.append(metadata, &mut bytes) {
            eprintln!("left out: {}: {defect}", record.identifier.as_str());
        }
        self.out.write_all(&bytes)?;
        Ok(())
    }
}

impl Sink for Stream {
    fn deliver(&mut self, delivery: Delivery) -> Result<()> {
        let Some(prefix) = &delivery.prefix else { return Ok(()) };
        for record in &delivery.records {
            if self.is_repetition(record, prefix) {
                continue;
            }
            match self.format {
                OutputFormat::Jsonl => self.write_line(record, prefix)?,
                OutputFormat::Xml => self.write_xml(record, prefix, &delivery.harvest_date)?,
                OutputFormat::Marc => self.write_marc(record, prefix)?,
            }
            self.outcomes.push(if record.metadata.is_none() {
                Outcome::Deleted
            } else {
                Outcome::New
            });
        }
        for broken in &delivery.quarantined {
            let identifier = broken.identifier.as_deref().unwrap_or("a record without identifier");
            eprintln!("left out: {identifier}: {}", broken.reason);
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<Vec<Outcome>> {
        self.out.flush()?;
        Ok(std::mem::take(&mut self.outcomes))
    }
}

/// Remembers nothing.
pub(super) struct NoMemory;

impl Memory for NoMemory {
    fn ledger(&self, prefix: &str, set: &str) -> Result<Ledger> {
        Ok(Ledger::new(prefix, set))
    }

    fn declare_format(&mut self, _: &MetadataFormat) -> Result<()> {
        Ok(())
    }

    fn define_set(&mut self, _: &Set) -> Result<()> {
        Ok(())
    }

    fn known(&self, _: &MetadataPrefix, _: &str) -> Result<Option<Known>> {
        Ok(None)
    }
}
