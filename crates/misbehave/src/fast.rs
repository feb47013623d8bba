//! A correct endpoint that is as fast as it can be, for benchmarks of clients.
//!
//! Records are made once as bytes; a page is copies of them with the digits of
//! identifier and datestamp written over. Their lengths do not depend on those
//! digits, so Content-Length is known before the first byte and a page of any
//! size streams through one buffer.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use stook_oai::response::{Echo, HeaderRef, ResponseWriter};
use stook_oai::{
    Datestamp, DeletedRecord, ErrorCode, Granularity, Identify, ListRequest, MetadataFormat, MetadataPrefix, OaiError,
    Request, ResumptionToken, Verb,
};

use crate::http::{Incoming, Reply};
use crate::made_up;
use crate::server::{Answering, Server, Stop};
use crate::splice::find;
use crate::world::datestamp;

const PATH: &str = "/oai";
/// Different texts; then they repeat.
const TEMPLATES: u64 = 600;
const FIRST_DATESTAMP: i64 = 1_577_836_800;
const RECORDS_PER_SECOND: u64 = 100;
/// The digits of an identifier.
const DIGITS: usize = 10;
const BUFFER_BYTES: usize = 256 << 10;

/// A fast and correct source of synthetic records, served until this is
/// dropped.
pub struct Fast {
    repository: Arc<Repository>,
    _server: Server,
}

impl Fast {
    /// Serves `records` records of about 800 bytes in pages of `page_size`;
    /// at least as many as records make a single page.
    ///
    /// # Errors
    /// When there is no port or thread to be had.
    pub fn start(records: u64, page_size: u64) -> io::Result<Self> {
        Self::start_on(0, records, page_size)
    }

    /// As [`start`](Self::start), on that port.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn start_on(port: u16, records: u64, page_size: u64) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let repository = Arc::new(Repository::new(address, records, page_size.max(1)));
        let server = Server::start(vec![listener], Arc::clone(&repository) as Arc<dyn Answering>)?;
        Ok(Self {
            repository,
            _server: server,
        })
    }

    /// The base URL.
    #[must_use]
    pub fn url(&self) -> String {
        self.repository.base_url.clone()
    }

    /// How many requests were answered.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.repository.requests.load(Ordering::Relaxed)
    }

    /// The identifier of a record, from 0.
    #[must_use]
    pub fn identifier(number: u64) -> String {
        format!("oai:fast.example.org:{number:0DIGITS$}")
    }
}

/// A record or header with room for its digits.
struct Template {
    bytes: Vec<u8>,
    digits_at: usize,
    datestamp_at: usize,
}

impl Template {
    fn new(bytes: Vec<u8>) -> Self {
        let at = |tag: &[u8]| find(&bytes, tag).map_or(0, |at| at + tag.len());
        let digits_at = at(b"<identifier>oai:fast.example.org:");
        let datestamp_at = at(b"<datestamp>");
        Self {
            bytes,
            digits_at,
            datestamp_at,
        }
    }

    fn push_to(&self, out: &mut Vec<u8>, number: u64, datestamp: &[u8]) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        let mut rest = number;
        for at in (0..DIGITS).rev() {
            // A remainder of ten always fits.
            out[start + self.digits_at + at] = b'0' + u8::try_from(rest % 10).unwrap_or_default();
            rest /= 10;
        }
        let at = start + self.datestamp_at;
        out[at..at + datestamp.len()].copy_from_slice(datestamp);
    }
}

struct Repository {
    base_url: String,
    records: u64,
    page_size: u64,
    record_templates: Vec<Template>,
    header_template: Template,
    requests: AtomicU64,
}

/// A range of records, of which `next` comes next.
#[derive(Clone, Copy)]
struct List {
    first: u64,
    end: u64,
    next: u64,
}

impl List {
    fn parse(token: &str) -> Option<Self> {
        let mut numbers = token.split('-').map(|number| number.parse::<u64>().ok());
        let list = Self {
            first: numbers.next()??,
            end: numbers.next()??,
            next: numbers.next()??,
        };
        (list.first < list.next && list.next < list.end).then_some(list)
    }
}

