//! What an attacker would send, and where.

use stook_oai::ErrorCode::{
    self, BadArgument, BadResumptionToken, BadVerb, CannotDisseminateFormat, IdDoesNotExist, NoRecordsMatch,
    NoSetHierarchy,
};

/// Where a payload goes.
pub(super) struct Target {
    /// The request up to the value; words in braces are filled in.
    pub(super) query: &'static str,
    /// The errors that may come.
    pub(super) codes: &'static [ErrorCode],
    /// Whether it gets all payloads, or every third.
    pub(super) all: bool,
}

/// What is sent.
pub(super) struct Payload {
    /// What it is, for people.
    pub(super) name: &'static str,
    /// Percent-encoded, or not quite where that is the point.
    pub(super) value: &'static str,
    /// What must not come back as it is, if anything.
    pub(super) raw: &'static str,
}

const fn target(query: &'static str, codes: &'static [ErrorCode], all: bool) -> Target {
    Target { query, codes, all }
}

const fn payload(name: &'static str, value: &'static str, raw: &'static str) -> Payload {
    Payload { name, value, raw }
}

const OF_PREFIX: &[ErrorCode] = &[BadArgument, CannotDisseminateFormat];
const OF_IDENTIFIER: &[ErrorCode] = &[BadArgument, IdDoesNotExist];
const OF_SET: &[ErrorCode] = &[BadArgument, NoRecordsMatch, NoSetHierarchy];
const OF_TOKEN: &[ErrorCode] = &[BadArgument, BadResumptionToken];
const OF_SETS_TOKEN: &[ErrorCode] = &[BadArgument, BadResumptionToken, NoSetHierarchy];
const OF_DATE: &[ErrorCode] = &[BadArgument];

/// Each argument of each verb.
pub(super) const TARGETS: &[Target] = &[
    target("verb=", &[BadVerb], true),
    target("verb=GetRecord&metadataPrefix=oai_dc&identifier=", OF_IDENTIFIER, true),
    target("verb=GetRecord&identifier={id}&metadataPrefix=", OF_PREFIX, false),
    target("verb=ListMetadataFormats&identifier=", OF_IDENTIFIER, false),
    target("verb=ListSets&resumptionToken=", OF_SETS_TOKEN, false),
    target("verb=ListIdentifiers&metadataPrefix=", OF_PREFIX, false),
    target("verb=ListIdentifiers&metadataPrefix=oai_dc&from=", OF_DATE, false),
    target("verb=ListIdentifiers&metadataPrefix=oai_dc&until=", OF_DATE, false),
    target("verb=ListIdentifiers&metadataPrefix=oai_dc&set=", OF_SET, false),
    target("verb=ListIdentifiers&resumptionToken=", OF_TOKEN, false),
    target("verb=ListRecords&metadataPrefix=", OF_PREFIX, false),
    target("verb=ListRecords&metadataPrefix=oai_dc&from=", OF_DATE, false),
    target("verb=ListRecords&metadataPrefix=oai_dc&until=", OF_DATE, false),
    target("verb=ListRecords&metadataPrefix=oai_dc&set=", OF_SET, true),
    target("verb=ListRecords&resumptionToken=", OF_TOKEN, true),
];

/// One of each class. None of them changes or deletes anything where it works.
pub(super) const PAYLOADS: &[Payload] = &[
    payload("a quote of SQL", "'%20OR%20'1'%3D'1", ""),
    payload("SQL that waits", "1'%20AND%20SLEEP(3)--%20", ""),
    payload("a script", "%22%3E%3Cscript%3Estook()%3C%2Fscript%3E", "<script>stook"),
    payload("a command", "%3Bid%7Cid%60id%60%24(id)", ""),
    payload(
        "an external entity",
        "%3C!DOCTYPE%20x%20%5B%3C!ENTITY%20e%20SYSTEM%20%22file%3A%2F%2F%2Fetc%2Fpasswd%22%3E%5D%3E%3Cstook%3E%26e%3B%3C%2Fstook%3E",
        "<stook>",
    ),
    payload("a path", "..%2F..%2F..%2F..%2Fetc%2Fpasswd", ""),
    payload("a path of escaped dots", "%2e%2e%2f%2e%2e%2fetc%2fpasswd%00.xml", ""),
    payload("a NUL", "a%00b", ""),
    payload("control characters", "a%01%08%0B%1Fb", ""),
    payload("bytes that are no UTF-8", "%ff%fe", ""),
    payload("overlong UTF-8", "%c0%af%c0%ae", ""),
    payload("a lone surrogate", "%ed%a0%80", ""),
    payload("an escape that breaks off", "a%4", ""),
    payload("text that runs backwards", "%E2%80%AEabc%E2%80%8D%E2%80%8B", ""),
    payload("the end of a CDATA section", "%5D%5D%3E%3Cstook%2F%3E", "<stook/>"),
    payload("a comment", "%3C!--stook--%3E", "<!--stook"),
    payload("quotation marks", "%22'%22'%26%3C%3E", ""),
    payload("a line break for headers", "a%0D%0AX-Stook%3A%20injected%0D%0A", ""),
];

/// What programs say of themselves when they fail.
pub(super) const LEAKS: &[&str] = &[
    "Traceback (most recent call last)",
    "stack trace",
    "Stack trace",
    "\tat java.",
    "\tat org.",
    "\tat com.",
    "Exception in thread",
    "NullPointerException",
    "SQLSTATE",
    "SQLException",
    "You have an error in your SQL syntax",
    "syntax error at or near",
    "unterminated quoted string",
    "ORA-0",
    "sqlite3.",
    "PDOException",
    "mysqli_",
    "pg_query",
    "Fatal error:",
    "Uncaught ",
    "/var/www/",
    "/usr/share/",
    "/usr/local/",
    "/home/",
    "C:\\inetpub",
    "C:\\Users",
];

/// What stands in files that no repository serves.
pub(super) const FILES: &[&str] = &["root:x:0:0:", "; for 16-bit app support"];
