//! Arguments of `export`.

use clap::Args;

use super::args::{FilterArgs, InputArgs, OutputArgs};
use crate::export::{EXPORT_TABLES, Format};

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(
    mut_arg("output", |output| output
        .required(true)
        .value_name("DIR")
        .help("Write here: a directory that is empty or does not exist yet")),
    after_help = "Examples:\n  dsh-forensics export --demo -o tables\n  dsh-forensics export -o tables --since 6d --format csv --bom\n  dsh-forensics export -o tables --tables attempts,retries --format ndjson\n\nThe tables are described in docs/tables.md, queries in docs/recipes.md.\nExit status: 0 exported, 3 no input, 4 exported but some input could not be read."
)]
pub struct ExportArgs {
    /// What to read and how.
    #[command(flatten)]
    pub input: InputArgs,
    /// What to leave out.
    #[command(flatten)]
    pub filters: FilterArgs,
    /// Where to write, and how to print the summary.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Format of the tables
    #[arg(long, value_enum, default_value_t = Format::Parquet, help_heading = "Output")]
    pub format: Format,
    /// Only these tables [default: all]
    #[arg(long, value_name = "TABLE", value_delimiter = ',', value_parser = EXPORT_TABLES, help_heading = "Output")]
    pub tables: Vec<String>,
    /// Begin CSV files with a byte order mark, for spreadsheets that need one to show Chinese
    #[arg(long, help_heading = "Output")]
    pub bom: bool,
    /// Replace an older export in DIR; files that are no part of it stay
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}
