//! `manifest.json`: what was exported, from which inputs (by hash, never by path), and what is missing. `docs/json.md`.

use std::io::Write;

use serde::Serialize;

use super::error::ExportError;
use super::target::Target;
use super::{Format, Written};
use crate::filter::Filters;
use crate::notice;
use crate::pipeline::Dataset;
use crate::redact::redact;
use crate::report::lang::Language;

/// Name of the file.
pub(super) const MANIFEST: &str = "manifest.json";
/// Name and version of its form.
pub(super) const SCHEMA: &str = "dsh-forensics/export/v1";

/// `manifest.json`. Frozen: fields may be added, none renamed or dropped.
#[derive(Debug, Serialize)]
pub struct ManifestV1 {
    schema: &'static str,
    tool_version: &'static str,
    /// Written as `false` first; `true` once every file is whole.
    pub(super) complete: bool,
    /// Some input is missing from the tables.
    pub partial: bool,
    format: &'static str,
    /// Zone in which the days of the partitions begin.
    day_zone: String,
    filters: FiltersV1,
    /// The tables in the order of `docs/tables.md`.
    pub tables: Vec<TableV1>,
    files: Vec<FileV1>,
    inputs: InputsV1,
    notices: Vec<NoticeV1>,
}

/// One table of the manifest.
#[derive(Debug, Clone, Serialize)]
pub struct TableV1 {
    /// Name.
    pub name: &'static str,
    /// Rows.
    pub rows: u64,
    /// Files it is in.
    pub files: u64,
    /// Size of these files, bytes.
    pub bytes: u64,
    /// Name and type of every column.
    pub(super) columns: Vec<ColumnV1>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct ColumnV1 {
    pub(super) name: String,
    pub(super) r#type: &'static str,
}

#[derive(Debug, Serialize)]
struct FileV1 {
    path: String,
    table: &'static str,
    rows: u64,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct FiltersV1 {
    since_ms: Option<i64>,
    until_ms: Option<i64>,
    sessions: Vec<String>,
    with_descendants: bool,
    providers: Vec<String>,
    models: Vec<String>,
    codes: Vec<String>,
    projects: Vec<String>,
}

#[derive(Debug, Serialize)]
struct InputsV1 {
    archives: u64,
    torn_archives: u64,
    unreadable_archives: u64,
    sessions: Vec<InputV1>,
}

#[derive(Debug, Serialize)]
struct InputV1 {
    session_id: String,
    format_version: Option<u32>,
    events: u64,
    sha256: Option<String>,
}

#[derive(Debug, Serialize)]
struct NoticeV1 {
    kind: &'static str,
    count: u64,
    message: String,
}

impl ManifestV1 {
    /// A manifest of files that are still to be written.
    pub(super) fn begin(format: Format, day_zone: &str, dataset: &Dataset, filters: &Filters) -> Self {
        let inputs = dataset.sessions.iter().map(|session| InputV1 {
            session_id: session.id.clone(),
            format_version: session.format_version,
            events: session.events,
            sha256: session.sha256.clone(),
        });
        Self {
            schema: SCHEMA,
            tool_version: env!("CARGO_PKG_VERSION"),
            complete: false,
            partial: dataset.is_partial(),
            format: format.name(),
            day_zone: day_zone.to_owned(),
            filters: FiltersV1 {
                since_ms: filters.since,
                until_ms: filters.until,
                sessions: filters.sessions.clone(),
                with_descendants: filters.with_descendants,
                providers: filters.providers.clone(),
                models: filters.models.clone(),
                codes: filters.codes.clone(),
                projects: filters.projects.clone(),
            },
            tables: Vec::new(),
            files: Vec::new(),
            inputs: InputsV1 {
                archives: dataset.inputs.archives,
                torn_archives: dataset.inputs.torn_archives,
                unreadable_archives: dataset.inputs.unreadable_archives,
                sessions: inputs.collect(),
            },
            notices: Vec::new(),
        }
    }

    /// Enters the files that were written.
    pub(super) fn enter(&mut self, files: Vec<Written>) {
        for table in &mut self.tables {
            for file in files.iter().filter(|file| file.table == table.name) {
                table.rows += file.rows;
                table.files += 1;
                table.bytes += file.bytes;
            }
        }
        let files = files.into_iter();
        self.files = files.map(|f| FileV1 { path: f.path, table: f.table, rows: f.rows, bytes: f.bytes }).collect();
    }

    /// Enters what a reader must know.
    pub(super) fn notices(&mut self, notices: &[notice::Notice]) {
        let groups = notice::group(notices).into_iter();
        self.notices = groups
            .map(|g| NoticeV1 {
                kind: g.kind,
                count: g.count,
                message: redact(&Language::English.render(&g.message)).into_owned(),
            })
            .collect();
    }

    /// Writes the file, in place of an earlier one.
    pub(super) fn write(&self, target: &Target) -> Result<(), ExportError> {
        let path = target.path(MANIFEST);
        let failed = |error: &dyn std::fmt::Display| ExportError::write(&path, error);
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| failed(&error))?;
        text.push(b'\n');
        if std::fs::symlink_metadata(&path).is_ok() {
            std::fs::remove_file(&path).map_err(|error| failed(&error))?;
        }
        target.create(MANIFEST)?.write_all(&text).map_err(|error| failed(&error))
    }
}
