//! Every fault of the misbehaving endpoint, by number and name: the harvest ends with every obtainable record, exactly,
//! and the report names what happened.
//!
//! A [`Case`] is a source with a fault and what is expected of a harvest of it. Unless it says otherwise, it is
//! harvested, harvested again without changes, and twice again after changes; each time the store must hold exactly
//! what the source does. What was learned must be used at once the next time.

mod attacks;
mod dates;
mod records;
mod tokens;
mod transport;
mod xml;

use std::time::Duration;

use misbehave::{Fault, Script, Setting, Stage, When, World};
use stook::config::Source;
use stook::harvest::{Quirks, Report, Wanted};
use stook_oai::Verb;

use crate::support::{Bench, Held, NOW, difference};

/// The record that faults of one record hit.
pub(crate) const VICTIM: &str = "oai:misbehave.example.org:29";
/// Records of a source, and of a page: nine pages.
const RECORDS: u64 = 60;
const PAGE: u64 = 7;
const DAY: Duration = Duration::from_secs(86_400);

/// A source with a fault, and what becomes of a harvest of it.
#[must_use]
pub(crate) struct Case {
    fault: Fault,
    world: World,
    script: Script,
    settings: fn(&mut Source),
    found: Vec<&'static str>,
    learned: Option<fn(&Quirks) -> bool>,
    expected: fn(&mut Held),
    quarantined: Option<Vec<Option<&'static str>>>,
}

/// A source that misbehaves now and then, but not for ever: on the first page, behind a token and while it introduces
/// itself, so many times each.
pub(crate) fn passing(fault: Fault, times: u64) -> Case {
    Case::of(fault)
        .when(When::always().on(Verb::ListRecords).page(1).times(times))
        .when(When::always().on(Verb::ListRecords).page(3).times(times))
        .when(When::always().on(Verb::Identify).times(1))
}

/// A source that is like that.
pub(crate) fn always(fault: Fault) -> Case {
    Case::of(fault).when(When::always())
}

/// A source with one record that is like that, however it is asked for.
pub(crate) fn one_record(fault: Fault) -> Case {
    Case::of(fault).when(When::always().identifier(VICTIM))
}

impl Case {
    pub(crate) fn of(fault: Fault) -> Case {
        Case {
            fault,
            world: World::of(RECORDS).at(NOW),
            script: Script::new().page_size(PAGE).with(Setting::PauseMilliseconds, 20),
            settings: |_| {},
            found: Vec::new(),
            learned: None,
            expected: |_| {},
            quarantined: None,
        }
    }

    pub(crate) fn when(self, when: When) -> Case {
        let fault = self.fault;
        self.also(fault, when)
    }

    /// Together with another fault.
    pub(crate) fn also(mut self, fault: Fault, when: When) -> Case {
        self.script = self.script.fault(fault, when);
        self
    }

    pub(crate) fn with(mut self, setting: Setting, value: u64) -> Case {
        self.script = self.script.with(setting, value);
        self
    }

    pub(crate) fn world(mut self, world: World) -> Case {
        self.world = world;
        self
    }

    /// Harvested with other settings.
    pub(crate) fn settings(mut self, settings: fn(&mut Source)) -> Case {
        self.settings = settings;
        self
    }

    /// The report has this finding.
    pub(crate) fn found(mut self, name: &'static str) -> Case {
        self.found.push(name);
        self
    }

    /// This is remembered about the source.
    pub(crate) fn learned(mut self, learned: fn(&Quirks) -> bool) -> Case {
        self.learned = Some(learned);
        self
    }

    /// What is obtainable differs from what the world holds.
    pub(crate) fn expecting(mut self, expected: fn(&mut Held)) -> Case {
        self.expected = expected;
        self
    }

    /// The victim cannot be saved: it is in quarantine, under its identifier if that could be read.
    pub(crate) fn quarantines(mut self, identifier: Option<&'static str>) -> Case {
        self.quarantined = Some(vec![identifier]);
        self.expecting(|held| {
            held.remove(VICTIM);
        })
    }

    pub(crate) fn bench(&self) -> Bench {
        let mut bench = Bench::new(self.world.clone(), self.script.clone());
        (self.settings)(&mut bench.settings);
        bench
    }

    /// Harvests as often as the case wants, and looks at everything.
    pub(crate) fn run(self) {
        let bench = self.bench();
        let mut reports = vec![bench.harvest()];
        self.is_exact(&bench, &reports, "the first harvest");
        if let Some(quarantined) = &self.quarantined {
            let held = bench.quarantined();
            assert!(
                held.iter()
                    .all(|identifier| quarantined.contains(&identifier.as_deref())),
                "{held:?}"
            );
            assert!(
                !held.is_empty() && reports[0].quarantined > 0,
                "nothing is in quarantine"
            );
        }
        reports.push(bench.harvest());
        self.is_exact(&bench, &reports, "a harvest without changes");
        for step in 0..2 {
            change(&bench, step);
            reports.push(bench.harvest());
            self.is_exact(&bench, &reports, "a harvest of changes");
        }
        self.was_there(&bench);
        for name in &self.found {
            assert!(
                reports.iter().any(|report| report.found(name) > 0),
                "no {name}:\n{}",
                join(&reports)
            );
        }
        if self.learned.is_some() {
            self.uses_what_it_learned(&bench, &mut reports);
        }
    }

