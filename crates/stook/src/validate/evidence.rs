//! Requests and answers that findings speak of, kept for whoever wants to see them.
//!
//! The last answers are held in memory until it is known whether anybody finds fault with them; what a finding speaks of
//! is written at once, so a run that is stopped leaves what it found.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::exchange::Exchange;

/// Bytes of answers that are held until somebody finds fault with them.
const HELD_BYTES: usize = 32 << 20;
/// Requests that are remembered; a walk through whole lists makes more of them than anybody finds fault with.
const MOST_ASKED: usize = 20_000;

/// What was asked, for a report.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Asked {
    /// The method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// As a command that repeats it.
    pub curl: String,
    /// What came, in a few words.
    pub came: String,
    /// The file with the request and the answer, if one was written.
    pub file: Option<String>,
}

/// Requests and answers of one run.
pub(crate) struct Evidence {
    folder: Option<PathBuf>,
    held: VecDeque<Arc<Exchange>>,
    held_bytes: usize,
    asked: BTreeMap<u32, Asked>,
    written: BTreeSet<u32>,
    /// The first thing that went wrong with the folder.
    failure: Option<String>,
}

impl Evidence {
    /// Written to a folder, or nowhere.
    pub(crate) fn new(folder: Option<&Path>) -> Evidence {
        Evidence {
            folder: folder.map(Path::to_owned),
            held: VecDeque::new(),
            held_bytes: 0,
            asked: BTreeMap::new(),
            written: BTreeSet::new(),
            failure: None,
        }
    }

    /// Keeps an exchange for a while.
    pub(crate) fn keep(&mut self, exchange: &Arc<Exchange>) {
        let number = exchange.number;
        let asked = Asked {
            method: exchange.question.method.as_str().to_owned(),
            url: exchange.url.clone(),
            curl: exchange.as_curl(),
            came: exchange.in_short(),
            file: self.folder.is_some().then(|| file_name(exchange)),
        };
        self.asked.insert(number, asked);
        if self.asked.len() > MOST_ASKED {
            self.asked.pop_first();
        }
        self.held_bytes += size(exchange);
        self.held.push_back(Arc::clone(exchange));
        while self.held_bytes > HELD_BYTES && self.held.len() > 1 {
            if let Some(oldest) = self.held.pop_front() {
                self.held_bytes -= size(&oldest);
            }
        }
    }

    /// What was asked under a number.
    pub(crate) fn asked(&self, number: u32) -> Option<Asked> {
        self.asked.get(&number).cloned()
    }

    /// Writes a request and its answer, once.
    pub(crate) fn save(&mut self, number: u32) {
        let Some(folder) = self.folder.clone() else {
            return;
        };
        let Some(exchange) = self.held.iter().find(|held| held.number == number).cloned() else {
            return;
        };
        if !self.written.insert(number) {
            return;
        }
        if let Err(error) = write(&folder, &exchange) {
            self.failure
                .get_or_insert_with(|| format!("writing to {}: {error}", folder.display()));
        }
    }

    /// The folder, if anything is in it.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref().filter(|_| !self.written.is_empty())
    }

    /// Why evidence is missing, if it is.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

fn size(exchange: &Exchange) -> usize {
    exchange.answer().map_or(0, |answer| answer.body.len())
}

fn file_name(exchange: &Exchange) -> String {
    let verb = exchange.question.verb().map_or("request", stook_oai::Verb::as_str);
    format!("{:04}-{verb}.http", exchange.number)
}

/// The request, the head of the answer and its body, as they would be seen on the wire.
fn write(folder: &Path, exchange: &Exchange) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut file = io::BufWriter::new(std::fs::File::create(folder.join(file_name(exchange)))?);
    writeln!(file, "{} {}", exchange.question.method.as_str(), exchange.url)?;
    for (name, value) in &exchange.question.headers {
        writeln!(file, "{name}: {value}")?;
    }
    if let Some((media_type, body)) = &exchange.question.body {
        writeln!(file, "Content-Type: {media_type}\n\n{body}")?;
    }
    for hop in &exchange.hops {
        let to = hop
            .location
            .as_deref()
            .or(hop.retry_after.as_deref())
            .unwrap_or_default();
        writeln!(file, "\n{} → HTTP {} {to}", hop.url, hop.status)?;
    }
    writeln!(file)?;
    match &exchange.outcome {
        Err(nothing) => writeln!(file, "No answer: {nothing}")?,
        Ok(answer) => {
            writeln!(file, "HTTP {}", answer.status)?;
            for (name, value) in &answer.headers {
                writeln!(file, "{name}: {value}")?;
            }
            writeln!(file)?;
            file.write_all(&answer.body)?;
        }
    }
    file.flush()
}
