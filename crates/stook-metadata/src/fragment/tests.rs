use super::*;
use crate::fault::Problem;
use crate::format::{Formats, well_known};

const OAI_DC: &str = "xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
    xmlns:dc=\"http://purl.org/dc/elements/1.1/\"";

fn oai_dc() -> &'static Format {
    &well_known()[0]
}

fn format(prefix: &str) -> Format {
    Formats::default().by_prefix(prefix).unwrap().clone()
}

fn dc(inside: &str) -> String {
    format!("<oai_dc:dc {OAI_DC}>{inside}</oai_dc:dc>")
}

fn problem(xml: &str) -> Problem {
    check(xml, oai_dc()).unwrap_err().problem
}

fn around(declarations: &[(&str, &str)]) -> Namespaces {
    let mut namespaces = Namespaces::none();
    for (prefix, uri) in declarations {
        namespaces.declare(prefix, uri);
    }
    namespaces
}

#[test]
fn a_missing_schema_location_is_added_to_the_root() {
    let checked = check(&dc("<dc:title>a</dc:title>"), oai_dc()).unwrap();
    assert_eq!(
        checked,
        format!(
            "<oai_dc:dc {OAI_DC} xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
             xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/ \
             http://www.openarchives.org/OAI/2.0/oai_dc.xsd\"><dc:title>a</dc:title></oai_dc:dc>"
        )
    );
    assert_eq!(check(&checked, oai_dc()).unwrap(), checked);
}

#[test]
fn an_empty_root_keeps_its_slash() {
    let checked = check(&format!("<oai_dc:dc {OAI_DC} />"), oai_dc()).unwrap();
    assert!(checked.ends_with("oai_dc.xsd\" />"), "{checked}");
    check(&checked, oai_dc()).unwrap();
}

#[test]
fn the_schema_of_the_format_is_corrected_and_other_pairs_are_kept() {
    let xml = "<mets xmlns='http://www.loc.gov/METS/' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' \
        i:schemaLocation='urn:x x.xsd\n http://www.loc.gov/METS/ http://www.loc.gov/mets/1-12.xsd'><a/></mets>";
    let checked = check(xml, &format("mets")).unwrap();
    assert!(
        checked.contains(
            "i:schemaLocation='urn:x x.xsd http://www.loc.gov/METS/ \
             http://www.loc.gov/standards/mets/mets.xsd'><a/>"
        ),
        "{checked}"
    );
}

#[test]
fn a_schema_location_for_other_namespaces_gets_the_pair_of_the_format() {
    let xml = "<mets xmlns='http://www.loc.gov/METS/' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' \
        xsi:schemaLocation='urn:x x.xsd'/>";
    let checked = check(xml, &format("mets")).unwrap();
    assert!(
        checked.contains("'urn:x x.xsd http://www.loc.gov/METS/ http"),
        "{checked}"
    );
}

#[test]
fn a_prefix_xsi_that_means_something_else_is_left_alone() {
    let xml = "<mets xmlns='http://www.loc.gov/METS/' xmlns:xsi='urn:other' xsi:a='1'/>";
    let checked = check(xml, &format("mets")).unwrap();
    assert!(checked.contains(" xsi_:schemaLocation="), "{checked}");
    check(&checked, &format("mets")).unwrap();
}

#[test]
fn what_surrounds_the_root_is_dropped_and_the_inside_kept_byte_for_byte() {
    let inside = "\n  <!-- kept --><?kept too?>\r\n<dc:title  xml:lang='de' >a &#x26; <![CDATA[<b>]]></dc:title >";
    let xml = format!(
        "\u{FEFF}<?xml version='1.0'?>\n<!-- x --><?y?>{}\n<!-- z -->",
        dc(inside)
    );
    let checked = check(&xml, oai_dc()).unwrap();
    assert!(checked.starts_with("<oai_dc:dc ") && checked.ends_with("</oai_dc:dc>"));
    assert!(checked.contains(inside));
}

