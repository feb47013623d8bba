//! Every fault visibly does what its sentence says.
//!
//! One row per fault; a fault without a row fails. Where a rule refuses one way
//! of asking, the row also sees that the way it leaves open works.

#![expect(clippy::unwrap_used, reason = "a test that cannot build its values has failed")]

mod client;

use std::io::Read;
use std::panic::catch_unwind;
use std::time::Duration;

use client::{Got, Patience, ask, ask_with, encode, exchange, harvest, pages, post};
use flate2::read::GzDecoder;
use misbehave::{Endpoint, Fault, Script, Setting, Stage, When, World};

const LIST: &str = "verb=ListRecords&metadataPrefix=oai_dc";
const HEADERS: &str = "verb=ListIdentifiers&metadataPrefix=oai_dc";
/// Matches nothing in a world that ends in 2020.
const NOTHING: &str = "verb=ListRecords&metadataPrefix=oai_dc&from=2022-01-01";
const NOW: i64 = 1_700_000_000;
const RECORDS: usize = 60;

/// The endpoint that misbehaves, and a good one beside it.
struct Pair {
    bad: Endpoint,
    good: Endpoint,
    fault: Fault,
}

impl Pair {
    fn start(fault: Fault) -> Self {
        let settings = Script::new()
            .page_size(7)
            .with(Setting::PauseMilliseconds, 40)
            .with(Setting::Size, 3 << 20)
            .with(Setting::Depth, 1_000)
            .with(Setting::ExtraSets, 50)
            .with(Setting::Limit, 40);
        let world = || World::of(RECORDS as u64).at(NOW);
        let good = Endpoint::start(world(), settings.clone()).unwrap();
        let bad = Endpoint::start(world(), settings.fault(fault, When::always())).unwrap();
        Self { bad, good, fault }
    }

    fn bad(&self, query: &str) -> Got {
        ask(&self.bad.url(), query)
    }

    fn good(&self, query: &str) -> Got {
        ask(&self.good.url(), query)
    }

    /// The bad answer, after the good one was seen to lack what it must have.
    fn gains(&self, query: &str, needle: &str) {
        assert!(
            !self.good(query).has(needle),
            "{}: the good answer has {needle}",
            self.fault
        );
        let got = self.bad(query);
        assert!(got.has(needle), "{}: no {needle} in {}", self.fault, got.text());
    }

    fn loses(&self, query: &str, needle: &str) {
        assert!(
            self.good(query).has(needle),
            "{}: the good answer lacks {needle}",
            self.fault
        );
        assert!(!self.bad(query).has(needle), "{}: still {needle}", self.fault);
    }

    fn status(&self, query: &str, status: u16) -> Got {
        assert_eq!(self.good(query).status, 200);
        let got = self.bad(query);
        assert_eq!(got.status, status, "{}: {query}", self.fault);
        got
    }

    fn error(&self, query: &str, code: &str) {
        assert_ne!(self.good(query).error().as_deref(), Some(code), "{}", self.fault);
        assert_eq!(
            self.bad(query).error().as_deref(),
            Some(code),
            "{}: {query}",
            self.fault
        );
    }

    fn total(&self, query: &str) -> usize {
        pages(&self.bad.url(), query)
            .iter()
            .map(|page| page.identifiers().len())
            .sum()
    }

    fn second(&self) -> String {
        let token = self.bad(LIST).token().unwrap();
        format!("verb=ListRecords&resumptionToken={}", encode(&token))
    }

    /// The good list comes through whole, whatever else is odd.
    fn is_whole(&self) {
        assert_eq!(self.total(LIST), RECORDS, "{}", self.fault);
    }

    fn briefly(&self, query: &str, bytes: usize, milliseconds: u64) -> Got {
        let patience = Patience {
            bytes,
            time: Duration::from_millis(milliseconds),
        };
        ask_with(&self.bad.url(), query, "", patience)
    }

    fn location(&self) -> String {
        let got = self.bad(LIST);
        assert!(matches!(got.status, 301 | 302), "{}: {}", self.fault, got.status);
        got.header("Location").unwrap().to_owned()
    }

    /// The page at a Location is the good one.
    fn leads_home(&self, location: &str) {
        let got = ask(location, "");
        assert_eq!(
            got.identifiers(),
            self.good(LIST).identifiers(),
            "{}: {location}",
            self.fault
        );
    }
}

fn record(identifier: &str) -> String {
    format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={}", encode(identifier))
}

#[test]
fn every_fault_does_what_its_sentence_says() {
    let fails = |fault: &Fault| catch_unwind(|| show(*fault)).is_err();
    let failed: Vec<&str> = Fault::ALL
        .iter()
        .filter(|fault| fails(fault))
        .map(|fault| fault.name())
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
}

fn show(fault: Fault) {
    let pair = Pair::start(fault);
    check(fault, &pair);
    if fault.stage() == Stage::Address {
        return;
    }
    let applied = pair.bad.requests().iter().any(|asked| asked.faults.contains(&fault));
    assert!(applied, "{fault} is not in the log");
    // Whatever happened, the server lives and heals with its script.
    pair.bad.set_script(Script::new());
    assert_eq!(pair.bad("verb=Identify").status, 200, "{fault}");
}

