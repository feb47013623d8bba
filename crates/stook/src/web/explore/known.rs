//! What is known of a repository beside the answer that is shown: its name, its formats, its sets. Forms are made of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use stook_oai::{ErrorCode, Granularity};

use super::ask::{Asking, Refusal, Target};
use crate::validate::{Document, Element, Exchange};

/// Sets that are remembered for forms.
const MOST_SETS: usize = 1_000;
/// Formats that are.
const MOST_FORMATS: usize = 200;
/// Of one text.
const MOST_CHARS: usize = 300;
/// Other repositories that are remembered, and how long.
const MOST_REMEMBERED: usize = 100;
const REMEMBERED: Duration = Duration::from_secs(600);

/// A metadata format, as it is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) prefix: String,
    pub(super) schema: String,
    pub(super) namespace: String,
}

/// What is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) name: String,
    pub(super) granularity: Option<Granularity>,
    pub(super) formats: Vec<Format>,
    /// Specs and names.
    pub(super) sets: Vec<(String, String)>,
    /// Whether those are all.
    pub(super) all_sets: bool,
}

impl Known {
    /// What an answer to Identify tells.
    pub(super) fn of_identify(exchange: &Exchange) -> Known {
        let identify = exchange.document().and_then(Document::payload);
        let text = |name: &str| {
            let text = identify.and_then(|identify| identify.text_of(name));
            cut(&text.unwrap_or_default())
        };
        Known {
            name: text("repositoryName"),
            granularity: Granularity::parse(&text("granularity")),
            ..Known::default()
        }
    }

    /// Asks for formats and sets. What does not come is not known.
    pub(super) fn ask_more(mut self, asking: &mut Asking<'_>) -> Result<Known, Refusal> {
        let formats = asking.ask("verb=ListMetadataFormats")?;
        self.formats = formats_of(formats.document());
        self.formats.truncate(MOST_FORMATS);
        let sets = asking.ask("verb=ListSets")?;
        if let Some(document) = sets.document() {
            self.sets = sets_of(document);
            let more = document.token().is_some_and(|token| !token.value.is_empty());
            let told = !self.sets.is_empty() || document.has_error(ErrorCode::NoSetHierarchy);
            self.all_sets = told && !more && self.sets.len() <= MOST_SETS;
            self.sets.truncate(MOST_SETS);
        }
        Ok(self)
    }

    /// Everything, from memory where that is fresh. Own repositories are asked each time: that costs nothing.
    pub(super) fn of(asking: &mut Asking<'_>, memory: &Memory) -> Result<Arc<Known>, Refusal> {
        if let Some(known) = memory.recall(asking.target) {
            return Ok(known);
        }
        let identify = asking.ask("verb=Identify")?;
        let known = Known::of_identify(&identify).ask_more(asking)?;
        Ok(memory.keep(asking.target, known))
    }

    /// The format to show a record in: that of the list, oai_dc, or the first.
    pub(super) fn prefix<'a>(&'a self, wanted: Option<&'a str>) -> &'a str {
        let first = self.formats.first().map(|format| format.prefix.as_str());
        let has_oai_dc = self.formats.iter().any(|format| format.prefix == "oai_dc");
        wanted
            .or_else(|| has_oai_dc.then_some("oai_dc"))
            .or(first)
            .unwrap_or("oai_dc")
    }
}

/// The formats in an answer.
pub(super) fn formats_of(document: Option<&Document>) -> Vec<Format> {
    let payload = document.and_then(Document::payload);
    let formats = payload.into_iter().flat_map(|payload| payload.named("metadataFormat"));
    let text = |format: &Element, name: &str| cut(&format.text_of(name).unwrap_or_default());
    formats
        .map(|format| Format {
            prefix: text(format, "metadataPrefix"),
            schema: text(format, "schema"),
            namespace: text(format, "metadataNamespace"),
        })
        .collect()
}

/// The sets in an answer, with their names.
pub(super) fn sets_of(document: &Document) -> Vec<(String, String)> {
    let sets = document.payload().into_iter().flat_map(|payload| payload.named("set"));
    let text = |set: &Element, name: &str| cut(&set.text_of(name).unwrap_or_default());
    sets.map(|set| (text(set, "setSpec"), text(set, "setName"))).collect()
}

fn cut(text: &str) -> String {
    text.chars().take(MOST_CHARS).collect()
}

/// What is known of other repositories, for a while: their pages need not ask three times.
#[derive(Default)]
pub(super) struct Memory(Mutex<HashMap<String, (Instant, Arc<Known>)>>);

impl Memory {
    fn recall(&self, target: &Target) -> Option<Arc<Known>> {
        let Target::Other(url) = target else { return None };
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, known) = kept.get(url.as_str())?;
        (since.elapsed() < REMEMBERED).then(|| known.clone())
    }

    /// Keeps it, if it is worth it.
    pub(super) fn keep(&self, target: &Target, known: Known) -> Arc<Known> {
        let known = Arc::new(known);
        if let Target::Other(url) = target
            && !known.formats.is_empty()
        {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.retain(|_, (since, _)| since.elapsed() < REMEMBERED);
            if kept.len() >= MOST_REMEMBERED {
                kept.clear();
            }
            kept.insert(url.to_string(), (Instant::now(), known.clone()));
        }
        known
    }
}
