use crate::format::Formats;
use crate::fragment::check;

const MODS: &str = "xmlns=\"http://www.loc.gov/mods/v3\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"";

fn checked(prefix: &str, xml: &str) -> Result<(), String> {
    let formats = Formats::default();
    let format = formats.by_prefix(prefix).unwrap();
    check(xml, format).map(drop).map_err(|fault| fault.problem.to_string())
}

fn mods(inside: &str) -> Result<(), String> {
    checked("mods", &format!("<mods {MODS}>{inside}</mods>"))
}

fn datacite(change: impl Fn(String) -> String) -> Result<(), String> {
    let record = "<resource xmlns=\"http://datacite.org/schema/kernel-4\">\
        <identifier identifierType=\"DOI\">10.5072/plan</identifier>\
        <creators><creator><creatorName nameType=\"Personal\">Nikolić, Ana</creatorName>\
        <givenName>Ana</givenName><nameIdentifier nameIdentifierScheme=\"ORCID\">0000</nameIdentifier></creator></creators>\
        <titles><title xml:lang=\"sr-Latn\">Plan grada</title></titles><publisher>Arhiv</publisher>\
        <publicationYear>1750</publicationYear><resourceType resourceTypeGeneral=\"Image\">Map</resourceType>\
        </resource>";
    checked("datacite", &change(record.to_owned()))
}

fn thesis(inside: &str) -> Result<(), String> {
    let record = format!("<thesis xmlns=\"http://www.ndltd.org/standards/metadata/etdms/1.0/\">{inside}</thesis>");
    checked("etdms", &record)
}

fn qdc(inside: &str) -> Result<(), String> {
    let record = format!(
        "<q:qualifieddc xmlns:q=\"http://dspace.org/qualifieddc/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xmlns:e=\"http://purl.org/dc/elements/1.1/\" xmlns:t=\"http://purl.org/dc/terms/\">{inside}</q:qualifieddc>"
    );
    checked("qdc", &record)
}

fn oai_marc(inside: &str) -> Result<(), String> {
    let root = "oai_marc xmlns=\"http://www.openarchives.org/OAI/1.1/oai_marc\" type=\"a\" level=\"m\"";
    checked("oai_marc", &format!("<{root}>{inside}</oai_marc>"))
}

fn refused(result: Result<(), String>) -> String {
    result.expect_err("this must be refused")
}

#[test]
fn a_slip_in_a_name_is_told_with_the_name_that_was_meant() {
    assert_eq!(
        refused(mods("<titleInfo><tilte>a</tilte></titleInfo>")),
        "mods/titleInfo/tilte is not an element of MODS; did you mean title?"
    );
    assert_eq!(
        refused(mods("<titleInfo displaylabel='a'/>")),
        "mods/titleInfo@displaylabel is not an attribute of that element; did you mean displayLabel?"
    );
    assert_eq!(
        refused(datacite(|it| it.replace("<publisher>", "<publisher schemeUri='x'>"))),
        "resource/publisher@schemeUri is not an attribute of that element; did you mean schemeURI?"
    );
}

