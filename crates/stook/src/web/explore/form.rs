//! Forms: one for each verb, with its arguments.

use maud::{Markup, html};
use stook_oai::{Granularity, Verb};

use super::frame::short;
use super::known::Known;
use super::state::{Show, State};
use super::words::W;

/// Beyond so many sets nobody looks for one in a menu.
const MOST_IN_A_MENU: usize = 300;

/// A verb, what it is for, and its arguments: name, and whether it is needed.
struct Row {
    verb: Verb,
    about: &'static str,
    arguments: &'static [(&'static str, bool)],
}

const LIST: &[(&str, bool)] = &[
    ("metadataPrefix", true),
    ("set", false),
    ("from", false),
    ("until", false),
];

/// In the order in which one gets to know a repository.
const ROWS: [Row; 6] = [
    Row {
        verb: Verb::Identify,
        about: W.verb_identify,
        arguments: &[],
    },
    Row {
        verb: Verb::ListMetadataFormats,
        about: W.verb_formats,
        arguments: &[("identifier", false)],
    },
    Row {
        verb: Verb::ListSets,
        about: W.verb_sets,
        arguments: &[],
    },
    Row {
        verb: Verb::ListIdentifiers,
        about: W.verb_identifiers,
        arguments: LIST,
    },
    Row {
        verb: Verb::ListRecords,
        about: W.verb_records,
        arguments: LIST,
    },
    Row {
        verb: Verb::GetRecord,
        about: W.verb_record,
        arguments: &[("identifier", true), ("metadataPrefix", true)],
    },
];

/// All forms, for a page about the repository.
pub(super) fn all(state: &State, known: &Known) -> Markup {
    html! {
        div.forms { @for row in &ROWS { section.card { h3 { (row.verb.as_str()) } (fields(row, state, known)) } } }
    }
}

/// Links to the verbs and the form of the one that was asked, closed unless it has to be filled in otherwise.
pub(super) fn of_answer(state: &State, known: &Known, open: bool) -> Markup {
    let asked = state.verb.as_deref();
    html! {
        nav.tabs aria-label=(W.verbs) {
            @for row in &ROWS {
                @let verb = row.verb.as_str();
                @let current = (asked == Some(verb)).then_some("page");
                a href=(start_of(row, state, known).href()) aria-current=[current] { (verb) }
            }
        }
        @if let Some(row) = ROWS.iter().find(|row| asked == Some(row.verb.as_str())) {
            @if row.arguments.is_empty() { p { (row.about) } } @else {
                details.request open[open] {
                    summary { (W.change) " " span.soft { code { (short(&state.query())) } } }
                    (fields(row, state, known))
                }
            }
        }
    }
}

/// Where the link to a verb leads: to an answer, or to the form where that cannot be asked for without being told more.
fn start_of(row: &Row, state: &State, known: &Known) -> State {
    let verb = row.verb.as_str();
    let prefix = known.prefix(state.list_prefix());
    match (row.verb, state.argument("identifier")) {
        (Verb::ListIdentifiers | Verb::ListRecords, _) => state.asking(verb, &[("metadataPrefix", prefix)]),
        (Verb::GetRecord, Some(identifier)) => {
            state.asking(verb, &[("identifier", identifier), ("metadataPrefix", prefix)])
        }
        (Verb::GetRecord, None) => state.asking(verb, &[("metadataPrefix", prefix)]).showing(Show::Form),
        (Verb::ListMetadataFormats, Some(identifier)) => state.asking(verb, &[("identifier", identifier)]),
        _ => state.asking(verb, &[]),
    }
}

fn fields(row: &Row, state: &State, known: &Known) -> Markup {
    let place = state.place.as_ref().map(super::state::Place::field);
    let verb = row.verb.as_str();
    html! {
        form.fields action="explore" method="get" {
            p.about { (row.about) }
            @if let Some((name, value)) = place { input type="hidden" name=(name) value=(value); }
            input type="hidden" name="verb" value=(verb);
            @for (name, needed) in row.arguments {
                @let id = format!("{verb}-{name}");
                div.field {
                    label for=(id) {
                        (label(name)) @if !needed { " " span.soft { (W.optional) } }
                    }
                    (field(name, &id, state, known))
                }
            }
            button type="submit" { (W.ask) " " (verb) }
        }
    }
}

