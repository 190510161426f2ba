//! The arguments under `policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::args::{FilterArgs, InputArgs, OutputArgs};
use crate::message;
use crate::report::lang::Said;

/// The commands under `policy`.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Which retry policy was in force when, per route, and whether the recorded retries follow it
    Show(PolicyShowArgs),
    /// Everything the harness would refuse in a settings file, and every trap, each with its line and the fix
    Lint(PolicyLintArgs),
    /// When a policy would try again: attempt, delay, cumulative
    Schedule(PolicyScheduleArgs),
    /// The same failures under other policies: turns saved and lost with bounds, what it costs, which one to take
    WhatIf(super::what_if_args::WhatIfArgs),
}

impl PolicyCommand {
    /// How the command prints.
    #[must_use]
    pub fn output(&self) -> &OutputArgs {
        match self {
            Self::Show(args) => &args.output,
            Self::Lint(args) => &args.output,
            Self::Schedule(args) => &args.output,
            Self::WhatIf(args) => &args.output,
        }
    }
}

/// Formats of the commands under `policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PolicyFormat {
    /// For a terminal
    Table,
    /// For programs (docs/json.md)
    Json,
    /// For a forum post
    Markdown,
}

/// Arguments of `policy show`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dsh-forensics policy show --demo\n  dsh-forensics policy show ~/.dsh/sessions --since 6d --mismatches\n\nExit status: 0 all read, 1 a recorded retry does not follow the policy in force, 3 no input, 4 partial."
)]
pub struct PolicyShowArgs {
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
    #[arg(long, value_enum, default_value_t = PolicyFormat::Table, help_heading = "Output")]
    pub format: PolicyFormat,
    /// List every recorded decision that the policy in force does not make, and those that the logs do not hold
    #[arg(long)]
    pub mismatches: bool,
}

/// Arguments of `policy lint`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dsh-forensics policy lint ~/.dsh/settings.yaml\n  dsh-forensics policy lint ~/.dsh/settings.yaml --in ~/.dsh/sessions\n  dsh-forensics policy lint cordis.patch.yml --dsh-version 0.1.0-rc.7\n\nExit status: 0 nothing refused, 1 the harness refuses something, 2 the file cannot be read."
)]
pub struct PolicyLintArgs {
    /// settings.yaml, cordis.patch.yml or policies.toml
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Release of the harness whose rules hold
    #[arg(long, value_name = "VERSION", default_value = crate::policy::Release::NEWEST)]
    pub dsh_version: String,
    /// Also hold the file against recorded logs: a sessions root, a directory, a log file or a zip; may be repeated
    #[arg(long = "in", alias = "archive", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Hold the file against the demo logs inside the program
    #[arg(long, conflicts_with = "paths")]
    pub demo: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = PolicyFormat::Table, help_heading = "Output")]
    pub format: PolicyFormat,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `policy schedule`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dsh-forensics policy schedule\n  dsh-forensics policy schedule --list\n  dsh-forensics policy schedule 'dsh-default + maxRetries 10 + maxDelayMs 30000'\n  dsh-forensics policy schedule dsh-always --retry-after-ms 30000"
)]
pub struct PolicyScheduleArgs {
    /// A preset, or a preset with edits: 'dsh-default + maxRetries 10'
    #[arg(value_name = "POLICY", default_value = "dsh-default")]
    pub policy: String,
    /// List the presets and the edits, with their sources
    #[arg(long, conflicts_with = "policy")]
    pub list: bool,
    /// Retry-After that every failure carries, milliseconds
    #[arg(long, value_name = "MS", value_parser = milliseconds)]
    pub retry_after_ms: Option<f64>,
    /// Most attempts shown
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub rows: u16,
    /// Output format
    #[arg(long, value_enum, default_value_t = PolicyFormat::Table, help_heading = "Output")]
    pub format: PolicyFormat,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
}

fn milliseconds(text: &str) -> Result<f64, Said> {
    let refused = || Said(message!("usage.no-milliseconds", text = format!("'{text}'")));
    text.parse().ok().filter(|ms: &f64| ms.is_finite() && *ms >= 0.0).ok_or_else(refused)
}
