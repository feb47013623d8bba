//! Faults 22 to 34: what is in the bytes.

use misbehave::Fault::*;
use misbehave::{Setting, When};
use stook_oai::Verb;

use super::{Case, VICTIM, always, cases, edit, in_victim, inherits, one_record};
use crate::support::{Held, difference};

cases! {
    f22_control_characters: one_record(ControlCharacters).found("control-characters").run();
    f22_control_reference: one_record(ControlReference).found("forbidden-reference").run();
    f22_noncharacters: one_record(Noncharacters).found("control-characters").run();
    f23_invalid_utf_8: one_record(InvalidUtf8).found("invalid-utf8")
        .expecting(|held| in_title(held, "\u{FFFD}\u{FFFD} ")).run();
    f23_split_characters: always(SplitCharacters).run();
    f24_latin_1_undeclared: always(Latin1Undeclared).found("wrong-encoding")
        .expecting(|held| each(held, |text| referenced(text, ""))).run();
    f24_windows_1252_undeclared: always(Windows1252Undeclared).found("wrong-encoding")
        .expecting(|held| each(held, |text| {
            referenced(&text.replace("<dc:title>", "<dc:title>“5 €” "), "“”€")
        })).run();
    f24_utf_16_undeclared: always(Utf16Undeclared).found("other-encoding").run();
    f24_utf_16_without_mark: always(Utf16WithoutMark).found("other-encoding").run();
    f25_charset_missing: always(CharsetMissing).run();
    f25_charset_wrong: always(CharsetWrong).found("wrong-charset").run();
    f25_charset_contradicts: always(CharsetContradicts).found("wrong-charset").found("other-encoding")
        .expecting(|held| each(held, |text| referenced(text, ""))).run();
    f26_bare_ampersand: one_record(BareAmpersand).found("bare-ampersand")
        .expecting(|held| in_title(held, "Salt &amp; pepper ")).run();
    f26_bare_less_than: one_record(BareLessThan).found("quarantined-records").quarantines(Some(VICTIM)).run();
    f26_unescaped_quote: one_record(UnescapedQuote).found("quarantined-records").quarantines(Some(VICTIM)).run();
    /// What is broken in a list may be whole on its own.
    f26_bare_less_than_in_lists_only: Case::of(BareLessThan)
        .when(When::always().on(Verb::ListRecords).identifier(VICTIM)).found("rescued").run();
    f27_surrogate_reference: one_record(SurrogateReference).found("surrogate-reference")
        .expecting(|held| in_title(held, "😀")).run();
    f28_declaration_in_record: always(DeclarationInRecord).found("nested-declaration").run();
    f28_declaration_missing: always(DeclarationMissing).run();
    f28_space_before_declaration: always(SpaceBeforeDeclaration).found("nested-declaration").run();
    f29_notice_after_root: always(NoticeAfterRoot).found("trailing-content").run();
    f29_html_after_root: always(HtmlAfterRoot).found("trailing-content").run();
    f29_notice_before_root: always(NoticeBeforeRoot).found("leading-content").run();
    f30_prefixed_envelope: always(PrefixedEnvelope).run();
    f31_namespaces_on_record: always(NamespacesOnRecord).run();
    f31_namespaces_on_root: always(NamespacesOnRoot).run();
    f31_wrong_namespace: always(WrongNamespace).found("foreign-namespace").run();
    f31_missing_namespace: always(MissingNamespace).found("missing-namespace").run();
    f32_schema_location_space: always(SchemaLocationSpace).expecting(|held| each(held, spaced)).run();
    f33_deep_nesting: one_record(DeepNesting).with(Setting::Depth, 1_000).found("quarantined-records")
        .quarantines(Some(VICTIM)).run();
    f33_deep_nesting_within_the_limit: one_record(DeepNesting).with(Setting::Depth, 100).expecting(|held| {
        inherits(held);
        in_description(held, &format!("{}{}", "<b>".repeat(100), "</b>".repeat(100)));
    }).run();
    f33_large_record: one_record(LargeRecord).with(Setting::Size, 2 << 20)
        .expecting(|held| in_description(held, &"x".repeat(2 << 20))).run();
    f33_large_record_beyond_the_limit: one_record(LargeRecord).with(Setting::Size, 3 << 20)
        .settings(|source| source.max_record_megabytes = 1).found("quarantined-records")
        .quarantines(Some(VICTIM)).run();
    f34_two_documents: always(TwoDocuments).found("trailing-content").run();
    f34_error_without_code: always(ErrorWithoutCode).found("unknown-error-code").run();
}

fn each(held: &mut Held, change: impl Fn(&str) -> String) {
    for record in held.values_mut() {
        edit(record, &change);
    }
}

fn in_title(held: &mut Held, text: &str) {
    in_victim(held, "<dc:title>", &format!("<dc:title>{text}"));
}

fn in_description(held: &mut Held, text: &str) {
    in_victim(held, "<dc:description>", &format!("<dc:description>{text}"));
}

/// What does not fit into one byte comes as a reference, which is what the source sent.
fn referenced(text: &str, but: &str) -> String {
    let reference = |character: char| {
        if u32::from(character) > 0xFF && !but.contains(character) {
            format!("&#{};", u32::from(character))
        } else {
            character.to_string()
        }
    };
    text.chars().map(reference).collect()
}

fn spaced(text: &str) -> String {
    text.replace("schemaLocation=\"", "schemaLocation=\"\n\t\t  ").replace(
        " http://www.openarchives.org/OAI/2.0/o",
        "\n\t\t\r\n  http://www.openarchives.org/OAI/2.0/o",
    )
}

#[test]
fn strict_mode_refuses_what_is_tolerated_otherwise() {
    for fault in [ControlCharacters, InvalidUtf8, BareAmpersand, SurrogateReference] {
        let bench = one_record(fault).settings(|source| source.strict = true).bench();
        let report = bench.harvest();
        assert!(!bench.held().contains_key(VICTIM), "{fault}\n{report}");
    }
    for fault in [WrongNamespace, NoticeAfterRoot, GzipUndeclared, CharsetContradicts] {
        let bench = always(fault).settings(|source| source.strict = true).bench();
        let report = bench.harvest();
        assert!(bench.held().is_empty() && !report.complete, "{fault}\n{report}");
        assert!(report.stopped.is_some(), "{fault}\n{report}");
    }
}

#[test]
fn strict_mode_harvests_what_is_right() {
    let bench = always(SplitCharacters).settings(|source| source.strict = true).bench();
    let report = bench.harvest();
    assert_eq!(difference(&bench.held(), &bench.expected()), "", "{report}");
    assert!(report.complete && report.findings.is_empty(), "{report}");
}
