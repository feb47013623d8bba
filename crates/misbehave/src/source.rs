//! One source: from a request to a reply, through every stage.
//!
//! The world is locked for the making of an answer, so a change is in it or
//! not, and never half; nothing is locked while bytes travel.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use crate::answer::{self, Answer, Outcome};
use crate::ask::Ask;
use crate::asked::Asked;
use crate::deliveries::sends_status;
use crate::dice::Dice;
use crate::documents;
use crate::fault::{Fault, Stage};
use crate::http::{Incoming, Reply};
use crate::lists::Tokens;
use crate::records;
use crate::replies;
use crate::rules;
use crate::script::{Script, Setting};
use crate::server::lock;
use crate::when::{Occasion, Tally, When};
use crate::world::World;

/// The argument that stands in the base URL of `base-url-with-query`.
pub(crate) const OWN_ARGUMENT: (&str, &str) = ("repository", "main");

/// The addresses of the server, as redirects name them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doors {
    pub(crate) first: SocketAddr,
    /// The same sources by another host and port.
    pub(crate) second: Option<SocketAddr>,
}

/// A world, a script, and what happened so far.
pub(crate) struct Source {
    world: Mutex<World>,
    state: Mutex<State>,
    asked: Mutex<Vec<Asked>>,
    pub(crate) base_url: String,
    doors: Doors,
}

struct State {
    script: Script,
    tallies: Vec<Tally>,
    dice: Dice,
    tokens: Tokens,
}

/// What the making of one answer needs.
pub(crate) struct Turn<'a> {
    pub(crate) world: &'a World,
    pub(crate) script: &'a Script,
    pub(crate) tokens: &'a mut Tokens,
    pub(crate) base_url: &'a str,
    /// The faults of the stages `Rule` and `List` that hit this request.
    pub(crate) faults: &'a [Fault],
    /// Set by whoever finds that this answer takes its time.
    pub(crate) slow: bool,
}

impl Turn<'_> {
    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }
}

/// A fault that hits the answer at hand, and the record it is meant for.
pub(crate) struct Hit {
    pub(crate) fault: Fault,
    pub(crate) identifier: Option<String>,
}

impl Source {
    pub(crate) fn new(world: World, script: Script, base_url: String, doors: Doors) -> Self {
        let state = State::new(script, &world);
        Self {
            world: Mutex::new(world),
            state: Mutex::new(state),
            asked: Mutex::new(Vec::new()),
            base_url,
            doors,
        }
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        lock(&self.world)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        lock(&self.asked).clone()
    }

    /// Another script from now on; tokens stay valid, counting starts anew.
    pub(crate) fn set_script(&self, script: Script) {
        let world = lock(&self.world);
        let mut state = lock(&self.state);
        let tokens = std::mem::take(&mut state.tokens);
        *state = State {
            tokens,
            ..State::new(script, &world)
        };
    }

    pub(crate) fn script(&self) -> Script {
        lock(&self.state).script.clone()
    }

    /// Answers, and notes it.
    pub(crate) fn reply(&self, incoming: &Incoming) -> Reply {
        let mut ask = Ask::read(&incoming.query);
        let verb = ask.value("verb").unwrap_or_default();
        let world = lock(&self.world);
        let mut state = lock(&self.state);
        let mut faults = Vec::new();
        let reply = state.reply(&world, self, incoming, &mut ask, &mut faults);
        let status = if sends_status(reply.delivery) { reply.status } else { 0 };
        lock(&self.asked).push(Asked {
            at: Instant::now(),
            method: incoming.method.clone(),
            path: incoming.path.clone(),
            query: incoming.query.clone(),
            verb,
            headers: incoming.headers.clone(),
            status,
            faults,
        });
        reply
    }
}

impl State {
    fn new(script: Script, world: &World) -> Self {
        let script = with_victims(script, world);
        Self {
            tallies: vec![Tally::default(); script.faults.len()],
            dice: Dice::new(script.setting(Setting::Seed)),
            tokens: Tokens::default(),
            script,
        }
    }

