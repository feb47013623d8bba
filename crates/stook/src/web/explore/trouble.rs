//! What went wrong, in words, with what to try.

use maud::{Markup, html};

use super::frame::{check_link, cut, size};
use super::words::{self, Remedy, UNKNOWN_ERROR, W, with};
use crate::validate::{Answer, Exchange, Flaw, NoAnswer};

/// Everything that is wrong with an exchange; nothing where all is well.
pub(super) fn told(exchange: &Exchange) -> Markup {
    let answer = match &exchange.outcome {
        Err(nothing) => return no_answer(nothing),
        Ok(answer) => answer,
    };
    let errors = answer.document.errors();
    html! {
        @if !errors.is_empty() { (protocol_errors(&errors)) }
        @else if answer.document.payload().is_none() { (not_oai(answer)) }
        @if let Some(reason) = &answer.incomplete {
            section.trouble { h2 { (W.incomplete_title) } p { (cut(reason)) } }
        }
        (flaws(answer))
    }
}

fn protocol_errors(errors: &[(String, String)]) -> Markup {
    html! {
        section.trouble {
            h2 { (W.errors_title) }
            // A repository may repeat itself as often as it likes.
            @for (code, message) in errors.iter().take(20) {
                @let remedy = words::ERRORS.iter().find(|remedy| remedy.code == code).unwrap_or(&UNKNOWN_ERROR);
                h3 { code { (cut(code)) } }
                @if !message.is_empty() { p { (W.says) q { (cut(message)) } } }
                (explained(remedy))
            }
        }
    }
}

fn explained(remedy: &Remedy) -> Markup {
    html! {
        p { (remedy.means) }
        p { strong { (W.try_this) } " " (remedy.attempt) }
        (check_link(remedy.check))
    }
}

fn no_answer(nothing: &NoAnswer) -> Markup {
    let remedy = match nothing {
        NoAnswer::TimedOut(_) => &words::TIMED_OUT,
        NoAnswer::Insecure(_) => &words::INSECURE,
        NoAnswer::Failed(_) => &words::FAILED,
        NoAnswer::LostOnTheWay(_) => &words::LOST,
        NoAnswer::Forbidden(_) => &words::FORBIDDEN,
        NoAnswer::Postponed(_) => &words::POSTPONED,
    };
    html! {
        section.trouble { h2 { (W.none_title) } p { code { (cut(&nothing.to_string())) } } (explained(remedy)) }
    }
}

fn not_oai(answer: &Answer) -> Markup {
    let media_type = answer.media_type();
    let remedy = match answer.status {
        401 | 403 | 407 => &words::HTTP_ACCESS,
        404 | 410 => &words::HTTP_MISSING,
        500.. => &words::HTTP_BROKEN,
        200 if media_type.contains("html") => &words::WEB_PAGE,
        200 => &words::NOT_OAI,
        _ => &words::HTTP_OTHER,
    };
    html! {
        section.trouble {
            h2 { (W.not_oai_title) }
            p { code { "HTTP " (answer.status) @if !media_type.is_empty() { ", " (cut(&media_type)) } ", " (size(answer.body.len())) } }
            (explained(remedy))
        }
    }
}

fn flaws(answer: &Answer) -> Markup {
    // What is no XML at all has been told already.
    if answer.document.root.is_none() && (answer.status != 200 || answer.media_type().contains("html")) {
        return html! {};
    }
    html! {
        @if !answer.document.flaws.is_empty() {
            section.trouble {
                h2 { (W.flaws_title) }
                @for flaw in &answer.document.flaws {
                    @let (text, check) = flaw_in_words(flaw);
                    p { (cut(&text)) }
                    (check_link(check))
                }
            }
        }
    }
}

fn flaw_in_words(flaw: &Flaw) -> (String, &'static str) {
    let ((text, check), values) = match flaw {
        Flaw::Empty => (words::FLAW_EMPTY, vec![]),
        Flaw::NotUtf8(at) => (words::FLAW_UTF8, vec![at.to_string()]),
        Flaw::ByteOrderMark => (words::FLAW_BOM, vec![]),
        Flaw::NoDeclaration => (words::FLAW_NO_DECLARATION, vec![]),
        Flaw::Declaration(text) => (words::FLAW_DECLARATION, vec![text.clone()]),
        Flaw::Doctype => (words::FLAW_DOCTYPE, vec![]),
        Flaw::Entity(name) => (words::FLAW_ENTITY, vec![name.clone()]),
        Flaw::Characters(count) => (words::FLAW_CHARACTERS, vec![count.to_string()]),
        Flaw::Malformed { line, reason, .. } => (words::FLAW_MALFORMED, vec![line.to_string(), reason.clone()]),
        Flaw::Trailing(text) => (words::FLAW_TRAILING, vec![text.clone()]),
    };
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    (with(text, &values), check)
}
