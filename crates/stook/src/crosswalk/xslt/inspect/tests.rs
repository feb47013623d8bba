//! What may not be run at all.

use std::fs;

use super::super::Stylesheet;
use super::*;

const HEAD: &str = r#"<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
 xmlns:exsl="http://exslt.org/common" xmlns:dyn="http://exslt.org/dynamic" xmlns:d="http://exslt.org/dynamic"
 xmlns:saxon="http://icl.com/saxon" extension-element-prefixes="exsl">"#;

fn refused(inside: &str) -> String {
    match inspect(&format!("{HEAD}\n{inside}</xsl:stylesheet>")) {
        Err(complaint) => complaint.to_string(),
        Ok(_) => panic!("not refused: {inside}"),
    }
}

#[test]
fn reading_another_file_is_refused_wherever_it_is_written() {
    for inside in [
        r#"<xsl:variable name="v" select="document('/etc/passwd')"/>"#,
        r#"<xsl:variable name="v" select="document ( 'http://example.org/' )"/>"#,
        "<xsl:variable name=\"v\" select=\"document\n\t('x')\"/>",
        r#"<xsl:key name="k" match="a" use="document(@x)"/>"#,
        r#"<xsl:template match="a[document('x')]"/>"#,
        r#"<xsl:template match="/"><r a="{document('x')}"/></xsl:template>"#,
        r#"<xsl:template match="/"><r a="it's {document('x')}"/></xsl:template>"#,
        r#"<xsl:template match="/"><xsl:element name="it&apos;s{document('x')}"/></xsl:template>"#,
        r#"<xsl:template match="/"><r xmlnsx="{document('x')}"/></xsl:template>"#,
        r#"<xsl:template match="/"><xsl:value-of select="5 moddocument('x')"/></xsl:template>"#,
        r#"<xsl:template match="/"><xsl:value-of select="-document('x')"/></xsl:template>"#,
        r#"<xsl:template match="/"><xsl:value-of select="&#100;ocument&#40;'x')"/></xsl:template>"#,
        r#"<xsl:template match="/"><xsl:value-of select="document('', .)"/></xsl:template>"#,
        r#"<xsl:template match="/"><xsl:value-of select="document('') | document('x')"/></xsl:template>"#,
        r#"<xsl:template match="/"><xsl:sort select="document('x')"/></xsl:template>"#,
        r#"<f:result xmlns:f="http://exslt.org/functions" select="document('x')"/>"#,
    ] {
        let told = refused(inside);
        assert!(told.starts_with("line 4: document() reads"), "{inside}: {told}");
        assert!(told.contains("\nTry: "), "{told}");
    }
}

#[test]
fn expressions_out_of_text_are_refused() {
    for call in [
        "dyn:evaluate('x')",
        "d:evaluate ('x')",
        "5 moddyn:evaluate('x')",
        "saxon:evaluate('x')",
        "saxon:eval(.)",
    ] {
        let told = refused(&format!("<xsl:variable name=\"v\" select=\"{call}\"/>"));
        assert!(told.contains("makes an expression out of text"), "{call}: {told}");
    }
    // A prefix that is declared further in.
    let told = refused(
        r#"<xsl:template match="/"><r xmlns:q="http://exslt.org/dynamic" a="{q:map(., 'x')}"/></xsl:template>"#,
    );
    assert!(told.contains("map()"), "{told}");
}

#[test]
fn writing_files_is_refused() {
    for inside in [
        r#"<xsl:template match="/"><exsl:document href="x">y</exsl:document></xsl:template>"#,
        r#"<xsl:template match="/"><xsl:document href="x">y</xsl:document></xsl:template>"#,
        r#"<xsl:template match="/"><saxon:output href="x">y</saxon:output></xsl:template>"#,
        r#"<xsl:template match="/"><e:document xmlns:e="http://exslt.org/common" href="x"/></xsl:template>"#,
        r#"<xsl:template match="/"><w:write xmlns:w="org.apache.xalan.xslt.extensions.Redirect" file="x"/></xsl:template>"#,
    ] {
        let told = refused(inside);
        assert!(
            told.contains("line 4") && told.contains("writes a file"),
            "{inside}: {told}"
        );
    }
}

