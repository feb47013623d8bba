//! What goes wrong, and when: a small text ⇄ a [`Script`].
//!
//! ```text
//! page-size 10        # settings: a name and a number
//! seed 7
//! fault retry-after-seconds on ListRecords page 2 times 3
//! fault single-use-tokens
//! ```

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use stook_oai::Verb;

use crate::fault::Fault;
use crate::when::When;

/// A setting of a script: a number with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// Entries of a page.
    PageSize,
    /// The beginning of all chance.
    Seed,
    /// How long what is slow takes.
    PauseMilliseconds,
    /// The Retry-After of 503 and 429, in seconds.
    RetryAfterSeconds,
    /// Records above which a selection is too large.
    Limit,
    /// Requests for which a token works.
    TokenLife,
    /// Seconds for which a token works.
    TokenSeconds,
    /// Seconds after its datestamp at which a late record surfaces.
    LateSeconds,
    /// How deep elements are nested.
    Depth,
    /// How many bytes what is large has.
    Size,
    /// How many sets are added.
    ExtraSets,
    /// Whether answers are compressed for clients that accept gzip.
    Gzip,
}

/// Each setting, its name, its default and what it is.
const SETTINGS: [(Setting, &str, u64, &str); 12] = [
    (Setting::PageSize, "page-size", 20, "entries of a page"),
    (Setting::Seed, "seed", 1, "the beginning of all chance"),
    (
        Setting::PauseMilliseconds,
        "pause-milliseconds",
        1_000,
        "how long what is slow takes",
    ),
    (
        Setting::RetryAfterSeconds,
        "retry-after-seconds",
        1,
        "the Retry-After of 503 and 429",
    ),
    (
        Setting::Limit,
        "limit",
        50,
        "records above which a selection is too large",
    ),
    (Setting::TokenLife, "token-life", 3, "requests for which a token works"),
    (
        Setting::TokenSeconds,
        "token-seconds",
        300,
        "seconds for which a token works",
    ),
    (
        Setting::LateSeconds,
        "late-seconds",
        3_600,
        "seconds after its datestamp at which a late record surfaces",
    ),
    (Setting::Depth, "depth", 100_000, "how deep elements are nested"),
    (Setting::Size, "size", 1 << 30, "how many bytes what is large has"),
    (Setting::ExtraSets, "extra-sets", 2_000, "how many sets are added"),
    (
        Setting::Gzip,
        "gzip",
        0,
        "1: compress answers for clients that accept gzip",
    ),
];

impl Setting {
    /// Every setting with its name, its default and what it is.
    pub fn all() -> impl Iterator<Item = (Self, &'static str, u64, &'static str)> {
        SETTINGS.into_iter()
    }
}

/// What goes wrong, and when; without faults, a correct repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    settings: [u64; SETTINGS.len()],
    /// The faults, in the order in which they are applied.
    pub faults: Vec<(Fault, When)>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            settings: SETTINGS.map(|(_, _, default, _)| default),
            faults: Vec::new(),
        }
    }
}

impl Script {
    /// A script in which nothing goes wrong.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same script with one fault more.
    #[must_use]
    pub fn fault(mut self, fault: Fault, when: When) -> Self {
        self.faults.push((fault, when));
        self
    }

    /// The same script with another page size.
    #[must_use]
    pub fn page_size(self, entries: u64) -> Self {
        self.with(Setting::PageSize, entries)
    }

    /// The same script with another setting.
    #[must_use]
    pub fn with(mut self, setting: Setting, value: u64) -> Self {
        self.settings[setting as usize] = value;
        self
    }

    /// The value of a setting.
    #[must_use]
    pub fn setting(&self, setting: Setting) -> u64 {
        self.settings[setting as usize]
    }

    pub(crate) fn pause(&self) -> Duration {
        Duration::from_millis(self.setting(Setting::PauseMilliseconds))
    }

    /// A setting as a count of things in memory.
    pub(crate) fn count(&self, setting: Setting) -> usize {
        usize::try_from(self.setting(setting)).unwrap_or(usize::MAX)
    }

    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.faults.iter().any(|(given, _)| *given == fault)
    }
}

impl fmt::Display for Script {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (setting, name, default, _) in SETTINGS {
            if self.setting(setting) != default {
                writeln!(formatter, "{name} {}", self.setting(setting))?;
            }
        }
        for (fault, when) in &self.faults {
            writeln!(formatter, "fault {fault}{when}")?;
        }
        Ok(())
    }
}

/// Why a text is no script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl FromStr for Script {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let mut script = Self::new();
        for (number, line) in text.lines().enumerate() {
            script.read_line(line).map_err(|problem| ScriptError {
                line: number + 1,
                problem,
            })?;
        }
        Ok(script)
    }
}

