//! Faults 1 to 21: what happens between the two machines.

use misbehave::Fault::*;
use misbehave::{Endpoint, Script, Setting, When, World};
use stook_oai::Verb;

use super::{Case, always, cases, passing};
use crate::support::{Bench, NOW, difference};

cases! {
    f01_retry_after_seconds: passing(RetryAfterSeconds, 1).found("http-503").run();
    f01_retry_after_date: passing(RetryAfterDate, 1).found("http-503").run();
    f01_retry_after_absurd: on_lists(RetryAfterAbsurd).found("http-503").stops("asks to be left alone", 7);
    f01_retry_after_nonsense: passing(RetryAfterNonsense, 3).found("http-503").run();
    f01_retry_after_missing: passing(RetryAfterMissing, 3).found("http-503").run();
    /// At once is not at once: never spin.
    f01_retry_after_zero_for_ever: always(RetryAfterSeconds).with(Setting::RetryAfterSeconds, 0)
        .stops("does not answer", 21);
    f01_retry_after_missing_for_ever: always(RetryAfterMissing).stops("does not answer", 21);
    f01_retry_after_beyond_the_longest_wait: on_lists(RetryAfterSeconds).with(Setting::RetryAfterSeconds, 3_600)
        .stops("left alone for", 7);
    f02_too_many_requests: passing(TooManyRequests, 1).found("http-429").run();
    f02_too_many_requests_bare: passing(TooManyRequestsBare, 3).found("http-429").run();
    f03_status_500: passing(InternalServerError, 3).found("http-5xx").run();
    f03_status_502: passing(BadGateway, 3).found("http-5xx").run();
    f03_status_504: passing(GatewayTimeout, 3).found("http-5xx").run();
    f03_status_500_for_ever: always(InternalServerError).stops("does not answer", 21);
    f03_only_identify_fails: Case::of(InternalServerError).when(When::always().on(Verb::Identify))
        .found("identify-failed").run();
    f04_status_404: passing(NotFound, 2).found("http-404").run();
    f04_status_404_for_ever: always(NotFound).stops("HTTP 404", 4);
    f05_status_422_with_answer: always(Status422WithAnswer).found("answer-with-http-error").run();
    f05_status_422_for_nothing: always(Status422ForNothing).found("answer-with-http-error").run();
    f05_status_400_with_errors: always(Status400WithErrors).found("answer-with-http-error").run();
    f06_too_many_records: always(TooManyRecords).with(Setting::Limit, 20)
        .found("too-much-at-once").found("window-halved").run();
    f06_too_many_records_html: always(TooManyRecordsHtml).with(Setting::Limit, 20)
        .found("web-page").found("window-halved").run();
    f07_empty_body: passing(EmptyBody, 2).found("empty-answer").run();
    f07_empty_body_behind_a_token: Case::of(EmptyBody).when(When::always().on(Verb::ListRecords).page(3).times(4))
        .found("list-begun-anew").run();
    f07_empty_body_for_ever: always(EmptyBody).stops("does not answer", 12);
    f08_html_login: always(HtmlLogin).found("web-page").stops("Sign in", 1);
    f08_html_maintenance: always(HtmlMaintenance).found("web-page").stops("We are back on Monday", 1);
    f08_html_challenge: always(HtmlChallenge).found("web-page").stops("Just a moment", 1);
    f08_html_maintenance_behind_a_token: on_page(HtmlMaintenance, 3, 1).found("list-begun-anew").run();
    f08_html_login_behind_a_token: Case::of(HtmlLogin).when(When::always().on(Verb::ListRecords).page(3))
        .stops("Sign in", 13);
    f09_truncated_xml: passing(TruncatedXml, 2).found("truncated").run();
    f09_unexpected_end: always(UnexpectedEnd).found("unexpected-end").run();
    f09_unfinished_chunks: passing(UnfinishedChunks, 2).found("truncated").run();
    f09_truncated_page_for_ever: Case::of(TruncatedXml).when(When::always().on(Verb::ListRecords).page(3))
        .found("list-begun-anew").found("window-halved").run();
    f10_reset_at_once: passing(ResetAtOnce, 3).found("connection-failed").run();
    f10_reset_in_body: passing(ResetInBody, 2).found("truncated").run();
    f10_trickle: on_page(Trickle, 3, 1).settings(|source| source.answer_timeout_seconds = 1)
        .found("timed-out").run();
    f10_stall: on_page(Stall, 3, 1).settings(|source| source.read_timeout_seconds = 1).found("timed-out").run();
    f10_silent_server: on_page(SilentServer, 3, 1).settings(|source| source.read_timeout_seconds = 1)
        .found("timed-out").run();
    f10_silent_server_for_ever: always(SilentServer).settings(|source| source.read_timeout_seconds = 1)
        .stops("after 1 second", 4);
    f11_gzip_undeclared: always(GzipUndeclared).found("gzip-undeclared").run();
    f11_gzip_declared_only: always(GzipDeclaredOnly).found("gzip-declared-only").run();
    f11_gzip_truncated: passing(GzipTruncated, 2).found("truncated").run();
    f11_gzip_as_it_should_be: always(SplitCharacters).with(Setting::Gzip, 1).run();
    f12_redirect_other_host: always(RedirectOtherHost).found("redirected").run();
    f12_redirect_without_query: always(RedirectWithoutQuery).found("redirected").run();
    f12_redirect_relative: always(RedirectRelative).found("redirected").run();
    f12_redirect_https: always(RedirectHttps).found("no-answer").stops("secure connection failed", 1);
    f12_redirect_post: never_seen(always(RedirectPost));
    f12_redirect_loop: always(RedirectLoop).found("no-answer").stops("more than 5 redirects", 1);
    f12_redirect_without_location: always(RedirectWithoutLocation).stops("does not say where to", 1);
    f13_bot_challenge: always(BotChallenge).found("http-403").stops("HTTP 403", 1);
    f14_user_agent_required: always(UserAgentRequired).run();
    f14_user_agent_contact: always(UserAgentContact).run();
    f16_verb_first: always(VerbFirst).run();
    f17_no_percent_encoding: always(NoPercentEncoding).found("learned")
        .learned(|quirks| quirks.verbatim)
        .settings(|source| source.sets = vec!["maps:city".into()])
        .expecting(|held| held.retain(|_, record| record.set_specs.iter().any(|set| set == "maps:city")))
        .run();
    f18_empty_set_crashes: always(EmptySetCrashes).run();
    f19_base_url_with_query: always(BaseUrlWithQuery).run();
    f20_prefix_beside_token_crashes: always(PrefixBesideTokenCrashes).run();
    f21_slow_answer: always(SlowAnswer).run();
    f21_huge_page: always(HugePage).with(Setting::Size, 3 << 20).run();
}