/// By number, because one match of everything is too long to read.
fn check(fault: Fault, pair: &Pair) {
    match fault.number() {
        0 => attack(fault, pair),
        1..=8 | 13 => status(fault, pair),
        9..=12 | 21 => transport(fault, pair),
        14..=20 => picky(fault, pair),
        22..=34 => xml(fault, pair),
        35..=48 => token(fault, pair),
        49..=57 => date(fault, pair),
        _ => content(fault, pair),
    }
}

fn unchecked(fault: Fault) -> ! {
    panic!("{fault} has no check");
}

fn status(fault: Fault, pair: &Pair) {
    let after = |status, value: Option<&str>| {
        let got = pair.status(LIST, status);
        assert_eq!(got.header("Retry-After"), value, "{fault}");
    };
    match fault {
        Fault::RetryAfterSeconds => after(503, Some("1")),
        Fault::RetryAfterDate => assert!(pair.status(LIST, 503).header("Retry-After").unwrap().ends_with(" GMT")),
        Fault::RetryAfterAbsurd => after(503, Some("946080000")),
        Fault::RetryAfterNonsense => after(503, Some("in a while")),
        Fault::RetryAfterMissing => after(503, None),
        Fault::TooManyRequests => after(429, Some("1")),
        Fault::TooManyRequestsBare => after(429, None),
        Fault::InternalServerError => assert!(pair.status(LIST, 500).has("<html>")),
        Fault::BadGateway => assert!(pair.status(LIST, 502).has("<html>")),
        Fault::GatewayTimeout => assert!(pair.status(LIST, 504).has("<html>")),
        Fault::NotFound => assert!(pair.status(LIST, 404).has("<html>")),
        Fault::BotChallenge => assert!(pair.status(LIST, 403).has("JavaScript")),
        Fault::Status422WithAnswer => assert_eq!(pair.status(LIST, 422).count("<record>"), 7),
        Fault::Status422ForNothing => {
            assert_eq!(pair.status(NOTHING, 422).error().as_deref(), Some("noRecordsMatch"));
            assert_eq!(pair.bad(LIST).status, 200);
        }
        Fault::Status400WithErrors => {
            assert_eq!(pair.status("verb=Nonsense", 400).error().as_deref(), Some("badVerb"));
            assert_eq!(pair.bad(LIST).status, 200);
        }
        Fault::TooManyRecords => {
            pair.status(LIST, 413);
            let half = pair.total(&format!("{LIST}&from=2020-01-01T10:00:00Z"));
            assert_eq!(
                half + pair.total(&format!("{LIST}&until=2020-01-01T09:59:59Z")),
                RECORDS
            );
        }
        Fault::TooManyRecordsHtml => {
            assert!(pair.status(LIST, 200).has("Too many records: 60"));
            assert_eq!(pair.total(&format!("{LIST}&from=2020-01-01T10:00:00Z")), 30);
        }
        Fault::EmptyBody => assert!(pair.status(LIST, 200).body.is_empty()),
        Fault::HtmlLogin => pair.gains(LIST, "type=\"password\""),
        Fault::HtmlMaintenance => pair.gains(LIST, "Maintenance"),
        Fault::HtmlChallenge => pair.gains(LIST, "JavaScript"),
        _ => unchecked(fault),
    }
}

fn transport(fault: Fault, pair: &Pair) {
    let good = pair.good(LIST);
    match fault {
        Fault::TruncatedXml => {
            let got = pair.bad(LIST);
            assert!(got.complete && !got.has("</OAI-PMH>") && got.has("<record>"));
        }
        Fault::UnexpectedEnd => {
            let got = pair.bad(LIST);
            assert!(!got.complete && got.has("</OAI-PMH>"));
        }
        Fault::UnfinishedChunks => {
            let got = pair.bad(LIST);
            assert!(!got.complete && !got.reset && got.has("<record>") && !got.has("</OAI-PMH>"));
        }
        Fault::ResetAtOnce => {
            let got = pair.bad(LIST);
            assert!(got.reset && got.status == 0, "{got:?}");
        }
        Fault::ResetInBody => {
            let got = pair.bad(LIST);
            assert!(got.reset && got.status == 200 && got.has("<record>") && !got.complete);
        }
        Fault::Trickle => {
            let got = pair.briefly(LIST, 1 << 20, 500);
            assert!((2..100).contains(&got.body.len()), "{}", got.body.len());
        }
        Fault::Stall => {
            let got = pair.briefly(LIST, 1 << 20, 300);
            assert!(!got.complete && !got.reset && got.took > Duration::from_millis(290));
            assert!(got.has("<record>"));
        }
        Fault::SilentServer => {
            let got = pair.briefly(LIST, 1 << 20, 300);
            assert!(got.status == 0 && got.took > Duration::from_millis(290));
        }
        Fault::GzipUndeclared => {
            let got = pair.bad(LIST);
            assert_eq!(got.header("Content-Encoding"), None);
            assert_eq!(unpacked(&got.body).len(), good.body.len());
        }
        Fault::GzipDeclaredOnly => {
            let got = pair.bad(LIST);
            assert_eq!(got.header("Content-Encoding"), Some("gzip"));
            assert_eq!(got.identifiers(), good.identifiers());
        }
        Fault::GzipTruncated => {
            let got = pair.bad(LIST);
            assert!(got.complete && got.header("Content-Encoding") == Some("gzip"));
            assert!(GzDecoder::new(&got.body[..]).read_to_end(&mut Vec::new()).is_err());
        }
        Fault::SlowAnswer => {
            let got = pair.bad(LIST);
            assert!(got.took >= Duration::from_millis(40) && good.took < got.took);
            assert_eq!(got.identifiers(), good.identifiers());
        }
        Fault::HugePage => {
            let got = pair.bad(LIST);
            assert!(got.body.len() > 3 << 20 && got.complete);
            assert_eq!(harvest(&pair.bad.url(), LIST), pair.good.world().expected("oai_dc"));
        }
        _ => redirect(fault, pair),
    }
}

