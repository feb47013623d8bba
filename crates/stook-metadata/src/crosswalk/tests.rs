//! What each word of a mapping does, and what is said about words it cannot understand.

use super::Mapping;
use crate::format::{Format, Formats};
use crate::fragment::check;
use stook_oai::MetadataPrefix;

const MARC: &str = r#"<record xmlns="http://www.loc.gov/MARC21/slim">
  <leader>00000nam a2200000 a 4500</leader>
  <controlfield tag="008">240115s2024    gw a          000 0 ger d</controlfield>
  <datafield tag="100" ind1="1" ind2=" "><subfield code="a">Müller, Anna,</subfield><subfield code="d">1950-</subfield></datafield>
  <datafield tag="245" ind1="1" ind2="4"><subfield code="a">Die Karten :</subfield><subfield code="b">R &amp; D /</subfield></datafield>
  <datafield tag="650" ind1=" " ind2="0"><subfield code="a">Maps</subfield><subfield code="x">History.</subfield></datafield>
  <datafield tag="650" ind1=" " ind2="7"><subfield code="a">Karte</subfield><subfield code="2">gnd</subfield></datafield>
  <datafield tag="856" ind1="4" ind2="0"><subfield code="u">https://example.org/1</subfield></datafield>
</record>"#;

fn mapped_from(from: &str, to: &str, rules: &str, record: &str) -> String {
    let mapping = Mapping::read(&format!("map {from} to {to}\n{rules}"), &formats()).unwrap();
    let made = mapping.apply(record).unwrap().unwrap_or_default();
    if !made.is_empty() {
        check(&made, formats().by_prefix(to).unwrap()).unwrap();
    }
    let (_, inside) = made.split_once('>').unwrap_or_default();
    let (inside, _) = inside.rsplit_once("</").unwrap_or_default();
    inside.to_owned()
}

fn to_dc(rules: &str) -> String {
    mapped_from("marc21", "oai_dc", rules, MARC).replace("dc:", "")
}

/// The formats everybody knows, and one of somebody's own.
fn formats() -> Formats {
    let house = Format::new(
        MetadataPrefix::parse("house").unwrap(),
        "House".into(),
        "urn:house".into(),
        "http://example.org/house.xsd".into(),
        Some("record".into()),
    );
    Formats::new(vec![house])
}

#[test]
fn fields_subfields_and_characters_are_found_in_their_order() {
    assert_eq!(to_dc("245$a -> title"), "<title>Die Karten :</title>");
    assert_eq!(
        to_dc("245$ba -> title"),
        "<title>Die Karten :</title><title>R &amp; D /</title>"
    );
    assert_eq!(to_dc("65X$* -> subject first"), "<subject>Maps</subject>");
    assert_eq!(to_dc("65X$a -> subject rest"), "<subject>Karte</subject>");
    assert_eq!(to_dc("65X$a -> subject last"), "<subject>Karte</subject>");
    assert_eq!(to_dc("65X => subject first\n  $a -> ."), "<subject>Maps</subject>");
    assert_eq!(to_dc("65X => subject rest\n  $a -> ."), "<subject>Karte</subject>");
    assert_eq!(to_dc("008/35-37 -> language"), "<language>ger</language>");
    assert_eq!(to_dc("leader/6 -> type"), "<type>a</type>");
    assert_eq!(to_dc("100 -> creator"), "<creator>Müller, Anna,1950-</creator>");
    assert_eq!(
        to_dc("700$a, 100$a -> creator trim \",\""),
        "<creator>Müller, Anna</creator>"
    );
    assert_eq!(to_dc("999$a -> title"), "");
}

#[test]
fn what_is_no_language_tag_is_dropped() {
    let record = "<oai_dc:dc xmlns:oai_dc='http://www.openarchives.org/OAI/2.0/oai_dc/' \
                  xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:language>中文</dc:language><dc:language>German</dc:language>\
                  <dc:language>GER</dc:language><dc:language>sr-Cyrl</dc:language></oai_dc:dc>";
    let languages = |changes: &str| mapped_from("oai_dc", "qdc", &format!("language -> dc:language {changes}"), record);
    assert_eq!(
        languages("language"),
        "<dc:language>ger</dc:language><dc:language>sr-Cyrl</dc:language>"
    );
    assert_eq!(
        languages("language when . like \"???\""),
        "<dc:language>ger</dc:language>"
    );
    assert_eq!(languages("first language"), "");
}