impl Script {
    fn read_line(&mut self, line: &str) -> Result<(), String> {
        // An identifier may hold `#`, a comment stands behind a space.
        let line = if line.starts_with('#') {
            ""
        } else {
            line.split(" #").next().unwrap_or_default()
        };
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else {
            return Ok(());
        };
        if first == "fault" {
            let (fault, when) = read_fault(&mut words)?;
            self.faults.push((fault, when));
            return Ok(());
        }
        let Some((setting, ..)) = SETTINGS.into_iter().find(|(_, name, ..)| *name == first) else {
            let names: Vec<&str> = SETTINGS.iter().map(|(_, name, ..)| *name).collect();
            return Err(format!(
                "`{first}` is neither `fault` nor a setting ({})",
                names.join(", ")
            ));
        };
        let value = number(first, words.next())?;
        if setting == Setting::PageSize && value == 0 {
            return Err("page-size must be at least 1".to_owned());
        }
        match words.next() {
            None => self.settings[setting as usize] = value,
            Some(extra) => return Err(format!("`{extra}` after {first} {value}; a setting is one number")),
        }
        Ok(())
    }
}

fn read_fault<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<(Fault, When), String> {
    let name = words.next().ok_or("fault needs a name after it")?;
    let fault = Fault::parse(name).ok_or_else(|| format!("there is no fault `{name}`{}", nearest(name)))?;
    let mut when = When::always();
    while let Some(word) = words.next() {
        match word {
            "on" => when.verb = Some(verb(words.next())?),
            "page" => when.page = Some(positive(word, words.next())?),
            "request" => when.request = Some(positive(word, words.next())?),
            "every" => when.every = Some(positive(word, words.next())?),
            "times" => when.times = Some(number(word, words.next())?),
            "chance" => when.chance = Some(percent(words.next())?),
            "identifier" => when.identifier = Some(words.next().ok_or("identifier needs one after it")?.to_owned()),
            _ => {
                return Err(format!(
                    "`{word}` is no condition (on VERB, page N, request N, every N, chance PERCENT, times N, identifier ID)"
                ));
            }
        }
    }
    Ok((fault, when))
}

fn verb(word: Option<&str>) -> Result<Verb, String> {
    let word = word.ok_or("on needs a verb after it")?;
    Verb::parse(word).ok_or_else(|| format!("`{word}` is not a verb, such as ListRecords"))
}

fn number(name: &str, word: Option<&str>) -> Result<u64, String> {
    let word = word.ok_or_else(|| format!("{name} needs a number after it"))?;
    word.replace('_', "")
        .parse()
        .map_err(|_| format!("{name} {word}: not a number"))
}

fn positive(name: &str, word: Option<&str>) -> Result<u64, String> {
    match number(name, word)? {
        0 => Err(format!("{name} counts from 1")),
        number => Ok(number),
    }
}

fn percent(word: Option<&str>) -> Result<u64, String> {
    match number("chance", word)? {
        percent @ 0..=100 => Ok(percent),
        more => Err(format!("chance {more}: at most 100 in a hundred")),
    }
}

/// Faults that share a word with a name that does not exist.
fn nearest(name: &str) -> String {
    let shares = |fault: &&Fault| {
        name.split('-')
            .any(|word| word.len() > 3 && fault.name().contains(word))
    };
    let names: Vec<&str> = Fault::ALL
        .iter()
        .filter(shares)
        .map(|fault| fault.name())
        .take(6)
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("; near it: {}", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        text.parse::<Script>().unwrap_err().to_string()
    }

    #[test]
    fn a_script_is_written_and_read_back() {
        let text = "page-size 7\nseed 42\n\
            fault retry-after-seconds on ListRecords page 2 times 3\n\
            fault poison-record identifier oai:x#1\n\
            fault status-500 every 4 chance 50\n";
        let script: Script = text.parse().unwrap();
        assert_eq!(script.setting(Setting::PageSize), 7);
        assert_eq!(
            script.faults[0].1,
            When::always().on(Verb::ListRecords).page(2).times(3)
        );
        assert_eq!(script.faults[1].1.identifier.as_deref(), Some("oai:x#1"));
        assert_eq!(script.to_string(), text);
    }

    #[test]
    fn comments_and_empty_lines_say_nothing() {
        assert_eq!("\n# nothing\n  # nor this\n".parse::<Script>().unwrap(), Script::new());
        assert_eq!("seed 9 # why not".parse::<Script>().unwrap().setting(Setting::Seed), 9);
    }

    #[test]
    fn nonsense_is_refused_with_its_line_and_a_way_out() {
        assert!(problem("seed 1\nfalt x").starts_with("line 2: `falt` is neither `fault` nor a setting (page-size"));
        assert!(problem("fault").contains("needs a name"));
        assert!(problem("fault retry-after-second").contains("near it: retry-after-seconds"));
        assert!(problem("fault status-500 on Listrecords").contains("`Listrecords` is not a verb"));
        assert!(problem("fault status-500 page 0").contains("counts from 1"));
        assert!(problem("fault status-500 times some").contains("times some: not a number"));
        assert!(problem("fault status-500 sometimes").contains("no condition (on VERB"));
        assert!(problem("fault status-500 chance 101").contains("at most 100"));
        assert!(problem("seed").contains("needs a number"));
        assert!(problem("seed 1 2").contains("one number"));
        assert!(problem("page-size 0").contains("at least 1"));
    }

    #[test]
    fn every_setting_stands_at_its_place() {
        for (at, (setting, ..)) in SETTINGS.into_iter().enumerate() {
            assert_eq!(setting as usize, at);
        }
    }
}
