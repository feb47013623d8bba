//! Endpoints that answer POST in another way than GET.

use misbehave::{Given, Heard};

use crate::harness::{Case, case, hold};

/// Bends answers to POST.
fn posting(
    wanted: impl Fn(&Heard<'_>) -> bool + Send + Sync + 'static,
    bend: impl Fn(&mut Given) + Send + Sync + 'static,
) -> impl Fn(&Heard<'_>, &mut Given) + Send + Sync + 'static {
    move |heard, given| {
        if heard.method == "POST" && wanted(heard) {
            bend(given);
        }
    }
}

fn has_type(heard: &Heard<'_>, media_type: &str) -> bool {
    heard
        .header("Content-Type")
        .is_some_and(|given| given.contains(media_type))
}

fn refuse(given: &mut Given) {
    given.status = 405;
    given.body = b"Use GET.".to_vec();
}

fn fail(given: &mut Given) {
    given.status = 500;
}

pub fn cases() -> Vec<Case> {
    vec![
        case("P-1", posting(|_| true, refuse)),
        case(
            "P-1",
            posting(
                |heard| heard.query == "verb=Identify",
                |given| given.replace("Misbehaving", "Behaving"),
            ),
        ),
        case(
            "P-2",
            posting(
                |heard| heard.is("GetRecord"),
                |given| {
                    if !given.text().contains("badArgument") {
                        given.answer_error("idDoesNotExist");
                    }
                },
            ),
        ),
        case(
            "P-3",
            posting(
                |heard| heard.argument("resumptionToken").is_some(),
                |given| {
                    given.answer_error("badResumptionToken");
                },
            ),
        ),
        case(
            "P-3",
            posting(
                |heard| heard.is("ListRecords"),
                |given| given.replace_first("<record>", "<record >"),
            ),
        ),
        case(
            "P-4",
            posting(
                |heard| has_type(heard, "charset=UTF-8"),
                |given| given.answer_error("badVerb"),
            ),
        ),
        case("P-5", posting(|heard| has_type(heard, "json"), fail)),
        case(
            "P-5",
            posting(
                |heard| heard.query.is_empty(),
                |given| {
                    given.set_header("Content-Type", "text/html");
                    given.body = b"<html/>".to_vec();
                },
            ),
        ),
        case("P-6", posting(|heard| heard.query.matches("verb=").count() == 2, fail)),
        case(
            "P-7",
            posting(
                |heard| heard.query == "verb=junk",
                |given| given.answer_error("badArgument"),
            ),
        ),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
