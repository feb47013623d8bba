//! Several `stook serve` on one database, as one repository.

use std::thread::sleep;
use std::time::Duration;

use stook_store::{Clock, Store};
use testserver::Server;

use crate::proxy::Proxy;
use crate::{Running, Site, ask, base_url, free_port, lines};

const RECORDS: usize = 2_000;
const PAGE_SIZE: usize = 20;
const HARVESTERS: usize = 10;
/// A node is killed when so many requests have been answered: no harvest is at its end.
const BEFORE_THE_KILL: usize = 250;

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    rest.split_once(to).map(|(found, _)| found)
}

#[test]
fn a_token_of_one_node_is_good_at_the_other() {
    let ports = [free_port(), free_port()];
    let site = Site::with_repository(&Server::shared().fresh_url(), ports[0], 7);
    site.write("records.jsonl", &lines(0..100, 1));
    site.fine(&["import", "records.jsonl"]);
    let _nodes = ports.map(|port| site.serve(port));
    let (mut found, mut arguments) = (Vec::new(), "&metadataPrefix=oai_dc".to_owned());
    for turn in 0.. {
        let url = format!("{}?verb=ListIdentifiers{arguments}", base_url(ports[turn % 2]));
        let page = ask(&url).unwrap().body.unwrap();
        let identifiers = page.split("<identifier>").skip(1);
        found.extend(identifiers.map(|rest| rest.split_once('<').unwrap().0.to_owned()));
        let token = between(&page, "<resumptionToken", "</resumptionToken>").unwrap_or_else(|| panic!("{page}"));
        match token.split_once('>') {
            Some((_, token)) if !token.is_empty() => arguments = format!("&resumptionToken={token}"),
            _ => break,
        }
    }
    found.sort();
    let expected: Vec<String> = site.content(&[]).into_keys().collect();
    assert_eq!(found, expected);
}

/// Harvests the repository in a folder of its own.
struct Harvester {
    site: Site,
    url: String,
    harvest: Running,
}

impl Harvester {
    fn start(url: &str) -> Harvester {
        let site = Site::new("");
        Harvester {
            harvest: site.start(&["harvest", url]),
            site,
            url: url.to_owned(),
        }
    }

    fn is_over(&mut self) -> bool {
        self.harvest.is_over()
    }

    /// Harvests what has changed meanwhile.
    fn start_again(&mut self) {
        self.harvest = self.site.start(&["harvest", &self.url]);
    }

    fn content(&self) -> crate::Content {
        let store = Store::open(&self.site.path().join("stook.db"), Clock::system()).unwrap();
        let name = store.noted("source").unwrap()[0].0.clone();
        self.site.content(&["-r", &name])
    }
}

#[test]
fn ten_harvests_through_one_address_end_exact_although_a_node_is_killed() {
    let [address, first, second] = [free_port(), free_port(), free_port()];
    let site = Site::with_repository(&Server::shared().fresh_url(), address, PAGE_SIZE);
    site.write("records.jsonl", &lines(0..RECORDS, 1));
    site.fine(&["import", "records.jsonl"]);
    let mut doomed = site.serve(first);
    let _survivor = site.serve(second);
    let proxy = Proxy::start(address, &[first, second]);

    let mut harvesters: Vec<Harvester> = (0..HARVESTERS).map(|_| Harvester::start(&base_url(address))).collect();
    let mut version = 1;
    let mut answered_before = None;
    while !harvesters.iter_mut().all(Harvester::is_over) {
        if answered_before.is_none() && proxy.answers().len() > BEFORE_THE_KILL {
            doomed.kill();
            answered_before = Some(proxy.answers());
            assert!(!harvesters.iter_mut().any(Harvester::is_over), "a harvest was over");
        }
        // Old records change, and new ones come.
        version += 1;
        let changed = (version * 31 % RECORDS..RECORDS)
            .step_by(397)
            .chain([RECORDS + version]);
        site.write("changes.jsonl", &lines(changed, version));
        site.fine(&["import", "changes.jsonl"]);
        sleep(Duration::from_millis(100));
    }
    let before = answered_before.expect("nobody was killed");
    let by = |port: u16| {
        before
            .iter()
            .filter(|line| line.starts_with(&format!("127.0.0.1:{port} ")))
            .count()
    };
    assert!(by(first) > 50 && by(second) > 50, "{} and {}", by(first), by(second));

    // The harvester would get there even if no token were good at another node, but not without asking again.
    let (asked, pages) = (proxy.answers().len(), HARVESTERS * RECORDS / PAGE_SIZE);
    assert!(asked < pages * 9 / 8, "{asked} requests for {pages} pages");
    for harvester in &mut harvesters {
        harvester.harvest.assert_it_ends_well();
        harvester.start_again();
    }
    for harvester in &mut harvesters {
        harvester.harvest.assert_it_ends_well();
    }
    let expected = site.content(&[]);
    assert!(expected.len() > RECORDS && version > 2, "nothing changed");
    for harvester in &harvesters {
        let content = harvester.content();
        let differs: Vec<_> = expected
            .iter()
            .filter(|(key, value)| content.get(*key) != Some(value))
            .collect();
        assert!(
            differs.is_empty(),
            "{} records differ, such as {:?}",
            differs.len(),
            differs[0]
        );
        assert_eq!(content.len(), expected.len());
    }
}