impl Repository {
    fn new(address: SocketAddr, records: u64, page_size: u64) -> Self {
        let base_url = format!("http://{address}{PATH}");
        let header_template = Template::new({
            let mut headers = begin(&base_url, &Echo::None).list_identifiers(Granularity::Second);
            headers.header(&header(""));
            let page = headers.finish(None);
            let start = find(&page, b"<header").unwrap_or(0);
            let end = find(&page, b"</ListIdentifiers>").unwrap_or(page.len());
            page[start..end].to_vec()
        });
        Self {
            record_templates: (0..TEMPLATES)
                .map(|number| record_template(&base_url, number))
                .collect(),
            header_template,
            base_url,
            records,
            page_size,
            requests: AtomicU64::new(0),
        }
    }

    fn template(&self, verb: Verb, number: u64) -> &Template {
        if verb == Verb::ListIdentifiers {
            return &self.header_template;
        }
        &self.record_templates[usize::try_from(number % TEMPLATES).unwrap_or(0)]
    }

    /// The bytes that records `0..end` take.
    fn length_before(&self, verb: Verb, end: u64) -> u64 {
        if verb == Verb::ListIdentifiers {
            return self.header_template.bytes.len() as u64 * end;
        }
        let length = |templates: &[Template]| {
            templates
                .iter()
                .map(|template| template.bytes.len() as u64)
                .sum::<u64>()
        };
        let rest = usize::try_from(end % TEMPLATES).unwrap_or(0);
        length(&self.record_templates) * (end / TEMPLATES) + length(&self.record_templates[..rest])
    }

    fn list(&self, list: &ListRequest) -> Result<List, OaiError> {
        match list {
            ListRequest::Resume { resumption_token } => List::parse(resumption_token)
                .filter(|list| list.end <= self.records)
                .ok_or_else(|| OaiError::new(ErrorCode::BadResumptionToken, "This token was not issued here.")),
            ListRequest::Selection { metadata_prefix, .. } if metadata_prefix.as_str() != "oai_dc" => Err(
                OaiError::new(ErrorCode::CannotDisseminateFormat, "There is only oai_dc."),
            ),
            ListRequest::Selection { set: Some(_), .. } => {
                Err(OaiError::new(ErrorCode::NoSetHierarchy, "There are no sets."))
            }
            ListRequest::Selection { from, until, .. } => {
                let first = from.map_or(0, |from| self.first_at(from.first_second()));
                let end = until.map_or(self.records, |until| {
                    self.first_at(datestamp(until.last_second().unix() + 1))
                });
                if first < end {
                    return Ok(List {
                        first,
                        end,
                        next: first,
                    });
                }
                Err(OaiError::new(ErrorCode::NoRecordsMatch, "Nothing matches."))
            }
        }
    }

    /// The first record that is not stamped earlier.
    fn first_at(&self, datestamp: Datestamp) -> u64 {
        let seconds = u64::try_from(datestamp.unix() - FIRST_DATESTAMP).unwrap_or(0);
        self.records.min(seconds.saturating_mul(RECORDS_PER_SECOND))
    }

    /// Writes a page of records as they are made.
    fn send_page(&self, request: &Request, list: List, stream: &mut TcpStream) -> io::Result<()> {
        let verb = request.verb();
        let end = list.end.min(list.next.saturating_add(self.page_size));
        let (opening, closing) = self.envelope(request, list, end);
        let entries = self.length_before(verb, end) - self.length_before(verb, list.next);
        let length = opening.len() as u64 + entries + closing.len() as u64;
        let mut out = Vec::with_capacity(BUFFER_BYTES + (8 << 10));
        write!(
            out,
            "HTTP/1.1 200 OK\r\nContent-Type: text/xml; charset=UTF-8\r\nContent-Length: {length}\r\n\r\n"
        )?;
        out.extend_from_slice(&opening);
        let mut second = Vec::new();
        for number in list.next..end {
            if second.is_empty() || number.is_multiple_of(RECORDS_PER_SECOND) {
                second.clear();
                stamp(number).push_to(Granularity::Second, &mut second);
            }
            self.template(verb, number).push_to(&mut out, number, &second);
            if out.len() >= BUFFER_BYTES {
                stream.write_all(&out)?;
                out.clear();
            }
        }
        out.extend_from_slice(&closing);
        stream.write_all(&out)
    }

