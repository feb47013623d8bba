//! Questions whose right answer is known beforehand: most of the specification can be tested by tables of them.

use std::sync::Arc;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use stook_oai::{ErrorCode, Granularity};

use super::exchange::{Exchange, Question};
use super::facts::{Facts, read_datestamp};
use super::run::{Found, Run, Stop, Verdict};
use super::table::Severity;

/// A question and what must come.
pub(crate) struct Probe {
    /// The check it belongs to.
    pub(crate) id: &'static str,
    /// The query; words in braces are filled in from what is known, see [`fill`].
    pub(crate) ask: &'static str,
    pub(crate) expect: Expect,
}

/// What must come.
pub(crate) enum Expect {
    /// One of these errors.
    Error(&'static [ErrorCode]),
    /// One of the first errors; one of the second is not as bad as none.
    ErrorRather(&'static [ErrorCode], &'static [(ErrorCode, Severity)]),
    /// Something, no error.
    Success,
    /// Something, or one of these errors.
    SuccessOr(&'static [ErrorCode]),
}

/// A probe in one line.
pub(crate) const fn probe(id: &'static str, ask: &'static str, expect: Expect) -> Probe {
    Probe { id, ask, expect }
}

impl Run<'_> {
    /// Asks each question of a table and judges what comes.
    pub(crate) fn probe_all(&mut self, probes: &[Probe]) -> Result<(), Stop> {
        for probe in probes {
            self.probe(probe)?;
        }
        Ok(())
    }

    fn probe(&mut self, probe: &Probe) -> Result<(), Stop> {
        if !self.wants(probe.id) {
            return Ok(());
        }
        match fill(probe.ask, &self.facts) {
            Err(why) => self.judge(probe.id, Verdict::NotApplicable(why)),
            Ok(query) => {
                let exchange = self.get(&query)?;
                self.judge(probe.id, probe.expect.judge(&exchange));
            }
        }
        Ok(())
    }

    /// Asks one question that is not in a table, and judges it alike.
    pub(crate) fn expect(
        &mut self,
        id: &'static str,
        question: Question,
        expect: &Expect,
    ) -> Result<Option<Arc<Exchange>>, Stop> {
        if !self.wants(id) {
            return Ok(None);
        }
        let exchange = self.ask(question)?;
        self.judge(id, expect.judge(&exchange));
        Ok(Some(exchange))
    }
}

impl Expect {
    /// Whether the right thing came. What is no answer of the protocol is for others to judge.
    pub(crate) fn judge(&self, exchange: &Exchange) -> Verdict {
        let errors = exchange.errors();
        if errors.is_empty() && !exchange.succeeded() {
            return Verdict::not_applicable(format!("{}, which other checks tell", exchange.in_short()));
        }
        let has = |codes: &[ErrorCode]| {
            codes
                .iter()
                .any(|code| errors.iter().any(|(found, _)| found == code.as_str()))
        };
        let found = |wanted: String| Found::new(format!("{} instead of {wanted}", exchange.in_short())).on(exchange);
        match self {
            Expect::Error(codes) => Verdict::unless(!has(codes), || found(listed(codes))),
            Expect::ErrorRather(codes, _) if has(codes) => Verdict::Holds,
            Expect::ErrorRather(codes, tolerated) => {
                let found = found(listed(codes));
                let milder = tolerated.iter().find(|(code, _)| has(&[*code]));
                Verdict::Broken(vec![match milder {
                    Some((_, severity)) => found.with_severity(*severity),
                    None => found,
                }])
            }
            Expect::Success => Verdict::unless(!errors.is_empty(), || found("an answer".into())),
            Expect::SuccessOr(codes) => Verdict::unless(!errors.is_empty() && !has(codes), || {
                found(format!("an answer or {}", listed(codes)))
            }),
        }
    }
}

fn listed(codes: &[ErrorCode]) -> String {
    let codes: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    codes.join(" or ")
}

/// A value as it stands in a query.
pub(crate) fn encoded(value: &str) -> String {
    utf8_percent_encode(value, NON_ALPHANUMERIC).to_string()
}

/// Fills the words in braces of a query; why not, where something is not known.
///
/// `{id}` an undeleted identifier, `{datestamp}` its datestamp, `{day}` the day of it, `{set}` a set with records,
/// `{prefix2}` a format beside oai_dc, `{deleted}` a deleted identifier.
pub(crate) fn fill(query: &str, facts: &Facts) -> Result<String, String> {
    let mut filled = String::with_capacity(query.len());
    let mut rest = query;
    while let Some((before, behind)) = rest.split_once('{') {
        let (word, after) = behind.split_once('}').unwrap_or((behind, ""));
        filled.push_str(before);
        filled.push_str(&encoded(&value_of(word, facts)?));
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn value_of(word: &str, facts: &Facts) -> Result<String, String> {
    let sample = || facts.sample.as_ref().ok_or("no record was found to ask for");
    let day = |datestamp: &str| {
        let datestamp = read_datestamp(datestamp).ok_or("the datestamp of the record cannot be read")?;
        Ok::<_, String>(datestamp.format(Granularity::Day).to_string())
    };
    Ok(match word {
        "id" => sample()?.identifier.clone(),
        "datestamp" => sample()?.datestamp.clone(),
        "day" => day(&sample()?.datestamp)?,
        "set" => facts.set_spec.clone().ok_or("the repository has no set with records")?,
        "prefix2" => facts
            .second_prefix
            .clone()
            .ok_or("the repository has only one format")?,
        "deleted" => {
            let deleted = facts.deleted.as_ref().ok_or("no deleted record was seen")?;
            deleted.identifier.clone()
        }
        other => return Err(format!("{other:?} is not known")),
    })
}
