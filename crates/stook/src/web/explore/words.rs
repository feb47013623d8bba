//! Every text of the explorer, in one place: another language is another table.
//!
//! `{}` stands where a value goes, see [`with`].

/// Declares the texts once: the struct, and the English table.
macro_rules! words {
    ($($name:ident: $text:literal;)*) => {
        /// The texts of the explorer in one language.
        pub(super) struct Words { $(pub(super) $name: &'static str,)* }

        /// The texts in use.
        pub(super) const W: Words = Words { $($name: $text,)* };
    };
}

words! {
    lang: "en";
    title: "Explore";
    skip: "Skip to the content";
    you_are_here: "You are here";
    home: "Home";
    footer: "Explored with Stook {}.";

    // The first page.
    start_title: "Explore a repository";
    start_lead: "See what a repository says, in words as well as in XML; follow its lists; test whether it keeps to the protocol.";
    own_title: "Repositories served here";
    own_closed: "asks for credentials";
    other_title: "Any other repository";
    other_label: "Its base URL";
    other_hint: "Such as https://example.org/oai, without a verb.";
    other_go: "Explore";

    // What a repository is.
    identify_again: "Identify as an answer";
    base_url: "Base URL";
    contact: "Contact";
    earliest: "Records since";
    granularity: "Dates precise to";
    granularity_day: "the day";
    granularity_second: "the second";
    deleted: "Deletions";
    deleted_persistent: "kept for ever";
    deleted_transient: "kept for a while";
    deleted_no: "not told";
    protocol: "Protocol version";
    compression: "Compression";
    formats: "Formats";
    sets: "Sets";
    no_sets: "none";
    not_told: "not told";
    first_so_many: "{} or more";
    descriptions: "What it says of itself";
    more_sets: "These are the first {} sets.";
    all_sets: "ListSets has more.";

    // Tables.
    prefix: "metadataPrefix";
    namespace: "Namespace";
    schema: "Schema";
    set_spec: "setSpec";
    set_name: "Name";
    set_description: "Description";
    identifier: "Identifier";
    datestamp: "Datestamp";
    in_sets: "Sets";
    status: "Status";
    is_deleted: "deleted";
    field: "Field";
    value: "Value";

    // Asking.
    ask_title: "Ask it";
    ask: "Ask";
    verbs: "Verbs";
    change: "Change the request";
    optional: "optional";
    any_set: "all sets";
    any_format: "choose a format";
    from: "From (UTC)";
    until: "Until (UTC)";
    verb_identify: "What the repository is and how it works.";
    verb_formats: "The formats of the repository, or of one item.";
    verb_sets: "The sets that records belong to.";
    verb_identifiers: "Headers of records: identifier, datestamp, sets.";
    verb_records: "Records with their metadata.";
    verb_record: "One record in one format.";

    // The request.
    request_title: "The request";
    as_url: "As a URL";
    as_curl: "As a command";
    copy_hint: "Click or tab into a field and copy.";

    // Answers.
    answer_title: "The answer";
    views: "Views of the answer";
    show_parsed: "Readable";
    show_xml: "XML";
    show_http: "HTTP";
    response_date: "Answered at";
    entries: "{} on this page";
    of_size: "of {} in the whole list";
    from_cursor: "after {} on pages before";
    next: "Next page";
    token: "Resumption token";
    token_expires: "Valid until";
    token_none: "This is the end of the list.";
    single_list: "This is the whole list.";
    open_record: "Open this record";
    formats_of_item: "Formats of this item";
    in_format: "In {}";
    metadata: "Metadata";
    about: "About the record";
    no_metadata: "There is no metadata in this record.";
    deleted_record: "This record is deleted: only its header is left.";
    cut_rows: "{} more fields are not shown here.";
    cut_records: "{} more entries are not shown here.";
    cut_text: " … (cut, {} characters in all)";
    whole_answer: "The whole answer as text";
    cut_xml: "This is the beginning, {} of {}.";
    indented: "Indented for reading.";

    // HTTP.
    http_status: "Status";
    http_size: "Size";
    http_travelled: "{} as it travelled, {} unpacked";
    http_time: "Time";
    http_first_byte: "{} to the first byte, {} altogether";
    http_in_process: "Answered within this server in {}: no network was used.";
    http_headers: "Headers";
    http_name: "Name";
    http_hops: "On the way";
    http_hop: "{}: HTTP {}";
    http_no_answer: "No answer came over HTTP.";

    // Trouble.
    try_this: "Try:";
    check_link: "What the protocol says: check {}";
    says: "The repository says: ";
    errors_title: "The repository refused the request";
    flaws_title: "There are faults in the XML";
    none_title: "There is no answer";
    not_oai_title: "This is not an answer of OAI-PMH";
    incomplete_title: "The answer is not complete";

    // Testing.
    test_title: "Test it";
    test_lead: "Asks everything the protocol lets one ask, up to {} requests, and shows what is wrong as it is found. Nothing is changed.";
    test_go: "Test this repository";
    run_title: "Test of {}";
    run_lead: "Findings appear as they are made. Leaving this page stops the test.";
    run_first: "Getting to know the repository";
    run_running: "The test is running.";
    run_asked: "asked";
    run_no_arguments: "(without arguments)";
    run_came: "came";
    run_line: "line {} of the answer";
    run_mend: "mend";
    run_done: "What came of it";
    run_clean: "Nothing is wrong.";
    run_nothing: "There was no repository to test.";
    run_early: "The test ended early: {}.";
    run_counts: "Checks: {} held, {} broken, {} did not apply, {} not made.";
    run_requests: "{} requests in {} seconds.";
    run_again: "Test again";
    run_back: "Back to the repository";
    run_failed: "The test could not begin: {}";

    // Refusals.
    refused_title: "This cannot be explored";
    unknown_repository: "There is no repository of this name here.";
    only_own: "Only repositories of this server can be explored here; its operator can allow others.";
    needs_credentials: "This repository asks for credentials.";
    not_for_you: "This repository is not open to your address.";
    bad_url: "That is not a base URL: {}";
    busy_title: "One moment, please";
    busy: "Too much is being asked here just now. Please try again in {} seconds.";
    busy_client: "You have asked other repositories as often as is allowed here. Please try again in {} seconds.";
    busy_own_run: "A test of yours is running already. Please wait until it has ended, or close its page.";
    busy_runs: "As many tests are running as this server allows. Please try again in a minute.";
    no_runs: "Tests are not allowed here; try the command: stook validate {}";
    run_closed: "This repository is not open to the server itself, so it cannot be tested from here. Try the command: stook validate {}";
    cross_site: "A test can only be started from the pages of this server.";
    store_broken: "This server cannot read its store; its operator finds the reason in the log.";
    store_failed: "The store of this repository cannot be read just now. Please try again in a minute.";
}

/// A text with values in the places of `{}`, from left to right.
pub(super) fn with(text: &str, values: &[&str]) -> String {
    let mut filled = String::new();
    let mut values = values.iter();
    for (at, piece) in text.split("{}").enumerate() {
        if at > 0 {
            filled.push_str(values.next().copied().unwrap_or_default());
        }
        filled.push_str(piece);
    }
    filled
}

/// What went wrong, in words, and what to do.
pub(super) struct Remedy {
    /// What it is called: an error code, or a kind of failure.
    pub(super) code: &'static str,
    pub(super) means: &'static str,
    pub(super) attempt: &'static str,
    /// The check of the validator that is about it; empty for none.
    pub(super) check: &'static str,
}

const fn remedy(code: &'static str, means: &'static str, attempt: &'static str, check: &'static str) -> Remedy {
    Remedy {
        code,
        means,
        attempt,
        check,
    }
}

/// The errors of the protocol.
pub(super) const ERRORS: &[Remedy] = &[
    remedy(
        "badVerb",
        "The verb is missing, unknown, or given twice.",
        "one of the six verbs; upper and lower case count.",
        "E-3",
    ),
    remedy(
        "badArgument",
        "An argument is missing, is not one of this verb, is given twice, or has a value that cannot be read.",
        "fill in every field that is not optional, and dates as precise as the repository names them.",
        "E-8",
    ),
    remedy(
        "badResumptionToken",
        "The resumption token has expired, or was not given out by this repository for this verb.",
        "begin the list anew, without the token.",
        "F-16",
    ),
    remedy(
        "cannotDisseminateFormat",
        "The repository, or this item, does not have this format.",
        "one of the formats that ListMetadataFormats tells, with the identifier for those of one item.",
        "G-7",
    ),
    remedy(
        "idDoesNotExist",
        "There is no item of this identifier.",
        "copy the identifier from ListIdentifiers; every character counts.",
        "G-8",
    ),
    remedy(
        "noRecordsMatch",
        "Nothing was changed in this time, set and format. It is no fault.",
        "a longer time, another set, or no limits at all.",
        "D-7",
    ),
    remedy(
        "noMetadataFormats",
        "There are no formats for this item.",
        "another item; this one may be deleted.",
        "M-11",
    ),
    remedy(
        "noSetHierarchy",
        "This repository has no sets. It is no fault.",
        "the same without a set.",
        "S-1",
    ),
];

/// For a code that the protocol does not know.
pub(super) const UNKNOWN_ERROR: Remedy = remedy(
    "",
    "This is none of the eight error codes of the protocol, so harvesters do not know what to do.",
    "ask the operator of the repository.",
    "X-15",
);

/// Why there is no answer, in the order of its kinds.
pub(super) const TIMED_OUT: Remedy = remedy(
    "time is up",
    "The repository did not answer in time.",
    "again in a while; a smaller list (a set, a shorter time) is answered faster.",
    "H-4",
);
pub(super) const INSECURE: Remedy = remedy(
    "TLS",
    "No secure connection could be made: the certificate is wrong, has expired, or its chain is not complete.",
    "tell the operator of the repository; they can see it with any tester of TLS.",
    "H-9",
);
pub(super) const FAILED: Remedy = remedy(
    "connection",
    "The server of the repository could not be reached.",
    "look for a slip in the URL; if it is right, the repository may be down.",
    "",
);
pub(super) const LOST: Remedy = remedy(
    "redirect",
    "The repository sends us elsewhere, and that leads nowhere.",
    "the URL it moved to, if you know it.",
    "H-6",
);
pub(super) const FORBIDDEN: Remedy = remedy(
    "not allowed",
    "The URL leads to an address inside the network of this server, where it does not ask for strangers.",
    "a URL that anybody can reach. (The operator of this server can allow it: explore_private.)",
    "",
);
pub(super) const POSTPONED: Remedy = remedy(
    "come back later",
    "The repository is busy and asks to come back later.",
    "again after the time it names.",
    "H-5",
);
pub(super) const HTTP_ACCESS: Remedy = remedy(
    "HTTP",
    "The repository is open only to those who are known to it.",
    "ask its operator for access, and use the command below with the credentials you get.",
    "H-1",
);
pub(super) const HTTP_MISSING: Remedy = remedy(
    "HTTP",
    "There is nothing at this URL.",
    "look for a slip in the URL; many repositories end in /oai, /oai2 or /oai/request.",
    "H-1",
);
pub(super) const HTTP_BROKEN: Remedy = remedy(
    "HTTP",
    "The repository failed at this request.",
    "tell its operator the request; even wrong requests must be answered with an error of the protocol.",
    "H-1",
);
pub(super) const HTTP_OTHER: Remedy = remedy(
    "HTTP",
    "The repository answered with an HTTP status that OAI-PMH does not use.",
    "look at the HTTP view for what it says.",
    "H-1",
);
pub(super) const WEB_PAGE: Remedy = remedy(
    "web page",
    "What came is a web page, not XML.",
    "the base URL of the repository's OAI-PMH interface, often linked from its pages for harvesters.",
    "H-2",
);
pub(super) const NOT_OAI: Remedy = remedy(
    "other XML",
    "What came is not a document of OAI-PMH 2.0.",
    "look at the XML view; the base URL may be that of another service.",
    "X-5",
);

/// Faults of the XML itself.
pub(super) const FLAW_EMPTY: (&str, &str) = ("The answer is empty.", "H-12");
pub(super) const FLAW_UTF8: (&str, &str) = ("There are bytes that are no UTF-8, the first at byte {}.", "X-3");
pub(super) const FLAW_BOM: (&str, &str) = ("It begins with a byte order mark.", "X-2");
pub(super) const FLAW_NO_DECLARATION: (&str, &str) = ("It does not begin with an XML declaration.", "X-2");
pub(super) const FLAW_DECLARATION: (&str, &str) = ("Its declaration is not that of XML 1.0 in UTF-8: {}", "X-2");
pub(super) const FLAW_DOCTYPE: (&str, &str) = ("It has a document type declaration.", "X-4");
pub(super) const FLAW_ENTITY: (&str, &str) = ("It has an entity that XML does not know: {}", "X-4");
pub(super) const FLAW_CHARACTERS: (&str, &str) = ("{} characters cannot stand in XML and were left out.", "X-3");
pub(super) const FLAW_MALFORMED: (&str, &str) = ("It is not well-formed: line {}, {}", "X-1");
pub(super) const FLAW_TRAILING: (&str, &str) = ("Something follows its end: {}", "H-12");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_where_the_text_wants_them() {
        assert_eq!(with("{} of {}", &["1", "2"]), "1 of 2");
        assert_eq!(with("none", &["1"]), "none");
        assert_eq!(with("{}: {}", &["{}"]), "{}: ");
    }

    #[test]
    fn every_error_of_the_protocol_is_explained() {
        for code in stook_oai::ErrorCode::ALL {
            assert!(ERRORS.iter().any(|remedy| remedy.code == code.as_str()), "{code:?}");
        }
    }
}
