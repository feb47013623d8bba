//! Query strings: whatever arrives is a request or a list of errors, and a
//! request that is encoded and read again is the same request.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stook_oai::{Granularity, Request, decode_query};

fuzz_target!(|query: &[u8]| {
    let _ = decode_query(query);
    for granularity in [Granularity::Day, Granularity::Second] {
        match Request::parse_query(query, granularity) {
            Ok(request) => {
                let again = Request::parse_query(request.encode().as_bytes(), granularity);
                assert_eq!(again.as_ref(), Ok(&request));
            }
            Err(errors) => {
                assert!(!errors.is_empty(), "refused without a reason");
                // An answer carries every one of them.
                assert!(errors.len() < 100, "{} errors", errors.len());
            }
        }
    }
});
