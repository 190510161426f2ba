//! The program: parse, run, exit.

use std::process::ExitCode;

use dsh_forensics::cli::exit::Exit;
use dsh_forensics::cli::help;
use dsh_forensics::redact::redact;

fn main() -> ExitCode {
    let cli = match help::parse() {
        Ok(cli) => cli,
        Err(exit) => return exit,
    };
    match dsh_forensics::commands::run(&cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("dsh-forensics: {}", redact(&cli.command.language().explain(&error)));
            Exit::Usage.into()
        }
    }
}
