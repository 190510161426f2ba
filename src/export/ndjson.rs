//! One JSON object per line with every column of the table; unknown is null.

use std::fs::File;
use std::io::{BufWriter, Write};

use polars::prelude::DataFrame;
use serde::ser::{SerializeMap, Serializer};

use super::cells::Cells;
use super::error::ExportError;
use super::target::Target;
use super::{TableWriter, Written};

pub(super) struct NdjsonTables<'t> {
    target: &'t Target,
    open: Vec<(&'static str, BufWriter<File>, u64)>,
}

impl<'t> NdjsonTables<'t> {
    pub(super) fn new(target: &'t Target) -> Self {
        Self { target, open: Vec::new() }
    }
}

fn write_row(out: &mut BufWriter<File>, cells: &[(&str, Cells<'_>)], row: usize) -> std::io::Result<()> {
    let mut json = serde_json::Serializer::new(&mut *out);
    let mut object = json.serialize_map(Some(cells.len()))?;
    for (name, cells) in cells {
        object.serialize_entry(name, &cells.json(row))?;
    }
    SerializeMap::end(object)?;
    out.write_all(b"\n")
}

impl TableWriter for NdjsonTables<'_> {
    fn begin(&mut self, table: &'static str, _: DataFrame) -> Result<(), ExportError> {
        let file = self.target.create(&format!("{table}.ndjson"))?;
        self.open.push((table, BufWriter::new(file), 0));
        Ok(())
    }

    fn write(&mut self, table: &'static str, _: Option<&str>, rows: DataFrame) -> Result<(), ExportError> {
        let cells = Cells::of(&rows).map_err(|error| ExportError::table(table, &error))?;
        let Some((_, out, count)) = self.open.iter_mut().find(|open| open.0 == table) else { return Ok(()) };
        for row in 0..rows.height() {
            write_row(out, &cells, row)
                .map_err(|error| ExportError::write(&self.target.path(&format!("{table}.ndjson")), &error))?;
        }
        *count += rows.height() as u64;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<Written>, ExportError> {
        let mut written = Vec::new();
        for (table, mut out, rows) in self.open {
            let path = format!("{table}.ndjson");
            let size = out.flush().and_then(|()| out.get_ref().metadata());
            let bytes = size.map_err(|error| ExportError::write(&self.target.path(&path), &error))?.len();
            written.push(Written { path, table, rows, bytes });
        }
        Ok(written)
    }
}
