//! The table of a measurement: one row per figure, one column per program,
//! a ratio, what is wanted and whether it was met.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::workspace::root;

/// Our own column, in every table the first.
pub(super) const STOOK: &str = "Stook";

/// One figure of some of the programs.
pub(super) struct Row {
    pub(super) what: String,
    pub(super) unit: &'static str,
    /// By program; none where a program has no such figure.
    pub(super) figures: BTreeMap<&'static str, f64>,
    pub(super) ratio: Option<Ratio>,
    pub(super) wanted: Option<Wanted>,
    /// The column that it is wanted of.
    judged: &'static str,
}

/// A comparison that the row stands for.
pub(super) struct Ratio {
    pub(super) value: f64,
    /// What is divided by what.
    pub(super) of: &'static str,
}

/// What must hold, of the ratio if the row has one, else of Stook's figure or
/// that of the column that was named.
pub(super) enum Wanted {
    AtLeast(f64),
    AtMost(f64),
}

impl Row {
    /// A row without figures yet.
    pub(super) fn new(what: impl Into<String>, unit: &'static str) -> Self {
        Self {
            what: what.into(),
            unit,
            figures: BTreeMap::new(),
            ratio: None,
            wanted: None,
            judged: STOOK,
        }
    }

    pub(super) fn figure(mut self, program: &'static str, figure: f64) -> Self {
        self.figures.insert(program, figure);
        self
    }

    pub(super) fn ratio(mut self, value: f64, of: &'static str) -> Self {
        self.ratio = Some(Ratio { value, of });
        self
    }

    /// Divides Stook's figure by that of another program.
    pub(super) fn beside(self, program: &str, of: &'static str) -> Self {
        match (self.figures.get(STOOK), self.figures.get(program)) {
            (Some(stook), Some(other)) if *other > 0.0 => {
                let ratio = stook / other;
                self.ratio(ratio, of)
            }
            _ => self,
        }
    }

    /// Divides Stook's figure by the largest of those of other programs.
    pub(super) fn beside_fastest(self, programs: &[&str], of: &'static str) -> Self {
        let figures = programs
            .iter()
            .filter_map(|program| Some((*program, *self.figures.get(program)?)));
        match figures.max_by(|(_, one), (_, other)| one.total_cmp(other)) {
            Some((fastest, _)) => self.beside(fastest, of),
            None => self,
        }
    }

    pub(super) fn wanted(mut self, wanted: Wanted) -> Self {
        self.wanted = Some(wanted);
        self
    }

    pub(super) fn wanted_of(mut self, program: &'static str, wanted: Wanted) -> Self {
        self.judged = program;
        self.wanted(wanted)
    }

    fn judged(&self) -> Option<f64> {
        let figure = self.figures.get(self.judged).copied();
        self.ratio.as_ref().map(|ratio| ratio.value).or(figure)
    }

    /// Whether what is wanted was met; none where nothing is wanted.
    fn met(&self) -> Option<bool> {
        let value = self.judged()?;
        Some(match self.wanted.as_ref()? {
            Wanted::AtLeast(least) => value >= *least,
            Wanted::AtMost(most) => value <= *most,
        })
    }
}

/// Everything that one run measured.
pub(super) struct Report {
    pub(super) title: String,
    /// The programs, in the order of the columns.
    pub(super) programs: &'static [&'static str],
    /// What one has to know to read the figures.
    pub(super) notes: Vec<String>,
    pub(super) rows: Vec<Row>,
}

impl Report {
    pub(super) fn push(&mut self, row: Row) {
        println!("{}", markdown_row(self.programs, &row));
        self.rows.push(row);
    }

    /// Prints the table and writes `bench-results/NAME.md` and `.json`.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(super) fn publish(&self, name: &str) -> Result<()> {
        let markdown = self.markdown();
        println!("\n{markdown}");
        let folder = root().join("bench-results");
        fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        write(&folder.join(format!("{name}.md")), &markdown)?;
        let json = serde_json::to_string_pretty(&self.json()).context("writing JSON")?;
        write(&folder.join(format!("{name}.json")), &json)?;
        println!("written to bench-results/{name}.md and bench-results/{name}.json");
        Ok(())
    }

    fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n", self.title);
        for note in &self.notes {
            let _ = writeln!(text, "- {note}");
        }
        let _ = writeln!(text, "\n| | {} | ratio | wanted | |", self.programs.join(" | "));
        let _ = writeln!(text, "|---|{}---|---|---|", "---:|".repeat(self.programs.len()));
        for row in &self.rows {
            text.push_str(&markdown_row(self.programs, row));
            text.push('\n');
        }
        text
    }

    fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(json_row).collect();
        json!({ "title": self.title, "notes": self.notes, "rows": rows })
    }
}

fn markdown_row(programs: &[&str], row: &Row) -> String {
    let mut line = format!("| {} ({}) |", row.what, row.unit);
    for program in programs {
        let _ = match row.figures.get(program) {
            Some(figure) => write!(line, " {} |", shown(*figure)),
            None => write!(line, " |"),
        };
    }
    let _ = match &row.ratio {
        Some(ratio) => write!(line, " {:.2} {} |", ratio.value, ratio.of),
        None => write!(line, " |"),
    };
    let _ = match row.wanted {
        Some(Wanted::AtLeast(least)) => write!(line, " ≥ {} |", shown(least)),
        Some(Wanted::AtMost(most)) => write!(line, " ≤ {} |", shown(most)),
        None => write!(line, " |"),
    };
    let _ = match row.met() {
        Some(true) => write!(line, " met |"),
        Some(false) => write!(line, " **missed** |"),
        None => write!(line, " |"),
    };
    line
}

fn json_row(row: &Row) -> Value {
    json!({
        "what": row.what,
        "unit": row.unit,
        "figures": row.figures,
        "ratio": row.ratio.as_ref().map(|ratio| json!({ "value": ratio.value, "of": ratio.of })),
        "wanted": match row.wanted {
            Some(Wanted::AtLeast(least)) => json!({ "at_least": least }),
            Some(Wanted::AtMost(most)) => json!({ "at_most": most }),
            None => Value::Null,
        },
        "met": row.met(),
    })
}

/// Thousands apart, as the program prints them.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Three digits that mean something, thousands apart.
fn shown(figure: f64) -> String {
    if figure >= 100.0 {
        grouped(figure.round() as u64)
    } else if figure >= 10.0 {
        format!("{figure:.1}")
    } else {
        format!("{figure:.2}")
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_grouped_and_judged() {
        assert_eq!(shown(1_234_567.4), "1,234,567");
        assert_eq!(shown(12.34), "12.3");
        let row = Row::new("pages", "1/s")
            .figure("Stook", 300.0)
            .figure("pyoai", 10.0)
            .figure("oai-repo", 20.0)
            .beside_fastest(&["pyoai", "oai-repo", "Catmandu"], "of the fastest peer")
            .wanted(Wanted::AtLeast(12.0));
        assert_eq!(row.met(), Some(true));
        let line = markdown_row(&[STOOK, "pyoai"], &row);
        assert!(line.contains("| 300 | 10.0 | 15.00 of the fastest peer |"), "{line}");
    }
}