#[test]
fn conditions_choose() {
    assert_eq!(to_dc("650[@ind2=\"0\"]$a -> subject"), "<subject>Maps</subject>");
    assert_eq!(
        to_dc("650[$2=\"gnd\"|\"rvk\"]$a -> subject"),
        "<subject>Karte</subject>"
    );
    assert_eq!(to_dc("650[not $2]$a -> subject"), "<subject>Maps</subject>");
    assert_eq!(to_dc("650[@ind2!=\"0\"]$a -> subject"), "<subject>Karte</subject>");
    assert_eq!(
        to_dc("856$u -> identifier when . like \"HTTPS://*\""),
        "<identifier>https://example.org/1</identifier>"
    );
    assert_eq!(to_dc("856$u -> identifier unless . like \"https://*\""), "");
    assert_eq!(
        to_dc("650$a, 856$u -> subject when @code=\"u\""),
        "<subject>https://example.org/1</subject>"
    );
    assert_eq!(
        to_dc("650$a -> subject when . = \"Maps\" and . like \"M*\""),
        "<subject>Maps</subject>"
    );
}

#[test]
fn values_are_changed_in_the_order_that_is_written() {
    assert_eq!(
        to_dc("245$ab -> title trim \"/ :\" join \": \""),
        "<title>Die Karten: R &amp; D</title>"
    );
    assert_eq!(
        to_dc("100$a -> creator split \",\""),
        "<creator>Müller</creator><creator>Anna</creator>"
    );
    assert_eq!(
        to_dc("650$a -> subject lower as \"<{}>\""),
        "<subject>&lt;maps&gt;</subject><subject>&lt;karte&gt;</subject>"
    );
    assert_eq!(
        to_dc("650$a -> subject replace \"a\" \"o\" last upper"),
        "<subject>KORTE</subject>"
    );
    assert_eq!(
        to_dc("856$u, 650$a -> identifier without \"HTTP://\" | \"https://\""),
        "<identifier>example.org/1</identifier><identifier>Maps</identifier><identifier>Karte</identifier>"
    );
    assert_eq!(to_dc("245$a, 245$a -> title distinct"), "<title>Die Karten :</title>");
    assert_eq!(
        to_dc("300$a -> format default \"unknown\"\n245$a -> title first")
            .matches("unknown")
            .count(),
        1
    );
}

#[test]
fn tables_translate_and_drop_or_keep_the_rest() {
    let types = "table types\n    a -> Text\n    \"e\" -> \"Still image\"\n";
    assert_eq!(
        to_dc(&format!("{types}leader/6 -> type table types")),
        "<type>Text</type>"
    );
    assert_eq!(to_dc(&format!("{types}leader/7 -> type table types")), "");
    assert_eq!(
        to_dc("table t\n  x -> y\n  * -> *\nleader/7 -> type table t"),
        "<type>m</type>"
    );
    assert_eq!(
        to_dc("table t\n  * -> Other\nleader/7 -> type table t"),
        "<type>Other</type>"
    );
}

#[test]
fn rows_with_a_star_are_patterns_for_what_is_no_row_itself() {
    let kinds = "table kinds\n  \"https://doi.org/*\" -> doi\n  \"http*\" -> url\n  \"*:*\" -> *\n  x -> y\n";
    let kind = |value: &str| {
        let record = format!(
            "<oai_dc:dc xmlns:oai_dc='http://www.openarchives.org/OAI/2.0/oai_dc/' \
             xmlns='http://purl.org/dc/elements/1.1/'><identifier>{value}</identifier></oai_dc:dc>"
        );
        mapped_from(
            "oai_dc",
            "mods",
            &format!("{kinds}identifier -> identifier table kinds"),
            &record,
        )
    };
    assert_eq!(kind("https://doi.org/10.1/x"), "<identifier>doi</identifier>");
    assert_eq!(kind("HTTP://x"), "<identifier>url</identifier>");
    assert_eq!(kind("urn:x"), "<identifier>urn:x</identifier>");
    assert_eq!(kind("x"), "<identifier>y</identifier>");
    assert_eq!(kind("z"), "");
}

#[test]
fn punctuation_dates_and_what_does_not_sort_are_told_apart() {
    assert_eq!(
        to_dc("245$ab -> title chop"),
        "<title>Die Karten</title><title>R &amp; D</title>"
    );
    assert_eq!(
        to_dc("008/7-10, 100$d -> date year"),
        "<date>2024</date><date>1950</date>"
    );
    assert_eq!(to_dc("245$a, 856$u, 008/0-14 -> date date"), "<date>2024</date>");
    assert_eq!(
        mapped_from(
            "marc21",
            "mods",
            "245 => titleInfo\n  $a -> nonSort take @ind2\n  $a -> title skip @ind2 chop\n  $a -> partName take @ind1",
            MARC
        ),
        "<titleInfo><nonSort>Die</nonSort><title>Karten</title><partName>D</partName></titleInfo>"
    );
    let marked = MARC.replace("Die Karten", "\u{98}Die \u{9c}Karten");
    assert_eq!(
        mapped_from("marc21", "oai_dc", "245$a -> title chop", &marked),
        "<dc:title>Die Karten</dc:title>",
        "marks that only MARC knows do not leave it"
    );
}

