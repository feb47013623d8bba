//! Many sources at once, some of them misbehaving: the good ones do not suffer from the bad.

use std::process::Command;
use std::time::{Duration, Instant};

use misbehave::{Fault, Host, Script, Setting, When, World};
use stook_store::{Clock, Store};

use crate::support::{NOW, difference, held, number};

/// What the bad ones do, all the time.
const BAD: &[Fault] = &[
    Fault::InternalServerError,
    Fault::HtmlMaintenance,
    Fault::TruncatedXml,
    Fault::TokenForEver,
    Fault::RetryAfterMissing,
    Fault::ResetAtOnce,
    Fault::EmptyBody,
    Fault::SilentServer,
];

/// Harvests `sources` of `records` each, `bad` of them misbehaving; the time it took and the most memory.
fn harvest(sources: usize, records: u64, bad: usize) -> (Duration, u64) {
    let script = Script::new().page_size(50).with(Setting::PauseMilliseconds, 20);
    let given = (0..sources + bad).map(|at| {
        let path = format!("/{at}/oai");
        let script = match at.checked_sub(sources) {
            Some(number) => script.clone().fault(BAD[number % BAD.len()], When::always()),
            None => script.clone(),
        };
        (path, World::of(records).at(NOW), script)
    });
    let host = Host::start(given.collect()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let urls = host.urls().join("\n");
    std::fs::write(folder.path().join("urls.txt"), urls).unwrap();
    let stook = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stook"));
        command.current_dir(folder.path());
        command
    };
    assert!(
        stook()
            .args(["source", "import", "urls.txt"])
            .output()
            .unwrap()
            .status
            .success()
    );
    let store = Store::open(&folder.path().join("stook.db"), Clock::system()).unwrap();
    let names: Vec<(String, String)> = store.noted("source").unwrap();
    assert_eq!(names.len(), sources + bad);
    for (name, _) in &names {
        let mut known = stook::harvest::source::named(&store, name).unwrap();
        known.settings.retry_milliseconds = 20;
        known.settings.retries = 2;
        known.settings.read_timeout_seconds = 1;
        stook::harvest::source::keep(&store, name, &known.settings, &known.quirks).unwrap();
    }
    let started = Instant::now();
    let mut child = stook()
        .args(["harvest", "--all"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut memory = 0;
    let status = loop {
        memory = memory.max(resident(child.id()));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let took = started.elapsed();
    assert_eq!(status.code(), Some(if bad > 0 { 1 } else { 0 }));
    for (name, settings) in &names {
        let at: usize = settings.split('/').nth(3).unwrap().parse().unwrap();
        if at < sources {
            let expected = host.world(at).unwrap().expected("oai_dc");
            assert_eq!(difference(&held(&store, name), &expected), "", "{name}");
        }
    }
    (took, memory)
}

/// Megabytes a process holds in memory, at most so far.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

#[test]
fn bad_sources_among_many_do_not_hold_up_the_good() {
    let sources = usize::try_from(number("STOOK_SOURCES", 60)).unwrap();
    let bad = sources / 5;
    let (alone, _) = harvest(sources - bad, 200, 0);
    let (together, memory) = harvest(sources - bad, 200, bad);
    println!(
        "{} good sources: {alone:?} alone, {together:?} beside {bad} bad ones, {memory} MB",
        sources - bad
    );
    assert!(memory < 300, "{memory} MB");
    // A little more than the time of the good ones, because a short run has to wait for the last time-out.
    assert!(
        together < alone * 3 + Duration::from_secs(15),
        "{alone:?} alone, {together:?} together"
    );
}
