//! Stylesheets as they are run. What may not be run at all is in `inspect/tests.rs`.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::*;

const HEAD: &str = r#"<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform""#;

struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A stylesheet with this inside.
    fn sheet(&self, inside: &str) -> Stylesheet {
        let path = self.write("house.xsl", format!("{HEAD}>{inside}</xsl:stylesheet>"));
        Stylesheet::read(&path).unwrap_or_else(|error| panic!("{error:#}"))
    }
}

fn applied(stylesheet: &Stylesheet, records: &[&str]) -> Vec<Made> {
    stylesheet
        .apply(records)
        .unwrap_or_else(|error| panic!("{error:#}\nwithout xsltproc: apt install xsltproc"))
}

/// What a stylesheet with this inside makes of one record.
fn made(inside: &str, record: &str) -> String {
    let stylesheet = Bench::new().sheet(inside);
    applied(&stylesheet, &[record]).remove(0).unwrap().unwrap()
}

/// Why a stylesheet with this inside makes nothing of a record, and how long it took to find out.
fn fails(inside: &str) -> (String, Duration) {
    let stylesheet = Bench::new().sheet(inside);
    stylesheet
        .ready()
        .unwrap_or_else(|error| panic!("{error:#}\nwithout xsltproc: apt install xsltproc"));
    let started = Instant::now();
    let reason = applied(&stylesheet, &["<a/>"]).remove(0).unwrap_err();
    (reason, started.elapsed())
}