fn redirect(fault: Fault, pair: &Pair) {
    let own = pair.bad.url().strip_prefix("http://").unwrap().replace("/oai", "");
    match fault {
        Fault::RedirectOtherHost => {
            let location = pair.location();
            assert!(!location.contains(&own));
            pair.leads_home(&location);
        }
        Fault::RedirectWithoutQuery => {
            let location = pair.location();
            assert!(!location.contains('?') && !location.contains(&own));
            pair.leads_home(&format!("{location}?{LIST}"));
        }
        Fault::RedirectRelative => {
            let location = pair.location();
            assert!(location.starts_with("/oai?"));
            pair.leads_home(&format!("http://{own}{location}"));
        }
        Fault::RedirectHttps => assert!(pair.location().starts_with(&format!("https://{own}/oai?verb"))),
        Fault::RedirectPost => {
            assert_eq!(post(&pair.bad.url(), LIST).status, 302);
            assert_eq!(pair.bad(LIST).status, 200);
        }
        Fault::RedirectLoop => assert_eq!(pair.location(), format!("http://{own}/oai?{LIST}")),
        Fault::RedirectWithoutLocation => assert_eq!(pair.status(LIST, 302).header("Location"), None),
        _ => unchecked(fault),
    }
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut out).unwrap();
    out
}

fn picky(fault: Fault, pair: &Pair) {
    let url = pair.bad.url();
    let with = |headers: &str| ask_with(&url, "verb=Identify", headers, Patience::default()).status;
    match fault {
        Fault::UserAgentRequired => assert_eq!((with(""), with("User-Agent: x\r\n")), (403, 200)),
        Fault::UserAgentContact => {
            assert_eq!(
                (
                    with("User-Agent: x\r\n"),
                    with("User-Agent: x (+https://x.example/)\r\n")
                ),
                (403, 200)
            );
            assert_eq!(with("User-Agent: x\r\nFrom: me@x.example\r\n"), 200);
        }
        Fault::TlsTooOld => {
            assert!(url.starts_with("https://"));
            let authority = url.strip_prefix("https://").unwrap().split('/').next().unwrap();
            let hello = [0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3];
            assert!(
                exchange(authority, &hello, Patience::default())
                    .head
                    .as_bytes()
                    .starts_with(&[0x15, 3, 1])
            );
        }
        Fault::VerbFirst => {
            pair.error("metadataPrefix=oai_dc&verb=ListRecords", "badVerb");
            pair.is_whole();
        }
        Fault::NoPercentEncoding => {
            pair.error(&format!("{LIST}&from=2020-01-01T00%3A00%3A00Z"), "badArgument");
            assert_eq!(pair.bad(&format!("{LIST}&from=2020-01-01T00:00:00Z")).error(), None);
        }
        Fault::EmptySetCrashes => {
            pair.status(&format!("{LIST}&set="), 500);
            pair.is_whole();
        }
        Fault::BaseUrlWithQuery => {
            assert!(url.ends_with("/oai?repository=main"));
            assert_eq!(ask(url.split('?').next().unwrap(), LIST).status, 404);
            pair.is_whole();
        }
        Fault::PrefixBesideTokenCrashes => {
            pair.status("verb=ListRecords&resumptionToken=list-1&metadataPrefix=oai_dc", 500);
            pair.is_whole();
        }
        _ => unchecked(fault),
    }
}

