//! Where stylesheets are run: a private folder, and what has to go when the program ends.
//!
//! The folder holds copies of the stylesheets and a driver that imports them. Each run gets a folder of its own in it
//! for its records. Everything that is open is listed, so that a program that is asked to stop can end the processes
//! and remove the folders without waiting for the threads that use them.

use std::env;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use tempfile::TempDir;

use super::gather::{Sheet, copy_name};
use super::process::{self, End};
use super::told;

const DRIVER: &str = "driver.xsl";
/// As a run names it. Nobody has to make a URI of the whole path, which may hold anything.
pub(super) const DRIVER_OF_RUN: &str = "../driver.xsl";

/// A folder with stylesheets that can be run.
#[derive(Debug)]
pub(super) struct Workshop {
    pub(super) program: PathBuf,
    pub(super) marks: Marks,
    /// The copy of each sheet as a run names it, and how people know it.
    pub(super) names: Vec<(String, String)>,
    runs: AtomicU64,
    folder: Folder,
}

impl Workshop {
    /// Writes the copies and lets `xsltproc` look at them.
    pub(super) fn open(sheets: &[Sheet]) -> Result<Workshop> {
        let program = find_program()?;
        let folder = Folder::new().context(NO_FOLDER)?;
        let marks = Marks::new();
        let mut names = Vec::new();
        for (at, sheet) in sheets.iter().enumerate() {
            let copy = folder.path().join(copy_name(at));
            fs::write(&copy, &sheet.text).context(NO_FOLDER)?;
            names.push((format!("../{}", copy_name(at)), sheet.path.display().to_string()));
        }
        fs::write(folder.path().join(DRIVER), marks.driver()).context(NO_FOLDER)?;
        let workshop = Workshop {
            program,
            marks,
            names,
            runs: AtomicU64::new(0),
            folder,
        };
        let ran = process::run(&workshop, &[])?;
        match ran.end {
            End::Exited(0) => Ok(workshop),
            _ => {
                let reason = told::reason(&ran, &workshop.names);
                bail!("xsltproc does not accept the stylesheet: {reason}\nTry: mend it; xsltproc runs XSLT 1.0")
            }
        }
    }

    /// A folder for the records of one run.
    pub(super) fn run_folder(&self) -> Result<RunFolder> {
        let number = self.runs.fetch_add(1, Relaxed);
        let path = self.folder.path().join(format!("run{number}"));
        fs::create_dir(&path).context(NO_FOLDER)?;
        Ok(RunFolder(path))
    }
}

/// Why nothing can be written to the private folder.
pub(super) const NO_FOLDER: &str =
    "writing records for xsltproc to a temporary folder\nTry: free some space there, or set TMPDIR to another folder";

/// Removed when the run is over.
pub(super) struct RunFolder(PathBuf);

impl RunFolder {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn find_program() -> Result<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .map(|folder| folder.join("xsltproc"))
        .find(|program| is_executable(program));
    let absolute = found.map(std::path::absolute).transpose().context("finding xsltproc")?;
    absolute.ok_or_else(|| {
        anyhow!(
            "xsltproc, which runs stylesheets, is not installed\nTry: apt install xsltproc (Debian, Ubuntu), dnf install \
             libxslt (Fedora), apk add libxslt (Alpine); macOS has it in /usr/bin"
        )
    })
}

#[cfg(unix)]
fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(program).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(program: &Path) -> bool {
    program.is_file()
}

/// What marks the beginning and the end of each result. A result may hold any text, so nobody may guess the marks.
#[derive(Debug)]
pub(super) struct Marks {
    pub(super) begin: String,
    pub(super) end: String,
    name: String,
}

impl Marks {
    pub(super) fn new() -> Marks {
        let random = || RandomState::new().build_hasher().finish();
        let name = format!("stook-{:016x}{:016x}", random(), random());
        Marks {
            begin: format!("<{name} of=\""),
            end: format!("<{name}-end/></{name}>"),
            name,
        }
    }

    /// The stylesheet that is run. What it says of the output counts more than what the imported ones say. The end mark
    /// is written last: a result that has none was broken off.
    fn driver(&self) -> String {
        let Marks { name, .. } = self;
        let sheet = copy_name(0);
        format!(
            r#"<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:saxon="http://icl.com/saxon" exclude-result-prefixes="saxon">
<xsl:import href="{sheet}"/>
<xsl:output method="xml" encoding="UTF-8" indent="no" omit-xml-declaration="yes"/>
<xsl:template match="/"><{name}><xsl:attribute name="of"><xsl:if
    test="function-available('saxon:systemId')"><xsl:value-of select="saxon:systemId()"/></xsl:if></xsl:attribute
    ><xsl:apply-imports/><{name}-end/></{name}></xsl:template>
</xsl:stylesheet>
"#
        )
    }
}

/// A temporary folder that is listed.
#[derive(Debug)]
struct Folder(TempDir);

impl Folder {
    fn new() -> io::Result<Folder> {
        let mut open = lock();
        open.may_open()?;
        let folder = tempfile::Builder::new().prefix("stook-xslt-").tempdir()?;
        open.folders.push(folder.path().to_owned());
        Ok(Folder(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        lock().folders.retain(|folder| folder != self.0.path());
    }
}

/// A process that is listed, and ends when nobody wants it any more.
pub(super) struct Process(Arc<Mutex<Child>>);

impl Process {
    pub(super) fn start(command: &mut Command) -> io::Result<Process> {
        let mut open = lock();
        open.may_open()?;
        let child = Arc::new(Mutex::new(command.spawn()?));
        open.children.push(child.clone());
        Ok(Process(child))
    }

    pub(super) fn child(&self) -> MutexGuard<'_, Child> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        end(&self.0);
        lock().children.retain(|child| !Arc::ptr_eq(child, &self.0));
    }
}

/// Everything that is open.
struct Open {
    children: Vec<Arc<Mutex<Child>>>,
    folders: Vec<PathBuf>,
    /// Nothing may be opened any more.
    is_over: bool,
}

impl Open {
    fn may_open(&self) -> io::Result<()> {
        match self.is_over {
            true => Err(io::Error::other("the program is ending")),
            false => Ok(()),
        }
    }
}

static OPEN: Mutex<Open> = Mutex::new(Open {
    children: Vec::new(),
    folders: Vec::new(),
    is_over: false,
});

fn lock() -> MutexGuard<'static, Open> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn end(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    // One that has ended already cannot be killed, which is fine.
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends every process and removes every folder. For a program that ends now: no stylesheet can be run afterwards.
pub fn leave_nothing_behind() {
    let mut open = lock();
    open.is_over = true;
    for child in open.children.drain(..) {
        end(&child);
    }
    for folder in open.folders.drain(..) {
        // A thread may be writing records there still.
        for _ in 0..20 {
            if fs::remove_dir_all(&folder).is_ok() || !folder.exists() {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}