#[test]
fn characters_are_counted_from_the_first_blank_on() {
    let record = MARC.replace("00000nam", "     nam");
    assert_eq!(
        mapped_from("marc21", "oai_dc", "leader/6 -> type", &record),
        "<dc:type>a</dc:type>"
    );
    assert_eq!(
        to_dc("008[./6=\"s\"]/7-10, 008[./6=\"m\"]/0-5 -> date"),
        "<date>2024</date>"
    );
    let spread = MARC.replace("<leader>00000nam", "<leader>\n    00000nam");
    assert_eq!(
        mapped_from("marc21", "oai_dc", "leader => type\n  ./6 -> .", &spread),
        "<dc:type>a</dc:type>"
    );
}

#[test]
fn without_what_is_required_nothing_is_made() {
    let rules = "100 => creator\n  $a -> .\n650 => subject\n  $a -> .\n  $2 -> . as \" ({})\" required";
    assert_eq!(
        to_dc(rules),
        "<creator>Müller, Anna,</creator><subject>Karte (gnd)</subject>"
    );
    assert_eq!(to_dc("245$a -> title\n300$a -> format required"), "");
    assert_eq!(to_dc("245$a -> title\n300 => format required\n  $a -> ."), "");
    assert_eq!(
        to_dc("245$a -> title\n. => .\n  650$a -> subject\n  300$a -> format required"),
        "<title>Die Karten :</title>"
    );
    assert_eq!(
        to_dc("300$a -> format default \"?\" required\n245$b -> title"),
        "<format>?</format><title>R &amp; D /</title>"
    );
}