fn xml(fault: Fault, pair: &Pair) {
    let bytes = |needle: &[u8]| {
        let holds = |got: &Got| got.body.windows(needle.len()).any(|window| window == needle);
        assert!(!holds(&pair.good(LIST)), "{fault}");
        assert!(holds(&pair.bad(LIST)), "{fault}");
    };
    match fault {
        Fault::ControlCharacters => bytes(b"<dc:title>\x0b\x1f"),
        Fault::ControlReference => pair.gains(LIST, "<dc:title>&#11;"),
        Fault::Noncharacters => pair.gains(LIST, "<dc:title>\u{FFFE}\u{FFFF}"),
        Fault::InvalidUtf8 => assert!(std::str::from_utf8(&pair.bad(LIST).body).is_err()),
        Fault::SplitCharacters => {
            let got = pair.bad(LIST);
            assert_eq!((got.header("Transfer-Encoding"), got.complete), (Some("chunked"), true));
            assert_eq!(got.body.len(), pair.good(LIST).body.len());
        }
        Fault::Latin1Undeclared => {
            let got = pair.bad(LIST);
            assert!(got.has("encoding=\"UTF-8\"") && std::str::from_utf8(&got.body).is_err());
            let read = without_references(&got.body.iter().copied().map(char::from).collect::<String>());
            assert_eq!(
                read.split_once("</request>").unwrap().1,
                pair.good(LIST).text().split_once("</request>").unwrap().1
            );
        }
        Fault::Windows1252Undeclared => bytes(b"<dc:title>\x935 \x80\x94 "),
        Fault::CharsetContradicts => {
            pair.gains(LIST, "encoding=\"ISO-8859-1\"");
            let got = pair.bad(LIST);
            assert!(got.header("Content-Type").unwrap().contains("UTF-8") && std::str::from_utf8(&got.body).is_err());
        }
        Fault::Utf16Undeclared => assert!(pair.bad(LIST).body.starts_with(&[0xFE, 0xFF, 0, b'<', 0, b'?'])),
        Fault::Utf16WithoutMark => assert!(pair.bad(LIST).body.starts_with(&[b'<', 0, b'?', 0])),
        Fault::CharsetMissing => assert_eq!(pair.bad(LIST).header("Content-Type"), Some("text/xml")),
        Fault::CharsetWrong => {
            let got = pair.bad(LIST);
            assert!(got.header("Content-Type").unwrap().contains("ISO-8859-1") && got.has("encoding=\"UTF-8\""));
        }
        Fault::BareAmpersand => pair.gains(LIST, "Salt & pepper"),
        Fault::BareLessThan => pair.gains(LIST, "1 < 2"),
        Fault::UnescapedQuote => pair.gains(LIST, "xml:lang=\"e\"n\""),
        Fault::SurrogateReference => pair.gains(LIST, "&#55357;&#56832;"),
        Fault::DeclarationInRecord => assert!(pair.bad(LIST).count("<metadata><?xml version") > 1),
        Fault::DeclarationMissing => assert!(pair.bad(LIST).text().starts_with("<OAI-PMH")),
        Fault::SpaceBeforeDeclaration => assert!(pair.bad(LIST).text().starts_with("\n\n  <?xml")),
        Fault::NoticeAfterRoot => assert!(pair.bad(LIST).text().trim_end().ends_with("<br />")),
        Fault::HtmlAfterRoot => assert!(pair.bad(LIST).text().ends_with("</html>\n")),
        Fault::NoticeBeforeRoot => assert!(pair.bad(LIST).text().starts_with("<br />")),
        Fault::SchemaLocationSpace => pair.gains(LIST, "schemaLocation=\"\n\t"),
        Fault::DeepNesting => pair.gains(LIST, &"<b>".repeat(1_000)),
        Fault::LargeRecord => assert!(pair.bad(LIST).body.len() > 3 << 20),
        Fault::TwoDocuments => assert_eq!(pair.bad(LIST).count("<?xml"), 2),
        Fault::ErrorWithoutCode => pair.gains(NOTHING, "<error code=\"\">"),
        _ => namespaces(fault, pair),
    }
}

/// The text with its numeric references to characters resolved.
fn without_references(text: &str) -> String {
    let mut pieces = text.split("&#");
    let mut out = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (number, rest) = piece.split_once(';').unwrap();
        out.push(char::from_u32(number.parse().unwrap()).unwrap());
        out.push_str(rest);
    }
    out
}

fn namespaces(fault: Fault, pair: &Pair) {
    let namespace = "xmlns=\"http://www.openarchives.org/OAI/2.0/\"";
    match fault {
        Fault::PrefixedEnvelope => {
            for query in [LIST, HEADERS, "verb=Identify", "verb=ListSets"] {
                assert!(pair.bad(query).has("<oai:OAI-PMH xmlns:oai="));
                assert_eq!(
                    pair.bad(query).count("<oai:"),
                    pair.bad(query).count("</oai:"),
                    "{query}"
                );
            }
            assert_eq!(pair.bad(LIST).count("<oai:record>"), 7);
        }
        Fault::NamespacesOnRecord => {
            pair.gains(LIST, "<record xmlns:oai_dc=");
            pair.loses(LIST, "<oai_dc:dc xmlns:");
        }
        Fault::NamespacesOnRoot => {
            pair.gains(LIST, "<OAI-PMH xmlns:oai_dc=");
            pair.loses(LIST, "<oai_dc:dc xmlns:");
            assert_eq!(pair.bad(LIST).count("xmlns:xsi"), 1);
        }
        Fault::WrongNamespace => {
            pair.gains(LIST, "http://www.openarchives.org/OAI/1.1/");
            pair.loses(LIST, namespace);
        }
        Fault::MissingNamespace => pair.loses(LIST, namespace),
        _ => unchecked(fault),
    }
}

