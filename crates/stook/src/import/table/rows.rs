//! Splitting a table into rows and cells, by RFC 4180 as spreadsheets practise it.
//!
//! Cells may be quoted; a quoted cell may hold delimiters, line breaks and doubled quotation marks. Lines end with LF,
//! CR LF or CR. Empty lines are no rows. Of a row that is larger than the limit only the beginning is kept.

use std::io::{self, BufRead};
use std::str::Utf8Error;

use crate::import::draft::{EXCERPT_BYTES, fill_excerpt};

const QUOTE: u8 = b'"';

/// One row: its cells one after the other, and where each ends.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// The line it begins on.
    pub(super) line: u64,
    pub(super) text: Vec<u8>,
    ends: Vec<usize>,
}

impl Row {
    /// The cells as text.
    pub(super) fn cells(&self) -> Result<Vec<&str>, Utf8Error> {
        let mut start = 0;
        let mut cells = Vec::with_capacity(self.ends.len());
        for &end in &self.ends {
            // Each by itself: a character must not be pieced together from two cells.
            cells.push(std::str::from_utf8(&self.text[start..end])?);
            start = end;
        }
        Ok(cells)
    }

    pub(super) fn weight(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<usize>() + size_of::<Row>()
    }
}

/// What comes next in a table.
#[derive(Debug)]
pub(super) enum Next {
    /// A row.
    Row(Row),
    /// A row larger than the limit, passed over.
    TooLong { line: u64, excerpt: Vec<u8> },
    /// The table ends inside quotation marks.
    Unclosed { line: u64, excerpt: Vec<u8> },
    /// The table ends.
    End,
}

/// Where in a row we are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    CellStart,
    Plain,
    Quoted,
    /// Behind a quotation mark that either ends the cell or is the first of two.
    QuoteSeen,
}

/// Reads rows from a stream.
pub(super) struct Splitter<R> {
    input: R,
    delimiter: u8,
    limit: usize,
    /// The line the next byte is on.
    line: u64,
    /// Whether the last row ended with CR, so that LF belongs to it.
    after_return: bool,
}

impl<R: BufRead> Splitter<R> {
    pub(super) fn new(input: R, delimiter: u8, limit: usize) -> Self {
        Self {
            input,
            delimiter,
            limit,
            line: 1,
            after_return: false,
        }
    }

    pub(super) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    pub(super) fn set_delimiter(&mut self, delimiter: u8) {
        self.delimiter = delimiter;
    }

    /// The line that is being read.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The next row that is not an empty line.
    pub(super) fn next(&mut self) -> io::Result<Next> {
        loop {
            let mut building = Building::new(self.line, self.limit);
            let at_end = self.read_row(&mut building)?;
            if at_end && building.state == State::Quoted {
                return Ok(Next::Unclosed {
                    line: building.row.line,
                    excerpt: building.excerpt(),
                });
            }
            if building.too_long {
                return Ok(Next::TooLong {
                    line: building.row.line,
                    excerpt: building.excerpt(),
                });
            }
            if !building.is_empty_line() {
                building.end_cell();
                return Ok(Next::Row(building.row));
            }
            if at_end {
                return Ok(Next::End);
            }
        }
    }

    /// Reads to the end of a row, or of the stream, which it tells.
    fn read_row(&mut self, building: &mut Building) -> io::Result<bool> {
        loop {
            let available = self.input.fill_buf()?;
            if available.is_empty() {
                return Ok(true);
            }
            if std::mem::take(&mut self.after_return) && available[0] == b'\n' {
                self.input.consume(1);
                continue;
            }
            let (used, ended) = building.take(available, self.delimiter);
            self.line += available[..used].iter().filter(|&&byte| byte == b'\n').count() as u64;
            if ended && available[used - 1] == b'\r' {
                self.line += 1;
                self.after_return = true;
            }
            self.input.consume(used);
            if ended {
                return Ok(false);
            }
        }
    }
}

/// A row being read.
struct Building {
    row: Row,
    state: State,
    limit: usize,
    too_long: bool,
    any_quote: bool,
}

impl Building {
    fn new(line: u64, limit: usize) -> Self {
        let row = Row { line, ..Row::default() };
        Self {
            row,
            state: State::CellStart,
            limit,
            too_long: false,
            any_quote: false,
        }
    }

    fn excerpt(&self) -> Vec<u8> {
        self.row.text[..self.row.text.len().min(EXCERPT_BYTES)].to_vec()
    }

    fn is_empty_line(&self) -> bool {
        self.row.text.is_empty() && self.row.ends.is_empty() && !self.any_quote
    }