#[test]
fn every_record_is_a_document_of_its_own() {
    // A key, a variable from the root, a position and a parameter would all be different among other records.
    let stylesheet = Bench::new().sheet(
        r#"<xsl:key name="k" match="b" use="'all'"/>
           <xsl:variable name="all" select="count(//b)"/>
           <xsl:param name="p" select="/a/@id"/>
           <xsl:template match="/"><r p="{$p}" all="{$all}" key="{count(key('k', 'all'))}"
             roots="{count(/*)}" at="{position()}" of="{last()}"><xsl:apply-templates select="a/b"/></r></xsl:template>
           <xsl:template match="b"><i n="{position()}"/></xsl:template>"#,
    );
    let results = applied(&stylesheet, &[r#"<a id="x"><b/><b/></a>"#, r#"<a id="y"><b/></a>"#]);
    assert_eq!(
        results,
        [
            Ok(Some(
                r#"<r p="x" all="2" key="2" roots="1" at="1" of="1"><i n="1"/><i n="2"/></r>"#.to_owned()
            )),
            Ok(Some(
                r#"<r p="y" all="1" key="1" roots="1" at="1" of="1"><i n="1"/></r>"#.to_owned()
            )),
        ]
    );
}

#[test]
fn results_come_in_order_however_many_there_are() {
    let stylesheet = Bench::new().sheet(r#"<xsl:template match="a"><r><xsl:value-of select="."/></r></xsl:template>"#);
    let records: Vec<String> = (0..2_345).map(|n| format!("<a>{n}</a>")).collect();
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let results = applied(&stylesheet, &records);
    assert_eq!(results.len(), records.len());
    for (n, result) in results.into_iter().enumerate() {
        assert_eq!(result, Ok(Some(format!("<r>{n}</r>"))));
    }
    assert_eq!(applied(&stylesheet, &[]), []);
}

#[test]
fn whatever_the_output_is_said_to_be_it_is_xml_in_utf_8() {
    for output in [
        r#"<xsl:output method="xml" encoding="ISO-8859-1" indent="yes" standalone="yes"/>"#,
        r#"<xsl:output method="html" encoding="UTF-16"/>"#,
        r#"<xsl:output method="text"/>"#,
        r#"<xsl:output doctype-system="http://example.org/x.dtd" doctype-public="-//X//Y"/>"#,
    ] {
        let inside =
            format!(r#"{output}<xsl:template match="/"><r><br/>č &amp; <xsl:value-of select="a"/></r></xsl:template>"#);
        assert_eq!(made(&inside, "<a>é &lt;</a>"), "<r><br/>č &amp; é &lt;</r>", "{output}");
    }
    let inside = r#"<xsl:output cdata-section-elements="r"/><xsl:template match="/"><r>a &lt; b</r></xsl:template>"#;
    // libxslt overlooks this in what is imported. It means the same.
    assert_eq!(made(inside, "<a/>"), "<r>a &lt; b</r>");
}

#[test]
fn white_space_comments_and_instructions_of_the_record_are_the_stylesheets_business() {
    let inside = r#"<xsl:strip-space elements="*"/><xsl:template match="/"><r c="{comment()}" p="{processing-instruction()}"
        t="{count(a/text())}"><xsl:copy-of select="a/b"/></r></xsl:template>"#;
    assert_eq!(
        made(inside, "<!--c--><?p q?><a>\n <b> x </b>\n</a>"),
        r#"<r c="c" p="q" t="0"><b> x </b></r>"#
    );
}

#[test]
fn nothing_is_nothing_and_no_template_is_what_xslt_says() {
    let stylesheet = Bench::new().sheet(r#"<xsl:template match="a[@none]"/>"#);
    assert_eq!(
        applied(&stylesheet, &["<a none=''>x</a>", "<a>text</a>"]),
        [Ok(None), Ok(Some("text".to_owned()))]
    );
}

#[test]
fn a_stylesheet_may_begin_again_with_the_document_and_look_into_itself() {
    let inside = r#"<t:table xmlns:t="urn:t"><t:row k="a">Text</t:row></t:table>
        <xsl:template match="/"><r><xsl:apply-templates select="a"/></r></xsl:template>
        <xsl:template match="a"><xsl:apply-templates select="/" mode="again"/></xsl:template>
        <xsl:template match="/" mode="again"><xsl:value-of xmlns:t="urn:t" select="document('')//t:row[@k='a']"/></xsl:template>"#;
    assert_eq!(made(inside, "<a/>"), "<r>Text</r>");
    let inside = r#"<xsl:template match="/"><xsl:param name="n" select="0"/><r n="{$n}"><xsl:if test="$n = 0"><xsl:apply-templates
        select="/"><xsl:with-param name="n" select="1"/></xsl:apply-templates></xsl:if></r></xsl:template>"#;
    // The driver stands between and passes no parameters on: this one never ends, and must be told so.
    assert!(fails(inside).0.contains("calls itself without end"));
}

#[test]
fn imports_below_the_folder_and_urls_beside_it_are_found() {
    let bench = Bench::new();
    bench.write(
        "parts/dates.xsl",
        format!(r#"{HEAD}><xsl:include href="../more%20parts.xsl"/><xsl:template name="d">D</xsl:template></xsl:stylesheet>"#),
    );
    bench.write(
        "more parts.xsl",
        format!(r#"{HEAD}><xsl:template name="m">M</xsl:template></xsl:stylesheet>"#),
    );
    bench.write(
        "Utils.xsl",
        format!(r#"{HEAD}><xsl:template name="u">U</xsl:template></xsl:stylesheet>"#),
    );
    let stylesheet = bench.sheet(
        r#"<xsl:import href="https://www.example.org/standards/Utils.xsl"/><xsl:include href="parts/dates.xsl"/>
        <xsl:template match="/"><r><xsl:call-template name="u"/><xsl:call-template name="d"/><xsl:call-template
        name="m"/></r></xsl:template>"#,
    );
    assert_eq!(applied(&stylesheet, &["<a/>"]), [Ok(Some("<r>UDM</r>".to_owned()))]);
}

#[test]
fn only_the_guilty_records_fail_each_with_its_reason() {
    let stylesheet = Bench::new().sheet(
        r#"<xsl:template match="a"><r><xsl:if test=". = 'bad'"><xsl:message terminate="yes">no title in <xsl:value-of
        select="@id"/></xsl:message></xsl:if><xsl:if test=". = 'wrong'"><xsl:value-of select="nosuch(.)"/></xsl:if
        ><xsl:message>said</xsl:message><xsl:value-of select="."/></r></xsl:template>"#,
    );
    let mut records = vec!["<a>fine</a>"; 200];
    records[0] = r#"<a id="first">bad</a>"#;
    records[120] = r#"<a id="middle">bad</a>"#;
    records[121] = "<a>wrong</a>";
    let results = applied(&stylesheet, &records);
    assert_eq!(results[0], Err("no title in first".to_owned()));
    assert_eq!(results[120], Err("no title in middle".to_owned()));
    let reason = results[121].clone().unwrap_err();
    assert!(
        reason.contains("house.xsl line 2 element value-of") && reason.contains("nosuch"),
        "{reason}"
    );
    let fine = results
        .iter()
        .filter(|result| **result == Ok(Some("<r>fine</r>".to_owned())));
    assert_eq!(fine.count(), 197);
}

#[test]
fn a_record_that_takes_for_ever_fails_alone() {
    let stylesheet = Bench::new().sheet(&format!(
        r#"<xsl:template match="a"><r><xsl:if test=". = 'slow'">{SLOW_CALL}</xsl:if></r></xsl:template>{SLOW}"#
    ));
    let mut records = vec!["<a>fine</a>"; 20];
    records[7] = "<a>slow</a>";
    let results = applied(&stylesheet, &records);
    let reason = results[7].clone().unwrap_err();
    assert!(reason.contains("longer than"), "{reason}");
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 19);
}

/// Two to the power of sixty calls, never more than sixty deep.
const SLOW: &str = r#"<xsl:template name="slow"><xsl:param name="n"/><xsl:if test="$n &gt; 0"><xsl:call-template
    name="slow"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template><xsl:call-template name="slow"><xsl:with-param
    name="n" select="$n - 1"/></xsl:call-template></xsl:if></xsl:template>"#;
const SLOW_CALL: &str = r#"<xsl:call-template name="slow"><xsl:with-param name="n" select="60"/></xsl:call-template>"#;

#[test]
fn a_stylesheet_that_never_ends_is_stopped_and_given_up() {
    let stylesheet = Bench::new().sheet(&format!(r#"<xsl:template match="/">{SLOW_CALL}</xsl:template>{SLOW}"#));
    let started = Instant::now();
    let error = stylesheet.apply(&["<a/>"; 500]).unwrap_err().to_string();
    assert!(
        error.contains("3 records in a row") && error.contains("longer than"),
        "{error}"
    );
    assert!(error.contains("house.xsl") && error.contains("\nTry: "), "{error}");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn a_stylesheet_that_fails_on_everything_is_given_up() {
    let stylesheet = Bench::new().sheet(r#"<xsl:template match="/"><xsl:value-of select="$nosuch"/></xsl:template>"#);
    let error = stylesheet.apply(&["<a/>"; 1_000]).unwrap_err().to_string();
    assert!(
        error.contains("50 records in a row") && error.contains("nosuch"),
        "{error}"
    );
}

#[test]
fn recursion_without_end_is_stopped() {
    for inside in [
        r#"<xsl:template match="/"><xsl:call-template name="r"/></xsl:template><xsl:template name="r"><xsl:call-template
           name="r"/></xsl:template>"#,
        r#"<xsl:template match="/"><xsl:apply-templates select="/" mode="m"/></xsl:template><xsl:template match="/"
           mode="m"><xsl:apply-templates select="/" mode="m"/></xsl:template>"#,
    ] {
        let (reason, took) = fails(inside);
        assert!(
            reason.contains("calls itself without end: ") && reason.contains("house.xsl line"),
            "{reason}"
        );
        assert!(took < Duration::from_secs(10), "{took:?}");
    }
}

/// Text of 2 to the power of `$n`, doubled each time.
const DOUBLE: &str = r#"<xsl:template name="double"><xsl:param name="n"/><xsl:param name="s"/><xsl:choose><xsl:when
    test="$n = 0"><xsl:value-of select="$s"/></xsl:when><xsl:otherwise><xsl:call-template name="double"><xsl:with-param
    name="n" select="$n - 1"/><xsl:with-param name="s" select="concat($s, $s)"/></xsl:call-template></xsl:otherwise
    ></xsl:choose></xsl:template>"#;

fn doubled(times: u32) -> String {
    format!(
        r#"<xsl:template match="/"><r><xsl:call-template name="double"><xsl:with-param name="n" select="{times}"/><xsl:with-param
        name="s" select="'0123456789abcdef'"/></xsl:call-template></r></xsl:template>{DOUBLE}"#
    )
}

#[test]
fn an_enormous_result_is_stopped() {
    let (reason, took) = fails(&doubled(18));
    assert!(reason.contains("makes more than 1 MB"), "{reason}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(made(&doubled(10), "<a/>").len(), 16 * 1024 + 7);
}

#[test]
fn an_enormous_hunger_for_memory_is_stopped() {
    let (reason, took) = fails(&doubled(40));
    assert!(reason.contains("more than 192 MB of memory"), "{reason}");
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn endless_messages_are_stopped() {
    let (reason, took) = fails(&format!(
        r#"<xsl:template match="/"><xsl:call-template name="slow"><xsl:with-param name="n" select="60"/></xsl:call-template
        ></xsl:template>{}"#,
        SLOW.replace(
            "<xsl:if",
            &format!("<xsl:message>{}</xsl:message><xsl:if", "x".repeat(4096))
        )
    ));
    assert!(reason.contains("says more than 1 MB"), "{reason}");
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn text_that_looks_like_a_mark_or_breaks_out_of_the_result_stays_with_its_record() {
    let stylesheet = Bench::new().sheet(
        r#"<xsl:template match="a"><r><xsl:value-of select="." disable-output-escaping="yes"/></r></xsl:template>"#,
    );
    let results = applied(
        &stylesheet,
        &["<a>&lt;/r></a>", "<a>&lt;stook-0 of=\"5.xml\"></a>", "<a>c</a>"],
    );
    assert_eq!(
        results,
        [
            Ok(Some("<r></r></r>".to_owned())),
            Ok(Some("<r><stook-0 of=\"5.xml\"></r>".to_owned())),
            Ok(Some("<r>c</r>".to_owned())),
        ]
    );
}

#[test]
fn what_xsltproc_does_not_understand_is_told_before_anything_is_made() {
    let stylesheet = Bench::new().sheet(r#"<xsl:template match="/"><xsl:value-of select="a[["/></xsl:template>"#);
    let error = format!("{:#}", stylesheet.ready().unwrap_err());
    assert!(error.contains("house.xsl line 1") && error.contains("'a[['"), "{error}");
    assert!(error.contains("\nTry: ") && !error.contains("/stook-"), "{error}");
}

#[test]
fn nothing_is_left_behind() {
    let stylesheet = Bench::new().sheet(r#"<xsl:template match="/"><r/></xsl:template>"#);
    applied(&stylesheet, &["<a/>"]);
    let run = stylesheet.workshop().unwrap().run_folder().unwrap();
    let folder = run.path().parent().unwrap().to_owned();
    drop(run);
    let names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(
        names.len(),
        2,
        "only the stylesheet and the driver stay between runs: {names:?}"
    );
    drop(stylesheet);
    assert!(!folder.exists());
}