#[test]
fn an_element_in_the_wrong_place_is_told_where_it_belongs() {
    assert_eq!(
        refused(mods("<title>a</title>")),
        "mods/title may not stand there; MODS has it inside detail, titleInfo"
    );
    assert_eq!(
        refused(mods("<note>a <b>c</b></note>")),
        "mods/note/b is an element where only text may stand; leave out its tags, or write &lt; for a <"
    );
    assert_eq!(
        refused(mods("<subject xmlns:o='urn:o'><o:topic/></subject>")),
        "mods/subject/o:topic has the namespace \"urn:o\"; in MODS it has http://www.loc.gov/mods/v3"
    );
    assert_eq!(
        refused(checked(
            "mods",
            "<m:mods xmlns:m='http://www.loc.gov/mods/v3'><titleInfo/></m:mods>"
        )),
        "mods/titleInfo has no namespace; in MODS it has http://www.loc.gov/mods/v3"
    );
    assert_eq!(
        refused(datacite(|it| it.replace("<titles>", "<title/><titles>"))),
        "resource/title may not stand there; DataCite has it inside titles"
    );
    assert_eq!(
        refused(mods("<role><shout/></role>")),
        "mods/role may not stand there; MODS has it inside agent, alternativeName, name"
    );
    assert_eq!(
        refused(mods("<place><shout/></place>")),
        "mods/place may not stand there; MODS has it inside originInfo"
    );
    assert_eq!(
        refused(mods("<language><shout/></language>")),
        "mods/language/shout is not an element of MODS; language has languageTerm, scriptTerm; also mods/language: \
         languageTerm is missing"
    );
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(
        refused(datacite(|it| it.replace("<publicationYear>1750</publicationYear>", ""))),
        "resource: publicationYear is missing"
    );
    assert_eq!(
        refused(datacite(|it| it.replace(" identifierType=\"DOI\"", ""))),
        "resource/identifier@identifierType is missing"
    );
    assert_eq!(
        refused(datacite(|it| it.replace("<publisher>Arhiv", "<publisher>"))),
        "resource/publisher is \"\"; write something"
    );
    assert_eq!(refused(mods("<language/>")), "mods/language: languageTerm is missing");
    assert_eq!(
        refused(mods("<place/>")),
        "mods/place may not stand there; MODS has it inside originInfo"
    );
    assert_eq!(
        refused(mods("<part><detail/></part>")),
        "mods/part/detail is empty; put one of these inside, or leave it out: number, caption, title"
    );
    let points =
        "<polygonPoint><pointLongitude>1</pointLongitude><pointLatitude>1</pointLatitude></polygonPoint>".repeat(3);
    let polygon = format!(
        "<geoLocations><geoLocation><geoLocationPolygon>{points}</geoLocationPolygon></geoLocation></geoLocations>"
    );
    assert_eq!(
        refused(datacite(
            |it| it.replace("</resource>", &format!("{polygon}</resource>"))
        )),
        "resource/geoLocations/geoLocation/geoLocationPolygon: there must be 4 polygonPoint or more, not 3"
    );
}

#[test]
fn values_are_those_of_the_list() {
    let message = refused(datacite(|it| it.replace("\"Image\"", "\"Book article\"")));
    assert_eq!(
        message,
        "resource/resourceType@resourceTypeGeneral is \"Book article\"; use one of Audiovisual, Award, Book, \
         BookChapter, Collection, ComputationalNotebook, ConferencePaper, ConferenceProceeding, DataPaper, Dataset, \
         Dissertation, Event, …"
    );
    let message = refused(datacite(|it| it.replace("\"Image\"", "\"journal article\"")));
    assert!(
        message.contains("is \"journal article\"; did you mean JournalArticle? Use one of"),
        "{message}"
    );
    assert_eq!(
        refused(mods("<titleInfo usage='first'/>")),
        "mods/titleInfo@usage is \"first\"; use primary or leave it out"
    );
    assert_eq!(
        refused(mods("<originInfo><issuance>Monographic</issuance></originInfo>")),
        "mods/originInfo/issuance is \"Monographic\"; did you mean monographic? Use one of continuing, monographic, \
         single unit, multipart monograph, serial, integrating resource"
    );
    assert_eq!(
        refused(datacite(|it| it.replace("1750", "c. 1750"))),
        "resource/publicationYear is \"c. 1750\"; write a year of four digits such as 2024"
    );
    assert_eq!(
        refused(datacite(|it| it.replace("sr-Latn", "sr_Latn"))),
        "resource/titles/title@xml:lang is \"sr_Latn\"; write a language tag such as de or sr-Cyrl"
    );
    // A line break in an attribute is a blank.
    mods("<location><url access='raw\nobject'>https://example.org/</url></location>").unwrap();
}

#[test]
fn repeated_elements_and_identifiers_are_refused() {
    assert_eq!(
        refused(datacite(
            |it| it.replace("<publisher>", "<publisher>x</publisher><publisher>")
        )),
        "resource/publisher is there twice; resource has at most one"
    );
    assert_eq!(
        refused(mods("<note ID='a'/><note ID='a'/>")),
        "mods/note@ID is \"a\", as that of another element is; give each its own"
    );
    assert_eq!(
        refused(mods("<note ID='1'/>")),
        "mods/note@ID is \"1\"; write a name that begins with a letter, without blanks and colons, and only once in the \
         record"
    );
    mods("<note ID='a'/><note ID='b'/>").unwrap();
}

