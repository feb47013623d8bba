//! Word by word through one line of a mapping.

/// What is left of a line.
pub(super) struct Cursor<'t> {
    pub(super) rest: &'t str,
}

impl<'t> Cursor<'t> {
    pub(super) fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Takes these signs, blanks before them too.
    pub(super) fn takes(&mut self, signs: &str) -> bool {
        match self.rest.trim_start().strip_prefix(signs) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes these signs if they come at once.
    pub(super) fn takes_at_once(&mut self, signs: &str) -> bool {
        match self.rest.strip_prefix(signs) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes a word that has an end.
    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        match self.rest.trim_start().strip_prefix(word) {
            Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    pub(super) fn word_is(&mut self, word: &str, otherwise: &str) -> Result<(), String> {
        match self.takes_word(word) {
            true => Ok(()),
            false => Err(otherwise.to_owned()),
        }
    }

    /// Everything up to a blank.
    pub(super) fn word(&mut self, what: &str) -> Result<&'t str, String> {
        self.skip_blanks();
        let end = self.rest.find(char::is_whitespace).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "" => Err(format!("{what} is missing")),
            word => Ok(word),
        }
    }

    /// What can belong to a name, which may be nothing.
    pub(super) fn name(&mut self) -> &'t str {
        let belongs = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.' | ':');
        let mut end = self.rest.find(|sign| !belongs(sign)).unwrap_or(self.rest.len());
        // The minus of an arrow is none of a name.
        if self.rest[end..].starts_with('>') && self.rest[..end].ends_with('-') {
            end -= 1;
        }
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    /// `"text"`; two quotation marks inside stand for one.
    pub(super) fn string(&mut self, what: &str) -> Result<String, String> {
        self.string_if_any()?
            .ok_or_else(|| format!("{what} is missing, in quotation marks"))
    }

    pub(super) fn string_if_any(&mut self) -> Result<Option<String>, String> {
        if !self.takes("\"") {
            return Ok(None);
        }
        let mut text = String::new();
        loop {
            let Some((before, after)) = self.rest.split_once('"') else {
                return Err("a quotation mark is not closed".into());
            };
            text.push_str(before);
            self.rest = after;
            if !self.takes_at_once("\"") {
                return Ok(Some(text));
            }
            text.push('"');
        }
    }

    /// A text in quotation marks, or a word.
    pub(super) fn value(&mut self, what: &str) -> Result<String, String> {
        match self.string_if_any()? {
            Some(text) => Ok(text),
            None => Ok(self.word(what)?.to_owned()),
        }
    }

    /// `35-37` or `6`.
    pub(super) fn range(&mut self) -> Result<(usize, usize), String> {
        let written = self.name();
        let (first, last) = written.split_once('-').unwrap_or((written, written));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok((first, last)),
            _ => Err(format!("{written:?} is no range of characters, such as 35-37")),
        }
    }
}
