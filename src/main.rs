//! The program: parse, run, exit.

use std::process::ExitCode;

use clap::Parser;
use dsh_forensics::cli::args::Cli;
use dsh_forensics::cli::exit::Exit;
use dsh_forensics::redact::redact;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match dsh_forensics::commands::run(&cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("dsh-forensics: {}", redact(&cli.command.language().explain(&error)));
            Exit::Usage.into()
        }
    }
}