fn token(fault: Fault, pair: &Pair) {
    match fault {
        Fault::TokenForEver => {
            let (query, token) = (pair.second(), pair.bad(LIST).token());
            let (once, twice) = (pair.bad(&query), pair.bad(&query));
            assert_ne!(once.token(), token);
            assert_eq!((once.token(), once.identifiers()), (twice.token(), twice.identifiers()));
            assert!(query.ends_with(&encode(&once.token().unwrap())));
            assert_ne!(once.identifiers(), pair.bad(LIST).identifiers());
        }
        Fault::FirstPageAgain => {
            let (first, second) = (pair.bad(LIST), pair.bad(&pair.second()));
            assert_eq!(first.identifiers(), second.identifiers());
            assert_ne!(first.token(), second.token());
        }
        Fault::TokenOnEmptyLastPage => {
            let pages = pages(&pair.bad.url(), LIST);
            let [.., empty, nothing] = &pages[..] else { panic!() };
            assert!(empty.identifiers().is_empty() && empty.error().is_none());
            assert_eq!(nothing.error().as_deref(), Some("noRecordsMatch"));
            pair.is_whole();
        }
        Fault::LastTokenMatchesNothing => {
            let pages = pages(&pair.bad.url(), LIST);
            assert_eq!(pages.last().unwrap().error().as_deref(), Some("noRecordsMatch"));
            pair.is_whole();
        }
        Fault::EmptyPagesBetween => {
            let pages = pages(&pair.bad.url(), LIST);
            let empty: Vec<bool> = pages.iter().map(|page| page.identifiers().is_empty()).collect();
            assert_eq!(empty[..5], [false, true, true, true, false]);
            pair.is_whole();
        }
        Fault::EmptyPagesForEver => {
            let mut query = pair.second();
            for _ in 0..20 {
                let page = pair.bad(&query);
                assert!(page.identifiers().is_empty() && page.error().is_none());
                query = format!("verb=ListRecords&resumptionToken={}", page.token().unwrap());
            }
        }
        Fault::EmptyTokenAlways => {
            let small = format!("{LIST}&until=2020-01-01T00:00:00Z");
            assert_eq!(
                (pair.good(&small).token(), pair.bad(&small).token()),
                (None, Some(String::new()))
            );
        }
        Fault::BlankToken => {
            let last = pages(&pair.bad.url(), LIST)
                .into_iter()
                .find(|page| page.has(">\n  </resumptionToken>"));
            assert!(last.is_some());
        }
        Fault::TokenWithSpace => odd_token(pair, " "),
        Fault::TokenWithPlus => odd_token(pair, "+"),
        Fault::TokenWithPunctuation => odd_token(pair, "!oai_dc|a&b=c;50%/\"ü\""),
        Fault::HugeToken => assert!(pair.bad(LIST).token().unwrap().len() >= 1_000_000),
        _ => token_life(fault, pair),
    }
}

/// Encoded exactly once the token works, otherwise not.
fn odd_token(pair: &Pair, needle: &str) {
    let token = pair.bad(LIST).token().unwrap();
    assert!(token.contains(needle), "{token}");
    pair.is_whole();
    let twice = encode(&encode(&token));
    let got = pair.bad(&format!("verb=ListRecords&resumptionToken={twice}"));
    assert_eq!(got.error().as_deref(), Some("badResumptionToken"));
}

