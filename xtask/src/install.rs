//! Installs what the tests and measurements need and the machine lacks.
//!
//! One table says what is needed, how to tell that it is there and which
//! Debian packages bring it. Python and npm packages go into the cache folder,
//! never into the system. When everything is there, nothing is touched and no
//! network is used.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{cache, output, root, run, succeeds};

/// Something the system must have.
struct Tool {
    what: &'static str,
    /// A command that succeeds when it is there.
    probe: &'static [&'static str],
    packages: &'static [&'static str],
}

const PYTHON: Tool = Tool {
    what: "Python with virtual environments, for the Python clients and peers",
    probe: &["python3", "-c", "import ensurepip, venv"],
    packages: &["python3", "python3-venv"],
};

const NGINX: Tool = Tool {
    what: "nginx, in front of several nodes, and the limit of what can be served",
    // Debian keeps it where only root's PATH looks.
    probe: &["sh", "-c", "PATH=$PATH:/usr/sbin nginx -v"],
    packages: &["nginx"],
};

const MARIADB: Tool = Tool {
    what: "MariaDB, a database to import from; the tests start servers of their own",
    probe: &["sh", "-c", "PATH=$PATH:/usr/sbin mariadbd --version"],
    packages: &["mariadb-server"],
};

const XMLLINT: Tool = Tool {
    what: "xmllint, which validates answers against the OAI-PMH schema",
    probe: &["xmllint", "--version"],
    packages: &["libxml2-utils"],
};

const TEST_TOOLS: &[Tool] = &[
    XMLLINT,
    Tool {
        what: "PostgreSQL, for the store on a server; the tests start servers of their own",
        probe: &["sh", "-c", "ls /usr/lib/postgresql/*/bin/initdb || command -v initdb"],
        packages: &["postgresql"],
    },
    MARIADB,
    NGINX,
    PYTHON,
    Tool {
        what: "Node.js, for the npm harvester",
        probe: &["node", "--version"],
        packages: &["nodejs"],
    },
    Tool {
        what: "npm, for the npm harvester",
        probe: &["npm", "--version"],
        packages: &["npm"],
    },
    Tool {
        what: "HTTP::OAI, the Perl harvester",
        probe: &["perl", "-MHTTP::OAI", "-e", "1"],
        packages: &["libhttp-oai-perl"],
    },
    YAZ,
    Tool {
        what: "Chromium, in which the explorer is tried",
        probe: &["chromium", "--version"],
        packages: &["chromium"],
    },
    Tool {
        what: "xsltproc, which runs crosswalks that are stylesheets",
        probe: &["xsltproc", "--version"],
        packages: &["xsltproc"],
    },
];

const YAZ: Tool = Tool {
    what: "yaz, whose reading of MARC ours is compared with",
    probe: &["yaz-marcdump", "-V"],
    packages: &["yaz"],
};

const FUZZ_TOOLS: &[Tool] = &[Tool {
    what: "a C++ compiler, which builds libFuzzer",
    probe: &["c++", "--version"],
    packages: &["g++"],
}];

const PEER_TOOLS: &[Tool] = &[
    PYTHON,
    Tool {
        what: "Dancer::Plugin::Catmandu::OAI and starman, a provider",
        probe: &[
            "perl",
            "-MDancer::Plugin::Catmandu::OAI",
            "-MStarman::Server",
            "-MJSON::XS",
            "-e",
            "1",
        ],
        packages: &["libdancer-plugin-catmandu-oai-perl", "starman", "libjson-xs-perl"],
    },
];

const BENCH_TOOLS: &[Tool] = &[
    NGINX,
    Tool {
        what: "wrk, which makes the load",
        // It knows no option that succeeds.
        probe: &["sh", "-c", "command -v wrk"],
        packages: &["wrk"],
    },
];

/// A Python environment of its own, in the cache folder.
pub(crate) struct Environment {
    name: &'static str,
    what: &'static str,
    requirements: &'static str,
}

