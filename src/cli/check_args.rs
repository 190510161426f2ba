//! Arguments of `check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::args::{FilterArgs, InputArgs, OutputArgs, RuleArgs};
use crate::message;
use crate::message::Message;
use crate::report::lang::Said;

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dsh-forensics check logs/ --baseline baseline.json --update --reason 'first baseline'\n  dsh-forensics check logs/ --baseline baseline.json\n  dsh-forensics check logs/ --baseline baseline.json --dsh-version 0.2.0-rc.2\n  dsh-forensics check logs/ --baseline baseline.json --policy settings.yaml --format sarif -o check.sarif\n\nExit status: 0 no gate fired, 1 a gate fired, 2 wrong arguments, configuration or baseline, 3 no input, 4 some input could not be read; with --bisect 125 where the evidence does not decide (docs/ci.md)."
)]
pub struct CheckArgs {
    /// What to read and how.
    #[command(flatten)]
    pub input: InputArgs,
    /// What to leave out.
    #[command(flatten)]
    pub filters: FilterArgs,
    /// Which rules run.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = CheckFormat::Table, help_heading = "Output")]
    pub format: CheckFormat,
    /// Baseline to compare with; without one everything that is found is new
    #[arg(long, value_name = "FILE", help_heading = "Gate")]
    pub baseline: Option<PathBuf>,
    /// Write the baseline: accept what is new, tighten what got better
    #[arg(long, requires = "baseline", help_heading = "Gate")]
    pub update: bool,
    /// Why the new entries are accepted
    #[arg(long, value_name = "TEXT", requires = "update", value_parser = reason, help_heading = "Gate")]
    pub reason: Option<String>,
    /// Compare the decisions of this policy: settings.yaml, cordis.patch.yml, a preset, or 'current + EDIT'
    #[arg(long, value_name = "POLICY", help_heading = "Gate")]
    pub policy: Option<String>,
    /// Classify every failure by the rules of this harness release
    #[arg(long, value_name = "VERSION", value_parser = version, help_heading = "Gate")]
    pub dsh_version: Option<String>,
    /// Classify every failure by the rules of this pi-ai release
    #[arg(long, value_name = "VERSION", value_parser = version, help_heading = "Gate")]
    pub pi_ai_version: Option<String>,
    /// Exit with status 125 where the evidence does not decide, for git bisect run
    #[arg(long, conflicts_with = "update", help_heading = "Gate")]
    pub bisect: bool,
    /// Say in two lines which gate fired and why, in place of the report
    #[arg(long, conflicts_with = "format", help_heading = "Gate")]
    pub explain_gate: bool,
}

/// Formats of `check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For a terminal
    Table,
    /// For programs (docs/json.md)
    Json,
    /// For a step summary or a comment
    Markdown,
    /// One file for a browser
    Html,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, for test reports
    Junit,
    /// Workflow commands of GitHub, at most ten annotations
    Github,
}

fn reason(text: &str) -> Result<String, Said> {
    let text = text.trim();
    if text.is_empty() { Err(Said(Message::new("usage.no-reason"))) } else { Ok(text.to_owned()) }
}

fn version(text: &str) -> Result<String, Said> {
    let digits = text.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
    if digits { Ok(text.to_owned()) } else { Err(Said(message!("usage.no-version", text = format!("'{text}'")))) }
}
