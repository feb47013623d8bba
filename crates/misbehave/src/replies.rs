//! Replies that are not what the answer deserved: another status, other
//! headers, another body, another address.

use std::io::Write;
use std::time::SystemTime;

use flate2::write::GzEncoder;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use stook_oai::{Datestamp, ErrorCode, Verb};

use crate::answer::Answer;
use crate::fault::Fault;
use crate::http::{Body, FOR_EVER, Incoming, Reply};
use crate::records;
use crate::script::{Script, Setting};
use crate::source::{Doors, Hit};
use crate::splice::find;

/// A piece of what fills large bodies.
const FILLER_BYTES: usize = 64 << 10;
/// The piece that a gzip bomb repeats, unpacked.
const BOMB_PIECE_BYTES: usize = 1 << 20;
const THIRTY_YEARS_SECONDS: &str = "946080000";

/// What is known of the answer that is bent.
pub(crate) struct Context<'a> {
    pub(crate) incoming: &'a Incoming,
    pub(crate) doors: Doors,
    pub(crate) script: &'a Script,
    pub(crate) verb: Option<Verb>,
    pub(crate) errors: Vec<ErrorCode>,
    pub(crate) identifiers: Vec<String>,
}

/// Bends a reply, or returns another instead.
pub(crate) fn bend(hit: &Hit, reply: Reply, context: &Context<'_>) -> Reply {
    let bent = match hit.fault.number() {
        12 | 0 => redirect(hit.fault, reply, context),
        _ => Err(reply),
    };
    bent.or_else(|reply| status(hit, reply, context))
        .or_else(|reply| page_for_people(hit.fault, reply))
        .or_else(|reply| coding(hit.fault, reply))
        .or_else(|reply| size(hit, reply, context))
        .unwrap_or_else(|reply| reply)
}

/// The bent reply, or the reply as it was where a fault is none of a
/// function's.
type Bent = Result<Reply, Reply>;

fn status(hit: &Hit, mut reply: Reply, context: &Context<'_>) -> Bent {
    let seconds = context.script.setting(Setting::RetryAfterSeconds);
    let unavailable = || Reply::html(503, "Service Unavailable", "Come back later.");
    Ok(match hit.fault {
        Fault::RetryAfterSeconds => unavailable().header("Retry-After", &seconds.to_string()),
        Fault::RetryAfterDate => unavailable().header("Retry-After", &http_date(from_now(seconds))),
        Fault::RetryAfterAbsurd => unavailable().header("Retry-After", THIRTY_YEARS_SECONDS),
        Fault::RetryAfterNonsense => unavailable().header("Retry-After", "in a while"),
        Fault::RetryAfterMissing => unavailable(),
        Fault::TooManyRequests => too_many_requests().header("Retry-After", &seconds.to_string()),
        Fault::TooManyRequestsBare => too_many_requests(),
        Fault::InternalServerError => Reply::html(500, "Internal Server Error", "Something went wrong."),
        Fault::BadGateway => Reply::html(502, "Bad Gateway", "The proxy got no answer."),
        Fault::GatewayTimeout => Reply::html(504, "Gateway Timeout", "The proxy waited in vain."),
        Fault::NotFound => Reply::html(404, "Not Found", "The requested URL was not found on this server."),
        Fault::PoisonRecord if context.verb != Some(Verb::ListIdentifiers) => Reply::html(
            500,
            "Internal Server Error",
            "org.xml.sax.SAXParseException: Content is not allowed",
        ),
        Fault::Status422WithAnswer => {
            reply.status = 422;
            reply
        }
        Fault::Status422ForNothing if context.errors.contains(&ErrorCode::NoRecordsMatch) => {
            reply.status = 422;
            reply
        }
        Fault::Status400WithErrors if !context.errors.is_empty() => {
            reply.status = 400;
            reply
        }
        _ => return Err(reply),
    })
}

fn too_many_requests() -> Reply {
    Reply::html(429, "Too Many Requests", "Slow down.")
}

fn page_for_people(fault: Fault, reply: Reply) -> Bent {
    let challenge = "<noscript>Enable JavaScript and cookies to continue</noscript><script>challenge()</script>";
    Ok(match fault {
        Fault::EmptyBody => Reply::xml(Vec::new()),
        Fault::HtmlLogin => {
            let form = "<form method=\"post\">Name <input name=\"user\"> Password <input type=\"password\"></form>";
            Reply::html(200, "Sign in", form)
        }
        Fault::HtmlMaintenance => Reply::html(200, "Maintenance", "We are back on Monday."),
        Fault::HtmlChallenge => Reply::html(200, "Just a moment...", challenge),
        Fault::BotChallenge => Reply::html(403, "Just a moment...", challenge),
        _ => return Err(reply),
    })
}

