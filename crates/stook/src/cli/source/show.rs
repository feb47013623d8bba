//! `stook source list` and `show`: sources as people look at them.

use anyhow::Result;
use stook_oai::{Datestamp, Granularity};
use stook_store::Store;

use super::assign::QUIRKS;
use crate::config::Source;
use crate::count::{counted, grouped};
use crate::harvest::ledger::{self, Ledger, Window, WindowState};
use crate::harvest::source::{self, KnownSource};

/// Windows of a target beyond this many are only counted.
const MOST_LINES: usize = 40;

pub(super) fn list(store: &Store) -> Result<()> {
    let sources = source::all(store)?;
    if sources.is_empty() {
        println!("There are no sources. Try: stook source add NAME URL");
    }
    let mut rows = Vec::new();
    for source in &sources {
        let records = count(store, source)?;
        let word = if records == 1 { "record " } else { "records" };
        let url = source.settings.url.clone();
        rows.push([
            source.name.clone(),
            url,
            grouped(records),
            format!("{word}  {}", state(source)),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (names, urls, counts) = (width(0), width(1), width(2));
    for [name, url, records, rest] in &rows {
        println!("{name:<names$}  {url:<urls$}  {records:>counts$} {rest}");
    }
    Ok(())
}

/// How the last harvest went, in a few words.
pub(in crate::cli) fn state(source: &KnownSource) -> String {
    let Some(report) = &source.report else {
        return "never harvested".to_owned();
    };
    let when = report.ended.map_or("running, or killed".to_owned(), date);
    let how = match (&report.stopped, report.complete) {
        (Some(reason), _) => format!("not complete: {reason}"),
        (None, true) => "complete".to_owned(),
        (None, false) => "with gaps".to_owned(),
    };
    format!("{when}, {how}")
}

/// How many records there are of a source, deleted ones included.
pub(in crate::cli) fn count(store: &Store, source: &KnownSource) -> Result<u64> {
    let (live, deleted) = source::records(store, &source.name)?;
    Ok(live + deleted)
}

pub(super) fn show(store: &Store, name: &str) -> Result<()> {
    let source = source::named(store, name)?;
    println!("{name}: {}", source.settings.url);
    let settings = serde_json::to_value(source.settings.masked())?;
    let defaults = serde_json::to_value(Source::default())?;
    for setting in Source::table().iter().map(|setting| setting.name) {
        if setting != "url" && settings[setting] != defaults[setting] {
            println!("  {setting} = {}", settings[setting]);
        }
    }
    let quirks = serde_json::to_value(&source.quirks)?;
    for quirk in QUIRKS {
        if let Some(value) = quirks.get(quirk.name) {
            println!("  quirk.{} = {value}   {}", quirk.name, quirk.sentence);
        }
    }
    println!("{} in the store", counted(count(store, &source)?, "record"));
    for ledger in ledger::targets(store, store.repository(name)?)? {
        print!("{}", draw(&ledger));
    }
    match &source.report {
        Some(report) => print!(
            "\nLast harvest, {}:\n{report}",
            report.ended.map_or(String::new(), date)
        ),
        None if count(store, &source)? > 0 => println!("\nNo harvest has ended. Try: stook harvest {name}"),
        None => println!("\nNever harvested. Try: stook harvest {name}"),
    }
    Ok(())
}

/// The windows of a target: a line each, with a bar of how much has come.
fn draw(ledger: &Ledger) -> String {
    let target = &ledger.target;
    let set = match target.set.as_str() {
        "" => String::new(),
        set => format!(", set {set}"),
    };
    let mut text = format!("\n{}{set}: {}\n", target.prefix, progress(ledger));
    let mut windows: Vec<&Window> = ledger.windows.iter().collect();
    // A window that was halved has later numbers than those behind it.
    windows.sort_by_key(|window| {
        let until = window.until.unwrap_or(i64::MAX);
        (window.from.unwrap_or(i64::MIN), until, window.slice.as_str())
    });
    for window in windows.iter().take(MOST_LINES) {
        text.push_str(&line(window));
    }
    if windows.len() > MOST_LINES {
        text.push_str(&format!("  … and {} more\n", windows.len() - MOST_LINES));
    }
    text
}

/// How far a target has come, and what is under way.
fn progress(ledger: &Ledger) -> String {
    let target = &ledger.target;
    let mut parts = Vec::new();
    if let Some(cursor) = target.cursor {
        parts.push(format!("complete up to {}", date(cursor)));
    }
    if target.rounds > 0 {
        parts.push(counted(target.rounds, "round"));
    }
    let is_open = |window: &Window| window.state == WindowState::Open;
    if ledger.windows.iter().any(is_open) {
        let received: u64 = ledger.windows.iter().map(|window| window.received).sum();
        let advertised: Option<u64> = ledger.windows.iter().map(|window| window.advertised).sum();
        let which = if target.rounds == 0 {
            "the first harvest"
        } else {
            "a round"
        };
        parts.push(match (received, advertised) {
            (0, _) => format!("{which} has begun"),
            (_, Some(all)) => format!(
                "{which} is under way with {} of {}",
                grouped(received),
                counted(all, "record")
            ),
            (_, None) => format!("{which} is under way with {}", counted(received, "record")),
        });
    }
    if parts.is_empty() {
        parts.push("nothing yet".to_owned());
    }
    parts.join(", ")
}

fn line(window: &Window) -> String {
    let state = match window.state {
        WindowState::Done => "done",
        WindowState::Open if window.pages > 0 => "under way",
        WindowState::Open => "to do",
        WindowState::Gap => "GAP",
    };
    let share = match (window.state, window.advertised) {
        (WindowState::Done, _) => 10,
        (_, Some(advertised)) if advertised > 0 => (window.received * 10 / advertised).min(10),
        _ => 0,
    };
    let bar: String = (0..10).map(|at| if at < share { '━' } else { '─' }).collect();
    let records = match window.advertised {
        Some(advertised) => format!("{} of {}", grouped(window.received), counted(advertised, "record")),
        None => counted(window.received, "record"),
    };
    let line = format!("  {bar} {window}  {records}  {state}  {}", window.reason);
    format!("{}\n", line.trim_end())
}

fn date(seconds: i64) -> String {
    Datestamp::from_unix(seconds).map_or(String::new(), |date| date.format(Granularity::Second).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(from: Option<i64>, until: Option<i64>, state: WindowState) -> Window {
        Window {
            from,
            until,
            state,
            ..Window::default()
        }
    }

    #[test]
    fn what_is_under_way_is_said() {
        let mut ledger = Ledger::new("oai_dc", "maps");
        assert_eq!(draw(&ledger), "\noai_dc, set maps: nothing yet\n");
        let mut open = window(None, None, WindowState::Open);
        (open.pages, open.received, open.advertised) = (1, 100, Some(500));
        ledger.windows = vec![open];
        let drawn = draw(&ledger);
        assert!(
            drawn.contains(": the first harvest is under way with 100 of 500 records\n"),
            "{drawn}"
        );
        assert!(drawn.contains("100 of 500 records  under way\n"), "{drawn}");
        ledger.windows[0].state = WindowState::Done;
        (ledger.target.cursor, ledger.target.rounds) = (Some(0), 1);
        assert!(draw(&ledger).contains(": complete up to 1970-01-01T00:00:00Z, 1 round\n"));
        ledger.target.rounds = 2;
        assert!(draw(&ledger).contains("2 rounds\n"));
    }

    #[test]
    fn windows_stand_in_the_order_of_their_dates() {
        let mut ledger = Ledger::new("oai_dc", "");
        ledger.windows = vec![
            window(Some(86_400), None, WindowState::Open),
            window(Some(50), Some(86_399), WindowState::Gap),
            window(None, Some(49), WindowState::Done),
        ];
        let drawn = draw(&ledger);
        let at = |text: &str| drawn.find(text).unwrap_or_else(|| panic!("{text}: {drawn}"));
        assert!(at("done") < at("GAP") && at("GAP") < at("to do"), "{drawn}");
    }
}
