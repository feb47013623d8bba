//! What `xsltproc` said, for people.
//!
//! Its messages name the copies in the private folder, spread over lines, and repeat themselves. One line leaves, with
//! the names of the stylesheets as people know them.

use super::process::{End, MEGABYTES, MESSAGE_BYTES, RECORD_BYTES, RECORD_TIME, Ran};

/// Longest reason, in characters.
const LONGEST: usize = 400;
/// Lines that add nothing to those before them.
const EMPTY_WORDS: &[&str] = &[
    "no result for ",
    "XPath evaluation returned no result",
    "cannot parse ",
    "Templates:",
    "Variables:",
    // Advice for those who run xsltproc themselves.
    "You can adjust xslt",
];

/// Why a run failed.
pub(super) fn reason(ran: &Ran, names: &[(String, String)]) -> String {
    match ran.end {
        End::TooSlow => format!("the stylesheet takes longer than {} s for it", RECORD_TIME.as_secs()),
        End::TooLarge | End::TooMuch => format!("the stylesheet makes more than {} MB of it", RECORD_BYTES >> 20),
        End::TooTalkative => format!("the stylesheet says more than {} MB about it", MESSAGE_BYTES >> 20),
        End::NoMemory => format!("the stylesheet needs more than {MEGABYTES} MB of memory for it"),
        End::Died => format!("xsltproc was killed. {}", said(&ran.told, names)),
        End::Exited(0) => "xsltproc wrote no result, and does not say why".to_owned(),
        End::Exited(_) if ran.told.contains("infinite template recursion") => {
            format!("the stylesheet calls itself without end: {}", said(&ran.told, names))
        }
        End::Exited(code) => match said(&ran.told, names) {
            said if said.is_empty() => format!("xsltproc ended with code {code}, and does not say why"),
            said => said,
        },
    }
}

/// Whether it is said that there is no result for a record.
pub(super) fn has_no_result(told: &str, number: usize) -> bool {
    let line = format!("no result for {number}.xml");
    told.lines().any(|told| told == line)
}

fn said(told: &str, names: &[(String, String)]) -> String {
    let mut text = told.to_owned();
    for (copy, name) in names {
        text = text.replace(copy, name);
    }
    // A reason is asked for when the record was alone, and its name is ours.
    let text = text.replace("0.xml:", "the record, line ");
    let mut place = None;
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        let is_empty = |line: &str| line.chars().all(|sign| "^ ".contains(sign)) || line.starts_with('#');
        if let Some((_, found)) = line.split_once("error: file ") {
            place = place.or(Some(found));
        } else if !is_empty(line) && !EMPTY_WORDS.iter().any(|word| line.starts_with(word)) && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.truncate(3);
    let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
    let words = place + &lines.join(" ");
    let clean = words.chars().map(|sign| if sign.is_control() { ' ' } else { sign });
    clean.take(LONGEST).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(end: End, told: &str) -> Ran {
        Ran {
            end,
            results: vec![None],
            told: told.to_owned(),
        }
    }

    #[test]
    fn one_line_with_the_names_people_know() {
        let names = [("/tmp/x/0.xsl".to_owned(), "house.xsl".to_owned())];
        let told = "runtime error: file /tmp/x/0.xsl line 3 element value-of\nVariable 'x' has not been declared.\n\
                    XPath error : Undefined variable\nruntime error: file /tmp/x/0.xsl line 3 element value-of\n\
                    XPath evaluation returned no result.\nno result for 0.xml\n";
        assert_eq!(
            reason(&ran(End::Exited(10), told), &names),
            "house.xsl line 3 element value-of: Variable 'x' has not been declared. XPath error : Undefined variable"
        );
        assert_eq!(
            reason(
                &ran(End::Exited(10), "no \u{1b}[1mtitle\nno result for 0.xml\n"),
                &names
            ),
            "no  [1mtitle"
        );
    }

    #[test]
    fn advice_about_options_of_xsltproc_is_left_out() {
        let told = "runtime error: file /tmp/x/0.xsl line 3 element call-template\n\
                    xsltApplySequenceConstructor: A potential infinite template recursion was detected.\n\
                    You can adjust xsltMaxDepth (--maxdepth) in order to raise the maximum number of nested template calls \
                    and variables/params (currently set to 3000).\nTemplates:\n#0 name a\n";
        let told = reason(&ran(End::Exited(10), told), &[]);
        assert!(told.starts_with("the stylesheet calls itself without end"), "{told}");
        assert!(!told.contains("--maxdepth") && !told.contains("xsltMaxDepth"), "{told}");
    }

    #[test]
    fn silence_is_told_too() {
        assert!(reason(&ran(End::Exited(11), ""), &[]).contains("code 11"));
        assert!(reason(&ran(End::Exited(0), ""), &[]).contains("no result"));
    }

    #[test]
    fn a_record_without_result_is_recognised_by_its_whole_number() {
        let told = "x\nno result for 12.xml\n";
        assert!(has_no_result(told, 12));
        assert!(!has_no_result(told, 2) && !has_no_result(told, 1));
    }
}