fn coding(fault: Fault, mut reply: Reply) -> Bent {
    match fault {
        Fault::TruncatedXml => {
            let document = reply.body.take();
            reply.body = Body::new(document[..document.len() / 2].to_vec());
        }
        Fault::GzipUndeclared => reply.body = Body::new(gzip(&reply.body.take())),
        Fault::GzipDeclaredOnly => reply.set_header("Content-Encoding", "gzip"),
        Fault::GzipTruncated => {
            let packed = gzip(&reply.body.take());
            reply.body = Body::new(packed[..packed.len() / 2].to_vec());
            reply.set_header("Content-Encoding", "gzip");
        }
        Fault::CharsetMissing => reply.set_header("Content-Type", "text/xml"),
        Fault::CharsetWrong => reply.set_header("Content-Type", "text/xml; charset=ISO-8859-1"),
        _ => return Err(reply),
    }
    Ok(reply)
}

/// Compresses a good answer for a client that accepts it.
pub(crate) fn compress(reply: &mut Reply, incoming: &Incoming) {
    let accepts = incoming
        .header("Accept-Encoding")
        .is_some_and(|codings| codings.contains("gzip"));
    let is_coded = reply.headers.iter().any(|(name, _)| name == "Content-Encoding");
    if accepts && !is_coded && reply.body.pieces().len() == 1 {
        reply.body = Body::new(gzip(&reply.body.take()));
        reply.set_header("Content-Encoding", "gzip");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

fn size(hit: &Hit, mut reply: Reply, context: &Context<'_>) -> Bent {
    let size = context.script.setting(Setting::Size);
    let document = reply.body.take();
    reply.body = match hit.fault {
        Fault::HugePage => {
            let end = find(&document, b"</OAI-PMH>").unwrap_or(document.len());
            filled(&document, end, &comment(), size)
        }
        Fault::LargeRecord => match description(&document, hit, context) {
            Some(at) => filled(&document, at, &[b'x'; FILLER_BYTES], size),
            None => Body::new(document),
        },
        Fault::EndlessText => filled(&document, text_start(&document), &[b'x'; FILLER_BYTES], FOR_EVER),
        Fault::EndlessBody => endless(&document),
        Fault::GzipBomb => {
            reply.set_header("Content-Encoding", "gzip");
            bomb(&document, size)
        }
        _ => {
            reply.body = Body::new(document);
            return Err(reply);
        }
    };
    Ok(reply)
}

fn comment() -> Vec<u8> {
    let mut comment = b"<!--".to_vec();
    comment.resize(FILLER_BYTES - 4, b'.');
    comment.extend_from_slice(b"-->\n");
    comment
}

/// The document with filler at a place, `size` bytes of it or without end.
fn filled(document: &[u8], at: usize, filler: &[u8], size: u64) -> Body {
    let times = if size == FOR_EVER {
        FOR_EVER
    } else {
        size / filler.len() as u64
    };
    Body::new(document[..at].to_vec())
        .then(filler, times)
        .then(&document[at..], 1)
}

/// Where the description of the fault's record begins.
fn description(document: &[u8], hit: &Hit, context: &Context<'_>) -> Option<usize> {
    let answer = Answer {
        verb: context.verb,
        document: document.to_vec(),
        identifiers: context.identifiers.clone(),
        errors: Vec::new(),
    };
    let range = records::target(&answer, hit.identifier.as_deref())?;
    let start = find(&document[range.clone()], b"<dc:description>")?;
    Some(range.start + start + b"<dc:description>".len())
}

/// Behind the first tag that the body has text in.
fn text_start(document: &[u8]) -> usize {
    find(document, b"</request>").unwrap_or(document.len())
}

/// A record of the document again and again; the request's URL where there is
/// none.
fn endless(document: &[u8]) -> Body {
    let start = find(document, b"<record>").or_else(|| find(document, b"<header"));
    let last = |end: &[u8]| {
        document
            .windows(end.len())
            .rposition(|window| window == end)
            .map(|at| at + end.len())
    };
    match (start, last(b"</record>\n").or_else(|| last(b"</header>\n"))) {
        (Some(start), Some(end)) if start < end => {
            Body::new(document[..start].to_vec()).then(&document[start..end], FOR_EVER)
        }
        _ => filled(document, text_start(document), &[b'x'; FILLER_BYTES], FOR_EVER),
    }
}

/// One gzip member that unpacks to `size` bytes of white space and then the
/// document. Blocks that end in a full flush do not refer to one another, so
/// the packed piece can be repeated as it is.
fn bomb(document: &[u8], size: u64) -> Body {
    let piece = vec![b' '; BOMB_PIECE_BYTES];
    let times = size / BOMB_PIECE_BYTES as u64;
    let mut crc = Crc::new();
    let mut piece_crc = Crc::new();
    piece_crc.update(&piece);
    for _ in 0..times {
        crc.combine(&piece_crc);
    }
    crc.update(document);
    let header = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut end = deflate(document, FlushCompress::Finish);
    end.extend_from_slice(&crc.sum().to_le_bytes());
    end.extend_from_slice(&crc.amount().to_le_bytes());
    Body::new(header)
        .then(deflate(&piece, FlushCompress::Full), times)
        .then(end, 1)
}

fn deflate(bytes: &[u8], flush: FlushCompress) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 1024);
    let mut compress = Compress::new(Compression::best(), false);
    loop {
        let done = usize::try_from(compress.total_in()).unwrap_or(bytes.len());
        let status = compress.compress_vec(&bytes[done..], &mut out, flush);
        // There is room for everything at once, so one call does it.
        if !matches!(status, Ok(Status::Ok)) || out.len() < out.capacity() {
            return out;
        }
        out.reserve(1024);
    }
}