#[test]
fn order_counts_where_the_schema_has_one() {
    let right = "<title>a</title><creator>b</creator><subject/><date>2024-05</date><type/><identifier/>";
    thesis(right).unwrap();
    assert_eq!(
        refused(thesis("<creator>b</creator><title>a</title>")),
        "thesis/title stands behind creator; the order is title, alternativeTitle, creator, subject, description, \
         publisher, contributor, date, type, format, identifier, language, …; also thesis: subject, date, type, \
         identifier are missing"
    );
    assert_eq!(
        refused(thesis(&right.replace("<type/>", ""))),
        "thesis: type is missing"
    );
    assert_eq!(
        refused(thesis(&right.replace("2024-05", "May 2024"))),
        "thesis/date is \"May 2024\"; write a date such as 2024, 2024-05 or 2024-05-31"
    );
    datacite(|it| {
        it.replace("<publisher>Arhiv</publisher>", "")
            .replace("<titles>", "<publisher>A</publisher><titles>")
    })
    .unwrap();
    mods("<note/><titleInfo/><note/>").unwrap();
    let rfc1807 = "<rfc1807 xmlns=\"http://info.internet.isi.edu:80/in-notes/rfc/files/rfc1807.txt\">";
    let message = refused(checked(
        "rfc1807",
        &format!("{rfc1807}<bib-version/><id/><title/><entry/></rfc1807>"),
    ));
    assert!(
        message.starts_with("rfc1807/entry stands behind title; the order is bib-version, id, entry,"),
        "{message}"
    );
    checked(
        "rfc1807",
        &format!("{rfc1807}<bib-version/><id/><entry/><title/><title/></rfc1807>"),
    )
    .unwrap();
}

#[test]
fn text_between_elements_is_refused_and_white_space_is_not() {
    assert_eq!(
        refused(mods("<titleInfo>a<title>b</title></titleInfo>")),
        "mods/titleInfo has text between its elements; put it into one of them"
    );
    mods("\n <titleInfo>&#10;<!-- a --> <title>b</title></titleInfo>").unwrap();
    let described = |inside: &str| {
        let added = format!(
            "<descriptions><description descriptionType='Abstract'>{inside}</description></descriptions></resource>"
        );
        datacite(|it| it.replace("</resource>", &added))
    };
    described("a<br/>b").unwrap();
    assert_eq!(
        refused(described("a<br>b</br>")),
        "resource/descriptions/description/br has text inside; it must be empty"
    );
    let message = refused(described("a<i>b</i>"));
    assert_eq!(
        message,
        "resource/descriptions/description/i is not an element of DataCite; description has br"
    );
}

#[test]
fn where_the_schema_leaves_everything_free_so_do_we() {
    mods("<extension><a xmlns=''><mods xmlns='http://www.loc.gov/mods/v3'/>b</a> text</extension>").unwrap();
    mods("<accessCondition type='x' xlink:href='y' displayLabel='z'><tilte/></accessCondition>").unwrap();
    assert!(refused(mods("<extension sort='x'/>")).starts_with("mods/extension@sort is not an attribute"));
    datacite(|it| it.replace("<givenName>", "<givenName anything='x'><b/>")).unwrap();
    // What somebody derived from a type may hold more than the type.
    mods("<note xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:type='x'><b/></note>").unwrap();
}

#[test]
fn the_payload_of_a_wrapper_is_checked_as_a_record_of_its_own() {
    let wrapped = |payload: &str| {
        let record = format!(
            "<oai_datacite xmlns=\"http://schema.datacite.org/oai/oai-1.1/\"><schemaVersion>4</schemaVersion>\
             <datacentreSymbol>A.B</datacentreSymbol><payload>{payload}</payload></oai_datacite>"
        );
        checked("oai_datacite", &record)
    };
    wrapped("").unwrap();
    wrapped("<resource xmlns=\"http://datacite.org/schema/kernel-3\"><anything/></resource>").unwrap();
    assert_eq!(
        refused(wrapped("<resource xmlns=\"http://datacite.org/schema/kernel-4\"/>")),
        "oai_datacite/payload/resource: identifier, creators, titles, publisher, publicationYear, resourceType are missing"
    );
    let missing = "<oai_datacite xmlns=\"http://schema.datacite.org/oai/oai-1.1/\"><payload/></oai_datacite>";
    assert_eq!(
        refused(checked("oai_datacite", missing)),
        "oai_datacite: schemaVersion, datacentreSymbol are missing"
    );
}

