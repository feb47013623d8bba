//! `cargo xtask bench sql`: catalogues in PostgreSQL and MariaDB published,
//! changed in part and published again, beside a plain select of the same rows
//! by the servers' own clients.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use testserver::{MariaDb, Server};

use super::process::{Taken, measure};
use super::report::{Report, Row, grouped};
use crate::install;
use crate::number;
use crate::server::Repository;
use crate::workspace::{Scratch, free_port, release_binary};

/// What the command line asked for.
pub(super) struct Options {
    records: u64,
}

impl Options {
    /// # Errors
    /// When an argument is unknown or has no value.
    pub(super) fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self { records: 100_000 };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--records" => options.records = number(argument, rest.next())?,
                other => bail!("bench sql does not take `{other}`. Try: cargo xtask --help"),
            }
        }
        if options.records < CHANGED_STEP {
            bail!("--records {}: at least {CHANGED_STEP}", options.records);
        }
        Ok(options)
    }
}

const POSTGRESQL: &str = "PostgreSQL";
const MARIADB: &str = "MariaDB";
const DATABASES: [&str; 2] = [POSTGRESQL, MARIADB];
/// Of so many records one is changed.
const CHANGED_STEP: u64 = 100;
const MEGABYTE: f64 = 1e6;

const BOOKS: &str = "select id, title, description, lang, changed_at, withdrawn from book";
const AUTHORS: &str = "select book, name, place from author";

/// Books of about half a kilobyte, with one and a half authors each.
const FILL: &str = "
create table book (id int primary key, title varchar(200), description text, lang varchar(3),
    changed_at timestamp NULL, withdrawn int);
insert into book select i, concat('On the survey of the river lands, part ', i), concat('Volume ', i,
    repeat(' of the collected papers of the society, with maps, tables and an index of places.', 5)),
    'eng', '2026-01-01 00:00:00', 0 from @numbers n;
create table author (book int, name varchar(100), place int);
insert into author select i, concat('Surveyor, A. ', i % 5000), 1 from @numbers n;
insert into author select i, concat('Printer, B. ', i % 300), 2 from @numbers n where i % 2 = 0;
";

/// The whole measurement.
///
/// # Errors
/// When something cannot be measured, or other records changed than should.
pub(super) fn run(options: &Options) -> Result<()> {
    install::for_sql_bench()?;
    let binary = release_binary()?;
    let scratch = Scratch::new("bench-sql")?;
    let postgres = Server::start_durable().context("PostgreSQL cannot be started")?;
    let numbers = format!("generate_series(1, {}) as n(i)", options.records);
    postgres
        .run(&FILL.replace("@numbers n", &numbers))
        .context("filling PostgreSQL")?;
    postgres.run("analyze")?;
    let of_postgres = Subject {
        address: postgres.url(),
        select: &|sql| {
            let mut client = postgres.client();
            // Row by row, as the other client does.
            client.args(["-A", "-t", "-v", "FETCH_COUNT=1000", "-c", sql]);
            client
        },
        change: &|sql| Ok(postgres.run(sql)?),
    }
    .measure(&binary, &scratch.path().join(POSTGRESQL), options)?;
    drop(postgres);
    let mariadb = MariaDb::start().context("MariaDB cannot be started")?;
    let numbers = format!("(select seq as i from seq_1_to_{}) n", options.records);
    mariadb
        .run(&FILL.replace("@numbers n", &numbers))
        .context("filling MariaDB")?;
    mariadb.run("analyze table book, author")?;
    let of_mariadb = Subject {
        address: mariadb.url(),
        select: &|sql| {
            let mut client = mariadb.client("stook");
            client.args(["--quick", "--batch", "--execute", sql]);
            client
        },
        change: &|sql| Ok(mariadb.run(sql)?),
    }
    .measure(&binary, &scratch.path().join(MARIADB), options)?;
    report(options, &[of_postgres, of_mariadb]).publish("sql")
}

/// A catalogue that is measured.
struct Subject<'a> {
    address: String,
    /// The server's own client with a query.
    select: &'a dyn Fn(&str) -> Command,
    change: &'a dyn Fn(&str) -> Result<()>,
}

