//! `stook init`: a few questions, a commented configuration, an empty store.

use std::fs::{self, File};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use stook_oai::OaiNamespace;

use super::Ending;
use super::session::{Place, open_store};
use crate::config::{self, Config, GranularityName};

/// Set up a repository: asks what it needs and writes a commented stook.toml
#[derive(Args)]
#[command(after_help = "\
Examples:
  stook init
  stook init --dir /srv/oai --name \"Library of Lindenau\" --admin-email oai@lindenau.example \\
      --namespace lindenau.example --base-url https://lindenau.example/oai --yes")]
pub(super) struct Init {
    /// Folder for the configuration and the store, made if it is not there
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Name of the repository, for people
    #[arg(long)]
    name: Option<String>,
    /// Address of somebody responsible
    #[arg(long, value_name = "ADDRESS")]
    admin_email: Option<String>,
    /// Your domain name: local identifiers become oai:DOMAIN:IDENTIFIER
    #[arg(long, value_name = "DOMAIN")]
    namespace: Option<String>,
    /// The public URL harvesters will use; default: where `stook serve` listens
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Where `stook serve` listens
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    listen: String,
    /// How precise datestamps are
    #[arg(long, value_enum, default_value = "seconds")]
    granularity: GranularityName,
    /// Ask nothing; what is not given must have a default
    #[arg(short, long)]
    yes: bool,
}

impl Init {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let path = self.dir.join(place.config.file_name().unwrap_or("stook.toml".as_ref()));
        if path.exists() {
            bail!(
                "there is already a configuration at {}\nTry: edit it, or choose another folder with --dir",
                path.display()
            );
        }
        let asks = !self.yes && io::stdin().is_terminal();
        let questions = Questions { asks };
        let mut repository = config::Repository {
            granularity: self.granularity,
            ..config::Repository::default()
        };
        repository.repository_name = questions.answer(
            self.name,
            "--name",
            "Name of the repository",
            None,
            &|text| match text.trim().is_empty() {
                true => Err("it is empty; people will know the repository by it".to_owned()),
                false => Ok(()),
            },
        )?;
        let is_email = |text: &str| match stook_oai::admin_email_is_valid(text) {
            true => Ok(()),
            false => Err("it is not an e-mail address such as oai@example.org".to_owned()),
        };
        let email = questions.answer(
            self.admin_email,
            "--admin-email",
            "E-mail address of somebody responsible",
            None,
            &is_email,
        )?;
        let domain = email.split_once('@').map(|(_, domain)| domain.to_owned());
        repository.admin_emails = vec![email];
        let is_domain = |text: &str| OaiNamespace::parse(text).map(drop).map_err(|error| error.to_string());
        let what = "Your domain name (identifiers become oai:DOMAIN:…)";
        repository.namespace = questions.answer(self.namespace, "--namespace", what, domain, &is_domain)?;
        let local = format!("http://{}{}", self.listen, repository.path);
        let is_url = |text: &str| match text.starts_with("http://") || text.starts_with("https://") {
            true => Ok(()),
            false => Err("it does not begin with http:// or https://".to_owned()),
        };
        let what = "Public URL of the repository";
        repository.base_url = questions.answer(self.base_url, "--base-url", what, Some(local.clone()), &is_url)?;
        if repository.base_url == local {
            // Left empty it follows `listen`.
            repository.base_url.clear();
        }
        write(&path, &config::commented("stook.db", &self.listen, &repository))?;
        let config = Config::load(&path, None).inspect_err(|_| {
            let _ = fs::remove_file(&path);
        })?;
        open_store(&config)?.declare_repository(&repository.name)?;
        println!("Identifiers will be oai:{}:…", repository.namespace);
        report(&path);
        Ok(Ending::Fine)
    }
}

fn report(path: &Path) {
    let option = if path == Path::new("./stook.toml") || path == Path::new("stook.toml") {
        String::new()
    } else {
        format!(" -c {}", path.display())
    };
    println!("Wrote {}.\n\nNext:", path.display());
    println!("  stook{option} import FILE     publish records (CSV, JSON lines, XML; see stook import --help)");
    println!("  stook{option} serve           answer harvesters");
}

/// Never overwrites, even if the file has appeared since we looked.
fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).with_context(|| format!("making the folder {}", folder.display()))?;
    }
    let write = || -> io::Result<()> {
        let mut file = File::create_new(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().with_context(|| format!("writing {}", path.display()))
}

/// Why an answer will not do.
type Check<'c> = dyn Fn(&str) -> Result<(), String> + 'c;

struct Questions {
    asks: bool,
}

impl Questions {
    /// The answer given as an option, or asked for, or the default.
    fn answer(
        &self,
        given: Option<String>,
        option: &str,
        question: &str,
        default: Option<String>,
        check: &Check<'_>,
    ) -> Result<String> {
        if let Some(given) = given {
            if let Err(reason) = check(&given) {
                bail!("{option} {given:?} will not do: {reason}\nTry: stook init --help shows an example");
            }
            return Ok(given);
        }
        if self.asks {
            return ask(question, default.as_deref(), check);
        }
        match default.filter(|default| check(default).is_ok()) {
            Some(default) => Ok(default),
            None => bail!("{question} is not known\nTry: {option}"),
        }
    }
}

fn ask(question: &str, default: Option<&str>, check: &Check<'_>) -> Result<String> {
    loop {
        match default {
            Some(default) => print!("{question} [{default}]: "),
            None => print!("{question}: "),
        }
        io::stdout().flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            bail!("no answer to: {question}");
        }
        let answer = match (default, line.trim()) {
            (Some(default), "") => default,
            (_, line) => line,
        };
        match check(answer) {
            Ok(()) => return Ok(answer.to_owned()),
            Err(reason) => println!("That will not do: {reason}."),
        }
    }
}
