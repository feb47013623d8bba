//! The table of everything that can go wrong.
//!
//! One row per behaviour: the number of the kind of fault it is a form of (0
//! for attacks, which no honest repository makes), the stage at which it is
//! applied, its name in scripts, and what it does. Longer than other files
//! because it is one table.

/// Where in the making of an answer a fault is applied; each stage is one
/// module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The base URL itself is awkward. Holds for the whole life of a source.
    Address,
    /// Looks at the request, and refuses it or understands it differently.
    Rule,
    /// Changes what is listed, and the tokens.
    List,
    /// Damages one record: the one that `identifier` names, or the first of
    /// the answer that has metadata.
    Record,
    /// Damages the document around the records.
    Document,
    /// Changes status, headers or the whole body.
    Reply,
    /// Changes how the bytes travel.
    Delivery,
}

/// One row of the table.
struct Row {
    number: u8,
    stage: Stage,
    name: &'static str,
    sentence: &'static str,
}

macro_rules! faults {
    ($($number:literal $stage:ident $variant:ident $name:literal $sentence:literal)*) => {
        /// One way to misbehave.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fault {
            $(#[doc = $sentence] $variant,)*
        }

        impl Fault {
            /// Every fault, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            fn row(self) -> Row {
                match self {
                    $(Self::$variant => Row {
                        number: $number,
                        stage: Stage::$stage,
                        name: $name,
                        sentence: $sentence,
                    },)*
                }
            }
        }
    };
}

impl Fault {
    /// The kind of fault this is a form of, 1 to 68; 0 is an attack.
    #[must_use]
    pub fn number(self) -> u8 {
        self.row().number
    }

    /// Where it is applied.
    #[must_use]
    pub fn stage(self) -> Stage {
        self.row().stage
    }

    /// Its name in scripts.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What it does, in one sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        self.row().sentence
    }

    /// Reads a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.name() == name)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.name())
    }
}

