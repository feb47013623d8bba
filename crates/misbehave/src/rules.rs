//! Servers that are picky about how they are asked.

use stook_oai::{ErrorCode, OaiError, UtcDatetime, Verb};

use crate::answer::{Answer, Outcome};
use crate::ask::Ask;
use crate::fault::{Fault, Stage};
use crate::http::{Incoming, Reply};
use crate::selection::LONG_SUFFIX;
use crate::source::Turn;

/// What a rule says about a request.
enum Verdict {
    Passes,
    Error(ErrorCode, &'static str),
    Reply(Reply),
}

/// The refusal of a request; none if every rule lets it pass. Some rules
/// change the request so that a correct repository understands it.
pub(crate) fn judge(turn: &mut Turn<'_>, ask: &mut Ask, incoming: &Incoming) -> Option<Outcome> {
    if turn.has(Fault::LongSets) {
        shorten_set(ask);
    }
    let rules = turn.faults.iter().filter(|fault| fault.stage() == Stage::Rule);
    for fault in rules.copied().collect::<Vec<_>>() {
        match verdict(fault, ask, incoming) {
            Verdict::Passes => {}
            Verdict::Reply(reply) => return Some(Outcome::Reply(reply)),
            Verdict::Error(code, message) => {
                let answer = Answer::errors(turn, ask.verb(), &[OaiError::new(code, message)]);
                return Some(Outcome::Answer(answer));
            }
        }
        if fault == Fault::UnknownErrorCode {
            return Some(Outcome::Answer(Answer::unknown_error(turn, ask.verb())));
        }
    }
    None
}

fn verdict(fault: Fault, ask: &mut Ask, incoming: &Incoming) -> Verdict {
    let verb = ask.verb();
    let is_list = matches!(verb, Some(Verb::ListRecords | Verb::ListIdentifiers));
    let has_token = ask.has("resumptionToken");
    let has_date = ask.has("from") || ask.has("until");
    match fault {
        Fault::UserAgentRequired => refuse_if(incoming.header("User-Agent").is_none_or(str::is_empty)),
        Fault::UserAgentContact => refuse_if(!names_contact(incoming)),
        Fault::VerbFirst => error_if(
            ask.pairs().first().is_none_or(|(name, _)| name != "verb"),
            ErrorCode::BadVerb,
            "No verb was found.",
        ),
        Fault::NoPercentEncoding => bad_argument_if(
            ask.pairs().iter().any(|(_, value)| value.contains('%')),
            "A value has characters that are not allowed.",
        ),
        Fault::EmptySetCrashes => crash_if(ask.value("set").is_some_and(|set| set.is_empty())),
        Fault::PrefixBesideTokenCrashes => crash_if(has_token && ask.has("metadataPrefix")),
        Fault::TokenNeedsPrefix => token_needs_prefix(ask, is_list && has_token),
        Fault::TokenIllegal => bad_argument_if(has_token, "Illegal argument resumptionToken"),
        Fault::SecondsRejected => {
            bad_argument_if(has_date_of_length(ask, 20), "The date is not of the form YYYY-MM-DD.")
        }
        Fault::DaysRejected => bad_argument_if(
            has_date_of_length(ask, 10),
            "The date is not of the form YYYY-MM-DDThh:mm:ssZ.",
        ),
        Fault::DatesRejected => bad_argument_if(has_date, "Selection by date is not supported."),
        Fault::DatesCrash => crash_if(has_date),
        Fault::SetDemanded => bad_argument_if(is_list && !has_token && !ask.has("set"), "The set is missing."),
        Fault::GetRecordDenies => error_if(
            verb == Some(Verb::GetRecord),
            ErrorCode::IdDoesNotExist,
            "There is no such item.",
        ),
        Fault::ListRecordsBroken => crash_if(verb == Some(Verb::ListRecords)),
        _ => Verdict::Passes,
    }
}

fn error_if(applies: bool, code: ErrorCode, message: &'static str) -> Verdict {
    if applies {
        Verdict::Error(code, message)
    } else {
        Verdict::Passes
    }
}

fn bad_argument_if(applies: bool, message: &'static str) -> Verdict {
    error_if(applies, ErrorCode::BadArgument, message)
}

fn crash_if(applies: bool) -> Verdict {
    if applies {
        Verdict::Reply(Reply::html(
            500,
            "Internal Server Error",
            "java.lang.NullPointerException",
        ))
    } else {
        Verdict::Passes
    }
}

fn refuse_if(applies: bool) -> Verdict {
    if applies {
        Verdict::Reply(Reply::html(403, "Forbidden", "Robots are not welcome here."))
    } else {
        Verdict::Passes
    }
}

fn names_contact(incoming: &Incoming) -> bool {
    let headers = ["User-Agent", "From"]
        .into_iter()
        .filter_map(|name| incoming.header(name));
    let has_contact = |value: &str| value.contains('@') || value.contains("://");
    headers.into_iter().any(has_contact)
}

/// Refuses a bare token, and hides the prefix beside a token from the rest of
/// the repository, which would refuse it.
fn token_needs_prefix(ask: &mut Ask, resumes: bool) -> Verdict {
    let lacks_prefix = !ask.has("metadataPrefix");
    if resumes {
        ask.remove("metadataPrefix");
    }
    bad_argument_if(resumes && lacks_prefix, "metadataPrefix is missing.")
}

fn has_date_of_length(ask: &Ask, length: usize) -> bool {
    let dates = ["from", "until"].into_iter().filter_map(|name| ask.value(name));
    dates
        .into_iter()
        .any(|date| date.len() == length && UtcDatetime::parse(&date).is_ok())
}

fn shorten_set(ask: &mut Ask) {
    if let Some(set) = ask.value("set") {
        let short = set.strip_suffix(LONG_SUFFIX.as_str()).unwrap_or("there-is-no-such-set");
        ask.replace("set", short);
    }
}