fn token_life(fault: Fault, pair: &Pair) {
    match fault {
        Fault::SingleUseTokens => {
            pair.is_whole();
            let query = pair.second();
            assert_eq!(pair.bad(&query).error(), None);
            assert_eq!(pair.bad(&query).error().as_deref(), Some("badResumptionToken"));
        }
        Fault::TokensExpire => {
            pair.is_whole();
            let query = pair.second();
            let errors: Vec<_> = (0..4).map(|_| pair.bad(&query).error().is_some()).collect();
            assert_eq!(errors, [false, false, false, true]);
        }
        Fault::TokensExpireInTime => {
            pair.gains(LIST, "expirationDate=\"2023-11-14T22:18:20Z\"");
            let query = pair.second();
            pair.bad.world().advance(Duration::from_secs(300));
            assert_eq!(pair.bad(&query).error(), None);
            pair.bad.world().advance(Duration::from_secs(1));
            assert_eq!(pair.bad(&query).error().as_deref(), Some("badResumptionToken"));
        }
        Fault::ExpiredTokenIsDatabaseError => {
            let query = pair.second();
            let got: Vec<Got> = (0..4).map(|_| pair.bad(&query)).collect();
            assert!(got[2].has("<record>") && got[3].has("ORA-01555") && got[3].status == 200);
        }
        Fault::TokenLosesSet => {
            let set = format!("{LIST}&set=theses");
            let inside = harvest(&pair.good.url(), &set).len();
            assert!(pair.total(&set) > inside);
        }
        Fault::TokenNeedsPrefix => {
            let query = pair.second();
            pair.error(&query, "badArgument");
            assert_eq!(
                pair.bad(&format!("{query}&metadataPrefix=oai_dc")).identifiers().len(),
                7
            );
        }
        Fault::TokenIllegal => {
            let got = pair.bad(&pair.second());
            assert!(got.error().as_deref() == Some("badArgument") && got.has("Illegal argument resumptionToken"));
        }
        Fault::ListSizeTooLarge => pair.gains(LIST, "completeListSize=\"120\""),
        Fault::ListSizeTooSmall => pair.gains(LIST, "completeListSize=\"30\""),
        Fault::ListSizeChanges => {
            pair.gains(LIST, "completeListSize=\"67\"");
            assert!(pair.bad(&pair.second()).has("completeListSize=\"74\""));
        }
        Fault::CursorWrong => assert!(pair.bad(&pair.second()).has("cursor=\"0\"")),
        Fault::Duplicates => {
            let (first, second) = (pair.bad(LIST).identifiers(), pair.bad(&pair.second()).identifiers());
            assert_eq!(first[5..], second[..2]);
            let mut all: Vec<String> = pages(&pair.bad.url(), LIST).iter().flat_map(Got::identifiers).collect();
            assert!(all.len() > RECORDS);
            all.sort();
            all.dedup();
            assert_eq!(all.len(), RECORDS);
        }
        Fault::PoisonRecord | Fault::PoisonRecordBreaksXml => poison(pair),
        Fault::ShortList => {
            assert_eq!(pair.bad(LIST).token().as_deref(), Some(""));
            assert!(pair.bad(LIST).has("completeListSize=\"60\""));
        }
        Fault::ShortListUnmarked => assert_eq!(pair.bad(LIST).token(), None),
        _ => unchecked(fault),
    }
}

/// Only answers with the metadata of the victim fail, and they always do.
fn poison(pair: &Pair) {
    let victim = pair.bad.script().faults[0].1.identifier.clone().unwrap();
    let is_good = |got: &Got| got.status == 200 && got.has("</OAI-PMH>");
    let all = pair.bad.world().identifiers();
    assert_eq!(pair.total(HEADERS), RECORDS);
    for identifier in all {
        for _ in 0..2 {
            assert_eq!(
                is_good(&pair.bad(&record(&identifier))),
                identifier != victim,
                "{identifier}"
            );
        }
    }
    let stamped = pair.good(&record(&victim)).text();
    let second = stamped.split("<datestamp>").nth(1).unwrap()[..20].to_owned();
    assert!(!is_good(&pair.bad(&format!("{LIST}&from={second}&until={second}"))));
    assert!(is_good(&pair.bad(&format!("{LIST}&until=2020-01-01T01:00:00Z"))));
}

fn date(fault: Fault, pair: &Pair) {
    let identify = "verb=Identify";
    let seconds = format!("{LIST}&from=2020-01-01T00:00:00Z");
    let days = format!("{LIST}&from=2020-01-01");
    match fault {
        Fault::GranularityMissing => pair.loses(identify, "<granularity>"),
        Fault::GranularityLowerCase => pair.gains(identify, "<granularity>yyyy-mm-ddthh:mm:ssz<"),
        Fault::GranularityOdd => pair.gains(identify, "<granularity>YYYY-MM-DDThh:mm:ss.sssZ<"),
        Fault::EarliestMissing => pair.loses(identify, "<earliestDatestamp>"),
        Fault::EarliestOtherGranularity => pair.gains(identify, "<earliestDatestamp>2020-01-01<"),
        Fault::EarliestTooLate => pair.gains(identify, "<earliestDatestamp>2023-11-14T22:13:20Z<"),
        Fault::EarliestImpossible => pair.gains(identify, "<earliestDatestamp>0000-00-00"),
        Fault::SecondsRejected => {
            pair.error(&seconds, "badArgument");
            assert_eq!(pair.bad(&days).error(), None);
        }
        Fault::DaysRejected => {
            pair.error(&days, "badArgument");
            assert_eq!(pair.bad(&seconds).error(), None);
        }
        Fault::DatesRejected => {
            pair.error(&days, "badArgument");
            pair.is_whole();
        }
        Fault::DatesCrash => {
            pair.status(&seconds, 500);
            pair.is_whole();
        }
        _ => selection_by_date(fault, pair),
    }
}

