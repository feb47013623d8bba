//! Records of an item that lie far apart in the input come into the same sets, whichever is committed first.

use std::path::PathBuf;

use stook_metadata::Formats;

use super::*;
use crate::crosswalk::Crosswalks;
use crate::sets::SetRules;

const RECORDS: u64 = 1_200;

fn marc() -> String {
    let record = |number: u64| {
        format!(
            "<record><leader>00000nam a2200000 a 4500</leader><controlfield tag=\"001\">{number}</controlfield>\
             <datafield tag=\"245\" ind1=\"0\" ind2=\"0\"><subfield code=\"a\">{}</subfield></datafield>\
             <datafield tag=\"260\" ind1=\" \" ind2=\" \"><subfield code=\"c\">2025</subfield></datafield></record>\n",
            "Title ".repeat(80)
        )
    };
    let records: String = (0..RECORDS).map(record).collect();
    format!("<collection xmlns=\"http://www.loc.gov/MARC21/slim\">{records}</collection>")
}

fn dublin_core() -> String {
    let title = "Title ".repeat(80);
    (0..RECORDS)
        .map(|number| format!("{{\"identifier\":\"{number}\",\"date\":\"1999\",\"title\":\"{title}\"}}\n"))
        .collect()
}

#[test]
fn formats_of_an_item_in_different_batches_come_into_the_same_sets() {
    for marc_first in [true, false] {
        let bench = Bench::new();
        let rules = bench.folder.path().join("my.rules");
        fs::write(&rules, "sets from oai_dc\ndate -> year:{} year\n").unwrap();
        let mut options = options();
        options.crosswalks = Crosswalks::new(&[], &Formats::default()).unwrap();
        options.set_rules = Arc::new(SetRules::read(&[PathBuf::from(&rules)], &Formats::default()).unwrap());
        let mut inputs = vec![bench.write("a.xml", &marc()), bench.write("b.jsonl", &dublin_core())];
        if !marc_first {
            inputs.reverse();
        }
        let import = || {
            let import = bench.import_with(&options, &inputs, &AtomicBool::new(false), &mut |_| ());
            import.unwrap()
        };
        let first = import();
        assert_eq!(first.new + first.changed, 2 * RECORDS, "{first:?}");
        for prefix in ["marc21", "oai_dc"] {
            assert_eq!(
                bench.count(prefix, Some("year:1999")),
                RECORDS,
                "{prefix}, MARC first: {marc_first}"
            );
            assert_eq!(
                bench.count(prefix, Some("year")),
                RECORDS,
                "{prefix}, MARC first: {marc_first}"
            );
        }
        let again = import();
        assert_eq!((again.new, again.changed, again.regrouped), (0, 0, 0), "{again:?}");
        assert_eq!((again.unchanged, again.repeated), (2 * RECORDS, 0), "{again:?}");
    }
}
