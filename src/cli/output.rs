//! Where finished text goes. A closed pipe is no error: the reader has seen enough.

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use super::args::OutputArgs;
use super::plan::Plan;
use crate::message;
use crate::report::lang::Said;

/// Writes the finished text to the file of `-o`, or to standard output.
///
/// # Errors
/// When the file or standard output cannot be written (other than by a closed pipe).
pub fn emit(text: &str, plan: &Plan) -> Result<()> {
    emit_paged(text, plan.output.as_deref(), plan.pager)
}

/// [`emit`] for commands that read no logs and have no plan.
///
/// # Errors
/// As [`emit`].
pub fn emit_for(text: &str, output: &OutputArgs) -> Result<()> {
    emit_paged(text, output.output.as_deref(), output.pager)
}

fn emit_paged(text: &str, file: Option<&Path>, pager: bool) -> Result<()> {
    if pager && file.is_none() && io::stdout().is_terminal() {
        let wanted = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
        if page_through(text, wanted.as_deref().unwrap_or("less -R")) {
            return Ok(());
        }
    }
    emit_to(text.as_bytes(), file)
}

/// Hands the text to a pager and waits for its end; `false` where it cannot be started. One that quits early has shown
/// enough.
fn page_through(text: &str, pager: &str) -> bool {
    let mut words = pager.split_whitespace();
    let Some(program) = words.next() else { return false };
    let Ok(mut child) = Command::new(program).args(words).stdin(Stdio::piped()).spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A pager that was left closes the pipe: no error.
        let _ = input.write_all(text.as_bytes());
    }
    // How it ended does not matter: the reader has seen what there was to see.
    let _ = child.wait();
    true
}

/// Whether the file holds what must never be lost: a stored session log, compressed or plain.
fn is_session_log(path: &Path) -> bool {
    let mut head = [0; 64];
    // A device or a pipe is no log, and reading it could block.
    if !path.is_file() {
        return false;
    }
    let Ok(read) = fs::File::open(path).and_then(|mut file| file.read(&mut head)) else { return false };
    let head = &head[..read];
    head.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) || head.starts_with(b"{\"type\":\"session\"")
}

/// Writes finished bytes to a file, or to standard output. An existing session log is never overwritten.
///
/// # Errors
/// As [`emit`].
pub fn emit_to(text: &[u8], file: Option<&Path>) -> Result<()> {
    if let Some(path) = file {
        if is_session_log(path) {
            bail!(Said(message!("errors.output-is-a-log", path = path.display())));
        }
        return fs::write(path, text)
            .map_err(|error| Said(message!("errors.cannot-write", path = path.display(), why = error)).into());
    }
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Said(message!("errors.no-standard-output", why = error)).into()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::page_through;

    #[test]
    fn a_pager_that_cannot_start_is_told_and_one_that_quits_early_is_not() {
        assert!(!page_through("text", "/no/such/pager -R"));
        assert!(!page_through("text", "  "));
        // Longer than a pipe holds: the rest cannot be written.
        assert!(page_through(&"line\n".repeat(100_000), "true"));
        assert!(page_through("text", "false"));
    }
}
