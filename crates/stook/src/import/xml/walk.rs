//! The walk through a document: wrapping is entered, records are taken.

use std::io::BufRead;
use std::sync::Arc;

use stook_metadata::Namespaces;
use stook_metadata::fragment::MAX_NAMESPACES;
use stook_metadata::scan::{Scanner, unescape};

use crate::import::draft::Rejected;
use crate::import::options::Options;
use crate::import::source::{Halt, Raw, Sink, Source, send};

use super::pieces::{Lost, Piece, Pieces};
use super::{Kind, RawRecord, choose_format, declare_all};

/// The namespace of the protocol.
pub(super) const OAI_PMH: &str = "http://www.openarchives.org/OAI/2.0/";

/// Deepest wrapping that is entered.
const MAX_DEPTH: usize = 200;

/// An element that is only wrapping.
struct Wrapping {
    name: Box<[u8]>,
    /// How many declarations there were before it.
    declarations: usize,
    is_response: bool,
}

/// What a start tag is.
struct Tag {
    namespace: String,
    local: String,
    /// The prefix of the format, where the tag of a saved response tells.
    metadata_prefix: Option<Arc<str>>,
}

/// One walk through one document.
pub(super) struct Walk<'w, R> {
    source: &'w Source,
    options: &'w Options,
    only_oai: bool,
    pieces: Pieces<R>,
    open: Vec<Wrapping>,
    namespaces: Namespaces,
    /// The declarations in force, shared by the records below them.
    shared: Option<Arc<Namespaces>>,
    requested: Option<Arc<str>>,
    /// The only root so far. It takes its identifier from the file, unless another root follows.
    lone: Option<RawRecord>,
    roots: u64,
    /// The last root, for people.
    root: String,
    found: u64,
    is_response: bool,
    /// Whether even `record` elements are only wrapping, because we are inside one.
    inside_record: bool,
}

impl<'w, R: BufRead> Walk<'w, R> {
    pub(super) fn new(source: &'w Source, input: R, only_oai: bool, options: &'w Options) -> Self {
        Self {
            source,
            options,
            only_oai,
            pieces: Pieces::new(input),
            open: Vec::new(),
            namespaces: Namespaces::none(),
            shared: None,
            requested: None,
            lone: None,
            roots: 0,
            root: String::new(),
            found: 0,
            is_response: false,
            inside_record: false,
        }
    }

    /// The walk inside a `record` that turned out to be wrapping, on a line of a larger document.
    pub(super) fn inside_record(mut self, around: Namespaces, line: u64) -> Self {
        self.namespaces = around;
        self.pieces.set_line(line);
        self.inside_record = true;
        self
    }

    /// Takes every record of the document.
    pub(super) fn take_all(mut self, sink: &mut Sink<'_>) -> Result<(), Halt> {
        let outcome = self.go(sink);
        if let Some(mut record) = self.lone.take() {
            if self.roots == 1 {
                record.kind = Kind::Bare {
                    file_name: self.source.file_name.clone(),
                };
            }
            send(sink, Raw::Xml(record))?;
        }
        outcome
    }

    fn go(&mut self, sink: &mut Sink<'_>) -> Result<(), Halt> {
        while let Some(piece) = self.pieces.next().map_err(|lost| self.lost(lost))? {
            match piece {
                Piece::Start | Piece::Empty => self.element(piece, sink)?,
                Piece::End => self.leave()?,
                Piece::Doctype { declares: true } => {
                    return Err(self.broken("the document type declaration declares entities, which are not accepted"));
                }
                Piece::Doctype { declares: false } | Piece::Other => {}
            }
        }
        if let Some(open) = self.open.last() {
            let name = String::from_utf8_lossy(&open.name).into_owned();
            return Err(self.broken(&format!("the XML ends before <{name}> is closed; the file is cut off")));
        }
        if self.found == 0 && !self.is_response {
            let root = &self.root;
            return Err(self.broken(&format!(
                "there is no record of a known format in this file; its root is {root}. Try: stook format list --all shows \
                 what is known; declare another format in the configuration under [[format]]"
            )));
        }
        Ok(())
    }

    /// Decides what an element is, and takes or enters it.
    fn element(&mut self, piece: Piece, sink: &mut Sink<'_>) -> Result<(), Halt> {
        let declarations = self.namespaces.len();
        let tag = self.read_tag()?;
        if self.namespaces.len() > MAX_NAMESPACES {
            return Err(self.broken("more namespaces are declared than anybody needs"));
        }
        if self.open.is_empty() {
            self.roots += 1;
            self.root = match &*tag.namespace {
                "" => format!("<{}> of no namespace", tag.local),
                namespace => format!("<{}> of the namespace {namespace}", tag.local),
            };
        }
        let in_response = self.open.iter().any(|wrapping| wrapping.is_response);
        let is_oai = matches!(&*tag.namespace, OAI_PMH | "");
        let kind = if is_oai && tag.local == "record" && !self.inside_record {
            Some(Kind::Oai)
        } else if !in_response && !self.only_oai && self.is_registered(&tag) {
            Some(Kind::Bare { file_name: None })
        } else {
            None
        };
        if let Some(kind) = kind {
            // The record declares its own, so only what is around it is handed on.
            self.namespaces.truncate(declarations);
            return self.take(piece, kind, sink);
        }
        let is_response = tag.namespace == OAI_PMH && tag.local == "OAI-PMH";
        self.is_response |= is_response;
        if tag.metadata_prefix.is_some() {
            self.requested = tag.metadata_prefix;
        }
        if piece == Piece::Empty {
            self.namespaces.truncate(declarations);
            return Ok(());
        }
        if self.open.len() == MAX_DEPTH {
            return Err(self.broken("elements are nested too deeply"));
        }
        self.open.push(Wrapping {
            name: name_of(self.pieces.tag()).into(),
            declarations,
            is_response,
        });
        if self.namespaces.len() > declarations {
            self.shared = None;
        }
        Ok(())
    }

