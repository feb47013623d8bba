//! GET, POST and the other methods.

use stook_oai::ErrorCode::{BadArgument, BadVerb};

use crate::support::answer::Seen;
use crate::support::encoded;
use crate::support::http::{Response, Running};

const XML: &str = "text/xml; charset=UTF-8";
const RECORDS: &str = "verb=ListRecords&metadataPrefix=oai_dc";
const RECORD: &str = "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aferry.example.org%3A00001";

fn read(response: &Response) -> Seen {
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some(XML));
    Seen::read(&response.body)
}

#[test]
fn get_and_post_give_the_same_answer() {
    let server = Running::small();
    let mut connection = server.connect();
    for query in [
        "verb=Identify",
        RECORD,
        RECORDS,
        "verb=ListSets",
        "verb=junk",
        "",
        "verb=GetRecord",
        "verb=%zz",
    ] {
        let got = connection.get(&format!("/oai?{query}"));
        let posted = connection.post("/oai", query);
        assert_eq!(read(&got).document, read(&posted).document, "{query}");
    }
}

#[test]
fn a_list_can_be_continued_by_either_method() {
    let server = Running::small();
    let mut connection = server.connect();
    let first = read(&connection.post("/oai", RECORDS));
    let second = format!(
        "verb=ListRecords&resumptionToken={}",
        encoded(first.next_token().unwrap())
    );
    let by_get = read(&connection.get(&format!("/oai?{second}")));
    let by_post = read(&connection.post("/oai", &second));
    assert_eq!(by_get.document, by_post.document);
    let third = format!(
        "verb=ListRecords&resumptionToken={}",
        encoded(by_get.next_token().unwrap())
    );
    assert_eq!(read(&connection.post("/oai", &third)).locals(), ["00006"]);
}

#[test]
fn a_form_may_name_its_charset() {
    let server = Running::small();
    let mut connection = server.connect();
    for media_type in [
        "application/x-www-form-urlencoded; charset=UTF-8",
        "application/x-www-form-urlencoded;charset=utf-8",
        "Application/X-WWW-Form-URLencoded",
    ] {
        let response = connection.post_as("/oai", media_type, b"verb=Identify");
        assert!(read(&response).identify.is_some(), "{media_type}");
    }
}

#[test]
fn other_media_types_are_not_read() {
    let server = Running::small();
    let mut connection = server.connect();
    for media_type in [
        "text/plain",
        "application/json",
        "multipart/form-data; boundary=x",
        "text/xml",
        "",
    ] {
        let response = connection.post_as("/oai", media_type, b"verb=Identify");
        assert_eq!(response.status, 415, "{media_type}");
        assert_ne!(response.header("content-type"), Some(XML));
    }
    let untyped = "POST /oai HTTP/1.1\r\nHost: localhost\r\nContent-Length: 13\r\n\r\nverb=Identify";
    assert_eq!(connection.exchange(untyped.as_bytes()).status, 415);
    let empty = connection.post("/oai", "");
    assert_eq!(read(&empty).codes, [BadVerb]);
}

#[test]
fn arguments_of_url_and_body_are_read_together() {
    let server = Running::small();
    let mut connection = server.connect();
    assert_eq!(
        read(&connection.post("/oai?verb=Identify", "verb=Identify")).codes,
        [BadVerb]
    );
    assert!(read(&connection.post("/oai?verb=Identify", "")).identify.is_some());
    assert_eq!(
        read(&connection.post("/oai?verb=ListRecords", "metadataPrefix=oai_dc"))
            .records
            .len(),
        3
    );
    assert_eq!(read(&connection.post("/oai?x=1", "verb=Identify")).codes, [BadArgument]);
}

#[test]
fn head_says_what_get_would_without_the_body() {
    let server = Running::small();
    let mut connection = server.connect();
    for target in ["/oai?verb=Identify", "/oai", "/", "/healthz", "/nowhere"] {
        let got = connection.get(target);
        connection.send(format!("HEAD {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        let head = connection.receive_head().unwrap();
        assert_eq!(head.status, got.status, "{target}");
        for name in ["content-type", "content-length", "vary", "content-security-policy"] {
            assert_eq!(head.header(name), got.header(name), "{target} {name}");
        }
    }
    // Nothing of a body is in the way of the next answer.
    assert_eq!(connection.get("/healthz").text(), "ok\n");
}

#[test]
fn other_methods_are_told_which_there_are() {
    let server = Running::small();
    for method in ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "get"] {
        for (target, allowed) in [
            ("/oai?verb=Identify", "GET, HEAD, POST"),
            ("/", "GET, HEAD"),
            ("/nowhere", "GET, HEAD"),
        ] {
            let mut connection = server.connect();
            let request = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
            let response = connection.exchange(request.as_bytes());
            assert_eq!(response.status, 405, "{method} {target}");
            assert_eq!(response.header("allow"), Some(allowed));
        }
    }
    assert_eq!(server.connect().post("/", "a=b").status, 405);
}

#[test]
fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let server = Running::small();
    let body = format!("verb=Identify&x={}", "x".repeat(1024 * 1024));
    assert_eq!(server.connect().post("/oai", &body).status, 413);
    // Of unknown length: counted while it comes.
    let mut connection = server.connect();
    connection.send(b"POST /oai HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n");
    for _ in 0..100 {
        connection.send(format!("400\r\n{}\r\n", "x".repeat(1024)).as_bytes());
    }
    assert_eq!(connection.receive().unwrap().status, 413);
    // One that fits, in pieces.
    let mut connection = server.connect();
    connection.send(b"POST /oai HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n");
    connection.send(b"5\r\nverb=\r\n8\r\nIdentify\r\n0\r\n\r\n");
    assert!(read(&connection.receive().unwrap()).identify.is_some());
}

#[test]
fn a_client_that_waits_for_leave_gets_it() {
    let server = Running::small();
    let mut connection = server.connect();
    connection.send(b"POST /oai HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 13\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(connection.receive().unwrap().status, 100);
    connection.send(b"verb=Identify");
    assert!(read(&connection.receive().unwrap()).identify.is_some());
}

#[test]
fn old_clients_and_impatient_ones_are_answered() {
    let server = Running::small();
    let mut old = server.connect();
    old.send(b"GET /oai?verb=Identify HTTP/1.0\r\n\r\n");
    assert!(read(&old.receive().unwrap()).identify.is_some());
    assert!(old.is_closed());
    let mut impatient = server.connect();
    let requests = ["Identify", "ListMetadataFormats", "ListSets"]
        .map(|verb| format!("GET /oai?verb={verb} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    impatient.send(requests.concat().as_bytes());
    assert!(read(&impatient.receive().unwrap()).identify.is_some());
    assert_eq!(read(&impatient.receive().unwrap()).formats.len(), 1);
    assert_eq!(read(&impatient.receive().unwrap()).sets.len(), 1);
    let mut whole = server.connect();
    let response = whole.get("http://ferry.example.org/oai?verb=Identify");
    assert!(read(&response).identify.is_some(), "a proxy may send the whole URL");
    assert!(read(&whole.get("/oai/?verb=Identify")).identify.is_some());
}
