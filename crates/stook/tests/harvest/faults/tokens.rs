//! Faults 35 to 48: lists and their tokens.

use misbehave::Fault::*;
use misbehave::{Setting, When};
use stook::harvest::Wanted;
use stook_oai::Verb;

use super::{Case, VICTIM, always, cases};
use crate::support::difference;

cases! {
    f35_token_for_ever: always(TokenForEver).found("token-loop").run();
    f35_first_page_again: always(FirstPageAgain).found("token-loop").run();
    f36_token_on_empty_last_page: always(TokenOnEmptyLastPage).found("no-records-at-the-end").run();
    f36_last_token_matches_nothing: always(LastTokenMatchesNothing).found("no-records-at-the-end").run();
    f37_empty_pages_between: always(EmptyPagesBetween).found("empty-page").run();
    f37_empty_pages_for_ever: always(EmptyPagesForEver).found("empty-pages").run();
    f38_empty_token_always: always(EmptyTokenAlways).run();
    f38_blank_token: always(BlankToken).run();
    f39_token_with_space: always(TokenWithSpace).run();
    f39_token_with_plus: always(TokenWithPlus).run();
    f39_token_with_punctuation: always(TokenWithPunctuation).run();
    /// The answer to a token was lost on the way, and the token is spent.
    f40_single_use_tokens: always(SingleUseTokens).also(TruncatedXml, third_page(1))
        .found("token-refused").found("list-begun-anew").run();
    f40_tokens_expire: always(TokensExpire).also(RetryAfterMissing, third_page(5))
        .found("token-refused").found("list-begun-anew").run();
    f40_tokens_never_work: always(TokensExpire).with(Setting::TokenLife, 0)
        .found("token-refused").found("window-halved").run();
    f41_expired_token_is_database_error: always(ExpiredTokenIsDatabaseError).also(RetryAfterMissing, third_page(5))
        .found("web-page").found("list-begun-anew").run();
    f41_every_token_is_a_database_error: always(ExpiredTokenIsDatabaseError).with(Setting::TokenLife, 0)
        .found("web-page").found("window-halved").run();
    f42_token_loses_set: always(TokenLosesSet).found("outside-the-set")
        .settings(|source| source.sets = vec!["maps".into()])
        .expecting(|held| held.retain(|_, record| record.set_specs.iter().any(|set| set.starts_with("maps"))))
        .run();
    f43_token_needs_prefix: always(TokenNeedsPrefix).learned(|quirks| quirks.token_with_prefix).run();
    f44_token_illegal: Case::of(TokenIllegal).when(third_page(1)).found("error-asked-again").run();
    f44_token_illegal_for_ever: always(TokenIllegal).found("window-halved").run();
    f45_list_size_too_large: always(ListSizeTooLarge).found("list-size")
        .learned(|quirks| quirks.wrong_list_size).run();
    f45_list_size_too_small: always(ListSizeTooSmall).found("list-size").run();
    f45_list_size_changes: always(ListSizeChanges).found("list-size")
        .learned(|quirks| quirks.wrong_list_size).run();
    f45_cursor_wrong: always(CursorWrong).run();
    f46_duplicates: always(Duplicates).run();
    f47_poison_record: always(PoisonRecord).found("window-halved").found("record-not-given")
        .quarantines(Some(VICTIM)).run();
    f47_poison_record_breaks_xml: always(PoisonRecordBreaksXml).found("window-halved").found("record-not-given")
        .quarantines(Some(VICTIM)).run();
    /// Also on the first page ever asked for, where it looks as if no list worked at all.
    f47_poison_record_on_the_first_page: Case::of(PoisonRecord).when(When::always().identifier(FIRST))
        .found("window-halved")
        .expecting(|held| { held.remove(FIRST); }).run();
    f48_short_list: Case::of(ShortList).when(When::always().on(Verb::ListRecords))
        .found("short-list").found("recovered").run();
    f48_short_list_of_identifiers_too: always(ShortList).found("short-list").found("recovered").run();
}

const FIRST: &str = "oai:misbehave.example.org:0";

fn third_page(times: u64) -> When {
    When::always().on(Verb::ListRecords).page(3).times(times)
}

/// The list goes on for longer than its tokens live.
#[test]
fn f40_tokens_expire_in_time() {
    let bench = always(TokensExpireInTime).bench();
    let late = std::sync::atomic::AtomicBool::new(false);
    let report = bench.harvest_watched(Wanted::default(), &|report| {
        if report.pages == 6 && !late.swap(true, std::sync::atomic::Ordering::SeqCst) {
            bench.endpoint.world().advance(std::time::Duration::from_secs(400));
        }
    });
    assert!(late.into_inner());
    assert!(report.found("list-begun-anew") > 0 && report.complete, "{report}");
    assert_eq!(difference(&bench.held(), &bench.expected()), "", "{report}");
}

/// Nothing tells that the list is short, except a comparison.
#[test]
fn f48_short_list_unmarked() {
    let bench = Case::of(ShortListUnmarked)
        .when(When::always().on(Verb::ListRecords))
        .bench();
    bench.harvest();
    assert_ne!(difference(&bench.held(), &bench.expected()), "");
    let report = bench.verify();
    assert!(report.found("mended") > 0 && report.complete, "{report}");
    assert_eq!(difference(&bench.held(), &bench.expected()), "", "{report}");
}

/// The poison is looked for with few requests: patience is for what passes.
#[test]
fn f47_poison_is_found_without_hammering() {
    let report = always(PoisonRecord).bench().harvest();
    assert!(report.requests < 250, "{report}");
}