    fn is_registered(&self, tag: &Tag) -> bool {
        choose_format(self.options, &tag.namespace, &tag.local, None).is_some()
    }

    /// Scans the last start tag, and declares what it declares.
    fn read_tag(&mut self) -> Result<Tag, Halt> {
        let mut text = String::from("<");
        text.push_str(&String::from_utf8_lossy(self.pieces.tag()));
        text.push_str("/>");
        let mut scanner = Scanner::new(&text);
        if let Err(fault) = scanner.next_token() {
            // The record that stands here will be rejected for it; wrapping that is broken leads nowhere.
            let reason = format!("the XML is broken: {}", fault.problem);
            return Err(self.source.broken(self.pieces.tag_line(), reason, text.as_bytes()));
        }
        declare_all(&scanner, &mut self.namespaces);
        let name = String::from_utf8_lossy(name_of(self.pieces.tag())).into_owned();
        let (prefix, local) = name.split_once(':').unwrap_or(("", &name));
        let namespace = self.namespaces.resolve(prefix).unwrap_or_default().to_owned();
        let tells = matches!(local, "request" | "ListRecords" | "GetRecord");
        let metadata_prefix = scanner
            .attributes()
            .iter()
            .find(|one| tells && one.name == "metadataPrefix");
        let metadata_prefix = metadata_prefix.map(|attribute| Arc::from(&*unescape(attribute.value)));
        Ok(Tag {
            namespace,
            local: local.to_owned(),
            metadata_prefix,
        })
    }

    /// Takes the record that begins with the last tag.
    fn take(&mut self, piece: Piece, kind: Kind, sink: &mut Sink<'_>) -> Result<(), Halt> {
        let line = self.pieces.tag_line();
        self.pieces.record(piece, self.options.max_record_bytes);
        if piece == Piece::Start {
            self.pass_to_end()?;
        }
        let Some(recording) = self.pieces.recorded() else {
            return Ok(());
        };
        self.found += 1;
        let place = self.source.place(line);
        if recording.overflowed {
            let reason = format!("the record is larger than {} bytes", self.options.max_record_bytes);
            return send(
                sink,
                Raw::Rejected(Rejected::new(place, None, reason, &recording.bytes)),
            );
        }
        let namespaces = &self.namespaces;
        let around = self.shared.get_or_insert_with(|| Arc::new(namespaces.clone())).clone();
        let record = RawRecord {
            place,
            xml: recording.bytes,
            around,
            kind,
            requested: self.requested.clone(),
        };
        let is_lone = self.open.is_empty() && self.roots == 1 && record.kind != Kind::Oai;
        if let Some(earlier) = self.lone.take() {
            send(sink, Raw::Xml(earlier))?;
        }
        if is_lone {
            self.lone = Some(record);
            return Ok(());
        }
        send(sink, Raw::Xml(record))
    }

    /// Reads to the end of the element that began with the last tag.
    ///
    /// Only elements of the same name are counted: in a well-formed record that is exact, and in a broken one it finds
    /// the place where the next record can begin.
    fn pass_to_end(&mut self) -> Result<(), Halt> {
        let name: Box<[u8]> = name_of(self.pieces.tag()).into();
        let mut depth = 1_u64;
        while depth > 0 {
            match self.pieces.next().map_err(|lost| self.lost(lost))? {
                Some(Piece::Start) if name_of(self.pieces.tag()) == &*name => depth += 1,
                Some(Piece::End) if *self.pieces.tag() == *name => depth -= 1,
                Some(_) => {}
                None => {
                    let name = String::from_utf8_lossy(&name).into_owned();
                    return Err(self.broken(&format!("the XML ends before <{name}> is closed; the file is cut off")));
                }
            }
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<(), Halt> {
        match self.open.pop() {
            Some(wrapping) if *wrapping.name == *self.pieces.tag() => {
                if self.namespaces.len() > wrapping.declarations {
                    self.namespaces.truncate(wrapping.declarations);
                    self.shared = None;
                }
                Ok(())
            }
            _ => {
                let name = String::from_utf8_lossy(self.pieces.tag()).into_owned();
                Err(self.broken(&format!("the XML is broken: </{name}> closes something else")))
            }
        }
    }

    fn lost(&self, lost: Lost) -> Halt {
        match lost {
            Lost::Unreadable(error) => self.source.unreadable(self.pieces.line(), &error),
            Lost::CutOff(what) => self.broken(&format!("the XML ends inside {what}; the file is cut off")),
            Lost::LongTag => self.broken("the XML is broken: a tag does not end"),
        }
    }

    fn broken(&self, reason: &str) -> Halt {
        self.source.broken(self.pieces.line(), reason, b"")
    }
}

/// The name at the beginning of a tag.
fn name_of(tag: &[u8]) -> &[u8] {
    let end = tag
        .iter()
        .position(|byte| byte.is_ascii_whitespace())
        .unwrap_or(tag.len());
    &tag[..end]
}
