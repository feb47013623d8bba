//! Certificates: verified unless the source's settings say otherwise.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;

use misbehave::{Script, World};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::{Bench, NOW, difference};

/// Signed by nobody but itself.
const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/harvest/fixtures/localhost.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/harvest/fixtures/localhost.key");

/// Speaks TLS in front of a source that does not; the address it listens on.
fn tls_in_front_of(source: SocketAddr) -> SocketAddr {
    let certificate = CertificateDer::from_pem_file(CERTIFICATE).unwrap();
    let key = PrivateKeyDer::from_pem_file(KEY).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            // A client that breaks off is what some of these tests are about.
            std::thread::spawn(move || pass_on(client, source, config).ok());
        }
    });
    address
}

/// Passes one request and its answer on.
fn pass_on(client: TcpStream, source: SocketAddr, config: Arc<ServerConfig>) -> std::io::Result<()> {
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut client = BufReader::new(StreamOwned::new(connection, client));
    let mut source = TcpStream::connect(source)?;
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        if client.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line != "\r\n" && !line.to_ascii_lowercase().starts_with("connection:") {
            source.write_all(line.as_bytes())?;
        }
    }
    source.write_all(b"Connection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    source.read_to_end(&mut answer)?;
    let client = client.get_mut();
    client.write_all(&answer)?;
    client.conn.send_close_notify();
    client.flush()
}

fn bench() -> Bench {
    let mut bench = Bench::new(World::of(20).at(NOW), Script::new().page_size(7));
    let plain = bench.settings.url.clone();
    let address = plain.trim_start_matches("http://").split('/').next().unwrap();
    let tls = tls_in_front_of(address.parse().unwrap());
    bench.settings.url = plain.replace(&format!("http://{address}"), &format!("https://{tls}"));
    bench
}

#[test]
fn f15_a_certificate_signed_by_nobody_known_is_refused_with_the_remedy() {
    let report = bench().harvest();
    let reason = report.stopped.unwrap();
    assert!(reason.contains("certificate"), "{reason}");
    assert!(
        reason.contains("ca_file") && reason.contains("accept_bad_certificates"),
        "{reason}"
    );
}

#[test]
fn f15_a_certificate_of_an_authority_that_was_named_is_accepted() {
    let mut bench = bench();
    bench.settings.ca_file = Path::new(CERTIFICATE).to_str().unwrap().to_owned();
    let report = bench.harvest();
    assert!(report.complete, "{report}");
    assert_eq!(difference(&bench.held(), &bench.expected()), "");
    assert_eq!(report.found("bad-certificates-accepted"), 0);
}

#[test]
fn f15_who_accepts_bad_certificates_is_told_in_every_report() {
    let mut bench = bench();
    bench.settings.accept_bad_certificates = true;
    for _ in 0..2 {
        let report = bench.harvest();
        assert!(report.complete, "{report}");
        assert_eq!(report.found("bad-certificates-accepted"), 1);
    }
    assert_eq!(difference(&bench.held(), &bench.expected()), "");
}