#[test]
fn broken_nesting_is_refused() {
    assert_eq!(problem(""), Problem::NoRoot);
    assert_eq!(problem("  <!-- nothing -->"), Problem::NoRoot);
    assert_eq!(problem("text"), Problem::TextOutsideRoot);
    assert_eq!(problem("</a>"), Problem::StrayEndTag("a".into()));
    assert_eq!(problem(&format!("{}x", dc(""))), Problem::TextOutsideRoot);
    assert_eq!(problem(&format!("{}<a/>", dc(""))), Problem::SecondRoot("a".into()));
    assert_eq!(problem(&format!("{}</a>", dc(""))), Problem::StrayEndTag("a".into()));
    assert_eq!(
        problem(&dc("<dc:title>")),
        Problem::WrongEndTag {
            expected: "dc:title".into(),
            found: "oai_dc:dc".into()
        }
    );
    let open = format!("<oai_dc:dc {OAI_DC}><dc:title>");
    assert_eq!(problem(&open), Problem::NotClosed("dc:title".into()));
}

#[test]
fn a_fault_tells_its_line() {
    let fault = check(&dc("\n\n<dc:titel/>"), oai_dc()).unwrap_err();
    assert_eq!(fault.line, 3);
    assert_eq!(
        fault.to_string(),
        format!(
            "<dc:titel> is not one of the fifteen Dublin Core elements, the only ones oai_dc \
             allows (line 3, byte {})",
            fault.offset
        )
    );
}

#[test]
fn an_entity_bomb_is_refused_at_its_doctype() {
    let xml = format!(
        "<!DOCTYPE lolz [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>{}",
        dc("<dc:title>&b;</dc:title>")
    );
    assert_eq!(problem(&xml), Problem::Doctype);
}

#[test]
fn another_root_is_refused_by_name_and_namespace() {
    for xml in [
        "<dc/>",
        "<oai_dc:dc xmlns:oai_dc='http://www.openarchives.org/OAI/2.0/oai_dc'/>",
        "<x:record xmlns:x='http://www.openarchives.org/OAI/2.0/oai_dc/'/>",
    ] {
        assert!(matches!(problem(xml), Problem::WrongRoot { .. }), "{xml}");
    }
    let message = problem("<dc/>").to_string();
    assert_eq!(
        message,
        "the root is <dc> without a namespace; oai_dc records have <dc> of the namespace \
         \"http://www.openarchives.org/OAI/2.0/oai_dc/\""
    );
}

#[test]
fn dublin_core_is_held_to_its_schema() {
    for (inside, expected) in [
        ("<dc:titel/>", Problem::NotDublinCore("dc:titel".into())),
        ("<title/>", Problem::NotDublinCore("title".into())),
        ("<dc:Title/>", Problem::NotDublinCore("dc:Title".into())),
        ("<dc:title><b/></dc:title>", Problem::NestedElement("b".into())),
        ("stray", Problem::TextBetweenElements),
        ("<![CDATA[stray]]>", Problem::TextBetweenElements),
        (
            "<dc:title scheme='x'/>",
            Problem::ForeignAttribute {
                element: "dc:title".into(),
                attribute: "scheme".into(),
            },
        ),
        ("<dc:title xml:lang='de_DE'/>", Problem::BadLanguage("de_DE".into())),
        ("<dc:title xml:lang=''/>", Problem::BadLanguage(String::new())),
    ] {
        assert_eq!(problem(&dc(inside)), expected, "{inside}");
    }
    let on_root = format!("<oai_dc:dc {OAI_DC} xml:lang='de'/>");
    assert!(matches!(problem(&on_root), Problem::ForeignAttribute { .. }));
    check(
        &dc("&#32;<dc:title xml:lang='sr-Cyrl'>x</dc:title><t:date xmlns:t='http://purl.org/dc/elements/1.1/'/>"),
        oai_dc(),
    )
    .unwrap();
}

#[test]
fn undeclared_prefixes_and_bad_declarations_are_refused() {
    assert_eq!(problem("<a:b/>"), Problem::UndeclaredPrefix("a:b".into()));
    assert_eq!(problem("<b a:c='1'/>"), Problem::UndeclaredPrefix("a:c".into()));
    for xml in [
        "<a xmlns:b=''/>",
        "<a xmlns:xml='urn:x'/>",
        "<a xmlns:xmlns='urn:x'/>",
        "<a xmlns:b='http://www.w3.org/2000/xmlns/'/>",
        "<a xmlns='http://www.w3.org/XML/1998/namespace'/>",
    ] {
        assert!(matches!(problem(xml), Problem::BadDeclaration(_)), "{xml}");
    }
    let sibling = "<dc:title xmlns:x='urn:x'/><x:title/>";
    assert_eq!(problem(&dc(sibling)), Problem::UndeclaredPrefix("x:title".into()));
}