    /// What stands before and behind the entries of a page.
    fn envelope(&self, request: &Request, list: List, end: u64) -> (Vec<u8>, Vec<u8>) {
        let has_more = end < list.end;
        let value = if has_more {
            format!("{}-{}-{end}", list.first, list.end)
        } else {
            String::new()
        };
        let token = (has_more || list.next > list.first).then(|| ResumptionToken {
            value,
            expiration_date: None,
            complete_list_size: Some(list.end - list.first),
            cursor: Some(list.next - list.first),
        });
        let writer = begin(&self.base_url, &Echo::Arguments(request));
        let page = if request.verb() == Verb::ListRecords {
            writer.list_records(Granularity::Second).finish(token.as_ref())
        } else {
            writer.list_identifiers(Granularity::Second).finish(token.as_ref())
        };
        let tag = format!("<{}>\n", request.verb());
        let middle = find(&page, tag.as_bytes()).map_or(0, |at| at + tag.len());
        (page[..middle].to_vec(), page[middle..].to_vec())
    }

    fn other(&self, request: &Request) -> Vec<u8> {
        let writer = begin(&self.base_url, &Echo::Arguments(request));
        match request {
            Request::Identify => writer.identify(&Identify {
                repository_name: "Fast repository".to_owned(),
                base_url: self.base_url.clone(),
                admin_emails: vec!["admin@fast.example.org".to_owned()],
                earliest_datestamp: stamp(0),
                deleted_record: DeletedRecord::No,
                granularity: Granularity::Second,
                compressions: Vec::new(),
                descriptions: Vec::new(),
            }),
            Request::ListMetadataFormats { .. } => {
                let (_, schema, namespace) = made_up::FORMATS[0];
                writer.metadata_formats(&[MetadataFormat {
                    prefix: MetadataPrefix::oai_dc(),
                    schema: schema.to_owned(),
                    namespace: namespace.to_owned(),
                }])
            }
            Request::GetRecord { identifier, .. } => self.record(writer, identifier),
            _ => writer.errors(&[OaiError::new(ErrorCode::NoSetHierarchy, "There are no sets.")]),
        }
    }

    fn record(&self, writer: ResponseWriter, identifier: &str) -> Vec<u8> {
        let digits = identifier
            .strip_prefix("oai:fast.example.org:")
            .filter(|digits| digits.len() == DIGITS);
        let number = digits
            .and_then(|digits| digits.parse().ok())
            .filter(|number| *number < self.records);
        let Some(number) = number else {
            return writer.errors(&[OaiError::new(ErrorCode::IdDoesNotExist, "There is no such item.")]);
        };
        let header = HeaderRef {
            datestamp: stamp(number),
            ..header(identifier)
        };
        writer.get_record(Granularity::Second, &header, |out| push_metadata(out, number))
    }
}

impl Answering for Repository {
    fn answer(&self, incoming: &Incoming, stream: &mut TcpStream, stop: &Stop) -> io::Result<bool> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let document = match Request::parse_query(incoming.query.as_bytes(), Granularity::Second) {
            Err(errors) => begin(&self.base_url, &Echo::None).errors(&errors),
            Ok(request) => match &request {
                Request::ListRecords(list) | Request::ListIdentifiers(list) => match self.list(list) {
                    Ok(list) => return self.send_page(&request, list, stream).map(|()| true),
                    Err(error) => begin(&self.base_url, &Echo::Arguments(&request)).errors(&[error]),
                },
                _ => self.other(&request),
            },
        };
        crate::deliveries::deliver(&Reply::xml(document), stream, stop)
    }
}

fn begin(base_url: &str, echo: &Echo<'_>) -> ResponseWriter {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    ResponseWriter::new(Vec::new(), datestamp(i64::try_from(since).unwrap_or(0)), base_url, echo)
}

fn stamp(number: u64) -> Datestamp {
    datestamp(FIRST_DATESTAMP + i64::try_from(number / RECORDS_PER_SECOND).unwrap_or(0))
}

/// A header whose digits are written over; those of an empty identifier too.
fn header(identifier: &str) -> HeaderRef<'_> {
    let identifier = if identifier.is_empty() {
        "oai:fast.example.org:0000000000"
    } else {
        identifier
    };
    HeaderRef {
        identifier,
        datestamp: stamp(0),
        set_specs: "",
        deleted: false,
    }
}

fn push_metadata(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(b"<metadata>");
    out.extend_from_slice(made_up::metadata("oai_dc", number % TEMPLATES, 0).as_bytes());
    out.extend_from_slice(b"</metadata>");
}

fn record_template(base_url: &str, number: u64) -> Template {
    let mut records = begin(base_url, &Echo::None).list_records(Granularity::Second);
    // The envelope, which a template does not have.
    drop(records.take());
    records.record(&header(""), |out| push_metadata(out, number));
    Template::new(records.take())
}
