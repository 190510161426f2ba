//! Where finished text goes. A closed pipe is no error: the reader has seen enough.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;

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

/// Writes finished bytes to a file, or to standard output.
///
/// # Errors
/// As [`emit`].
pub fn emit_to(text: &[u8], file: Option<&Path>) -> Result<()> {
    if let Some(path) = file {
        return fs::write(path, text)
            .map_err(|error| Said(message!("errors.cannot-write", path = path.display(), why = error)).into());
    }
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Said(message!("errors.no-standard-output", why = error)).into()),
    }
}
