//! The table of arguments: what each verb requires, allows, and allows only
//! alone (specification §4).

use crate::types::Verb;

/// An argument of a request, besides `verb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Argument {
    /// `identifier`
    Identifier,
    /// `metadataPrefix`
    MetadataPrefix,
    /// `from`
    From,
    /// `until`
    Until,
    /// `set`
    Set,
    /// `resumptionToken`
    ResumptionToken,
}

impl Argument {
    /// All arguments.
    pub const ALL: [Self; 6] = [
        Self::Identifier,
        Self::MetadataPrefix,
        Self::From,
        Self::Until,
        Self::Set,
        Self::ResumptionToken,
    ];

    /// The name in a query.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Identifier => "identifier",
            Self::MetadataPrefix => "metadataPrefix",
            Self::From => "from",
            Self::Until => "until",
            Self::Set => "set",
            Self::ResumptionToken => "resumptionToken",
        }
    }

    /// Reads a name; case counts.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|argument| argument.as_str() == text)
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgumentRules {
    /// Must be given, unless the exclusive argument is.
    pub required: &'static [Argument],
    /// May be given.
    pub optional: &'static [Argument],
    /// May be given, but then nothing else besides `verb`.
    pub exclusive: Option<Argument>,
}

impl ArgumentRules {
    /// The row of a verb.
    #[must_use]
    pub fn of(verb: Verb) -> Self {
        use Argument::{From, Identifier, MetadataPrefix, ResumptionToken, Set, Until};

        let (required, optional, exclusive): (&[Argument], &[Argument], Option<Argument>) = match verb {
            Verb::Identify => (&[], &[], None),
            Verb::ListMetadataFormats => (&[], &[Identifier], None),
            Verb::ListSets => (&[], &[], Some(ResumptionToken)),
            Verb::GetRecord => (&[Identifier, MetadataPrefix], &[], None),
            Verb::ListIdentifiers | Verb::ListRecords => {
                (&[MetadataPrefix], &[From, Until, Set], Some(ResumptionToken))
            }
        };
        Self {
            required,
            optional,
            exclusive,
        }
    }

    /// Every argument the verb knows.
    pub fn allowed(self) -> impl Iterator<Item = Argument> {
        self.required.iter().chain(self.optional).copied().chain(self.exclusive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_case_sensitively() {
        for argument in Argument::ALL {
            assert_eq!(Argument::parse(argument.as_str()), Some(argument));
        }
        assert_eq!(Argument::parse("Identifier"), None);
        assert_eq!(Argument::parse("verb"), None);
    }

    #[test]
    fn no_verb_names_an_argument_twice() {
        for verb in Verb::ALL {
            let mut allowed: Vec<Argument> = ArgumentRules::of(verb).allowed().collect();
            let count = allowed.len();
            allowed.sort_unstable();
            allowed.dedup();
            assert_eq!(allowed.len(), count, "{verb}");
        }
    }
}
