//! In: the parsed command line.
//! Out: one file per command: read, analyse, render, and the exit status.
//! Always: commands hold no analysis of their own.

mod check;
mod classify;
mod compactions;
mod completions;
mod explain;
mod export;
mod failures;
mod policy;
mod request;
mod scan;
mod verify;
mod what_if;

use anyhow::Result;

use crate::cli::args::{Cli, Command};
use crate::cli::exit::Exit;
use crate::cli::plan::Plan;
use crate::message::Message;
use crate::notice::{NO_MATCH, Notice};
use crate::pipeline::Dataset;
use crate::redact::redact;
use crate::report::lang::Language;

/// Runs the command.
///
/// # Errors
/// When the arguments cannot be resolved or the output cannot be written.
pub fn run(cli: &Cli) -> Result<Exit> {
    match &cli.command {
        Command::Scan(args) => scan::run(args),
        Command::Failures(args) => failures::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Compactions(args) => compactions::run(args),
        Command::Export(args) => export::run(args),
        Command::Check(args) => check::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Request(args) => request::run(args),
        Command::Classify(args) => classify::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => completions::man(args),
        Command::Policy(command) => policy::run(command),
    }
}

/// Whether there is anything to report on; otherwise says on standard error what is missing, and how to go on.
fn nothing_read(dataset: &Dataset, plan: &Plan) -> Option<Exit> {
    if dataset.inputs.archives > 0 || !dataset.sessions.is_empty() {
        return None;
    }
    say(&dataset.notices, plan.language);
    if !plan.quiet {
        eprintln!("dsh-forensics: {}", plan.language.say("errors.no-log"));
    }
    Some(if dataset.inputs.unreadable_archives > 0 { Exit::Partial } else { Exit::NoInput })
}

/// Why the filters leave nothing, where they do.
fn nothing_matches(dataset: &Dataset) -> Option<&Message> {
    dataset.notices.iter().find(|notice| notice.kind == NO_MATCH).map(|notice| &notice.message)
}

/// Says on standard error why the filters leave nothing, for formats and pages that do not say it themselves.
fn say_what_matches_nothing(dataset: &Dataset, plan: &Plan) {
    if let Some(why) = nothing_matches(dataset).filter(|_| !plan.quiet) {
        eprintln!("dsh-forensics: {NO_MATCH}: {}", redact(&plan.language.render(why)));
    }
}

/// Notices on standard error.
fn say(notices: &[Notice], language: Language) {
    for notice in notices {
        eprintln!("dsh-forensics: {}: {}", notice.kind, redact(&language.render(&notice.message)));
    }
}

/// Exit status of a command without a gate. An input that does not exist beside others that do makes the run partial.
fn finished(dataset: &Dataset) -> Exit {
    let missing = dataset.notices.iter().any(|n| n.kind == "unreadable-input");
    if dataset.is_partial() || missing { Exit::Partial } else { Exit::Clean }
}
