//! XML as people read it: indented and in colours, whatever it is.
//!
//! Enters: any text. Leaves: HTML in which every character of it is text, and the only elements are our own spans. It
//! does not judge: what is no XML is shown as it is.

use std::fmt::Write;

use stook_oai::xml;

/// Deeper than this nothing is indented further.
const MOST_INDENT: usize = 20;

/// A piece of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    Start(&'a str),
    Alone(&'a str),
    End(&'a str),
    /// Comment, instruction, declaration.
    Aside(&'a str),
    Text(&'a str),
}

/// A text as HTML.
pub(super) struct Highlighted {
    pub(super) html: String,
    /// How much of the text that is.
    pub(super) shown: usize,
}

/// The text as HTML, up to the piece with which that has so many bytes.
pub(super) fn highlighted(text: &str, most: usize) -> Highlighted {
    let mut html = String::new();
    let (mut depth, mut before) = (0_usize, None);
    let mut pieces = Pieces(text);
    while html.len() < most {
        let Some(piece) = pieces.next() else { break };
        let is_text = |piece: Option<Piece<'_>>| matches!(piece, Some(Piece::Text(_)));
        let is_empty = matches!((before, piece), (Some(Piece::Start(_)), Piece::End(_)));
        let on_new_line = before.is_some() && !is_text(before) && !is_text(Some(piece)) && !is_empty;
        if let Piece::End(_) = piece {
            depth = depth.saturating_sub(1);
        }
        if on_new_line {
            html.push('\n');
            html.extend(std::iter::repeat_n("  ", depth.min(MOST_INDENT)));
        }
        write_piece(&mut html, piece);
        if let Piece::Start(_) = piece {
            depth += 1;
        }
        before = Some(piece);
    }
    let shown = text.len() - pieces.0.len();
    Highlighted { html, shown }
}

/// Cuts a text at tags. Blanks between two tags are left out.
struct Pieces<'a>(&'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if !self.0.starts_with('<') {
            let end = self.0.find('<').unwrap_or(self.0.len());
            let text = self.take(end);
            if !text.trim().is_empty() {
                return Some(Piece::Text(text));
            }
        }
        if self.0.is_empty() {
            return None;
        }
        let rest = self.0;
        let until = |end: &str| rest.find(end).map_or(rest.len(), |at| at + end.len());
        let make: (usize, fn(&'a str) -> Piece<'a>) = match rest {
            _ if rest.starts_with("<!--") => (until("-->"), Piece::Aside),
            _ if rest.starts_with("<![CDATA[") => (until("]]>"), Piece::Text),
            _ if rest.starts_with("<?") => (until("?>"), Piece::Aside),
            _ if rest.starts_with("<!") => (until(">"), Piece::Aside),
            _ if rest.starts_with("</") => (until(">"), Piece::End),
            _ => {
                let end = end_of_tag(rest);
                let is_alone = rest[..end].ends_with("/>");
                (end, if is_alone { Piece::Alone } else { Piece::Start })
            }
        };
        Some(make.1(self.take(make.0)))
    }
}

impl<'a> Pieces<'a> {
    fn take(&mut self, end: usize) -> &'a str {
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        taken
    }
}

/// Behind the `>` of a start tag, which may stand in a value, too.
fn end_of_tag(text: &str) -> usize {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    text.len()
}

fn write_piece(html: &mut String, piece: Piece<'_>) {
    match piece {
        Piece::Text(text) => write_text(html, text),
        Piece::Aside(text) => span(html, "c", text),
        Piece::End(text) => span(html, "t", text),
        Piece::Start(text) | Piece::Alone(text) => write_tag(html, text),
    }
}

/// A start tag: its name, then names and values of attributes.
fn write_tag(html: &mut String, tag: &str) {
    let end = tag
        .find(|sign: char| sign.is_whitespace() || sign == '/' || sign == '>')
        .unwrap_or(tag.len());
    let (name, mut rest) = tag.split_at(end);
    span(html, "t", name);
    while let Some(open) = rest.find(['"', '\'']) {
        let quote = &rest[open..=open];
        let close = rest[open + 1..].find(quote).map_or(rest.len(), |at| open + at + 2);
        span(html, "a", &rest[..open]);
        span(html, "v", &rest[open..close]);
        rest = &rest[close..];
    }
    span(html, "t", rest);
}

fn span(html: &mut String, class: &str, text: &str) {
    if !text.is_empty() {
        let _ = write!(html, "<span class=\"{class}\">");
        write_text(html, text);
        html.push_str("</span>");
    }
}

/// Text, escaped. What cannot be seen, or turns the direction of what follows, is named instead.
fn write_text(html: &mut String, text: &str) {
    for sign in text.chars() {
        match sign {
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '&' => html.push_str("&amp;"),
            '"' => html.push_str("&quot;"),
            '\r' => {}
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' => name_of(html, sign),
            _ if !xml::is_xml_char(sign) || ('\u{7F}'..='\u{9F}').contains(&sign) => name_of(html, sign),
            _ => html.push(sign),
        }
    }
}

fn name_of(html: &mut String, sign: char) {
    let _ = write!(html, "<span class=\"odd\">U+{:04X}</span>", u32::from(sign));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without our own spans.
    fn bare(html: &str) -> String {
        let mut text = html.replace("</span>", "");
        for class in ["t", "a", "v", "c", "odd"] {
            text = text.replace(&format!("<span class=\"{class}\">"), "");
        }
        text
    }

    #[test]
    fn elements_are_indented_and_texts_stay_where_they_are() {
        let Highlighted { html, shown } = highlighted(
            "<?xml version=\"1.0\"?><a b='1>2'><c>x &amp; y</c><d/><e></e></a>",
            10_000,
        );
        assert_eq!(shown, 63);
        assert_eq!(
            bare(&html),
            "&lt;?xml version=&quot;1.0&quot;?&gt;\n&lt;a b='1&gt;2'&gt;\n  &lt;c&gt;x &amp;amp; y&lt;/c&gt;\n  &lt;d/&gt;\n  &lt;e&gt;&lt;/e&gt;\n&lt;/a&gt;"
        );
        assert!(html.contains("<span class=\"v\">'1&gt;2'</span>"), "{html}");
    }

    #[test]
    fn what_would_grow_too_much_is_cut() {
        let deep = "<a>".repeat(10_000);
        let Highlighted { html, shown } = highlighted(&deep, 50_000);
        assert!(html.len() < 51_000 && shown < deep.len() && shown.is_multiple_of(3));
    }

    #[test]
    fn whatever_comes_is_text() {
        for hostile in [
            "<script>alert(1)</script>",
            "<a b=\"</span><script>\">",
            "<![CDATA[<script>]]>",
            "<!--<script>",
            "<a b='<img src=x onerror=alert(1)>",
            "</",
            "<",
            "<>",
            "< a",
            "\u{0}\u{1b}\u{202E}",
            "<ä ö=\"ü'>",
        ] {
            let text = bare(&highlighted(hostile, 10_000).html);
            assert!(!text.contains('<') && !text.contains('>'), "{hostile:?}: {text}");
            assert!(
                !text.chars().any(|sign| sign.is_control() || sign == '\u{202E}'),
                "{text:?}"
            );
        }
    }
}