    fn is_exact(&self, bench: &Bench, reports: &[Report], when: &str) {
        let mut expected = bench.expected();
        (self.expected)(&mut expected);
        let report = reports.last().unwrap();
        assert_eq!(difference(&bench.held(), &expected), "", "after {when}\n{report}");
        assert!(report.complete && report.stopped.is_none(), "{when}\n{report}");
    }

    /// A test of a fault that never happened shows nothing.
    fn was_there(&self, bench: &Bench) {
        let hit = bench
            .endpoint
            .requests()
            .iter()
            .any(|asked| asked.faults.contains(&self.fault));
        assert!(
            hit || self.fault.stage() == Stage::Address,
            "the fault was never applied"
        );
    }

    fn uses_what_it_learned(&self, bench: &Bench, reports: &mut Vec<Report>) {
        let learned = self.learned.unwrap();
        let quirks = bench.quirks();
        assert!(learned(&quirks), "{quirks:?}\n{}", join(reports));
        let first = reports.iter().position(|report| report.found("learned") > 0).unwrap();
        for later in &reports[first + 1..] {
            assert_eq!(later.found("learned"), 0, "learned twice:\n{later}");
        }
        if first == 0 {
            let again = bench.harvest_with(Wanted {
                full: true,
                ..Wanted::default()
            });
            assert!(again.requests < reports[0].requests, "{}\n{again}", reports[0]);
            reports.push(again);
            self.is_exact(bench, reports, "a full harvest");
        }
    }

    /// The harvest ends at once with this reason, and the source is not hammered. When the source has come to its
    /// senses, the next harvest gets everything.
    pub(crate) fn stops(self, reason: &str, most_requests: u64) {
        let bench = self.bench();
        let report = bench.harvest();
        let stopped = report.stopped.clone().unwrap_or_default();
        assert!(stopped.contains(reason), "{report}");
        assert!(!report.complete);
        assert!(
            report.requests <= most_requests,
            "{} requests\n{report}",
            report.requests
        );
        for name in &self.found {
            assert!(report.found(name) > 0, "no {name}:\n{report}");
        }
        if self.fault.stage() != Stage::Address {
            self.was_there(&bench);
            bench.endpoint.set_script(Script::new().page_size(PAGE));
            let report = bench.harvest();
            self.is_exact(&bench, &[report], "the source has come to its senses");
        }
    }
}

/// Time passes; one record changes, one is deleted, one is added.
pub(crate) fn change(bench: &Bench, step: u64) {
    let mut world = bench.endpoint.world();
    world.advance(2 * DAY);
    world.change(&format!("oai:misbehave.example.org:{}", 2 + step));
    world.delete(&format!("oai:misbehave.example.org:{}", 4 + step));
    // In every set there is something, so that a set harvest sees it, too.
    world.add(&format!("oai:misbehave.example.org:new-{step}"), 1_000 + 7 * step);
    if let Some(spec) = world.sets.first().map(|(spec, _)| spec.clone()) {
        world.move_to(&format!("oai:misbehave.example.org:new-{step}"), &[&spec]);
    }
}

pub(crate) fn join(reports: &[Report]) -> String {
    let texts: Vec<String> = reports.iter().map(Report::to_string).collect();
    texts.join("\n---\n")
}

/// The same change to the metadata of the victim that the fault makes.
pub(crate) fn in_victim(held: &mut Held, from: &str, to: &str) {
    if let Some(victim) = held.get_mut(VICTIM) {
        edit(victim, |text| text.replacen(from, to, 1));
    }
}

/// Elements without a prefix are in the namespace of the envelope, which the victim then has to declare.
pub(crate) fn inherits(held: &mut Held) {
    in_victim(
        held,
        "<oai_dc:dc ",
        "<oai_dc:dc xmlns=\"http://www.openarchives.org/OAI/2.0/\" ",
    );
}

pub(crate) fn edit(record: &mut misbehave::Expected, edit: impl Fn(&str) -> String) {
    if let Some(metadata) = &mut record.metadata {
        *metadata = edit(std::str::from_utf8(metadata).unwrap()).into_bytes();
    }
}

/// One test per row, named by the number and the name of the fault.
macro_rules! cases {
    ($($(#[$doc:meta])* $name:ident: $run:expr;)+) => {
        $($(#[$doc])* #[test] fn $name() { $run; })+
    };
}
pub(crate) use cases;

#[test]
fn every_fault_has_a_test_of_its_name() {
    let files = [
        include_str!("faults/transport.rs"),
        include_str!("faults/xml.rs"),
        include_str!("faults/tokens.rs"),
        include_str!("faults/dates.rs"),
        include_str!("faults/records.rs"),
        include_str!("faults/attacks.rs"),
    ];
    let is_test = |line: &str, name: &str| {
        let line = line.trim_start().trim_start_matches("fn ");
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', '(']))
    };
    let missing: Vec<String> = Fault::ALL
        .iter()
        .map(|fault| format!("f{:02}_{}", fault.number(), fault.name().replace('-', "_")))
        .filter(|name| {
            !files
                .iter()
                .flat_map(|file| file.lines())
                .any(|line| is_test(line, name))
        })
        .collect();
    assert_eq!(missing, [""; 0]);
}
