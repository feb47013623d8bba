//! The repositories the checks are made on: the same history under both granularities, with and without sets.

use std::cell::OnceCell;
use std::fmt;

use stook::config::{GranularityName, Repository};
use stook::provider::Provider;
use stook_metadata::Element;
use stook_oai::{Granularity, Header};
use stook_store::Change;

use crate::support::answer::{Seen, granted, pages};
use crate::support::{Bench, as_format, deleted, described, dublin_core, encoded, mods, settings, titled, with_about};

/// When the checks are made.
pub const NOW: &str = "2024-05-01T12:00:00Z";
/// The day after.
pub const TOMORROW: &str = "2024-05-02";
/// Before anything was published.
pub const LONG_AGO: &str = "2023-03-01";

const RIGHTS: &str = r#"<rights xmlns="http://www.openarchives.org/OAI/2.0/rights/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/rights/ http://www.openarchives.org/OAI/2.0/rights.xsd"><rightsReference ref="https://creativecommons.org/licenses/by/4.0/"/></rights>"#;
const PROVENANCE: &str = r#"<provenance xmlns="http://www.openarchives.org/OAI/2.0/provenance" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/provenance http://www.openarchives.org/OAI/2.0/provenance.xsd"><originDescription harvestDate="2024-02-01T14:10:02Z" altered="true"><baseURL>https://hill.example.org/oai</baseURL><identifier>oai:hill.example.org:17</identifier><datestamp>2024-01-30</datestamp><metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace></originDescription></provenance>"#;

/// A repository and its history.
pub struct Scene {
    pub bench: Bench,
    pub provider: Provider,
    pub days: bool,
    pub sets: bool,
    first_live: OnceCell<Header>,
}

impl fmt::Display for Scene {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let granularity = if self.days { "days" } else { "seconds" };
        let sets = if self.sets { "with sets" } else { "without sets" };
        write!(formatter, "a repository of {granularity} {sets}")
    }
}

impl Scene {
    /// Both granularities, with and without sets.
    pub fn all() -> Vec<Scene> {
        let kinds = [(false, true), (false, false), (true, true), (true, false)];
        kinds.into_iter().map(|(days, sets)| Scene::new(days, sets)).collect()
    }

    pub fn new(days: bool, sets: bool) -> Scene {
        let bench = Bench::at("2024-03-01T08:00:00Z");
        let provider = bench.provider(repository(days));
        let scene = Scene {
            bench,
            provider,
            days,
            sets,
            first_live: OnceCell::new(),
        };
        scene.bench.declare_format(&scene.provider, "mods");
        if sets {
            let words = dublin_core(&[(Element::Description, "Maps & plans.")]);
            scene.bench.define_set(&scene.provider, "a", "Maps", vec![words]);
        }
        scene.publish();
        scene
    }

    fn publish(&self) {
        let at = |time: &str, changes: Vec<Change>| {
            let changes = changes.into_iter().map(|change| self.placed(change)).collect();
            self.bench.apply_at(time, &self.provider, changes);
        };
        let first: Vec<Change> = (1..=5).map(|n| titled(&format!("1{n}"), &["a:b:c"], "First")).collect();
        at("2024-03-01T09:00:00Z", first);
        at(
            "2024-03-01T23:59:59Z",
            vec![
                titled("21", &["a:b"], "Last of its day"),
                mods("21", &["a:b"], "The same"),
            ],
        );
        at(
            "2024-03-02T00:00:00Z",
            vec![
                titled("31", &["a"], "First of its day"),
                titled("32", &["ab"], "Not of a"),
            ],
        );
        at(
            "2024-03-20T10:00:00Z",
            vec![
                articled("41"),
                mods("41", &["a"], "An article"),
                mods("42", &[], "Only this"),
            ],
        );
        at(
            "2024-03-20T10:00:01Z",
            vec![
                titled("51", &["d"], "d"),
                titled("52", &["d"], "d"),
                mods("52", &["d"], "d"),
            ],
        );
        at(
            "2024-04-10T10:00:00Z",
            vec![deleted("12"), deleted("51"), as_format("mods", deleted("21"))],
        );
        at(
            "2024-04-11T10:00:00Z",
            vec![titled("14", &["a:b:c", "d"], "First, again")],
        );
        self.bench.hand.turn_to(NOW);
    }

    /// The change without its sets, in a repository that has none.
    fn placed(&self, change: Change) -> Change {
        let set_specs = if self.sets { change.set_specs } else { vec![] };
        Change { set_specs, ..change }
    }

    pub fn granularity(&self) -> Granularity {
        if self.days {
            Granularity::Day
        } else {
            Granularity::Second
        }
    }

    /// An undeleted record, found as a harvester finds one: its header of the complete list.
    pub fn id0(&self) -> Header {
        let find = || {
            let all = self.headers("verb=ListIdentifiers&metadataPrefix=oai_dc");
            all.into_iter().find(|header| !header.deleted).unwrap()
        };
        self.first_live.get_or_init(find).clone()
    }

    /// All headers of a list.
    pub fn headers(&self, query: &str) -> Vec<Header> {
        pages(&self.provider, query)
            .into_iter()
            .flat_map(|page| page.headers)
            .collect()
    }

    /// The identifiers of a list, in its order.
    pub fn identifiers(&self, query: &str) -> Vec<String> {
        self.headers(query)
            .into_iter()
            .map(|header| header.identifier.to_string())
            .collect()
    }

    pub fn granted(&self, query: &str) -> Seen {
        granted(&self.provider, query)
    }

    /// Fills what stands in braces: `{id0}`, `{ds0}`, `{day0}` of the first live record, `{deleted}` of a deleted one.
    pub fn fill(&self, query: &str) -> String {
        let id0 = self.id0();
        let ds0 = id0.datestamp.to_string();
        query
            .replace("{id0}", &encoded(id0.identifier.as_str()))
            .replace("{day0}", &ds0[..10])
            .replace("{ds0}", &encoded(&ds0))
            .replace("{deleted}", "oai%3Aferry.example.org%3A12")
    }
}

fn repository(days: bool) -> Repository {
    let text = r#"
[[repository]]
base_url = "https://ferry.example.org/oai"
repository_name = "Ferry Town Archive"
admin_emails = ["oai@ferry.example.org"]
namespace = "ferry.example.org"
page_size = 4
set_page_size = 3
friends = ["https://hill.example.org/oai"]
[repository.branding]
icon = "https://ferry.example.org/icon.png"
[repository.eprints]
metadata_policy = "https://ferry.example.org/policy"
data_policy = "Ask."
[[repository.rights]]
reference = "https://creativecommons.org/publicdomain/zero/1.0/"
"#;
    let granularity = if days {
        GranularityName::Days
    } else {
        GranularityName::Seconds
    };
    Repository {
        granularity,
        ..settings(text)
    }
}

fn articled(local: &str) -> Change {
    let statements = [(Element::Title, "An article"), (Element::Creator, "Nováková, Jana")];
    with_about(described(local, &["a"], &statements), &[RIGHTS, PROVENANCE])
}