#[test]
fn qualified_dublin_core_is_held_to_the_types_it_names() {
    qdc("<e:title xml:lang='de'>a</e:title><t:issued xsi:type='t:W3CDTF'>2024-05-31</t:issued>").unwrap();
    assert_eq!(
        refused(qdc("<t:issued xsi:type='t:W3CDTF'>31.5.2024</t:issued>")),
        "qualifieddc/dcterms:issued is \"31.5.2024\"; write a date such as 2024, 2024-05, 2024-05-31 or 2024-05-31T09:30:00Z"
    );
    assert!(refused(qdc("<t:issued xsi:type='t:W3CDFT'/>")).contains("dcterms:issued@xsi:type is \"t:W3CDFT\"; "));
    assert!(
        refused(qdc("<t:title xsi:type='t:LCSH' xml:lang='de'/>"))
            .contains("dcterms:title@xml:lang is not an attribute")
    );
    assert_eq!(
        refused(qdc("<e:issued/>")),
        "qualifieddc/e:issued has the namespace \"http://purl.org/dc/elements/1.1/\"; in Qualified Dublin Core it has \
         http://purl.org/dc/terms/"
    );
    assert!(refused(qdc("<e:title xsi:type='t:'/>")).contains("@xsi:type is \"t:\"; use one of dc:SimpleLiteral, "));
    assert!(refused(qdc("<e:title xsi:type='nobody:W3CDTF'/>")).contains("@xsi:type is \"nobody:W3CDTF\"; "));
    // Types of one's own are nobody else's business.
    qdc("<e:title xmlns:own='urn:own' xsi:type='own:Title'><b/></e:title>").unwrap();
}

#[test]
fn oai_marc_has_numbers_for_tags_and_quotation_marks_around_control_fields() {
    let right = "<fixfield id=\"1\">\"map-1 \"</fixfield><varfield id=\"245\" i1=\"1\" i2=\" \">\
        <subfield label=\"a\">Plan</subfield></varfield>";
    oai_marc(right).unwrap();
    for (from, to, message) in [
        (
            "\"245\"",
            "\"LKR\"",
            "oai_marc/varfield@id is \"LKR\"; write a number of one to three digits such as 245",
        ),
        (
            "i1=\"1\"",
            "i1=\"A\"",
            "oai_marc/varfield@i1 is \"A\"; write a digit, a small letter or a blank",
        ),
        ("i1=\"1\"", "", "oai_marc/varfield@i1 is missing"),
        (
            "\"a\"",
            "\"%\"",
            "oai_marc/varfield/subfield@label is \"%\"; write a digit or a small letter",
        ),
        (
            ">\"map-1 \"<",
            ">map-1<",
            "oai_marc/fixfield is \"map-1\"; write quotation marks around it, and none inside",
        ),
        (
            "<subfield label=\"a\">Plan</subfield>",
            "",
            "oai_marc/varfield: subfield is missing",
        ),
        (
            "<fixfield id=\"1\">\"map-1 \"</fixfield>",
            "",
            "oai_marc: fixfield is missing",
        ),
    ] {
        assert_eq!(refused(oai_marc(&right.replace(from, to))), message);
    }
}

#[test]
fn a_fault_in_the_content_tells_its_line() {
    let formats = Formats::default();
    let xml = format!("<mods {MODS}>\n<titleInfo>\n<tilte/></titleInfo></mods>");
    let fault = check(&xml, formats.by_prefix("mods").unwrap()).unwrap_err();
    assert_eq!(fault.line, 3);
    // A format of one's own for the same records is held to the same model.
    let own = crate::format::Format::new(
        stook_oai::MetadataPrefix::parse("our_mods").unwrap(),
        "Our MODS".to_owned(),
        "http://www.loc.gov/mods/v3".to_owned(),
        "https://example.org/mods.xsd".to_owned(),
        None,
    );
    assert!(check(&xml, &own).is_err());
}

#[test]
fn deep_places_are_cut_and_endless_names_too() {
    let deep = format!(
        "{}<tilte/>{}",
        "<relatedItem>".repeat(150),
        "</relatedItem>".repeat(150)
    );
    let message = refused(mods(&deep));
    assert_eq!(
        message,
        format!(
            "…/{}/tilte is not an element of MODS; relatedItem has abstract, accessCondition, classification, \
         extension, genre, identifier, language, location, name, note, originInfo, part, …",
            ["relatedItem"; 8].join("/")
        )
    );
    let long = "x".repeat(100_000);
    let message = refused(mods(&format!("<{long} {long}='{long}'/>")));
    assert!(message.len() < 500, "{message}");
    let message = refused(mods(&format!("<titleInfo type='{long}' {long}='{long}'/>")));
    assert!(message.len() < 500, "{message}");
}