fn redirect(fault: Fault, reply: Reply, context: &Context<'_>) -> Bent {
    let Context { incoming, doors, .. } = context;
    // The place one is sent to answers.
    let is_elsewhere = incoming.door > 0;
    let second = doors.second.unwrap_or(doors.first);
    let target = incoming.target();
    let path = &incoming.path;
    let (status, location) = match fault {
        Fault::RedirectOtherHost if !is_elsewhere => (302, format!("http://{second}{target}")),
        Fault::RedirectWithoutQuery if !is_elsewhere => (302, format!("http://{second}{path}")),
        Fault::RedirectRelative if !incoming.query.ends_with(RELATIVE_MARK) => {
            (301, format!("{target}{RELATIVE_MARK}"))
        }
        Fault::RedirectHttps => (301, format!("https://{}{target}", doors.first)),
        Fault::RedirectPost if incoming.method == "POST" => (302, format!("http://{second}{target}")),
        Fault::RedirectLoop => (302, format!("http://{}{target}", doors.first)),
        Fault::RedirectPrivate => (302, format!("http://10.0.0.1{target}")),
        Fault::RedirectLinkLocal => (302, "http://169.254.169.254/latest/meta-data/".to_owned()),
        Fault::RedirectLoopback => (302, format!("http://localhost:{}{target}", second.port())),
        Fault::RedirectFile => (302, "file:///etc/passwd".to_owned()),
        Fault::RedirectWithoutLocation => return Ok(Reply::html(302, "Found", "The document has moved.")),
        _ => return Err(reply),
    };
    Ok(Reply::html(status, "Moved", "The document has moved.").header("Location", &location))
}

/// What `redirect-relative` appends: a separator of arguments with no argument
/// behind it, by which the second request is known.
const RELATIVE_MARK: &str = "&";

/// The second so many seconds from now. Of the system's clock, because that is
/// what clients compare it with.
fn from_now(seconds: u64) -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs() + seconds
}

/// A second since 1970 as HTTP writes it.
fn http_date(since: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let datestamp = i64::try_from(since)
        .ok()
        .and_then(Datestamp::from_unix)
        .unwrap_or_default();
    let text = datestamp.to_string();
    let weekday = DAYS[usize::try_from(since / 86_400 % 7).unwrap_or(0)];
    let month = text[5..7].parse::<usize>().unwrap_or(1);
    format!(
        "{weekday}, {} {} {} {} GMT",
        &text[8..10],
        MONTHS[month - 1],
        &text[..4],
        &text[11..19]
    )
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn dates_are_written_as_the_standard_writes_them() {
        assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
    }

    #[test]
    fn a_bomb_is_one_correct_gzip_member() {
        let body = bomb(b"<a/>", 5 << 20);
        let mut packed = Vec::new();
        for (bytes, times) in body.pieces() {
            for _ in 0..*times {
                packed.extend_from_slice(bytes);
            }
        }
        assert!(packed.len() < 40 << 10, "{}", packed.len());
        let mut unpacked = Vec::new();
        GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked.len(), (5 << 20) + 4);
        assert!(unpacked.ends_with(b" <a/>"));
    }
}
