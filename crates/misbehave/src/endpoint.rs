//! Endpoints: one source, or many behind one listener.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, MutexGuard};

use crate::asked::Asked;
use crate::bend::{Bend, Given, Heard};
use crate::deliveries::deliver;
use crate::fault::Fault;
use crate::http::{Body, Incoming, Reply};
use crate::script::Script;
use crate::server::{Answering, Server, Stop};
use crate::source::{Doors, OWN_ARGUMENT, Source};
use crate::world::World;

/// Another loopback address where the system has one: to be redirected there
/// is to be sent to another host.
const SECOND_HOST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// One misbehaving source, served until this is dropped.
pub struct Endpoint {
    host: Host,
}

impl Endpoint {
    const PATH: &'static str = "/oai";

    /// Serves a world by a script on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When there is no port or thread to be had.
    pub fn start(world: World, script: Script) -> io::Result<Self> {
        Self::start_on(0, world, script)
    }

    /// As [`start`](Self::start), on that port.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn start_on(port: u16, world: World, script: Script) -> io::Result<Self> {
        let host = Host::start_on(port, vec![(Self::PATH.to_owned(), world, script)])?;
        Ok(Self { host })
    }

    /// As [`start`](Self::start), with every reply bent at the end.
    ///
    /// # Errors
    /// When there is no port or thread to be had.
    pub fn start_bent(
        world: World,
        script: Script,
        bend: impl Fn(&Heard<'_>, &mut Given) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::start_bent_at(Self::PATH, world, script, bend)
    }

    /// As [`start_bent`](Self::start_bent), at another path than usual.
    ///
    /// # Errors
    /// When there is no port or thread to be had.
    pub fn start_bent_at(
        path: &str,
        world: World,
        script: Script,
        bend: impl Fn(&Heard<'_>, &mut Given) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let given = vec![(path.to_owned(), world, script)];
        let host = Host::start_with(0, given, Some(Bend(Arc::new(bend))))?;
        Ok(Self { host })
    }

    /// The base URL.
    #[must_use]
    pub fn url(&self) -> String {
        self.source().base_url.clone()
    }

    /// The world; requests wait while this is held.
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.source().world()
    }

    /// What was asked so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Asked> {
        self.source().asked()
    }

    /// The script, with the victims that it left open filled in.
    #[must_use]
    pub fn script(&self) -> Script {
        self.source().script()
    }

    /// Another script from now on. Tokens stay valid and counting starts anew;
    /// the base URL stays what it was.
    pub fn set_script(&self, script: Script) {
        self.source().set_script(script);
    }

    fn source(&self) -> &Source {
        &self.host.sources.all[0]
    }
}

/// Many sources behind one listener, served until this is dropped.
pub struct Host {
    sources: Arc<Sources>,
    address: SocketAddr,
    _server: Server,
}

#[derive(Default)]
struct Sources {
    all: Vec<Source>,
    by_path: HashMap<String, usize>,
    bend: Option<Bend>,
}

impl Host {
    /// Serves each world by its script at its path (`/a`), on a free port of
    /// 127.0.0.1.
    ///
    /// # Errors
    /// When there is no port or thread to be had.
    pub fn start(sources: Vec<(String, World, Script)>) -> io::Result<Self> {
        Self::start_on(0, sources)
    }

    /// As [`start`](Self::start), on that port.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn start_on(port: u16, given: Vec<(String, World, Script)>) -> io::Result<Self> {
        Self::start_with(port, given, None)
    }

    fn start_with(port: u16, given: Vec<(String, World, Script)>, bend: Option<Bend>) -> io::Result<Self> {
        let mut listeners = vec![TcpListener::bind((Ipv4Addr::LOCALHOST, port))?];
        let address = listeners[0].local_addr()?;
        let mut second = None;
        if given.iter().any(|(_, _, script)| needs_second_host(script)) {
            let listener =
                TcpListener::bind((SECOND_HOST, 0)).or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
            second = Some(listener.local_addr()?);
            listeners.push(listener);
        }
        let doors = Doors { first: address, second };
        let mut sources = Sources {
            bend,
            ..Sources::default()
        };
        for (path, world, script) in given {
            let (path, base_url) = base_url(address, path, &script);
            sources.by_path.insert(path, sources.all.len());
            sources.all.push(Source::new(world, script, base_url, doors));
        }
        let sources = Arc::new(sources);
        let server = Server::start(listeners, Arc::clone(&sources) as Arc<dyn Answering>)?;
        Ok(Self {
            sources,
            address,
            _server: server,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URLs, in the order in which the sources were given.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.sources.all.iter().map(|source| source.base_url.clone()).collect()
    }

    /// The world of a source by its place; requests to it wait while this is
    /// held.
    #[must_use]
    pub fn world(&self, source: usize) -> Option<MutexGuard<'_, World>> {
        self.sources.all.get(source).map(Source::world)
    }

    /// What was asked of a source so far, by its place.
    #[must_use]
    pub fn requests(&self, source: usize) -> Vec<Asked> {
        self.sources.all.get(source).map(Source::asked).unwrap_or_default()
    }
}

fn needs_second_host(script: &Script) -> bool {
    let elsewhere = [
        Fault::RedirectOtherHost,
        Fault::RedirectWithoutQuery,
        Fault::RedirectPost,
        Fault::RedirectLoopback,
    ];
    elsewhere.into_iter().any(|fault| script.has(fault))
}

/// The path at which a source is found, and its base URL: where the faults of
/// the address are applied.
fn base_url(address: SocketAddr, path: String, script: &Script) -> (String, String) {
    let path = if script.has(Fault::LongBaseUrl) {
        format!("{path}{}", "/a-long-way-down".repeat(130))
    } else {
        path
    };
    let scheme = if script.has(Fault::TlsTooOld) { "https" } else { "http" };
    let (name, value) = OWN_ARGUMENT;
    let query = if script.has(Fault::BaseUrlWithQuery) {
        format!("?{name}={value}")
    } else {
        String::new()
    };
    let base_url = format!("{scheme}://{address}{path}{query}");
    (path, base_url)
}

impl Answering for Sources {
    fn answer(&self, incoming: &Incoming, stream: &mut TcpStream, stop: &Stop) -> io::Result<bool> {
        let source = self.by_path.get(&incoming.path).and_then(|at| self.all.get(*at));
        let reply = match source {
            _ if !matches!(incoming.method.as_str(), "GET" | "POST") => {
                Reply::html(405, "Method Not Allowed", "GET or POST, please.")
            }
            Some(source) => source.reply(incoming),
            None => Reply::html(404, "Not Found", "There is no repository at this path."),
        };
        let mut reply = match &self.bend {
            Some(bend) => bend.apply(incoming, reply),
            None => reply,
        };
        if incoming.method == "HEAD" {
            // A client takes the next bytes for the next reply.
            reply.body = Body::default();
        }
        deliver(&reply, stream, stop)
    }
}