    fn reply(
        &mut self,
        world: &World,
        source: &Source,
        incoming: &Incoming,
        ask: &mut Ask,
        faults: &mut Vec<Fault>,
    ) -> Reply {
        if self.script.has(Fault::BaseUrlWithQuery) && !take_own_argument(ask) {
            return Reply::html(404, "Not Found", "There is no such repository.");
        }
        let (verb, page) = (ask.verb(), self.tokens.page_of(ask));
        let asked_for: Option<Vec<String>> = ask.value("identifier").map(|identifier| vec![identifier]);
        let early = Occasion {
            verb,
            page,
            identifiers: asked_for.as_deref(),
        };
        let hits = self.hits(&early, |stage| matches!(stage, Stage::Rule | Stage::List));
        faults.extend(hits.iter().map(|hit| hit.fault));
        let mut turn = Turn {
            world,
            script: &self.script,
            tokens: &mut self.tokens,
            base_url: &source.base_url,
            faults,
            slow: false,
        };
        let outcome = rules::judge(&mut turn, ask, incoming).unwrap_or_else(|| answer::answer(&mut turn, ask));
        let slow = turn.slow;
        let answer = match outcome {
            Outcome::Reply(reply) => return reply,
            Outcome::Answer(answer) => answer,
        };
        let late = Occasion {
            verb,
            page,
            identifiers: Some(&answer.identifiers),
        };
        let hits = self.hits(&late, |stage| {
            !matches!(stage, Stage::Rule | Stage::List | Stage::Address)
        });
        faults.extend(hits.iter().map(|hit| hit.fault));
        let mut reply = self.bend(answer, &hits, incoming, source);
        reply.pause = self.script.pause();
        reply.size = self.script.setting(Setting::Size);
        if slow || reply.delivery == Some(Fault::SlowAnswer) {
            reply.delay = reply.pause;
        }
        reply
    }

    /// The later stages, each fault in the order of the script.
    fn bend(&self, mut answer: Answer, hits: &[Hit], incoming: &Incoming, source: &Source) -> Reply {
        for hit in hits.iter().filter(|hit| hit.fault.stage() == Stage::Record) {
            records::bend(hit, &mut answer, &self.script);
        }
        for hit in hits.iter().filter(|hit| hit.fault.stage() == Stage::Document) {
            documents::bend(hit.fault, &mut answer);
        }
        let context = replies::Context {
            incoming,
            doors: source.doors,
            script: &self.script,
            verb: answer.verb,
            errors: answer.errors,
            identifiers: answer.identifiers,
        };
        let mut reply = Reply::xml(answer.document);
        for hit in hits.iter().filter(|hit| hit.fault.stage() == Stage::Reply) {
            reply = replies::bend(hit, reply, &context);
        }
        if self.script.setting(Setting::Gzip) == 1 {
            replies::compress(&mut reply, incoming);
        }
        let delivery = hits.iter().rfind(|hit| hit.fault.stage() == Stage::Delivery);
        reply.delivery = delivery.map(|hit| hit.fault);
        reply
    }

    fn hits(&mut self, occasion: &Occasion<'_>, wanted: impl Fn(Stage) -> bool) -> Vec<Hit> {
        let mut hits = Vec::new();
        for ((fault, when), tally) in self.script.faults.iter().zip(&mut self.tallies) {
            if wanted(fault.stage()) && tally.hits(when, occasion, &mut self.dice) {
                hits.push(Hit {
                    fault: *fault,
                    identifier: when.identifier.clone(),
                });
            }
        }
        hits
    }
}

/// Takes the argument of the base URL out of a query; false if it is not there.
fn take_own_argument(ask: &mut Ask) -> bool {
    let (name, value) = OWN_ARGUMENT;
    let there = ask.value(name).as_deref() == Some(value);
    ask.remove(name);
    there
}

/// Poison needs a victim: a record in the middle that has metadata.
fn with_victims(mut script: Script, world: &World) -> Script {
    let living: Vec<String> = world
        .identifiers()
        .into_iter()
        .filter(|identifier| world.item(identifier).is_some_and(|item| !item.deleted))
        .collect();
    let victim = living.get(living.len() / 2);
    for (fault, when) in &mut script.faults {
        if matches!(fault, Fault::PoisonRecord | Fault::PoisonRecordBreaksXml) && when.identifier.is_none() {
            *when = When {
                identifier: victim.cloned(),
                ..when.clone()
            };
        }
    }
    script
}
