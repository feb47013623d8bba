//! HTML that was left in values, and references that were escaped twice.

/// References by name and what they stand for: those of XML, and those of HTML that are met.
const NAMED: &[(&str, &str)] = &[
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("shy", ""),
    ("ndash", "–"),
    ("mdash", "—"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("sbquo", "‚"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("bdquo", "„"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("hellip", "…"),
    ("bull", "•"),
    ("middot", "·"),
    ("deg", "°"),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("times", "×"),
    ("sect", "§"),
    ("micro", "µ"),
    ("plusmn", "±"),
    ("frac12", "½"),
    ("sup2", "²"),
    ("sup3", "³"),
    ("euro", "€"),
    ("pound", "£"),
    ("iexcl", "¡"),
    ("iquest", "¿"),
    ("ordf", "ª"),
    ("ordm", "º"),
    ("Agrave", "À"),
    ("Aacute", "Á"),
    ("Acirc", "Â"),
    ("Atilde", "Ã"),
    ("Auml", "Ä"),
    ("Aring", "Å"),
    ("AElig", "Æ"),
    ("Ccedil", "Ç"),
    ("Egrave", "È"),
    ("Eacute", "É"),
    ("Ecirc", "Ê"),
    ("Iacute", "Í"),
    ("Ntilde", "Ñ"),
    ("Oacute", "Ó"),
    ("Ocirc", "Ô"),
    ("Otilde", "Õ"),
    ("Ouml", "Ö"),
    ("Oslash", "Ø"),
    ("Uacute", "Ú"),
    ("Uuml", "Ü"),
    ("Yacute", "Ý"),
    ("szlig", "ß"),
    ("agrave", "à"),
    ("aacute", "á"),
    ("acirc", "â"),
    ("atilde", "ã"),
    ("auml", "ä"),
    ("aring", "å"),
    ("aelig", "æ"),
    ("ccedil", "ç"),
    ("egrave", "è"),
    ("eacute", "é"),
    ("ecirc", "ê"),
    ("euml", "ë"),
    ("igrave", "ì"),
    ("iacute", "í"),
    ("icirc", "î"),
    ("iuml", "ï"),
    ("ntilde", "ñ"),
    ("ograve", "ò"),
    ("oacute", "ó"),
    ("ocirc", "ô"),
    ("otilde", "õ"),
    ("ouml", "ö"),
    ("oslash", "ø"),
    ("ugrave", "ù"),
    ("uacute", "ú"),
    ("ucirc", "û"),
    ("uuml", "ü"),
    ("yacute", "ý"),
    ("yuml", "ÿ"),
    ("oelig", "œ"),
    ("scaron", "š"),
    ("Scaron", "Š"),
    ("alpha", "α"),
    ("beta", "β"),
    ("gamma", "γ"),
    ("delta", "δ"),
    ("epsilon", "ε"),
    ("lambda", "λ"),
    ("mu", "μ"),
    ("pi", "π"),
    ("sigma", "σ"),
    ("omega", "ω"),
];

/// Tags between words, and tags inside a word or sentence. Others may mean something of their own, in angle brackets.
const BLOCKS: &[&str] = &[
    "p",
    "br",
    "div",
    "li",
    "ul",
    "ol",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "table",
    "tbody",
    "tr",
    "td",
    "th",
    "blockquote",
    "center",
    "jats:p",
    "jats:sec",
    "jats:title",
    "title",
];
const INLINE: &[&str] = &[
    "i",
    "b",
    "u",
    "a",
    "em",
    "strong",
    "sub",
    "sup",
    "span",
    "font",
    "small",
    "tt",
    "code",
    "cite",
    "strike",
    "img",
    "inf",
    "scp",
    "jats:italic",
    "jats:bold",
    "jats:sub",
    "jats:sup",
];

/// Tags around what nobody was meant to read. To take out the tags alone would leave that.
const PROGRAMS: &[&str] = &["script", "style", "iframe"];

/// The longest reference: anything longer is none.
const MAX_REFERENCE: usize = 12;

/// Whether there is any.
pub(super) fn is_left(text: &str) -> bool {
    references(text).next().is_some() || tags(text).next().is_some()
}

/// Whether a text ends with a whole reference, such as `&amp;`.
pub(super) fn is_end_of_reference(text: &str) -> bool {
    let start = text.rfind('&').map(|at| &text[at..]);
    start.is_some_and(|reference| reference_at(reference).is_some_and(|(length, _)| length == reference.len()))
}

/// Replacements that take it out, in the order in which they must be made: references, that of `&` last, then tags.
pub(super) fn replacements(text: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (reference, meant) in references(text) {
        pairs.push((reference.to_owned(), meant));
    }
    pairs.sort_by_key(|(_, meant)| meant == "&");
    let plain = apply(text, &pairs);
    // A tag with attributes is different each time, and a program is no text.
    if tags(&plain).all(|tag| tag.is_simple) {
        pairs.extend(tags(&plain).map(|tag| (tag.text.to_owned(), tag.instead.to_owned())));
    }
    pairs.dedup();
    pairs
}

/// The text with these replacements.
pub(super) fn apply(text: &str, pairs: &[(String, String)]) -> String {
    pairs
        .iter()
        .fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
}

/// Where tags stood between words there may be several blanks now. Of three, the second time leaves one.
pub(super) const BLANKS: [(&str, &str); 2] = [("  ", " "); 2];

/// References with what they stand for.
fn references(text: &str) -> impl Iterator<Item = (&str, String)> {
    let starts = text.match_indices('&').map(|(at, _)| &text[at..]);
    starts.filter_map(|from| reference_at(from).map(|(length, meant)| (&from[..length], meant)))
}

/// The length of the reference at the beginning, and what it stands for.
fn reference_at(text: &str) -> Option<(usize, String)> {
    let end = text.bytes().take(MAX_REFERENCE).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let meant = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            let character = code
                .ok()
                .and_then(char::from_u32)
                .filter(|character| !character.is_control())?;
            character.to_string()
        }
        None => NAMED.iter().find(|(known, _)| *known == name)?.1.to_owned(),
    };
    Some((end + 1, meant))
}

struct Tag<'t> {
    text: &'t str,
    /// What stands in its place where it is taken out.
    instead: &'static str,
    /// Whether it can be taken out: it has no attributes, and is around text.
    is_simple: bool,
}

fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    text.match_indices('<').filter_map(|(at, _)| tag_at(&text[at..], text))
}

/// The tag at the beginning. A single letter may be about the letter, so its end tag must be somewhere `around` too.
fn tag_at<'t>(text: &'t str, around: &str) -> Option<Tag<'t>> {
    let end = text.find('>')?;
    let inside = text.get(1..end)?;
    let inside = inside.strip_prefix('/').unwrap_or(inside);
    let inside = inside.strip_suffix('/').unwrap_or(inside).trim_end();
    let (name, attributes) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
    let lower = name.to_ascii_lowercase();
    let is_program = PROGRAMS.contains(&&*lower) && around.contains(&format!("</{name}>"));
    let instead = match (BLOCKS.contains(&&*lower), INLINE.contains(&&*lower)) {
        (true, _) => " ",
        (_, true) => "",
        _ if is_program => "",
        _ => return None,
    };
    let is_tag = attributes.is_empty() || attributes.contains('=');
    let is_closed = name.len() > 1 || around.contains(&format!("</{name}>"));
    (is_tag && is_closed).then(|| Tag {
        text: &text[..=end],
        instead,
        is_simple: attributes.is_empty() && !is_program,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_taken_out() {
        for (text, plain) in [
            ("Research &amp; Development", "Research & Development"),
            ("caf&eacute; &#8211; M&uuml;ller", "café – Müller"),
            ("&#x41;", "A"),
            ("<p>First</p><p>second</p>", " First  second "),
            ("&lt;p&gt;First&lt;/p&gt;", " First "),
            ("H<sub>2</sub>O in <i>E. coli</i>", "H2O in E. coli"),
            ("one<br/>two<BR>three", "one two three"),
            ("<jats:p>Abstract</jats:p>", " Abstract "),
            // What has attributes stays, and is reported; so does what is no text.
            ("<script>alert(1)</script>", "<script>alert(1)</script>"),
            ("<a href=\"x\">here</a>", "<a href=\"x\">here</a>"),
        ] {
            assert!(is_left(text), "{text}");
            assert_eq!(apply(text, &replacements(text)), plain, "{text}");
        }
    }

    #[test]
    fn ordinary_signs_are_not_markup() {
        for text in [
            "AT&T; Bell",
            "R&D",
            "http://example.org/?a=1&copy=2&lt=3",
            "a < b and c > d",
            "a <b and c> d",
            "The letter <i> in Old English",
            "Geschichte <18. Jahrhundert>",
            "Hamlet <play>",
            "Rococo <style>",
            "<http://example.org/>",
            "x &foo; y",
            "&; &#; &#x; &#99999999; &",
            "Ü & Ö; ñ",
            "<",
            "<>",
            "</>",
            "",
        ] {
            assert!(!is_left(text), "{text}");
        }
    }
}
