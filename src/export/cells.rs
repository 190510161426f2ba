//! The cells of a frame, row by row, for formats that are written as text.

use polars::prelude::{
    BooleanChunked, DataFrame, DataType, Float64Chunked, Int64Chunked, PolarsResult, StringChunked, UInt32Chunked,
    UInt64Chunked,
};
use serde_json::Value;

/// A column of a known type.
pub(super) enum Cells<'f> {
    Bool(&'f BooleanChunked),
    U32(&'f UInt32Chunked),
    U64(&'f UInt64Chunked),
    I64(&'f Int64Chunked),
    F64(&'f Float64Chunked),
    Text(&'f StringChunked),
}

impl<'f> Cells<'f> {
    /// All columns of a frame with their names.
    pub(super) fn of(frame: &'f DataFrame) -> PolarsResult<Vec<(&'f str, Self)>> {
        let typed = frame.columns().iter().map(|column| {
            let cells = match column.dtype() {
                DataType::Boolean => Self::Bool(column.bool()?),
                DataType::UInt32 => Self::U32(column.u32()?),
                DataType::UInt64 => Self::U64(column.u64()?),
                DataType::Int64 => Self::I64(column.i64()?),
                DataType::Float64 => Self::F64(column.f64()?),
                _ => Self::Text(column.str()?),
            };
            Ok((column.name().as_str(), cells))
        });
        typed.collect()
    }

    /// The cell of a row as JSON: unknown is null.
    pub(super) fn json(&self, row: usize) -> Value {
        match self {
            Self::Bool(cells) => cells.get(row).map_or(Value::Null, Value::from),
            Self::U32(cells) => cells.get(row).map_or(Value::Null, Value::from),
            Self::U64(cells) => cells.get(row).map_or(Value::Null, Value::from),
            Self::I64(cells) => cells.get(row).map_or(Value::Null, Value::from),
            Self::F64(cells) => cells.get(row).map_or(Value::Null, Value::from),
            Self::Text(cells) => cells.get(row).map_or(Value::Null, Value::from),
        }
    }

    /// The cell of a row as text: unknown is empty.
    pub(super) fn text(&self, row: usize) -> String {
        match self {
            Self::Text(cells) => cells.get(row).unwrap_or_default().to_owned(),
            other => match other.json(row) {
                Value::Null => String::new(),
                value => value.to_string(),
            },
        }
    }
}

/// Name of a column's type, as `docs/tables.md` has it.
pub(super) fn type_name(dtype: &DataType) -> &'static str {
    match dtype {
        DataType::Boolean => "bool",
        DataType::UInt32 => "u32",
        DataType::UInt64 => "u64",
        DataType::Int64 => "i64",
        DataType::Float64 => "f64",
        _ => "text",
    }
}
