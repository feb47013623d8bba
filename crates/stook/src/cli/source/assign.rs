//! NAME=VALUE as people write it: into a setting, or as quirk.NAME=VALUE into a quirk.
//!
//! Enters: text. Leaves: settings and quirks of the right kinds, or a sentence that names the setting, what was given
//! and what is wanted.

use anyhow::{Result, anyhow, bail};
use serde_json::Value;

use crate::config::Source;
use crate::harvest::Quirks;
use crate::harvest::source;

/// A quirk as people set it.
pub(super) struct Quirk {
    pub(super) name: &'static str,
    /// Values that it can have, apart from none.
    pub(super) values: &'static str,
    pub(super) sentence: &'static str,
}

const FLAG: &str = "true";

/// Every quirk there is.
pub(super) const QUIRKS: &[Quirk] = &[
    Quirk {
        name: "granularity",
        values: "seconds, days",
        sentence: "How dates are written in requests, whatever Identify says.",
    },
    Quirk {
        name: "no_until",
        values: FLAG,
        sentence: "`until` must not be sent.",
    },
    Quirk {
        name: "no_dates",
        values: FLAG,
        sentence: "Neither `from` nor `until` may be sent.",
    },
    Quirk {
        name: "needs_dates",
        values: FLAG,
        sentence: "Nothing is given unless dates are sent.",
    },
    Quirk {
        name: "whole_days",
        values: FLAG,
        sentence: "Nothing is given if `from` and `until` are on one day: `until` is sent a day later.",
    },
    Quirk {
        name: "ignores_from",
        values: FLAG,
        sentence: "`from` changes nothing: every harvest is a full one.",
    },
    Quirk {
        name: "needs_set",
        values: FLAG,
        sentence: "Nothing is given unless a set is named.",
    },
    Quirk {
        name: "verbatim",
        values: FLAG,
        sentence: "Values are sent as they are, not percent-encoded.",
    },
    Quirk {
        name: "token_with_prefix",
        values: FLAG,
        sentence: "A resumptionToken needs the metadataPrefix beside it.",
    },
    Quirk {
        name: "get_record",
        values: FLAG,
        sentence: "ListRecords is of no use: ListIdentifiers, then GetRecord for each.",
    },
    Quirk {
        name: "wrong_list_size",
        values: FLAG,
        sentence: "completeListSize says something else than there is.",
    },
    Quirk {
        name: "encoding",
        values: "windows-1250, iso-8859-2, …",
        sentence: "The encoding of its answers, whatever they declare.",
    },
];

/// Settings and quirks while they are being changed.
#[derive(Clone)]
pub(super) struct Draft {
    settings: Source,
    quirks: Quirks,
}

impl Draft {
    pub(super) fn new(settings: Source, quirks: Quirks) -> Draft {
        Draft { settings, quirks }
    }

    /// Takes NAME=VALUE.
    pub(super) fn assign(&mut self, assignment: &str) -> Result<()> {
        let (name, text) = assignment
            .split_once('=')
            .ok_or_else(|| anyhow!("{assignment:?} has no =\nTry: NAME=VALUE, as stook source settings lists them"))?;
        match name.strip_prefix("quirk.") {
            Some(quirk) => self.set_quirk(quirk, text),
            None => self.set(name, text),
        }
    }

    /// Gives a setting a value; an empty one restores the default.
    pub(super) fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let name = match name {
            "prefix" => "prefixes",
            "set" => "sets",
            "header" => "headers",
            other => other,
        };
        let defaults = serde_json::to_value(Source::default())?;
        let Some(default) = defaults.get(name) else {
            bail!("there is no setting {name:?}\nTry: stook source settings");
        };
        let mut settings = serde_json::to_value(&self.settings)?;
        settings[name] = if text.is_empty() {
            default.clone()
        } else {
            read(name, text, default)?
        };
        // The kind is right by now; only a number can still be beyond what there is room for.
        self.settings = serde_json::from_value(settings)
            .map_err(|_| anyhow!("{name}={text} is too large\nTry: {name}={default}"))?;
        Ok(())
    }

    /// Gives a quirk a value; `false` and nothing take it away.
    pub(super) fn set_quirk(&mut self, name: &str, text: &str) -> Result<()> {
        let Some(quirk) = QUIRKS.iter().find(|quirk| quirk.name == name) else {
            bail!("there is no quirk {name:?}\nTry: stook source settings, which lists them");
        };
        let mut quirks = serde_json::to_value(&self.quirks)?;
        quirks[name] = match (text, quirk.values) {
            ("" | "false", FLAG) => Value::Bool(false),
            ("" | "false", _) => Value::Null,
            ("true", FLAG) => Value::Bool(true),
            _ => Value::String(text.to_owned()),
        };
        let wanted = if quirk.values == FLAG {
            "true, false"
        } else {
            quirk.values
        };
        self.quirks = serde_json::from_value(quirks)
            .map_err(|_| anyhow!("quirk.{name}={text:?} is not one of: {wanted}\nTry: stook source settings"))?;
        Ok(())
    }

    /// What has come of it, if it can be used.
    pub(super) fn finish(mut self) -> Result<(Source, Quirks)> {
        self.settings.url = self.settings.url.trim().to_owned();
        source::check(&self.settings)?;
        source::check_quirks(&self.quirks)?;
        Ok((self.settings, self.quirks))
    }
}

