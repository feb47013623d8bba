//! Many sources at once, some of them misbehaving: the good ones do not suffer from the bad.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use misbehave::{Endpoint, Fault, Script, Setting, When, World};
use stook::config::Source;
use stook::harvest::Quirks;
use stook::harvest::source;
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

/// What a harvest of all sources took.
struct Taken {
    /// Until the last good one was complete.
    good: Duration,
    /// Until the last one, good or bad, was done with.
    all: Duration,
    /// At most.
    megabytes: u64,
}

/// Harvests `sources` of `records` each, and `bad` more that misbehave. Each has a host of its own.
fn harvest(sources: usize, records: u64, bad: usize) -> Taken {
    let script = Script::new().page_size(50).with(Setting::PauseMilliseconds, 20);
    let endpoints: Vec<Endpoint> = (0..sources + bad)
        .map(|at| {
            let script = match at.checked_sub(sources) {
                Some(number) => script.clone().fault(BAD[number % BAD.len()], When::always()),
                None => script.clone(),
            };
            Endpoint::start(World::of(records).at(NOW), script).unwrap()
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(&folder.path().join("stook.db"), Clock::system()).unwrap();
    // By name, in the order of the alphabet, the bad are spread among the good.
    let name = |at: usize| {
        format!(
            "{:03}-{}",
            at * 37 % (sources + bad),
            if at < sources { "good" } else { "bad" }
        )
    };
    for (at, endpoint) in endpoints.iter().enumerate() {
        let settings = Source {
            url: endpoint.url(),
            retry_milliseconds: 20,
            retries: 2,
            read_timeout_seconds: 1,
            ..Source::default()
        };
        source::keep(&store, &name(at), &settings, &Quirks::default()).unwrap();
    }
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_stook"))
        .current_dir(folder.path())
        .args(["harvest", "--all"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (process, output) = (child.id(), child.stdout.take().unwrap());
    let told = std::thread::spawn(move || {
        let mut good = Duration::ZERO;
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if line.contains("-good: ") {
                good = started.elapsed();
            }
        }
        good
    });
    let mut megabytes = 0;
    let status = loop {
        megabytes = megabytes.max(resident(process));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let all = started.elapsed();
    assert_eq!(status.code(), Some(if bad > 0 { 1 } else { 0 }));
    for (at, endpoint) in endpoints.iter().enumerate().take(sources) {
        let expected = endpoint.world().expected("oai_dc");
        assert_eq!(difference(&held(&store, &name(at)), &expected), "", "{}", name(at));
    }
    Taken {
        good: told.join().unwrap(),
        all,
        megabytes,
    }
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
    let good = sources - bad;
    let alone = harvest(good, 200, 0);
    let beside = harvest(good, 200, bad);
    println!(
        "{good} good sources: {:?} alone, {:?} beside {bad} bad ones, which took {:?}; {} MB",
        alone.good, beside.good, beside.all, beside.megabytes
    );
    assert!(beside.megabytes < 300, "{} MB", beside.megabytes);
    assert!(
        beside.good < alone.good * 3,
        "{:?} alone, {:?} beside the bad",
        alone.good,
        beside.good
    );
}
