//! Fills the directory, table by table, a batch of sessions at a time.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::tz::TimeZone;
use polars::prelude::{DataFrame, PolarsResult};

use super::cells::type_name;
use super::csv::CsvTables;
use super::error::ExportError;
use super::event_frame::{EventRow, event_frame};
use super::events::{Source, read_again};
use super::findings::FindingPlaces;
use super::manifest::{ColumnV1, ManifestV1, TableV1};
use super::ndjson::NdjsonTables;
use super::parquet::ParquetTables;
use super::target::Target;
use super::verdicts::verdict_frame;
use super::{Format, TableWriter};
use crate::archive::Limits;
use crate::discover::Archive;
use crate::evidence::Verdicts;
use crate::filter::Filters;
use crate::findings::Finding;
use crate::message;
use crate::notice::Notice;
use crate::pipeline::Dataset;
use crate::session::SessionRows;
use crate::tables::Tables;
use crate::tables::within::Within;

/// Every table that can be exported, in the order of `docs/tables.md`.
pub const EXPORT_TABLES: [&str; 10] =
    ["sessions", "turns", "steps", "attempts", "retries", "compactions", "prunes", "verdicts", "findings", "events"];

/// Rows in one batch: with the widest table some 30 MB as rows, as frame and while being compressed.
const BATCH_ROWS: usize = 65_536;

/// What to export, and how.
#[derive(Debug)]
pub struct Export<'a> {
    /// Sessions within the filters.
    pub dataset: &'a Dataset,
    /// Their archives, for the events table.
    pub archives: &'a [Archive],
    /// The filters that were applied.
    pub filters: &'a Filters,
    /// Names out of [`EXPORT_TABLES`], in that order.
    pub tables: &'a [&'static str],
    /// What the tables are written as.
    pub format: Format,
    /// A byte order mark before CSV.
    pub byte_order_mark: bool,
    /// Where the days of the partitions begin.
    pub zone: &'a TimeZone,
    /// Bounds of reading.
    pub limits: Limits,
    /// What the rules found; empty where the findings table is not wanted.
    pub findings: &'a [Finding],
    /// Threads that read.
    pub jobs: usize,
}

