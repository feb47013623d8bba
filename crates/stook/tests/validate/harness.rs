//! One case: an endpoint that breaks one check, and what the validator must say of it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use misbehave::{Endpoint, Given, Heard, Script, World};
use stook::validate::report::{Finding, Report, to_text};
use stook::validate::table::Severity;
use stook::validate::{self, Manners, Options, Outside};

type Bend = Box<dyn Fn(&Heard<'_>, &mut Given) + Send + Sync>;

/// An endpoint that breaks one check.
pub struct Case {
    /// The check.
    pub breaks: &'static str,
    /// Checks that cannot but be broken along with it.
    also: &'static [&'static str],
    path: String,
    world: fn() -> World,
    script: Script,
    options: fn(&mut Options),
    severity: Option<Severity>,
    bend: Bend,
}

/// A case: the check that is broken, and how good answers are bent to break it.
pub fn case(breaks: &'static str, bend: impl Fn(&Heard<'_>, &mut Given) + Send + Sync + 'static) -> Case {
    Case {
        breaks,
        also: &[],
        path: "/oai".to_owned(),
        world,
        script: Script::new().page_size(20),
        options: |_| {},
        severity: None,
        bend: Box::new(bend),
    }
}

impl Case {
    /// Breaks these too, necessarily.
    pub fn also(mut self, also: &'static [&'static str]) -> Case {
        self.also = also;
        self
    }

    /// Over another world.
    pub fn in_world(mut self, world: fn() -> World) -> Case {
        self.world = world;
        self
    }

    /// At another path.
    pub fn at(mut self, path: String) -> Case {
        self.path = path;
        self
    }

    /// By another script.
    pub fn by(mut self, script: Script) -> Case {
        self.script = script;
        self
    }

    /// Run with options of its own.
    pub fn with(mut self, options: fn(&mut Options)) -> Case {
        self.options = options;
        self
    }

    /// Found with this severity.
    pub fn with_severity(mut self, severity: Severity) -> Case {
        self.severity = Some(severity);
        self
    }

    /// What the validator says wrongly, or fails to say; nothing if it is right.
    fn failure(self) -> Option<String> {
        let endpoint = Endpoint::start_bent_at(&self.path, (self.world)(), self.script, self.bend).unwrap();
        let report = validated(&endpoint.url(), self.options);
        let found: BTreeSet<&str> = report
            .findings()
            .into_iter()
            .filter(|finding| is_serious(finding) || finding.check == self.breaks)
            .map(|finding| finding.check.as_str())
            .collect();
        let unrelated: Vec<&&str> = found
            .iter()
            .filter(|id| **id != self.breaks && !self.also.contains(*id))
            .collect();
        let wrong = match report.findings().iter().find(|finding| finding.check == self.breaks) {
            None => "it is not found".to_owned(),
            Some(finding) if self.severity.is_some_and(|severity| severity != finding.severity) => {
                format!("it is found as {}", finding.severity)
            }
            Some(_) if !unrelated.is_empty() => format!("{unrelated:?} are found too"),
            Some(_) => return None,
        };
        Some(format!("{}: {wrong}\n{}", self.breaks, to_text(&report)))
    }
}

/// Whether something is worth mending. Pages are small here on purpose, so that few records make many.
pub fn is_serious(finding: &Finding) -> bool {
    finding.severity > Severity::Info && finding.check != "F-21"
}

/// A hundred records, some deleted, in sets, in two formats.
pub fn world() -> World {
    World::of(100)
}

/// Runs the validator without pauses.
pub fn validated(url: &str, options: fn(&mut Options)) -> Report {
    let mut wanted = Options {
        manners: Manners {
            pause: Duration::ZERO,
            timeout: Duration::from_secs(10),
            ..Manners::default()
        },
        ..Options::default()
    };
    options(&mut wanted);
    let stop = AtomicBool::new(false);
    let outside = Outside {
        progress: &mut |_| {},
        stop: &stop,
    };
    validate::repository(url, &wanted, outside).unwrap()
}

/// Holds each case to what it says, a few at a time; tells of all that fail.
pub fn hold(cases: Vec<Case>) {
    let next = AtomicUsize::new(0);
    let cases: Vec<_> = cases
        .into_iter()
        .map(|case| std::sync::Mutex::new(Some(case)))
        .collect();
    let failures = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, SeqCst)) {
                    let case = case.lock().unwrap().take().unwrap();
                    failures.lock().unwrap().extend(case.failure());
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n────────\n"));
}
