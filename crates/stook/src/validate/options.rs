//! What a run is asked to do, and whom it tells.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, bail};

use super::ask::Manners;
use super::report::Finding;
use super::table::{self, Check, Family, When};

/// Requests of a default run, at most.
const MOST_REQUESTS: u32 = 500;

/// Recommendations of a community beside the protocol itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Profile {
    /// Only the protocol
    Protocol,
    /// The OpenAIRE guidelines
    Openaire,
    /// The DINI certificate
    Dini,
}

/// What a run is asked to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only these checks or families; all, where it is empty.
    pub only: Vec<String>,
    /// Not these checks or families.
    pub skip: Vec<String>,
    /// Beside the protocol.
    pub profiles: Vec<Profile>,
    /// Walk whole lists.
    pub deep: bool,
    /// Send what an attacker would.
    pub hostile: bool,
    /// How to ask.
    pub manners: Manners,
    /// Requests at most; a deep run has no such limit.
    pub most_requests: u32,
    /// The folder for requests and answers that findings speak of.
    pub evidence: Option<PathBuf>,
    /// What the repository must call itself, if that is not where it is asked.
    pub base_url: Option<String>,
    /// The report of an earlier run, to compare with.
    pub earlier: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            only: Vec::new(),
            skip: Vec::new(),
            profiles: Vec::new(),
            deep: false,
            hostile: false,
            manners: Manners::default(),
            most_requests: MOST_REQUESTS,
            evidence: None,
            base_url: None,
            earlier: None,
        }
    }
}

impl Options {
    /// Whether a check is to be made.
    #[must_use]
    pub fn wants(&self, check: &Check) -> bool {
        let named = |names: &[String]| names.iter().any(|name| table::is_of(&check.id, name));
        let time = match check.when {
            When::Always | When::Static => true,
            When::Deep => self.deep,
            When::Hostile => self.hostile,
            When::OpenAire => self.profiles.contains(&Profile::Openaire),
            When::Dini => self.profiles.contains(&Profile::Dini),
            When::Never => false,
        };
        time && (self.only.is_empty() || named(&self.only)) && !named(&self.skip)
    }

    /// Says so when a name in `only` or `skip` is none of a check or family, or when nothing would be tested.
    ///
    /// # Errors
    /// The name, and what to try.
    pub fn check_names(&self) -> Result<()> {
        for name in self.only.iter().chain(&self.skip) {
            if !table::all().any(|check| table::is_of(&check.id, name)) {
                let families: Vec<&str> = table::families().iter().map(|family| family.letters.as_str()).collect();
                bail!(
                    "there is no check or family {name:?}\nTry: a check such as H-1, or a family: {}",
                    families.join(", ")
                );
            }
        }
        if let Some(check) = self.only.iter().find_map(|name| self.left_out(name)) {
            let id = &check.id;
            match check.when.option() {
                Some(option) => bail!("{id} is only made with {option}\nTry: {option}"),
                None if check.when == When::Never => {
                    bail!("{id} takes more than asking, and is never made\nTry: another check")
                }
                None => bail!("{id} is both asked for and left out\nTry: either --only or --skip"),
            }
        }
        Ok(())
    }

    /// The first check of a name, if none of that name would be made.
    fn left_out(&self, name: &str) -> Option<&'static Check> {
        let mut checks = table::all().filter(|check| table::is_of(&check.id, name));
        let first = checks.next()?;
        let is_made = self.wants(first) || checks.any(|check| self.wants(check));
        (!is_made).then_some(first)
    }
}

/// Whom a run tells, and who may stop it.
pub struct Outside<'a> {
    /// Hears what happens.
    pub progress: &'a mut (dyn FnMut(Progress<'_>) + Send),
    /// Set by somebody who wants it to stop.
    pub stop: &'a AtomicBool,
}

/// What happens.
pub enum Progress<'a> {
    /// A family begins.
    Family(&'static Family),
    /// Something was asked.
    Asked {
        /// So many requests by now.
        requests: u32,
        /// The one that was answered last.
        url: &'a str,
    },
    /// A whole list is walked through.
    Walked {
        /// So many of its records by now.
        records: u64,
    },
    /// Something is wrong.
    Found(&'a Finding),
}