/// Writes the tables and the manifest.
///
/// # Errors
/// When a file cannot be written. The manifest then says that the export is not complete.
pub fn export(what: &Export<'_>, target: &Target) -> Result<ManifestV1, ExportError> {
    target.clear()?;
    let zone_name = what.zone.iana_name().unwrap_or("local");
    let mut manifest = ManifestV1::begin(what.format, zone_name, what.dataset, what.filters);
    manifest.write(target)?;
    let mut writer: Box<dyn TableWriter + '_> = match what.format {
        Format::Parquet => Box::new(ParquetTables::new(target, what.zone.clone())),
        Format::Csv => Box::new(CsvTables::new(target, what.byte_order_mark)),
        Format::Ndjson => Box::new(NdjsonTables::new(target)),
    };
    for (name, schema) in schemas(what.tables)? {
        let columns = schema.columns().iter();
        let columns = columns.map(|c| ColumnV1 { name: c.name().to_string(), r#type: type_name(c.dtype()) }).collect();
        manifest.tables.push(TableV1 { name, rows: 0, files: 0, bytes: 0, columns });
        writer.begin(name, schema)?;
    }
    write_rows(what, writer.as_mut())?;
    let mut notices = what.dataset.notices.clone();
    if what.tables.contains(&"events") {
        let changed = write_events(what, writer.as_mut())?;
        manifest.partial |= !changed.is_empty();
        notices.extend(changed);
    }
    manifest.enter(writer.finish()?);
    manifest.notices(&notices);
    manifest.complete = true;
    manifest.write(target)?;
    Ok(manifest)
}

/// Frames of every wanted table without rows.
fn schemas(wanted: &[&'static str]) -> Result<Vec<(&'static str, DataFrame)>, ExportError> {
    let tables = Tables::build(&[]).map_err(|error| ExportError::table("sessions", &error))?;
    let filters = Filters::default();
    let schema = |name: &str| -> PolarsResult<DataFrame> {
        match name {
            "events" => event_frame(&[]),
            "verdicts" => verdict_frame(&[], 0, &Verdicts::default(), &filters),
            "findings" => FindingPlaces::default().frame(&[]),
            name => Ok(tables.get(name).cloned().unwrap_or_default()),
        }
    };
    wanted.iter().map(|name| Ok((*name, schema(name).map_err(|e| ExportError::table(name, &e))?))).collect()
}

/// Runs of sessions of one project with about [`BATCH_ROWS`] rows; each with the index of its first session.
fn batches(sessions: &[SessionRows]) -> Vec<(usize, &[SessionRows])> {
    let rows = |s: &SessionRows| 1 + s.turns.len() + s.steps.len() + s.attempts.len() + s.retries.len();
    let mut batches = Vec::new();
    let (mut start, mut filled) = (0, 0);
    for (index, session) in sessions.iter().enumerate() {
        if index > start && (filled + rows(session) > BATCH_ROWS || session.project != sessions[start].project) {
            batches.push((start, &sessions[start..index]));
            (start, filled) = (index, 0);
        }
        filled += rows(session);
    }
    if start < sessions.len() {
        batches.push((start, &sessions[start..]));
    }
    batches
}

fn write_rows(what: &Export<'_>, writer: &mut dyn TableWriter) -> Result<(), ExportError> {
    let verdicts =
        if what.tables.contains(&"verdicts") { Verdicts::of(&what.dataset.sessions) } else { Verdicts::default() };
    let places = FindingPlaces::of(what.findings);
    for (first, sessions) in batches(&what.dataset.sessions) {
        let project = sessions.first().and_then(|session| session.project.as_deref());
        let tables =
            Tables::build_within(sessions, what.filters).map_err(|error| ExportError::table("attempts", &error))?;
        for name in what.tables {
            let rows = match *name {
                "events" => continue,
                "verdicts" => verdict_frame(sessions, first, &verdicts, what.filters)
                    .map_err(|error| ExportError::table(name, &error))?,
                "findings" => places.frame(sessions).map_err(|error| ExportError::table(name, &error))?,
                name => tables.get(name).cloned().unwrap_or_default(),
            };
            if rows.height() > 0 {
                writer.write(name, project, rows)?;
            }
        }
    }
    Ok(())
}

/// Writes the events table; notices about logs that changed between the two readings.
fn write_events(what: &Export<'_>, writer: &mut dyn TableWriter) -> Result<Vec<Notice>, ExportError> {
    let by_path: HashMap<&str, &Archive> =
        what.archives.iter().rev().map(|archive| (archive.display.as_str(), archive)).collect();
    let sessions: Vec<(&SessionRows, Source<'_>)> = what
        .dataset
        .sessions
        .iter()
        .filter_map(|session| {
            let archive = *by_path.get(session.path.as_str())?;
            Some((session, Source { archive, inherited: session.inherited_events, events: session.events }))
        })
        .collect();
    let (sessions, sources): (Vec<&SessionRows>, Vec<Source<'_>>) = sessions.into_iter().unzip();
    let ids: Vec<Arc<str>> = sessions.iter().map(|session| session.id.as_str().into()).collect();
    let within = Within::new(what.filters);
    let mut pending = Pending { project: None, rows: Vec::new() };
    let found = read_again(&sources, what.limits, what.jobs, &mut |index, rows| {
        let project = sessions[index].project.as_deref();
        if pending.project != project || pending.rows.len() + rows.len() > BATCH_ROWS {
            pending.write(writer)?;
        }
        pending.project = project;
        pending.rows.extend(rows.into_iter().filter(|e| within.time(e.time)).map(|e| (Arc::clone(&ids[index]), e)));
        Ok(())
    })?;
    pending.write(writer)?;
    let changed = sessions.iter().zip(found).filter(|(session, found)| session.events != *found);
    Ok(changed
        .map(|(session, found)| {
            let what = message!("export.changed", events = session.events, found = found);
            Notice::at("changed-while-read", &session.path, what)
        })
        .collect())
}

/// Event rows of one project that are still to be written.
struct Pending<'a> {
    project: Option<&'a str>,
    rows: Vec<(Arc<str>, EventRow)>,
}

impl Pending<'_> {
    fn write(&mut self, writer: &mut dyn TableWriter) -> Result<(), ExportError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = event_frame(&self.rows).map_err(|error| ExportError::table("events", &error))?;
        self.rows.clear();
        writer.write("events", self.project, rows)
    }
}