#[test]
fn one_attribute_under_two_prefixes_is_refused() {
    let xml = "<mets xmlns='http://www.loc.gov/METS/' xmlns:a='urn:x' xmlns:b='urn:x'><t a:c='1' b:c='2'/></mets>";
    let fault = check(xml, &format("mets")).unwrap_err();
    assert_eq!(fault.problem, Problem::RepeatedAttribute("b:c".into()));
    let fine = xml.replace("b:c", "b:d");
    check(&fine, &format("mets")).unwrap();
}

#[test]
fn nesting_and_declarations_are_bounded() {
    let deep = |depth: usize| {
        let (open, close) = ("<a>".repeat(depth), "</a>".repeat(depth));
        format!("<mets xmlns='http://www.loc.gov/METS/'>{open}{close}</mets>")
    };
    check(&deep(MAX_DEPTH - 1), &format("mets")).unwrap();
    let fault = check(&deep(MAX_DEPTH), &format("mets")).unwrap_err();
    assert_eq!(fault.problem, Problem::TooDeep(MAX_DEPTH));

    let many: String = (0..200).map(|n| format!(" xmlns:p{n}='urn:{n}'")).collect();
    let xml = format!("<mets xmlns='http://www.loc.gov/METS/'{many}><a{many}/></mets>");
    let fault = check(&xml, &format("mets")).unwrap_err();
    assert_eq!(fault.problem, Problem::TooManyNamespaces(MAX_NAMESPACES));
}

#[test]
fn declarations_of_the_surroundings_are_copied_where_needed() {
    let around = around(&[
        ("", "http://www.openarchives.org/OAI/2.0/"),
        ("oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc/"),
        ("dc", "http://purl.org/dc/elements/1.1/"),
        ("xsi", "http://www.w3.org/2001/XMLSchema-instance"),
        ("unused", "urn:unused"),
    ]);
    let xml = "<oai_dc:dc><dc:title>a</dc:title></oai_dc:dc>";
    let checked = check_within(xml, oai_dc(), &around).unwrap();
    assert!(
        checked.contains("xmlns:oai_dc=") && checked.contains("xmlns:dc="),
        "{checked}"
    );
    assert!(
        !checked.contains("unused") && !checked.contains(" xmlns=\""),
        "{checked}"
    );
    assert_eq!(check(&checked, oai_dc()).unwrap(), checked);
}

#[test]
fn a_prefix_in_a_value_keeps_its_declaration() {
    let around = around(&[("", "http://www.loc.gov/METS/"), ("t", "urn:types"), ("u", "urn:u")]);
    let checked = check_within("<mets a='t:URI'/>", &format("mets"), &around).unwrap();
    assert!(
        checked.contains(" xmlns:t=\"urn:types\"") && !checked.contains("urn:u\""),
        "{checked}"
    );
    assert!(checked.contains(" xmlns=\"http://www.loc.gov/METS/\""), "{checked}");
}

#[test]
fn an_inherited_xsi_of_another_meaning_does_not_disturb() {
    let around = around(&[("xsi", "urn:other")]);
    let xml = "<mets xmlns='http://www.loc.gov/METS/'><xsi:a/></mets>";
    let checked = check_within(xml, &format("mets"), &around).unwrap();
    assert!(checked.contains("xmlns:xsi=\"urn:other\"") && checked.contains("xsi_:schemaLocation"));
    assert_eq!(check(&checked, &format("mets")).unwrap(), checked);
}

#[test]
fn about_containers_need_a_namespace_of_their_own() {
    let none = Namespaces::none();
    assert_eq!(
        check_about("<a xmlns='urn:x'>1</a>", &none).unwrap(),
        "<a xmlns='urn:x'>1</a>"
    );
    for xml in ["<a/>", "<a xmlns='http://www.openarchives.org/OAI/2.0/'/>"] {
        let fault = check_about(xml, &none).unwrap_err();
        assert_eq!(fault.problem, Problem::NoNamespace("a".into()), "{xml}");
    }
}

#[test]
fn a_root_outside_the_namespace_of_its_format_is_known() {
    let xml = "<q:qualifieddc xmlns:q='http://dspace.org/qualifieddc/'/>";
    let checked = check(xml, &format("qdc")).unwrap();
    assert!(checked.contains("\"http://purl.org/dc/terms/ http"), "{checked}");
}

const MARC_LEADER: &str = "<leader>00000nam a2200000 a 4500</leader>";

