//! Checks that are one request and the codes it must be answered with.

use stook_oai::ErrorCode::{self, *};

use crate::scene::Scene;
use crate::support::answer::ask;

/// The codes of an answer; none of them for a request that is granted.
type Codes = &'static [ErrorCode];

/// What must be answered.
pub enum Expect {
    /// These codes, each at least once, everywhere.
    Always(Codes),
    /// By granularity: with seconds, with days.
    Granularity(Codes, Codes),
    /// With sets, without.
    Sets(Codes, Codes),
}

use Expect::{Always, Granularity, Sets};

/// Id, query and expectation. `{list}` stands for either list of records, the rest in braces is filled by the scene.
pub type Row = (&'static str, &'static str, Expect);

/// Checks made by the tests below.
pub const MADE: &[&str] = &["E-13"];

const FINE: Codes = &[];
const DC: &str = "{list}&metadataPrefix=oai_dc";

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    ("I-1", "verb=Identify", Always(FINE)),
    ("I-13", "verb=Identify&test=test", Always(&[BadArgument])),
    ("I-14", "verb=Identify&identifier={id0}", Always(&[BadArgument])),
    ("I-14", "verb=Identify&resumptionToken=x", Always(&[BadArgument])),

    ("M-1", "verb=ListMetadataFormats", Always(FINE)),
    ("M-7", "verb=ListMetadataFormats&identifier={id0}", Always(FINE)),
    ("M-8", "verb=ListMetadataFormats&identifier=really_wrong_id", Always(&[IdDoesNotExist])),
    ("M-8", "verb=ListMetadataFormats&identifier=", Always(&[IdDoesNotExist])),
    ("M-9", "verb=ListMetadataFormats&metadataPrefix=oai_dc", Always(&[BadArgument])),
    ("M-9", "verb=ListMetadataFormats&resumptionToken=x", Always(&[BadArgument])),
    ("M-9", "verb=ListMetadataFormats&set=a", Always(&[BadArgument])),
    ("M-10", "verb=ListMetadataFormats&identifier={id0}&identifier={id0}", Always(&[BadArgument])),
    ("M-11", "verb=ListMetadataFormats&identifier={deleted}", Always(&[NoMetadataFormats])),

    ("S-1", "verb=ListSets", Sets(FINE, &[NoSetHierarchy])),
    ("S-8", "verb=ListSets&metadataPrefix=oai_dc", Always(&[BadArgument])),
    ("S-8", "verb=ListSets&set=a", Always(&[BadArgument])),
    ("S-9", "verb=ListSets&resumptionToken=junk", Sets(&[BadResumptionToken], &[NoSetHierarchy])),
    ("S-10", "{list}&metadataPrefix=oai_dc&set=x", Sets(&[NoRecordsMatch], &[NoSetHierarchy])),

    ("L-1", "verb=ListIdentifiers&metadataPrefix=oai_dc", Always(FINE)),
    ("L-4", "verb=ListIdentifiers", Always(&[BadArgument])),
    ("L-5", "verb=ListIdentifiers&metadataPrefix=mods", Always(FINE)),
    ("L-6", "{list}&metadataPrefix=illegal_mdp", Always(&[CannotDisseminateFormat])),
    ("L-6", "{list}&metadataPrefix=OAI_DC", Always(&[CannotDisseminateFormat])),
    ("L-8", "verb=ListIdentifiers&metadataPrefix=oai_dc&set=a", Sets(FINE, &[NoSetHierarchy])),

    ("G-1", "verb=GetRecord&identifier={id0}&metadataPrefix=oai_dc", Always(FINE)),
    ("G-4", "verb=GetRecord&identifier=oai%3Aferry.example.org%3A41&metadataPrefix=mods", Always(FINE)),
    ("G-5", "verb=GetRecord&identifier={id0}", Always(&[BadArgument])),
    ("G-6", "verb=GetRecord&metadataPrefix=oai_dc", Always(&[BadArgument])),
    ("G-7", "verb=GetRecord&identifier={id0}&metadataPrefix=really_wrong_mdp", Always(&[CannotDisseminateFormat])),
    ("G-7", "verb=GetRecord&identifier={id0}&metadataPrefix=mods", Always(&[CannotDisseminateFormat])),
    ("G-8", "verb=GetRecord&identifier=really_wrong_id&metadataPrefix=oai_dc", Always(&[IdDoesNotExist])),
    ("G-8", "verb=GetRecord&identifier=oai%3Aferry.example.org%3A&metadataPrefix=oai_dc", Always(&[IdDoesNotExist])),
    ("G-9", "verb=GetRecord&identifier=invalid\"id&metadataPrefix=oai_dc", Always(&[IdDoesNotExist])),
    ("G-9", "verb=GetRecord&identifier=invalid%22id&metadataPrefix=oai_dc", Always(&[IdDoesNotExist])),
    ("G-10", "verb=GetRecord&identifier=wrong&metadataPrefix=wrong", Always(&[CannotDisseminateFormat, IdDoesNotExist])),
    ("G-11", "verb=GetRecord&identifier={id0}&metadataPrefix=oai_dc&resumptionToken=x", Always(&[BadArgument])),
    ("G-11", "verb=GetRecord&identifier={id0}&metadataPrefix=oai_dc&set=a", Always(&[BadArgument])),
    ("G-11", "verb=GetRecord&identifier={id0}&metadataPrefix=oai_dc&from=2024-01-01", Always(&[BadArgument])),
    ("G-13", "verb=GetRecord&identifier=OAI%3Aferry.example.org%3A11&metadataPrefix=oai_dc", Always(&[IdDoesNotExist])),
    ("G-13", "verb=GetRecord&identifier=oai%3AFerry.Example.org%3A11&metadataPrefix=oai_dc", Always(&[IdDoesNotExist])),

    ("R-1", "verb=ListRecords&metadataPrefix=oai_dc", Always(FINE)),
    ("R-2", "verb=ListRecords", Always(&[BadArgument])),
    ("R-10", "verb=ListRecords&metadataPrefix=mods&from=2024-03-01&until=2024-03-31", Always(FINE)),
    ("R-12", "{list}&metadataPrefix=oai_dc&metadataPrefix=oai_dc", Always(&[BadArgument])),
    ("R-12", "{list}&metadataPrefix=oai_dc&metadataPrefix=mods", Always(&[BadArgument])),

    ("D-2", "{list}&metadataPrefix=oai_dc&from={ds0}&until={ds0}", Always(FINE)),
    ("D-7", "{list}&metadataPrefix=oai_dc&from=2001-01-01", Always(FINE)),
    ("D-8", "{list}&metadataPrefix=oai_dc&from=2001-01-01T00:00:00Z", Granularity(FINE, &[BadArgument])),
    ("D-8", "{list}&metadataPrefix=oai_dc&until=2024-12-31T23%3A59%3A59Z", Granularity(FINE, &[BadArgument])),
    ("D-9", "{list}&metadataPrefix=oai_dc&from=2001", Always(&[BadArgument])),
    ("D-9", "{list}&metadataPrefix=oai_dc&from=2001-01", Always(&[BadArgument])),
    ("D-9", "{list}&metadataPrefix=oai_dc&from=20010101", Always(&[BadArgument])),
    ("D-9", "{list}&metadataPrefix=oai_dc&from=2001-1-1", Always(&[BadArgument])),
    ("D-9", "{list}&metadataPrefix=oai_dc&until=2001-01-01Z", Always(&[BadArgument])),
    ("D-9", "{list}&metadataPrefix=oai_dc&until=-2001-01-01", Always(&[BadArgument])),
    ("D-9", "{list}&metadataPrefix=oai_dc&until=12001-01-01", Always(&[BadArgument])),
    ("D-10", "{list}&metadataPrefix=oai_dc&from=2001-01-01T00:00Z", Always(&[BadArgument])),
    ("D-10", "{list}&metadataPrefix=oai_dc&from=2001-01-01T00:00:00", Always(&[BadArgument])),
    ("D-10", "{list}&metadataPrefix=oai_dc&from=2001-01-01T00:00:00.0Z", Always(&[BadArgument])),
    ("D-10", "{list}&metadataPrefix=oai_dc&from=2001-01-01T00:00:00%2B00:00", Always(&[BadArgument])),
    ("D-10", "{list}&metadataPrefix=oai_dc&from=2001-01-01T00:00:00+00:00", Always(&[BadArgument])),
    ("D-10", "{list}&metadataPrefix=oai_dc&from=2001-01-01t00:00:00Z", Always(&[BadArgument])),
    ("D-10", "{list}&metadataPrefix=oai_dc&from=2001-01-01T00:00:00z", Always(&[BadArgument])),
    ("D-10", "{list}&metadataPrefix=oai_dc&from=2001-01-01%2000:00:00Z", Always(&[BadArgument])),
    ("D-10", "{list}&metadataPrefix=oai_dc&from=%202001-01-01", Always(&[BadArgument])),
    ("D-10", "{list}&metadataPrefix=oai_dc&from=2001-01-01%0A", Always(&[BadArgument])),
    ("D-11", "{list}&metadataPrefix=oai_dc&from=2001-02-30", Always(&[BadArgument])),
    ("D-11", "{list}&metadataPrefix=oai_dc&from=2001-02-29", Always(&[BadArgument])),
    ("D-11", "{list}&metadataPrefix=oai_dc&from=2001-13-01", Always(&[BadArgument])),
    ("D-11", "{list}&metadataPrefix=oai_dc&from=2001-00-00", Always(&[BadArgument])),
    ("D-11", "{list}&metadataPrefix=oai_dc&from=2001-01-01T25:00:00Z", Always(&[BadArgument])),
    ("D-11", "{list}&metadataPrefix=oai_dc&from=2001-01-01T24:00:00Z", Always(&[BadArgument])),
    ("D-11", "{list}&metadataPrefix=oai_dc&from=2001-12-31T23:59:60Z", Always(&[BadArgument])),
    ("D-12", "{list}&metadataPrefix=oai_dc&from=junk", Always(&[BadArgument])),
    ("D-12", "{list}&metadataPrefix=oai_dc&until=junk", Always(&[BadArgument])),
    ("D-13", "{list}&metadataPrefix=oai_dc&from=2001-01-01&until=2002-01-01T00:00:00Z", Always(&[BadArgument])),
    ("D-13", "{list}&metadataPrefix=oai_dc&from=2001-01-01T00:00:00Z&until=2002-01-01", Always(&[BadArgument])),
    ("D-14", "{list}&metadataPrefix=oai_dc&from=2000-01-01&until=1999-01-01", Always(&[BadArgument])),
    ("D-14", "{list}&metadataPrefix=oai_dc&from=2024-03-01T09:00:01Z&until=2024-03-01T09:00:00Z", Always(&[BadArgument])),
    ("D-15", "{list}&metadataPrefix=oai_dc&until=2023-03-01", Always(&[NoRecordsMatch])),
    ("D-15", "{list}&metadataPrefix=oai_dc&until=2023-03-01T09:00:00Z", Granularity(&[NoRecordsMatch], &[BadArgument])),
    ("D-15", "{list}&metadataPrefix=oai_dc&until=1969-12-31", Always(&[NoRecordsMatch])),
    ("D-15", "{list}&metadataPrefix=oai_dc&from=0001-01-01&until=0001-01-01", Always(&[NoRecordsMatch])),
    ("D-16", "{list}&metadataPrefix=oai_dc&from=2024-05-02", Always(&[NoRecordsMatch])),
    ("D-16", "{list}&metadataPrefix=oai_dc&from=9999-12-31", Always(&[NoRecordsMatch])),
    ("D-17", "{list}&metadataPrefix=oai_dc&until=9999-12-31", Always(FINE)),
    ("D-18", "{list}&metadataPrefix=oai_dc&from=2000-01-01&until=2000-01-01", Always(&[NoRecordsMatch])),
    ("D-20", "{list}&metadataPrefix=oai_dc&from=", Always(&[BadArgument])),
    ("D-20", "{list}&metadataPrefix=oai_dc&until=", Always(&[BadArgument])),
    ("D-20", "{list}&metadataPrefix=oai_dc&from", Always(&[BadArgument])),

    ("T-5", "{list}&metadataPrefix=oai_dc&set=really_wrong_set", Sets(&[NoRecordsMatch], &[NoSetHierarchy])),
    ("T-5", "{list}&metadataPrefix=oai_dc&set=a%3Ab%3Ac%3Ad", Sets(&[NoRecordsMatch], &[NoSetHierarchy])),
    ("T-5", "{list}&metadataPrefix=oai_dc&set=A", Sets(&[NoRecordsMatch], &[NoSetHierarchy])),
    ("T-6", "{list}&metadataPrefix=oai_dc&set=a%3A%3Ab", Always(&[BadArgument])),
    ("T-6", "{list}&metadataPrefix=oai_dc&set=a%20b", Always(&[BadArgument])),
    ("T-6", "{list}&metadataPrefix=oai_dc&set=%3Aa", Always(&[BadArgument])),
    ("T-6", "{list}&metadataPrefix=oai_dc&set=a%3A", Always(&[BadArgument])),
    ("T-6", "{list}&metadataPrefix=oai_dc&set=a%25", Always(&[BadArgument])),
    ("T-6", "{list}&metadataPrefix=oai_dc&set=", Always(&[BadArgument])),
    ("T-7", "{list}&metadataPrefix=oai_dc&set=wrong&from=random&until=random", Always(&[BadArgument])),
    ("T-8", "{list}&metadataPrefix=oai_dc&set=a&set=ab", Always(&[BadArgument])),

    ("F-15", "{list}&resumptionToken=x&metadataPrefix=oai_dc", Always(&[BadArgument])),
    ("F-15", "{list}&resumptionToken=x&until=2024-01-01", Always(&[BadArgument])),
    ("F-15", "{list}&resumptionToken=x&set=a", Always(&[BadArgument])),
    ("F-16", "{list}&resumptionToken=junk", Always(&[BadResumptionToken])),
    ("F-16", "{list}&resumptionToken=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", Always(&[BadResumptionToken])),
    ("F-20", "{list}&resumptionToken=", Always(&[BadResumptionToken])),
    ("F-20", "verb=ListSets&resumptionToken=", Sets(&[BadResumptionToken], &[NoSetHierarchy])),
    ("F-24", "{list}&resumptionToken=x&resumptionToken=x", Always(&[BadArgument])),
    ("F-24", "verb=ListSets&resumptionToken=x&resumptionToken=x", Always(&[BadArgument])),

    ("E-1", "", Always(&[BadVerb])),
    ("E-2", "junk", Always(&[BadVerb])),
    ("E-2", "metadataPrefix=oai_dc", Always(&[BadVerb])),
    ("E-3", "verb=junk", Always(&[BadVerb])),
    ("E-3", "verb=IllegalVerb", Always(&[BadVerb])),
    ("E-3", "verb=Identify%20", Always(&[BadVerb])),
    ("E-3", "verb=Identify%00", Always(&[BadVerb])),
    ("E-4", "verb=identify", Always(&[BadVerb])),
    ("E-4", "Verb=Identify", Always(&[BadVerb])),
    ("E-5", "verb=", Always(&[BadVerb])),
    ("E-5", "verb", Always(&[BadVerb])),
    ("E-6", "verb=Identify&verb=Identify", Always(&[BadVerb])),
    ("E-6", "verb=Identify&verb=ListSets", Always(&[BadVerb])),
    ("E-6", "verb=Identify&%76erb=Identify", Always(&[BadVerb])),
    ("E-7", "verb=GetRecord&Identifier={id0}&metadataPrefix=oai_dc", Always(&[BadArgument])),
    ("E-7", "{list}&metadataprefix=oai_dc", Always(&[BadArgument])),
    ("E-8", "verb=Identify&foo=1", Always(&[BadArgument])),
    ("E-8", "verb=ListMetadataFormats&foo=1", Always(&[BadArgument])),
    ("E-8", "verb=ListSets&foo=1", Always(&[BadArgument])),
    ("E-8", "verb=GetRecord&identifier={id0}&metadataPrefix=oai_dc&foo=1", Always(&[BadArgument])),
    ("E-8", "{list}&metadataPrefix=oai_dc&foo=1", Always(&[BadArgument])),
    ("E-8", "{list}&metadataPrefix=oai_dc&=1", Always(&[BadArgument])),
    ("E-8", "{list}&metadataPrefix=oai_dc&identifier={id0}", Always(&[BadArgument])),
    ("E-9", "verb=GetRecord&identifier={id0}&identifier={id0}&metadataPrefix=oai_dc", Always(&[BadArgument])),
    ("E-9", "{list}&metadataPrefix=oai_dc&from=2024-01-01&from=2024-01-01", Always(&[BadArgument])),
    ("E-9", "{list}&metadataPrefix=oai_dc&until=2024-01-01&until=2024-01-02", Always(&[BadArgument])),
    ("E-9", "{list}&metadataPrefix=oai_dc&set=a&set=a", Always(&[BadArgument])),
    ("E-10", "verb=ListRecords&from=junk&foo=1", Always(&[BadArgument])),
    ("E-11", "verb=Identify;foo=1", Always(&[BadVerb])),
    ("E-11", "verb=Identify&", Always(FINE)),
    ("E-11", "&&verb=Identify&&", Always(FINE)),
    ("E-11", "{list}&&metadataPrefix=oai_dc&", Always(FINE)),
    ("E-12", "{list}&from=x&metadataPrefix=bad/prefix", Always(&[BadArgument])),
    ("E-12", "verb=GetRecord&identifier={id0}&metadataPrefix=bad%20prefix", Always(&[BadArgument])),
    ("E-12", "{list}&metadataPrefix=", Always(&[BadArgument])),
];

