//! What is counted, in the Prometheus text format.

use std::fmt::Error;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::answer::Answer;

/// Buckets from half a millisecond to ten seconds.
const SECONDS: [f64; 13] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
];

/// The counters of one server.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    errors: Family<ErrorLabels, Counter>,
    refused: Family<RefusedLabels, Counter>,
    failures: Counter,
    seconds: Histogram,
    bytes: Counter,
    in_flight: Gauge<i64, AtomicI64>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    repository: String,
    verb: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ErrorLabels {
    repository: String,
    code: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RefusedLabels {
    limit: &'static str,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let mut registry = Registry::with_prefix("stook");
        let metrics = Metrics {
            requests: Family::default(),
            errors: Family::default(),
            refused: Family::default(),
            failures: Counter::default(),
            seconds: Histogram::new(SECONDS),
            bytes: Counter::default(),
            in_flight: Gauge::default(),
            registry: Registry::default(),
        };
        registry.register("requests", "OAI-PMH requests answered", metrics.requests.clone());
        registry.register(
            "protocol_errors",
            "Errors reported in answers, by code",
            metrics.errors.clone(),
        );
        registry.register(
            "refused",
            "Requests told to come back, by limit",
            metrics.refused.clone(),
        );
        registry.register("failures", "Requests that failed here", metrics.failures.clone());
        registry.register("answer_seconds", "Time to make an answer", metrics.seconds.clone());
        registry.register("answer_bytes", "Bytes of answers, as sent", metrics.bytes.clone());
        registry.register(
            "requests_in_flight",
            "Requests being answered",
            metrics.in_flight.clone(),
        );
        Metrics { registry, ..metrics }
    }
}

impl Metrics {
    /// Counts an answer.
    pub fn answered(&self, repository: &str, answer: &Answer, bytes: usize, took: Duration) {
        let verb = answer.verb.map_or("none", |verb| verb.as_str());
        self.requests
            .get_or_create(&RequestLabels {
                repository: repository.to_owned(),
                verb,
            })
            .inc();
        for code in &answer.errors {
            let labels = ErrorLabels {
                repository: repository.to_owned(),
                code: code.as_str(),
            };
            self.errors.get_or_create(&labels).inc();
        }
        self.seconds.observe(took.as_secs_f64());
        self.bytes.inc_by(bytes as u64);
    }

    /// Counts a request that was told to come back.
    pub fn refused(&self, limit: &'static str) {
        self.refused.get_or_create(&RefusedLabels { limit }).inc();
    }

    /// Counts a request that failed here.
    pub fn failed(&self) {
        self.failures.inc();
    }

    /// Counts a request in flight as long as the guard lives.
    pub fn in_flight(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    /// Everything, as Prometheus reads it.
    ///
    /// # Errors
    /// When formatting fails, which it does not on memory.
    pub fn text(&self) -> Result<String, Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// A request being answered.
pub struct InFlight(Gauge<i64, AtomicI64>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}
