//! Repositories that do nothing wrong.

use misbehave::{Endpoint, Script};
use stook::validate::report::{Status, to_text};
use stook::validate::table::{self, When};
use stook_oai::Granularity;

use crate::harness::{is_serious, validated, world};

#[test]
fn a_good_endpoint_has_no_finding_and_lets_every_check_be_made() {
    for granularity in [Granularity::Second, Granularity::Day] {
        let endpoint = Endpoint::start(world().with_granularity(granularity), Script::new()).unwrap();
        let report = validated(&endpoint.url(), |_| {});
        let serious = report.findings().into_iter().any(is_serious);
        assert!(!serious && report.ended_early.is_none(), "{}", to_text(&report));
        for check in table::all().filter(|check| check.when == When::Always) {
            assert_ne!(report.status(check), Status::NotMade, "{} is not made", check.id);
        }
    }
}
