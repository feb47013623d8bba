//! Downloading and parsing the pages of a list, and nothing else: the floor
//! under what any harvester can take. It runs as a process of its own, so that
//! its processor time can be told.

use anyhow::{Context, Result, bail};
use quick_xml::NsReader;
use quick_xml::events::Event;
use quick_xml::name::{Namespace, ResolveResult};

use crate::http::{Client, resumption_token};

/// As it is started: `cargo xtask bench bare PORT`.
pub(super) const COMMAND: &str = "bare";

const OAI_PMH: ResolveResult<'static> = ResolveResult::Bound(Namespace("http://www.openarchives.org/OAI/2.0/"));

/// Reads the command line.
///
/// # Errors
/// When it is not a port.
pub(super) fn port(arguments: &[String]) -> Result<u16> {
    match arguments {
        [port] => port.parse().with_context(|| format!("{port}: not a port")),
        _ => bail!("bench {COMMAND} takes the port of an endpoint"),
    }
}

/// Follows the resumption tokens of `ListRecords` and prints how many records
/// there were.
///
/// # Errors
/// When a page cannot be fetched or parsed.
pub(super) fn run(port: u16) -> Result<()> {
    let mut client = Client::connect(port)?;
    let mut path = "/oai?verb=ListRecords&metadataPrefix=oai_dc".to_owned();
    let mut records = 0;
    loop {
        let answer = client.fetch(&path, "")?;
        if answer.status != 200 {
            bail!("{path} was answered with\n{}", answer.head);
        }
        records += count_records(answer.body)?;
        match resumption_token(answer.body) {
            Some(token) => path = format!("/oai?verb=ListRecords&resumptionToken={token}"),
            None => break,
        }
    }
    println!("{records}");
    Ok(())
}

/// Reads every event, with its namespace, as whoever wants the content must.
fn count_records(page: &[u8]) -> Result<u64> {
    let mut reader = NsReader::from_str(std::str::from_utf8(page)?);
    let mut records = 0;
    loop {
        match reader.read_resolved_event()? {
            (OAI_PMH, Event::Start(tag)) if tag.local_name().into_inner() == "record" => records += 1,
            (_, Event::Eof) => return Ok(records),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_the_protocol_are_counted() {
        let page = b"<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'><record/><record><metadata>\
            <record xmlns='http://www.loc.gov/MARC21/slim'></record></metadata></record><record></record></OAI-PMH>";
        assert_eq!(count_records(page).unwrap(), 2);
    }
}