fn selection_by_date(fault: Fault, pair: &Pair) {
    let late = format!("{LIST}&from=2020-01-01T10:00:00Z");
    let early = format!("{LIST}&until=2020-01-01T09:59:59Z");
    match fault {
        Fault::FromIgnored => assert_eq!((pair.total(&late), pair.total(&early)), (60, 30)),
        Fault::UntilIgnored => assert_eq!((pair.total(&late), pair.total(&early)), (30, 60)),
        Fault::UntilMatchesNothing => {
            pair.error(&early, "noRecordsMatch");
            assert_eq!(pair.total(&late), 30);
        }
        Fault::DatesRequired => {
            pair.error(LIST, "noRecordsMatch");
            assert_eq!(pair.total(&format!("{LIST}&from=1970-01-01")), RECORDS);
        }
        Fault::OneDayMatchesNothing => {
            pair.error(&format!("{LIST}&from=2020-01-01&until=2020-01-01"), "noRecordsMatch");
            assert_eq!(pair.total(&format!("{LIST}&from=2020-01-01&until=2020-01-02")), RECORDS);
        }
        Fault::DatestampMilliseconds => pair.gains(LIST, "<datestamp>2020-01-01T00:00:00.123Z<"),
        Fault::DatestampOffset => pair.gains(LIST, "<datestamp>2020-01-01T02:00:00+02:00<"),
        Fault::DatestampEmpty => pair.gains(LIST, "<datestamp></datestamp>"),
        Fault::ResponseDateMilliseconds => pair.gains(LIST, "<responseDate>2023-11-14T22:13:20.123Z<"),
        Fault::ResponseDateOffset => pair.gains(LIST, "<responseDate>2023-11-15T00:13:20+02:00<"),
        Fault::ResponseDateMissing => pair.loses(LIST, "<responseDate>"),
        Fault::DatestampNotFilteredBy => {
            pair.gains(LIST, "<datestamp>2018-11-27T00:00:00Z<");
            assert_eq!(pair.total(&late), 30);
        }
        Fault::RecordsSurfaceLate => {
            pair.is_whole();
            pair.bad.world().add("oai:misbehave.example.org:a", 3);
            pair.bad.world().add("oai:misbehave.example.org:b", 3);
            pair.bad.world().add("oai:misbehave.example.org:c", 3);
            assert_eq!(pair.total(LIST), RECORDS + 2);
            pair.bad.world().advance(Duration::from_secs(3_600));
            assert_eq!(pair.total(LIST), RECORDS + 3);
        }
        _ => unchecked(fault),
    }
}

fn content(fault: Fault, pair: &Pair) {
    let one = record("oai:misbehave.example.org:1");
    let deleted = record("oai:misbehave.example.org:7");
    match fault {
        Fault::HeaderMissing => pair.gains(LIST, "<record><metadata>"),
        Fault::MetadataMissing => pair.loses(&one, "<metadata>"),
        Fault::MetadataEmpty => pair.gains(&one, "<metadata/>"),
        Fault::IdentifierMissing => {
            pair.loses(&one, "<identifier>");
            assert_eq!(pair.bad(HEADERS).identifiers().len(), 6);
        }
        Fault::DatestampMissing => pair.loses(&one, "<datestamp>"),
        Fault::SetSpecMissing => {
            pair.loses(LIST, "<setSpec>");
            assert_eq!(pair.bad("verb=ListSets").count("<setSpec>"), 6);
        }
        Fault::DeletedCapitalised => pair.gains(&deleted, "status=\"Deleted\""),
        Fault::DeletionsUnannounced => {
            pair.error(&deleted, "idDoesNotExist");
            assert_eq!(pair.total(LIST), RECORDS - 5);
            assert!(pair.bad("verb=Identify").has("<deletedRecord>persistent<"));
        }
        Fault::DeletionsOutsideSets => {
            pair.is_whole();
            let set = format!("{LIST}&set=maps");
            let held = harvest(&pair.good.url(), &set);
            let living = held.values().filter(|record| !record.deleted).count();
            assert!(living < held.len());
            assert_eq!(pair.total(&set), living);
        }
        Fault::EverythingVanishes => {
            pair.error(LIST, "noRecordsMatch");
            pair.error(&one, "idDoesNotExist");
        }
        Fault::GetRecordDenies => {
            pair.error(&one, "idDoesNotExist");
            pair.is_whole();
        }
        Fault::ListRecordsBroken => {
            pair.status(LIST, 500);
            assert_eq!(pair.total(HEADERS), RECORDS);
            assert!(pair.bad(&one).has("<dc:title>"));
        }
        Fault::LongBaseUrl => {
            assert!(pair.bad.url().len() > 2_000);
            pair.is_whole();
        }
        Fault::HtmlInDescription => pair.gains(LIST, "<dc:description><p>One<br/>"),
        _ => sets_and_errors(fault, pair),
    }
}

fn sets_and_errors(fault: Fault, pair: &Pair) {
    let maps = format!("{LIST}&set=maps");
    match fault {
        Fault::LongSets => {
            let sets = pair.bad("verb=ListSets").text();
            let spec = sets
                .split("<setSpec>")
                .nth(1)
                .unwrap()
                .split('<')
                .next()
                .unwrap()
                .to_owned();
            assert!(spec.len() > 2_000 && pair.bad(LIST).has(&spec));
            let inside = harvest(&pair.good.url(), &maps).len();
            assert_eq!(pair.total(&format!("{LIST}&set={spec}")), inside);
            pair.error(&maps, "noRecordsMatch");
        }
        Fault::SetVanished => {
            pair.error(&maps, "noRecordsMatch");
            pair.loses("verb=ListSets", "<setSpec>maps<");
            pair.loses(LIST, "<setSpec>maps<");
            pair.is_whole();
        }
        Fault::ManySlowSets => {
            let url = pair.bad.url();
            let sets: usize = pages(&url, "verb=ListSets")
                .iter()
                .map(|page| page.count("<set>"))
                .sum();
            assert_eq!(sets, 56);
            assert!(pair.bad(&maps).took >= Duration::from_millis(40));
        }
        Fault::SetDemanded => {
            pair.error(LIST, "badArgument");
            assert_eq!(pair.total(&maps), harvest(&pair.good.url(), &maps).len());
        }
        Fault::CannotDisseminate => pair.error(NOTHING, "cannotDisseminateFormat"),
        Fault::UnknownErrorCode => pair.error(LIST, "internalError"),
        Fault::EmptyList => {
            pair.gains(NOTHING, "<ListRecords></ListRecords>");
            pair.is_whole();
        }
        _ => unchecked(fault),
    }
}

