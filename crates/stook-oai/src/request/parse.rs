//! Names and values → a request, or every fault in them.
//!
//! The order is that of the specification's errors: a fault of the verb stands
//! alone, because without a verb nothing can be said about the arguments; then
//! all faults of the arguments together.

use std::borrow::Cow;

use super::decode::{Given, split_query};
use super::{Argument, ArgumentRules, ListRequest, Request};
use crate::types::{
    ErrorCode, Excerpt, Granularity, InvalidIdentifier, MetadataPrefix, OaiError, SetSpec, UtcDatetime, Verb,
    any_uri_flaw,
};

/// Faults beyond these are counted, not listed.
const MAX_LISTED: usize = 20;

impl Request {
    /// Understands the decoded arguments of a request to a repository of the
    /// given granularity.
    ///
    /// # Errors
    ///
    /// One badVerb; or one badArgument for each fault. The response to them
    /// must not repeat the arguments.
    pub fn parse<'a>(
        pairs: impl IntoIterator<Item = (Cow<'a, str>, Cow<'a, str>)>,
        granularity: Granularity,
    ) -> Result<Self, Vec<OaiError>> {
        let given = pairs.into_iter().map(|(name, value)| Given::new(name, value)).collect();
        parse(given, granularity)
    }

    /// Decodes and understands a query string or form body; the shortest way
    /// from what was received to a request.
    ///
    /// # Errors
    ///
    /// As [`Request::parse`]; values that cannot be decoded are among the
    /// faults.
    pub fn parse_query(query: &[u8], granularity: Granularity) -> Result<Self, Vec<OaiError>> {
        parse(split_query(query)?, granularity)
    }
}

fn parse(given: Vec<Given<'_>>, granularity: Granularity) -> Result<Request, Vec<OaiError>> {
    let (verbs, arguments): (Vec<_>, Vec<_>) = given.into_iter().partition(|given| given.name == "verb");
    let verb = parse_verb(&verbs).map_err(|fault| vec![fault])?;

    let mut faults = Faults::default();
    let values = Values::sort(verb, arguments, &mut faults);
    values.check_company(verb, &mut faults);
    let request = values.into_request(verb, granularity, &mut faults);
    match request {
        Some(request) if faults.0.is_empty() => Ok(request),
        _ => Err(faults.into_errors()),
    }
}

fn parse_verb(given: &[Given<'_>]) -> Result<Verb, OaiError> {
    let fault = match given {
        [] => "The verb is missing".to_owned(),
        [only] => match &only.value {
            Ok(text) => match Verb::parse(text) {
                Some(verb) => return Ok(verb),
                None => format!("{} is not a verb", Excerpt(text)),
            },
            Err(fault) => format!("The verb {fault}"),
        },
        _ => format!("The verb is given {} times", given.len()),
    };
    let verbs = listed(Verb::ALL.into_iter().map(Verb::as_str));
    Err(OaiError::new(
        ErrorCode::BadVerb,
        format!("{fault}. Give exactly one of {verbs}."),
    ))
}

#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn add(&mut self, message: impl Into<String>) {
        self.0.push(message.into());
    }

    fn into_errors(self) -> Vec<OaiError> {
        let unlisted = self.0.len().saturating_sub(MAX_LISTED);
        let mut errors: Vec<OaiError> = self
            .0
            .into_iter()
            .take(MAX_LISTED)
            .map(|message| OaiError::new(ErrorCode::BadArgument, message))
            .collect();
        if unlisted > 0 {
            let message = format!("The request has {unlisted} more faults like these.");
            errors.push(OaiError::new(ErrorCode::BadArgument, message));
        }
        errors
    }
}

/// The values given for the arguments a verb knows.
struct Values<'a>([Value<'a>; Argument::ALL.len()]);

#[derive(Default)]
enum Value<'a> {
    #[default]
    Absent,
    /// Given, but not decodable; the fault is already reported.
    Spoilt,
    Given(Cow<'a, str>),
}

impl<'a> Values<'a> {
    /// Sorts what was given; reports what is unknown, repeated or undecodable.
    fn sort(verb: Verb, given: Vec<Given<'a>>, faults: &mut Faults) -> Self {
        let mut values = Self(Default::default());
        let mut repeated: Vec<Argument> = Vec::new();
        for Given { name, value } in given {
            let known = Argument::parse(&name)
                .filter(|argument| ArgumentRules::of(verb).allowed().any(|known| known == *argument));
            let Some(argument) = known else {
                faults.add(unknown_argument(verb, &name));
                continue;
            };
            let slot = &mut values.0[argument as usize];
            if !matches!(slot, Value::Absent) {
                if !repeated.contains(&argument) {
                    repeated.push(argument);
                    faults.add(format!("{} is given more than once.", argument.as_str()));
                }
                continue;
            }
            *slot = match value {
                Ok(text) => Value::Given(text),
                Err(fault) => {
                    faults.add(format!("The value of {} {fault}.", argument.as_str()));
                    Value::Spoilt
                }
            };
        }
        values
    }

    fn has(&self, argument: Argument) -> bool {
        !matches!(self.0[argument as usize], Value::Absent)
    }

