//! What can go wrong with the directory that is written to.

use std::fmt;
use std::path::Path;

use crate::message;
use crate::message::Message;

/// Why an export stopped: a sentence that names the place, in no language yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportError(pub Message);

impl ExportError {
    /// A file or directory that cannot be written.
    pub(super) fn write(path: &Path, error: &dyn fmt::Display) -> Self {
        Self(message!("export.cannot-write", path = path.display(), error = error))
    }

    /// A table that cannot be built (a bug).
    pub(super) fn table(table: &str, error: &dyn fmt::Display) -> Self {
        Self(message!("export.cannot-build", table = table, error = error))
    }
}
