//! The command line: one file per subcommand, each a struct of its arguments and a `run`.
//!
//! Exit codes: 0 all is well, 1 done with findings (something quarantined, a check that failed) or stopped by Ctrl-C, 2 could
//! not run or failed on the way.

mod backup;
mod check;
mod copy;
mod delete;
mod demo;
mod docs;
mod export;
mod format;
mod harvest;
mod import;
mod init;
mod man;
mod marc;
mod migrate;
mod output;
mod progress;
mod quality;
mod quarantine;
mod restore;
mod serve;
mod session;
mod set;
mod source;
mod status;
mod stop;
mod stream;
mod validate;

use std::process::ExitCode;

use anyhow::{Error, Result};
use clap::{CommandFactory, Parser, Subcommand};
use stook_store::StoreError;

use session::Place;

/// Share metadata over OAI-PMH.
#[derive(Parser)]
#[command(
    name = "stook",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "\
A repository in three commands:
  stook init                     asks a few questions and writes stook.toml
  stook import records.csv       publishes what is in the file
  stook serve                    answers harvesters

Just looking? `stook demo` serves a small repository of sample records.
Each command explains itself: stook COMMAND --help"
)]
struct Cli {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Init),
    Import(Box<import::Import>),
    Harvest(Box<harvest::Harvest>),
    #[command(subcommand)]
    Source(source::SourceCommand),
    Serve(serve::Serve),
    Status(status::Status),
    Export(export::Export),
    Delete(delete::Delete),
    Restore(restore::Restore),
    #[command(subcommand)]
    Set(set::SetCommand),
    #[command(subcommand)]
    Format(format::FormatCommand),
    Quality(quality::Quality),
    Validate(Box<validate::Validate>),
    Quarantine(quarantine::Quarantine),
    Backup(backup::Backup),
    Copy(copy::Copy),
    Check(check::Check),
    Migrate(migrate::Migrate),
    Demo(demo::Demo),
    #[command(hide = true)]
    Docs(docs::Docs),
    Completions(man::Completions),
    Man(man::Man),
}

/// How a command ended.
enum Ending {
    /// All is well.
    Fine,
    /// Done, but somebody should look.
    Findings,
    /// What was to be done could not be; the command has said why.
    CouldNot,
}

/// Runs the program with the arguments of the process.
pub fn run() -> ExitCode {
    end_quietly_when_nobody_reads();
    let ended = dispatch(Cli::parse());
    // A command that was stopped may have left threads in the middle of their work.
    crate::crosswalk::xslt::leave_nothing_behind();
    match ended {
        Ok(Ending::Fine) => ExitCode::SUCCESS,
        Ok(Ending::Findings) => ExitCode::from(1),
        Ok(Ending::CouldNot) => ExitCode::from(2),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stook: {}", in_words(&error));
            ExitCode::from(2)
        }
    }
}

fn dispatch(cli: Cli) -> Result<Ending> {
    let place = cli.place;
    match cli.command {
        Command::Init(command) => command.run(&place),
        Command::Import(command) => command.run(&place),
        Command::Harvest(command) => command.run(&place),
        Command::Source(command) => command.run(&place),
        Command::Serve(command) => command.run(&place),
        Command::Status(command) => command.run(&place),
        Command::Export(command) => command.run(&place),
        Command::Delete(command) => command.run(&place),
        Command::Restore(command) => command.run(&place),
        Command::Set(command) => command.run(&place),
        Command::Format(command) => command.run(&place),
        Command::Quality(command) => command.run(&place),
        Command::Validate(command) => command.run(&place),
        Command::Quarantine(command) => command.run(&place),
        Command::Backup(command) => command.run(&place),
        Command::Copy(command) => command.run(),
        Command::Check(command) => command.run(&place),
        Command::Migrate(command) => command.run(&place),
        Command::Demo(command) => command.run(),
        Command::Docs(command) => command.run(),
        Command::Completions(command) => command.run(Cli::command()),
        Command::Man(command) => command.run(Cli::command()),
    }
}

/// The error and its causes, then what to try.
fn in_words(error: &Error) -> String {
    let mut text = String::new();
    let mut remedies = Vec::new();
    for cause in error.chain() {
        let cause_text = cause.to_string();
        // Libraries write both in one line.
        let halves = cause_text
            .split_once("\nTry: ")
            .or_else(|| cause_text.split_once(". Try: "));
        let (what, remedy) = halves.unwrap_or((&cause_text, ""));
        remedies.push(remedy.to_owned());
        if let Some(failure) = cause.downcast_ref::<StoreError>() {
            remedies.push(failure.hint().to_owned());
        }
        // A cause that its context already quotes need not be said twice.
        if !text.contains(what) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(what);
        }
    }
    for remedy in remedies.iter().filter(|remedy| !remedy.is_empty()) {
        text.push_str("\nTry: ");
        text.push_str(remedy);
    }
    text
}

/// A reader that has seen enough (`stook set list | head`) is no failure, but `println!` takes it for one and panics.
fn end_quietly_when_nobody_reads() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if message.contains("failed printing to stdout") && message.contains("Broken pipe") {
            crate::crosswalk::xslt::leave_nothing_behind();
            std::process::exit(0);
        }
        usual(panic);
    }));
}

fn is_broken_pipe(error: &Error) -> bool {
    error.chain().any(|cause| {
        cause.to_string().contains("Broken pipe")
            || cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_option_explains_itself() {
        fn walk(command: &clap::Command) {
            for sub in command.get_subcommands() {
                assert!(sub.get_about().is_some(), "{} has no description", sub.get_name());
                walk(sub);
            }
            for argument in command.get_arguments() {
                let name = argument.get_id();
                assert!(
                    argument.get_help().is_some(),
                    "{} {name} has no help",
                    command.get_name()
                );
            }
        }
        walk(&Cli::command());
    }

    #[test]
    fn an_error_ends_with_what_to_try() {
        let error = anyhow!("no such thing\nTry: another").context("opening x");
        assert_eq!(in_words(&error), "opening x: no such thing\nTry: another");
        let error = Error::from(StoreError::Busy);
        assert_eq!(
            in_words(&error),
            "the store is held by another program\nTry: wait for the other program, or stop it"
        );
    }
}