    /// Required arguments must be there; the exclusive one must be alone.
    fn check_company(&self, verb: Verb, faults: &mut Faults) {
        let rules = ArgumentRules::of(verb);
        if let Some(exclusive) = rules.exclusive.filter(|exclusive| self.has(*exclusive)) {
            let company: Vec<&str> = rules
                .allowed()
                .filter(|argument| *argument != exclusive && self.has(*argument))
                .map(Argument::as_str)
                .collect();
            if !company.is_empty() {
                faults.add(format!(
                    "{} must be the only argument besides verb; leave out {}.",
                    exclusive.as_str(),
                    listed(company.into_iter())
                ));
            }
            return;
        }
        for argument in rules.required.iter().filter(|argument| !self.has(**argument)) {
            let name = argument.as_str();
            faults.add(match rules.exclusive {
                None => format!("{verb} requires {name}, which is missing."),
                Some(exclusive) => format!(
                    "{verb} requires {name} (or {} alone), which is missing.",
                    exclusive.as_str()
                ),
            });
        }
    }

    fn take_text(&mut self, argument: Argument) -> Option<String> {
        match std::mem::take(&mut self.0[argument as usize]) {
            Value::Given(text) => Some(text.into_owned()),
            Value::Absent | Value::Spoilt => None,
        }
    }

    /// A value that has a grammar; reports text that does not obey it.
    fn take<T, E: std::fmt::Display>(
        &mut self,
        argument: Argument,
        parse: impl FnOnce(&str) -> Result<T, E>,
        faults: &mut Faults,
    ) -> Option<T> {
        let text = self.take_text(argument)?;
        match parse(&text) {
            Ok(value) => Some(value),
            Err(flaw) => {
                faults.add(format!("The value of {} is not valid: {flaw}.", argument.as_str()));
                None
            }
        }
    }

    /// An identifier may be any text that a response can repeat as the
    /// schema's anyURI: whether an item has that name is not asked here.
    fn take_identifier(&mut self, faults: &mut Faults) -> Option<String> {
        let parse = |text: &str| match any_uri_flaw(text) {
            None => Ok(text.to_owned()),
            Some(flaw) => Err(InvalidIdentifier {
                value: text.to_owned(),
                flaw,
            }),
        };
        self.take(Argument::Identifier, parse, faults)
    }

    /// The request, or nothing if a part it needs is missing or faulty.
    fn into_request(mut self, verb: Verb, granularity: Granularity, faults: &mut Faults) -> Option<Request> {
        Some(match verb {
            Verb::Identify => Request::Identify,
            Verb::ListMetadataFormats => Request::ListMetadataFormats {
                identifier: self.take_identifier(faults),
            },
            Verb::ListSets => Request::ListSets {
                resumption_token: self.take_text(Argument::ResumptionToken),
            },
            Verb::GetRecord => {
                let identifier = self.take_identifier(faults);
                let metadata_prefix = self.take(Argument::MetadataPrefix, MetadataPrefix::parse, faults);
                Request::GetRecord {
                    identifier: identifier?,
                    metadata_prefix: metadata_prefix?,
                }
            }
            Verb::ListIdentifiers => Request::ListIdentifiers(self.into_list(granularity, faults)?),
            Verb::ListRecords => Request::ListRecords(self.into_list(granularity, faults)?),
        })
    }

    fn into_list(mut self, granularity: Granularity, faults: &mut Faults) -> Option<ListRequest> {
        let metadata_prefix = self.take(Argument::MetadataPrefix, MetadataPrefix::parse, faults);
        let from = self.take(Argument::From, UtcDatetime::parse, faults);
        let until = self.take(Argument::Until, UtcDatetime::parse, faults);
        let set = self.take(Argument::Set, SetSpec::parse, faults);
        check_dates(from, until, granularity, faults);
        if let Some(resumption_token) = self.take_text(Argument::ResumptionToken) {
            return Some(ListRequest::Resume { resumption_token });
        }
        Some(ListRequest::Selection {
            metadata_prefix: metadata_prefix?,
            from,
            until,
            set,
        })
    }
}

fn check_dates(from: Option<UtcDatetime>, until: Option<UtcDatetime>, granularity: Granularity, faults: &mut Faults) {
    for (argument, value) in [(Argument::From, from), (Argument::Until, until)] {
        let name = argument.as_str();
        if let Some(value) = value.filter(|value| value.granularity() > granularity) {
            faults.add(format!(
                "The value of {name} is finer than this repository's datestamps: \
                 \"{value}\" must be written as {granularity}."
            ));
        }
    }
    let (Some(from), Some(until)) = (from, until) else {
        return;
    };
    if from.granularity() != until.granularity() {
        faults.add(format!(
            "from and until must have the same granularity, but \"{from}\" is written as {} \
             and \"{until}\" as {}.",
            from.granularity(),
            until.granularity()
        ));
    } else if from > until {
        faults.add(format!(
            "from must not be later than until, but \"{from}\" is later than \"{until}\"."
        ));
    }
}

fn unknown_argument(verb: Verb, name: &str) -> String {
    let allowed: Vec<&str> = ArgumentRules::of(verb).allowed().map(Argument::as_str).collect();
    let name = Excerpt(name);
    if allowed.is_empty() {
        return format!("{verb} has no argument {name}; it takes none besides verb.");
    }
    let allowed = listed(allowed.into_iter());
    format!("{verb} has no argument {name}; it takes {allowed} (case counts).")
}

/// `a, b, c`
fn listed<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}
