//! Parquet with zstd: `TABLE/project=NAME/day=DATE/part-NNNNN.parquet`. Every batch of rows is a file of its own, so that
//! nothing is held back in memory and no file stays open.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use jiff::tz::TimeZone;
use polars::prelude::{DataFrame, ParquetCompression, ParquetWriter};

use super::error::ExportError;
use super::partition::{by_day, directory};
use super::target::Target;
use super::{TableWriter, Written};

pub(super) struct ParquetTables<'t> {
    target: &'t Target,
    zone: TimeZone,
    tables: Vec<(&'static str, DataFrame)>,
    parts: BTreeMap<&'static str, u64>,
    written: Vec<Written>,
}

impl<'t> ParquetTables<'t> {
    /// `zone` decides where a day begins.
    pub(super) fn new(target: &'t Target, zone: TimeZone) -> Self {
        Self { target, zone, tables: Vec::new(), parts: BTreeMap::new(), written: Vec::new() }
    }

    fn part(
        &mut self,
        table: &'static str,
        project: Option<&str>,
        day: Option<&str>,
        mut rows: DataFrame,
    ) -> Result<(), ExportError> {
        // Numbered over the whole table: two projects whose names differ only in case share a directory on some systems.
        let next = self.parts.entry(table).or_default();
        let number = *next;
        *next += 1;
        let (project, day) = (directory("project", project), directory("day", day));
        let path = format!("{table}/{project}/{day}/part-{number:05}.parquet");
        let mut file = BufWriter::new(self.target.create(&path)?);
        // One thread: the parts are small, and the bytes then do not depend on how the columns are shared out.
        let bytes = ParquetWriter::new(&mut file)
            .with_compression(ParquetCompression::Zstd(None))
            .set_parallel(false)
            .finish(&mut rows)
            .map_err(|error| ExportError::write(&self.target.path(&path), &error))?;
        file.flush().map_err(|error| ExportError::write(&self.target.path(&path), &error))?;
        self.written.push(Written { path, table, rows: rows.height() as u64, bytes });
        Ok(())
    }
}

impl TableWriter for ParquetTables<'_> {
    fn begin(&mut self, table: &'static str, schema: DataFrame) -> Result<(), ExportError> {
        self.tables.push((table, schema));
        Ok(())
    }

    fn write(&mut self, table: &'static str, project: Option<&str>, rows: DataFrame) -> Result<(), ExportError> {
        let days = by_day(table, rows, &self.zone).map_err(|error| ExportError::table(table, &error))?;
        for (day, rows) in days {
            self.part(table, project, day.as_deref(), rows)?;
        }
        Ok(())
    }

    /// A table without rows still has a file, so that a query over it finds its columns.
    fn finish(mut self: Box<Self>) -> Result<Vec<Written>, ExportError> {
        for (table, schema) in std::mem::take(&mut self.tables) {
            if !self.parts.contains_key(table) {
                self.part(table, None, None, schema)?;
            }
        }
        Ok(self.written)
    }
}
