//! The answers of a correct repository, by verb.

use stook_oai::response::{Echo, HeaderRef, ResponseWriter};
use stook_oai::{
    ErrorCode, Identify, ListRequest, MetadataFormat, MetadataPrefix, OaiError, Request, ResumptionToken, Set, SetSpec,
    Verb,
};

use crate::ask::Ask;
use crate::http::Reply;
use crate::lists::{self, Trouble};
use crate::made_up;
use crate::script::Setting;
use crate::selection::{self, Entry};
use crate::source::Turn;
use crate::world::{Item, datestamp};

/// A document, and what later stages need to know about it.
pub(crate) struct Answer {
    pub(crate) verb: Option<Verb>,
    pub(crate) document: Vec<u8>,
    /// The identifiers it holds, in order.
    pub(crate) identifiers: Vec<String>,
    /// The errors it holds.
    pub(crate) errors: Vec<ErrorCode>,
}

/// An answer of the protocol, or a reply that is none.
pub(crate) enum Outcome {
    Answer(Answer),
    Reply(Reply),
}

impl Answer {
    fn of(request: &Request, document: Vec<u8>, identifiers: Vec<String>) -> Outcome {
        Outcome::Answer(Self {
            verb: Some(request.verb()),
            document,
            identifiers,
            errors: Vec::new(),
        })
    }

    /// An answer that does not repeat the arguments.
    pub(crate) fn errors(turn: &Turn<'_>, verb: Option<Verb>, errors: &[OaiError]) -> Self {
        Self::errors_with(turn, verb, &Echo::None, errors)
    }

    fn errors_with(turn: &Turn<'_>, verb: Option<Verb>, echo: &Echo<'_>, errors: &[OaiError]) -> Self {
        Self {
            verb,
            document: begin(turn, echo).errors(errors),
            identifiers: Vec::new(),
            errors: errors.iter().map(|error| error.code).collect(),
        }
    }

    /// An error with a code that the protocol does not know.
    pub(crate) fn unknown_error(turn: &Turn<'_>, verb: Option<Verb>) -> Self {
        let stand_in = OaiError::new(ErrorCode::BadArgument, "Something went wrong.");
        let answer = Self::errors(turn, verb, &[stand_in]);
        let document = String::from_utf8_lossy(&answer.document).replace("\"badArgument\"", "\"internalError\"");
        Self {
            document: document.into_bytes(),
            errors: Vec::new(),
            ..answer
        }
    }
}

/// Answers a request that no rule refused.
pub(crate) fn answer(turn: &mut Turn<'_>, ask: &Ask) -> Outcome {
    let request = match Request::parse_query(ask.query().as_bytes(), turn.world.granularity) {
        Ok(request) => request,
        Err(errors) => return Outcome::Answer(Answer::errors(turn, ask.verb(), &errors)),
    };
    let answered = match &request {
        Request::Identify => Ok(identify(turn, &request)),
        Request::ListMetadataFormats { identifier } => formats(turn, &request, identifier.as_deref()),
        Request::ListSets { resumption_token } => sets(turn, &request, resumption_token.as_deref()),
        Request::GetRecord {
            identifier,
            metadata_prefix,
        } => record(turn, &request, identifier, metadata_prefix),
        Request::ListIdentifiers(list) | Request::ListRecords(list) => page(turn, &request, list),
    };
    match answered {
        Ok(outcome) => outcome,
        Err(Trouble::Reply(reply)) => Outcome::Reply(reply),
        Err(Trouble::Error(error)) => {
            let echo = Echo::Arguments(&request);
            Outcome::Answer(Answer::errors_with(turn, Some(request.verb()), &echo, &[error]))
        }
    }
}

fn begin(turn: &Turn<'_>, echo: &Echo<'_>) -> ResponseWriter {
    ResponseWriter::new(Vec::new(), datestamp(turn.world.now()), turn.base_url, echo)
}

fn identify(turn: &Turn<'_>, request: &Request) -> Outcome {
    let world = turn.world;
    let compressions = if turn.script.setting(Setting::Gzip) == 1 {
        vec!["gzip".to_owned()]
    } else {
        Vec::new()
    };
    let identify = Identify {
        repository_name: "Misbehaving repository".to_owned(),
        base_url: turn.base_url.to_owned(),
        admin_emails: vec!["admin@misbehave.example.org".to_owned()],
        earliest_datestamp: datestamp(world.earliest()),
        deleted_record: world.deleted_record,
        granularity: world.granularity,
        compressions,
        descriptions: Vec::new(),
    };
    Answer::of(
        request,
        begin(turn, &Echo::Arguments(request)).identify(&identify),
        Vec::new(),
    )
}

