//! Endpoints whose answers are wrong around what they say.

use misbehave::{Fault, Given, Heard, Script, When};
use stook::validate::table::Severity;
use stook_oai::Verb;

use crate::harness::{Case, case, hold};

/// A request whose answer is an error, and that only one check asks for.
const SELDOM: &str = "verb=Identify&nonsense=1";

fn answering(
    query: &'static str,
    bend: impl Fn(&mut Given) + Send + Sync + 'static,
) -> impl Fn(&Heard<'_>, &mut Given) + Send + Sync + 'static {
    move |heard, given| {
        if heard.query == query {
            bend(given);
        }
    }
}

fn by_script(id: &'static str, fault: Fault, when: When) -> Case {
    case(id, |_, _| {}).by(Script::new().page_size(20).fault(fault, when))
}

pub fn cases() -> Vec<Case> {
    let mut cases = documents();
    cases.extend(dates());
    cases.extend(requests());
    cases.extend(contents());
    cases
}

fn documents() -> Vec<Case> {
    let identify = || When::always().on(Verb::Identify);
    vec![
        case("X-1", answering(SELDOM, |given| given.replace("</error>", ""))).with_severity(Severity::Error),
        case("X-1", answering(SELDOM, |given| given.body.truncate(200))).with_severity(Severity::Error),
        case("X-1", answering(SELDOM, |given| given.body.clear())).with_severity(Severity::Error),
        case(
            "X-1",
            answering("verb=Identify", |given| given.replace("</repositoryName>", "")),
        )
        .with_severity(Severity::Fatal),
        by_script("X-2", Fault::DeclarationMissing, identify()).with_severity(Severity::Error),
        by_script("X-2", Fault::SpaceBeforeDeclaration, When::always()).with_severity(Severity::Error),
        case("X-2", |_, given| {
            given.replace_first("encoding=\"UTF-8\"", "encoding=\"ISO-8859-1\"");
        })
        .with_severity(Severity::Error),
        case("X-2", |_, given| {
            given.body.splice(..0, *b"\xEF\xBB\xBF");
        })
        .with_severity(Severity::Warn),
        case(
            "X-3",
            answering(SELDOM, |given| given.replace("</error>", "\u{1}&#x2;</error>")),
        ),
        case(
            "X-3",
            answering(SELDOM, |given| {
                let at = given.text().find("</error>").unwrap();
                given.body.insert(at, 0xE9);
            }),
        ),
        case(
            "X-4",
            answering(SELDOM, |given| given.replace("<OAI-PMH", "<!DOCTYPE OAI-PMH><OAI-PMH")),
        ),
        case(
            "X-4",
            answering(SELDOM, |given| given.replace("</error>", "&nbsp;</error>")),
        ),
        by_script("X-5", Fault::WrongNamespace, identify()).with_severity(Severity::Fatal),
        case("X-5", answering(SELDOM, |given| given.replace("OAI-PMH", "OAI"))).with_severity(Severity::Error),
        case("X-6", |_, given| given.replace("OAI-PMH.xsd", "oai.xsd")).with_severity(Severity::Error),
        case("X-6", |_, given| {
            given.replace_first(" xsi:schemaLocation=", " xsi:noNamespaceSchemaLocation=")
        }),
        case("X-6", |_, given| {
            given.replace(
                "http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd",
                "https://www.openarchives.org/OAI/2.0/OAI-PMH.xsd",
            );
        })
        .with_severity(Severity::Warn),
        case("X-7", |_, given| given.replace("<header>", "<header kind=\"x\">")),
        case("X-7", |_, given| given.replace("</set>", "<setSize>3</setSize></set>")),
    ]
}

fn dates() -> Vec<Case> {
    let date = |given: &mut Given, date: &str| given.replace_between("<responseDate>", "</responseDate>", date);
    let now = |shift: i64| {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() as i64;
        stook_oai::Datestamp::from_unix(now + shift).unwrap().to_string()
    };
    vec![
        case("X-8", answering(SELDOM, move |given| date(given, "2024-05-31"))),
        case(
            "X-8",
            answering(SELDOM, move |given| date(given, "2024-02-30T00:00:00Z")),
        ),
        by_script("X-8", Fault::ResponseDateMissing, When::always().on(Verb::ListSets)),
        by_script("X-8", Fault::ResponseDateOffset, When::always().on(Verb::Identify)),
        case("X-9", answering(SELDOM, move |given| date(given, &now(-7200)))).with_severity(Severity::Warn),
        case("X-9", answering(SELDOM, move |given| date(given, &now(200_000)))).with_severity(Severity::Error),
    ]
}

fn requests() -> Vec<Case> {
    let post_record = |heard: &Heard<'_>| heard.method == "POST" && heard.is("GetRecord");
    let not_there = |heard: &Heard<'_>| {
        heard
            .argument("identifier")
            .is_some_and(|identifier| identifier.contains("a&b"))
    };
    vec![
        case(
            "X-10",
            answering(SELDOM, |given| given.replace("</request>", "/</request>")),
        ),
        case(
            "X-10",
            answering(SELDOM, |given| {
                let text = given.text();
                let (start, rest) = text.split_once("<request").unwrap();
                let (_, end) = rest.split_once("</request>").unwrap();
                given.body = format!("{start}{end}").into_bytes();
            }),
        ),
        case("X-11", |heard, given| {
            if heard.is("ListSets") && !given.text().contains("<error") {
                given.replace_first("<request ", "<request submit=\"Go\" ");
            }
        }),
        case("X-11", |heard, given| {
            if heard.is("ListRecords") {
                given.replace_first(" metadataPrefix=\"oai_dc\"", "");
            }
        })
        .also(&["X-13"]),
        case("X-11", move |heard, given| {
            if post_record(heard) {
                given.replace_between("<request", ">", "");
            }
        }),
        case(
            "X-12",
            answering(SELDOM, |given| {
                given.replace("<request>", "<request verb=\"Identify\">")
            }),
        ),
        case("X-13", |heard, given| {
            if heard.is("GetRecord") && given.text().contains("idDoesNotExist") {
                given.replace_between("<request", ">", "");
            }
        })
        .with_severity(Severity::Warn),
        case("X-17", move |heard, given| {
            if not_there(heard) {
                given.replace("&amp;b", "&b");
            }
        }),
        case("X-17", move |heard, given| {
            if not_there(heard) {
                given.replace("&amp;b", "&amp;amp;b");
            }
        }),
    ]
}

fn contents() -> Vec<Case> {
    vec![
        case(
            "X-14",
            answering(SELDOM, |given| given.replace("</OAI-PMH>", "<Identify/></OAI-PMH>")),
        ),
        case(
            "X-14",
            answering(SELDOM, |given| given.replace("</OAI-PMH>", "<warning/></OAI-PMH>")),
        ),
        // Two faults are told, so one of them may be told strangely.
        case("X-15", |heard, given| {
            if heard.argument("nonsense").is_some() && heard.argument("from").is_some() {
                given.replace_first("code=\"badArgument\"", "code=\"internalError\"");
            }
        }),
        case("X-15", |heard, given| {
            if heard.argument("nonsense").is_some() && heard.argument("from").is_some() {
                given.replace_first("code=\"badArgument\"", "code=\"idDoesNotExist\"");
            }
        }),
        case("X-16", |_, given| {
            given.replace_between("<error code=\"badVerb\">", "</error>", "")
        })
        .with_severity(Severity::Rec),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
