//! What no honest repository does. Memory, time and requests stay bounded, and nobody is asked whom only we can reach.

use std::time::{Duration, Instant};

use misbehave::Fault::*;
use misbehave::{Fault, Setting, When};
use stook_oai::Verb;

use super::{Case, always, cases};
use crate::support::difference;

cases! {
    f00_gzip_bomb: bounded(GzipBomb).settings(|_| {}).found("beyond-our-limits").stops("200 times its size", 80);
    f00_endless_body: bounded(EndlessBody).found("beyond-our-limits").stops("more than 2000000 bytes", 80);
    f00_endless_text: bounded(EndlessText).stops("nothing can be had", 80);
    f00_endless_headers: always(EndlessHeaders).found("no-answer").stops("headers", 1);
    f00_huge_header: always(HugeHeader).with(Setting::Size, 10 << 20).found("no-answer").stops("headers", 1);
    f00_slow_headers: always(SlowHeaders).settings(|source| source.read_timeout_seconds = 1)
        .found("timed-out").stops("after 1 second", 4);
    f00_length_too_short: always(LengthTooShort).found("truncated").stops("does not answer", 12);
    f00_not_http: always(NotHttp).stops("", 21);
    f00_entity_expansion: always(EntityExpansion).found("forbidden-content").stops("DOCTYPE", 3);
    f00_external_entity: always(ExternalEntity).found("forbidden-content").stops("DOCTYPE", 3);
    f00_doctype_only: always(DoctypeOnly).found("forbidden-content").stops("DOCTYPE", 3);
    f00_huge_token: always(HugeToken).found("token-too-long").run();
    f00_redirect_private: always(RedirectPrivate).found("no-answer").stops("inside this network", 1);
    f00_redirect_link_local: always(RedirectLinkLocal).found("no-answer").stops("inside this network", 1);
    /// The source itself is on this machine, so the redirect is followed; nobody is there.
    f00_redirect_loopback: always(RedirectLoopback).stops("does not answer", 21);
    f00_redirect_file: always(RedirectFile).found("no-answer").stops("no web address", 1);
    f00_redirect_private_behind_a_token: Case::of(RedirectPrivate)
        .when(When::always().on(Verb::ListRecords).page(3)).stops("inside this network", 13);
}

/// Every list is an attack, all else is as it should be.
fn bounded(fault: Fault) -> Case {
    let lists = |verb| When::always().on(verb);
    Case::of(fault)
        .when(lists(Verb::ListRecords))
        .when(lists(Verb::ListIdentifiers))
        .with(Setting::Size, 50 << 20)
        .settings(|source| {
            source.max_answer_megabytes = 2;
            source.max_record_megabytes = 1;
            source.answer_timeout_seconds = 2;
        })
}

/// An attack on one page costs that page its time, and the others come.
#[test]
fn one_page_that_never_ends_does_not_keep_the_others() {
    let started = Instant::now();
    let case = Case::of(EndlessBody).when(When::always().on(Verb::ListRecords).page(3).times(1));
    let bench = case.settings(|source| source.max_answer_megabytes = 2).bench();
    let report = bench.harvest();
    assert_eq!(difference(&bench.held(), &bench.expected()), "", "{report}");
    assert!(report.complete, "{report}");
    assert!(started.elapsed() < Duration::from_secs(20));
}