fn attack(fault: Fault, pair: &Pair) {
    match fault {
        Fault::GzipBomb => {
            let got = pair.bad(LIST);
            assert!(got.complete && got.body.len() < 100 << 10);
            assert!(unpacked(&got.body).len() > 3 << 20);
        }
        Fault::EndlessBody => {
            let got = pair.briefly(LIST, 1 << 20, 5_000);
            assert!(got.body.len() > 900_000 && got.count("<record>") > 100 && !got.complete);
        }
        Fault::EndlessText => {
            let got = pair.briefly(LIST, 1 << 20, 5_000);
            assert!(got.body.len() > 900_000 && !got.has("</request>"));
        }
        Fault::EndlessHeaders => {
            let got = pair.briefly(LIST, 1 << 20, 5_000);
            assert!(got.head.len() > 900_000 && got.body.is_empty());
        }
        Fault::HugeHeader => {
            let got = pair.bad(LIST);
            assert_eq!(got.header("X-Filler").unwrap().len(), 3 << 20);
            assert!(got.has("</OAI-PMH>"));
        }
        Fault::SlowHeaders => {
            let got = pair.briefly(LIST, 1 << 20, 400);
            assert!(got.body.is_empty() && (1..40).contains(&got.head.len()), "{}", got.head);
        }
        Fault::LengthTooShort => {
            let got = pair.bad(LIST);
            assert!(got.complete && !got.has("</OAI-PMH>"));
        }
        Fault::NotHttp => assert!(pair.bad(LIST).head.contains("ESMTP")),
        Fault::EntityExpansion => {
            pair.gains(LIST, "<!ENTITY e9 ");
            assert!(pair.bad(LIST).has("<dc:title>&e9;"));
        }
        Fault::ExternalEntity => {
            pair.gains(LIST, "SYSTEM \"file:///etc/passwd\"");
            assert!(pair.bad(LIST).has("<dc:title>&file;"));
        }
        Fault::DoctypeOnly => pair.gains(LIST, "<!DOCTYPE OAI-PMH>"),
        Fault::HugeToken => token(fault, pair),
        Fault::RedirectPrivate => assert!(pair.location().starts_with("http://10.0.0.1/oai?verb=")),
        Fault::RedirectLinkLocal => assert!(pair.location().starts_with("http://169.254.169.254/")),
        Fault::RedirectFile => assert_eq!(pair.location(), "file:///etc/passwd"),
        Fault::RedirectLoopback => assert!(pair.location().starts_with("http://localhost:")),
        _ => unchecked(fault),
    }
}

#[test]
fn a_fault_hits_the_page_and_the_times_it_is_told() {
    let script = Script::new()
        .page_size(10)
        .fault(Fault::RetryAfterSeconds, When::always().page(2).times(2));
    let endpoint = Endpoint::start(World::of(30), script).unwrap();
    let first = ask(&endpoint.url(), LIST);
    let second = format!("verb=ListRecords&resumptionToken={}", first.token().unwrap());
    let statuses: Vec<u16> = (0..3).map(|_| ask(&endpoint.url(), &second).status).collect();
    assert_eq!((first.status, statuses), (200, vec![503, 503, 200]));
}

#[test]
fn a_fault_hits_the_record_it_is_told() {
    let victim = "oai:misbehave.example.org:25";
    let script = Script::new()
        .page_size(10)
        .fault(Fault::BareAmpersand, When::always().identifier(victim));
    let endpoint = Endpoint::start(World::of(30), script).unwrap();
    let hits: Vec<usize> = pages(&endpoint.url(), LIST)
        .iter()
        .map(|page| page.count("Salt & pepper"))
        .collect();
    assert_eq!(hits, [0, 0, 1]);
    let one = ask(&endpoint.url(), &record(victim));
    assert!(one.has("Salt & pepper"));
}

#[test]
fn faults_are_applied_together() {
    let script: Script = "page-size 5\nfault datestamp-milliseconds\nfault gzip-undeclared on ListRecords"
        .parse()
        .unwrap();
    let endpoint = Endpoint::start(World::of(10), script).unwrap();
    let page = unpacked(&ask(&endpoint.url(), LIST).body);
    assert!(String::from_utf8(page).unwrap().contains(".123Z</datestamp>"));
    assert!(ask(&endpoint.url(), HEADERS).has(".123Z</datestamp>"));
}
