//! Where finished text goes. A closed pipe is no error: the reader has seen enough.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Result, bail};

use super::plan::Plan;
use crate::message;
use crate::report::lang::Said;

/// Writes the finished text to the file of `-o`, or to standard output.
///
/// # Errors
/// When the file or standard output cannot be written (other than by a closed pipe).
pub fn emit(text: &str, plan: &Plan) -> Result<()> {
    emit_to(text.as_bytes(), plan.output.as_deref())
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