#[test]
fn fields_of_marc_are_made_by_their_tags() {
    let record = "<oai_dc:dc xmlns:oai_dc='http://www.openarchives.org/OAI/2.0/oai_dc/' \
                  xmlns='http://purl.org/dc/elements/1.1/'><title>A</title><publisher>P</publisher>\
                  <date>2024</date></oai_dc:dc>";
    let rules = "
\"     nam a22     3u 4500\" -> leader
\"x 1\"     -> 001
title     -> 245[@ind1=\"0\"][@ind2=\"0\"]$a
. => 264[@ind2=\"1\"]
    publisher -> $b
    date      -> $c
date      -> 500$a
. => 500
    date/3 -> @ind1
    date   -> $a
";
    assert_eq!(
        mapped_from("oai_dc", "marc21", rules, record),
        "<leader>     nam a22     3u 4500</leader><controlfield tag=\"001\">x 1</controlfield>\
         <datafield tag=\"245\" ind1=\"0\" ind2=\"0\"><subfield code=\"a\">A</subfield></datafield>\
         <datafield tag=\"264\" ind1=\" \" ind2=\"1\"><subfield code=\"b\">P</subfield>\
         <subfield code=\"c\">2024</subfield></datafield>\
         <datafield tag=\"500\" ind1=\" \" ind2=\" \"><subfield code=\"a\">2024</subfield></datafield>\
         <datafield tag=\"500\" ind1=\"4\" ind2=\" \"><subfield code=\"a\">2024</subfield></datafield>"
    );
}

#[test]
fn constants_stand_where_there_is_something_to_say() {
    assert_eq!(
        to_dc("\"Bibliothek\" -> publisher\n245$b -> title"),
        "<publisher>Bibliothek</publisher><title>R &amp; D /</title>"
    );
    assert_eq!(
        to_dc("\"Bibliothek\" -> publisher"),
        "",
        "a record of nothing but constants says nothing"
    );
    assert_eq!(
        to_dc("300$a -> format default \"unknown\""),
        "",
        "nor does one of defaults"
    );
    let wrapped = ". => physicalDescription\n  300$a -> form default \"?\"\n245$a -> note chop";
    assert_eq!(
        mapped_from("marc21", "mods", wrapped, MARC),
        "<physicalDescription><form>?</form></physicalDescription><note>Die Karten</note>"
    );
}

#[test]
fn groups_make_one_element_of_one_field() {
    let rules = "
245 => titleInfo
    $a  -> title      trim \":/\"
    $b  -> subTitle   trim \":/\"
    $c  -> note
100 => name[@type=\"personal\"]
    $a  -> namePart   trim \",\"
    $d  -> namePart[@type=\"date\"]
    \"creator\" -> role/roleTerm[@type=\"text\"]
700 => name
    \"contributor\" -> role/roleTerm
. => originInfo
    008/7-10 -> dateIssued[@encoding=\"marc\"]
650 => subject   when @ind2=\"7\"
    $2  -> @authority
    $a  -> topic
";
    let made = mapped_from("marc21", "mods", rules, MARC);
    assert_eq!(
        made,
        "<titleInfo><title>Die Karten</title><subTitle>R &amp; D</subTitle></titleInfo>\
         <name type=\"personal\"><namePart>Müller, Anna</namePart><namePart type=\"date\">1950-</namePart>\
         <role><roleTerm type=\"text\">creator</roleTerm></role></name>\
         <originInfo><dateIssued encoding=\"marc\">2024</dateIssued></originInfo>\
         <subject authority=\"gnd\"><topic>Karte</topic></subject>"
    );
}

#[test]
fn a_format_of_ones_own_can_take_over_everything_and_add_to_it() {
    let record = "<oai_dc:dc xmlns:oai_dc='http://www.openarchives.org/OAI/2.0/oai_dc/' \
                  xmlns:d='http://purl.org/dc/elements/1.1/'><d:title xml:lang='de'>A &lt; B</d:title>\
                  <d:identifier>urn:x</d:identifier><d:identifier>https://a/?b&amp;c</d:identifier></oai_dc:dc>";
    let rules = "namespace h \"urn:house\"\ncopy dc:*\nidentifier -> h:capture when . like \"http*\"\ntitle -> h:name with @xml:lang";
    assert_eq!(
        mapped_from("oai_dc", "house", rules, record),
        "<dc:title xml:lang=\"de\">A &lt; B</dc:title><dc:identifier>urn:x</dc:identifier>\
         <dc:identifier>https://a/?b&amp;c</dc:identifier><h:capture>https://a/?b&amp;c</h:capture>\
         <h:name xml:lang=\"de\">A &lt; B</h:name>"
    );
}

#[test]
fn mistakes_are_told_with_their_line_and_what_to_try() {
    for (text, line, expected) in [
        ("", 1, "empty"),
        ("# nothing\n\n", 1, "empty"),
        ("245$a -> title", 1, "map marc21 to oai_dc"),
        ("map marc21 oai_dc", 1, "two formats"),
        ("map marc22 to oai_dc", 1, "there is no format marc22"),
        ("map marc21 to oai_dc\n245$a title", 2, "-> or =>"),
        ("map marc21 to oai_dc\n\ntitle -> title", 3, "is no field"),
        ("map marc21 to oai_dc\n245$ -> title", 2, "codes of subfields"),
        ("map oai_dc to mods\nidentifer -> note", 2, "no element of Dublin Core"),
        (
            "map marc21 to oai_dc\n245$a -> title shout",
            2,
            "\"shout\" is not understood",
        ),
        ("map marc21 to oai_dc\n245$a -> title join", 2, "quotation marks"),
        ("map marc21 to oai_dc\n245$a -> title join \"x", 2, "not closed"),
        ("map marc21 to oai_dc\n245$a -> ex:title", 2, "namespace ex"),
        ("map marc21 to oai_dc\n245[$a -> title", 2, "] is missing"),
        (
            "map marc21 to oai_dc\n245$a -> title\n    $b -> title",
            3,
            "=> instead of ->",
        ),
        ("map marc21 to mods\n245 => titleInfo", 2, "nothing is indented"),
        ("map marc21 to mods\n  245$a -> note\n 245$b -> note", 3, "indentation"),
        ("map marc21 to oai_dc\n245$a -> type table t", 2, "no table t"),
        ("map marc21 to oai_dc\ntable t\n245$a -> type table t", 2, "empty"),
        ("map marc21 to oai_dc\n008/37-35 -> language", 2, "range of characters"),
        ("map marc21 to oai_dc\n\"x\" => title", 2, "after a constant"),
        ("map oai_dc to mods\ntitle -> *", 2, "could be made"),
        ("map oai_dc to marc21\ntitle -> title", 2, "no field to be made"),
        ("map oai_dc to marc21\ntitle -> 24X$a", 2, "no field to be made"),
        ("map oai_dc to marc21\ntitle -> 245$ab", 2, "one subfield"),
        ("map marc21 to mods\n245$a -> note take", 2, "is no field"),
        ("map marc21 to mods\n008[./x=\"s\"] -> note", 2, "range of characters"),
        ("map oai_dc to mods\n -> note", 2, "name is missing"),
        ("map oai_dc to mods\ntitle -> note when", 2, "name is missing"),
        (
            "map oai_dc to mods\ntitle => note trim \"x\"\n  . -> .",
            2,
            "a group takes only",
        ),
    ] {
        let error = Mapping::read(text, &formats()).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.message.contains(expected), "{text}: {error}");
    }
}

#[test]
fn comments_and_blanks_change_nothing() {
    assert_eq!(
        to_dc("# a\n  \n245$a -> title # the title\n"),
        "<title>Die Karten :</title>"
    );
    assert_eq!(to_dc("245$a -> title as \"# {}\""), "<title># Die Karten :</title>");
    assert_eq!(to_dc("245$a->title"), "<title>Die Karten :</title>");
}