fn marc(inside: &str) -> String {
    format!("<record xmlns='http://www.loc.gov/MARC21/slim'>{inside}</record>")
}

fn marc_problem(inside: &str) -> String {
    check(&marc(inside), &format("marcxml"))
        .unwrap_err()
        .problem
        .to_string()
}

#[test]
fn marcxml_is_held_to_its_schema() {
    let good = format!(
        "\n {MARC_LEADER}\n <controlfield tag='001' xml:space='preserve'>1</controlfield>\n \
         <datafield tag='245' ind1='1' ind2=' '>\n <subfield code='a'>x</subfield>\n</datafield>\n"
    );
    for prefix in ["marc21", "marcxml", "marc"] {
        check(&marc(&good), &format(prefix)).unwrap();
    }
    let prefixed = good.replace('<', "<m:").replace("<m:/", "</m:");
    let prefixed = format!("<m:record xmlns:m='http://www.loc.gov/MARC21/slim'>{prefixed}</m:record>");
    check(&prefixed, &format("marc21")).unwrap();
}

#[test]
fn faults_of_marcxml_are_told_in_a_cataloguers_words() {
    let field = |attributes: &str, inside: &str| format!("{MARC_LEADER}<datafield {attributes}>{inside}</datafield>");
    let a = "<subfield code='a'>x</subfield>";
    let twice = format!(
        "{}<datafield tag='245' ind1='1' ind2='X'>{a}</datafield>",
        field("tag='245' ind1='1' ind2='0'", a)
    );
    let cases = [
        (String::new(), "the record has no leader"),
        (a.to_owned(), "<subfield> may not stand here"),
        (
            "<leader>nam</leader>".to_owned(),
            "the leader \"nam\" is not a MARC leader",
        ),
        (
            MARC_LEADER.replace("nam", "n*m"),
            "position 06 of the leader is '*'; allowed is a letter or a digit",
        ),
        (format!("{MARC_LEADER}{MARC_LEADER}"), "<leader> may not stand here"),
        (
            "<controlfield tag='001'>1</controlfield>".to_owned(),
            "the record has no leader",
        ),
        (
            twice,
            "field 245, second occurrence: indicator 2 is \"X\"; allowed is a digit, a small letter or a blank",
        ),
        (field("tag='245' ind1='1'", a), "field 245: indicator 2 is \"\""),
        (field("tag='24' ind1='1' ind2='0'", a), "\"24\" is not a tag"),
        (
            field("tag='001' ind1='1' ind2='0'", a),
            "field 001: tags 001 to 009 belong on <controlfield>",
        ),
        (
            field("tag='245' ind1='1' ind2='0'", ""),
            "field 245: there is no subfield",
        ),
        (field("tag='245' ind1='1' ind2='0'", "x"), "text stands between"),
        (
            field("tag='245' ind1='1' ind2='0'", "<subfield code='ab'>x</subfield>"),
            "field 245: the subfield code \"ab\"",
        ),
        (
            format!(
                "{}<controlfield tag='001'>1</controlfield>",
                field("tag='245' ind1='1' ind2='0'", a)
            ),
            "<controlfield> may",
        ),
        (format!("{MARC_LEADER}<b xmlns='urn:b'/>"), "<b> may not stand here"),
    ];
    for (inside, complaint) in cases {
        let found = marc_problem(&inside);
        assert!(found.contains(complaint), "{inside}: {found}");
    }
}

#[test]
fn several_faults_of_marcxml_are_told_at_once() {
    let field = |tag: &str, indicator: &str, code: &str| {
        format!("<datafield tag='{tag}' ind1='{indicator}' ind2=' '><subfield code='{code}'>x</subfield></datafield>")
    };
    let fields = [field("245", "X", "a"), field("650", " ", "aa"), field("650", "Y", "a")].concat();
    assert_eq!(
        marc_problem(&format!("{MARC_LEADER}{fields}")),
        "field 245: indicator 1 is \"X\"; allowed is a digit, a small letter or a blank; also field 650: the subfield code \
         \"aa\" is not a letter, a digit or a sign of ASCII; also field 650, second occurrence: indicator 1 is \"Y\"; \
         allowed is a digit, a small letter or a blank"
    );
    // Where the parts are in disorder, nobody knows what the rest is.
    let told = marc_problem(&format!("{fields}{MARC_LEADER}"));
    assert_eq!(told, "the record has no leader");
}