/// Sickle and oaipmh-scythe.
pub(crate) const CLIENTS: Environment = Environment {
    name: "clients",
    what: "the harvesters Sickle and oaipmh-scythe",
    requirements: "xtask/interop/clients.txt",
};
/// The client of pyoai, apart because of its old lxml.
pub(crate) const PYOAI: Environment = Environment {
    name: "pyoai",
    what: "the harvester pyoai",
    requirements: "xtask/interop/pyoai.txt",
};
/// The server of pyoai.
pub(crate) const PYOAI_SERVER: Environment = Environment {
    name: "pyoai-server",
    what: "the provider pyoai",
    requirements: "xtask/peers/pyoai.txt",
};
/// oai-repo under Flask.
pub(crate) const OAI_REPO: Environment = Environment {
    name: "oai-repo",
    what: "the provider oai-repo",
    requirements: "xtask/peers/oai_repo.txt",
};

/// oai-harvest, apart because it wants pyoai's client.
pub(crate) const OAI_HARVEST: Environment = Environment {
    name: "oai-harvest",
    what: "the harvester oai-harvest",
    requirements: "xtask/bench/oai_harvest.txt",
};

impl Environment {
    /// Where a program of this environment is.
    ///
    /// # Errors
    /// As [`cache`].
    pub(crate) fn program(&self, name: &str) -> Result<PathBuf> {
        Ok(self.folder()?.join("bin").join(name))
    }

    fn folder(&self) -> Result<PathBuf> {
        Ok(cache()?.join("python").join(self.name))
    }
}

/// What `cargo xtask test` needs.
///
/// # Errors
/// When something is missing and cannot be installed.
pub(crate) fn for_tests() -> Result<()> {
    install_tools(TEST_TOOLS)?;
    install_tools(FUZZ_TOOLS)?;
    install_environment(&CLIENTS)?;
    install_environment(&PYOAI)?;
    install_npm_client()?;
    install_peers()?;
    install_schema()
}

/// What the benchmarks need: `provider` nginx, wrk and the peers, `harvest`
/// other harvesters.
///
/// # Errors
/// When something is missing and cannot be installed.
pub(crate) fn for_bench() -> Result<()> {
    install_tools(BENCH_TOOLS)?;
    install_peers()?;
    for_harvest_bench()
}

/// What `cargo xtask bench sql` needs beside PostgreSQL, which the tests need too.
///
/// # Errors
/// When something is missing and cannot be installed.
pub(crate) fn for_sql_bench() -> Result<()> {
    install_tools(&[MARIADB])
}

/// What `cargo xtask bench harvest` needs.
///
/// # Errors
/// When something is missing and cannot be installed.
pub(crate) fn for_harvest_bench() -> Result<()> {
    install_tools(&[PYTHON])?;
    install_environment(&CLIENTS)?;
    install_environment(&OAI_HARVEST)
}

/// The providers beside ours.
fn install_peers() -> Result<()> {
    install_tools(PEER_TOOLS)?;
    install_environment(&PYOAI_SERVER)?;
    install_environment(&OAI_REPO)
}

/// What `cargo xtask fuzz` needs.
///
/// # Errors
/// When something is missing and cannot be installed.
pub(crate) fn for_fuzz() -> Result<()> {
    install_tools(FUZZ_TOOLS)
}

/// What `cargo xtask interop marc` needs.
///
/// # Errors
/// When it is missing and cannot be installed.
pub(crate) fn for_marc() -> Result<()> {
    install_tools(&[YAZ])
}

/// What `cargo xtask schemas` needs.
///
/// # Errors
/// When something is missing and cannot be installed.
pub(crate) fn for_schemas() -> Result<()> {
    install_tools(&[XMLLINT, PYTHON])?;
    install_environment(&PYOAI)?;
    install_schema()
}

/// The folder whose `node_modules` holds the npm harvester.
///
/// # Errors
/// As [`cache`].
pub(crate) fn npm_folder() -> Result<PathBuf> {
    Ok(cache()?.join("npm"))
}

/// The OAI-PMH schema, with wildcards as strict as in the official one.
///
/// # Errors
/// As [`cache`].
pub(crate) fn oai_pmh_schema() -> Result<PathBuf> {
    Ok(cache()?.join("schemas/OAI-PMH.xsd"))
}