fn label(name: &str) -> &str {
    match name {
        "from" => W.from,
        "until" => W.until,
        other => other,
    }
}

fn field(name: &str, id: &str, state: &State, known: &Known) -> Markup {
    let given = state.argument(name).unwrap_or_default();
    match name {
        "metadataPrefix" if !known.formats.is_empty() => {
            let given = if given.is_empty() {
                known.prefix(state.list_prefix())
            } else {
                given
            };
            let prefixes = known.formats.iter().map(|format| (format.prefix.as_str(), ""));
            menu(name, id, given, W.any_format, prefixes)
        }
        "set" if known.all_sets && known.sets.len() <= MOST_IN_A_MENU => {
            let sets = known.sets.iter().map(|(spec, name)| (spec.as_str(), name.as_str()));
            menu(name, id, given, W.any_set, sets)
        }
        "set" if !known.sets.is_empty() => html! {
            input id=(id) name=(name) value=(given) list={ (id) "-known" } autocomplete="off";
            datalist id={ (id) "-known" } {
                @for (spec, name) in known.sets.iter().take(MOST_IN_A_MENU) { option value=(spec) { (short(name)) } }
            }
        },
        "from" | "until" => date(name, id, given, known.granularity),
        _ => html! { input id=(id) name=(name) value=(given) autocomplete="off" spellcheck="false"; },
    }
}

/// A menu of what is known, and of what was given if that is something else.
fn menu<'a>(
    name: &str,
    id: &str,
    given: &str,
    nothing: &str,
    known: impl Iterator<Item = (&'a str, &'a str)>,
) -> Markup {
    let mut known: Vec<(&str, &str)> = known.collect();
    if !given.is_empty() && !known.iter().any(|(value, _)| *value == given) {
        known.push((given, ""));
    }
    html! {
        select id=(id) name=(name) {
            option value="" { (nothing) }
            @for (value, name) in known {
                option value=(value) selected[value == given] {
                    (short(value)) @if !name.is_empty() && name != value { " – " (short(name)) }
                }
            }
        }
    }
}

/// A date field of the repository's granularity; a text field where that is not known or the value does not fit.
fn date(name: &str, id: &str, given: &str, granularity: Option<Granularity>) -> Markup {
    let is_day = given.len() == 10;
    let end_of_day = if name == "until" { "T23:59:59" } else { "T00:00:00" };
    let value = match granularity {
        Some(Granularity::Day) if given.is_empty() || is_day => Some(given.to_owned()),
        Some(Granularity::Second) if is_day => Some(format!("{given}{end_of_day}")),
        Some(Granularity::Second) if given.is_empty() || given.len() == 20 => {
            Some(given.trim_end_matches('Z').to_owned())
        }
        _ => None,
    };
    match (value, granularity) {
        (Some(value), Some(Granularity::Second)) => html! {
            input id=(id) name=(name) type="datetime-local" step="1" value=(value);
        },
        (Some(value), _) => html! { input id=(id) name=(name) type="date" value=(value); },
        (None, _) => html! { input id=(id) name=(name) value=(given) autocomplete="off"; },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_the_field_of_their_granularity_and_keep_what_was_given() {
        let at = |given, granularity| date("until", "x", given, granularity).into_string();
        assert!(at("", Some(Granularity::Day)).contains("type=\"date\""));
        assert!(at("2024-03-01", Some(Granularity::Second)).contains("value=\"2024-03-01T23:59:59\""));
        assert!(at("2024-03-01T08:00:00Z", Some(Granularity::Second)).contains("value=\"2024-03-01T08:00:00\""));
        for odd in ["junk", "2024-03-01T08:00:00Z"] {
            let field = at(odd, Some(Granularity::Day));
            assert!(field.contains(odd) && !field.contains("type="), "{field}");
        }
    }

    #[test]
    fn a_menu_has_what_was_given_even_if_it_is_not_known() {
        let menu = menu("set", "x", "odd", "all", [("a", "A"), ("b", "b")].into_iter()).into_string();
        assert!(menu.contains("<option value=\"odd\" selected>odd</option>"), "{menu}");
        assert!(menu.contains(">a – A<") && menu.contains(">b<"), "{menu}");
    }
}
