//! In: the rows of all sessions, their archives for a second reading, and an empty directory.
//! Out: the tables of `docs/tables.md` as files in that directory, and a `manifest.json` that lists them.
//! Always: nothing is written outside the directory; the same input gives the same bytes on any number of threads.

mod cells;
mod csv;
mod error;
mod event_frame;
mod event_line;
mod events;
mod findings;
mod manifest;
mod ndjson;
mod parquet;
mod partition;
mod run;
mod target;
#[cfg(test)]
mod tests;
mod verdicts;

pub use error::ExportError;
pub use manifest::{ManifestV1, TableV1};
pub use run::{EXPORT_TABLES, Export, export};
pub use target::Target;

use polars::prelude::DataFrame;

/// What a table is written as; one file of this folder each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Parquet with zstd, one directory per project and day
    Parquet,
    /// Comma-separated values (RFC 4180), one file per table
    Csv,
    /// One JSON object per line, one file per table
    Ndjson,
}

impl Format {
    /// The name used in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Ndjson => "ndjson",
        }
    }
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Written {
    /// Path inside the directory, with `/`.
    path: String,
    /// Table it belongs to.
    table: &'static str,
    /// Rows in it.
    rows: u64,
    /// Its size, bytes.
    bytes: u64,
}

/// Writes tables piece by piece.
trait TableWriter {
    /// Makes a table known; `schema` is a frame of its columns without rows.
    fn begin(&mut self, table: &'static str, schema: DataFrame) -> Result<(), ExportError>;

    /// Adds rows of one project.
    fn write(&mut self, table: &'static str, project: Option<&str>, rows: DataFrame) -> Result<(), ExportError>;

    /// Ends all tables; the files in the order of their tables.
    fn finish(self: Box<Self>) -> Result<Vec<Written>, ExportError>;
}
