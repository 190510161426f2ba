//! Arguments of `compactions`.

use clap::{Args, ValueEnum};

use super::args::{FilterArgs, InputArgs, OutputArgs};
use crate::windows::Window;

/// Arguments of `compactions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dsh-forensics compactions --demo\n  dsh-forensics compactions --since 6d --window 8ev --window 120s\n  dsh-forensics compactions session.jsonl.zstd --format json"
)]
pub struct CompactionsArgs {
    /// What to read and how.
    #[command(flatten)]
    pub input: InputArgs,
    /// What to leave out.
    #[command(flatten)]
    pub filters: FilterArgs,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = CompactionsFormat::Table, help_heading = "Output")]
    pub format: CompactionsFormat,
    /// Compare the steps inside this window after a compaction with the others: 8ev (events), 3att (attempts), 60s; may be repeated
    #[arg(long = "window", value_name = "WINDOW", default_values = ["8ev", "3att", "60s"])]
    pub windows: Vec<Window>,
}

/// Formats of `compactions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompactionsFormat {
    /// For a terminal
    Table,
    /// For programs (docs/json.md)
    Json,
    /// One JSON object per compaction (docs/json.md)
    Ndjson,
    /// For a forum post
    Markdown,
    /// One file for a browser, to attach to a report
    Html,
}
