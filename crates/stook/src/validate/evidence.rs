//! Requests and answers that findings speak of, kept for whoever wants to see them.
//!
//! The last answers are held in memory until it is known whether anybody finds fault with them; what a finding speaks of
//! is written at once, so a run that is stopped leaves what it found.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

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

/// A request and its answer as they would be written: without the tree, which takes many times the memory.
struct Held {
    number: u32,
    file: String,
    bytes: Vec<u8>,
}

/// Requests and answers of one run.
pub(crate) struct Evidence {
    folder: Option<PathBuf>,
    held: VecDeque<Held>,
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
    pub(crate) fn keep(&mut self, exchange: &Exchange) {
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
        // Without a folder nothing will be written.
        if self.folder.is_none() {
            return;
        }
        let (file, bytes) = (file_name(exchange), rendered(exchange));
        self.held_bytes += bytes.len();
        self.held.push_back(Held { number, file, bytes });
        while self.held_bytes > HELD_BYTES && self.held.len() > 1 {
            if let Some(oldest) = self.held.pop_front() {
                self.held_bytes -= oldest.bytes.len();
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
        let Some(held) = self.held.iter().find(|held| held.number == number) else {
            return;
        };
        if !self.written.insert(number) {
            return;
        }
        let written =
            std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(folder.join(&held.file), &held.bytes));
        if let Err(error) = written {
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

fn file_name(exchange: &Exchange) -> String {
    let verb = exchange.question.verb().map_or("request", stook_oai::Verb::as_str);
    format!("{:04}-{verb}.http", exchange.number)
}

/// The request, the head of the answer and its body, as they would be seen on the wire.
fn rendered(exchange: &Exchange) -> Vec<u8> {
    let mut head = format!("{} {}\n", exchange.question.method.as_str(), exchange.url);
    for (name, value) in &exchange.question.headers {
        head.push_str(&format!("{name}: {value}\n"));
    }
    if let Some((media_type, body)) = &exchange.question.body {
        head.push_str(&format!("Content-Type: {media_type}\n\n{body}\n"));
    }
    for hop in &exchange.hops {
        let to = hop
            .location
            .as_deref()
            .or(hop.retry_after.as_deref())
            .unwrap_or_default();
        head.push_str(&format!("\n{} → HTTP {} {to}\n", hop.url, hop.status));
    }
    head.push('\n');
    match &exchange.outcome {
        Err(nothing) => (head + &format!("No answer: {nothing}\n")).into_bytes(),
        Ok(answer) => {
            head.push_str(&format!("HTTP {}\n", answer.status));
            for (name, value) in &answer.headers {
                head.push_str(&format!("{name}: {value}\n"));
            }
            head.push('\n');
            let mut bytes = head.into_bytes();
            bytes.extend_from_slice(&answer.body);
            bytes
        }
    }
}