/// What was measured of one database.
struct Figures {
    select: Duration,
    first: Taken,
    nothing: Taken,
    changed: Taken,
    all: Taken,
}

impl Subject<'_> {
    fn measure(&self, binary: &Path, folder: &Path, options: &Options) -> Result<Figures> {
        println!("{}", self.address);
        let repository = Repository::init(binary, folder, free_port()?)?;
        let log = folder.join("measured.log");
        let mut select = Duration::ZERO;
        for query in [BOOKS, AUTHORS] {
            select += measure(&mut (self.select)(query), &log)?.time;
        }
        let definition = folder.join("catalogue.toml");
        let text = format!(
            "database = {:?}\nquery = {BOOKS:?}\nid = \"id\"\nchanged = \"changed_at\"\ndeleted = \"withdrawn\"\n\
             [columns]\nlang = \"language\"\n[[values]]\nquery = {AUTHORS:?}\nid = \"book\"\norder = \"place\"\n\
             [values.columns]\nname = \"creator\"\n",
            self.address
        );
        fs::write(&definition, text).context("writing the definition")?;
        let import = |more: &[&str], wanted: &str| -> Result<Taken> {
            let mut command = repository.stook();
            let taken = measure(command.args(["import", "--sql"]).arg(&definition).args(more), &log)?;
            if !taken.output.contains(wanted) {
                bail!("expected {wanted:?}, but it said:\n{}", taken.output);
            }
            Ok(taken)
        };
        let records = grouped(options.records);
        let first = import(&[], &format!("{records} new"))?;
        let (changed, last) = (options.records / CHANGED_STEP, options.records);
        // So that not everything is as new as the newest.
        (self.change)(&format!(
            "update book set changed_at = '2026-01-02 00:00:00' where id = {last}"
        ))?;
        import(&[], &format!("{records} unchanged"))?;
        let nothing = import(&[], "1 unchanged")?;
        (self.change)(&format!(
            "update book set title = concat(title, ', revised'), changed_at = '2026-01-03 00:00:00' \
             where id % {CHANGED_STEP} = 1"
        ))?;
        let expected = options.records.div_ceil(CHANGED_STEP).max(changed);
        let changed = import(&[], &format!("{} changed", grouped(expected)))?;
        let all = import(&["--all"], &format!("{records} unchanged"))?;
        Ok(Figures {
            select,
            first,
            nothing,
            changed,
            all,
        })
    }
}

fn report(options: &Options, figures: &[Figures; 2]) -> Report {
    let mut report = Report {
        title: format!("Catalogues of {} records in databases", options.records),
        programs: &DATABASES,
        notes: vec![
            "One machine for stook, the database server and its client. Records have half a kilobyte in six columns, and \
             one and a half rows of authors each; the store is a file."
                .to_owned(),
            "The plain select writes the same rows of both queries to a file, by psql and mariadb.".to_owned(),
            format!("One record of {CHANGED_STEP} was changed; exactly so many have new datestamps."),
        ],
        rows: Vec::new(),
    };
    let records = options.records as f64;
    let rate = |time: Duration| records / time.as_secs_f64();
    let mut push = |what: &str, unit: &'static str, figure: &dyn Fn(&Figures) -> f64| {
        let row = DATABASES
            .into_iter()
            .zip(figures)
            .fold(Row::new(what, unit), |row, (name, figures)| {
                row.figure(name, figure(figures))
            });
        report.push(row);
    };
    push("plain select", "records/s", &|it| rate(it.select));
    push("first import", "records/s", &|it| rate(it.first.time));
    push("everything again, nothing changed", "records/s", &|it| {
        rate(it.all.time)
    });
    push("what changed: one in 100", "s", &|it| it.changed.time.as_secs_f64());
    push("what changed: nothing", "s", &|it| it.nothing.time.as_secs_f64());
    push("first import: peak memory", "MB", &|it| {
        it.first.peak_memory as f64 / MEGABYTE
    });
    report
}