/// Makes one check, on both lists of records if it concerns either.
pub fn check((id, query, expect): &Row, scene: &Scene) {
    let expected = match expect {
        Always(codes) => *codes,
        Granularity(seconds, days) => {
            if scene.days {
                days
            } else {
                seconds
            }
        }
        Sets(with, without) => {
            if scene.sets {
                with
            } else {
                without
            }
        }
    };
    let verbs: &[&str] = if query.contains("{list}") {
        &["ListRecords", "ListIdentifiers"]
    } else {
        &[""]
    };
    for verb in verbs {
        let query = scene.fill(&query.replace("{list}", &format!("verb={verb}")));
        let seen = ask(&scene.provider, &query);
        let mut codes = seen.codes.clone();
        codes.sort_by_key(|code| code.as_str());
        codes.dedup();
        assert_eq!(codes, expected, "{id} on {scene}: {query}\n{}", seen.document);
    }
}

#[test]
fn every_fault_of_a_request_is_reported() {
    let scene = Scene::new(false, true);
    let faults = |query: &str| ask(&scene.provider, query).codes.len();
    assert_eq!(
        faults("verb=ListRecords&from=junk&foo=1"),
        3,
        "E-10: date, unknown and missing argument"
    );
    assert_eq!(faults("verb=GetRecord"), 2);
    assert_eq!(faults("verb=GetRecord&identifier=wrong&metadataPrefix=wrong"), 2);
    assert_eq!(
        faults(&format!(
            "{}&until=x&from=y&set=z%20z&q=1&r=2",
            DC.replace("{list}", "verb=ListRecords")
        )),
        5
    );
    let many = format!("verb=Identify{}", "&x=1".repeat(99));
    assert_eq!(faults(&many), 21, "twenty are listed and one counts the rest");
}

#[test]
fn very_long_values_are_answered_like_short_ones() {
    let long = "x".repeat(60_000);
    for scene in Scene::all() {
        let set_error = if scene.sets { NoRecordsMatch } else { NoSetHierarchy };
        for (query, code) in [
            (format!("verb={long}"), BadVerb),
            (format!("verb=Identify&{long}=1"), BadArgument),
            (format!("verb=ListMetadataFormats&identifier={long}"), IdDoesNotExist),
            (
                format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={long}"),
                IdDoesNotExist,
            ),
            (
                format!("verb=ListRecords&metadataPrefix={long}"),
                CannotDisseminateFormat,
            ),
            (format!("verb=ListRecords&metadataPrefix=oai_dc&set={long}"), set_error),
            (
                format!("verb=ListRecords&metadataPrefix=oai_dc&from={long}"),
                BadArgument,
            ),
            (format!("verb=ListRecords&resumptionToken={long}"), BadResumptionToken),
        ] {
            let seen = ask(&scene.provider, &query);
            assert_eq!(seen.codes, [code], "E-13 on {scene}: {}…", &query[..60]);
        }
    }
}