#[test]
fn another_base_to_read_from_is_refused() {
    let told = refused(r#"<xsl:template match="/" xml:base="/etc/"/>"#);
    assert!(told.contains("xml:base"), "{told}");
}

#[test]
fn what_only_looks_like_it_is_accepted() {
    let inside = r#"<xsl:variable name="document" select="document/@documents"/>
        <xsl:template match="document"><document type="document (draft)">document('x')<xsl:value-of
        select="$document"/><xsl:value-of select="document('')/*"/></document></xsl:template>
        <xsl:variable name="m" xmlns:math="http://exslt.org/math" select="math:max(a) + saxon:line-number(.)"/>"#;
    assert_eq!(inspect(&format!("{HEAD}{inside}</xsl:stylesheet>")).unwrap(), []);
}

#[test]
fn only_stylesheets_of_version_one_are_accepted() {
    let told = |text: &str| inspect(text).unwrap_err().to_string();
    let xsl = "xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\"";
    let two = told(&format!("<xsl:stylesheet version=\"2.0\" {xsl}/>"));
    assert!(two.contains("version 2.0; xsltproc runs 1.0"), "{two}");
    assert!(told(&format!("<r xsl:version=\"3.0\" {xsl}/>")).contains("version 3.0"));
    assert!(told(&format!("<xsl:stylesheet {xsl}/>")).contains("does not say its version"));
    assert!(told("<html/>").contains("not an XSLT stylesheet: its root is <html>"));
    assert_eq!(inspect(&format!("<r xsl:version=\"1.0\" {xsl}/>")).unwrap(), []);
    assert_eq!(inspect(&format!("<xsl:transform version=\"1.1\" {xsl}/>")).unwrap(), []);
}

#[test]
fn what_is_not_well_formed_is_told_with_its_line() {
    for (text, part) in [
        ("", "no XML element"),
        ("\n<a>", "line 2"),
        ("<x:a/>", "prefix of <x:a>"),
        (
            "<r xsl:version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\n</s>",
            "line 2: </s> closes <r>",
        ),
        (
            "<r xsl:version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'/>\n<s/>",
            "line 2: there is a second root",
        ),
        (
            "<r xsl:version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\n&nbsp;</r>",
            "line 2: the entity &nbsp;",
        ),
    ] {
        let told = inspect(text).unwrap_err().to_string();
        assert!(told.contains(part) && told.contains("\nTry: "), "{text}: {told}");
    }
}

#[test]
fn imports_that_lead_elsewhere_are_refused_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sheets")).unwrap();
    let path = folder.path().join("sheets/house.xsl");
    let outside = folder.path().join("outside.xsl");
    fs::write(&outside, format!("{HEAD}</xsl:stylesheet>")).unwrap();
    let told = |href: &str| {
        fs::write(
            &path,
            format!("{HEAD}\n\n<xsl:import href=\"{href}\"/></xsl:stylesheet>"),
        )
        .unwrap();
        format!("{:#}", Stylesheet::read(&path).unwrap_err())
    };
    for (href, part) in [
        (outside.to_str().unwrap(), "not relative"),
        ("../outside.xsl", "outside the stylesheet's folder"),
        ("file:///etc/passwd", "not relative"),
        ("%2Fetc/passwd", "not relative"),
        ("//example.org/x.xsl", "not relative"),
        (
            "http://www.loc.gov/standards/marcxml/xslt/MARC21slimUtils.xsl?a#b",
            "is not fetched",
        ),
        ("ftp://example.org/x.xsl", "not relative"),
        ("nosuch.xsl", "not there"),
        ("", "names no file"),
        ("#x", "names no file"),
        ("house.xsl", "imports itself"),
    ] {
        let error = told(href);
        assert!(
            error.contains("house.xsl") && error.contains(part) && error.contains("\nTry: "),
            "{href}: {error}"
        );
        assert!(error.contains("line 5") || part == "imports itself", "{href}: {error}");
    }
    let error = told("https://www.loc.gov/a/MARC21slimUtils.xsl");
    assert!(
        error.contains("download it to") && error.contains("sheets/MARC21slimUtils.xsl"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_outside_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sheets")).unwrap();
    fs::write(folder.path().join("outside.xsl"), format!("{HEAD}</xsl:stylesheet>")).unwrap();
    std::os::unix::fs::symlink("../outside.xsl", folder.path().join("sheets/inside.xsl")).unwrap();
    let path = folder.path().join("sheets/house.xsl");
    fs::write(
        &path,
        format!("{HEAD}<xsl:include href=\"inside.xsl\"/></xsl:stylesheet>"),
    )
    .unwrap();
    let error = format!("{:#}", Stylesheet::read(&path).unwrap_err());
    assert!(error.contains("outside the stylesheet's folder"), "{error}");
}

#[test]
fn what_is_imported_is_inspected_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("house.xsl");
    fs::write(
        &path,
        format!("{HEAD}<xsl:include href=\"part.xsl\"/></xsl:stylesheet>"),
    )
    .unwrap();
    let part = "<!DOCTYPE x [<!ENTITY d \"document\">]>\n";
    let inside = "<xsl:variable name=\"v\" select=\"&d;('x')\"/>";
    fs::write(
        folder.path().join("part.xsl"),
        format!("{part}{HEAD}\n{inside}</xsl:stylesheet>"),
    )
    .unwrap();
    let error = format!("{:#}", Stylesheet::read(&path).unwrap_err());
    assert!(error.contains("part.xsl: line 5: document() reads"), "{error}");
}
