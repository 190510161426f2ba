//! `completions` and `man`: what is made out of the arguments themselves.

use std::fs;

use anyhow::Result;

use crate::cli::args::{CompletionsArgs, ManArgs};
use crate::cli::exit::Exit;
use crate::cli::help::command;
use crate::cli::output::emit_to;
use crate::message;
use crate::report::lang::Said;

const NAME: &str = "dsh-forensics";

pub(super) fn run(args: &CompletionsArgs) -> Result<Exit> {
    let mut script = Vec::new();
    // English where nothing else is asked for: scripts are installed for all users of a machine.
    let mut command = command(args.lang.unwrap_or_default(), usize::MAX);
    clap_complete::generate(args.shell, &mut command, NAME, &mut script);
    emit_to(&script, None)?;
    Ok(Exit::Clean)
}

/// One page for the program and one for each command, `dsh-forensics-scan.1` and so on.
pub(super) fn man(args: &ManArgs) -> Result<Exit> {
    let cannot =
        |error: std::io::Error| Said(message!("errors.cannot-write", path = args.output.display(), why = error));
    fs::create_dir_all(&args.output).map_err(cannot)?;
    let command = command(args.lang.unwrap_or_default(), usize::MAX);
    clap_mangen::generate_to(command.name(NAME), &args.output).map_err(cannot)?;
    Ok(Exit::Clean)
}
