//! OAI-PMH 2.0 in both directions: the words of the protocol, its requests,
//! its responses and its resumption tokens.
//!
//! What enters is text and bytes, what leaves is typed values and bytes. The
//! crate does no input or output of its own, reads no clock, starts no task
//! and knows no database: a response date, a key or a reader is always handed
//! in. No input makes it panic.
//!
//! * [`types`]: identifiers, sets, datestamps, headers, records … (re-exported
//!   here, flat);
//! * [`request`]: arguments ⇄ requests, and every fault in them;
//! * [`response`]: values ⇄ XML;
//! * [`token`]: list position ⇄ resumptionToken;
//! * [`xml`]: escaping, and which characters XML 1.0 can carry.
//!
//! # Providing
//!
//! A provider understands a query, looks up what is asked, and writes:
//!
//! ```
//! use stook_oai::response::{Echo, HeaderRef, ResponseWriter, content_fragment};
//! use stook_oai::{Datestamp, Granularity, Request};
//!
//! let now = Datestamp::UNIX_EPOCH;
//! let begin = |echo| ResponseWriter::new(Vec::new(), now, "https://example.org/oai", &echo);
//! let query = b"verb=GetRecord&identifier=oai%3Aexample.org%3Amap-001&metadataPrefix=dc";
//!
//! let response = match Request::parse_query(query, Granularity::Second) {
//!     Ok(request) => {
//!         let header = HeaderRef {
//!             identifier: "oai:example.org:map-001",
//!             datestamp: now,
//!             set_specs: "maps:city",
//!             deleted: false,
//!         };
//!         let content = content_fragment("<dc xmlns=\"http://example.org/dc\"/>", &[]);
//!         let writer = begin(Echo::Arguments(&request));
//!         writer.get_record(Granularity::Second, &header, |out| out.extend(content))
//!     }
//!     Err(faults) => begin(Echo::None).errors(&faults),
//! };
//! # assert!(String::from_utf8(response).unwrap().contains("<setSpec>maps:city</setSpec>"));
//! ```
//!
//! # Harvesting
//!
//! A harvester encodes a request and reads the response entry by entry. This
//! reader is strict; [`response::ResponseReader::lenient`] also reads what
//! real repositories do wrong, and counts it:
//!
//! ```
//! use stook_oai::response::{Event, ResponseReader};
//! use stook_oai::{ListRequest, MetadataPrefix, Request};
//!
//! let request = Request::ListRecords(ListRequest::Selection {
//!     metadata_prefix: MetadataPrefix::oai_dc(),
//!     from: None,
//!     until: None,
//!     set: None,
//! });
//! assert_eq!(request.encode(), "verb=ListRecords&metadataPrefix=oai_dc");
//!
//! # let body = &b"<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'>\
//! #   <responseDate>2024-01-01T00:00:00Z</responseDate><request>http://x/</request>\
//! #   <ListRecords><record/><record><header status='deleted'><identifier>oai:x.y:1</identifier>\
//! #   <datestamp>2024-01-01</datestamp></header></record></ListRecords></OAI-PMH>"[..];
//! # let (mut kept, mut skipped) = (0, 0);
//! let mut reader = ResponseReader::new(body);
//! loop {
//!     match reader.next() {
//!         Ok(Some(Event::Record(record))) => {
//!             println!("{}", record.header.identifier);
//! #           kept += 1;
//!         }
//!         Ok(Some(_)) => {}
//!         Ok(None) => break,
//!         Err(error) if error.can_continue() => {
//!             eprintln!("skipped: {error}");
//! #           skipped += 1;
//!         }
//!         Err(error) => return Err(error),
//!     }
//! }
//! # assert_eq!((kept, skipped), (1, 1));
//! # Ok::<(), stook_oai::response::ReadError>(())
//! ```

pub mod request;
pub mod response;
pub mod token;
pub mod types;
pub mod xml;

pub use request::{ListRequest, Request, decode_query};
pub use token::{ListState, TokenError, TokenKey};
pub use types::*;