/// From the third page on, without end.
fn on_lists(fault: misbehave::Fault) -> Case {
    Case::of(fault).when(When::always().on(Verb::ListRecords).page(3))
}

fn on_page(fault: misbehave::Fault, page: u64, times: u64) -> Case {
    Case::of(fault).when(When::always().on(Verb::ListRecords).page(page).times(times))
}

/// We never send a POST, so a source that redirects it behaves.
fn never_seen(case: Case) {
    let bench = case.bench();
    case.run();
    bench.harvest();
    assert!(bench.endpoint.requests().iter().all(|asked| asked.method == "GET"));
}

#[test]
fn f15_tls_too_old() {
    always(TlsTooOld).stops("secure connection failed", 1);
    // Even who accepts bad certificates is told so in every report.
    let case = always(TlsTooOld).settings(|source| source.accept_bad_certificates = true);
    let report = case.bench().harvest();
    assert!(report.stopped.unwrap().contains("secure connection failed"));
    assert_eq!(report.findings["bad-certificates-accepted"].count, 1);
}

#[test]
fn f06_a_day_that_is_too_much_is_sliced_by_set() {
    let world = World::of(40).all_stamped(NOW - 86_400).at(NOW);
    let script = Script::new().page_size(7).with(Setting::Limit, 30);
    let bench = Bench::new(world, script.fault(TooManyRecords, When::always()));
    let report = bench.harvest();
    assert!(report.found("sliced-by-set") > 0, "{report}");
    let mut in_sets = bench.expected();
    in_sets.retain(|_, record| !record.set_specs.is_empty());
    assert_eq!(difference(&bench.held(), &in_sets), "", "{report}");
    // What is in no set cannot be had, and that is said and not forgotten.
    assert!(!report.complete && report.found("gap") > 0, "{report}");
    bench.endpoint.set_script(Script::new().page_size(7));
    let report = bench.harvest();
    assert_eq!(difference(&bench.held(), &bench.expected()), "", "{report}");
    assert!(report.complete, "{report}");
}

#[test]
fn f14_every_request_says_who_asks() {
    let bench = always(UserAgentContact).bench();
    bench.harvest();
    for asked in bench.endpoint.requests() {
        let agent = asked.header("User-Agent").unwrap();
        assert!(
            agent.starts_with("stook/") && agent.contains("harvest@example.org"),
            "{agent}"
        );
        assert_eq!(asked.header("From"), Some("harvest@example.org"));
    }
}

#[test]
fn f18_nothing_empty_is_ever_sent() {
    let bench = always(EmptySetCrashes).bench();
    bench.harvest();
    bench.harvest();
    let requests = bench.endpoint.requests();
    assert!(
        requests
            .iter()
            .all(|asked| !asked.query.split('&').any(|pair| pair.ends_with('=')))
    );
}

#[test]
fn a_source_that_is_not_there_is_said_not_to_answer() {
    let endpoint = Endpoint::start(World::of(1), Script::new()).unwrap();
    let url = endpoint.url();
    drop(endpoint);
    let mut bench = Bench::new(World::of(1), Script::new());
    bench.settings.url = url;
    let report = bench.harvest();
    assert!(report.stopped.unwrap().contains("does not answer"));
}
