//! Arguments of `policy what-if`.

use clap::{Args, ValueEnum};

use super::args::{FilterArgs, InputArgs, OutputArgs};
use crate::message;
use crate::report::lang::Said;
use crate::simulate::engine::Assume;

/// Arguments of `policy what-if`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dsh-forensics policy what-if\n  dsh-forensics policy what-if ~/.dsh/sessions --policy current --policy 'current + retry CONTEXT_WINDOW_EXCEEDED'\n  dsh-forensics policy what-if --policy new-settings.yaml --policy dsh-always --format json\n  dsh-forensics policy what-if --fixes\n\nPresets: dsh-default, dsh-default@0.1.0-rc.5, dsh-always, aws-standard, polly, resilience4j, tenacity.\nEdits: docs/methods.md, or type a wrong one to see the nearest."
)]
pub struct WhatIfArgs {
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
    #[arg(long, value_enum, default_value_t = WhatIfFormat::Table, help_heading = "Output")]
    pub format: WhatIfFormat,
    /// A policy to compare: settings.yaml, cordis.patch.yml, policies.toml, a preset, or 'current + EDIT'; may be repeated
    #[arg(long = "policy", value_name = "POLICY")]
    pub policies: Vec<String>,
    /// Compare all single repairs of the harness and the combinations whose order matters
    #[arg(long)]
    pub fixes: bool,
    /// What is assumed about the time between two recorded attempts
    #[arg(long, value_enum, default_value_t = Assume::Model)]
    pub assume: Assume,
    /// Seed of everything random; the same seed gives the same output
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Possible worlds that are drawn
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(120..=100_000))]
    pub draws: u64,
    /// Retry-After of rate limits on routes whose adapter drops the header (30s), where the text does not tell it
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub hidden_retry_after: Option<f64>,
    /// Release of the harness whose rules hold for settings files
    #[arg(long, value_name = "VERSION", default_value = crate::policy::Release::NEWEST)]
    pub dsh_version: String,
}

/// Formats of `policy what-if`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WhatIfFormat {
    /// For a terminal
    Table,
    /// For programs (docs/json.md)
    Json,
    /// For a forum post
    Markdown,
    /// One file for a browser, to attach to a report
    Html,
}

fn duration(text: &str) -> Result<f64, Said> {
    let refused = || Said(message!("usage.no-duration", text = format!("'{text}'")));
    crate::policy::edits::duration_ms(text).filter(|ms| *ms > 0.0).ok_or_else(refused)
}
