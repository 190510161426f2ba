//! Comma-separated values by RFC 4180: CRLF, a header line, quotes where needed. An empty cell is unknown.

use std::fs::File;
use std::io::{BufWriter, Write};

use polars::prelude::DataFrame;

use super::cells::Cells;
use super::error::ExportError;
use super::target::Target;
use super::{TableWriter, Written};

/// UTF-8 byte order mark, by which spreadsheets know the encoding.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

pub(super) struct CsvTables<'t> {
    target: &'t Target,
    byte_order_mark: bool,
    open: Vec<(&'static str, csv::Writer<BufWriter<File>>, u64)>,
}

impl<'t> CsvTables<'t> {
    pub(super) fn new(target: &'t Target, byte_order_mark: bool) -> Self {
        Self { target, byte_order_mark, open: Vec::new() }
    }
}

impl TableWriter for CsvTables<'_> {
    fn begin(&mut self, table: &'static str, schema: DataFrame) -> Result<(), ExportError> {
        let path = format!("{table}.csv");
        let failed = |error: &dyn std::fmt::Display| ExportError::write(&self.target.path(&path), error);
        let mut file = BufWriter::new(self.target.create(&path)?);
        if self.byte_order_mark {
            file.write_all(BYTE_ORDER_MARK).map_err(|error| failed(&error))?;
        }
        let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(file);
        let names = schema.get_column_names();
        writer.write_record(names.iter().map(|name| name.as_str())).map_err(|error| failed(&error))?;
        self.open.push((table, writer, 0));
        Ok(())
    }

    fn write(&mut self, table: &'static str, _: Option<&str>, rows: DataFrame) -> Result<(), ExportError> {
        let cells = Cells::of(&rows).map_err(|error| ExportError::table(table, &error))?;
        let Some((_, writer, count)) = self.open.iter_mut().find(|open| open.0 == table) else { return Ok(()) };
        for row in 0..rows.height() {
            writer
                .write_record(cells.iter().map(|(_, cells)| cells.text(row)))
                .map_err(|error| ExportError::write(&self.target.path(&format!("{table}.csv")), &error))?;
        }
        *count += rows.height() as u64;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<Written>, ExportError> {
        let mut written = Vec::new();
        for (table, mut writer, rows) in self.open {
            let path = format!("{table}.csv");
            let size = writer.flush().and_then(|()| writer.get_ref().get_ref().metadata());
            let bytes = size.map_err(|error| ExportError::write(&self.target.path(&path), &error))?.len();
            written.push(Written { path, table, rows, bytes });
        }
        Ok(written)
    }
}