#[test]
fn containers_are_held_to_their_models() {
    let container = |xml: &str| {
        let checked = crate::check_container(xml, &crate::Namespaces::none());
        checked.map_err(|fault| fault.problem.to_string())
    };
    let origin = |attributes: &str, inside: &str| {
        format!(
            "<provenance xmlns='http://www.openarchives.org/OAI/2.0/provenance'><originDescription {attributes}>\
             <baseURL>http://example.org/oai</baseURL><identifier>oai:example.org:1</identifier>\
             <datestamp>2024-05-31</datestamp><metadataNamespace>urn:x</metadataNamespace>{inside}\
             </originDescription></provenance>"
        )
    };
    let right = "harvestDate='2024-06-01T00:00:00Z' altered='true'";
    assert_eq!(container(&origin(right, "")), Ok(()));
    for (attributes, inside, message) in [
        (
            "altered='true'",
            "",
            "provenance/originDescription@harvestDate is missing",
        ),
        (
            "harvestDate='2024-06' altered='1'",
            "",
            "provenance/originDescription@harvestDate is \"2024-06\"; write a date such as 2024-05-31 or \
             2024-05-31T09:30:00Z",
        ),
        (
            right,
            "<originDescription/>",
            "provenance/originDescription/originDescription@harvestDate is missing; also \
             provenance/originDescription/originDescription: baseURL, identifier, datestamp, metadataNamespace are missing",
        ),
    ] {
        assert_eq!(refused(container(&origin(attributes, inside))), message);
    }
    let identifier = |namespace: &str| {
        container(&format!(
            "<oai-identifier xmlns='http://www.openarchives.org/OAI/2.0/oai-identifier'><scheme>oai</scheme>\
             <repositoryIdentifier>{namespace}</repositoryIdentifier><delimiter>:</delimiter>\
             <sampleIdentifier>oai:example.org:1</sampleIdentifier></oai-identifier>"
        ))
    };
    assert_eq!(identifier("example.org"), Ok(()));
    assert_eq!(
        refused(identifier("example")),
        "oai-identifier/repositoryIdentifier is \"example\"; write a domain name such as example.org"
    );
    let rights = "xmlns='http://www.openarchives.org/OAI/2.0/rights/'";
    assert_eq!(
        refused(container(&format!("<rights {rights}/>"))),
        "rights is empty; put one of these inside, or leave it out: rightsReference, rightsDefinition"
    );
    assert_eq!(
        container(&format!("<rights {rights}><rightsReference ref='urn:x'/></rights>")),
        Ok(())
    );
    // What nobody knows is nobody's business.
    assert_eq!(container("<x xmlns='urn:x'><y/></x>"), Ok(()));
}

#[test]
fn several_mistakes_are_told_at_once() {
    assert_eq!(
        refused(datacite(|it| {
            it.replace("DOI", "doi")
                .replace("<publisher>Arhiv</publisher>", "")
                .replace("<publicationYear>1750</publicationYear>", "")
                .replace("<title xml", "<tilte/><title xml")
        })),
        "resource/titles/tilte is not an element of DataCite; did you mean title?; also \
         resource: publisher, publicationYear are missing"
    );
    // What stands in the wrong order is there all the same, and the same mistake again is one.
    assert_eq!(
        refused(thesis(
            "<creator>a</creator><title>b</title><subject/><date>May</date><date>May</date><type>t</type>"
        )),
        "thesis/title stands behind creator; the order is title, alternativeTitle, creator, subject, description, publisher, \
         contributor, date, type, format, identifier, language, …; also thesis/date is \"May\"; write a date such as 2024, \
         2024-05 or 2024-05-31; also thesis/date is there twice; thesis has at most one; also thesis: identifier is missing"
    );
    let many: String = (0..50).map(|number| format!("<wrong{number}/>")).collect();
    let told = refused(mods(&many));
    assert!(told.contains("wrong9") && !told.contains("wrong10"), "{told}");
    assert!(told.ends_with("; also perhaps more"), "{told}");
    // What is inside something that may not stand there is not looked at.
    let told = refused(mods("<wrong><tilte/></wrong><titleInfo><tilte/></titleInfo>"));
    assert_eq!(told.matches("tilte").count(), 1, "{told}");
    // Nothing is told of what comes behind the end of sense.
    let told = refused(mods("<wrong/><titleInfo></mods>"));
    assert!(told.starts_with("mods/wrong") && !told.contains("also"), "{told}");
}