/// Text as the kind of value that the default is.
fn read(name: &str, text: &str, default: &Value) -> Result<Value> {
    match default {
        Value::Array(_) => match list(text) {
            Some(list) => Ok(list.into()),
            None => bail!("{name} is not a list\nTry: {name}=a,b or {name}='[\"a\", \"b\"]'"),
        },
        Value::Number(_) => match text.parse::<u64>() {
            Ok(number) => Ok(number.into()),
            Err(_) => bail!("{name}={text:?} is not a whole number\nTry: {name}={default}"),
        },
        Value::Bool(_) => match text.parse::<bool>() {
            Ok(flag) => Ok(flag.into()),
            Err(_) => bail!("{name}={text:?} is neither true nor false\nTry: {name}=true"),
        },
        _ => Ok(text.into()),
    }
}

/// `a,b`, or `["a", "b"]` for what has commas of its own.
fn list(text: &str) -> Option<Vec<String>> {
    if text.starts_with('[') {
        return serde_json::from_str(text).ok();
    }
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    Some(parts.map(str::to_owned).collect())
}

/// Every setting and quirk, with its default and what it is for.
pub(super) fn explain() {
    println!(
        "Settings, as NAME=VALUE of stook source add and edit. An empty value restores the default.\n\
         Lists are written a,b or [\"a\", \"b\"]; prefix=, set= and header= are accepted for prefixes=, sets= and headers=.\n"
    );
    for setting in Source::table() {
        println!("{} = {}\n    {}", setting.name, setting.default, setting.sentence);
    }
    println!(
        "\nQuirks: what a source needs that the protocol does not ask for. They are learned; these set one by hand,\n\
         and quirk.NAME=false takes it away.\n"
    );
    for quirk in QUIRKS {
        println!("quirk.{} = {}\n    {}", quirk.name, quirk.values, quirk.sentence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GranularityName;

    fn draft() -> Draft {
        let settings = Source {
            url: "https://example.org/oai".into(),
            ..Source::default()
        };
        Draft::new(settings, Quirks::default())
    }

    #[test]
    fn every_quirk_is_explained_here_and_in_the_documentation() {
        // All fields are named, so that one more cannot be forgotten.
        let all = Quirks {
            granularity: Some(GranularityName::Days),
            no_until: true,
            no_dates: true,
            needs_dates: true,
            whole_days: true,
            ignores_from: true,
            needs_set: true,
            verbatim: true,
            token_with_prefix: true,
            get_record: true,
            wrong_list_size: true,
            encoding: Some("utf-8".into()),
        };
        let all = serde_json::to_value(all).unwrap();
        let mut names: Vec<&str> = QUIRKS.iter().map(|quirk| quirk.name).collect();
        names.sort_unstable();
        let mut expected: Vec<&str> = all.as_object().unwrap().keys().map(String::as_str).collect();
        expected.sort_unstable();
        assert_eq!(names, expected);
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/harvesting.md");
        let page = std::fs::read_to_string(page).unwrap();
        for quirk in QUIRKS {
            let row = format!("| `quirk.{}` | {} |", quirk.name, quirk.sentence);
            assert!(page.contains(&row), "docs/harvesting.md lacks {row}");
        }
    }

    #[test]
    fn values_are_read_as_what_the_setting_is() {
        let mut draft = draft();
        for assignment in [
            "prefix=oai_dc, marc21",
            r#"sets=["a","b"]"#,
            r#"header=["X: a, b"]"#,
            "every_hours=12",
            "strict=true",
            "from=2024-01-01",
            "password=12",
            "quirk.granularity=days",
            "quirk.no_until=true",
            "quirk.encoding=windows-1250",
        ] {
            draft.assign(assignment).unwrap();
        }
        let (settings, quirks) = draft.clone().finish().unwrap();
        assert_eq!(settings.prefixes, ["oai_dc", "marc21"]);
        assert_eq!((settings.sets.len(), settings.headers.len()), (2, 1));
        assert_eq!((settings.every_hours, settings.strict), (12, true));
        assert_eq!(
            (settings.from.as_str(), settings.password.as_str()),
            ("2024-01-01", "12")
        );
        assert_eq!(quirks.granularity, Some(GranularityName::Days));
        for assignment in [
            "prefix=",
            "every_hours=",
            "quirk.granularity=",
            "quirk.no_until=false",
            "quirk.encoding=false",
        ] {
            draft.assign(assignment).unwrap();
        }
        let (settings, quirks) = draft.finish().unwrap();
        assert_eq!((settings.prefixes[0].as_str(), settings.every_hours), ("oai_dc", 24));
        assert_eq!(quirks, Quirks::default());
    }

    #[test]
    fn mistakes_name_the_setting_and_what_is_wanted() {
        for (assignment, expected) in [
            ("every_hours", "has no ="),
            ("every_hours=abc", "every_hours=\"abc\" is not a whole number"),
            ("every_hours=-1", "is not a whole number"),
            ("every_hours=99999999999", "every_hours=99999999999 is too large"),
            ("max_deletions=160", "it is a percentage"),
            ("max_deletions=300", "max_deletions=300 is too large"),
            ("strict=yes", "neither true nor false"),
            ("sets=[a", "sets is not a list"),
            ("nonsense=1", "there is no setting \"nonsense\""),
            ("url=example.org/oai", "Try: https://example.org/oai"),
            ("quirk.nonsense=1", "there is no quirk \"nonsense\""),
            ("quirk.nonsense=", "there is no quirk \"nonsense\""),
            ("quirk.no_until=yes", "is not one of: true, false"),
            ("quirk.granularity=minutes", "is not one of: seconds, days"),
            ("quirk.encoding=windows-9999", "not a known encoding"),
        ] {
            let mut draft = draft();
            let outcome = draft.assign(assignment).and_then(|()| draft.finish());
            let error = outcome.unwrap_err().to_string();
            assert!(error.contains(expected), "{assignment}: {error}");
            assert!(
                error.contains("\nTry: ") && !error.contains("expected"),
                "{assignment}: {error}"
            );
        }
    }
}
