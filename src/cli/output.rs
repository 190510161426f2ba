//! Where finished text goes. A closed pipe is no error: the reader has seen enough.

use std::fs;
use std::io::{self, Write};

use anyhow::{Context, Result};

use super::plan::Plan;

/// Writes the finished text to the file of `-o`, or to standard output.
///
/// # Errors
/// When the file or standard output cannot be written (other than by a closed pipe).
pub fn emit(text: &str, plan: &Plan) -> Result<()> {
    if let Some(path) = &plan.output {
        return fs::write(path, text).with_context(|| format!("cannot write {}", path.display()));
    }
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}