    /// Takes bytes up to the end of the row. Returns how many, and whether the row ended.
    fn take(&mut self, bytes: &[u8], delimiter: u8) -> (usize, bool) {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.state {
                State::Quoted => {
                    let run = run_length(&bytes[at..], |byte| byte == QUOTE);
                    self.push(&bytes[at..at + run]);
                    at += run;
                    if at < bytes.len() {
                        at += 1;
                        self.state = State::QuoteSeen;
                    }
                    continue;
                }
                State::QuoteSeen if byte == QUOTE => {
                    self.push(b"\"");
                    self.state = State::Quoted;
                }
                State::CellStart if byte == QUOTE => {
                    self.any_quote = true;
                    self.state = State::Quoted;
                }
                _ if byte == delimiter => {
                    self.end_cell();
                    self.state = State::CellStart;
                }
                _ if matches!(byte, b'\n' | b'\r') => return (at + 1, true),
                _ => {
                    let run = run_length(&bytes[at..], |byte| byte == delimiter || matches!(byte, b'\n' | b'\r'));
                    self.push(&bytes[at..at + run]);
                    at += run;
                    self.state = State::Plain;
                    continue;
                }
            }
            at += 1;
        }
        (at, false)
    }

    fn push(&mut self, bytes: &[u8]) {
        self.too_long |= self.row.text.len() + bytes.len() > self.limit;
        if self.too_long {
            fill_excerpt(&mut self.row.text, bytes);
        } else {
            self.row.text.extend_from_slice(bytes);
        }
    }

    fn end_cell(&mut self) {
        // Cells without text have to be bounded too.
        if self.too_long || self.row.ends.len() * size_of::<usize>() > self.limit {
            self.too_long = true;
        } else {
            self.row.ends.push(self.row.text.len());
        }
    }
}

fn run_length(bytes: &[u8], ends: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| ends(byte)).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, delimiter: u8, limit: usize) -> Vec<String> {
        let mut splitter = Splitter::new(text.as_bytes(), delimiter, limit);
        let mut rows = Vec::new();
        loop {
            rows.push(match splitter.next().unwrap() {
                Next::Row(row) => format!("{}: {}", row.line, row.cells().unwrap().join("¦")),
                Next::TooLong { line, .. } => format!("{line}: too long"),
                Next::Unclosed { line, .. } => format!("{line}: unclosed"),
                Next::End => return rows,
            });
            assert!(rows.len() < 100);
            if rows.last().is_some_and(|last| last.ends_with("unclosed")) {
                return rows;
            }
        }
    }

    #[test]
    fn rows_end_with_any_line_end() {
        assert_eq!(
            split("a,b\nc,d\r\ne,f\rg,h", b',', 99),
            ["1: a¦b", "2: c¦d", "3: e¦f", "4: g¦h"]
        );
    }

    #[test]
    fn quoted_cells_hold_anything() {
        assert_eq!(
            split("\"a,\"\"b\"\"\nc\",d\n\"\",e\n", b',', 99),
            ["1: a,\"b\"\nc¦d", "3: ¦e"]
        );
    }

    #[test]
    fn quotation_marks_inside_plain_cells_are_text() {
        assert_eq!(split("5\" disk,\"a\"b\n", b',', 99), ["1: 5\" disk¦ab"]);
    }

    #[test]
    fn empty_lines_are_no_rows_but_empty_cells_are() {
        assert_eq!(split("\n\r\na\n\n,\n\"\"\n", b',', 99), ["3: a", "5: ¦", "6: "]);
    }

    #[test]
    fn a_row_beyond_the_limit_is_passed_over_up_to_its_end() {
        let text = format!("a,b\n{},x\nc,d\n", "y".repeat(200));
        assert_eq!(split(&text, b',', 50), ["1: a¦b", "2: too long", "3: c¦d"]);
        let commas = format!("a\n{}\nb\n", ",".repeat(200));
        assert_eq!(split(&commas, b',', 50), ["1: a", "2: too long", "3: b"]);
    }

    #[test]
    fn an_unclosed_quotation_mark_is_told_from_the_end() {
        assert_eq!(split("a,b\nc,\"d\ne,f\n", b',', 99), ["1: a¦b", "2: unclosed"]);
        let long = format!("a\n\"{}", "x\n".repeat(100));
        assert_eq!(split(&long, b',', 50), ["1: a", "2: unclosed"]);
    }

    #[test]
    fn a_character_is_not_pieced_together_from_two_cells() {
        let mut splitter = Splitter::new(&b"\xC3,\xA4\n"[..], b',', 99);
        let Next::Row(row) = splitter.next().unwrap() else {
            panic!()
        };
        assert!(row.cells().is_err());
    }

    proptest::proptest! {
        #[test]
        fn rows_are_what_the_csv_crate_makes_of_them(text in "[a\",;\r\n é]{0,60}") {
            let ours = split(&text, b',', 1000);
            let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
            let theirs: Vec<String> = reader
                .records()
                .map(|record| record.unwrap().iter().collect::<Vec<_>>().join("¦"))
                .collect();
            let unclosed = ours.last().is_some_and(|last| last.ends_with("unclosed"));
            let whole = ours.len() - usize::from(unclosed);
            for (ours, theirs) in ours[..whole].iter().zip(&theirs) {
                proptest::prop_assert_eq!(ours.split_once(": ").unwrap().1, theirs);
            }
            proptest::prop_assert!(unclosed || whole == theirs.len(), "{ours:?} / {theirs:?}");
        }
    }
}