faults! {
    // Transport
    1 Reply RetryAfterSeconds "retry-after-seconds" "503 with Retry-After in seconds."
    1 Reply RetryAfterDate "retry-after-date" "503 with Retry-After as an HTTP date."
    1 Reply RetryAfterAbsurd "retry-after-absurd" "503 that asks to come back in 30 years."
    1 Reply RetryAfterNonsense "retry-after-nonsense" "503 whose Retry-After is neither a number nor a date."
    1 Reply RetryAfterMissing "retry-after-missing" "503 without Retry-After."
    2 Reply TooManyRequests "too-many-requests" "429 with Retry-After in seconds."
    2 Reply TooManyRequestsBare "too-many-requests-bare" "429 without Retry-After."
    3 Reply InternalServerError "status-500" "500 with an HTML page."
    3 Reply BadGateway "status-502" "502 with an HTML page."
    3 Reply GatewayTimeout "status-504" "504 with an HTML page."
    4 Reply NotFound "status-404" "404 with an HTML page."
    5 Reply Status422WithAnswer "status-422-with-answer" "The right answer, but with status 422."
    5 Reply Status422ForNothing "status-422-for-nothing" "noRecordsMatch comes with status 422, everything else as usual."
    5 Reply Status400WithErrors "status-400-with-errors" "Errors of the protocol come with status 400."
    6 List TooManyRecords "too-many-records" "413 for a selection of more than `limit` records; smaller ones work."
    6 List TooManyRecordsHtml "too-many-records-html" "An HTML page with status 200 for a selection of more than `limit` records."
    7 Reply EmptyBody "empty-body" "200 with nothing in it."
    8 Reply HtmlLogin "html-login" "200 with the HTML form of a login."
    8 Reply HtmlMaintenance "html-maintenance" "200 with an HTML page about maintenance."
    8 Reply HtmlChallenge "html-challenge" "200 with an HTML page that wants a script to run."
    9 Reply TruncatedXml "truncated-xml" "The document breaks off in the middle, in an HTTP message that is complete."
    9 Delivery UnexpectedEnd "unexpected-end" "The connection closes before Content-Length bytes have come."
    9 Delivery UnfinishedChunks "unfinished-chunks" "A chunked body whose last chunk never comes before the connection closes."
    10 Delivery ResetAtOnce "reset-at-once" "The connection is reset instead of an answer."
    10 Delivery ResetInBody "reset-in-body" "The connection is reset in the middle of the body."
    10 Delivery Trickle "trickle" "A byte every `pause-milliseconds`, for ever."
    10 Delivery Stall "stall" "Half of the body, then silence on an open connection."
    10 Delivery SilentServer "silent-server" "The connection is accepted and nothing is ever answered."
    11 Reply GzipUndeclared "gzip-undeclared" "A gzip body without Content-Encoding."
    11 Reply GzipDeclaredOnly "gzip-declared-only" "Content-Encoding says gzip, the body is plain."
    11 Reply GzipTruncated "gzip-truncated" "A gzip body that breaks off in the middle."
    12 Reply RedirectOtherHost "redirect-other-host" "302 to another host and port, where the same source answers."
    12 Reply RedirectWithoutQuery "redirect-without-query" "302 to another host and port, with the query left out of Location."
    12 Reply RedirectRelative "redirect-relative" "301 whose Location is a path on this host, which answers."
    12 Reply RedirectHttps "redirect-https" "301 to https on the same host and port."
    12 Reply RedirectPost "redirect-post" "POST is redirected with 302, GET is answered."
    12 Reply RedirectLoop "redirect-loop" "302 to the same URL, for ever."
    12 Reply RedirectWithoutLocation "redirect-without-location" "302 without Location."
    13 Reply BotChallenge "bot-challenge" "403 with the HTML of a bot protection."
    14 Rule UserAgentRequired "user-agent-required" "403 for requests without User-Agent."
    14 Rule UserAgentContact "user-agent-contact" "403 unless User-Agent or From names a contact (an address or a URL)."
    15 Address TlsTooOld "tls-too-old" "The base URL is https, and every handshake is refused because of its version."
    16 Rule VerbFirst "verb-first" "badVerb unless verb is the first argument."
    17 Rule NoPercentEncoding "no-percent-encoding" "badArgument for a query that holds a percent sign."
    18 Rule EmptySetCrashes "empty-set-crashes" "500 for an empty `set=`."
    19 Address BaseUrlWithQuery "base-url-with-query" "The base URL ends in a query string, without which there is only a 404."
    20 Rule PrefixBesideTokenCrashes "prefix-beside-token-crashes" "500 when metadataPrefix stands beside a token."
    21 Delivery SlowAnswer "slow-answer" "The whole answer, after `pause-milliseconds`."
    21 Reply HugePage "huge-page" "The page is filled up with comments to `size` bytes; streamed."

    // XML
    22 Record ControlCharacters "control-characters" "Control characters (U+000B, U+001F) in a title."
    22 Record ControlReference "control-reference" "A character reference to a control character (`&#11;`) in a title."
    22 Record Noncharacters "noncharacters" "U+FFFE and U+FFFF in a title."
    23 Record InvalidUtf8 "invalid-utf-8" "Two bytes that are not UTF-8 in a title."
    23 Delivery SplitCharacters "split-characters" "Chunks end in the middle of every multibyte character."
    24 Document Latin1Undeclared "latin-1-undeclared" "Bytes of ISO 8859-1 (references where it lacks a character), declared as UTF-8."
    24 Document Windows1252Undeclared "windows-1252-undeclared" "Bytes of Windows-1252, with curly quotes and a euro sign in every title, declared as UTF-8."
    24 Document Utf16Undeclared "utf-16-undeclared" "UTF-16 with a byte order mark, declared as UTF-8."
    24 Document Utf16WithoutMark "utf-16-without-mark" "UTF-16 (little-endian) without a byte order mark, declared as UTF-8."
    25 Reply CharsetMissing "charset-missing" "Content-Type without charset."
    25 Reply CharsetWrong "charset-wrong" "Content-Type says ISO-8859-1, the bytes are the UTF-8 that the document declares."
    25 Document CharsetContradicts "charset-contradicts" "The document declares ISO-8859-1 and is; Content-Type says UTF-8."
    26 Record BareAmpersand "bare-ampersand" "An unescaped ampersand in a title."
    26 Record BareLessThan "bare-less-than" "An unescaped less-than sign in a title."
    26 Record UnescapedQuote "unescaped-quote" "An unescaped quotation mark in an attribute value."
    27 Record SurrogateReference "surrogate-reference" "A character written as two references to surrogates."
    28 Document DeclarationInRecord "declaration-in-record" "An XML declaration inside every metadata element."
    28 Document DeclarationMissing "declaration-missing" "No XML declaration."
    28 Document SpaceBeforeDeclaration "space-before-declaration" "Line feeds before the XML declaration."
    29 Document NoticeAfterRoot "notice-after-root" "A PHP warning after the root element."
    29 Document HtmlAfterRoot "html-after-root" "The end of an HTML page after the root element."
    29 Document NoticeBeforeRoot "notice-before-root" "A PHP warning before the XML declaration."
    30 Document PrefixedEnvelope "prefixed-envelope" "Every element of the protocol has a prefix."
    31 Document NamespacesOnRecord "namespaces-on-record" "The namespaces of the metadata are declared on `record`."
    31 Document NamespacesOnRoot "namespaces-on-root" "The namespaces of the metadata are declared on the root element."
    31 Document WrongNamespace "wrong-namespace" "The envelope has the namespace of version 1.1."
    31 Document MissingNamespace "missing-namespace" "The envelope has no namespace."
    32 Document SchemaLocationSpace "schema-location-space" "Line feeds and tabs in and around every schemaLocation."
    33 Record DeepNesting "deep-nesting" "A description of `depth` nested elements."
    33 Reply LargeRecord "large-record" "A description of `size` bytes; streamed."
    34 Document TwoDocuments "two-documents" "The document twice, one behind the other."
    34 Document ErrorWithoutCode "error-without-code" "Every error has `code=\"\"`."

    // Resumption tokens
    35 List TokenForEver "token-for-ever" "A token leads to its page, and that page to the same token."
    35 List FirstPageAgain "first-page-again" "Every token leads to the first page, with a new token."
    36 List TokenOnEmptyLastPage "token-on-empty-last-page" "Behind the last record an empty page that has a token too."
    36 List LastTokenMatchesNothing "last-token-matches-nothing" "The last page has a token that answers noRecordsMatch."
    37 List EmptyPagesBetween "empty-pages-between" "Three empty pages before the next page of the list."
    37 List EmptyPagesForEver "empty-pages-for-ever" "Behind the first page only empty pages, each with a new token."
    38 List EmptyTokenAlways "empty-token-always" "A list of a single page ends with an empty token element."
    38 Document BlankToken "blank-token" "The empty token element holds white space."
    39 List TokenWithSpace "token-with-space" "Tokens hold spaces."
    39 List TokenWithPlus "token-with-plus" "Tokens hold plus signs."
    39 List TokenWithPunctuation "token-with-punctuation" "Tokens begin with `-` and hold `! | & = % ; /`, a quote and a letter beyond ASCII."
    40 List SingleUseTokens "single-use-tokens" "A token works once."
    40 List TokensExpire "tokens-expire" "A token works for the next `token-life` requests to the source."
    40 List TokensExpireInTime "tokens-expire-in-time" "A token works for `token-seconds` by the clock of the source, and says so."
    41 List ExpiredTokenIsDatabaseError "expired-token-is-database-error" "As tokens-expire; the answer is then a database error in HTML with status 200."
    42 List TokenLosesSet "token-loses-set" "Behind the first page the list goes on through all sets."
    43 Rule TokenNeedsPrefix "token-needs-prefix" "badArgument for a token without metadataPrefix beside it."
    44 Rule TokenIllegal "token-illegal" "badArgument that calls resumptionToken an illegal argument."
    45 List ListSizeTooLarge "list-size-too-large" "completeListSize is twice what it should be."
    45 List ListSizeTooSmall "list-size-too-small" "completeListSize is half of what it should be."
    45 List ListSizeChanges "list-size-changes" "completeListSize is another on every page."
    45 List CursorWrong "cursor-wrong" "cursor is always 0."
    46 List Duplicates "duplicates" "Every page begins with the last two entries of the page before."
    47 Reply PoisonRecord "poison-record" "500 for every answer that would hold the metadata of one record (`identifier`, or one in the middle)."
    47 Record PoisonRecordBreaksXml "poison-record-breaks-xml" "The document breaks off in the metadata of one record (`identifier`, or one in the middle)."
    48 List ShortList "short-list" "The list ends early, with an empty token element and the right completeListSize."
    48 List ShortListUnmarked "short-list-unmarked" "The list ends early, with no token element at all."

    // Dates
    49 Document GranularityMissing "granularity-missing" "Identify has no granularity."
    49 Document GranularityLowerCase "granularity-lower-case" "Identify has the granularity in lower case."
    49 Document GranularityOdd "granularity-odd" "Identify has a granularity that the protocol does not know."
    50 Document EarliestMissing "earliest-missing" "Identify has no earliestDatestamp."
    50 Document EarliestOtherGranularity "earliest-other-granularity" "earliestDatestamp has the other granularity."
    50 Document EarliestTooLate "earliest-too-late" "earliestDatestamp is today, later than most records."
    50 Document EarliestImpossible "earliest-impossible" "earliestDatestamp is a date that does not exist."
    51 Rule SecondsRejected "seconds-rejected" "badArgument for dates with seconds, whatever the granularity."
    51 Rule DaysRejected "days-rejected" "badArgument for dates without seconds."
    52 List FromIgnored "from-ignored" "`from` selects nothing."
    52 List UntilIgnored "until-ignored" "`until` selects nothing."
    52 List UntilMatchesNothing "until-matches-nothing" "noRecordsMatch whenever `until` is given."
    52 Rule DatesRejected "dates-rejected" "badArgument for any date."
    52 Rule DatesCrash "dates-crash" "500 for any date."
    53 List DatesRequired "dates-required" "noRecordsMatch unless a date is given."
    54 List OneDayMatchesNothing "one-day-matches-nothing" "noRecordsMatch where `from` and `until` are on the same day."
    55 Document DatestampMilliseconds "datestamp-milliseconds" "Datestamps have milliseconds."
    55 Document DatestampOffset "datestamp-offset" "Datestamps are of the zone +02:00."
    55 Document DatestampEmpty "datestamp-empty" "Datestamps are empty elements."
    55 Document ResponseDateMilliseconds "response-date-milliseconds" "responseDate has milliseconds."
    55 Document ResponseDateOffset "response-date-offset" "responseDate is of the zone +02:00."
    55 Document ResponseDateMissing "response-date-missing" "No responseDate."
    56 List DatestampNotFilteredBy "datestamp-not-filtered-by" "The datestamps shown are 400 days earlier than those that `from` and `until` compare."
    57 List RecordsSurfaceLate "records-surface-late" "Every third record is hidden until `late-seconds` after its datestamp."

    // Records and sets
    58 Record HeaderMissing "header-missing" "A record without header."
    58 Record MetadataMissing "metadata-missing" "A record without metadata that is not deleted."
    58 Record MetadataEmpty "metadata-empty" "A record whose metadata element is empty."
    59 Record IdentifierMissing "identifier-missing" "A header without identifier."
    59 Record DatestampMissing "datestamp-missing" "A header without datestamp."
    59 Document SetSpecMissing "set-spec-missing" "No header has a setSpec, though there are sets."
    60 Document DeletedCapitalised "deleted-capitalised" "`status=\"Deleted\"`."
    61 List DeletionsUnannounced "deletions-unannounced" "Deleted records are nowhere to be seen, though Identify promises them."
    61 List DeletionsOutsideSets "deletions-outside-sets" "Deleted records are shown only where no set is asked for."
    62 List EverythingVanishes "everything-vanishes" "Every selection is empty and no identifier exists."
    63 Rule GetRecordDenies "get-record-denies" "GetRecord answers idDoesNotExist for what is listed (`identifier`, or everything)."
    64 Rule ListRecordsBroken "list-records-broken" "500 for ListRecords; the other verbs work."
    65 List LongSets "long-sets" "Every setSpec is over 2,000 characters long."
    65 Address LongBaseUrl "long-base-url" "The base URL is over 2,000 characters long."
    66 List SetVanished "set-vanished" "The first set is gone from ListSets and all headers, and asking for it answers noRecordsMatch."
    66 List ManySlowSets "many-slow-sets" "ListSets has `extra-sets` more sets, and every selection by set takes `pause-milliseconds`."
    66 Rule SetDemanded "set-demanded" "badArgument for a list without set."
    67 Document CannotDisseminate "cannot-disseminate" "cannotDisseminateFormat instead of noRecordsMatch."
    67 Rule UnknownErrorCode "unknown-error-code" "An error whose code the protocol does not know."
    68 Document EmptyList "empty-list" "An empty list element instead of noRecordsMatch."
    68 Record HtmlInDescription "html-in-description" "HTML elements in dc:description."

    // Attacks
    0 Reply GzipBomb "gzip-bomb" "A gzip body of a few kilobytes per megabyte that unpacks to `size` bytes."
    0 Reply EndlessBody "endless-body" "A list that never ends: the same record again and again in one document."
    0 Reply EndlessText "endless-text" "A document whose first text never ends."
    0 Delivery EndlessHeaders "endless-headers" "HTTP headers that never end."
    0 Delivery HugeHeader "huge-header" "An HTTP header of `size` bytes."
    0 Delivery SlowHeaders "slow-headers" "HTTP headers that come byte by byte, one every `pause-milliseconds`."
    0 Delivery LengthTooShort "length-too-short" "Content-Length is half of what is sent."
    0 Delivery NotHttp "not-http" "Bytes that are not HTTP."
    0 Document EntityExpansion "entity-expansion" "A document type whose entities grow a billionfold, used in every title."
    0 Document ExternalEntity "external-entity" "A document type with an entity that is a local file, used in every title."
    0 Document DoctypeOnly "doctype-only" "A document type that declares nothing."
    0 List HugeToken "huge-token" "Tokens of a million characters."
    0 Reply RedirectPrivate "redirect-private" "302 to an address of a private network."
    0 Reply RedirectLinkLocal "redirect-link-local" "302 to 169.254.169.254, where clouds keep secrets."
    0 Reply RedirectLoopback "redirect-loopback" "302 to another port of loopback by name."
    0 Reply RedirectFile "redirect-file" "302 to a file: URL."
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_number_has_a_behaviour() {
        let numbers: BTreeSet<u8> = Fault::ALL.iter().map(|fault| fault.number()).collect();
        assert_eq!(numbers, (0..=68).collect());
    }

    #[test]
    fn names_are_unique_and_are_read_back() {
        let names: BTreeSet<&str> = Fault::ALL.iter().map(|fault| fault.name()).collect();
        assert_eq!(names.len(), Fault::ALL.len());
        for fault in Fault::ALL {
            assert_eq!(Fault::parse(fault.name()), Some(*fault));
            assert!(
                fault
                    .name()
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            );
            assert!(fault.sentence().ends_with('.'), "{fault}");
        }
        assert_eq!(Fault::parse("no-such-fault"), None);
    }
}
