//! Where finished text goes. A closed pipe is no error: the reader has seen enough.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};

use super::plan::Plan;

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
        return fs::write(path, text).with_context(|| format!("cannot write {}", path.display()));
    }
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}
