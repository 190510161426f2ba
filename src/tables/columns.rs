//! Columns from typed rows; one place for polars' many conversions.

use polars::prelude::{Column, DataFrame, NamedFrom, PolarsResult, Series};

/// A column of one value per row.
pub(crate) fn column<'r, R, T>(name: &str, rows: &'r [R], value: impl Fn(&'r R) -> T) -> Column
where
    Series: FromValues<T>,
{
    Series::from_values(name, rows.iter().map(value).collect()).into()
}

/// A frame of columns of equal length.
///
/// # Errors
/// When their lengths differ (a bug).
pub(crate) fn frame(columns: Vec<Column>) -> PolarsResult<DataFrame> {
    DataFrame::new_infer_height(columns)
}

/// Which values a column can be made of.
pub(crate) trait FromValues<T> {
    /// A series of these values.
    fn from_values(name: &str, values: Vec<T>) -> Series;
}

macro_rules! from_values {
    ($($type:ty),*) => {
        $(impl FromValues<$type> for Series {
            fn from_values(name: &str, values: Vec<$type>) -> Series {
                Series::new(name.into(), values)
            }
        })*
    };
}

from_values!(u64, Option<u64>, Option<i64>, Option<f64>, f64, bool, String, Option<String>, Option<u32>, u32, &str);
