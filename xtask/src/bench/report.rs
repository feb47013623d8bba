//! The table of a measurement: one row per figure, one column per program,
//! a ratio, what is wanted and whether it was met.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::workspace::root;

/// The programs, in the order of the columns.
pub(super) const PROGRAMS: [&str; 5] = ["Stook", "nginx", "oai-repo", "pyoai", "Catmandu"];

/// One figure of some of the programs.
pub(super) struct Row {
    pub(super) what: String,
    pub(super) unit: &'static str,
    /// As in [`PROGRAMS`]; none where a program has no such figure.
    pub(super) figures: [Option<f64>; 5],
    pub(super) ratio: Option<Ratio>,
    pub(super) wanted: Option<Wanted>,
}

/// A comparison that the row stands for.
pub(super) struct Ratio {
    pub(super) value: f64,
    /// What is divided by what.
    pub(super) of: &'static str,
}

/// What must hold, of the ratio if the row has one, else of Stook's figure.
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
            figures: [None; 5],
            ratio: None,
            wanted: None,
        }
    }

    pub(super) fn figure(mut self, program: &str, figure: f64) -> Self {
        self.set(program, figure);
        self
    }

    pub(super) fn set(&mut self, program: &str, figure: f64) {
        if let Some(at) = PROGRAMS.iter().position(|name| *name == program) {
            self.figures[at] = Some(figure);
        }
    }

    pub(super) fn ratio(mut self, value: f64, of: &'static str) -> Self {
        self.ratio = Some(Ratio { value, of });
        self
    }

    /// Divides Stook's figure by nginx's.
    pub(super) fn beside_nginx(self) -> Self {
        match self.figures {
            [Some(stook), Some(nginx), ..] if nginx > 0.0 => self.ratio(stook / nginx, "of nginx"),
            _ => self,
        }
    }

    /// Divides Stook's figure by that of the fastest of the other providers.
    pub(super) fn beside_peers(self) -> Self {
        let fastest = self.figures[2..].iter().flatten().copied().fold(0.0, f64::max);
        match self.figures[0] {
            Some(stook) if fastest > 0.0 => self.ratio(stook / fastest, "of the fastest peer"),
            _ => self,
        }
    }

    pub(super) fn wanted(mut self, wanted: Wanted) -> Self {
        self.wanted = Some(wanted);
        self
    }

    fn judged(&self) -> Option<f64> {
        self.ratio.as_ref().map(|ratio| ratio.value).or(self.figures[0])
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
    /// What one has to know to read the figures.
    pub(super) notes: Vec<String>,
    pub(super) rows: Vec<Row>,
}

impl Report {
    pub(super) fn push(&mut self, row: Row) {
        println!("{}", markdown_row(&row));
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
        let _ = writeln!(text, "\n| | {} | ratio | wanted | |", PROGRAMS.join(" | "));
        text.push_str("|---|---:|---:|---:|---:|---:|---|---|---|\n");
        for row in &self.rows {
            text.push_str(&markdown_row(row));
            text.push('\n');
        }
        text
    }

    fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(json_row).collect();
        json!({ "title": self.title, "notes": self.notes, "rows": rows })
    }
}

fn markdown_row(row: &Row) -> String {
    let mut line = format!("| {} ({}) |", row.what, row.unit);
    for figure in row.figures {
        let _ = match figure {
            Some(figure) => write!(line, " {} |", shown(figure)),
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
    let figures: serde_json::Map<String, Value> = PROGRAMS
        .iter()
        .zip(row.figures)
        .filter_map(|(program, figure)| figure.map(|figure| ((*program).to_owned(), json!(figure))))
        .collect();
    json!({
        "what": row.what,
        "unit": row.unit,
        "figures": figures,
        "ratio": row.ratio.as_ref().map(|ratio| json!({ "value": ratio.value, "of": ratio.of })),
        "wanted": match row.wanted {
            Some(Wanted::AtLeast(least)) => json!({ "at_least": least }),
            Some(Wanted::AtMost(most)) => json!({ "at_most": most }),
            None => Value::Null,
        },
        "met": row.met(),
    })
}

/// Three digits that mean something, thousands apart.
fn shown(figure: f64) -> String {
    if figure >= 100.0 {
        let digits = format!("{figure:.0}");
        let mut grouped = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at) % 3 == 0 {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        grouped
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
            .beside_peers()
            .wanted(Wanted::AtLeast(12.0));
        assert_eq!(row.met(), Some(true));
        assert!(markdown_row(&row).contains("15.00 of the fastest peer"));
    }
}
