//! `completions` and `man`: what is made out of the arguments themselves.

use std::fs;

use anyhow::Result;
use clap::CommandFactory;

use crate::cli::args::{Cli, CompletionsArgs, ManArgs};
use crate::cli::exit::Exit;
use crate::cli::output::emit_to;
use crate::message;
use crate::report::lang::Said;

const NAME: &str = "dsh-forensics";

pub(super) fn run(args: &CompletionsArgs) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut script);
    emit_to(&script, None)?;
    Ok(Exit::Clean)
}

/// One page for the program and one for each command, `dsh-forensics-scan.1` and so on.
pub(super) fn man(args: &ManArgs) -> Result<Exit> {
    let cannot =
        |error: std::io::Error| Said(message!("errors.cannot-write", path = args.output.display(), why = error));
    fs::create_dir_all(&args.output).map_err(cannot)?;
    clap_mangen::generate_to(Cli::command().name(NAME), &args.output).map_err(cannot)?;
    Ok(Exit::Clean)
}
