use std::borrow::Cow;

use super::*;

fn scan(xml: &str) -> Result<Vec<String>, Problem> {
    let mut scanner = Scanner::new(xml);
    let mut tokens = Vec::new();
    while let Some(token) = scanner.next_token().map_err(|fault| fault.problem)? {
        tokens.push(match token {
            Token::Start { name, empty } => {
                let attributes = scanner.attributes().iter();
                let attributes: Vec<_> = attributes.map(|one| format!(" {}={}", one.name, one.value)).collect();
                format!("<{name}{}{}", attributes.concat(), if empty { "/>" } else { ">" })
            }
            Token::End { name } => format!("</{name}>"),
            Token::Text(text) => format!("text {text}"),
            Token::Section(text) => format!("section {text}"),
            Token::Comment => "comment".to_owned(),
            Token::Instruction => "instruction".to_owned(),
            Token::Declaration => "declaration".to_owned(),
        });
    }
    Ok(tokens)
}

fn problem(xml: &str) -> Problem {
    scan(xml).unwrap_err()
}

#[test]
fn every_kind_of_token_is_read() {
    let tokens =
        scan("\u{FEFF}<?xml version='1.0'?><!-- c --><a b=\"1\"  c = 'x>\"y'>t&amp;u<![CDATA[<&]]><?p i?><é:ü/></a >")
            .unwrap();
    assert_eq!(
        tokens,
        [
            "declaration",
            "comment",
            "<a b=1 c=x>\"y>",
            "text t&amp;u",
            "section <&",
            "instruction",
            "<é:ü/>",
            "</a>"
        ]
    );
}

#[test]
fn malformed_tags_are_refused() {
    for xml in ["<a b>", "<a b=1>", "<a b=\"1\"c=\"2\">", "<a / >", "</a b>", "<a ,>"] {
        assert!(matches!(problem(xml), Problem::MalformedTag(_)), "{xml}");
    }
    for xml in ["< a>", "<1>", "<>", "</>", "<!ELEMENT a>", "<a b='<'>"] {
        assert_eq!(problem(xml), Problem::StrayLessThan, "{xml}");
    }
}

#[test]
fn names_with_misplaced_colons_are_refused() {
    for xml in ["<:a>", "<a:>", "<a:b:c>", "<a:1>", "<a x:y:z='1'>"] {
        assert!(matches!(problem(xml), Problem::BadName(_)), "{xml}");
    }
}

#[test]
fn text_cut_off_anywhere_is_refused() {
    for xml in ["<a", "<a b='1", "</a", "<!-- ", "<![CDATA[ ]]", "<?pi "] {
        assert!(matches!(problem(xml), Problem::CutOff(_)), "{xml}");
    }
}

#[test]
fn only_the_five_entities_are_known() {
    assert!(scan("<a b='&lt;&quot;'>&lt;&gt;&amp;&apos;&quot;</a>").is_ok());
    assert_eq!(problem("&nbsp;"), Problem::UnknownEntity("nbsp".into()));
    assert_eq!(problem("<a b='&auml;'/>"), Problem::UnknownEntity("auml".into()));
    for xml in ["AT&T", "a & b", "&;", "&#;", "&#x;", "&#12", "&#1a;", "&#X41;", "&"] {
        assert_eq!(problem(xml), Problem::StrayAmpersand, "{xml}");
    }
}

#[test]
fn illegal_characters_and_references_to_them_are_refused() {
    assert_eq!(problem("a\u{1}"), Problem::IllegalCharacter(1));
    assert_eq!(problem("<a b='\u{FFFF}'/>"), Problem::IllegalCharacter(0xFFFF));
    assert_eq!(problem("<![CDATA[\u{b}]]>"), Problem::IllegalCharacter(0xB));
    assert_eq!(problem("<!--\u{b}-->"), Problem::IllegalCharacter(0xB));
    assert_eq!(problem("&#0;"), Problem::IllegalReference("0".into()));
    assert_eq!(problem("&#xD800;"), Problem::IllegalReference("xD800".into()));
    assert_eq!(
        problem("&#99999999999;"),
        Problem::IllegalReference("99999999999".into())
    );
    assert!(scan("\u{FFFD}\u{F000}\u{10FFFF}&#x10FFFF;&#9;").is_ok());
}

#[test]
fn doctype_is_refused_in_any_case() {
    assert_eq!(problem("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"), Problem::Doctype);
    assert_eq!(problem("<!doctype html>"), Problem::Doctype);
}

#[test]
fn section_ends_comments_and_instructions_obey_their_rules() {
    assert_eq!(problem("a]]>b"), Problem::StraySectionEnd);
    assert_eq!(problem("<!-- a -- b -->"), Problem::BadComment);
    assert_eq!(problem("<!-- a --->"), Problem::BadComment);
    assert_eq!(
        problem("<a/><?xml version='1.0'?>"),
        Problem::BadInstruction("xml".into())
    );
    assert_eq!(problem("<??>"), Problem::BadInstruction(String::new()));
    assert!(scan("a]]b] ]>").is_ok());
}

#[test]
fn repeated_attributes_are_refused() {
    assert_eq!(problem("<a b='1' b='2'/>"), Problem::RepeatedAttribute("b".into()));
}

#[test]
fn attributes_beyond_the_bound_are_refused() {
    let many: String = (0..=MAX_ATTRIBUTES).map(|n| format!(" a{n}=''")).collect();
    assert_eq!(
        problem(&format!("<a{many}/>")),
        Problem::TooManyAttributes(MAX_ATTRIBUTES)
    );
}

#[test]
fn unescape_leaves_what_is_no_reference() {
    assert_eq!(unescape("a & b &nope; &#x41;&lt;"), "a & b &nope; A<");
    assert!(matches!(unescape("plain"), Cow::Borrowed(_)));
}
