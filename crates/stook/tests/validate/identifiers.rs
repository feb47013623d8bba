//! ListIdentifiers.

use crate::harness::{Case, hold};

pub fn cases() -> Vec<Case> {
    Vec::new()
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