fn install_tools(tools: &[Tool]) -> Result<()> {
    let missing: Vec<&Tool> = tools.iter().filter(|tool| !tool.is_there()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    for tool in &missing {
        println!("missing: {}", tool.what);
    }
    let packages: Vec<&str> = missing.iter().flat_map(|tool| tool.packages).copied().collect();
    if !succeeds(Command::new("apt-get").arg("--version")) {
        bail!(
            "this machine has no apt-get. Try: install by hand what Debian calls {}",
            packages.join(", ")
        );
    }
    println!("installing the Debian packages {}", packages.join(", "));
    run(apt_get()?.arg("update").arg("-qq"))?;
    run(apt_get()?
        .args(["install", "-y", "-qq", "--no-install-recommends"])
        .args(&packages))?;
    match missing.iter().find(|tool| !tool.is_there()) {
        Some(tool) => bail!("installed, and still missing: {}", tool.what),
        None => Ok(()),
    }
}

impl Tool {
    fn is_there(&self) -> bool {
        succeeds(Command::new(self.probe[0]).args(&self.probe[1..]))
    }
}

/// `apt-get`, through `sudo` unless we are root.
fn apt_get() -> Result<Command> {
    let user = output(Command::new("id").arg("-u"))?;
    let mut command = if user.trim_ascii() == b"0" {
        Command::new("env")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.arg("env");
        sudo
    };
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    Ok(command)
}

fn install_environment(environment: &Environment) -> Result<()> {
    let folder = environment.folder()?;
    let requirements = root().join(environment.requirements);
    let wanted = read(&requirements)?;
    let python = environment.program("python")?;
    if is_stamped(&folder, &wanted) && succeeds(Command::new(&python).args(["-c", ""])) {
        return Ok(());
    }
    println!("installing {} from PyPI into {}", environment.what, folder.display());
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    run(Command::new(python)
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
        ])
        .arg(&requirements))?;
    stamp(&folder, &wanted)
}

fn install_npm_client() -> Result<()> {
    let folder = npm_folder()?;
    let package = root().join("xtask/interop/package.json");
    let wanted = read(&package)?;
    if is_stamped(&folder, &wanted) {
        return Ok(());
    }
    println!("installing the harvester oai-pmh from npm into {}", folder.display());
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    fs::copy(&package, folder.join("package.json")).with_context(|| format!("copying to {}", folder.display()))?;
    run(Command::new("npm")
        .args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"])
        .current_dir(&folder))?;
    stamp(&folder, &wanted)
}

/// Takes OAI-PMH.xsd out of pyoai's source distribution.
fn install_schema() -> Result<()> {
    let schema = oai_pmh_schema()?;
    if schema.is_file() {
        return Ok(());
    }
    let folder = cache()?.join("schemas");
    println!(
        "fetching OAI-PMH.xsd with pyoai's source distribution into {}",
        folder.display()
    );
    run(Command::new(PYOAI.program("python")?)
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"])
        .args(["--no-deps", "--no-binary", ":all:", "pyoai==2.5.0", "--dest"])
        .arg(&folder))?;
    let unpacked = output(
        Command::new("tar")
            .args([
                "-xzOf",
                "pyoai-2.5.0.tar.gz",
                "pyoai-2.5.0/src/oaipmh/tests/OAI-PMH.xsd",
            ])
            .current_dir(&folder),
    )?;
    let text = String::from_utf8(unpacked).context("reading OAI-PMH.xsd")?;
    // That copy skips what stands in metadata, about and description; the
    // official schema demands that it is valid too.
    let strict = text.replace("processContents=\"skip\"", "processContents=\"strict\"");
    if strict.matches("processContents=\"strict\"").count() < 3 {
        bail!("OAI-PMH.xsd has not the three wildcards it should have");
    }
    fs::write(&schema, strict).with_context(|| format!("writing {}", schema.display()))
}

/// An installation is current when it holds what was asked for last.
fn is_stamped(folder: &Path, wanted: &str) -> bool {
    fs::read_to_string(folder.join(STAMP)).is_ok_and(|installed| installed == wanted)
}

fn stamp(folder: &Path, wanted: &str) -> Result<()> {
    fs::write(folder.join(STAMP), wanted).with_context(|| format!("writing to {}", folder.display()))
}

const STAMP: &str = "installed.txt";

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}
