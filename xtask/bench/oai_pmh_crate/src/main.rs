//! Harvests with the crate oai-pmh into a file and prints how many records
//! came: `oai-pmh-crate BASE_URL FILE`.

use std::fs::File;
use std::io::{BufWriter, Write};

use oai_pmh::{Client, ListRecordsArgs};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(base_url), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("Usage: oai-pmh-crate BASE_URL FILE".into());
    };
    let mut out = BufWriter::new(File::create(file)?);
    let client = Client::new(&base_url)?;
    let mut stream = client.list_records(ListRecordsArgs::new("oai_dc")).await?;
    let mut records = 0;
    loop {
        let page = match stream.try_next().await {
            Ok(Some(page)) => page,
            Ok(None) => break,
            // The empty token of the last page, which the protocol demands,
            // is an error to it, and that page is lost.
            Err(error) => {
                eprintln!("{error}");
                break;
            }
        };
        for record in page.payload.map(|list| list.record).unwrap_or_default() {
            out.write_all(record.metadata.as_bytes())?;
            records += 1;
        }
    }
    out.flush()?;
    println!("{records}");
    Ok(())
}