fn formats(turn: &Turn<'_>, request: &Request, identifier: Option<&str>) -> Result<Outcome, Trouble> {
    let item = match identifier {
        Some(identifier) => Some(existing(turn, identifier)?),
        None => None,
    };
    let held = |prefix: &str| item.is_none_or(|item| item.metadata.contains_key(prefix));
    let formats: Vec<MetadataFormat> = made_up::FORMATS
        .into_iter()
        .filter(|(prefix, ..)| held(prefix))
        .filter_map(|(prefix, schema, namespace)| {
            Some(MetadataFormat {
                prefix: MetadataPrefix::parse(prefix).ok()?,
                schema: schema.to_owned(),
                namespace: namespace.to_owned(),
            })
        })
        .collect();
    let document = begin(turn, &Echo::Arguments(request)).metadata_formats(&formats);
    Ok(Answer::of(request, document, Vec::new()))
}

/// Sets come in pages as records do; their tokens are plain offsets.
fn sets(turn: &Turn<'_>, request: &Request, token: Option<&str>) -> Result<Outcome, Trouble> {
    let sets = selection::sets(turn);
    if sets.is_empty() {
        return Err(Trouble::error(ErrorCode::NoSetHierarchy, "There are no sets."));
    }
    let start = match token {
        None => 0,
        Some(token) => token
            .strip_prefix("sets-")
            .and_then(|offset| offset.parse().ok())
            .filter(|offset| *offset < sets.len())
            .ok_or_else(|| Trouble::error(ErrorCode::BadResumptionToken, "This token was not issued here."))?,
    };
    let end = sets
        .len()
        .min(start.saturating_add(turn.script.count(Setting::PageSize)));
    let mut writer = begin(turn, &Echo::Arguments(request)).sets();
    for (spec, name) in &sets[start..end] {
        if let Ok(spec) = SetSpec::parse(spec) {
            writer.set(&Set {
                spec,
                name: name.clone(),
                descriptions: Vec::new(),
            });
        }
    }
    let value = if end < sets.len() {
        format!("sets-{end}")
    } else {
        String::new()
    };
    let token = (end < sets.len() || start > 0).then_some(ResumptionToken {
        value,
        expiration_date: None,
        complete_list_size: Some(sets.len() as u64),
        cursor: Some(start as u64),
    });
    Ok(Answer::of(request, writer.finish(token.as_ref()), Vec::new()))
}

fn existing<'a>(turn: &Turn<'a>, identifier: &str) -> Result<&'a Item, Trouble> {
    let item = selection::visible(turn, identifier);
    item.ok_or_else(|| Trouble::error(ErrorCode::IdDoesNotExist, "There is no such item."))
}

fn record(turn: &Turn<'_>, request: &Request, identifier: &str, prefix: &MetadataPrefix) -> Result<Outcome, Trouble> {
    let item = existing(turn, identifier)?;
    if !item.metadata.contains_key(prefix.as_str()) {
        return Err(Trouble::error(
            ErrorCode::CannotDisseminateFormat,
            "The item does not have this format.",
        ));
    }
    let entry = Entry::new(turn, item, prefix.as_str());
    let writer = begin(turn, &Echo::Arguments(request));
    let document = writer.get_record(turn.world.granularity, &entry.header(), |out| entry.push_content(out));
    Ok(Answer::of(request, document, vec![identifier.to_owned()]))
}

fn page(turn: &mut Turn<'_>, request: &Request, list: &ListRequest) -> Result<Outcome, Trouble> {
    let page = lists::page(turn, request.verb(), list)?;
    let writer = begin(turn, &Echo::Arguments(request));
    let granularity = turn.world.granularity;
    let document = if request.verb() == Verb::ListRecords {
        let mut records = writer.list_records(granularity);
        for entry in &page.entries {
            records.record(&entry.header(), |out| entry.push_content(out));
        }
        records.finish(page.token.as_ref())
    } else {
        let mut headers = writer.list_identifiers(granularity);
        for entry in &page.entries {
            headers.header(&entry.header());
        }
        headers.finish(page.token.as_ref())
    };
    let identifiers = page.entries.into_iter().map(|entry| entry.identifier).collect();
    Ok(Answer::of(request, document, identifiers))
}

impl Entry {
    fn header(&self) -> HeaderRef<'_> {
        HeaderRef {
            identifier: &self.identifier,
            datestamp: datestamp(self.datestamp),
            set_specs: &self.set_specs,
            deleted: self.deleted,
        }
    }

    fn push_content(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<metadata>");
        out.extend_from_slice(self.metadata.as_bytes());
        out.extend_from_slice(b"</metadata>");
    }
}
